"""Parts of the TLRR core one at a time, for tests."""

from cython cimport floating

from mvsc_fast.core.partial cimport SMALLEST, Subspace, partial_lwork, partial_shrink
from mvsc_fast.core.partial cimport start_subspace, subspace_capacity
from mvsc_fast.core.symmetric cimport norm_below

import numpy as np

PARTIAL_MINIMUM = SMALLEST


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
