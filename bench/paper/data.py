"""Data sets, computed once and kept, and the file of results."""

import hashlib
import json
import os
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
from settings import SETS

RESULTS = "results.jsonl"


class Source(NamedTuple):
    """A data set that can be loaded anywhere.

    ``digest`` is that of the data and the way to its features; ``features`` are the arguments of
    `features.image_views` if the one view holds images.
    """

    name: str
    n: int
    n_clusters: int
    digest: str
    path: Path | None = None
    features: dict | None = None

    def load(self, output):
        """Views and labels in file order; features of images are kept in the folder ``output``."""
        if self.features is None:
            return read_views(self.path)
        kept = Path(output) / "features" / f"{self.name}-{self.digest}.npz"
        if not kept.exists():
            from features import image_views  # scikit-image is needed here alone

            images, y = read_images(self.path)
            views = image_views(images, **self.features)
            save_arrays(kept, {f"view_{i}": X for i, X in enumerate(views)} | {"y": y})
        return read_views(kept)


def save_arrays(path, arrays):
    """Write an .npz file that is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.stem}-{os.getpid()}.part.npz")
    np.savez_compressed(unfinished, **arrays)
    os.replace(unfinished, path)


def find_sources(folder, names):
    """The data sets that are asked for, and sets of the paper that are absent.

    Parameters
    ----------
    folder : str or Path
        Of .npz files.
    names : sequence of str, optional
        Of sets of the paper, or of other files in the folder without their ending. None: those of
        the paper that the folder has.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder of data sets")
    paper = {name.lower(): name for name in SETS}
    sources, absent = [], []
    for name in SETS if names is None else [paper.get(name.lower(), name) for name in names]:
        stem, features = SETS.get(name, (name, None))
        path = folder / f"{stem}.npz"
        if path.exists():
            sources.append(source_of(name, path, features))
        elif names is None:
            absent.append(name)
        else:
            raise ValueError(
                f"data set {name!r}: there is no {path}; sets of the paper: {', '.join(SETS)}"
            )
    if not sources:
        files = ", ".join(f"{stem}.npz" for stem, _ in SETS.values())
        raise ValueError(f"{folder} has none of the files {files}: name other sets")
    return sources, absent


def source_of(name, path, features):
    digest = hashlib.sha1(path.read_bytes() + repr(features).encode()).hexdigest()[:12]
    with np.load(path, allow_pickle=False) as file:
        missing = {"view_0", "y"} - set(file.files)
        if missing:
            raise ValueError(
                f"{path} has no {' and no '.join(sorted(missing))}: views are expected as view_0, "
                "view_1, ... with samples as rows, and their labels as y"
            )
        y = file["y"]
    return Source(name, len(y), len(np.unique(y)), digest, path, features)


def read_views(path):
    with np.load(path, allow_pickle=False) as file:
        count = sum(name.startswith("view_") for name in file.files)
        # float64, as the methods were published
        return [file[f"view_{i}"].astype(np.float64) for i in range(count)], file["y"]


def read_images(path):
    """Images of shape (n, height, width), whose pixels are in ``view_0``, and labels."""
    with np.load(path, allow_pickle=False) as file:
        pixels, y = file["view_0"], file["y"]
        shape = json.loads(str(file["meta"])).get("image_shape") if "meta" in file.files else None
    shape = shape or (round(pixels.shape[1] ** 0.5),) * 2
    if np.prod(shape) != pixels.shape[1]:
        raise ValueError(
            f"{path}: {pixels.shape[1]} pixels are not a square, and meta has no image_shape"
        )
    return pixels.reshape(-1, *shape), y


def append(output, record):
    """Add a record to the results by a single write, which no other process's can divide."""
    path = Path(output) / RESULTS
    line = (json.dumps(record, allow_nan=False) + "\n").encode()
    with open(path, "ab", buffering=0) as file:
        if file.write(line) < len(line):
            raise OSError(f"{path}: the disk is full, a record was written in part only")


def read_results(output):
    """Records by their key; the last counts, but a result more than an error.

    A line that a dying machine left unfinished is passed over with a warning, and ended.
    """
    path, records = Path(output) / RESULTS, {}
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for number, line in enumerate(text.splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError:
            warnings.warn(
                f"{path}, line {number} is no whole record and was passed over: its cell is "
                "computed again",
                stacklevel=2,
            )
            continue
        if "error" not in record or "error" in records.get(record["key"], {"error": ""}):
            records[record["key"]] = record
    if text and not text.endswith("\n"):
        with open(path, "a") as file:
            file.write("\n")
    return records
