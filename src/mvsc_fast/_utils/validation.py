"""Checks of similarity tensors, of labels and of memory; their messages suggest a remedy."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.preprocessing import LabelEncoder

from .._kernels import LARGEST_SLICE
from .containers import check_container, checked_csr
from .messages import counted, warn_user
from .parameters import InvalidParameterError

NOISE = (-1, -2, -3)  # labels without a cluster; scikit-learn's HDBSCAN has three
COMPARED_ROWS = 256  # rows of a dense matrix that are compared at a time
# Limit and use of the memory of a container, and its reclaimable part, the cache of files that were
# not read lately.
CGROUP = "/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"


def check_clusters(n_clusters, n_samples, name="n_clusters"):
    """Raise ValueError if there are fewer samples than clusters."""
    if n_clusters > n_samples:
        raise ValueError(
            f"{name}={n_clusters} is more than the number of samples, n_samples={n_samples}"
        )


def output_path(path):
    """The path of a file to be written, in a folder that exists."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be written: create the folder {path.parent} first")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: add the name of the file")
    return path


def check_finite(X, what, columns=None):
    """Raise ValueError with the number and the first position of NaN and infinite entries of X.

    ``columns`` are the names of the columns, if they have any.
    """
    values = X.data if hasattr(X, "tocsr") else X
    # A sum is faster, but may overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values, dtype=np.float64)
    if np.isfinite(total) or np.isfinite(values).all():
        return
    counts = {"NaN": np.count_nonzero(np.isnan(values)), "infinite": np.isinf(values).sum()}
    kinds = [counted(count, f"{kind} value") for kind, count in counts.items() if count]
    cell = shown_cell(*first_cell(X), columns)
    raise ValueError(
        f"{what} contains {' and '.join(kinds)}, the first in {cell}: impute or remove them first"
    )


def first_cell(X, is_bad=lambda values: ~np.isfinite(values)):
    """Indices of the first entry of a matrix that is bad, by default not finite, or None."""
    if hasattr(X, "tocsr"):
        A = X.tocoo()
        bad = is_bad(A.data)
        return min(zip(A.row[bad].tolist(), A.col[bad].tolist(), strict=True), default=None)
    bad = is_bad(X)
    cell = np.unravel_index(int(bad.argmax()), bad.shape)
    return tuple(map(int, cell)) if bad[cell] else None


def shown_cell(row, column, columns=None):
    """The position of a cell for a message, with the name of its column, if columns have names."""
    return f"row {row}, column {column if columns is None else repr(columns[column])}"


def check_slice_size(n, what):
    """Raise ValueError if slices of n samples are too large for LAPACK."""
    if n > LARGEST_SLICE:
        raise ValueError(
            f"{what} has {n} samples, but LAPACK's eigensolvers support at most {LARGEST_SLICE}. "
            "Cluster a subsample, or split the data into connected components first"
        )


def check_memory(needed, what, way_out):
    """Raise MemoryError before anything is allocated, if ``needed`` bytes are not available."""
    available = available_memory()
    if needed > available:
        raise MemoryError(
            f"{what} needs about {in_bytes(needed)}, but only {in_bytes(available)} is available: "
            f"{way_out}"
        )


def in_bytes(count):
    """A number of bytes in MiB or GiB."""
    return f"{count / 2**30:.3g} GiB" if count >= 2**30 else f"{count / 2**20:.3g} MiB"


def available_memory():
    """Bytes that this process may still allocate: free memory within the cgroup's limit.

    Infinity if the system has no /proc/meminfo, as macOS and Windows: nothing is refused there.
    """
    try:
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        available = int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return float("inf")
    # A container may have less memory than the machine.
    folder, limit, used, cache = CGROUP
    with contextlib.suppress(OSError, KeyError, ValueError):  # "max" is no limit
        text = [Path(folder, name).read_text() for name in (limit, used, "memory.stat")]
        reclaimable = int(dict(line.split() for line in text[2].splitlines())[cache])
        available = min(available, int(text[0]) - int(text[1]) + reclaimable)
    return available


def check_similarities(W, *, nonnegative=False, name="W", sparse=False):
    """One C-contiguous float tensor of shape (v, n, n) with symmetric slices.

    W is a tensor, or a list of arrays or sparse matrices of shape (n, n); it is not copied if it is
    C-contiguous, float32 or float64, and symmetric. ``nonnegative`` refuses negative entries;
    ``sparse`` returns a list of csr_arrays instead.
    """
    slices, titles = _slices(W, name)
    dtype = _float_type(slices, name)
    if sparse:
        pairs = zip([scipy.sparse.csr_array(A, dtype=dtype) for A in slices], titles, strict=True)
        return [_similarities(A, title, nonnegative) for A, title in pairs]
    check_slice_size(slices[0].shape[0], name)
    if isinstance(slices, np.ndarray):
        tensor = np.ascontiguousarray(slices, dtype=dtype)
    else:
        dense = [A.toarray() if scipy.sparse.issparse(A) else A for A in slices]
        tensor = np.stack([np.ascontiguousarray(A, dtype=dtype) for A in dense])
    for i, (A, title) in enumerate(zip(tensor, titles, strict=True)):
        symmetric = _similarities(A, title, nonnegative)
        if symmetric is not A:
            # The user's array is copied only if a slice must be changed.
            if isinstance(slices, np.ndarray) and np.may_share_memory(tensor, slices):
                tensor = tensor.copy()
            tensor[i] = symmetric
    return tensor


def check_affinity(S, name):
    """A symmetric, non-negative array or csr_array of floats, of shape (n, n)."""
    A = _square(S, name)
    dtype = _float_type([A], name)
    return _similarities(A.astype(dtype, copy=False), name, nonnegative=True)


def check_tensor(T, name):
    """A list of finite float slices of shape (n, n), all dense or all csr_arrays."""
    slices, titles = _slices(T, name)
    dtype = _float_type(slices, name)
    sparse = any(map(scipy.sparse.issparse, slices))
    slices = [scipy.sparse.csr_array(A) if sparse else A for A in slices]
    for A, title in zip(slices, titles, strict=True):
        check_finite(A, title)
    return [A.astype(dtype, copy=False) for A in slices]


def _slices(W, name):
    """The square slices of a tensor, as an array or a list, and their names in messages."""
    if isinstance(W, np.ndarray) and W.dtype == object and W.ndim < 3:  # cells of MATLAB
        W = list(W.flat)
    if not isinstance(W, (list, tuple)):
        check_container(W, name)
        W = np.asarray(W)
        if W.ndim != 3:
            raise ValueError(
                f"{name} must be a list of n x n matrices or an array of shape (v, n, n), "
                f"got an array of shape {W.shape}"
            )
    if len(W) == 0:
        raise ValueError(f"{name} is empty: at least one similarity matrix is needed")
    titles = [f"{name}: slice {i}" for i in range(len(W))]
    slices = list(map(_square, W, titles))
    for A, title in zip(slices, titles, strict=True):
        if A.shape != slices[0].shape:
            raise ValueError(
                f"{title} has {A.shape[0]} samples, slice 0 has {slices[0].shape[0]}: every view "
                "must describe the same samples"
            )
    return W if isinstance(W, np.ndarray) else slices, titles


def _square(A, title):
    """An array or csr_array of shape (n, n), n > 0."""
    check_container(A, title)
    A = checked_csr(A, title) if scipy.sparse.issparse(A) else np.asarray(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(
            f"{title} has shape {A.shape}, it must be square; numpy.moveaxis(A, 2, 0) brings the "
            "axis of views of a MATLAB tensor to the front"
        )
    if A.shape[0] == 0:
        raise ValueError(f"{title} has no samples")
    return A


def _float_type(slices, name):
    """float32 or float64, which represents the entries of all slices."""
    dtype = np.result_type(*(A.dtype for A in slices))
    if dtype.kind == "c":
        raise ValueError(f"{name}: Complex data not supported, similarities must be real")
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise ValueError(f"{name} has dtype {dtype}: convert it to float32 or float64")
    return np.dtype(np.float32) if dtype in (np.float16, np.float32) else np.dtype(np.float64)


def _similarities(A, title, nonnegative):
    """A, or a symmetric copy; raise ValueError if its entries are no similarities."""
    check_finite(A, title)
    values = A.data if scipy.sparse.issparse(A) else A
    smallest = float(values.min(initial=0))
    if nonnegative and smallest < 0:
        raise ValueError(
            f"{title} has {int((values < 0).sum())} negative entries (smallest {smallest:.3g}): "
            "similarities must be >= 0"
        )
    # Squares must not overflow in a sum over all entries.
    largest = max(float(values.max(initial=0)), -smallest)
    if largest > np.sqrt(np.finfo(A.dtype).max / max(1, values.size)) / 4:
        raise ValueError(
            f"{title} has entries up to {largest:.3g}, too large to be squared in {A.dtype}: "
            "rescale it"
        )
    # Rounding is averaged silently, anything larger with a warning.
    asymmetry = _asymmetry(A)
    if asymmetry == 0:
        return A
    if asymmetry > 100 * np.finfo(A.dtype).eps * largest:
        warn_user(
            f"{title} is not symmetric (largest difference {asymmetry / largest:.2g} of the "
            "largest entry): it is averaged with its transpose"
        )
    return ((A + A.T) / 2).astype(A.dtype, copy=False)


def _asymmetry(A):
    """max |A - A^T|, for a dense matrix without an n x n temporary."""
    if scipy.sparse.issparse(A):
        difference = abs(A - A.T)
        return difference.max() if difference.nnz else 0.0
    return max(
        float(np.abs(A[j : j + COMPARED_ROWS, j:] - A[j:, j : j + COMPARED_ROWS].T).max())
        for j in range(0, len(A), COMPARED_ROWS)
    )


def index_of(labels):
    """The index of a pandas series; None for other containers."""
    return labels.index if hasattr(labels, "iloc") else None


def sample_ids(views):
    """Index of the first pandas frame or names of the first AnnData among views, or None."""
    if not isinstance(views, (list, tuple)):
        views = views.values() if isinstance(views, Mapping) else [views]
    indexes = (X.index if hasattr(X, "iloc") else getattr(X, "obs_names", None) for X in views)
    return next((index for index in indexes if index is not None), None)


def check_labels(labels, name, n=None, index=None, other="the views"):
    """Number labels from 0 in sorted order; an int64 array of shape (n_samples,).

    ``n`` and ``index`` are the expected number of labels and, for a pandas series, their index;
    ``name`` and ``other`` name in messages the labels and what has these samples.
    """
    check_container(labels, name)
    is_list = isinstance(labels, (list, tuple))  # whose types NumPy would unify
    values = np.asarray(labels, dtype=object if is_list else None)
    if values.ndim != 1 or values.size == 0:
        raise InvalidParameterError(
            f"{name} has shape {values.shape}: expected one label per sample"
        )
    # Labels must be those of the samples: as many, and with the same ids if both have ids.
    if n is not None and len(values) != n:
        raise ValueError(
            f"{name} has {counted(len(values), 'label')}, but the number of samples is {n} in "
            f"{other}: expected one label per sample"
        )
    labels_index = index_of(labels)
    if labels_index is not None and index is not None and not labels_index.equals(index):
        row = int(np.argmax(labels_index != index))
        ids = " and ".join(repr(each[[row]].tolist()[0]) for each in (labels_index, index))
        raise ValueError(
            f"{name} and {other} have different indexes, {ids} in row {row}: align them by .loc, "
            "or pass arrays to compare by position"
        )
    if values.dtype == object:
        unknown = np.array([not _is_known(label) for label in values])
    else:
        unknown = values != values
    if unknown.any():
        raise ValueError(
            f"{name} has {np.count_nonzero(unknown)} NaN or None, the first for sample "
            f"{int(unknown.argmax())}: remove samples without a label"
        )
    try:
        codes = LabelEncoder().fit_transform(values)
    except (TypeError, ValueError) as error:  # of types that cannot be compared, or are no labels
        raise ValueError(f"{name}: {error}. Convert them to numbers or to strings") from error
    return codes.astype(np.int64, copy=False)


def _is_known(label):
    """Whether a label is not None, NaN, or NA of pandas, whose comparison with itself is NA."""
    same = label == label
    return label is not None and isinstance(same, bool | np.bool_) and bool(same)
