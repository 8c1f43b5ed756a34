"""Labels of new rows: ridge regression on their centred rows and on kernels with landmarks.

The formulas are those of `mvsc_predictor` in the header. BLAS multiplies `ROWS` rows at a time, the
last ones filled up with zeros, and every output has one writer: a row's result depends neither on
other rows nor on the number of threads. Its last bits depend on its place among the `ROWS`, because
OpenBLAS sums in two orders on processors with AVX2 but not AVX-512.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport INFINITY, NAN, fabs, fmax, frexp, isfinite, isinf, isnan, ldexp, sqrt, sqrtf
from libc.string cimport memset

from . cimport lapack as la
from . cimport loops
from .api cimport (
    MVSC_NOT_FINITE,
    MVSC_OK,
    MVSC_ROOTS_TO_UNIT,
    MVSC_ROWS_MAPPED,
    MVSC_TOO_LARGE,
    mvsc_predictor,
)
from .arena cimport Arena, take
from .lapack cimport blas_int
from .platform cimport omp_get_thread_num

cdef extern from "predict_loops.h" nogil:
    double mvsc_scale_row(double *x, double scale, Py_ssize_t n)
    float mvsc_centre_row(float *x, const float *mean, Py_ssize_t n)
    float mvsc_squared_length(const float *x, Py_ssize_t n)
    float mvsc_squared_distance(const float *x, const float *y, Py_ssize_t n)
    int mvsc_distances(float *products, const float *squares, float square, float near,
                       Py_ssize_t n)
    void mvsc_keep_smallest(const float *x, Py_ssize_t count, Py_ssize_t n, float *smallest)
    void mvsc_add_kernel(const float *squares, float scale, const float *scales, Py_ssize_t n,
                         float *kernel)

cdef enum:
    ROWS = 128              # new rows that are worked on together, always

# Differences of products are too coarse for squared distances below this part of squared lengths.
cdef float NEAR = 1e-3
# Shorter rows have no direction: they are rounding errors of rows that equal the mean.
cdef float SHORT = 1.2e-6


cdef enum RowState:
    PRESENT
    MISSING
    INVALID                 # infinite entries, or missing cells without a mean row


cdef struct Memory:
    # Of one thread, for one block of rows. Matrices of ROWS columns have the rows side by side.
    double *given               # ROWS x the most features: scaled
    double *mapped              # the most columns x ROWS, of views with a factor
    float *centred              # of every view, one after the other, ROWS x d
    float *lengths              # v x ROWS: of centred rows, squared
    char *missing               # v x ROWS
    Py_ssize_t *excluded        # ROWS: 0, or the negative label of a row that gets no scores
    float *squares              # n_landmarks x ROWS
    float *kernel               # n_landmarks x ROWS
    float *smallest             # scale_neighbors x ROWS
    float *factor               # ROWS
    float *part                 # n_clusters x ROWS; for filled rows the most columns x ROWS
    float *scores               # n_clusters x ROWS


cdef Py_ssize_t widest(const Py_ssize_t *counts, Py_ssize_t v) noexcept nogil:
    """The largest of v counts."""
    cdef Py_ssize_t largest = 0, i
    for i in range(v):
        largest = max(largest, counts[i])
    return largest


cdef void lay_out(const mvsc_predictor *p, Arena *arena, Memory *memory) noexcept nogil:
    """Lay out what one thread needs."""
    cdef double columns = 0, most = widest(p.d, p.v), mapped = 0
    cdef Py_ssize_t i
    for i in range(p.v):
        columns += p.d[i]
        if has_factor(p, i):
            mapped = max(mapped, <double> p.d[i])
    memory.given = <double *> take(arena, <double> ROWS * widest(p.n_features, p.v),
                                   sizeof(double))
    memory.mapped = <double *> take(arena, ROWS * mapped, sizeof(double))
    memory.centred = <float *> take(arena, ROWS * columns, sizeof(float))
    memory.lengths = <float *> take(arena, <double> ROWS * p.v, sizeof(float))
    memory.missing = <char *> take(arena, <double> ROWS * p.v, 1)
    memory.excluded = <Py_ssize_t *> take(arena, ROWS, sizeof(Py_ssize_t))
    memory.squares = <float *> take(arena, <double> ROWS * p.n_landmarks, sizeof(float))
    memory.kernel = <float *> take(arena, <double> ROWS * p.n_landmarks, sizeof(float))
    memory.smallest = <float *> take(arena, <double> ROWS * ranked(p), sizeof(float))
    memory.factor = <float *> take(arena, ROWS, sizeof(float))
    most = max(<double> p.n_clusters, 0.0 if p.fill == NULL else most)
    memory.part = <float *> take(arena, ROWS * most, sizeof(float))
    memory.scores = <float *> take(arena, <double> ROWS * p.n_clusters, sizeof(float))


cdef Py_ssize_t ranked(const mvsc_predictor *p) noexcept nogil:
    """The rank of the landmark whose distance is the scale of a row."""
    return min(p.scale_neighbors, p.n_landmarks)


# ------------------------------------------------------------------ rows

cdef void unit_row(double *x, Py_ssize_t n, double largest, bint roots) noexcept nogil:
    """Divide a finite row, or its roots, by its length, whatever its scale.

    ``largest`` is its largest absolute value. Powers of 2 round nothing, and keep squares from
    vanishing.
    """
    cdef double length
    cdef int exponent
    cdef Py_ssize_t k
    if roots:
        for k in range(n):
            x[k] = sqrt(x[k] if x[k] > 0 else 0.0)
        loops.finite_maximum(x, n, &largest)
    if largest > 0:
        frexp(largest, &exponent)
        length = sqrt(mvsc_scale_row(x, ldexp(1.0, min(-exponent, 1022)), n))
        mvsc_scale_row(x, 1.0 / length, n)


cdef RowState fill_cells(double *x, Py_ssize_t n, const float *mean) noexcept nogil:
    """Replace missing cells of a row by the multiple of the mean row that fits the others best.

    A row that lacks more than half of its cells is missing. Without a mean row no cell may be.
    """
    cdef Py_ssize_t missing = 0, k
    cdef double largest = 0, inner = 0, squares = 0
    for k in range(n):
        if isinf(x[k]):
            return INVALID
        missing += isnan(x[k])
        largest = fmax(largest, fabs(x[k]))
    if missing == n or (mean != NULL and 2 * missing > n):
        return MISSING
    if mean == NULL:
        return INVALID
    for k in range(n):
        if not isnan(x[k]):
            inner += x[k] / (largest if largest > 0 else 1) * mean[k]
            squares += <double> mean[k] * mean[k]
    for k in range(n):
        if isnan(x[k]):
            x[k] = largest * (inner / squares) * mean[k] if squares > 0 else 0
    return PRESENT


cdef RowState read_row(const mvsc_predictor *p, Py_ssize_t i, double *x) noexcept nogil:
    """Fill missing cells of a row of view i, and scale it."""
    cdef Py_ssize_t width = p.n_features[i]
    cdef double largest
    cdef RowState state
    if not loops.finite_maximum(x, width, &largest):
        state = fill_cells(x, width, NULL if p.mean_rows == NULL else p.mean_rows[i])
        if state != PRESENT:
            return state
        if not loops.finite_maximum(x, width, &largest):
            return INVALID
    if p.form[i] != MVSC_ROWS_MAPPED:
        unit_row(x, width, largest, p.form[i] == MVSC_ROOTS_TO_UNIT)
    return PRESENT


cdef void read_rows(
    const mvsc_predictor *p,
    Py_ssize_t i,
    const floating *x,
    Py_ssize_t height,
    Memory *memory,
    float *centred,             # OUT  ROWS x d
) noexcept nogil:
    """Centred rows of view i, 0 for missing and for invalid ones, which are excluded."""
    cdef Py_ssize_t width = p.n_features[i], d = p.d[i], r, k
    cdef char *missing = memory.missing + i * ROWS
    cdef double *own
    cdef RowState state
    memset(memory.given, 0, ROWS * width * sizeof(double))
    for r in range(height):
        own = memory.given + r * width
        for k in range(width):
            own[k] = x[r * width + k]
        state = read_row(p, i, own)
        missing[r] = state != PRESENT
        if missing[r]:
            memset(own, 0, width * sizeof(double))
        if state == INVALID and memory.excluded[r] == 0:
            memory.excluded[r] = -2 - i
    if has_factor(p, i):
        la.gemm(True, False, ROWS, <blas_int> d, <blas_int> width, 1.0, memory.given,
                <blas_int> width, <double *> p.samples[i], <blas_int> width, 0.0, memory.mapped,
                ROWS)
        la.solve_lower(ROWS, <blas_int> d, p.factors[i], memory.mapped)
    for r in range(ROWS):
        own = memory.given + r * width
        for k in range(d):
            centred[r * d + k] = <float> (memory.mapped[k * ROWS + r] if has_factor(p, i)
                                          else own[k])
        if r >= height or missing[r]:
            memset(centred + r * d, 0, d * sizeof(float))
            memory.lengths[i * ROWS + r] = 0
        else:
            memory.lengths[i * ROWS + r] = mvsc_centre_row(centred + r * d, p.means[i], d)


cdef void multiply_landmarks(const mvsc_predictor *p, Py_ssize_t i, const float *centred,
                             double keep, float *out) noexcept nogil:
    """keep out + inner products of centred rows and landmarks of view i, n_landmarks x ROWS."""
    la.gemm(True, False, ROWS, <blas_int> p.n_landmarks, <blas_int> p.d[i], 1.0, <float *> centred,
            <blas_int> p.d[i], <float *> p.landmarks[i], <blas_int> p.d[i], keep, out, ROWS)


# ------------------------------------------------------------------ missing rows

cdef void exclude_rows(const mvsc_predictor *p, Py_ssize_t height, Memory *memory) noexcept nogil:
    """Exclude rows that lack all views, or, if none can be predicted, any view."""
    cdef Py_ssize_t i, r, absent, first
    for r in range(height):
        absent = 0
        for i in range(p.v - 1, -1, -1):
            if memory.missing[i * ROWS + r]:
                absent, first = absent + 1, i
        if memory.excluded[r] == 0 and absent == p.v:
            memory.excluded[r] = -1
        elif memory.excluded[r] == 0 and absent > 0 and p.fill == NULL:
            memory.excluded[r] = -2 - first


cdef void fill_rows(const mvsc_predictor *p, Py_ssize_t height, Memory *memory) noexcept nogil:
    """Predict missing rows from the other views.

    With a the centred rows of all views, concatenated, 0 if missing, scaled to unit length::

        z = unit((sum_i a_i landmarks_i^T) fill + mean)
    """
    cdef Py_ssize_t i, k, r, d
    cdef float *centred = memory.centred
    cdef float *row
    cdef float square
    for r in range(height):
        square = 0
        for i in range(p.v):
            square = square + memory.lengths[i * ROWS + r]
        memory.factor[r] = 1 / sqrtf(square) if sqrtf(square) > SHORT else 1
    for i in range(p.v):
        multiply_landmarks(p, i, centred, i > 0, memory.kernel)
        centred += ROWS * p.d[i]
    centred = memory.centred
    for i in range(p.v):
        d = p.d[i]
        if any_missing(memory.missing + i * ROWS, height):
            la.gemm(False, True, ROWS, <blas_int> d, <blas_int> p.n_landmarks, 1.0, memory.kernel,
                    ROWS, <float *> p.fill[i], <blas_int> d, 0.0, memory.part, ROWS)
            for r in range(height):
                if memory.missing[i * ROWS + r]:
                    row = centred + r * d
                    for k in range(d):
                        row[k] = memory.part[k * ROWS + r] * memory.factor[r] + p.means[i][k]
                    square = sqrtf(mvsc_squared_length(row, d))
                    for k in range(d):
                        row[k] /= square if square > SHORT else 1
                    memory.lengths[i * ROWS + r] = mvsc_centre_row(row, p.means[i], d)
        centred += ROWS * d


cdef bint any_missing(const char *missing, Py_ssize_t count) noexcept nogil:
    """Whether one of some rows lacks the view."""
    cdef Py_ssize_t r
    for r in range(count):
        if missing[r]:
            return True
    return False


# ------------------------------------------------------------------ scores

cdef void add_kernel(
    const mvsc_predictor *p,
    Py_ssize_t i,
    const float *centred,       # ROWS x d
    const float *squares,       # n_landmarks: squared lengths of the landmarks
    Memory *memory,             # INOUT kernel
) noexcept nogil:
    """kernel += exp(-d^2 / (t scale)) for the distances d of rows and landmarks of view i."""
    cdef Py_ssize_t d = p.d[i], rank = ranked(p), k, r
    cdef const float *lengths = memory.lengths + i * ROWS
    cdef float *distances
    cdef float length
    multiply_landmarks(p, i, centred, 0.0, memory.squares)
    for k in range(ROWS * rank):
        memory.smallest[k] = INFINITY
    for k in range(p.n_landmarks):
        distances = memory.squares + k * ROWS
        if mvsc_distances(distances, lengths, squares[k], NEAR, ROWS) > 0:
            for r in range(ROWS):
                if distances[r] < NEAR * (lengths[r] + squares[k]):
                    distances[r] = mvsc_squared_distance(centred + r * d,
                                                         p.landmarks[i] + k * d, d)
        mvsc_keep_smallest(distances, rank, ROWS, memory.smallest)
    for r in range(ROWS):
        length = sqrtf(memory.smallest[(rank - 1) * ROWS + r])
        memory.factor[r] = 1 / max(length, p.least_scales[i])
    for k in range(p.n_landmarks):
        mvsc_add_kernel(memory.squares + k * ROWS, 1 / p.scales[i][k], memory.factor, ROWS,
                        memory.kernel + k * ROWS)


cdef void add_directions(
    const mvsc_predictor *p,
    Py_ssize_t i,
    const float *centred,       # ROWS x d
    Memory *memory,             # INOUT scores
) noexcept nogil:
    """scores += the unit rows of centred ones times their coefficients."""
    cdef blas_int d = <blas_int> p.d[i], c = <blas_int> p.n_clusters
    cdef Py_ssize_t k, r
    cdef float length
    for r in range(ROWS):
        length = sqrtf(memory.lengths[i * ROWS + r])
        memory.factor[r] = 1 / length if length > SHORT else 1
    la.gemm(True, True, ROWS, c, d, 1.0, <float *> centred, d, <float *> p.coefficients[i], c, 0.0,
            memory.part, ROWS)
    for k in range(c):
        for r in range(ROWS):
            memory.scores[k * ROWS + r] += memory.factor[r] * memory.part[k * ROWS + r]


cdef Py_ssize_t label_of(const float *scores, Py_ssize_t n_clusters) noexcept nogil:
    """Position of the largest of scores that are ROWS apart, or -1 if one is not finite."""
    cdef Py_ssize_t best = 0, k
    for k in range(n_clusters):
        if not isfinite(scores[k * ROWS]):
            return -1
        if scores[k * ROWS] > scores[best * ROWS]:
            best = k
    return best


cdef bint predict_block(
    const mvsc_predictor *p,
    Py_ssize_t first,
    Py_ssize_t height,
    const floating *const *rows,
    const float *squares,       # v x n_landmarks
    Memory *memory,
    float *scores,
    Py_ssize_t *labels,
) noexcept nogil:
    """As predict, for rows first .. first + height; false if something is not finite."""
    cdef blas_int c = <blas_int> p.n_clusters, n_landmarks = <blas_int> p.n_landmarks
    cdef Py_ssize_t i, k, r, label
    cdef float *centred = memory.centred
    cdef bint finite = True
    memset(memory.missing, 0, p.v * ROWS)
    memset(memory.excluded, 0, ROWS * sizeof(Py_ssize_t))
    for i in range(p.v):
        read_rows(p, i, rows[i] + first * p.n_features[i], height, memory, centred)
        centred += ROWS * p.d[i]
    if any_missing(memory.missing, p.v * ROWS):
        exclude_rows(p, height, memory)
        if p.fill != NULL:
            fill_rows(p, height, memory)
    memset(memory.kernel, 0, ROWS * p.n_landmarks * sizeof(float))
    memset(memory.scores, 0, ROWS * p.n_clusters * sizeof(float))
    centred = memory.centred
    for i in range(p.v):
        add_kernel(p, i, centred, squares + i * p.n_landmarks, memory)
        add_directions(p, i, centred, memory)
        centred += ROWS * p.d[i]
    la.gemm(False, True, ROWS, c, n_landmarks, 1.0, memory.kernel, ROWS,
            <float *> p.kernel_coefficients, c, 1.0, memory.scores, ROWS)
    for r in range(height):
        label = memory.excluded[r]
        if label == 0:
            label = label_of(memory.scores + r, c)
            if label < 0:
                label = -2 - p.v
        finite = finite and label >= -1
        if scores != NULL:
            for k in range(c):
                scores[(first + r) * c + k] = memory.scores[k * ROWS + r] if label >= 0 else NAN
        if labels != NULL:
            labels[first + r] = label
    return finite


cdef int predict(
    const mvsc_predictor *predictor,
    Py_ssize_t m,
    const floating *const *rows,        # v arrays of shape m x n_features[i]
    int n_threads,
    Arena *arena,
    float *scores,              # OUT  m x n_clusters, or NULL
    Py_ssize_t *labels,         # OUT  m, or NULL
) noexcept nogil:
    """Scores and labels of new rows; a status. While the arena counts, nothing is done.

    Rows without a label have scores of NaN and a negative label: -1 if they lack all views,
    -2 - i if their entries in view i are not finite or cannot be predicted, -2 - v if their scores
    are not finite.
    """
    cdef Py_ssize_t blocks = (m + ROWS - 1) // ROWS, n = predictor.n_landmarks, b, i, k, thread
    cdef float *squares = <float *> take(arena, <double> predictor.v * n, sizeof(float))
    cdef int *failed = <int *> take(arena, n_threads, sizeof(int))
    cdef Memory *memory = <Memory *> take(arena, n_threads, sizeof(Memory))
    cdef Memory counted
    for thread in range(n_threads):
        lay_out(predictor, arena, &counted if arena.base == NULL else &memory[thread])
    if arena.overflow:
        return MVSC_TOO_LARGE
    if arena.base == NULL:
        return MVSC_OK
    memset(failed, 0, n_threads * sizeof(int))
    for i in range(predictor.v):
        for k in range(n):
            squares[i * n + k] = mvsc_squared_length(
                predictor.landmarks[i] + k * predictor.d[i], predictor.d[i]
            )
    for b in prange(blocks, num_threads=n_threads, schedule="static"):
        thread = omp_get_thread_num()
        if not predict_block(predictor, b * ROWS, min(<Py_ssize_t> ROWS, m - b * ROWS), rows,
                             squares, &memory[thread], scores, labels):
            failed[thread] = True
    for thread in range(n_threads):
        if failed[thread]:
            return MVSC_NOT_FINITE
    return MVSC_OK
