"""Python's door to the proximal maps and to the fused passes on (v, m, n) tensors.

Tensors are C-contiguous, so that ``T[i]`` is the frontal slice of view i, ``T[:, j, :]`` the
v x n slice of row j, and ``T[:, j, k]`` a tube. All kernels work in place, release the GIL, take
float32 and float64, and write each output from one thread only, so that the thread count never
changes a result.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fabs, fmax, sqrt

from .core cimport lapack as la
from .core cimport loops
from .core.gram cimport COLUMNS, ROWS, Side, complex_map, unfolding_map
from .core.lapack cimport blas_int, doublecomplex, floatcomplex
from .core.loops cimport TILE
from .core.platform cimport MVSC_OPENMP, omp_get_thread_num

import numpy as np

HAS_OPENMP = bool(MVSC_OPENMP)
LARGEST_SLICE = MAX_SLICE

cdef double GRAM_LIMIT = 100 * 1.5e-8
cdef double SQRT2 = sqrt(2.0)


class KernelError(np.linalg.LinAlgError):
    """A LAPACK routine failed; the message names the slice."""


def check_status(status, what):
    """Raise KernelError for the first slice whose LAPACK status is not zero."""
    cdef Py_ssize_t index
    for index in range(len(status)):
        if status[index] < 0:
            raise KernelError(f"{what} {index}: LAPACK refused argument {-status[index]}; "
                              "please report this as a defect of mvsc_fast")
        if status[index] > 0:
            raise KernelError(f"{what} {index}: the eigensolver did not converge "
                              f"(LAPACK info = {status[index]}); are all entries finite?")


# ------------------------------------------------------------------ tubes and slices of a row

def tube_shrink(floating[:, :, ::1] T, double t, int n_threads=1):
    """Shrink the length of every tube ``T[:, j, k]`` by t, in place.

    The proximal map of ``t * sum_jk ||T[:, j, k]||_2``.

    Returns
    -------
    int
        Number of tubes that remain non-zero.
    """
    cdef Py_ssize_t v = T.shape[0], m = T.shape[1], n = T.shape[2], kept
    cdef floating[:, ::1] lengths = np.empty((n_threads, CHUNK), dtype=np.asarray(T).dtype)
    if v * m * n == 0:
        return 0
    with nogil:
        kept = tube_map(&T[0, 0, 0], v, m, n, t, n_threads, &lengths[0, 0])
    return kept


cdef _slice_map(floating[:, :, ::1] T, double t, Spectral kind, int n_threads):
    cdef Py_ssize_t v = T.shape[0], m = T.shape[1], n = T.shape[2]
    ranks = np.zeros(m, dtype=np.intp)
    status = np.zeros(m, dtype=np.intc)
    cdef Py_ssize_t[::1] rank = ranks
    cdef int[::1] code = status
    cdef double[:, ::1] work
    if v * m * n == 0:
        return ranks
    work = np.empty((n_threads, slice_lwork(v, n)))
    with nogil:
        slice_map(&T[0, 0, 0], v, m, n, t, kind, n_threads, &work[0, 0], &rank[0], &code[0])
    check_status(status, "row slice")
    return ranks


def slice_shrink(floating[:, :, ::1] T, double t, int n_threads=1):
    """Shrink the singular values of every v x n slice ``T[:, j, :]`` by t, in place.

    The proximal map of ``t * sum_j ||T[:, j, :]||_*``, through the v x v Gram matrix, or LAPACK's
    SVD where t is too small for a Gram matrix to resolve.

    Returns
    -------
    ndarray of shape (m,)
        Number of singular values above t in every slice.
    """
    return _slice_map(T, t, SHRINK, n_threads)


def slice_clip(floating[:, :, ::1] T, double t, int n_threads=1):
    """Clip the singular values of every v x n slice ``T[:, j, :]`` at t, in place.

    The projection of every slice onto the spectral-norm ball of radius t. Returns the number of
    singular values above t in every slice.
    """
    return _slice_map(T, t, CLIP, n_threads)


# ------------------------------------------------------------------ symmetric frontal slices

cdef _symmetric_map(floating[:, :, ::1] T, double t, Spectral kind, work, int n_threads):
    cdef Py_ssize_t v = T.shape[0], n = T.shape[1]
    cdef int threads = <int> max(1, min(n_threads, v))
    if T.shape[2] != n:
        raise ValueError(f"frontal slices must be square, got {n} x {T.shape[2]}")
    if work is None:
        work = SymmetricWorkspace(n, threads, np.asarray(T).dtype)
    if work.n < n or work.slots < threads:
        raise ValueError(f"workspace for {work.slots} slices of size {work.n} is too small for "
                         f"{threads} of size {n}")
    outside = np.zeros(v, dtype=np.intp)
    eigenvalues = np.zeros((v, n), dtype=np.asarray(T).dtype)
    status = np.zeros(v, dtype=np.intc)
    cdef floating[:, ::1] numbers = work.numbers
    cdef long long[:, ::1] integers = work.integers
    cdef floating[:, ::1] spectrum = eigenvalues
    cdef Py_ssize_t[::1] rank = outside
    cdef int[::1] code = status
    if v * n == 0:
        return outside, eigenvalues
    with nogil:
        symmetric_maps(&T[0, 0, 0], v, n, t, kind, threads, &numbers[0, 0], &integers[0, 0],
                       &spectrum[0, 0], &rank[0], &code[0])
    check_status(status, "frontal slice of view")
    return outside, eigenvalues


class SymmetricWorkspace:
    """Scratch memory of the symmetric maps: two n x n matrices for each slice worked on at once."""

    def __init__(self, n, slots, dtype):
        self.n = n
        self.slots = slots
        self.numbers = np.empty((slots, symmetric_lwork(n)), dtype=dtype)
        self.integers = np.empty((slots, symmetric_liwork(n)), dtype=np.longlong)


def symmetric_shrink(floating[:, :, ::1] T, double t, work=None, int n_threads=1):
    """Shrink the eigenvalues of every symmetric slice ``T[i]`` towards zero by t, in place.

    The proximal map of ``t * sum_i ||T[i]||_*`` on symmetric slices; what is mapped is
    ``(T[i] + T[i].T) / 2``. Eigenvalues come first, then only the eigenvectors of the smaller part
    of the spectrum.

    Parameters
    ----------
    T : array of shape (v, n, n)
    t : float
        Threshold.
    work : SymmetricWorkspace, optional
        Scratch memory to reuse between calls.
    n_threads : int, default=1
        Slices worked on at once, each with the BLAS threads set outside.

    Returns
    -------
    outside : ndarray of shape (v,)
        Number of eigenvalues with absolute value above t.
    eigenvalues : ndarray of shape (v, n)
        Spectrum of the input, ascending.
    """
    return _symmetric_map(T, t, SHRINK, work, n_threads)


def symmetric_clip(floating[:, :, ::1] T, double t, work=None, int n_threads=1):
    """Clip the eigenvalues of every symmetric slice ``T[i]`` to [-t, t], in place.

    The projection onto symmetric matrices of spectral norm at most t. Parameters and returns as
    for `symmetric_shrink`.
    """
    return _symmetric_map(T, t, CLIP, work, n_threads)


# ------------------------------------------------------------------ slices of a Fourier transform

cdef Py_ssize_t pair_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that pair_operator needs."""
    return 2 * (v * v + v * n + n + 64 * v + 256) + v + 8 * v + 64


cdef int pair_operator(
    const double *rows,         # IN   2v x n: real parts of all views, then imaginary parts
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    double *mapper,             # OUT  2v x 2v: the shrunken slice is mapper @ rows
    double *work,
    Py_ssize_t *rank,
) noexcept nogil:
    cdef double complex *basis = <double complex *> work
    cdef double complex *copy = basis + v * v
    cdef double complex *scratch = copy + v * n
    cdef blas_int lwork = <blas_int> (n + 64 * v + 256), info, size = <blas_int> n
    cdef double *s = <double *> (scratch + lwork)
    cdef double *rwork = s + v
    cdef Py_ssize_t p, q, r, k
    cdef const double *x
    cdef const double *y
    cdef double complex total

    for p in range(v):
        for q in range(p, v):
            x = rows + p * n
            y = rows + q * n
            basis[p * v + q] = (la.dot(size, x, y) + la.dot(size, x + v * n, y + v * n)
                                + 1j * (la.dot(size, x, y + v * n) - la.dot(size, x + v * n, y)))
    info = la.heev(<blas_int> v, basis, s, scratch, lwork, rwork)
    if info < 0:
        return <int> info
    if info > 0 or t < GRAM_LIMIT * sqrt(fmax(s[v - 1], 0.0)):
        for p in range(v):
            for k in range(n):
                copy[p * n + k] = rows[p * n + k] + 1j * rows[(v + p) * n + k]
        info = la.right_singular_complex(size, <blas_int> v, copy, s, basis, scratch, lwork, rwork)
        if info != 0:
            return <int> info
        for q in range(min(v, n), v):
            s[q] = 0.0
        for p in range(v):
            for q in range(p):
                total = basis[p * v + q]
                basis[p * v + q] = basis[q * v + p]
                basis[q * v + p] = total
    else:
        for q in range(v):
            s[q] = sqrt(fmax(s[q], 0.0))
    rank[0] = 0
    for q in range(v):
        rank[0] += s[q] > t
        s[q] = spectral_factor(s[q], t, SHRINK)
    for p in range(v):
        for q in range(v):
            total = 0.0
            for r in range(v):
                total = total + basis[r * v + p] * s[r] * basis[r * v + q].conjugate()
            mapper[p * 2 * v + q] = mapper[(v + p) * 2 * v + v + q] = total.real
            mapper[(v + p) * 2 * v + q] = total.imag
            mapper[p * 2 * v + v + q] = -total.imag
    return 0


def halfcomplex_shrink(floating[:, :, ::1] T, double t, int n_threads=1):
    """Shrink the singular values of the complex slices of a halfcomplex tensor, in place.

    The middle axis holds the orthonormal real form of a discrete Fourier transform of length m:
    row 0, then the real and the imaginary part (times sqrt 2) of every frequency, then, for even
    m, the highest frequency. With t the threshold divided by sqrt(m), this is the proximal map of
    the tensor nuclear norm (Xie et al. 2018, Eq. 18); a pair of rows is shrunk by sqrt(2) t.

    Returns
    -------
    ndarray of shape (m // 2 + 1,)
        Number of singular values above the threshold for every frequency.
    """
    cdef Py_ssize_t v = T.shape[0], m = T.shape[1], n = T.shape[2]
    cdef Py_ssize_t frequencies = m // 2 + 1, f, i, k, pair, height, row
    cdef Py_ssize_t size = 2 * v * n + 4 * v * v + pair_lwork(v, n) + row_lwork(v, n)
    ranks = np.zeros(frequencies, dtype=np.intp)
    status = np.zeros(frequencies, dtype=np.intc)
    cdef Py_ssize_t[::1] rank = ranks
    cdef int[::1] code = status
    cdef double[:, ::1] work
    cdef double *rows
    cdef double *mapper
    cdef floating *entry
    if v * m * n == 0:
        return ranks
    work = np.empty((n_threads, size))
    for f in prange(frequencies, nogil=True, num_threads=n_threads, schedule="static"):
        rows = &work[omp_get_thread_num(), 0]
        mapper = rows + 2 * v * n
        pair = 0 < f and 2 * f < m
        height = (1 + pair) * v
        for i in range(height):
            row = 2 * f - (f > 0) + (i >= v)
            entry = &T[i % v, row, 0]
            for k in range(n):
                rows[i * n + k] = entry[k]
        if pair:
            code[f] = pair_operator(rows, v, n, SQRT2 * t, mapper, mapper + 4 * v * v, &rank[f])
        else:
            code[f] = row_operator(rows, v, n, t, SHRINK, mapper, mapper + 4 * v * v, &rank[f])
        if code[f] == 0:
            for i in range(height):
                row = 2 * f - (f > 0) + (i >= v)
                loops.combine(mapper + i * height, rows, height, n, n, &T[i % v, row, 0])
    check_status(status, "frequency")
    return ranks


# ------------------------------------------------------------------ large slices and unfoldings

class UnfoldingWorkspace:
    """Scratch memory of the unfolding kernels: three matrices of the data's type, two real ones."""

    def __init__(self, n, dtype, complex_slices=False):
        self.n = n
        self.numbers = np.empty(8 * n * n + 2 * n if complex_slices else 3 * n * n + n, dtype)
        self.real = np.empty(2 * n * n + 32 * n)
        self.integers = np.empty(12 * n + 64, dtype=np.longlong)


def mode_shrink(floating[:, :, ::1] T, double t, int axis, work=None):
    """Shrink the singular values of an unfolding of T by t, in place.

    The proximal map of ``t * ||T_(axis)||_*`` for axis 1, the n x v n matrix ``[T[0], T[1], ...]``,
    or axis 2, the v n x n matrix ``[T[0]; T[1]; ...]``; `slice_shrink` of T as one slice
    v x 1 x n^2 does axis 0.

    Returns
    -------
    int
        Number of singular values above t.
    """
    if axis not in (1, 2):
        raise ValueError(f"axis must be 1 or 2, got {axis}")
    return _map(T, T.shape[0], t, ROWS if axis == 1 else COLUMNS, work)[0]


def frontal_shrink(floating[:, :, ::1] T, double t, work=None):
    """Shrink the singular values of every frontal slice ``T[i]`` by t, in place.

    The proximal map of ``t * sum_i ||T[i]||_*`` for slices that need not be symmetric.

    Returns
    -------
    ndarray of shape (v,)
        Number of singular values above t in every slice.
    """
    return _map(T, 1, t, ROWS, work)


cdef _map(floating[:, :, ::1] T, Py_ssize_t group, double t, Side side, work):
    """Map groups of consecutive slices; the ranks of all groups."""
    cdef Py_ssize_t v = T.shape[0], n = T.shape[1], i
    if T.shape[2] != n:
        raise ValueError(f"frontal slices must be square, got {n} x {T.shape[2]}")
    ranks = np.zeros(v // group if group else 0, dtype=np.intp)
    if v * n == 0:
        return ranks
    if work is None:
        work = UnfoldingWorkspace(n, np.asarray(T).dtype)
    _check_workspace(work, n)
    status = np.zeros(v // group, dtype=np.intc)
    cdef Py_ssize_t[::1] rank = ranks
    cdef int[::1] code = status
    cdef floating[::1] numbers = work.numbers
    cdef double[::1] real = work.real
    cdef long long[::1] integers = work.integers
    with nogil:
        for i in range(v // group):
            code[i] = unfolding_map(&T[i * group, 0, 0], group, n, t, side, &numbers[0], &real[0],
                                    <blas_int *> &integers[0], &rank[i])
    check_status(status, "unfolding" if group > 1 else "frontal slice")
    return ranks


def complex_shrink(floating[:, ::1] real, floating[:, ::1] imaginary, double t, work=None):
    """Shrink the singular values of the complex matrix ``real + 1j * imaginary`` by t, in place.

    Returns
    -------
    int
        Number of singular values above t.
    """
    cdef Py_ssize_t n = real.shape[0], rank = 0
    cdef long long[::1] integers
    cdef double[::1] real_work
    cdef floating[::1] numbers
    cdef int code
    if real.shape[1] != n or imaginary.shape[0] != n or imaginary.shape[1] != n:
        raise ValueError("both parts must be square and of the same size")
    if n == 0:
        return 0
    if work is None:
        work = UnfoldingWorkspace(n, np.asarray(real).dtype, complex_slices=True)
    _check_workspace(work, n)
    real_work = work.real
    integers = work.integers
    numbers = work.numbers
    with nogil:
        if floating is double:
            code = complex_map(&real[0, 0], &imaginary[0, 0], n, t, <doublecomplex *> &numbers[0],
                               &real_work[0], <blas_int *> &integers[0], &rank)
        else:
            code = complex_map(&real[0, 0], &imaginary[0, 0], n, t, <floatcomplex *> &numbers[0],
                               &real_work[0], <blas_int *> &integers[0], &rank)
    check_status([code], "complex slice")
    return rank


def _check_workspace(work, n):
    if work.n < n:
        raise ValueError(f"workspace for slices of size {work.n} is too small for {n}")


# ------------------------------------------------------------------ recovery: TRPCA and SNN

def trpca_pass(
    const floating[:, :, ::1] W,
    floating[:, :, ::1] L,
    floating[:, :, ::1] S,
    floating[:, :, ::1] Y,
    floating[:, :, ::1] X,
    const double[:, ::1] basis,
    *,
    double lam,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one TRPCA iteration but the shrinkage of L, in one sweep over memory.

    On entry X holds the coefficients of the new L along the views in the orthonormal ``basis``
    (v x v, columns); on exit those of ``W - S - Y / mu_next``. L, S and the multiplier Y change in
    place.

    Returns
    -------
    float
        Largest entry of ``|L + S - W|`` and of the changes of L and S.
    """
    cdef Py_ssize_t v = W.shape[0], m = W.shape[1], n = W.shape[2], j, i, p, at, width
    cdef double[:, ::1] work = np.empty((n_threads, 2 * v * CHUNK))
    cdef floating[:, ::1] rows = np.empty((n_threads, CHUNK), dtype=np.asarray(W).dtype)
    cdef floating[:, ::1] change = np.zeros((n_threads, CHUNK), dtype=np.asarray(W).dtype)
    cdef double[:, ::1] transposed = np.ascontiguousarray(np.transpose(basis))
    cdef double *hat
    cdef double *argument
    cdef floating *row
    cdef int thread
    for j in prange(m, nogil=True, num_threads=n_threads, schedule="static"):
        thread = omp_get_thread_num()
        hat = &work[thread, 0]
        argument = hat + v * CHUNK
        row = &rows[thread, 0]
        at = 0
        while at < n:
            width = min(<Py_ssize_t> CHUNK, n - at)
            for i in range(v):
                for p in range(width):
                    hat[i * CHUNK + p] = X[i, j, at + p]
            for i in range(v):
                loops.combine(&basis[i, 0], hat, v, CHUNK, width, row)
                loops.trpca_update(&W[i, j, at], &L[i, j, at], &S[i, j, at], &Y[i, j, at], row, lam,
                                   mu, mu_next, width, argument + i * CHUNK, &change[thread, 0])
            for i in range(v):
                loops.combine(&transposed[i, 0], argument, v, CHUNK, width, &X[i, j, at])
            at = at + width
    return float(np.max(change))


cdef double snn_tile(
    const floating *w,          # everything: v slices of n x n
    floating *e,
    floating *l1,
    floating *y1,
    floating *x,
    floating *l3,
    floating *y3,
    const double *mapper,       # v x v: L3 is mapper @ (W - E - Y3 / mu)
    double mu,
    double mu_next,
    Py_ssize_t v,
    Py_ssize_t n,
    Py_ssize_t j_first,
    Py_ssize_t k_first,
    double *argument,           # v x TILE
    double *gram,               # INOUT v x v
) noexcept nogil:
    """Update the entries (j, k) of a tile with k >= j, and their mirror images."""
    cdef Py_ssize_t j, k, i, p, q, start, at, mirror, width, square = n * n
    cdef double change = 0.0, r1, r2, r3, new3, low, a, t = 1.0 / (3.0 * mu), error, weight
    for j in range(j_first, min(j_first + TILE, n)):
        start = max(k_first, j)
        width = min(k_first + TILE, n) - start
        for i in range(v):
            at = i * square + j * n + start
            for k in range(width):
                argument[i * TILE + k] = w[at + k] - e[at + k] - y3[at + k] / mu
        for i in range(v):
            for k in range(width):
                at = i * square + j * n + start + k
                mirror = i * square + (start + k) * n + j
                new3 = 0.0
                for p in range(v):
                    new3 = new3 + mapper[i * v + p] * argument[p * TILE + k]
                a = w[at] - (x[at] + x[mirror] + new3 + (y1[at] + y1[mirror] + y3[at]) / mu) / 3.0
                error = a - t if a > t else (a + t if a < -t else 0.0)
                r1 = x[at] + error - w[at]
                r2 = x[mirror] + error - w[at]
                r3 = new3 + error - w[at]
                change = fmax(change, fmax(fabs(r1), fmax(fabs(r2), fabs(r3))))
                change = fmax(change, fmax(fabs(x[at] - l1[at]), fabs(x[mirror] - l1[mirror])))
                change = fmax(change, fmax(fabs(error - e[at]), fabs(new3 - l3[at])))
                l1[at] = x[at]
                l1[mirror] = x[mirror]
                l3[at] = l3[mirror] = <floating> new3
                e[at] = e[mirror] = <floating> error
                y3[at] = y3[mirror] = <floating> (y3[at] + mu * r3)
                y1[at] = <floating> (y1[at] + mu * r1)
                x[at] = <floating> (w[at] - error - y1[at] / mu_next)
                if mirror != at:
                    y1[mirror] = <floating> (y1[mirror] + mu * r2)
                    x[mirror] = <floating> (w[at] - error - y1[mirror] / mu_next)
        for i in range(v):
            at = i * square + j * n + start
            for k in range(width):
                argument[i * TILE + k] = w[at + k] - e[at + k] - y3[at + k] / mu_next
        for p in range(v):
            for q in range(p, v):
                low = 0.0
                for k in range(width):
                    weight = 1.0 if start + k == j else 2.0
                    low = low + weight * argument[p * TILE + k] * argument[q * TILE + k]
                gram[p * v + q] += low
    return change


def snn_pass(
    const floating[:, :, ::1] W,
    floating[:, :, ::1] E,
    floating[:, :, ::1] L1,
    floating[:, :, ::1] Y1,
    floating[:, :, ::1] X,
    floating[:, :, ::1] L3,
    floating[:, :, ::1] Y3,
    const double[:, ::1] mapper,
    *,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one SNN iteration on symmetric slices but its shrinkages, in one sweep.

    On entry X holds the new L1, on exit its next argument ``W - E - Y1 / mu_next``. L3 is
    ``mapper @ (W - E - Y3 / mu)`` along the views. The block of the columns is the transpose of
    the block of the rows, and is not stored. All arrays but W change in place.

    Returns
    -------
    change : float
        Largest entry of the constraint residuals and of the changes of all blocks.
    gram : ndarray of shape (v, v)
        Gram matrix along the views of the next argument ``W - E - Y3 / mu_next``.
    """
    cdef Py_ssize_t v = W.shape[0], n = W.shape[1], row, column, tiles = (n + TILE - 1) // TILE
    cdef double[:, ::1] argument = np.empty((n_threads, v * TILE))
    cdef double[:, :, ::1] grams = np.zeros((max(tiles, 1), v, v))
    cdef double[:, ::1] change = np.zeros((max(tiles, 1), max(tiles, 1)))
    for row in prange(tiles, nogil=True, num_threads=n_threads, schedule="static", chunksize=1):
        for column in range(row, tiles):
            change[row, column] = snn_tile(
                &W[0, 0, 0], &E[0, 0, 0], &L1[0, 0, 0], &Y1[0, 0, 0], &X[0, 0, 0], &L3[0, 0, 0],
                &Y3[0, 0, 0], &mapper[0, 0], mu, mu_next, v, n, row * TILE, column * TILE,
                &argument[omp_get_thread_num(), 0], &grams[row, 0, 0])
    gram = np.triu(np.sum(grams, axis=0))
    return float(np.max(change)), gram + np.triu(gram, 1).T
