"""Model files: bytes in the layout of mvsc_predict.h, from which Python and C predict."""

import numpy as np

from ._predict import checksum

PANEL = 16  # columns of a matrix that are stored together
ALIGNMENT = 64
VERSION = 3  # that is written; a model of another one keeps its own
NUMBERS = (
    "order version size checksum n_inputs n_views n_clusters n_landmarks scale_neighbors "
    "kernel_coefficients widths names names_size note note_size"
).split()
HEAD = np.dtype([("magic", "V8"), *((name, "i8") for name in NUMBERS)])
COUNTS = ("input", "n_features", "d", "form", "unused")
ARRAYS = (  # of float32 to mean_row
    "mean landmarks squares scales coefficients fill mean_row "
    "codes steps centres deviations limits lift"
).split()
RECORD = np.dtype(
    [*((name, "i8") for name in COUNTS), ("least_scale", "f8")]
    + [*((name, "i8") for name in ARRAYS), ("reserved", "i8", 5)]
)


def panels(A):
    """A matrix of shape (k, n) as float32 of shape (n_panels, k, 16), filled with zeros."""
    k, n = A.shape
    out = np.zeros((k, -(-n // PANEL), PANEL), dtype=np.float32)
    out.reshape(k, -1)[:, :n] = A
    return np.ascontiguousarray(out.swapaxes(0, 1))


def pack(head, views):
    """The bytes of a model, an array of uint8.

    ``head`` and each of ``views`` are dicts of numbers and arrays; absent arrays are None or
    missing. Sizes, order and version are added to the head.
    """
    # Each array gets an offset, which replaces it in its entry.
    size, arrays = HEAD.itemsize + len(views) * RECORD.itemsize, []
    entries = []
    for entry in (head, *views):
        entries.append({name: value for name, value in entry.items() if value is not None})
        for name, value in entries[-1].items():
            if isinstance(value, np.ndarray):
                size = _aligned(size)
                arrays.append((size, np.ascontiguousarray(value).reshape(-1).view(np.uint8)))
                entries[-1][name] = size
                size += value.nbytes

    # The bytes are written in one go, the checksum of all others last.
    image = _memory(_aligned(size))
    for offset, array in arrays:
        image[offset : offset + len(array)] = array
    top, records = parts(image, len(views))
    entries[0] |= {"magic": b"MVSC\r\n\x1a\n", "order": 0x0102030405060708}
    entries[0].setdefault("version", VERSION)
    entries[0] |= {"size": len(image), "n_views": len(views)}
    for record, entry in zip((top, *records), entries, strict=True):
        for name, value in entry.items():
            record[name] = value
    top["checksum"] = checksum(image)
    return image


def parts(image, n_views=None):
    """The head and the records of a model."""
    top = image[: HEAD.itemsize].view(HEAD)[0]
    n_views = int(top["n_views"]) if n_views is None else n_views
    return top, image[HEAD.itemsize :][: n_views * RECORD.itemsize].view(RECORD)


def aligned(image):
    """The bytes of a model at an address that suits its arrays, a copy if need be."""
    if image.ctypes.data % ALIGNMENT:
        copy = _memory(len(image))
        copy[:] = image
        return copy
    return image


def _memory(size):
    """Zeros of type uint8 at an aligned address."""
    memory = np.zeros(size + ALIGNMENT, dtype=np.uint8)
    first = -memory.ctypes.data % ALIGNMENT
    return memory[first : first + size]


def _aligned(size):
    return -(-size // ALIGNMENT) * ALIGNMENT


def with_names(image, names, columns, n_features, note=""):
    """A model with the names of all views and their columns, and other facts of the fit.

    ``columns`` has a list of names for each view, or None.
    """
    # All names are one text of parts that end with NUL, in the order of the views.
    columns = [() if titles is None else titles for titles in columns]
    pairs = zip(names, columns, strict=True)
    texts = [str(text) for name, titles in pairs for text in (name, *titles)]
    if any("\0" in text for text in texts):
        raise ValueError("names of views and columns must not contain the character NUL")
    # A reader tells by the numbers of names which view each belongs to.
    blocks = {
        "widths": np.array([n_features, list(map(len, columns))], dtype=np.int64).T.tobytes(),
        "names": "".join(text + "\0" for text in texts).encode(),
        "note": note.encode(),
    }
    # The blocks are appended, and replace those of the head.
    out = _memory(len(image) + sum(_aligned(len(block)) for block in blocks.values()))
    out[: len(image)] = image
    (top, _), size = parts(out), len(image)
    for name, block in blocks.items():
        out[size : size + len(block)] = np.frombuffer(block, np.uint8)
        top[name] = size if block else 0
        size += _aligned(len(block))
    top["names_size"], top["note_size"] = len(blocks["names"]), len(blocks["note"])
    top["n_inputs"], top["size"] = len(names), len(out)
    top["checksum"] = checksum(out)
    return out


def names_in(image):
    """Names of the views, of their columns, numbers of columns, and the note.

    Raise ValueError if they are damaged, which the checksum excludes unless it was made anew.
    """
    top, _ = parts(image)
    first, size = int(top["widths"]), int(top["n_inputs"])
    n_features, counts = image[first : first + 16 * size].view(np.int64).reshape(size, 2).T.tolist()
    # The counts of columns tell where the names of the next view begin.
    names, columns = [], []
    try:
        texts = iter(_text(image, top, "names").split("\0"))
        for count in counts:
            names.append(next(texts))
            columns.append([next(texts) for _ in range(count)] or None)
        return names, columns, n_features, _text(image, top, "note")
    except (UnicodeDecodeError, StopIteration):
        raise ValueError("the names or the note of the model are damaged") from None


def _text(image, top, name):
    first = int(top[name])
    return image[first : first + int(top[name + "_size"])].tobytes().decode()
