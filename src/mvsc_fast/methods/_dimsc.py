"""DiMSC: diversity-induced multi-view subspace clustering (Cao et al. 2015)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from .._utils.parameters import check_flag, nonnegative
from ..solvers._representation import sylvester, thin_svd
from ..views._rows import dense
from ..views._view_rows import unit_rows
from ._representation import RepresentationClusterer


@dataclass(eq=False, repr=False, kw_only=True)
class DiMSC(RepresentationClusterer):
    """Clustering by DiMSC: diverse, smooth self-representations of the views.

    Minimises ``sum_i ||X_i - X_i Z_i||_F^2 + lam_s sum_i tr(Z_i L_i Z_i^T) + lam_d sum_{i<j}
    tr(H K_i H K_j)`` with ``K_i = Z_i^T Z_i`` and ``H = I - 1 1^T / n``, whose last term is the
    Hilbert-Schmidt independence criterion (Cao et al. 2015); L_i is the Laplacian of the
    graph of inner products. For each view in turn, a Sylvester equation is solved exactly by
    eigendecompositions; that of the Gram matrix is computed once. The result does not depend on
    the order of the samples, but it may depend on that of the views, as the model is not convex.

    Parameters
    ----------
    lam_s : float, default=0.01
        Weight of the smoothness.
    lam_d : float, default=20.0
        Weight of the diversity. Both defaults are the best of the documented settings on
        Extended YaleB; those of the released demo, 1 and 100, give half of their accuracy there.
    normalize : bool, default=True
        Whether to scale samples to unit length. The released code does not, so that its weights
        depend on the units of the features.
    signed : bool, default=False
        Whether to keep negative inner products in the graph, as the released code does, instead of
        replacing them by 0. The Laplacian may then be indefinite and the model unbounded, and the
        iteration usually does not converge. It makes no difference for non-negative features.
    tol : float, default=1e-4
        Tolerance on the relative decrease of the objective in a pass over the views. The released
        code makes 10 passes: ``tol=0, max_iter=10``.
    max_iter : int, default=100
        Maximum number of passes over the views.

    Attributes
    ----------
    history_ : dict of ndarray
        ``residual``, ``objective`` and ``seconds`` after every iteration.

    References
    ----------
    Cao, Zhang, Fu, Liu, Zhang: Diversity-induced multi-view subspace clustering. CVPR 2015.

    Examples
    --------
    >>> from mvsc_fast.methods import DiMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> DiMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    lam_s: float = 0.01
    lam_d: float = 20.0
    normalize: bool = True
    signed: bool = False
    tol: float = 1e-4
    max_iter: int = 100

    _arrays = (6, 3)
    _checks = {
        **RepresentationClusterer._checks,
        "lam_s": nonnegative,
        "lam_d": nonnegative,
        "normalize": check_flag,
        "signed": check_flag,
    }

    def _represent(self, views, seed, n_threads, progress):
        run = self._begin(progress)
        Z = _diverse_representation(views, run, self.lam_s, self.lam_d, self.normalize, self.signed)
        return run, {"representation_": Z}


def _diverse_representation(views, run, lam_s, lam_d, normalize, signed):
    """Z, by the passes of `DiMSC` over the views."""
    views = [dense(X, None) for X in views]
    views = [unit_rows(X) for X in views] if normalize else views
    # Without the diversity term each view has a solution of its own, where the passes start.
    blocks = [_View(X, lam_s, signed) for X in views]
    Z = np.stack([block.solve() for block in blocks])
    K = np.stack([_centred_gram(A) for A in Z])
    terms = [block.minimum(A) for block, A in zip(blocks, Z, strict=True)]
    objective = sum(terms) + lam_d * _pairs(K)
    for _ in run:
        # Block coordinate descent: each view is solved for the current others, so the objective
        # falls.
        for i, block in enumerate(blocks):
            coupling = lam_d * (np.delete(K, i, axis=0).sum(axis=0))
            Z[i] = block.solve(coupling)
            K[i] = _centred_gram(Z[i])
            terms[i] = block.minimum(Z[i]) - np.vdot(K[i], coupling)
        # The terms are those at the minimisers, so that no product of n^3 is needed for them.
        former, objective = objective, sum(terms) + lam_d * _pairs(K)
        run.record(abs(former - objective) / (abs(objective) or 1.0), objective=objective)
    return Z


class _View:
    """The terms of one view, whose Gram matrix X^T X = Q diag(a) Q^T is decomposed once."""

    def __init__(self, X, lam_s, signed):
        Q, s, _ = thin_svd(X)
        self._eigen = s**2, np.ascontiguousarray(Q)
        self._QC = self._eigen[0][:, None] * self._eigen[1].T  # Q^T X^T X
        self._gram = X @ X.T
        graph = self._gram if signed else np.maximum(self._gram, 0.0)
        self._smooth = -lam_s * graph
        self._smooth[np.diag_indices(len(X))] += lam_s * graph.sum(axis=0)

    def solve(self, coupling=0.0):
        """Z with ``X^T X Z + Z B = X^T X`` for ``B = lam_s L + coupling``."""
        B = self._smooth + coupling
        eigen = scipy.linalg.eigh(B, driver="evd", overwrite_a=True, check_finite=False)
        return sylvester(self._eigen, eigen, self._QC)

    def minimum(self, Z):
        """``||X - X Z||_F^2 + tr(Z B Z^T)`` at the Z that `solve` found."""
        return float(np.trace(self._gram) - np.vdot(self._gram, Z))


def _centred_gram(Z):
    """H Z^T Z H."""
    A = Z - Z.mean(axis=1, keepdims=True)
    return A.T @ A


def _pairs(K):
    """Sum of the inner products of all pairs."""
    return float(sum(np.vdot(A, B) for i, A in enumerate(K) for B in K[:i]))
