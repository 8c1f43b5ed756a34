"""The estimator of TRPCA, whose iteration is the function `trpca`."""

from __future__ import annotations

from .._utils.types import Callback, Estimator, Seed, Shaped
from ..solvers._transforms import ViewTransform, resolve_view_transform
from ..solvers._trpca import TRPCA_CHECKS, solve_trpca
from ._recovery import AffinityName, RecoveryClusterer


class TRPCA(RecoveryClusterer):
    """Clustering by TRPCA: the part of low tubal rank of a similarity tensor.

    See `solvers.trpca` for the objective.

    Parameters
    ----------
    lam : float, optional
        Weight of the sparse part. None is ``1 / sqrt(n v)``, for which recovery of random tensors
        is guaranteed; twice this value was better on shuffled data sets.
    view_transform : {"dft", "identity"} or ndarray of shape (v, v), default="dft"
        The transform along the views; "dft" is the published one. An orthonormal matrix defines the
        basis by its columns.
    tol : float, default=1e-8
        Tolerance on the largest entry of L + S - W and of the changes of L and S.
    max_iter : int, default=500
        Maximum number of iterations; about 200 are usually sufficient.

    References
    ----------
    Lu, Feng, Chen, Liu, Lin, Yan: Tensor robust principal component analysis with a new tensor
    nuclear norm. IEEE TPAMI 42(4), 2020.
    """

    _arrays = (7, 12)
    _checks = {**RecoveryClusterer._checks, **TRPCA_CHECKS}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float | None = None,
        affinity: AffinityName | Estimator = "self_representation",
        view_transform: ViewTransform | Shaped = "dft",
        tol: float = 1e-8,
        max_iter: int = 500,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.affinity = affinity
        self.view_transform = view_transform
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _read(self, X):
        given = super()._read(X)
        resolve_view_transform(self.view_transform, len(given), given[0].dtype)
        return given

    def _recover(self, W, **iteration):
        return solve_trpca(W, lam=self.lam, view_transform=self.view_transform, **iteration)
