"""Exact screening: which tubes can be non-zero, and into which blocks the problem splits.

With tau = omega2 alpha / (2 lam), the minimiser L of the TLRR model is zero between any two
connected components of the graph that joins j and k where ``||W[:, j, k]|| > tau``: block-diagonal
subgradients satisfy the optimality conditions, of which ``2 lam ||W[:, j, k]|| <= omega2 alpha``
is left for a cross tube. And as the nuclear norms contribute at most ``omega1 sqrt(v) + omega2``
to a tube's subgradient, a tube with
``2 lam ||W[:, j, k]|| <= omega2 alpha - omega1 sqrt(v) - omega2`` is zero.
The block rule is that of the graphical lasso (Witten et al. 2011; Mazumder & Hastie 2012).
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components


@dataclass
class Tubes:
    """A symmetric tensor on a sparsity pattern, in the order of a CSR matrix.

    Attributes
    ----------
    members : ndarray of shape (n,)
        The samples, in the numbering of the whole problem.
    indptr, indices, mirror : ndarray of intp
        CSR pattern in local numbering; ``mirror[e]`` is the position of the transposed entry.
    values : ndarray of shape (v, nnz)
    """

    members: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    mirror: np.ndarray
    values: np.ndarray

    @property
    def rows(self):
        """Local row of every entry."""
        return np.repeat(np.arange(len(self.members)), np.diff(self.indptr))


def screen(W, *, omega1, alpha, lam):
    """Split a TLRR problem into independent blocks and drop the tubes that are surely zero.

    Parameters
    ----------
    W : ndarray of shape (v, n, n) or list of v csr_array of shape (n, n)
        Symmetric slices.

    Returns
    -------
    blocks : list of Tubes
        The blocks with at least one tube that may be non-zero, largest first.
    labels : ndarray of shape (n,)
        Connected component of every sample.
    """
    omega2 = 1.0 - omega1
    n = W[0].shape[0]
    bound = (omega2 * alpha - omega1 * len(W) ** 0.5 - omega2) / (2.0 * lam)
    tau = omega2 * alpha / (2.0 * lam)
    rows, columns, squares = _long_tubes(W, max(bound, 0.0))
    joined = squares > np.float64(tau * tau)
    graph = scipy.sparse.csr_array(
        (np.ones(joined.sum(), dtype=bool), (rows[joined], columns[joined])), shape=(n, n)
    )
    n_components, labels = connected_components(graph, directed=False)
    members = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[members], np.arange(n_components + 1))
    if bound < 0:
        # Nothing can be said of single tubes: every pair within a component counts.
        groups = [members[a:b] for a, b in zip(starts[:-1], starts[1:], strict=True)]
        rows = np.concatenate([np.repeat(g, len(g)) for g in groups])
        columns = np.concatenate([np.tile(g, len(g)) for g in groups])
    inside = labels[rows] == labels[columns]
    rows, columns = rows[inside], columns[inside]
    order = np.lexsort((columns, rows, labels[rows]))
    rows, columns = rows[order], columns[order]
    values = _gather(W, rows, columns)

    local = np.empty(n, dtype=np.intp)
    local[members] = np.arange(n) - starts[labels[members]]
    ends = np.searchsorted(labels[rows], np.arange(n_components + 1))
    blocks = []
    for component in range(n_components):
        entries = slice(ends[component], ends[component + 1])
        if values[:, entries].any():
            samples = members[starts[component] : starts[component + 1]]
            blocks.append(
                _tubes(samples, local[rows[entries]], local[columns[entries]], values[:, entries])
            )
    blocks.sort(key=lambda block: -len(block.members))
    return blocks, labels


def _tubes(members, rows, columns, values):
    indptr = np.searchsorted(rows, np.arange(len(members) + 1)).astype(np.intp)
    mirror = np.lexsort((rows, columns)).astype(np.intp)
    return Tubes(members, indptr, columns.astype(np.intp), mirror, np.ascontiguousarray(values))


def _long_tubes(W, bound):
    """Rows, columns and squared lengths of the tubes longer than ``bound``."""
    if not isinstance(W, np.ndarray):
        squares = sum(A.multiply(A) for A in W).tocoo()
        kept = squares.data > np.float64(bound * bound)
        return squares.row[kept], squares.col[kept], squares.data[kept]
    n = W.shape[1]
    step = max(1, 2**22 // n)
    parts = []
    for first in range(0, n, step):
        squares = np.einsum("ijk,ijk->jk", W[:, first : first + step], W[:, first : first + step])
        rows, columns = np.nonzero(squares > np.float64(bound * bound))
        parts.append((rows + first, columns, squares[rows, columns]))
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


def _gather(W, rows, columns):
    """Tubes of W at the given pairs, shape (v, number of pairs)."""
    if isinstance(W, np.ndarray):
        return W[:, rows, columns]
    return np.stack([np.asarray(A[rows, columns]).ravel() for A in W])
