"""Maps of the eigenvalues of symmetric frontal slices, by all eigenpairs that the result needs.

A slice a = Q T Q^T is reduced to a tridiagonal T, all of whose eigenvalues are found first.
Shrinking and clipping are affine on each of the three parts of the spectrum (s < -t, |s| <= t,
s > t), so the eigenvectors of the largest part are left out: see Recipe.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fabs, fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .arena cimport Arena, arena_at, counting_arena, take, workspace_bytes
from .lapack cimport blas_int
from .loops cimport TILE
from .platform cimport omp_get_thread_num
from .rows cimport CLIP, SHRINK, Spectral

cdef double LARGE = 4.0     # of eigenvalues to t, for single precision: see cuts_excess

cdef enum:
    STEMR_FRACTION = 4      # below n / 4 eigenvectors MRRR beats divide and conquer


# ------------------------------------------------------------------ tridiagonal matrices

cdef void lay_out_tridiagonal(Arena *numbers, Arena *integers, Py_ssize_t n, size_t itemsize,
                              Tridiagonal *memory) noexcept nogil:
    """Lay out a tridiagonal form and what finds its eigenpairs."""
    cdef Py_ssize_t lwork = max(la.stedc_lwork(n), max(la.stemr_lwork(n), la.steqr_lwork(n)))
    memory.d = take(numbers, n, itemsize)
    memory.e = take(numbers, n, itemsize)
    memory.d_copy = take(numbers, n, itemsize)
    memory.e_copy = take(numbers, n, itemsize)
    memory.values = take(numbers, n, itemsize)
    memory.scratch = take(numbers, lwork, itemsize)
    memory.support = <blas_int *> take(integers, 2 * n, sizeof(blas_int))
    memory.integers = <blas_int *> take(integers, max(la.stedc_liwork(n), la.stemr_liwork(n)),
                                        sizeof(blas_int))


cdef int tridiagonal_values(
    Py_ssize_t n,
    floating *values,       # OUT  n, ascending
    Tridiagonal *memory,    # d and e are kept
) noexcept nogil:
    """Eigenvalues of a tridiagonal matrix."""
    cdef floating *e = <floating *> memory.e_copy
    memcpy(values, memory.d, n * sizeof(floating))
    memcpy(e, memory.e, (n - 1) * sizeof(floating))
    return <int> la.sterf(<blas_int> n, values, e)


cdef void restore(Py_ssize_t n, size_t itemsize, Tridiagonal *memory) noexcept nogil:
    """Restore the matrix, which LAPACK's drivers destroy."""
    memcpy(memory.d, memory.d_copy, n * itemsize)
    memcpy(memory.e, memory.e_copy, (n - 1) * itemsize)


cdef int some_vectors(Py_ssize_t first, Py_ssize_t last, Py_ssize_t n, floating *z,
                      Tridiagonal *memory) noexcept nogil:
    """Eigenvectors first .. last into z by MRRR; d and e are kept."""
    cdef blas_int info = 0
    if first < last:
        info = la.stemr(<blas_int> n, <floating *> memory.d, <floating *> memory.e,
                        <blas_int> (first + 1), <blas_int> last, <floating *> memory.values, z,
                        memory.support, <floating *> memory.scratch, memory.integers)
        restore(n, sizeof(floating), memory)
    return <int> info


cdef int all_vectors(Py_ssize_t n, floating *z, Tridiagonal *memory) noexcept nogil:
    """All eigenvectors into z by divide and conquer, or by QR iterations if that fails."""
    cdef floating *d = <floating *> memory.d
    cdef floating *e = <floating *> memory.e
    cdef floating *scratch = <floating *> memory.scratch
    cdef blas_int info = la.stedc(<blas_int> n, d, e, z, scratch, memory.integers)
    if info != 0:
        restore(n, sizeof(floating), memory)
        info = la.steqr(<blas_int> n, d, e, z, scratch)
    return <int> info


cdef int tridiagonal_vectors(
    Py_ssize_t n,
    floating *z,            # OUT  n x n, chosen eigenvectors packed from column 0
    const Recipe *recipe,
    Tridiagonal *memory,    # d and e are destroyed
) noexcept nogil:
    """Eigenvectors 0 .. low and high .. n of a tridiagonal matrix."""
    cdef Py_ssize_t low = recipe.low, high = recipe.high, moved = (n - high) * n
    cdef int info
    memcpy(memory.d_copy, memory.d, n * sizeof(floating))
    memcpy(memory.e_copy, memory.e, (n - 1) * sizeof(floating))
    if STEMR_FRACTION * (low + n - high) < n:
        info = some_vectors(0, low, n, z, memory)
        if info == 0:
            info = some_vectors(high, n, n, z + low * n, memory)
        if info == 0:
            return 0
    info = all_vectors(n, z, memory)
    if info == 0 and low < high < n:
        memcpy(memory.scratch, z + high * n, moved * sizeof(floating))
        memcpy(z + low * n, memory.scratch, moved * sizeof(floating))
    return info


# ------------------------------------------------------------------ recipes

cdef double recipe_coefficient(double s, double t, Spectral kind,
                               const Recipe *recipe) noexcept nogil:
    """The difference between the mapped eigenvalue and ``keep * s + shift``."""
    cdef double mapped
    if kind == SHRINK:
        mapped = s - t if s > t else (s + t if s < -t else 0.0)
    else:
        mapped = t if s > t else (-t if s < -t else s)
    return mapped - recipe.keep * s - recipe.shift


cdef bint cuts_excess(
    Py_ssize_t n,
    Py_ssize_t below,       # eigenvalues s < -t
    Py_ssize_t above,       # eigenvalues s > t
    double largest,         # |s|
    double t,
    bint single,
) noexcept nogil:
    """Whether a matrix is clipped by subtracting the parts of its eigenpairs that exceed t.

    This leaves rounding errors in proportion to ``largest``. In single precision they soon are
    larger than the accuracy that is asked for, while those of a matrix that is built from the
    other eigenpairs are in proportion to t.
    """
    return (below + above <= n - max(below, above)
            and not (single and largest > LARGE * t))


cdef Recipe cheapest_recipe(Py_ssize_t n, Py_ssize_t below, Py_ssize_t above, double largest,
                            double t, Spectral kind, bint single) noexcept nogil:
    """Which eigenvectors to build the result from, given how many s < -t and s > t there are.

    Each map is affine on each of the three parts of the spectrum, so the pairs of one part can be
    left out: those inside, those above, or those below.
    """
    cdef Recipe recipe
    recipe.low, recipe.high = below, n - above
    recipe.keep = 1.0 if kind == CLIP else 0.0
    recipe.shift = 0.0
    if not cuts_excess(n, below, above, largest, t, single and kind == CLIP):
        recipe.keep = 1.0 - recipe.keep
        if above >= below:
            recipe.low, recipe.high = n - above, n
            recipe.shift = -t if kind == SHRINK else t
        else:
            recipe.low, recipe.high = 0, below
            recipe.shift = t if kind == SHRINK else -t
    return recipe


# ------------------------------------------------------------------ slices

cdef struct SymmetricMemory:
    # To map one slice; numbers are of its type.
    void *vectors               # n x n
    void *diagonal              # n
    void *tau                   # n
    void *scratch               # LAPACK's, of the reduction to tridiagonal form and back
    Tridiagonal tridiagonal     # its scratch also holds n x n scaled eigenvectors


cdef void lay_out_symmetric(Arena *numbers, Arena *integers, Py_ssize_t n, size_t itemsize,
                            SymmetricMemory *memory) noexcept nogil:
    """Lay out what maps one slice."""
    memory.vectors = take(numbers, <double> n * n, itemsize)
    memory.diagonal = take(numbers, n, itemsize)
    memory.tau = take(numbers, n, itemsize)
    memory.scratch = take(numbers, max(la.hetrd_lwork(n), la.unmtr_lwork(n)), itemsize)
    lay_out_tridiagonal(numbers, integers, n, itemsize, &memory.tridiagonal)


cdef Py_ssize_t symmetric_lwork(Py_ssize_t n) noexcept nogil:
    """Numbers that symmetric_map needs, of either type: floats lose more to alignment."""
    cdef Arena numbers = counting_arena(), integers = counting_arena()
    cdef SymmetricMemory memory
    lay_out_symmetric(&numbers, &integers, n, sizeof(float), &memory)
    return <Py_ssize_t> (workspace_bytes(&numbers) // sizeof(float))


cdef Py_ssize_t symmetric_liwork(Py_ssize_t n) noexcept nogil:
    """Integers of 8 bytes that symmetric_map needs."""
    cdef Arena numbers = counting_arena(), integers = counting_arena()
    cdef SymmetricMemory memory
    lay_out_symmetric(&numbers, &integers, n, sizeof(float), &memory)
    return <Py_ssize_t> (workspace_bytes(&integers) // sizeof(long long))


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


cdef void scale_column(floating *out, const floating *column, double factor,
                       Py_ssize_t n) noexcept nogil:
    """out <- factor * column."""
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = <floating> (factor * column[k])


cdef void rebuild(
    floating *a,                    # INOUT the slice in its strict upper triangle (column-major)
    Py_ssize_t n,
    double t,
    Spectral kind,
    const Recipe *recipe,
    const floating *eigenvalues,
    SymmetricMemory *memory,        # the chosen eigenvectors, and the diagonal of the slice
) noexcept nogil:
    """a <- keep * a + shift * I + Z diag(c) Z^T for the chosen eigenvectors Z, coefficients c.

    Positive coefficients first, negative ones after: two rank-k updates with sqrt(|c|) Z.
    """
    cdef floating *z = <floating *> memory.vectors
    cdef floating *diagonal = <floating *> memory.diagonal
    cdef floating *scaled = <floating *> memory.tridiagonal.scratch
    cdef Py_ssize_t j, k, sign, chosen = recipe.low + n - recipe.high
    cdef double c
    for j in range(n):
        if recipe.keep == 0.0:
            memset(a + j * n, 0, j * sizeof(floating))
        a[j * n + j] = <floating> (recipe.keep * diagonal[j] + recipe.shift)
    for sign in range(2):
        k = 0
        for j in range(chosen):
            c = recipe_coefficient(eigenvalues[j if j < recipe.low else j + n - chosen], t, kind,
                                   recipe)
            if (c > 0.0) == (sign == 0) and c != 0.0:
                scale_column(scaled + k * n, z + j * n, sqrt(fabs(c)), n)
                k += 1
        if k > 0:
            la.herk(True, False, <blas_int> n, <blas_int> k, 1.0 - 2.0 * sign, scaled, 1.0, a)
    mirror_upper(a, n)


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
    """Map the eigenvalues of the symmetric part of a; returns LAPACK's info."""
    cdef Arena numbers = arena_at(work), integers = arena_at(iwork)
    cdef SymmetricMemory memory
    cdef Recipe recipe
    cdef Py_ssize_t j, chosen, below = 0, above = 0
    cdef double largest
    cdef int info
    lay_out_symmetric(&numbers, &integers, n, sizeof(floating), &memory)
    cdef floating *z = <floating *> memory.vectors
    cdef floating *tau = <floating *> memory.tau
    cdef floating *scratch = <floating *> memory.scratch

    symmetrise(a, n)
    for j in range(n):
        (<floating *> memory.diagonal)[j] = a[j * n + j]
    # hetrd overwrites the lower triangle; the strict upper one keeps the matrix itself.
    info = <int> la.hetrd(<blas_int> n, a, memory.tridiagonal.d, memory.tridiagonal.e, tau, scratch)
    if info == 0:
        info = tridiagonal_values(n, eigenvalues, &memory.tridiagonal)
    if info != 0:
        return info
    for j in range(n):
        below += eigenvalues[j] < -t
        above += eigenvalues[j] > t
    outside[0] = below + above
    largest = fmax(fabs(<double> eigenvalues[0]), fabs(<double> eigenvalues[n - 1]))
    recipe = cheapest_recipe(n, below, above, largest, t, kind, floating is float)
    chosen = recipe.low + n - recipe.high
    if chosen > 0:
        info = tridiagonal_vectors(n, z, &recipe, &memory.tridiagonal)
        if info == 0:
            info = <int> la.unmtr(<blas_int> n, <blas_int> chosen, a, tau, z, scratch)
        if info != 0:
            return info
    rebuild(a, n, t, kind, &recipe, eigenvalues, &memory)
    return 0


cdef bint norm_below(
    const floating *a,      # n x n, symmetric
    Py_ssize_t n,
    double t,
    double *shifted,        # n x n
) noexcept nogil:
    """Whether Cholesky factors of t I - a and t I + a prove that a has a norm of at most t.

    If the factorisation of B ends without a failure, in any order of its sums, then B + E is
    positive semidefinite for an E with ``|E_jk| <= g sqrt(B_jj B_kk)``, where
    ``g <= 1.01 (n + 1) u`` and u = 2^-53 (Demmel 1989; Higham 2002, Theorem 10.3). Therefore
    ``||E||_2 <= g tr B``. The diagonal of ``s I - a`` and ``s I + a`` is positive, so each trace is
    at most 2 n s, and its rounding changes the matrix by at most 2 u s. Together this is less than
    ``4 n (n + 1) u s``, by which s is smaller than t.
    """
    cdef double s = t * (1.0 - 2.0 * n * (n + 1.0) * 2.220446049250313e-16)
    cdef Py_ssize_t k, sign
    for sign in range(2):
        for k in range(n * n):
            shifted[k] = a[k] if sign else -a[k]
        for k in range(n):
            shifted[k * n + k] += s
        if la.potrf(<blas_int> n, shifted) != 0:
            return False
    return True


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
    int *info,                  # OUT  v: LAPACK's
) noexcept nogil:
    """Map the eigenvalues of every frontal slice."""
    cdef Py_ssize_t i, lwork = symmetric_lwork(n), liwork = symmetric_liwork(n)
    for i in prange(v, num_threads=n_threads, schedule="static", chunksize=1):
        info[i] = symmetric_map(T + i * n * n, n, t, kind, eigenvalues + i * n,
                                numbers + omp_get_thread_num() * lwork,
                                integers + omp_get_thread_num() * liwork, &outside[i])
