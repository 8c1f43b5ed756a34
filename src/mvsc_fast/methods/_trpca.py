"""TRPCA: tensor robust principal component analysis (Lu et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._kernels import trpca_pass
from .._utils.parameters import either, positive
from .._utils.types import Shaped
from ..solvers._transforms import ViewTransform, check_view_transform, resolve_view_transform
from ._recovery import RecoveryClusterer


@dataclass(eq=False, repr=False, kw_only=True)
class TRPCA(RecoveryClusterer):
    """Clustering by TRPCA: the part of low tubal rank of a similarity tensor.

    Minimises ``||L||_tnn + lam ||S||_1`` subject to ``W = L + S`` (Lu et al. 2020, Eq. 20) by ADMM,
    with the transform along the views and the nuclear norms of the n x n slices divided by v.

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

    Examples
    --------
    >>> from mvsc_fast.methods import TRPCA
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> TRPCA(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    lam: float | None = None
    view_transform: ViewTransform | Shaped = "dft"
    tol: float = 1e-8
    max_iter: int = 500

    _arrays = (7, 12)
    _checks = {
        **RecoveryClusterer._checks,
        "lam": either(None, positive),
        "view_transform": check_view_transform,
    }

    def _recover(self, W, n_threads, progress):
        run = self._begin(progress)
        return _low_tubal_rank(W, run, self.lam, self.view_transform, n_threads), run


def _low_tubal_rank(W, run, lam, view_transform, n_threads):
    """The low-rank part of W, by the iteration of `TRPCA`."""
    v, n = W.shape[:2]
    lam = 1.0 / np.sqrt(n * v) if lam is None else lam
    transform = resolve_view_transform(view_transform, v, W.dtype)
    basis = transform.inverse(np.eye(v), axis=0).astype(np.float64)

    L, S, Y = (np.zeros_like(W) for _ in range(3))
    X = transform.forward(W, axis=0)
    for mu in run:
        transform.shrink_frontal(X, 1.0 / mu, symmetric=True)  # as W and all iterates are
        change = trpca_pass(
            W, L, S, Y, X, basis, lam=lam, mu=mu, mu_next=run.next_mu, n_threads=n_threads
        )
        run.record(change)
    return (L + L.transpose(0, 2, 1)) / 2
