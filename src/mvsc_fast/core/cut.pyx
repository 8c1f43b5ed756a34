"""Spectral clustering: polynomial filters of blocks of vectors, and k-means of their rows."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .arena cimport Arena, take
from .lapack cimport blas_int

cdef extern from "cut_loops.h" nogil:
    void mvsc_filter_row(const float *data, const int32_t *indices, Py_ssize_t count,
                         const float *Y, Py_ssize_t p, const float *own, float scale, float shift,
                         float keep, float *out)

cdef enum:
    BLOCK = 256             # rows of a block of inner products


cdef void filtered(
    const float *data,          # of a sparse matrix A, n x n
    const int32_t *indices,
    const int32_t *indptr,
    Py_ssize_t n,
    Py_ssize_t p,               # a multiple of FILTER_LANES
    const double *steps,        # n_steps x 3
    Py_ssize_t n_steps,
    int n_threads,
    float *X,                   # IN OUT  n x p
    float *Y,                   # IN OUT  n x p
) noexcept nogil:
    """For each (scale, shift, keep): X <- scale (A Y - shift Y) - keep X, then X and Y swap."""
    cdef Py_ssize_t s, j
    cdef float scale, shift, keep
    for s in range(n_steps):
        scale = <float> steps[3 * s]
        shift = <float> steps[3 * s + 1]
        keep = <float> steps[3 * s + 2]
        for j in prange(n, num_threads=n_threads, schedule="static"):
            mvsc_filter_row(data + indptr[j], indices + indptr[j], indptr[j + 1] - indptr[j], Y, p,
                            Y + j * p, scale, shift, keep, X + j * p)
        X, Y = Y, X


# ------------------------------------------------------------------ k-means

cdef inline double dot(const double *x, const double *y, Py_ssize_t d) noexcept nogil:
    """The inner product of two rows."""
    cdef double total = 0.0
    cdef Py_ssize_t k
    for k in range(d):
        total += x[k] * y[k]
    return total


cdef Py_ssize_t position(const double *mass, Py_ssize_t n, double value) noexcept nogil:
    """The first row at which the cumulative sum of ``mass`` reaches a value."""
    cdef Py_ssize_t j
    for j in range(n - 1):
        value -= mass[j]
        if value <= 0:
            return j
    return n - 1


cdef int seed_centres(
    const Rows *rows,
    Py_ssize_t k,
    Py_ssize_t trials,
    const double *uniform,      # 1 + (k - 1) trials numbers in [0, 1)
    Arena *arena,
    double *centres,            # OUT  k x d
) noexcept nogil:
    """Greedy k-means++: of some candidates for each centre, the one of least inertia is taken.

    While the arena counts, nothing is done.
    """
    cdef Py_ssize_t n = rows.n, d = rows.d, j, c, t, best, first
    cdef double *squares = <double *> take(arena, n, sizeof(double))
    cdef double *closest = <double *> take(arena, n, sizeof(double))
    cdef double *mass = <double *> take(arena, n, sizeof(double))
    cdef double *candidates = <double *> take(arena, <double> trials * d, sizeof(double))
    cdef double *distances = <double *> take(arena, <double> trials * n, sizeof(double))
    cdef double *row
    cdef double total = 0.0, potential, least, own
    if arena.base == NULL or arena.overflow:
        return -1
    for j in range(n):
        squares[j] = dot(rows.X + j * d, rows.X + j * d, d)
        total += rows.weights[j]
    first = position(rows.weights, n, uniform[0] * total)
    for c in range(k):
        if c == 0:
            memcpy(candidates, rows.X + first * d, d * sizeof(double))
        else:
            for t in range(trials):
                j = position(mass, n, uniform[1 + (c - 1) * trials + t] * total)
                memcpy(candidates + t * d, rows.X + j * d, d * sizeof(double))
        la.gemm(True, False, <blas_int> n, <blas_int> (trials if c else 1), <blas_int> d, -2.0,
                <double *> rows.X, <blas_int> d, candidates, <blas_int> d, 0.0, distances,
                <blas_int> n)
        best, least = 0, 0.0
        for t in range(trials if c else 1):
            row, potential = distances + t * n, 0.0
            own = dot(candidates + t * d, candidates + t * d, d)
            for j in range(n):
                row[j] = max(0.0, row[j] + squares[j] + own)
                if c:
                    row[j] = min(row[j], closest[j])
                potential += rows.weights[j] * row[j]
            if t == 0 or potential < least:
                best, least = t, potential
        memcpy(centres + c * d, candidates + best * d, d * sizeof(double))
        memcpy(closest, distances + best * n, n * sizeof(double))
        total = least
        for j in range(n):
            mass[j] = rows.weights[j] * closest[j]
    return 0


cdef Py_ssize_t nearest_centres(
    const Rows *rows, const double *centres, Py_ssize_t k, double *squares, double *tile,
    double *distances, int32_t *labels
) noexcept nogil:
    """The nearest centre of each row and its squared distance; how many labels have changed."""
    cdef Py_ssize_t n = rows.n, d = rows.d, j, c, best, block, first, count, changed = 0
    cdef double *row
    for c in range(k):
        squares[c] = dot(centres + c * d, centres + c * d, d)
    for block in range((n + BLOCK - 1) // BLOCK):
        first = block * BLOCK
        count = min(<Py_ssize_t> BLOCK, n - first)
        la.gemm(True, False, <blas_int> k, <blas_int> count, <blas_int> d, -2.0,
                <double *> centres, <blas_int> d, <double *> rows.X + first * d, <blas_int> d, 0.0,
                tile, <blas_int> k)
        for j in range(count):
            row, best = tile + j * k, 0
            for c in range(k):
                row[c] += squares[c]
                if row[c] < row[best]:
                    best = c
            distances[first + j] = row[best]
            changed += labels[first + j] != best
            labels[first + j] = <int32_t> best
    return changed


cdef void move_to_empty(
    const Rows *rows, Py_ssize_t k, double *distances, const int32_t *labels, double *sums,
    double *sizes
) noexcept nogil:
    """The farthest rows become the centres of empty clusters."""
    cdef Py_ssize_t n = rows.n, d = rows.d, c, j, far, i, old
    cdef double w
    for c in range(k):
        if sizes[c] > 0:
            continue
        far = 0
        for j in range(n):
            if distances[j] > distances[far]:
                far = j
        old, w = labels[far], rows.weights[far]
        for i in range(d):
            sums[old * d + i] -= w * rows.X[far * d + i]
            sums[c * d + i] = w * rows.X[far * d + i]
        sizes[old] -= w
        sizes[c] = w
        distances[far] = -1e300


cdef int lloyd(
    const Rows *rows,
    Py_ssize_t k,
    Py_ssize_t max_iter,
    double tol,                 # of the sum of squared movements of the centres
    Arena *arena,
    double *centres,            # IN OUT  k x d
    int32_t *labels,            # OUT
    double *inertia,            # OUT
) noexcept nogil:
    """Lloyd iterations until no label changes, or the centres hardly move.

    While the arena counts, nothing is done.
    """
    cdef Py_ssize_t n = rows.n, d = rows.d, j, c, i, _
    cdef double *tile = <double *> take(arena, <double> BLOCK * k, sizeof(double))
    cdef double *squares = <double *> take(arena, k, sizeof(double))
    cdef double *sizes = <double *> take(arena, k, sizeof(double))
    cdef double *sums = <double *> take(arena, <double> k * d, sizeof(double))
    cdef double *distances = <double *> take(arena, n, sizeof(double))
    cdef double moved, w, gap
    cdef bint empty
    cdef const double *x
    if arena.base == NULL or arena.overflow:
        return -1
    for j in range(n):
        labels[j] = -1
    for _ in range(max_iter):
        if nearest_centres(rows, centres, k, squares, tile, distances, labels) == 0:
            break
        memset(sums, 0, k * d * sizeof(double))
        memset(sizes, 0, k * sizeof(double))
        for j in range(n):
            c, w, x = labels[j], rows.weights[j], rows.X + j * d
            sizes[c] += w
            for i in range(d):
                sums[c * d + i] += w * x[i]
        empty = False
        for c in range(k):
            empty = empty or sizes[c] == 0
        if empty:
            for j in range(n):
                distances[j] += dot(rows.X + j * d, rows.X + j * d, d)
            move_to_empty(rows, k, distances, labels, sums, sizes)
        moved = 0.0
        for c in range(k):
            for i in range(d):
                w = sums[c * d + i] / sizes[c] if sizes[c] > 0 else centres[c * d + i]
                gap = w - centres[c * d + i]
                moved += gap * gap
                centres[c * d + i] = w
        if moved <= tol:
            nearest_centres(rows, centres, k, squares, tile, distances, labels)
            break
    else:
        nearest_centres(rows, centres, k, squares, tile, distances, labels)
    inertia[0] = 0.0
    for j in range(n):
        inertia[0] += rows.weights[j] * (
            distances[j] + dot(rows.X + j * d, rows.X + j * d, d))
    return 0
