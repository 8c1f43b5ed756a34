"""ETLMSC: essential tensor learning for multi-view spectral clustering (Wu et al. 2019)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .._utils.parameters import check_integer, either, positive
from .._utils.types import Callback, Shaped, Views
from ..similarity import _dense as graphs
from ..views import check_views
from ._method import method
from ._representation import MU_MAX
from ._results import RepresentationResult
from ._run import Run
from ._transforms import SampleTransform, check_sample_transform, resolve_sample_transform


def _check_axis(value, name):
    if check_integer(value, name, 0) > 1:
        raise ValueError(f"{name} must be 0 or 1, got {value}")
    return int(value)


@method(
    check_views,
    lam=either(None, positive),
    sample_transform=check_sample_transform,
    axis=_check_axis,
)
def etlmsc(
    views: Views,
    *,
    lam: float | None = None,
    sample_transform: SampleTransform | Shaped = "graph",
    axis: Literal[0, 1] = 0,
    tol: float = 1e-6,
    max_iter: int = 200,
    mu: float = 1e-2,
    n_threads: int | None = None,
    callback: Callback | None = None,
) -> RepresentationResult:
    """Learn the essential tensor of the random walks on all views.

    P_i is the transition matrix of a Gaussian kernel (`similarity.rbf`, rows scaled to sum 1).
    Minimises ``||Z||_tnn + lam ||[E_1; ...; E_V]||_{2,1}`` subject to ``P = Z + E`` (Wu et al.
    2019, Eq. 11) by ADMM with penalties that double every iteration.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
        Features, which are not scaled.
    lam : float, optional
        Weight of the misfit. None is ``11 / n``, the published 0.0055 at n = 2000: the entries of P
        scale as 1 / n, and so does a suitable lam. Published values range from 6 / n to 22 / n.
    sample_transform : {"graph", "dft", "identity"} or ndarray of shape (n, n), default="graph"
        The transform along the samples, see `tsvd_msc`. **The published "dft" depends on the
        order of the samples.**
    axis : {0, 1}, default=0
        Axis of Z along which the transform is applied: 0 (rows), as in the released code for most
        data sets, or 1 (columns), as for UCI-digit. With 0 no transforms are needed during the
        iterations.
    tol : float, default=1e-6
        Tolerance on the largest entry of P - Z - E and of the changes of Z and E.
    max_iter : int, default=200
        Maximum number of iterations; 15 to 25 are usually sufficient.

    Returns
    -------
    RepresentationResult
        ``representation`` Z, signed, and ``tensor`` ``|Z| + |Z|^T``, of shape
        (v, n, n).

    References
    ----------
    Wu, Lin, Zha: Essential tensor learning for multi-view spectral clustering. IEEE TIP 28(12),
    2019.
    """
    lam = 11.0 / views[0].shape[0] if lam is None else lam
    transform = resolve_sample_transform(sample_transform, views)
    P = graphs.kernel_similarities(views)
    P /= P.sum(axis=2, keepdims=True)
    if axis == 0:
        # The transform does not change column lengths, so iterate in its coordinates.
        P = transform.forward(P, axis=1)
    else:
        P = np.ascontiguousarray(P.transpose(0, 2, 1))

    def shrink(T, t):
        if axis == 1:
            T = transform.forward(T, axis=1)
        transform.shrink(T, t, n_threads)
        return T if axis == 0 else transform.inverse(T, axis=1)

    def restore(T):
        return transform.inverse(T, axis=1) if axis == 0 else T

    Z, E, y = (np.zeros_like(P) for _ in range(3))  # y: multiplier over mu
    run = Run(tol, max_iter, callback, mu=mu, mu_max=MU_MAX)
    for mu in run:
        argument = P - E
        argument += y
        change, Z = Z, shrink(argument, 1.0 / mu)
        change -= Z
        F = P - Z
        F += y
        former, E = E, _shrink_lengths(F, lam / mu, axis)
        former -= E
        F -= E  # the new multiplier
        y -= F
        run.record(*_largest_entry((change, y, former), restore))
        y = F
        y /= run.growth
    Z = restore(Z)
    if axis == 1:
        Z = np.ascontiguousarray(Z.transpose(0, 2, 1))
    return RepresentationResult(Z, **run.outcome())


def _shrink_lengths(F, t, axis):
    """F with the length of every column (axis 0) or row (axis 1), over all slices, shrunk by t."""
    length = np.sqrt(np.einsum("ijk,ijk->k" if axis == 0 else "ijk,ijk->j", F, F))
    factor = 1.0 - t / np.maximum(length, t)
    return F * (factor if axis == 0 else factor[:, None])


def _largest_entry(tensors, restore):
    """Lower bounds of the largest entry, in order of increasing cost; the last is exact."""
    yield max(np.linalg.norm(T) for T in tensors) / np.sqrt(tensors[0].size)
    for columns in (slice(None, None, 16), slice(None)):
        for T in tensors:
            yield lambda T=T, columns=columns: np.abs(restore(T[:, :, columns])).max()
