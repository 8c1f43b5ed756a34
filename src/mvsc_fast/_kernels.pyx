"""Compiled core: proximal maps and fused passes on (v, m, n) tensors.

Tensors are C-contiguous, so that ``T[i]`` is the frontal slice of view i, ``T[:, j, :]`` the
v x n slice of row j, and ``T[:, j, k]`` a tube. All kernels work in place, release the GIL, take
float32 and float64, and write each output from one thread only, so that the thread count never
changes a result.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fabs, fmax, sqrt
from libc.string cimport memcpy, memset

cimport mvsc_fast.core.lapack as la
cimport mvsc_fast.core.loops as loops
from mvsc_fast.core.lapack cimport blas_int
from mvsc_fast.core.platform cimport MVSC_OPENMP, omp_get_thread_num

import numpy as np

HAS_OPENMP = bool(MVSC_OPENMP)
LARGEST_SLICE = MAX_SLICE

cdef enum:
    BLOCK = 32              # tile edge of transposed accesses
    STEMR_FRACTION = 4      # below n / 4 eigenvectors MRRR beats divide and conquer

# A Gram matrix holds singular values down to sqrt(eps) * s_max. Shrinking needs an error of 1e-10
# relative to s_max; a clipped slice must keep its norm bound to 1e-10 relative to t.
cdef double GRAM_LIMIT = 100 * 1.5e-8
cdef double GRAM_LIMIT_CLIP = 1e-3


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


# ------------------------------------------------------------------ tubes

cdef Py_ssize_t tube_map(
    floating *T,                # INOUT v x m x n
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    int n_threads,
    floating *lengths,          # n_threads x CHUNK
) noexcept nogil:
    """Shrink all tubes; returns how many remain."""
    cdef Py_ssize_t j, i, first, width, kept = 0
    cdef floating *squares
    for j in prange(m, num_threads=n_threads, schedule="static"):
        squares = lengths + omp_get_thread_num() * CHUNK
        first = 0
        while first < n:
            width = min(<Py_ssize_t> CHUNK, n - first)
            memset(squares, 0, width * sizeof(floating))
            for i in range(v):
                loops.add_squares(T + (i * m + j) * n + first, width, squares)
            kept += loops.shrink_factors(squares, width, t)
            for i in range(v):
                loops.scale(T + (i * m + j) * n + first, squares, width)
            first = first + width
    return kept


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


# ------------------------------------------------------------------ slices of a row (v x n)

cdef double spectral_factor(double s, double t, Spectral kind) noexcept nogil:
    """Ratio of the mapped singular value to s."""
    if kind == SHRINK:
        return 1.0 - t / s if s > t else 0.0
    return t / s if s > t else 1.0


cdef Py_ssize_t row_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that row_operator and row_basis need."""
    return 8 * v * v + 9 * v + v * n + lapack_lwork(v, n)


cdef Py_ssize_t lapack_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    return n + 64 * v + 256


cdef int row_singular(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,              # OUT  v x v, row q: left singular vector q
    double *s,                  # OUT  v singular values, descending
    double *work,               # 7 v v + 8 v + v n + lapack_lwork(v, n)
) noexcept nogil:
    """A singular value decomposition, by a second driver where the first does not converge."""
    cdef double *copy = work
    cdef double *scratch = copy + v * n
    cdef blas_int lwork = <blas_int> (lapack_lwork(v, n) + 7 * v * v), info
    cdef blas_int *integers = <blas_int *> (scratch + lwork)            # 8 v of 4 or 8 bytes
    cdef Py_ssize_t p, q
    cdef double swap
    memcpy(copy, rows, v * n * sizeof(double))
    info = la.right_singular(<blas_int> n, <blas_int> v, copy, s, basis, scratch, lwork)
    if info > 0:
        memcpy(copy, rows, v * n * sizeof(double))
        info = la.right_singular_dc(<blas_int> n, <blas_int> v, copy, s, scratch, basis,
                                    scratch + v * v, <blas_int> (lwork - v * v), integers)
    if info != 0:
        return <int> info
    for q in range(min(v, n), v):
        s[q] = 0.0
    for p in range(v):                          # LAPACK's rows are strided by v: transpose
        for q in range(p):
            swap = basis[p * v + q]
            basis[p * v + q] = basis[q * v + p]
            basis[q * v + p] = swap
    return 0


cdef int gram_eigen(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,              # OUT  v x v, row q: eigenvector q of rows @ rows.T
    double *s,                  # OUT  v eigenvalues, ascending
    double *work,               # as row_singular
) noexcept nogil:
    """Eigenpairs of the Gram matrix, from singular values where they do not converge."""
    cdef Py_ssize_t p, q
    cdef double swap
    cdef blas_int info
    for p in range(v):
        for q in range(p, v):
            basis[p * v + q] = la.dot(<blas_int> n, rows + p * n, rows + q * n)
    info = la.syev(<blas_int> v, basis, s, work, <blas_int> lapack_lwork(v, n))
    if info <= 0:
        return <int> info
    info = row_singular(rows, v, n, basis, s, work)
    for q in range(v // 2):
        swap = s[q]
        s[q] = s[v - 1 - q]
        s[v - 1 - q] = swap
        for p in range(v):
            swap = basis[q * v + p]
            basis[q * v + p] = basis[(v - 1 - q) * v + p]
            basis[(v - 1 - q) * v + p] = swap
    for q in range(v):
        s[q] = s[q] * s[q]
    return <int> info


cdef int row_basis(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double *basis,              # OUT  v x v, orthonormal rows: left singular vectors
    double *work,               # row_lwork(v, n); squared singular values, ascending, come first
) noexcept nogil:
    return gram_eigen(rows, v, n, basis, work, work + v)


cdef int row_operator(
    const double *rows,         # IN   v x n
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Spectral kind,
    double *mapper,           # OUT  v x v, symmetric: the mapped slice is mapper @ rows
    double *work,
    Py_ssize_t *rank,           # OUT  singular values above t
) noexcept nogil:
    cdef double *basis = work                   # row q of basis: left singular vector q
    cdef double *s = basis + v * v
    cdef Py_ssize_t p, q, r
    cdef int info
    cdef double total

    info = gram_eigen(rows, v, n, basis, s, s + v)
    if info != 0:
        return info
    if t < (GRAM_LIMIT if kind == SHRINK else GRAM_LIMIT_CLIP) * sqrt(fmax(s[v - 1], 0.0)):
        info = row_singular(rows, v, n, basis, s, s + v)
        if info != 0:
            return info
    else:
        for q in range(v):
            s[q] = sqrt(fmax(s[q], 0.0))
    rank[0] = 0
    for q in range(v):
        rank[0] += s[q] > t
        s[q] = spectral_factor(s[q], t, kind)
    for p in range(v):
        for q in range(v):
            total = 0.0
            for r in range(v):
                total = total + basis[r * v + p] * s[r] * basis[r * v + q]
            mapper[p * v + q] = total
    return 0


cdef Py_ssize_t slice_lwork(Py_ssize_t v, Py_ssize_t n) noexcept nogil:
    """Doubles that slice_map needs for each thread."""
    return v * n + v * v + row_lwork(v, n)


cdef void slice_map(
    floating *T,                # INOUT v x m x n
    Py_ssize_t v,
    Py_ssize_t m,
    Py_ssize_t n,
    double t,
    Spectral kind,
    int n_threads,
    double *work,               # n_threads x slice_lwork(v, n)
    Py_ssize_t *rank,           # OUT  m: singular values above t
    int *code,                  # OUT  m: LAPACK's info
) noexcept nogil:
    """Map the singular values of every row slice."""
    cdef Py_ssize_t j, k, i, size = slice_lwork(v, n)
    cdef double *rows
    cdef double *mapper
    cdef floating *entry
    for j in prange(m, num_threads=n_threads, schedule="static"):
        rows = work + omp_get_thread_num() * size
        mapper = rows + v * n
        for i in range(v):
            entry = T + (i * m + j) * n
            for k in range(n):
                rows[i * n + k] = entry[k]
        code[j] = row_operator(rows, v, n, t, kind, mapper, mapper + v * v, &rank[j])
        if code[j] == 0:
            for i in range(v):
                loops.combine(mapper + i * v, rows, v, n, n, T + (i * m + j) * n)


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

cdef Py_ssize_t symmetric_lwork(Py_ssize_t n) noexcept nogil:
    """Numbers that symmetric_map needs: the eigenvectors, as much again for LAPACK, vectors."""
    return 2 * n * n + 32 * n + 64


cdef Py_ssize_t symmetric_liwork(Py_ssize_t n) noexcept nogil:
    return 12 * n + 64


cdef void symmetrise(floating *a, Py_ssize_t n) noexcept nogil:
    """a <- (a + a^T) / 2, tile by tile."""
    cdef Py_ssize_t j, k, jj, kk, tiles = (n + BLOCK - 1) // BLOCK
    cdef floating mean
    for jj in range(tiles):
        for kk in range(jj, tiles):
            for j in range(jj * BLOCK, min((jj + 1) * BLOCK, n)):
                for k in range(max(kk * BLOCK, j + 1), min((kk + 1) * BLOCK, n)):
                    mean = <floating> 0.5 * (a[j * n + k] + a[k * n + j])
                    a[j * n + k] = mean
                    a[k * n + j] = mean


cdef void mirror_upper(floating *a, Py_ssize_t n) noexcept nogil:
    """Copy the upper triangle (column-major) onto the lower one, tile by tile."""
    cdef Py_ssize_t j, k, jj, kk, tiles = (n + BLOCK - 1) // BLOCK
    for jj in range(tiles):
        for kk in range(jj, tiles):
            for j in range(jj * BLOCK, min((jj + 1) * BLOCK, n)):
                for k in range(max(kk * BLOCK, j + 1), min((kk + 1) * BLOCK, n)):
                    a[j * n + k] = a[k * n + j]


cdef double recipe_coefficient(double s, double t, Spectral kind, Recipe *recipe) noexcept nogil:
    cdef double mapped
    if kind == SHRINK:
        mapped = s - t if s > t else (s + t if s < -t else 0.0)
    else:
        mapped = t if s > t else (-t if s < -t else s)
    return mapped - recipe.keep * s - recipe.shift


cdef Recipe cheapest_recipe(Py_ssize_t n, Py_ssize_t below, Py_ssize_t above, double t,
                            Spectral kind) noexcept nogil:
    """Which eigenvectors to build the result from, given how many s < -t and s > t there are.

    Each map is affine on each of the three parts of the spectrum, so the pairs of one part can be
    left out: those inside, those above, or those below.
    """
    cdef Recipe recipe
    cdef Py_ssize_t outside = below + above
    recipe.low, recipe.high = below, n - above
    recipe.keep = 1.0 if kind == CLIP else 0.0
    recipe.shift = 0.0
    if outside > n - max(below, above):
        recipe.keep = 1.0 - recipe.keep
        if above >= below:
            recipe.low, recipe.high = n - above, n
            recipe.shift = -t if kind == SHRINK else t
        else:
            recipe.low, recipe.high = 0, below
            recipe.shift = t if kind == SHRINK else -t
    return recipe


cdef int tridiagonal_values(
    Py_ssize_t n,
    const floating *d,      # IN   diagonal
    const floating *e,      # IN   off-diagonal
    floating *values,       # OUT  n, ascending
    floating *scratch,      # n
) noexcept nogil:
    """Eigenvalues of a tridiagonal matrix."""
    cdef blas_int info
    memcpy(values, d, n * sizeof(floating))
    memcpy(scratch, e, (n - 1) * sizeof(floating))
    info = la.sterf(<blas_int> n, values, scratch)
    if info > 0:
        memcpy(values, d, n * sizeof(floating))
        memcpy(scratch, e, (n - 1) * sizeof(floating))
        info = la.steqr_values(<blas_int> n, values, scratch)
    return <int> info


cdef int tridiagonal_vectors(
    Py_ssize_t n,
    floating *d,            # IN   diagonal, destroyed
    floating *e,            # IN   off-diagonal, destroyed
    floating *z,            # OUT  chosen eigenvectors, packed from column 0
    Recipe *recipe,
    floating *work,         # n*n + 24 n: LAPACK's, then copies
    blas_int *iwork,
) noexcept nogil:
    """Eigenvectors 0 .. low and high .. n of a tridiagonal matrix."""
    cdef Py_ssize_t chosen = recipe.low + n - recipe.high
    cdef floating *d_copy = work + n * n + 20 * n
    cdef floating *e_copy = d_copy + n
    cdef floating *w = e_copy + n
    cdef blas_int info = 1, size = <blas_int> n, lwork = <blas_int> (n * n + 20 * n)
    memcpy(d_copy, d, n * sizeof(floating))
    memcpy(e_copy, e, n * sizeof(floating))
    if STEMR_FRACTION * chosen < n:
        info = 0
        if recipe.low > 0:
            info = la.stemr(size, d, e, 1, <blas_int> recipe.low, w, z, iwork, work, lwork,
                            iwork + 2 * n, <blas_int> (10 * n))
            memcpy(d, d_copy, n * sizeof(floating))
            memcpy(e, e_copy, n * sizeof(floating))
        if info == 0 and recipe.high < n:
            info = la.stemr(size, d, e, <blas_int> recipe.high + 1, size, w, z + recipe.low * n,
                            iwork, work, lwork, iwork + 2 * n, <blas_int> (10 * n))
            memcpy(d, d_copy, n * sizeof(floating))
            memcpy(e, e_copy, n * sizeof(floating))
        if info == 0:
            return 0
    info = la.stedc(size, d, e, z, work, lwork, iwork, <blas_int> (5 * n + 3))
    if info != 0:
        memcpy(d, d_copy, n * sizeof(floating))
        memcpy(e, e_copy, n * sizeof(floating))
        info = la.steqr(size, d, e, z, work)
    if info == 0 and recipe.high < n and recipe.high > recipe.low:
        memcpy(work, z + recipe.high * n, (n - recipe.high) * n * sizeof(floating))
        memcpy(z + recipe.low * n, work, (n - recipe.high) * n * sizeof(floating))
    return <int> info


cdef int symmetric_map(
    floating *a,            # INOUT n x n; the mean with the transpose is what is mapped
    Py_ssize_t n,
    double t,
    Spectral kind,
    floating *eigenvalues,  # OUT  n, of the input, ascending
    floating *work,         # symmetric_lwork(n)
    void *iwork,            # symmetric_liwork(n) numbers of 8 bytes
    Py_ssize_t *outside,    # OUT  eigenvalues with |s| > t
) noexcept nogil:
    cdef floating *z = work
    cdef floating *scratch = z + n * n
    cdef floating *diagonal = scratch + n * n + 24 * n
    cdef floating *tau = diagonal + n
    cdef floating *e = tau + n
    cdef floating *e_copy = e + n
    cdef floating *spectrum = e_copy + n
    cdef floating *d = eigenvalues
    cdef floating *column
    cdef Py_ssize_t j, k, below = 0, above = 0, chosen, positive, sign
    cdef double coefficient
    cdef Recipe recipe
    cdef blas_int info, size = <blas_int> n

    symmetrise(a, n)
    for j in range(n):
        diagonal[j] = a[j * n + j]
    # hetrd overwrites the lower triangle; the strict upper one keeps the matrix itself.
    info = la.hetrd(size, a, d, e, tau, scratch, <blas_int> (n * n))
    if info != 0:
        return <int> info
    info = tridiagonal_values(n, d, e, z, e_copy)
    if info != 0:
        return <int> info
    for j in range(n):
        below += z[j] < -t
        above += z[j] > t
    recipe = cheapest_recipe(n, below, above, t, kind)
    chosen = recipe.low + n - recipe.high
    outside[0] = below + above
    memcpy(spectrum, z, n * sizeof(floating))
    if chosen > 0:
        info = tridiagonal_vectors(n, d, e, z, &recipe, scratch, <blas_int *> iwork)
        if info == 0:
            info = la.unmtr(size, <blas_int> chosen, a, tau, z, scratch, <blas_int> (n * n))
        if info != 0:
            return <int> info
    memcpy(d, spectrum, n * sizeof(floating))

    if recipe.keep == 0.0:
        for j in range(n):
            memset(a + j * n, 0, j * sizeof(floating))
    for j in range(n):
        a[j * n + j] = <floating> (recipe.keep * diagonal[j] + recipe.shift)
    # Positive coefficients first, negative ones after: two rank-k updates.
    positive = 0
    for sign in range(2):
        k = 0
        column = scratch
        for j in range(chosen):
            coefficient = recipe_coefficient(d[j if j < recipe.low else j + n - chosen], t, kind,
                                             &recipe)
            if (coefficient > 0.0) == (sign == 0) and coefficient != 0.0:
                scale_column(column, z + j * n, sqrt(fabs(coefficient)), n)
                column += n
                k += 1
        if k > 0:
            la.syrk_upper(size, <blas_int> k, <floating> (1 - 2 * sign), scratch, <floating> 1, a)
    mirror_upper(a, n)
    return 0


cdef void scale_column(floating *out, const floating *column, double factor,
                       Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = <floating> (factor * column[k])


cdef void symmetric_maps(
    floating *T,                # INOUT v x n x n
    Py_ssize_t v,
    Py_ssize_t n,
    double t,
    Spectral kind,
    int n_threads,
    floating *numbers,          # n_threads x symmetric_lwork(n)
    long long *integers,        # n_threads x symmetric_liwork(n)
    floating *eigenvalues,      # OUT  v x n
    Py_ssize_t *outside,        # OUT  v: eigenvalues with |s| > t
    int *code,                  # OUT  v: LAPACK's info
) noexcept nogil:
    """Map the eigenvalues of every frontal slice."""
    cdef Py_ssize_t i, lwork = symmetric_lwork(n), liwork = symmetric_liwork(n)
    for i in prange(v, num_threads=n_threads, schedule="static", chunksize=1):
        code[i] = symmetric_map(T + i * n * n, n, t, kind, eigenvalues + i * n,
                                numbers + omp_get_thread_num() * lwork,
                                integers + omp_get_thread_num() * liwork, &outside[i])


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
