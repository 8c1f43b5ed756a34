"""Checks of similarity tensors and of memory; their messages suggest a remedy."""

import numpy as np
import scipy.sparse

from .._kernels import LARGEST_SLICE
from .containers import check_container, checked_csr
from .messages import counted, warn_user


def check_clusters(n_clusters, n_samples):
    """The number of samples, at least ``n_clusters``."""
    if n_clusters > n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the number of samples, n_samples={n_samples}"
        )
    return n_samples


def are_finite(values):
    """Whether all numbers of an array are finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values, dtype=np.float64)
    return bool(np.isfinite(total) or np.isfinite(values).all())


def check_finite(X, what, columns=None):
    """Raise ValueError with the number and the first position of NaN and infinite entries of X.

    Parameters
    ----------
    X : ndarray or sparse matrix
    what : str
        Name of X in the message.
    columns : list, optional
        Names of the columns.
    """
    sparse = hasattr(X, "tocsr")
    values = X.data if sparse else X
    if are_finite(values):
        return
    bad = ~np.isfinite(values)
    nans = int(np.count_nonzero(np.isnan(values)))
    if sparse:
        A = X.tocoo()
        first = min(zip(A.row[~np.isfinite(A.data)], A.col[~np.isfinite(A.data)], strict=True))
    else:
        first = np.unravel_index(int(bad.argmax()), bad.shape)
    row, column = int(first[0]), int(first[-1])
    name = f"{columns[column]!r}" if columns is not None else column
    counts = {"NaN": nans, "infinite": np.count_nonzero(bad) - nans}
    told = " and ".join(counted(count, f"{kind} value") for kind, count in counts.items() if count)
    raise ValueError(
        f"{what} contains {told}, the first in row {row}, column {name}: impute or remove them "
        "first"
    )


def check_squarable(X, what):
    """Raise ValueError if squares of the entries of X would overflow in a sum over all of X."""
    largest = max(float(X.max()), -float(X.min()))
    if largest > np.sqrt(np.finfo(X.dtype).max / X.size) / 4:
        raise ValueError(
            f"{what} has entries up to {largest:.3g}, too large to be squared in {X.dtype}: "
            "rescale it"
        )


def check_slice_size(n, what):
    """Raise ValueError if slices of n samples are too large for LAPACK."""
    if n > LARGEST_SLICE:
        raise ValueError(
            f"{what} has {n} samples, but LAPACK's eigensolvers support at most {LARGEST_SLICE}. "
            "Cluster a subsample, or split the data into connected components first"
        )


def check_memory(needed, what):
    """Raise MemoryError before anything is allocated, if ``needed`` bytes are not available."""
    check_available_memory(
        needed,
        what,
        "pass float32 input, which needs half of it, or a sparser W, which splits into smaller "
        "blocks, or cluster a subsample",
    )


def check_available_memory(needed, what, way_out):
    """Raise MemoryError as `check_memory` does, with another suggestion, ``way_out``."""
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
    """Bytes that this process may still allocate: free memory within the cgroup's limit."""
    try:
        with open("/proc/meminfo") as file:
            fields = dict(line.split(":", 1) for line in file)
        available = int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return float("inf")
    try:
        with (
            open("/sys/fs/cgroup/memory.max") as limit,
            open("/sys/fs/cgroup/memory.current") as used,
        ):
            available = min(available, int(limit.read()) - int(used.read()))
    except (OSError, ValueError):
        pass
    return available


def check_sparse_similarities(W, *, nonnegative=False, name="W"):
    """A list of csr_arrays, symmetric, finite and of one shape and dtype."""
    W = [
        checked_csr(A, f"{name}: slice {i}")
        if scipy.sparse.issparse(A)
        else scipy.sparse.csr_array(A)
        for i, A in enumerate(W)
    ]
    n = W[0].shape[0]
    dtype = np.result_type(*(A.dtype for A in W))
    dtype = np.float32 if dtype == np.float32 else np.float64
    out = []
    for i, A in enumerate(W):
        if A.shape != (n, n):
            raise ValueError(
                f"{name}: slice {i} has shape {A.shape}, slice 0 has {W[0].shape}: every slice "
                "must be square and of the same size"
            )
        if A.dtype.kind not in "fiub":
            raise ValueError(f"{name}: slice {i} has dtype {A.dtype}: similarities must be real")
        A = A.astype(dtype)
        check_finite(A, f"{name}: slice {i}")
        if nonnegative and A.nnz and A.data.min() < 0:
            raise ValueError(
                f"{name}: slice {i} has {int((A.data < 0).sum())} negative entries (smallest "
                f"{A.data.min():.3g}): similarities must be >= 0"
            )
        difference = abs(A - A.T)
        asymmetry = difference.max() if difference.nnz else 0.0
        if asymmetry > 0:
            if asymmetry > 100 * np.finfo(dtype).eps * abs(A).max():
                _warn_asymmetry(name, i, asymmetry / abs(A).max())
            A = ((A + A.T) / 2).astype(dtype)
        out.append(scipy.sparse.csr_array(A))
    return out


def check_similarities(W, *, nonnegative=False, name="W"):
    """One C-contiguous float tensor of shape (v, n, n) with symmetric slices.

    Parameters
    ----------
    W : array of shape (v, n, n), or list of v arrays or sparse matrices of shape (n, n)
        Not copied if it is a C-contiguous float32 or float64 tensor with symmetric slices.
    nonnegative : bool, default=False
        Refuse negative entries.
    name : str
        Name of W in messages.

    Raises
    ------
    ValueError
        On empty input, slices that are not square or differ in size, entries that are not finite
        real numbers, or are too large to be squared.
    """
    for i, A in enumerate(W if isinstance(W, (list, tuple)) else [W]):
        check_container(A, f"{name}: slice {i}" if isinstance(W, (list, tuple)) else name)
    if isinstance(W, (list, tuple)):
        if len(W) == 0:
            raise ValueError(f"{name} is an empty list: at least one similarity matrix is needed")
        slices = [
            checked_csr(A, f"{name}: slice {i}") if scipy.sparse.issparse(A) else np.asarray(A)
            for i, A in enumerate(W)
        ]
    else:
        W = np.asarray(W)
        if W.ndim != 3:
            raise ValueError(
                f"{name} must be a list of n x n matrices or an array of shape (v, n, n), "
                f"got an array of shape {W.shape}"
            )
        if len(W) == 0:
            raise ValueError(f"{name} has shape {W.shape}: at least one view is needed")
        slices = W
    n = slices[0].shape[0] if slices[0].ndim else 0
    for i, A in enumerate(slices):
        if A.ndim != 2 or A.shape[0] != A.shape[1]:
            raise ValueError(f"{name}: slice {i} has shape {A.shape}, it must be square")
        if A.shape[0] != n:
            raise ValueError(
                f"{name}: slice {i} has {A.shape[0]} samples, slice 0 has {n}: every view must "
                "describe the same samples"
            )
    if n == 0:
        raise ValueError(f"{name} has no samples")
    check_slice_size(n, name)
    dtype = np.result_type(*(A.dtype for A in slices))
    if dtype.kind == "c":
        raise ValueError(f"{name}: Complex data not supported, similarities must be real")
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise ValueError(f"{name} has dtype {dtype}: convert it to float32 or float64")
    dtype = np.dtype(np.float32) if dtype in (np.float16, np.float32) else np.dtype(np.float64)

    if isinstance(slices, np.ndarray):
        tensor = np.ascontiguousarray(slices, dtype=dtype)
    else:
        slices = [A.toarray() if scipy.sparse.issparse(A) else A for A in slices]
        tensor = np.stack([np.asarray(A, dtype=dtype) for A in slices])
    for i, A in enumerate(tensor):
        check_finite(A, f"{name}: slice {i}")
        if A.min() < 0 and nonnegative:
            raise ValueError(
                f"{name}: slice {i} has {int((A < 0).sum())} negative entries (smallest "
                f"{A.min():.3g}): similarities must be >= 0"
            )
        check_squarable(A, f"{name}: slice {i}")
    borrowed = isinstance(slices, np.ndarray) and np.may_share_memory(tensor, slices)
    return _symmetric(tensor, borrowed, name)


def _symmetric(tensor, borrowed, name):
    """The tensor, whose slices are averaged with their transposes if they differ."""
    worst, where = 0.0, None
    asymmetric = []
    for i, A in enumerate(tensor):
        asymmetry = _largest_asymmetry(A)
        if asymmetry > 0:
            asymmetric.append(i)
        scale = max(A.max(), -A.min())
        if asymmetry > 100 * np.finfo(A.dtype).eps * scale and asymmetry > worst * scale:
            worst, where = asymmetry / scale, i
    if asymmetric and borrowed:
        tensor = tensor.copy()
    for i in asymmetric:
        tensor[i] = (tensor[i] + tensor[i].T) / 2
    if where is not None:
        _warn_asymmetry(name, where, worst)
    return tensor


def _warn_asymmetry(name, i, share):
    warn_user(
        f"{name}: slice {i} is not symmetric (largest difference {share:.2g} of the largest "
        "entry): slices are averaged with their transposes"
    )


def _largest_asymmetry(A, block=256):
    """max |A - A^T| without an n x n temporary."""
    return max(
        float(np.abs(A[j : j + block, j:] - A[j:, j : j + block].T).max())
        for j in range(0, len(A), block)
    )
