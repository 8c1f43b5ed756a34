"""Parts of the TLRR core one at a time, for tests and benchmarks."""

from cython cimport floating

from mvsc_fast.core.api cimport mvsc_tlrr_blocks
from mvsc_fast.core.partial cimport (
    SMALLEST,
    Subspace,
    partial_lwork,
    partial_shrink,
    start_subspace,
    subspace_capacity,
)
from mvsc_fast.core.screening cimport (
    Pattern,
    Source,
    build_pattern,
    screen,
    set_thresholds,
    sort_members,
)
from mvsc_fast.core.symmetric cimport norm_below

import numpy as np

PARTIAL_MINIMUM = SMALLEST


def screen_blocks(
    const floating[:, ::1] data,
    Py_ssize_t n,
    indptr=None,
    indices=None,
    *,
    double omega1,
    double alpha,
    double lam,
):
    """Connected component of every sample, and all patterns of tubes that may be non-zero.

    Parameters
    ----------
    data : array of shape (v, n * n) or (v, nnz)
        Symmetric slices, whole or on the CSR pattern (indptr, indices).

    Returns
    -------
    labels : ndarray of shape (n,)
    n_tubes : int
        Tubes longer than the bound, at least as many as all patterns hold.
    patterns : list of (members, indptr, indices, mirror, position)
    """
    cdef Source source
    cdef mvsc_tlrr_blocks blocks
    cdef Pattern pattern
    cdef Py_ssize_t[::1] label, start, member, place, row, at, cursor, index_pointer, index
    cdef int[::1] column, mirror
    source.v, source.n, source.stride, source.scale = data.shape[0], n, data.shape[1], 1.0
    source.indptr = source.indices = NULL
    if indptr is not None:
        index_pointer, index = indptr, indices
        source.indptr, source.indices = &index_pointer[0], &index[0] if len(index) else NULL
    set_thresholds(&source, omega1, alpha, lam, 1.0)
    labels = np.empty(n, dtype=np.intp)
    label = labels
    screen(&data[0, 0], &source, &label[0], &blocks)
    starts, members, local = (np.empty(n + 1, dtype=np.intp) for _ in range(3))
    start, member, place = starts, members, local
    sort_members(&label[0], n, blocks.n_blocks, &start[0], &member[0], &place[0])
    patterns = []
    for block in range(blocks.n_blocks):
        pattern.n = start[block + 1] - start[block]
        capacity = max(1, min(blocks.n_tubes, pattern.n**2))
        arrays = [np.empty(size, dtype=dtype) for size, dtype in
                  ((pattern.n + 1, np.intp), (capacity, np.intc), (capacity, np.intc),
                   (capacity, np.intp), (pattern.n, np.intp))]
        row, column, mirror, at, cursor = arrays
        pattern.indptr, pattern.indices, pattern.mirror = &row[0], &column[0], &mirror[0]
        pattern.position, pattern.cursor = &at[0], &cursor[0]
        if not build_pattern(&data[0, 0], &source, &label[0], &member[start[block]], &place[0],
                             capacity, &pattern):
            raise ValueError("the slices are not symmetric")
        patterns.append((members[start[block]:start[block + 1]], arrays[0],
                         *(array[:pattern.nnz] for array in arrays[1:4])))
    return labels, blocks.n_tubes, patterns


def proven_below(floating[:, ::1] A, double t):
    """Whether the spectral norm of a symmetric matrix is proven to be at most t."""
    cdef double[:, ::1] work = np.empty(np.shape(A))
    return norm_below(&A[0, 0], A.shape[0], t, &work[0, 0])


class PartialShrinkage:
    """The subspaces of some slices, from one call of `shrink` to the next."""

    def __init__(self, n_views, n, dtype=np.float64):
        self.bases = np.empty((n_views, subspace_capacity(n), n), dtype=dtype)
        self.sizes = np.full(n_views, -1, dtype=np.intp)
        self.ranks = np.zeros(n_views, dtype=np.intp)

    def shrink(self, T, t):
        """Shrink every slice of T in place where that is certified; ranks, or -1 elsewhere."""
        return np.array([_shrink_one(self, T[i], i, t) for i in range(len(T))])


def _shrink_one(state, floating[:, ::1] A, Py_ssize_t i, double t):
    cdef Subspace subspace
    cdef Py_ssize_t n = A.shape[0]
    cdef floating[:, ::1] basis = state.bases[i]
    cdef floating[::1] work = np.empty(partial_lwork(n), dtype=np.asarray(A).dtype)
    cdef int rank
    if state.sizes[i] < 0:
        start_subspace(&subspace, &basis[0, 0], n, i)
    else:
        subspace.basis, subspace.size, subspace.rank = &basis[0, 0], state.sizes[i], state.ranks[i]
    rank = partial_shrink(&A[0, 0], n, t, &subspace, &work[0])
    state.sizes[i], state.ranks[i] = subspace.size, subspace.rank
    return rank
