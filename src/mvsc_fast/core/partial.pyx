"""Eigenvalue shrinkage of large slices of small rank, certified to have missed nothing.

A block Krylov step on the last eigenvectors and some random ones finds the pairs (U, theta) above
the threshold t. They count only with the certificate that ``t I - B`` and ``t I + B`` have
Cholesky factors for ``B = A - U diag(theta) U^T``: then no eigenvalue above t was missed, and the
result is exact up to the residual of the pairs.
"""

from cython cimport floating
from libc.math cimport fabs, fmax, sqrt
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .lapack cimport blas_int

cdef enum:
    # Up to n / 40 eigenvalues this takes less than half of a tridiagonal reduction where it
    # succeeds. Ranks stay that low for a sixth of the published path: it saves 3 % at n = 640.
    RANK_FRACTION = 40
    OVERSAMPLING = 12       # Ritz vectors below the threshold that are kept for the next call
    FRESH = 4               # random vectors added in every call
    STEPS = 6

cdef double TOLERANCE = 1e-9        # of the residual, relative to the largest eigenvalue


cdef Py_ssize_t subspace_capacity(Py_ssize_t n) noexcept nogil:
    """Columns of a subspace between calls."""
    return n // RANK_FRACTION + OVERSAMPLING


cdef Py_ssize_t widest(Py_ssize_t n) noexcept nogil:
    """Columns of the widest block: a subspace with fresh vectors, and its image."""
    return 2 * (subspace_capacity(n) + FRESH)


cdef Py_ssize_t partial_lwork(Py_ssize_t n) noexcept nogil:
    """Numbers that partial_shrink needs, none where slices are too small for it."""
    cdef Py_ssize_t c = widest(n)
    if n < SMALLEST:
        return 0
    # Two matrices, of which the second holds three blocks at first, one block, and the small ones.
    return n * n + max(n * n, 3 * n * c) + n * c + 4 * c * c + 200 * c + 512


cdef double random_entry(unsigned long long *state) noexcept nogil:
    """Uniform in (-1, 1), of a linear congruential generator (Knuth's MMIX)."""
    state[0] = state[0] * 6364136223846793005ULL + 1442695040888963407ULL
    return <double> (state[0] >> 11) * 2.0 ** -52 - 1.0


cdef void start_subspace(
    Subspace *subspace,
    floating *basis,        # n x subspace_capacity(n)
    Py_ssize_t n,
    Py_ssize_t index,       # of the slice
) noexcept nogil:
    cdef unsigned long long state = <unsigned long long> (2 * index + 1)
    cdef Py_ssize_t k
    subspace.basis, subspace.rank = basis, 0
    subspace.size = OVERSAMPLING if n >= SMALLEST else 0
    for k in range(subspace.size * n):
        basis[k] = <floating> random_entry(&state)


cdef bint worth_trying(const Subspace *subspace, Py_ssize_t n) noexcept nogil:
    """Whether the slice is large, and the rank of the last result low enough."""
    return n >= SMALLEST and RANK_FRACTION * subspace.rank <= n


cdef bint orthonormalise(floating *q, Py_ssize_t n, Py_ssize_t columns, floating *tau,
                         floating *work) noexcept nogil:
    cdef blas_int lwork = <blas_int> (64 * columns)
    return (la.geqrf(<blas_int> n, <blas_int> columns, q, tau, work, lwork) == 0
            and la.orgqr(<blas_int> n, <blas_int> columns, q, tau, work, lwork) == 0)


cdef bint norm_below(const floating *b, Py_ssize_t n, double t, floating *shifted) noexcept nogil:
    """Whether the symmetric matrix b has a spectral norm below t, proven by Cholesky factors."""
    cdef Py_ssize_t k, sign
    for sign in range(2):
        for k in range(n * n):
            shifted[k] = -b[k] if sign else b[k]
        for k in range(n):
            shifted[k * n + k] += <floating> t
        if la.potrf(<blas_int> n, shifted) != 0:
            return False
    return True


cdef void scale_columns(floating *out, const floating *columns, const double *theta,
                        Py_ssize_t n, Py_ssize_t count, double t) noexcept nogil:
    """Every column times its theta, shrunken by t."""
    cdef Py_ssize_t j, k
    cdef floating factor
    for j in range(count):
        factor = <floating> (theta[j] - t if theta[j] > 0 else theta[j] + t)
        for k in range(n):
            out[j * n + k] = factor * columns[j * n + k]


cdef int partial_shrink(
    floating *a,            # INOUT n x n, unless the result is -1
    Py_ssize_t n,
    double t,
    Subspace *subspace,     # INOUT from call to call
    floating *work,         # partial_lwork(n)
) noexcept nogil:
    """Shrink the eigenvalues of (a + a^T) / 2 by t: the rank of the result, or -1: not certified."""
    cdef Py_ssize_t c = widest(n), capacity = subspace_capacity(n)
    cdef floating *rest = work                      # the symmetric matrix, then without its pairs
    cdef floating *q = rest + n * n                 # n x c: a basis and its image
    cdef floating *image = q + n * c                # n x c: that under the matrix
    cdef floating *scaled = image + n * c           # n x c: images or multiples of Ritz vectors
    cdef floating *shifted = q                      # n x n, once these three are done with
    cdef floating *ritz = q + max(n * n, 3 * n * c)
    cdef floating *tau = ritz + n * c
    cdef floating *lwork = tau + c
    cdef double *gram = <double *> (<size_t> (lwork + 64 * c + 8) // 8 * 8)     # c x c
    cdef double *theta = gram + c * c
    cdef double *eigen_work = theta + c
    cdef floating *chosen = <floating *> (eigen_work + 64 * c + 128)            # c x c
    cdef unsigned long long state = <unsigned long long> (subspace.size * 2 + 1)
    cdef Py_ssize_t b = subspace.size + FRESH, j, k, p, above, kept, low, high, step
    cdef double largest, residual, limit, difference
    cdef floating *basis = <floating *> subspace.basis
    for j in range(n):
        for k in range(n):
            rest[j * n + k] = <floating> 0.5 * (a[j * n + k] + a[k * n + j])
    memcpy(q, basis, subspace.size * n * sizeof(floating))
    for k in range(subspace.size * n, b * n):
        q[k] = <floating> random_entry(&state)
    if not orthonormalise(q, n, b, tau, lwork):
        return -1
    limit = fmax(TOLERANCE, 10 * (1.2e-7 if floating is float else 2.2e-16))
    for step in range(STEPS):
        la.gemm(False, False, <blas_int> n, <blas_int> b, <blas_int> n, rest, <blas_int> n, q,
                <blas_int> n, q + n * b, <blas_int> n)
        b = 2 * b
        if not orthonormalise(q, n, b, tau, lwork):
            return -1
        la.gemm(False, False, <blas_int> n, <blas_int> b, <blas_int> n, rest, <blas_int> n, q,
                <blas_int> n, image, <blas_int> n)
        la.gemm(True, False, <blas_int> b, <blas_int> b, <blas_int> n, q, <blas_int> n, image,
                <blas_int> n, chosen, <blas_int> b)
        for k in range(b * b):
            gram[k] = chosen[k]
        if la.syev(<blas_int> b, gram, theta, eigen_work, <blas_int> (64 * c + 128)) != 0:
            return -1
        above = 0
        for k in range(b):
            above += fabs(theta[k]) > t
        largest = fmax(fabs(theta[0]), fabs(theta[b - 1]))
        kept = min(above + OVERSAMPLING, min(capacity, b))
        if above > kept:
            return -1
        # The largest in absolute value first: from both ends of the ascending spectrum.
        low, high = 0, b - 1
        for j in range(kept):
            if fabs(theta[low]) > fabs(theta[high]):
                p = low
                low += 1
            else:
                p = high
                high -= 1
            for k in range(b):
                chosen[j * b + k] = <floating> gram[p * b + k]
            eigen_work[j] = theta[p]
        memcpy(theta, eigen_work, kept * sizeof(double))
        la.gemm(False, False, <blas_int> n, <blas_int> kept, <blas_int> b, q, <blas_int> n, chosen,
                <blas_int> b, ritz, <blas_int> n)
        if above > 0:
            la.gemm(False, False, <blas_int> n, <blas_int> above, <blas_int> b, image,
                    <blas_int> n, chosen, <blas_int> b, scaled, <blas_int> n)
        residual = 0.0
        for j in range(above):
            for k in range(n):
                difference = scaled[j * n + k] - theta[j] * ritz[j * n + k]
                residual += difference * difference
        memcpy(q, ritz, kept * n * sizeof(floating))
        b = kept
        if sqrt(residual) <= limit * largest:
            break
    else:
        return -1
    memcpy(basis, ritz, kept * n * sizeof(floating))
    subspace.size = kept
    if above > 0:
        scale_columns(scaled, ritz, theta, n, above, 0.0)
        la.subtract_product(<blas_int> n, <blas_int> above, scaled, ritz, rest)
    if not norm_below(rest, n, t, shifted):
        return -1
    subspace.rank = above
    if above == 0:
        memset(a, 0, n * n * sizeof(floating))
        return 0
    scale_columns(scaled, ritz, theta, n, above, t)
    la.gemm(False, True, <blas_int> n, <blas_int> n, <blas_int> above, scaled, <blas_int> n, ritz,
            <blas_int> n, a, <blas_int> n)
    return <int> above
