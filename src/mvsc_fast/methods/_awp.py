"""AWP: multi-view clustering via adaptively weighted Procrustes (Nie et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.neighbors import NearestNeighbors

from .._utils.parameters import check_flag, count, option
from .._utils.types import FloatArray
from ..spectral._eigenvectors import normalized_eigenvectors
from ..views._view_rows import unit_rows
from ._base import MultiViewClusterer

Init = Literal["pivots", "axes"]


@dataclass(eq=False, repr=False, kw_only=True)
class AWP(MultiViewClusterer):
    """Clustering by AWP: weighted Procrustes alignment of spectral embeddings of all views.

    Minimises ``sum_i ||Y - F_i R_i||_F`` over indicator matrices Y (n x n_clusters) and rotations
    R_i (Nie, Tian & Li 2018), by alternating updates. The columns of F_i are the eigenvectors with
    the smallest eigenvalues of the normalised Laplacian of a nearest-neighbour graph. As the norms
    are not squared, each view has the weight ``1 / ||Y - F_i R_i||_F``. No k-means is needed, and
    there may be fewer clusters than requested.

    The method learns no similarities, so it cannot be the ``affinity`` of another method.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours, not counting the sample; at most n_samples - 1 are used. The default
        is that of the released code.
    normalize : bool, default=True
        Whether to scale samples to unit length, as in the other methods.
    init : {"pivots", "axes"}, default="pivots"
        Initial rotations. "axes" is the published R_i = I, which depends on the arbitrary signs of
        eigenvectors (here the largest entry is positive) and on the basis of multiple eigenvalues.
        "pivots" does not: it rotates each F_i so that selected samples, one per cluster, lie close
        to the axes (Damle, Minden & Ying 2019). They are selected by QR decomposition with column
        pivoting of the concatenated F_i. Its objective is usually lower, and permuting the samples
        permutes the result.
    tol : float, default=1e-6
        Tolerance on the difference between the objective and the nearest earlier value, relative to
        its change since the first iteration. It must hold in two consecutive iterations.
    max_iter : int, default=300
        Maximum number of iterations; 5 to 30 are usually sufficient.
    random_state : int, RandomState or None, optional
        Not used, present for API consistency: the method is deterministic.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Weighted mean of the rotated embeddings; samples with the argmax of their rows in common
        share a label.
    weights_ : ndarray of shape (v,)
        Weights of the views; they sum to 1.
    n_iter_ : int
        Number of iterations of the solver.
    converged_ : bool
        Whether the residual reached ``tol``.
    history_ : dict of ndarray
        ``residual``, ``objective`` and ``seconds`` after every iteration.

    References
    ----------
    Nie, Tian, Li: Multiview clustering via adaptively weighted Procrustes. KDD 2018.

    Damle, Minden, Ying: Simple, direct and efficient multi-way spectral clustering. Information
    and Inference 8(1), 2019.

    Examples
    --------
    >>> from mvsc_fast.methods import AWP
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> AWP(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    n_neighbors: int = 10
    normalize: bool = True
    init: Init = "pivots"
    tol: float = 1e-6
    max_iter: int = 300

    embedding_: FloatArray = field(init=False)
    weights_: FloatArray = field(init=False)
    n_iter_: int = field(init=False)
    converged_: bool = field(init=False)
    history_: dict[str, FloatArray] = field(init=False)

    _checks = {
        **MultiViewClusterer._checks,
        "n_neighbors": count,
        "normalize": check_flag,
        "init": option(Init),
    }

    def _learn(self, views, seed, n_threads, progress):
        run = self._begin(progress)
        labels, embedding, weights = _align(
            views, run, self.n_clusters, self.n_neighbors, self.normalize, self.init
        )
        learned = {"labels_": labels, "embedding_": embedding, "weights_": weights}
        return learned | self._course(run, progress)


def _align(views, run, n_clusters, n_neighbors, normalize, init):
    """Labels, combined embedding and weights of the views, by the iteration of `AWP`."""
    n = views[0].shape[0]
    # Each view has a spectral embedding, which is known up to a rotation.
    views = [unit_rows(X) for X in views] if normalize else views
    F = np.stack([_embed(X, n_clusters, min(n_neighbors, n - 1)) for X in views])
    # The iteration finds a local optimum: rotations start from common samples, or from the axes,
    # where signs are fixed by the largest entries.
    if init == "pivots":
        rotations = _pivoted_rotations(F)
    else:
        largest = np.abs(F).argmax(axis=1)[:, None]
        F = F * np.where(np.take_along_axis(F, largest, axis=1) < 0, -1, 1)
        rotations = np.stack([np.eye(n_clusters, dtype=F.dtype)] * len(F))
    weights = np.ones(len(F), dtype=F.dtype)
    labels = np.zeros(n, dtype=np.intp)
    combined = np.zeros_like(F[0])
    Y = np.zeros_like(F[0])
    objective, changes = [], [np.inf]
    # Labels from the weighted mean, rotations towards the labels, and smaller weights for views
    # that stay far from them.
    for _ in run:
        combined = np.tensordot(weights, F @ rotations, 1) / weights.sum()
        labels = combined.argmax(axis=1)
        Y[...] = labels[:, None] == np.arange(n_clusters)
        rotations = np.stack([_rotate(A.T @ Y, R) for A, R in zip(F, rotations, strict=True)])
        distance = np.linalg.norm(Y - F @ rotations, axis=(1, 2))
        weights = 1.0 / np.maximum(distance, np.finfo(F.dtype).eps)
        # A value may come near an earlier one by chance, so two changes in a row must be small.
        objective.append(float(np.linalg.norm(distance)))
        changes.append(_change(objective))
        run.record(max(changes[-2:]), objective=objective[-1])
    labels = np.unique(labels, return_inverse=True)[1]
    return labels, combined, weights / weights.sum()


def _embed(X, n_clusters, n_neighbors):
    """Spectral embedding by the normalised Laplacian of a nearest-neighbour graph.

    Similarities are ``exp(-d^2 / (2 sigma^2))`` with sigma the mean distance to a neighbour.
    """
    distance, index = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
    sigma = distance.mean() or 1.0
    similarity = np.exp(-0.5 * (distance / sigma) ** 2)
    n = len(index)
    start = np.arange(0, n * n_neighbors + 1, n_neighbors)
    A = scipy.sparse.csr_array((similarity.ravel(), index.ravel(), start), shape=(n, n))
    A = (A + A.T) / 2
    return normalized_eigenvectors(A, n_clusters)[1]


def _pivoted_rotations(F):
    """For every view, the rotation that aligns common, well separated samples with the axes."""
    n_clusters = F.shape[2]
    side_by_side = np.concatenate(list(F), axis=1)
    _, pivots = scipy.linalg.qr(side_by_side.T, mode="r", pivoting=True, check_finite=False)
    identity = np.eye(n_clusters, dtype=F.dtype)
    return np.stack([_rotate(A[pivots[:n_clusters]].T, identity) for A in F])


def _rotate(M, former):
    """The orthogonal matrix nearest to a square M; ties are broken by distance to ``former``.

    M is singular if a cluster is empty.
    """
    U, s, Vt = scipy.linalg.svd(M, check_finite=False)
    # Where singular values vanish, any completion is optimal: the nearest to the former one is
    # taken.
    rank = int(np.sum(s > len(s) * np.finfo(s.dtype).eps * s[0]))
    if rank < len(s):
        A, _, Bt = scipy.linalg.svd(U[:, rank:].T @ former @ Vt[rank:].T, check_finite=False)
        U[:, rank:] = U[:, rank:] @ (A @ Bt)
    return U @ Vt


def _change(objective):
    """Distance of the last value to the nearest earlier one, relative to that from the first.

    Infinite for the first value, 0 if it equals an earlier one.
    """
    *earlier, last = objective
    nearest = min((abs(last - value) for value in earlier), default=np.inf)
    return nearest / abs(objective[0] - last) if nearest > 0 and earlier else nearest
