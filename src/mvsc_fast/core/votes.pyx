"""Labels of new rows: their factors, their tubes to fitted samples, and the votes of these.

BLAS multiplies `ROWS` rows at a time, the last ones filled up with zeros, so that a row's result
does not depend on how many others there are, nor on which; it depends on its place in the block,
because OpenBLAS sums in two orders on processors with AVX2. Blocks are independent of each other,
and every output has one writer: the number of threads changes no bit.
"""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fmax, fmaxf, fminf, isfinite, sqrtf
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy, memset

from . cimport lapack as la
from .api cimport MVSC_NOT_FINITE, MVSC_OK, MVSC_TOO_LARGE
from .arena cimport Arena, take
from .factored cimport (
    index_of,
    key_of,
    local_scale,
    select_largest,
    sort_descending,
    value_of,
)
from .lapack cimport blas_int
from .platform cimport omp_get_thread_num

cdef extern from "factored_loops.h" nogil:
    void mvsc_dots(const float *x, const float *rows, const int32_t *places, Py_ssize_t count,
                   Py_ssize_t n, float *out)

cdef extern from "votes_loops.h" nogil:
    int mvsc_entries(float *x, float h, const float *others, Py_ssize_t n)
    void mvsc_add_tubes(const float *x, float root, const float *roots, float cap, Py_ssize_t n,
                        float *squares)
    enum:
        MVSC_GROUPS
    void mvsc_group_maxima(const float *x, Py_ssize_t n, float *largest)
    enum:
        MVSC_STEP
    Py_ssize_t mvsc_list_step(const float *x, float low, Py_ssize_t k, Py_ssize_t n,
                              Py_ssize_t *places, Py_ssize_t *count)

cdef enum:
    ROWS = 128              # new rows that are multiplied together, always
    WIDTH = 512             # fitted rows that they are multiplied with: a tile stays in cache

# Of 1 - |w|^2, which a row of a large part in S takes to zero.
cdef double LEAST_SLACK = 1e-12


# ------------------------------------------------------------------ factors of rows

ctypedef fused working:
    float
    double


cdef void factor_block(
    const mvsc_factor_map *map,
    const working *lower,
    const floating *x,
    Py_ssize_t height,
    Py_ssize_t width,
    int kind,
    working *rows,              # ROWS x d
    float *u,
    float *h,
) noexcept nogil:
    """As factor_rows, for at most ROWS of them."""
    cdef Py_ssize_t d = map.d, j, k
    cdef double square, factor
    for j in range(height):
        for k in range(d):
            rows[j * d + k] = x[j * width + (k if map.columns == NULL else map.columns[k])]
    memset(rows + height * d, 0, (ROWS - height) * d * sizeof(working))
    la.multiply_lower(<blas_int> d, ROWS, lower, rows)
    for j in range(height):
        square = 0.0
        for k in range(d):
            square = square + rows[j * d + k] * rows[j * d + k]
        if kind == MVSC_NEW:
            h[j] = <float> (1.0 + square)
            factor = 1.0 / (1.0 + square)
        else:
            h[j] = <float> (1.0 / fmax(1.0 - square, LEAST_SLACK))
            factor = 1.0
        for k in range(d):
            u[j * d + k] = <float> (factor * rows[j * d + k])


cdef int factor_rows(
    const mvsc_factor_map *map,
    const floating *x,          # m x width, rows of unit length
    Py_ssize_t m,
    Py_ssize_t width,
    int kind,                   # mvsc_row_kind
    int n_threads,
    Arena *arena,
    float *u,                   # OUT  m x d
    float *h,                   # OUT  m
) noexcept nogil:
    """The factors of rows, as mvsc_factor_map says. While the arena counts, nothing is done.

    Those of new rows are computed in float32, as 1 + |w|^2 loses nothing; 1 - |w|^2 would.
    """
    cdef Py_ssize_t d = map.d, blocks = (m + ROWS - 1) // ROWS, b, first, j, k
    cdef double *rows = <double *> take(arena, <double> n_threads * ROWS * d, sizeof(double))
    cdef float *lower = <float *> take(arena, <double> d * d if kind == MVSC_NEW else 0.0,
                                       sizeof(float))
    cdef double *own
    if arena.overflow:
        return MVSC_TOO_LARGE
    if arena.base == NULL:
        return MVSC_OK
    if kind == MVSC_NEW:
        for j in range(d):
            for k in range(j + 1):
                lower[j * d + k] = <float> map.lower[j * d + k]
    for b in prange(blocks, num_threads=n_threads, schedule="static"):
        first = b * ROWS
        own = rows + ROWS * d * omp_get_thread_num()
        if kind == MVSC_NEW:
            factor_block(map, <const float *> lower, x + first * width,
                         min(<Py_ssize_t> ROWS, m - first), width, kind, <float *> own,
                         u + first * d, h + first)
        else:
            factor_block(map, map.lower, x + first * width, min(<Py_ssize_t> ROWS, m - first),
                         width, kind, own, u + first * d, h + first)
    return MVSC_OK


# ------------------------------------------------------------------ the largest of a row

cdef float SMALLEST = 1.4012984643248171e-45    # of the positive numbers


cdef inline Py_ssize_t room_for(Py_ssize_t count) noexcept nogil:
    """Keys that list_largest needs, which it cuts back to the count when there are so many."""
    return 2 * count + 2 * MVSC_STEP


cdef Py_ssize_t list_largest(
    const float *x,             # n
    Py_ssize_t n,
    float *maxima,              # of the groups of mvsc_group_maxima; destroyed
    Py_ssize_t count,
    uint64_t *keys,             # OUT  room_for(count), of which the first are meant
) noexcept nogil:
    """The largest positive numbers of a row with their places, in any order; how many.

    At least ``count`` of x are as large as the count-th largest maximum of a group, so that few are
    looked at twice.
    """
    cdef float low = SMALLEST
    cdef Py_ssize_t filled = 0, k = 0, e, listed
    cdef Py_ssize_t[MVSC_STEP] places
    cdef uint64_t least
    if count <= MVSC_GROUPS:
        low = fmaxf(low, select_largest(maxima, MVSC_GROUPS, count - 1))
    while k < n:
        k = mvsc_list_step(x, low, k, n, places, &listed)
        for e in range(listed):
            keys[filled + e] = key_of(x[places[e]], places[e])
        filled += listed
        if filled + MVSC_STEP > room_for(count):
            least = select_largest(keys, filled, count - 1)
            low = value_of(least + (<uint64_t> 1 << 32))    # of equal ones, later ones stay out
            filled = count
    if filled > count:
        select_largest(keys, filled, count - 1)
        filled = count
    return filled


# ------------------------------------------------------------------ tubes and votes

cdef struct VoteMemory:
    # Of one thread, for one block of rows.
    float *rows                 # ROWS x the longest factors
    float *entries              # ROWS x n, of one slice
    float *squares              # ROWS x n, of the tubes
    float *maxima               # ROWS x MVSC_GROUPS
    uint64_t *keys              # room_for(the longest list)
    int32_t *candidates         # n_candidates
    float *theirs               # 2 x n_candidates: entries of one row and slice, work


cdef bint lists_candidates(const mvsc_voters *voters) noexcept nogil:
    """Whether some slices are looked at for a row's candidates alone."""
    return voters.n_listed < voters.v and voters.n_candidates < voters.n


cdef Py_ssize_t longest_list(const mvsc_voters *voters) noexcept nogil:
    """How many of the largest entries of a row are looked for at most."""
    cdef Py_ssize_t votes = min(voters.n_votes, voters.n - 1) + 1
    cdef Py_ssize_t candidates = voters.n_candidates if lists_candidates(voters) else 0
    return max(max(votes, candidates), min(voters.scale_neighbors, voters.n))


cdef void lay_out_block(const mvsc_voters *voters, Arena *arena,
                        VoteMemory *memory) noexcept nogil:
    """Lay out what one thread needs."""
    cdef Py_ssize_t longest = 0, i
    cdef double room = <double> room_for(longest_list(voters))
    for i in range(voters.v):
        longest = max(longest, voters.d[i])
    memory.rows = <float *> take(arena, <double> ROWS * longest, sizeof(float))
    memory.entries = <float *> take(arena, <double> ROWS * voters.n, sizeof(float))
    memory.squares = <float *> take(arena, <double> ROWS * voters.n, sizeof(float))
    memory.maxima = <float *> take(arena, ROWS * MVSC_GROUPS, sizeof(float))
    memory.keys = <uint64_t *> take(arena, room, sizeof(uint64_t))
    room = <double> voters.n_candidates if lists_candidates(voters) else 0.0
    memory.candidates = <int32_t *> take(arena, room, sizeof(int32_t))
    memory.theirs = <float *> take(arena, 2 * room, sizeof(float))


cdef bint entries_of_block(
    const mvsc_voters *voters,
    Py_ssize_t i,
    const float *u,             # height x d
    const float *h,             # height
    Py_ssize_t height,
    VoteMemory *memory,         # OUT  entries, and maxima of their groups
) noexcept nogil:
    """A of new rows and all fitted ones in slice i; false where one is not finite."""
    cdef Py_ssize_t d = voters.d[i], n = voters.n, tile, left, width, j
    cdef float *row
    cdef int wrong = 0
    memcpy(memory.rows, u, height * d * sizeof(float))
    memset(memory.rows + height * d, 0, (ROWS - height) * d * sizeof(float))
    memset(memory.maxima, 0, height * MVSC_GROUPS * sizeof(float))
    for tile in range((n + WIDTH - 1) // WIDTH):
        left = tile * WIDTH
        width = min(<Py_ssize_t> WIDTH, n - left)
        la.gemm(True, False, <blas_int> width, ROWS, <blas_int> d,
                <float *> voters.u[i] + left * d, <blas_int> d, memory.rows, <blas_int> d,
                memory.entries + left, <blas_int> n)
        for j in range(height):
            row = memory.entries + j * n + left
            wrong += mvsc_entries(row, h[j], voters.h[i] + left, width)
            mvsc_group_maxima(row, width, memory.maxima + j * MVSC_GROUPS)
    return wrong == 0


cdef bint tubes_of_block(
    const mvsc_voters *voters,
    const float *roots,         # v x n: 1 / sqrt(r)
    Py_ssize_t first,
    Py_ssize_t height,
    const float *const *u,
    const float *const *h,
    Py_ssize_t slices,
    VoteMemory *memory,         # OUT  squares
) noexcept nogil:
    """Squared lengths of the tubes of rows first .. first + height in the first slices.

    False if an entry is not finite.
    """
    cdef Py_ssize_t n = voters.n, rank = min(voters.scale_neighbors, n), i, j, found
    cdef float scale
    memset(memory.squares, 0, height * n * sizeof(float))
    for i in range(slices):
        if not entries_of_block(voters, i, u[i] + first * voters.d[i], h[i] + first, height,
                                memory):
            return False
        for j in range(height):
            found = list_largest(memory.entries + j * n, n, memory.maxima + j * MVSC_GROUPS, rank,
                                 memory.keys)
            scale = value_of(select_largest(memory.keys, found, found - 1)) if found > 0 else 1.0
            mvsc_add_tubes(memory.entries + j * n, <float> 1.0 / sqrtf(scale), roots + i * n,
                           <float> voters.cap, n, memory.squares + j * n)
    return True


cdef Py_ssize_t list_longest(
    const float *squares,       # n, of the tubes of a row
    Py_ssize_t n,
    Py_ssize_t count,
    uint64_t *keys,             # OUT  room_for(count)
) noexcept nogil:
    """As list_largest, of one row by itself."""
    cdef float[MVSC_GROUPS] maxima
    memset(maxima, 0, sizeof(maxima))
    mvsc_group_maxima(squares, n, maxima)
    return list_largest(squares, n, maxima, count, keys)


cdef bint add_slices_of_candidates(
    const mvsc_voters *voters,
    const float *roots,
    Py_ssize_t row,
    const float *const *u,
    const float *const *h,
    Py_ssize_t count,
    VoteMemory *memory,         # INOUT keys: of squares in the listed slices, then in all
) noexcept nogil:
    """Lengthen the tubes to a row's candidates by the slices not listed; false if not finite."""
    cdef Py_ssize_t n = voters.n, i, d, e, k
    cdef uint64_t *keys = memory.keys
    cdef float *entries = memory.theirs
    cdef float root, w
    for e in range(count):
        memory.candidates[e] = <int32_t> index_of(keys[e])
    for i in range(voters.n_listed, voters.v):
        d = voters.d[i]
        mvsc_dots(u[i] + row * d, voters.u[i], memory.candidates, count, d, entries)
        for e in range(count):
            entries[e] *= h[i][row] + voters.h[i][memory.candidates[e]]
            if not isfinite(entries[e]):
                return False
        root = <float> 1.0 / sqrtf(local_scale(entries, count, voters.scale_neighbors,
                                               entries + count))
        for e in range(count):
            k = memory.candidates[e]
            w = fminf(fmaxf(0.0, entries[e]) * (root * roots[i * n + k]), <float> voters.cap)
            keys[e] = key_of(value_of(keys[e]) + w * w, k)
    return True


cdef void vote_of_keys(
    uint64_t *keys,             # of squared lengths; destroyed
    Py_ssize_t found,
    Py_ssize_t count,           # votes and one more
    const Py_ssize_t *labels,
    Py_ssize_t n_clusters,
    float *scores,              # OUT  n_clusters
    Py_ssize_t *label,          # OUT  or NULL
) noexcept nogil:
    """score_k = sum over the longest tubes of (length - the next longest) [label = k]."""
    cdef Py_ssize_t e, k
    cdef float least = 0.0
    if found > count:
        select_largest(keys, found, count - 1)
        found = count
    sort_descending(keys, found)
    if found == count:
        least = sqrtf(value_of(keys[found - 1]))
    memset(scores, 0, n_clusters * sizeof(float))
    for e in range(found):
        scores[labels[index_of(keys[e])]] += sqrtf(value_of(keys[e])) - least
    if label != NULL:
        label[0] = 0
        for k in range(1, n_clusters):
            if scores[k] > scores[label[0]]:
                label[0] = k


cdef bint vote_of_block(
    const mvsc_voters *voters,
    const float *roots,
    Py_ssize_t first,
    Py_ssize_t height,
    const float *const *u,
    const float *const *h,
    VoteMemory *memory,
    float *row_scores,          # n_clusters
    float *lengths,
    float *scores,
    Py_ssize_t *labels,
) noexcept nogil:
    """As vote, for rows first .. first + height; false if not finite."""
    cdef Py_ssize_t n = voters.n, c = voters.n_clusters, count = min(voters.n_votes, n - 1) + 1
    cdef Py_ssize_t j, k, found
    cdef bint listed = lengths == NULL and lists_candidates(voters)
    cdef float *squares
    if not tubes_of_block(voters, roots, first, height, u, h,
                          voters.n_listed if listed else voters.v, memory):
        return False
    for j in range(height):
        squares = memory.squares + j * n
        if lengths != NULL:
            for k in range(n):
                lengths[(first + j) * n + k] = sqrtf(squares[k])
        if scores == NULL and labels == NULL:
            continue
        found = list_longest(squares, n, voters.n_candidates if listed else count, memory.keys)
        if listed and not add_slices_of_candidates(voters, roots, first + j, u, h, found, memory):
            return False
        vote_of_keys(memory.keys, found, count, voters.labels, c,
                     row_scores if scores == NULL else scores + (first + j) * c,
                     NULL if labels == NULL else labels + first + j)
    return True


cdef int vote(
    const mvsc_voters *voters,
    Py_ssize_t m,
    const float *const *u,            # v arrays of shape m x d[i]
    const float *const *h,            # v arrays of m numbers
    int n_threads,
    Arena *arena,
    float *lengths,             # OUT  m x n, or NULL
    float *scores,              # OUT  m x n_clusters, or NULL
    Py_ssize_t *labels,         # OUT  m, or NULL
) noexcept nogil:
    """Tubes between new rows and fitted ones, and what the fitted ones vote for.

    ``lengths`` are of all slices; votes use those that are not listed for candidates alone. While
    the arena counts, nothing is done.
    """
    cdef Py_ssize_t n = voters.n, blocks = (m + ROWS - 1) // ROWS, b, k, thread
    cdef float *roots = <float *> take(arena, <double> voters.v * n, sizeof(float))
    cdef float *row_scores = <float *> take(arena, <double> n_threads * voters.n_clusters,
                                            sizeof(float))
    cdef int *failed = <int *> take(arena, n_threads, sizeof(int))
    cdef VoteMemory *memory = <VoteMemory *> take(arena, n_threads, sizeof(VoteMemory))
    cdef VoteMemory counted
    for thread in range(n_threads):
        lay_out_block(voters, arena, &counted if arena.base == NULL else &memory[thread])
    if arena.overflow:
        return MVSC_TOO_LARGE
    if arena.base == NULL:
        return MVSC_OK
    memset(failed, 0, n_threads * sizeof(int))
    for k in range(voters.v * n):
        roots[k] = <float> 1.0 / sqrtf(voters.scales[k])
    for b in prange(blocks, num_threads=n_threads, schedule="static", chunksize=1):
        thread = omp_get_thread_num()
        if not vote_of_block(voters, roots, b * ROWS, min(<Py_ssize_t> ROWS, m - b * ROWS), u, h,
                             &memory[thread], row_scores + thread * voters.n_clusters, lengths,
                             scores, labels):
            failed[thread] = True
    for thread in range(n_threads):
        if failed[thread]:
            return MVSC_NOT_FINITE
    return MVSC_OK


cdef int vote_by_squares(
    const float *squares,       # m x n: of the lengths of tubes
    Py_ssize_t m,
    Py_ssize_t n,
    Py_ssize_t n_votes,
    const Py_ssize_t *labels,
    Py_ssize_t n_clusters,
    int n_threads,
    Arena *arena,
    float *scores,              # OUT  m x n_clusters
) noexcept nogil:
    """As vote, from tubes that are known. While the arena counts, nothing is done."""
    cdef Py_ssize_t count = min(n_votes, n - 1) + 1, room = room_for(count), j, found
    cdef uint64_t *keys = <uint64_t *> take(arena, <double> n_threads * room, sizeof(uint64_t))
    cdef uint64_t *own
    if arena.overflow:
        return MVSC_TOO_LARGE
    if arena.base == NULL:
        return MVSC_OK
    for j in prange(m, num_threads=n_threads, schedule="static"):
        own = keys + room * omp_get_thread_num()
        found = list_longest(squares + j * n, n, count, own)
        vote_of_keys(own, found, count, labels, n_clusters, scores + j * n_clusters, NULL)
    return MVSC_OK
