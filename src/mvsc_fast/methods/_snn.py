"""SNN: sum of the nuclear norms of the unfoldings (Liu et al. 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from .._kernels import frontal_shrink, snn_pass
from .._utils.parameters import check_numbers, either
from .._utils.types import Numbers
from ._recovery import RecoveryClusterer


@dataclass(eq=False, repr=False, kw_only=True)
class SNN(RecoveryClusterer):
    """Clustering by SNN: the part of a similarity tensor with low-rank unfoldings.

    Minimises ``sum_m a_m ||L_(m)||_* + ||E||_1`` subject to ``W = L + E`` by ADMM with one copy of
    L for each of the three unfoldings (the norm of Liu et al. 2013, Eq. 9). As the slices of W are
    symmetric, the copy of the columns is the transpose of that of the rows and costs nothing.

    Parameters
    ----------
    weights : float or pair of floats, optional
        Weights a_m of the unfoldings: one for rows and columns, one for the views. None is
        ``sqrt(n) / 3`` for all. Dividing by a common factor gives the form with a weight on E.
    tol : float, default=1e-8
        Tolerance on the largest entry of L_m + E - W and of the changes of L_m and E.
    max_iter : int, default=500
        Maximum number of iterations; about 200 are usually sufficient.

    References
    ----------
    Liu, Musialski, Wonka, Ye: Tensor completion for estimating missing values in visual data. IEEE
    TPAMI 35(1), 2013.

    Examples
    --------
    >>> from mvsc_fast.methods import SNN
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> SNN(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    weights: float | Numbers | None = None
    tol: float = 1e-8
    max_iter: int = 500

    _arrays = (9, 6)
    _checks = {
        **RecoveryClusterer._checks,
        "weights": either(None, partial(check_numbers, count=2, low=0.0)),
    }

    def _recover(self, W, n_threads, progress):
        run = self._begin(progress)
        return _low_rank_unfoldings(W, run, self.weights, n_threads), run


def _low_rank_unfoldings(W, run, weights, n_threads):
    """The part of W with low-rank unfoldings, by the iteration of `SNN`."""
    v, n = W.shape[:2]
    rows, views = [np.sqrt(n) / 3.0] * 2 if weights is None else weights

    # L1 and L3 are copies of L for the two unfoldings, Y1 and Y3 their multipliers.
    E, L1, Y1, L3, Y3 = (np.zeros_like(W) for _ in range(5))
    X = W.copy()
    # Singular values along the views follow from a v x v Gram matrix, which each pass returns.
    flat = W.reshape(v, -1).astype(np.float64, copy=False)
    gram = flat @ flat.T
    for mu in run:
        frontal_shrink(X, rows / mu, group=v)
        mapper = _view_mapper(gram, views / mu)
        change, gram = snn_pass(
            W, E, L1, Y1, X, L3, Y3, mapper, mu=mu, mu_next=run.next_mu, n_threads=n_threads
        )
        run.record(change)
    return (L1 + L1.transpose(0, 2, 1)) / 2


def _view_mapper(gram, t):
    """v x v matrix that shrinks by t the singular values of an unfolding with this Gram matrix."""
    values, vectors = np.linalg.eigh(gram)
    s = np.sqrt(np.maximum(values, 0.0))
    return (vectors * (1.0 - t / np.maximum(s, t) if t > 0 else 1.0)) @ vectors.T
