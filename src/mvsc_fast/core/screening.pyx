"""Exact screening: which tubes can be non-zero, and into which blocks a TLRR problem splits.

With tau = omega2 alpha / (2 lam), the minimiser L of the TLRR model is zero between any two
connected components of the graph that joins j and k where ``||W[:, j, k]|| > tau``: block-diagonal
subgradients satisfy the optimality conditions, of which ``2 lam ||W[:, j, k]|| <= omega2 alpha``
is left for a cross tube. And as the nuclear norms contribute at most ``omega1 sqrt(v) + omega2``
to a tube's subgradient, a tube with
``2 lam ||W[:, j, k]|| <= omega2 alpha - omega1 sqrt(v) - omega2`` is zero.
The block rule is that of the graphical lasso (Witten et al. 2011; Mazumder & Hastie 2012).

With sample weights m the tube of ``M = D^1/2 L D^1/2`` (see dual) has the weight
``omega2 alpha sqrt(m_j m_k)`` and the misfit to ``sqrt(m_j m_k) W[:, j, k]``: the block rule stays
as it is. The nuclear norms contribute at most ``omega1 sqrt(v)`` and, as sym(Q) is the mean of an
entry of row j and one of row k, ``omega2 (sqrt(m_j) + sqrt(m_k)) / 2``. Divided by
``sqrt(m_j m_k)`` both are largest for the smallest weight m: a tube with
``2 lam ||W[:, j, k]|| <= omega2 alpha - omega1 sqrt(v) / m - omega2 / sqrt(m)`` is zero.
"""

from cython cimport floating
from libc.math cimport fmax, sqrt
from libc.string cimport memset

from . cimport loops
from .api cimport mvsc_tlrr_blocks
from .loops cimport CHUNK


cdef void set_thresholds(
    Source *source,             # OUT  tau and bound
    double omega1,
    double alpha,
    double lam,
    double lightest,            # the smallest sample weight, 1 without weights
) noexcept nogil:
    """tau and, of all pairs of samples, the least bound on single tubes."""
    cdef double omega2 = 1.0 - omega1
    source.tau = omega2 * alpha / (2.0 * lam)
    source.bound = (omega2 * alpha - omega1 * sqrt(<double> source.v) / lightest
                    - omega2 / sqrt(lightest)) / (2.0 * lam)


cdef void tube_squares(
    const floating *row,        # of the first view
    const Source *source,
    const Py_ssize_t *members,  # which entries of the row, or NULL: all
    Py_ssize_t first,
    Py_ssize_t width,
    floating *x,                # scratch, CHUNK
    floating *squares,          # OUT  width
) noexcept nogil:
    """Squared lengths of tubes first .. first + width of a row."""
    cdef Py_ssize_t i, q
    cdef const floating *entries
    cdef floating scale = <floating> source.scale
    memset(squares, 0, width * sizeof(floating))
    for i in range(source.v):
        entries = row + i * source.stride
        if members == NULL and source.scale == 1.0:
            loops.add_squares(entries + first, width, squares)
            continue
        for q in range(width):
            x[q] = scale * entries[members[first + q] if members != NULL else first + q]
        loops.add_squares(x, width, squares)


# ------------------------------------------------------------------ disjoint sets
#
# parent[j] >= 0 leads to the smallest member of j's set, which stores the negative size of the set.

cdef Py_ssize_t find(Py_ssize_t *parent, Py_ssize_t j) noexcept nogil:
    """Smallest member of j's set; the path to it is halved."""
    while parent[j] >= 0:
        if parent[parent[j]] >= 0:
            parent[j] = parent[parent[j]]
        j = parent[j]
    return j


cdef void join(Py_ssize_t *parent, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
    """Make one set of those of j and k."""
    cdef Py_ssize_t a = find(parent, j), b = find(parent, k)
    if a == b:
        return
    if b < a:
        a, b = b, a
    parent[a] += parent[b]
    parent[b] = a


cdef void screen(
    const floating *data,
    const Source *source,
    Py_ssize_t *labels,         # OUT  n, numbered by the first sample of every component
    mvsc_tlrr_blocks *blocks,   # OUT  all but the size field
) noexcept nogil:
    """Components of the graph of the tubes longer than tau, and how many exceed the bound."""
    cdef double x_memory[CHUNK]
    cdef double squares_memory[CHUNK]
    cdef floating *squares = <floating *> squares_memory
    cdef double tau_squared = source.tau * source.tau
    cdef double bound_squared = fmax(source.bound, 0.0) * fmax(source.bound, 0.0)
    cdef Py_ssize_t n = source.n, j, k, q, first, end, width, n_tubes = 0
    cdef const floating *row
    for j in range(n):
        labels[j] = -1
    for j in range(n):
        if source.indptr == NULL:
            row, first, end = data + j * n, j, n
        else:
            row, first, end = data, source.indptr[j], source.indptr[j + 1]
        while first < end:
            width = min(<Py_ssize_t> CHUNK, end - first)
            tube_squares(row, source, NULL, first, width, <floating *> x_memory, squares)
            for q in range(width):
                k = first + q if source.indptr == NULL else source.indices[first + q]
                if k < j:
                    continue
                n_tubes += (squares[q] > bound_squared) * (1 + (k > j))
                if squares[q] > tau_squared and k > j:
                    join(labels, j, k)
            first += width
    if source.bound < 0:
        n_tubes = n * n if source.indptr == NULL else source.indptr[n]
    blocks.n_tubes = n_tubes
    blocks.n_blocks = blocks.largest = 0
    for j in range(n):
        if labels[j] >= 0:
            labels[j] = find(labels, labels[j])
    for j in range(n):
        if labels[j] < 0:
            blocks.largest = max(blocks.largest, -labels[j])
            labels[j] = blocks.n_blocks
            blocks.n_blocks += 1
        else:
            labels[j] = labels[labels[j]]


cdef void sort_members(
    const Py_ssize_t *labels,
    Py_ssize_t n,
    Py_ssize_t n_blocks,
    Py_ssize_t *starts,         # OUT  n_blocks + 1: where a block begins in members
    Py_ssize_t *members,        # OUT  n: samples by blocks, ascending within each
    Py_ssize_t *local,          # OUT  n: number of every sample within its block
) noexcept nogil:
    """The samples of every block."""
    cdef Py_ssize_t j
    memset(starts, 0, (n_blocks + 1) * sizeof(Py_ssize_t))
    for j in range(n):
        local[j] = starts[labels[j] + 1]
        starts[labels[j] + 1] += 1
    for j in range(n_blocks):
        starts[j + 1] += starts[j]
    for j in range(n):
        members[starts[labels[j]] + local[j]] = j


cdef bint build_pattern(
    const floating *data,
    const Source *source,
    const Py_ssize_t *labels,
    const Py_ssize_t *members,  # of this block
    const Py_ssize_t *local,
    Py_ssize_t capacity,        # entries that the arrays hold
    Pattern *pattern,           # INOUT n and the arrays in, the pattern out
) noexcept nogil:
    """The tubes of a block that exceed the bound, as a CSR matrix and its transposition.

    False if there are more than the arrays hold, or the slices are not symmetric.
    """
    cdef double x_memory[CHUNK]
    cdef double squares_memory[CHUNK]
    cdef floating *squares = <floating *> squares_memory
    cdef double bound_squared = fmax(source.bound, 0.0) * fmax(source.bound, 0.0)
    cdef Py_ssize_t n = source.n, a, q, j, first, end, width, row_at, nnz = 0
    cdef const Py_ssize_t *selection = NULL
    cdef bint dense = source.indptr == NULL, whole = pattern.n == n
    if dense and not whole:
        selection = members
    for a in range(pattern.n):
        j = members[a]
        pattern.indptr[a] = nnz
        row_at = j * n if dense else 0
        first = 0 if dense else source.indptr[j]
        end = pattern.n if dense else source.indptr[j + 1]
        while first < end:
            width = min(<Py_ssize_t> CHUNK, end - first)
            tube_squares(data + row_at, source, selection, first, width, <floating *> x_memory,
                         squares)
            for q in range(width):
                if squares[q] <= bound_squared and source.bound >= 0:
                    continue
                if not dense and labels[source.indices[first + q]] != labels[j]:
                    continue
                if nnz == capacity:
                    return False
                if dense:
                    pattern.indices[nnz] = <int> (first + q)
                    pattern.position[nnz] = row_at + members[first + q]
                else:
                    pattern.indices[nnz] = <int> local[source.indices[first + q]]
                    pattern.position[nnz] = first + q
                nnz += 1
            first += width
    pattern.indptr[pattern.n] = pattern.nnz = nnz
    return pair_mirrors(pattern)


cdef bint pair_mirrors(Pattern *pattern) noexcept nogil:
    """Find the position of entry (k, j) for every entry (j, k); False if there is none.

    Rows are visited in ascending order, and so are the transposed entries within every row.
    """
    cdef Py_ssize_t a, e, q
    for a in range(pattern.n):
        pattern.cursor[a] = pattern.indptr[a]
    for a in range(pattern.n):
        for e in range(pattern.indptr[a], pattern.indptr[a + 1]):
            q = pattern.indices[e]
            if pattern.cursor[q] == pattern.indptr[q + 1]:
                return False
            pattern.mirror[e] = <int> pattern.cursor[q]
            pattern.cursor[q] += 1
    return True
