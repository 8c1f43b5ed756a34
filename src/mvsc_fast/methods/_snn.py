"""The estimator of SNN, whose iteration is the function `snn`."""

from __future__ import annotations

from .._utils.types import Callback, Estimator, Numbers, Seed
from ..solvers._snn import SNN_CHECKS, solve_snn
from ._recovery import AffinityName, RecoveryClusterer


class SNN(RecoveryClusterer):
    """Clustering by SNN: the part of a similarity tensor with low-rank unfoldings.

    See `solvers.snn` for the objective.

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
    """

    _arrays = (9, 6)
    _checks = {**RecoveryClusterer._checks, **SNN_CHECKS}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        weights: float | Numbers | None = None,
        affinity: AffinityName | Estimator = "self_representation",
        tol: float = 1e-8,
        max_iter: int = 500,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.weights = weights
        self.affinity = affinity
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _recover(self, W, **iteration):
        return solve_snn(W, weights=self.weights, **iteration)
