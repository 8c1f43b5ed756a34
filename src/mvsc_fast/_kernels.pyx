"""Python binding of the proximal maps and of the fused passes on (v, m, n) tensors and on views.

Tensors are C-contiguous, so that ``T[i]`` is the frontal slice of view i, ``T[:, j, :]`` the
v x n slice of row j, and ``T[:, j, k]`` a tube. All kernels work in place, release the GIL, take
float32 and float64, and write each output from one thread only, so that the thread count never
changes a result.
"""

from cython cimport floating
from libc.math cimport INFINITY

from mvsc_fast._utils.memory cimport memory

from .core.api cimport (
    MVSC_SLICE_CLIP,
    MVSC_SLICE_SHRINK,
    MVSC_SYMMETRIC_CLIP,
    MVSC_SYMMETRIC_SHRINK,
    MVSC_TUBE_SHRINK,
)
from .core.arena cimport Arena, arena_at, counting_arena, workspace_bytes
from .core.gram cimport unfolding_bytes, unfolding_map
from .core.lapack cimport doublecomplex, floatcomplex
from .core.platform cimport MVSC_OPENMP
from .core.prox cimport HALFCOMPLEX_SHRINK, is_symmetric, prox, prox_counts
from .core.recovery cimport SNN, snn_bytes, snn_sweep, trpca_bytes, trpca_sweep
from .core.symmetric cimport MAX_SLICE

import numpy as np

HAS_OPENMP = bool(MVSC_OPENMP)
LARGEST_SLICE = MAX_SLICE


class KernelError(np.linalg.LinAlgError):
    """A LAPACK routine failed; the message names the slice."""


def check_lapack(int info, what, index):
    """Raise KernelError if the LAPACK status of a slice is not zero."""
    if info < 0:
        raise KernelError(f"{what} {index}: LAPACK refused argument {-info}; "
                          "please report this as a defect of mvsc_fast")
    if info > 0:
        raise KernelError(f"{what} {index}: the eigensolver did not converge "
                          f"(LAPACK info = {info}); are all entries finite?")


# ------------------------------------------------------------------ tubes and slices

cdef _prox(int kind, T, double t, int n_threads, what):
    """Apply a map in place; the numbers of values above t."""
    cdef bint single = T.dtype == np.float32
    cdef void *data = memory(T, np.float32 if single else np.float64)
    cdef Py_ssize_t v = T.shape[0], m = T.shape[1], n = T.shape[2], index = 0
    cdef Arena arena = counting_arena()
    cdef int info = 0
    if is_symmetric(kind) and m != n:
        raise ValueError(f"frontal slices must be square, got {m} x {n}")
    counts = np.zeros(prox_counts(kind, v, m), dtype=np.intp)
    if T.size == 0:
        return counts
    prox(kind, single, data, v, m, n, t, n_threads, &arena, NULL, &info, &index)
    work = np.empty(workspace_bytes(&arena), dtype=np.int8)
    arena = arena_at(memory(work, np.int8))
    cdef Py_ssize_t *count = <Py_ssize_t *> memory(counts, np.intp)
    with nogil:
        prox(kind, single, data, v, m, n, t, n_threads, &arena, count, &info, &index)
    check_lapack(info, what, index)
    return counts


def tube_shrink(T, double t, int n_threads=1):
    """Shrink the length of every tube ``T[:, j, k]`` by t, in place; how many remain non-zero.

    The proximal map of ``t * sum_jk ||T[:, j, k]||_2``.
    """
    return _prox(MVSC_TUBE_SHRINK, T, t, n_threads, None)[0]


def slice_shrink(T, double t, int n_threads=1):
    """Shrink the singular values of every v x n slice ``T[:, j, :]`` by t, in place.

    The proximal map of ``t * sum_j ||T[:, j, :]||_*``, through the v x v Gram matrix, or LAPACK's
    SVD if t is too small for a Gram matrix to resolve. Returns the number of singular values
    above t in every slice.
    """
    return _prox(MVSC_SLICE_SHRINK, T, t, n_threads, "row slice")


def slice_clip(T, double t, int n_threads=1):
    """Clip the singular values of every v x n slice ``T[:, j, :]`` at t, in place.

    The projection of every slice onto the spectral-norm ball of radius t. Returns the number of
    singular values above t in every slice.
    """
    return _prox(MVSC_SLICE_CLIP, T, t, n_threads, "row slice")


def halfcomplex_shrink(T, double t, int n_threads=1):
    """Shrink the singular values of the complex slices of a halfcomplex tensor, in place.

    The middle axis holds the orthonormal real form of a discrete Fourier transform of length m:
    row 0, then the real and the imaginary part (times sqrt 2) of every frequency, then, for even
    m, the highest frequency. With t the threshold divided by sqrt(m), this is the proximal map of
    the tensor nuclear norm (Xie et al. 2018, Eq. 18); a pair of rows is shrunk by sqrt(2) t.
    Returns the number of singular values above the threshold for every frequency.
    """
    return _prox(HALFCOMPLEX_SHRINK, T, t, n_threads, "frequency")


def symmetric_shrink(T, double t, int n_threads=1):
    """Shrink the eigenvalues of every symmetric slice ``T[i]`` towards zero by t, in place.

    The proximal map of ``t * sum_i ||T[i]||_*`` on symmetric slices; the mapped matrix is
    ``(T[i] + T[i].T) / 2``. Eigenvalues come first, then only the eigenvectors of the smaller part
    of the spectrum. Threads work on separate slices, each with the BLAS threads set outside.
    Returns the number of eigenvalues with absolute value above t in every slice.
    """
    return _prox(MVSC_SYMMETRIC_SHRINK, T, t, n_threads, "frontal slice of view")


def symmetric_clip(T, double t, int n_threads=1):
    """Clip the eigenvalues of every symmetric slice ``T[i]`` to [-t, t], in place.

    The projection onto symmetric matrices of spectral norm at most t; otherwise as
    `symmetric_shrink`.
    """
    return _prox(MVSC_SYMMETRIC_CLIP, T, t, n_threads, "frontal slice of view")


# ------------------------------------------------------------------ large slices and unfoldings

def frontal_shrink(T, double t, Py_ssize_t group=1):
    """Shrink the singular values of every frontal slice ``T[i]``, real or complex, by t, in place.

    The proximal map of ``t * sum_i ||T[i]||_*`` for slices that need not be symmetric. Slices with
    fewer rows than columns cost less. With a ``group`` of g slices it is ``[T[0], ..., T[g - 1]]``
    that is shrunk, and so on. Returns the number of singular values above t in every slice or
    group.
    """
    cdef Py_ssize_t m = T.shape[1], n = T.shape[2], rank = 0, i
    cdef Py_ssize_t groups = T.shape[0] // group if group else 0, size = group * m * n
    cdef char kind = ord(T.dtype.char)
    cdef void *x = memory(T, T.dtype)
    cdef int info
    ranks = np.zeros(groups, dtype=np.intp)
    if T.size == 0:
        return ranks
    if kind not in b"fdFD":
        raise ValueError(f"slices must be of floating-point numbers, got {T.dtype}")
    work = np.empty(unfolding_bytes(m, n, T.itemsize), dtype=np.int8)
    cdef void *scratch = memory(work, np.int8)
    for i in range(groups):
        with nogil:
            if kind == b"f":
                info = unfolding_map(<float *> x + i * size, group, m, n, t, scratch, &rank)
            elif kind == b"d":
                info = unfolding_map(<double *> x + i * size, group, m, n, t, scratch, &rank)
            elif kind == b"F":
                info = unfolding_map(<floatcomplex *> x + i * size, group, m, n, t, scratch, &rank)
            else:
                info = unfolding_map(<doublecomplex *> x + i * size, group, m, n, t, scratch,
                                     &rank)
        check_lapack(info, "frontal slice" if group == 1 else "unfolding", i)
        ranks[i] = rank
    return ranks


def mode_shrink(T, double t, int axis):
    """Shrink the singular values of an unfolding of T by t, in place; how many are above t.

    The proximal map of ``t * ||T_(axis)||_*`` for axis 1, the m x v n matrix ``[T[0], T[1], ...]``,
    or axis 2, the v m x n matrix ``[T[0]; T[1]; ...]``; `slice_shrink` of T as one slice
    v x 1 x m n does axis 0.
    """
    cdef Py_ssize_t v = T.shape[0], m = T.shape[1], n = T.shape[2]
    if axis == 1:
        return frontal_shrink(T, t, v).sum()
    if v * m <= n:      # the smaller Gram matrix is that of its rows
        return frontal_shrink(T.reshape(1, v * m, n), t).sum()
    transposed = np.ascontiguousarray(T.transpose(0, 2, 1))
    rank = mode_shrink(transposed, t, 1)
    T[...] = transposed.transpose(0, 2, 1)
    return rank


# ------------------------------------------------------------------ fused passes of TRPCA and SNN

cdef int point_at(arrays, like, void **addresses) except -1:
    """Addresses of arrays, which must have the shape and type of another one."""
    for i, array in enumerate(arrays):
        addresses[i] = memory(array, like.dtype, like.shape, "every tensor of a pass")
    return 0


def trpca_pass(
    W,
    L,
    S,
    Y,
    X,
    basis,
    *,
    double lam,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one TRPCA iteration but the shrinkage of L, in one sweep over memory.

    On entry X holds the coefficients of the new L along the views in the orthonormal ``basis``
    (v x v, columns); on exit those of ``W - S - Y / mu_next``. L, S and the multiplier Y change in
    place. Returns the largest entry of ``|L + S - W|`` and of the changes of L and S.
    """
    cdef Py_ssize_t v = W.shape[0], m = W.shape[1], n = W.shape[2]
    cdef bint single = W.dtype == np.float32
    cdef const double *B = <const double *> memory(basis, np.float64, (v, v), "basis")
    cdef void *x[5]
    cdef double change
    point_at((W, L, S, Y, X), W, x)
    work = np.empty(trpca_bytes(v, W.itemsize, n_threads), dtype=np.int8)
    cdef void *scratch = memory(work, np.int8)
    with nogil:
        if single:
            change = trpca_sweep(<float **> x, B, v, m, n, lam, mu, mu_next, n_threads, scratch)
        else:
            change = trpca_sweep(<double **> x, B, v, m, n, lam, mu, mu_next, n_threads, scratch)
    return change


def snn_pass(
    W,
    E,
    L1,
    Y1,
    X,
    L3,
    Y3,
    mapper,
    *,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one SNN iteration on symmetric slices but its shrinkages, in one sweep.

    On entry X holds the new L1, on exit its next argument ``W - E - Y1 / mu_next``. L3 is
    ``mapper @ (W - E - Y3 / mu)`` along the views. The block of the columns is the transpose of
    the block of the rows, and is not stored. All arrays but W change in place. Returns the largest
    entry of the constraint residuals and of the changes of all blocks, and the v x v Gram matrix of
    the next argument ``W - E - Y3 / mu_next``.
    """
    cdef SNN snn
    cdef bint single = W.dtype == np.float32
    cdef void *x[7]
    cdef double change
    point_at((W, E, L1, Y1, X, L3, Y3), W, x)
    snn.v, snn.n, snn.mu, snn.mu_next = W.shape[0], W.shape[1], mu, mu_next
    memory(W, W.dtype, (snn.v, snn.n, snn.n), "W")
    snn.mapper = <const double *> memory(mapper, np.float64, (snn.v, snn.v), "mapper")
    gram = np.empty((snn.v, snn.v))
    work = np.empty(snn_bytes(snn.v, snn.n, W.itemsize, n_threads), dtype=np.int8)
    cdef double *products = <double *> memory(gram, np.float64)
    cdef void *scratch = memory(work, np.int8)
    with nogil:
        if single:
            change = snn_sweep(<float **> x, &snn, products, n_threads, scratch)
        else:
            change = snn_sweep(<double **> x, &snn, products, n_threads, scratch)
    return change, gram


# ------------------------------------------------------------------ cells of a view

cdef Py_ssize_t _scan(
    const floating *X,          # IN   n x d, C-contiguous
    Py_ssize_t n,
    Py_ssize_t d,
    floating *least,            # OUT  d, the smallest value of each column
    floating *largest,          # OUT  d, the largest absolute value of each column
    Py_ssize_t *gaps,           # OUT  n, the number of NaN in each row
    char *blank,                # OUT  n, whether a row has neither positive nor negative values
    double *limits,             # OUT  2, the smallest and the largest absolute value of all
) noexcept nogil:
    """See `scan_cells`; returns the number of NaN."""
    cdef Py_ssize_t i, k, n_gaps, n_values, total = 0
    cdef const floating *row
    cdef floating x, size
    for k in range(d):
        least[k], largest[k] = INFINITY, -INFINITY
    # Conditional expressions on columns, which compilers turn into vector code; NaN changes none.
    for i in range(n):
        row = X + i * d
        n_gaps, n_values = 0, 0
        for k in range(d):
            x = row[k]
            size = abs(x)
            least[k] = x if x < least[k] else least[k]
            largest[k] = size if size > largest[k] else largest[k]
            n_gaps += x != x
            n_values += size > 0
        gaps[i], blank[i] = n_gaps, n_values == 0
        total += n_gaps
    limits[0], limits[1] = INFINITY, -INFINITY
    for k in range(d):
        limits[0] = min(limits[0], <double> least[k])
        limits[1] = max(limits[1], <double> largest[k])
    return total


def scan_cells(X):
    """What one pass over a view finds; NaN is a missing cell, and no value.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        float32 or float64, C-contiguous.

    Returns
    -------
    least, entry : float
        The smallest value, and the largest absolute value; infinite and negative infinite if there
        is none.
    n_gaps : int
        The number of missing cells.
    largest : ndarray of shape (d,), of the type of X
        The largest absolute value of each column; negative infinity if it has none.
    gaps : ndarray of shape (n,), intp
        The number of missing cells of each row.
    blank : ndarray of shape (n,) of bool
        Rows whose cells are all zero or missing.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1]
    cdef bint single = X.dtype == np.float32
    cdef double limits[2]
    cdef Py_ssize_t n_gaps
    dtype = np.float32 if single else np.float64
    extremes, gaps, blank = np.empty((2, d), dtype), np.empty(n, np.intp), np.empty(n, np.bool_)
    cdef void *x = memory(X, dtype)
    cdef void *columns = memory(extremes, dtype)
    cdef Py_ssize_t *gap = <Py_ssize_t *> memory(gaps, np.intp)
    cdef char *is_blank = <char *> memory(blank, np.bool_)
    with nogil:
        if single:
            n_gaps = _scan(<float *> x, n, d, <float *> columns, <float *> columns + d, gap,
                           is_blank, limits)
        else:
            n_gaps = _scan(<double *> x, n, d, <double *> columns, <double *> columns + d, gap,
                           is_blank, limits)
    return limits[0], limits[1], n_gaps, extremes[1], gaps, blank
