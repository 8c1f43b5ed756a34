"""ETLMSC: essential tensor learning for multi-view spectral clustering (Wu et al. 2019)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .._utils.parameters import InvalidParameterError, check_integer, either, positive
from ..similarity import _dense as graphs
from ..solvers._representation import DOUBLING
from ._representation import SampleTransformClusterer


def _check_axis(value, name):
    if check_integer(value, name, 0) > 1:
        raise InvalidParameterError(f"{name} must be 0 or 1, got {value}")
    return int(value)


@dataclass(eq=False, repr=False, kw_only=True)
class ETLMSC(SampleTransformClusterer):
    """Clustering by ETLMSC: the essential tensor of random walks on all views.

    P_i is the transition matrix of a Gaussian kernel of the features, which are not scaled
    (`similarity.rbf`, rows scaled to sum 1). The method minimises ``||Z||_tnn + lam
    ||[E_1; ...; E_V]||_{2,1}`` subject to ``P = Z + E`` (Wu et al. 2019, Eq. 11) by ADMM with
    penalties that double every iteration.

    Parameters
    ----------
    lam : float, optional
        Weight of the misfit. None is ``11 / n``, the published 0.0055 at n = 2000: the entries of P
        scale as 1 / n, and so does a suitable lam. Published values range from 6 / n to 22 / n.
    axis : {0, 1}, default=0
        Axis of Z along which the transform is applied: 0 (rows), as in the released code for most
        data sets, or 1 (columns), as for UCI-digit. With 0 no transforms are needed during the
        iterations.
    tol : float, default=1e-6
        Tolerance on the largest entry of P - Z - E and of the changes of Z and E.
    max_iter : int, default=200
        Maximum number of iterations; 15 to 25 are usually sufficient.

    References
    ----------
    Wu, Lin, Zha: Essential tensor learning for multi-view spectral clustering. IEEE TIP 28(12),
    2019.

    Examples
    --------
    >>> from mvsc_fast.methods import ETLMSC
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> ETLMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    lam: float | None = None
    axis: Literal[0, 1] = 0
    tol: float = 1e-6
    max_iter: int = 200

    _arrays = (10, 4)
    _checks = {
        **SampleTransformClusterer._checks,
        "lam": either(None, positive),
        "axis": _check_axis,
    }

    def _represent(self, views, seed, n_threads, progress):
        lam = 11.0 / views[0].shape[0] if self.lam is None else self.lam
        transform = self._transform(views, seed, n_threads)
        run = self._begin(progress, mu=1e-2, **DOUBLING)
        Z = _essential_tensor(views, run, lam, transform, self.axis, n_threads)
        return run, {"representation_": Z}


def _essential_tensor(views, run, lam, transform, axis, n_threads):
    """Z, by the iteration of `ETLMSC`."""
    # Transition probabilities of a random walk in each view.
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
    # Z gets the low-rank part, E the columns of noise, and the multiplier what neither explains.
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
        # The residual is the largest entry in the original coordinates: cheap bounds come first.
        run.record(*_largest_entry((change, y, former), restore))
        y = F
        y /= run.growth
    Z = restore(Z)
    if axis == 1:
        Z = np.ascontiguousarray(Z.transpose(0, 2, 1))
    return Z


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
