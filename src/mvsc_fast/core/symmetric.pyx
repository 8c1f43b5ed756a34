"""Maps of the eigenvalues of symmetric frontal slices, by all eigenpairs that the result needs."""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .lapack cimport blas_int
from .loops cimport TILE
from .platform cimport omp_get_thread_num
from .rows cimport CLIP, SHRINK, Spectral

cdef enum:
    STEMR_FRACTION = 4      # below n / 4 eigenvectors MRRR beats divide and conquer


cdef Py_ssize_t symmetric_lwork(Py_ssize_t n) noexcept nogil:
    """Numbers that symmetric_map needs: the eigenvectors, as much again for LAPACK, vectors."""
    return 2 * n * n + 32 * n + 64


cdef Py_ssize_t symmetric_liwork(Py_ssize_t n) noexcept nogil:
    return 12 * n + 64


cdef void symmetrise(floating *a, Py_ssize_t n) noexcept nogil:
    """a <- (a + a^T) / 2, tile by tile."""
    cdef Py_ssize_t j, k, jj, kk, tiles = (n + TILE - 1) // TILE
    cdef floating mean
    for jj in range(tiles):
        for kk in range(jj, tiles):
            for j in range(jj * TILE, min((jj + 1) * TILE, n)):
                for k in range(max(kk * TILE, j + 1), min((kk + 1) * TILE, n)):
                    mean = <floating> 0.5 * (a[j * n + k] + a[k * n + j])
                    a[j * n + k] = mean
                    a[k * n + j] = mean


cdef void mirror_upper(floating *a, Py_ssize_t n) noexcept nogil:
    """Copy the upper triangle (column-major) onto the lower one, tile by tile."""
    cdef Py_ssize_t j, k, jj, kk, tiles = (n + TILE - 1) // TILE
    for jj in range(tiles):
        for kk in range(jj, tiles):
            for j in range(jj * TILE, min((jj + 1) * TILE, n)):
                for k in range(max(kk * TILE, j + 1), min((kk + 1) * TILE, n)):
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
