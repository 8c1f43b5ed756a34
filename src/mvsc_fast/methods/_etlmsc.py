"""ETLMSC: essential tensor learning for multi-view spectral clustering (Wu et al. 2019)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .._utils.parameters import InvalidParameterError, check_integer, either, positive
from .._utils.types import Callback, Estimator, Scale, Seed, Shaped
from ..similarity import _dense as graphs
from ..solvers._representation import DOUBLING
from ..solvers._transforms import SampleTransform
from ._representation import SampleTransformClusterer


def _check_axis(value, name):
    if check_integer(value, name, 0) > 1:
        raise InvalidParameterError(f"{name} must be 0 or 1, got {value}")
    return int(value)


class ETLMSC(SampleTransformClusterer):
    """Clustering by ETLMSC: the essential tensor of random walks on all views.

    P_i is the transition matrix of a Gaussian kernel of the features, which are not scaled
    (`similarity.rbf`, rows scaled to sum 1). The method minimises ``||Z||_tnn + lam
    ||[E_1; ...; E_V]||_{2,1}`` subject to ``P = Z + E`` (Wu et al. 2019, Eq. 11) by ADMM with
    penalties that double every iteration.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    lam : float, optional
        Weight of the misfit. None is ``11 / n``, the published 0.0055 at n = 2000: the entries of P
        scale as 1 / n, and so does a suitable lam. Published values range from 6 / n to 22 / n.
    sample_transform : {"graph", "dft", "identity"}, ndarray or estimator, default="graph"
        The transform along the samples in the tensor norm. "graph" uses the eigenvectors of a
        similarity graph, which do not depend on the order of the samples. **The published "dft"
        depends on that order**; use it to reproduce published tables. An orthonormal matrix defines
        the basis by its columns. If an estimator is given, as in
        ``sample_transform=TLRR(n_clusters)``, the basis consists of the eigenvectors of its
        affinity matrix.
    axis : {0, 1}, default=0
        Axis of Z along which the transform is applied: 0 (rows), as in the released code for most
        data sets, or 1 (columns), as for UCI-digit. With 0 no transforms are needed during the
        iterations.
    tol : float, default=1e-6
        Tolerance on the largest entry of P - Z - E and of the changes of Z and E.
    max_iter : int, default=200
        Maximum number of iterations; 15 to 25 are usually sufficient.
    n_init : int, default=20
        Number of k-means initialisations; the best is kept.
    scale : {"standard"}, optional
        "standard" brings every column to mean 0 and standard deviation 1, for columns that measure
        different quantities or have very different ranges. Columns of sparse views are divided by
        their standard deviation and not centred, so that zeros remain zeros; constant columns are
        only centred. Missing rows and cells are ignored. None, because columns of counts,
        histograms, term weights, spectra, pixels and learned embeddings are comparable as they are.
    random_state : int or RandomState, optional
        Pass an int for reproducible labels.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs that are free.
        Labels do not depend on it. AWP, DiMSC, LMSC, LTMSC, MCLES, SCMV3DT and UtSVDMSC always use
        one thread.
    verbose : int, default=0
        If 1, print each stage with the elapsed time and, for long stages, their progress to
        standard error. On a terminal a progress bar is shown if tqdm is installed.
    callback : callable, optional
        Function that is called with an `IterationState` at the start of every stage (iteration 0)
        and after every iteration. If it returns True, the stage stops with its current result; if
        it raises an exception, the fit is aborted. A clone gets a copy of it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, from 0.
    view_support_ : ndarray of shape (n_views,)
        Adjusted mutual information between the labels and those predicted from the graph of each
        view alone: how far the labels follow the view. Around 0 for a noise view beside others that
        show the clusters, .2 to .8 if all is noise. Computed on at most 1000 samples.
    view_names_in_ : list
        Keys if `fit` was given a dict of views, else 0, 1, ...
    n_features_in_ : int
        Total number of features of all views.
    n_features_per_view_ : list of int
        Number of features of each view.
    feature_names_in_ : ndarray of str, or list with one array per view
        Column names. Defined only if a view is a data frame whose column names are all strings; in
        a list, None stands for every other view.
    scaling_ : list of tuple of (ndarray, ndarray)
        Means and standard deviations of the columns of each view, by which they are scaled: means
        of sparse views are 0, deviations of constant columns 1. Defined only with a ``scale``, or
        if squares of the entries of a view cannot be represented: without a ``scale``, such a view
        is divided by a power of two.
    warnings_ : list of str
        Warnings of the fit.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the normalised affinity matrix, rows scaled to unit length.
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        ``|Z| + |Z|^T``.
    similarity_ : ndarray of the shape of ``tensor_``
        The same array as ``tensor_``: the method learns its similarities.
    representation_ : ndarray of shape (v, n_samples, n_samples)
        Z; column k holds the coefficients of sample k.
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        Sum of the slices of ``tensor_``.
    n_iter_ : int
        Number of iterations of the solver.
    converged_ : bool
        Whether the residual reached ``tol``.
    history_ : dict of ndarray
        ``residual``, which is compared with ``tol`` (or a cheaper lower bound, if that exceeds
        ``tol``), and ``seconds`` since the start, after every iteration.

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

    _arrays = (10, 4)
    _checks = {
        **SampleTransformClusterer._checks,
        "lam": either(None, positive),
        "axis": _check_axis,
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        lam: float | None = None,
        sample_transform: SampleTransform | Shaped | Estimator = "graph",
        axis: Literal[0, 1] = 0,
        tol: float = 1e-6,
        max_iter: int = 200,
        n_init: int = 20,
        scale: Scale | None = None,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.sample_transform = sample_transform
        self.axis = axis
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.scale = scale
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose
        self.callback = callback

    def _learn(self, views, seed, n_threads, progress):
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
