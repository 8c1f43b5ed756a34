"""Relations of all samples of a fitted model: their joint graph, and the weights of their views."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.special import softmax
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.extmath import randomized_svd

from .._utils.parameters import check_integer
from .._utils.threads import use_threads
from .._utils.types import Estimator, FloatArray, Views
from ..judge._landmarks import N_LANDMARKS, LandmarkFeatures, margins_of
from ..judge._ridge import REGRESSED, LeaveOneOutRidge, one_hot
from ..spectral._leiden import edge_weights
from ..views._missing import imputed, mean_row
from ..views._rows import canonical_order, missing_rows, spread
from ..views._scaling import scaled
from ..views._view_rows import ViewRows
from ._fitted import fitted_with

N_COMPONENTS = 50  # of the embedding, as many as scanpy's principal components
LEAST_WEIGHT = 1e-3  # of an edge, which would else be zero if one end is in a dense region


class Relations(NamedTuple):
    """A row for each sample, float32; NaN for samples without any used view."""

    margin: np.ndarray  # see `Explanation`
    weights: np.ndarray  # see `view_weights`
    embedding: np.ndarray  # principal components of the features from which labels are predicted
    known: np.ndarray  # indices of the clustered samples with a label


def relations_of(fit):
    """The `Relations` of a `Fitted`: leave-one-out for clustered samples, predicted for others."""
    if fit.views is None:
        raise ValueError("relations are computed from features: pass the views, not similarities")
    there = fit.labels[fit.samples] >= 0
    known, labels = fit.samples[there], fit.labels
    n, c = len(labels), int(labels.max()) + 1
    used = list(getattr(fit.model, "views_used_", range(len(fit.views))))
    scaling_of_view = getattr(fit.model, "scaling_", [None] * len(fit.views))
    given = [fit.lifted[i][there] for i in used]
    complete = imputed(given)
    order = canonical_order(complete)
    rows = [ViewRows(X[order]) for X in complete]
    Y = one_hot(labels[known[order]], c)
    landmarks, regressed = spread(len(order), N_LANDMARKS), spread(len(order), REGRESSED)
    predictors, scores = [], []
    for views in [range(len(used)), *([i] for i in range(len(used)))]:  # together, then alone
        features = LandmarkFeatures([rows[i] for i in views], landmarks)
        F = features.of_fitted()
        ridge = LeaveOneOutRidge(F, regressed, features.rank)
        B, out = ridge.coefficients(Y), ridge.predict(Y)
        if not predictors:
            axes = randomized_svd(F, min(N_COMPONENTS, *F.shape), random_state=0)[2].T
            B, out = np.hstack([B, axes]), np.hstack([out, F @ axes])
        inputs = [used[i] for i in views]
        scalings = [scaling_of_view[i] for i in inputs]
        means = scaled([fit.views[i][there] for i in inputs], scalings)
        means = [mean_row(X) for X in means]
        lifts = [fit.lifts[i] for i in inputs]
        predictors.append(features.predictor(B, inputs, means, lifts=lifts, scalings=scalings))
        scores.append(out[np.argsort(order)])
    roots = np.sqrt(np.bincount(labels[known], minlength=c)).astype(np.float32)
    found = np.empty((n, 1 + len(used) + axes.shape[1]), dtype=np.float32)
    if len(known) < n:
        form = np.dtype([("found", np.float32, found.shape[1:])])
        with use_threads(getattr(fit.model, "n_threads", None), n) as n_threads:
            n_threads = fit.source.threads(n_threads)
            blocks = fit.source.per_row(_block, form, predictors, used, labels, roots, n_threads)
            found[:] = np.asarray(blocks)["found"]
    found[known] = _columns(scores, given, labels[known], roots)
    found[labels < 0] = np.nan
    margin, own, embedding = np.split(found, [1, 1 + len(used)], axis=1)
    weights = np.zeros((n, len(fit.views)), dtype=np.float32)
    weights[:, used] = softmax(own, axis=1)
    return Relations(margin[:, 0], weights, embedding, known)


def _block(first, views, predictors, used, labels, roots, n_threads):
    """The `_columns` of a block of rows."""
    labels = labels[first : first + views[0].shape[0]]
    scores = [predictor.scores(views, n_threads) for predictor in predictors]
    found = _columns(scores, [views[i] for i in used], labels, roots)
    return found.view([("found", np.float32, found.shape[1:])])[:, 0]


def _columns(scores, views, labels, roots):
    """Margins, scores of the labels in each view alone, and the embedding, side by side.

    Scores are those of all views together, with the embedding, and then of each view alone.
    """
    (joint, *alone), c = scores, len(roots)
    samples = np.arange(len(labels))
    margin, _ = margins_of(joint[:, :c], labels)
    own = [out[samples, labels] * roots[labels] for out in alone]
    for values, X in zip(own, views, strict=True):
        values[missing_rows(X)] = -np.inf
    return np.column_stack([margin, *own, joint[:, c:]]).astype(np.float32)


def graphs_of(fit, relations, n_neighbors):
    """The joint graph, and the distances to the nearest clustered samples in the embedding."""
    n, known, Z = len(fit.labels), relations.known, relations.embedding
    k = min(n_neighbors, len(known) - 1)
    search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(Z[known])
    others = np.setdiff1d(np.flatnonzero(fit.labels >= 0), known)
    rows, found = known, [search.kneighbors()]
    if len(others):
        rows, found = np.concatenate([known, others]), [*found, search.kneighbors(Z[others])]
    distance, nearest = map(np.concatenate, zip(*found, strict=True))
    pairs = np.repeat(rows, k), known[nearest.ravel()]
    distances = scipy.sparse.csr_array((distance.ravel(), pairs), shape=(n, n))

    affinity, joined = getattr(fit.model, "affinity_matrix_", None), np.zeros(n, dtype=bool)
    graph = scipy.sparse.csr_array((n, n), dtype=np.float32)
    if scipy.sparse.issparse(affinity):
        A = edge_weights(affinity).tocoo()
        ends = fit.samples[A.row], fit.samples[A.col]
        graph = scipy.sparse.csr_array((A.data, ends), shape=(n, n))
        joined[ends[0]] = True
    scale = np.ones(n)
    scale[rows] = np.maximum(distance[:, -1], np.finfo(np.float32).tiny)
    weights = np.exp(-(distance.ravel() ** 2) / (scale[pairs[0]] * scale[pairs[1]]))
    new = ~joined[pairs[0]]
    weights, ends = np.maximum(weights, LEAST_WEIGHT)[new], (pairs[0][new], pairs[1][new])
    near = scipy.sparse.csr_array((weights, ends), shape=(n, n))
    graph = graph.maximum(near.maximum(near.T)).minimum(1)
    return graph.astype(np.float32), distances


def joint_graph(model: Estimator, views: Views, *, n_neighbors: int = 15) -> scipy.sparse.csr_array:
    """Weighted graph of all samples, which clusterings and embeddings of graphs can start from.

    Clustered samples (``samples_``) are joined as in ``affinity_matrix_``, if the model has one
    that is sparse. All others are joined with their nearest clustered samples, in the principal
    components of the features from which labels are predicted. The cost is linear in the number of
    samples.

    Parameters
    ----------
    model : estimator
        A fitted clusterer with ``labels_``, or a pipeline that ends in one.
    views : list or dict of array-like of shape (n_samples, n_features_i)
        The views on which the model, or the pipeline, was fitted, in any form that `fit` accepts.
    n_neighbors : int, default=15
        Number of clustered samples with which every other sample is joined.

    Returns
    -------
    csr_array of shape (n_samples, n_samples), float32
        Symmetric, without a diagonal; weights are in (0, 1]. Samples without any view that is used
        have no edge.

    Raises
    ------
    ValueError
        If the views are not those of `fit`.

    Notes
    -----
    An affinity is divided by the roots of the largest affinities of both samples. The weight of
    another edge is ``exp(-d^2 / (t_i t_j))``, at least .001, where t is the distance of a sample to
    the last of its neighbours.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> from mvsc_fast.explanation import joint_graph
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = ConsensusTLRR(3, random_state=0).fit(views)
    >>> joint_graph(model, views).shape
    (90, 90)
    """
    n_neighbors = check_integer(n_neighbors, "n_neighbors", 1)
    fit = fitted_with(model, views)
    return graphs_of(fit, relations_of(fit), n_neighbors)[0]


def view_weights(model: Estimator, views: Views) -> FloatArray:
    """How well each view alone predicts the label of each sample, in comparison with the others.

    The weights describe the labels; the fit does not use them.

    Parameters
    ----------
    model, views
        As for `joint_graph`.

    Returns
    -------
    ndarray of shape (n_samples, n_views), float32
        The softmax over views of the score of the sample's label, which ridge regression predicts
        from all other samples in one view. A score is about 1 if the view determines the label, and
        about the share of the cluster if it has no information on it. Rows sum to 1; the weight is
        0 in views that are excluded or that the sample lacks.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets
    >>> from mvsc_fast.explanation import view_weights
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = ConsensusTLRR(3, random_state=0).fit(views)
    >>> view_weights(model, views).shape
    (90, 3)
    """
    return relations_of(fitted_with(model, views)).weights
