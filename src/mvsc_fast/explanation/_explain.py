"""The explanation of a fitted model and the function that computes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from .._utils.threads import blas_threads
from .._utils.types import Estimator, FloatArray, IntArray, Views
from ..judge import ClusterCounts
from ..judge._landmarks import margins_of
from ..judge._ridge import adjusted_mutual_information, judge_of, one_hot
from ..judge._support import MIN_Z, ViewGraphs
from ..spectral._cut import simplified_silhouette
from ..views._passes import LEAST_PRESENT
from ..views._rows import is_constant, missing_rows, observed
from ._fitted import embedding_of, fitted_with, neighbor_votes, takes_similarities
from ._panels import plot_explanation
from ._paragraph import describe_choice, methods_paragraph
from ._structure import StructureTest
from ._survival import Survival, compare_survival
from ._table import Table
from ._text import explained_text

# Share of the samples that are reported as least certain. On sixteen data sets it contains 55 % of
# the misplaced samples, and 37 % of the reported samples are misplaced: bench/margins.py.
LEAST_CERTAIN = 0.1


@dataclass(repr=False)
class Explanation:
    """Result of `explain`; printing it shows the text.

    Attributes
    ----------
    method : str
        Name of the estimator.
    n_samples : int
        Number of samples.
    labels : ndarray of shape (m,)
        Cluster of each clustered sample, from 0.
    samples : ndarray of shape (m,)
        Indices of the clustered samples: all, unless the fit used a subsample.
    clusters : ndarray of shape (c,)
        The label of each cluster in ``labels_``.
    sizes : ndarray of shape (c,)
        Number of samples in each cluster, including those that were not clustered.
    ids : ndarray of shape (n_samples,)
        Names of the samples, or their indices.
    predictable_share : ndarray of shape (c,) or None
        Share of the samples of each cluster whose label is predicted from all other samples.
    predictability : float or None
        `label_predictability` of the labels, an adjusted mutual information. For precomputed
        similarities, the same score of the prediction from neighbours.
    embedding : ndarray of shape (m, k) or None
        ``embedding_`` of the model, or the spectral embedding of its ``affinity_matrix_``.
    silhouette : ndarray of shape (c,) or None
        Mean simplified silhouette in the embedding, see `spectral.simplified_silhouette`.
    margin : ndarray of shape (m,) or None
        Margin of each sample: 1 if only its own cluster has a positive score, 0 if it is halfway to
        another cluster, negative if it is nearer to that cluster.
    other : ndarray of shape (m,) or None
        The nearest other cluster of each sample, as a label from 0.
    certainty : ndarray of shape (m,) or None
        Mean of the margin and of the share of the candidate labellings, with clusters matched one
        to one, in which the sample is in its cluster; the margin if there are no candidates.
    uncertain : ndarray of int
        The tenth of the clustered samples with the smallest certainty, in ascending order. Samples
        with a certainty of 1 are not among them.
    view_names : list
        Names of the views, or their indices if they have no names.
    view_features : list of int
        Number of features of each view, if it is known.
    view_missing : ndarray of shape (n_views,) or None
        Number of samples that lack each view.
    n_incomplete : int or None
        Number of samples that lack at least one view.
    view_support, view_agreement : ndarray of shape (n_views,), (n_views, n_views), or None
        See `view_support_` of the estimators and `view_agreement_` of `ConsensusTLRR`.
    excluded_views : dict
        Views that the fit excluded, by name, with the reason.
    candidates : dict of ndarray or None
        ``candidates_`` of `ConsensusTLRR`.
    agreement : ndarray or None
        Normalised mutual information of each candidate with the labels.
    counts : ClusterCounts or None
        The suggestion of the number of clusters.
    structure : StructureTest or None
        The test whether the views show any structure.
    survival : Survival or None
        Comparison of the survival of the clusters.
    warnings : list of str
        Warnings of the fit: ``warnings_`` of the model.
    run : dict of str
        The processing before the fit, by title: ``run_`` of the model.
    choices : list of str
        Sentences that describe how the labels were chosen.
    unknown : list of str
        Sentences that explain which results are not available.
    methods_paragraph : str
        Paragraph for the methods section of a publication: data, processing, parameters, versions
        and citation.
    """

    method: str
    n_samples: int
    labels: IntArray
    samples: IntArray
    clusters: NDArray[Any]
    sizes: IntArray
    ids: NDArray[Any]
    view_names: list[Any]
    view_features: list[int] = field(default_factory=list)
    view_missing: IntArray | None = None
    n_incomplete: int | None = None
    view_support: FloatArray | None = None
    view_agreement: FloatArray | None = None
    excluded_views: dict[Any, str] = field(default_factory=dict)
    predictable_share: FloatArray | None = None
    predictability: float | None = None
    embedding: FloatArray | None = None
    silhouette: FloatArray | None = None
    margin: FloatArray | None = None
    certainty: FloatArray | None = None
    other: IntArray | None = None
    uncertain: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    candidates: dict[str, NDArray[Any]] | None = None
    agreement: FloatArray | None = None
    counts: ClusterCounts | None = None
    structure: StructureTest | None = None
    survival: Survival | None = None
    warnings: list[str] = field(default_factory=list)
    run: dict[str, str] = field(default_factory=dict)
    choices: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    methods_paragraph: str = ""

    def __str__(self):
        return explained_text(self)

    __repr__ = __str__

    def plot(self) -> NDArray[Any]:
        """Plot the explanation, see `plot_explanation`."""
        return plot_explanation(self)

    def table(self, samples: ArrayLike | None = None) -> Table:
        """Cluster, second cluster, margin and certainty of each clustered sample, with its id.

        Parameters
        ----------
        samples : array-like of int, optional
            Indices of clustered samples, such as ``uncertain``; by default ``samples``.

        Returns
        -------
        Table
            ``second`` is the nearest other cluster. Columns that are unknown are omitted.
        """
        samples = self.samples if samples is None else np.asarray(samples)
        rows = np.searchsorted(self.samples, samples)
        columns = {"sample": self.ids[samples], "cluster": self.clusters[self.labels[rows]]}
        if self.margin is not None and self.other is not None:
            columns["second"] = self.clusters[self.other[rows]]
            columns["margin"] = self.margin[rows]
            if self.certainty is not None and self.certainty is not self.margin:
                columns["certainty"] = self.certainty[rows]
        return Table(columns)


def explain(
    model: Estimator,
    views: Views | None = None,
    *,
    ids: ArrayLike | None = None,
    counts: ClusterCounts | None = None,
    structure: StructureTest | None = None,
    survival: ArrayLike | None = None,
) -> Explanation:
    """Explain the labels of a fitted model by a text, statistics and a plot.

    Parameters
    ----------
    model : estimator
        A fitted clusterer with ``labels_``, or a pipeline that ends in one. `ConsensusTLRR` and
        `TLRR` give the most details.
    views : list or dict of array-like of shape (n_samples, n_features_i), optional
        The views on which the model, or the pipeline, was fitted, in any form that `fit` accepts;
        samples may lack views. Without them, predictability and margins are computed from
        neighbours alone, and the reasons for excluding views are not available. Ignored if the
        model was fitted on precomputed similarities.
    ids : array-like of shape (n_samples,), optional
        Names of the samples. By default the index of the views that are data frames, or numbers.
    counts : ClusterCounts, optional
        Result of `suggest_n_clusters`, if it determined the number of clusters.
    structure : StructureTest, optional
        Result of `structure_test`, which is then shown first.
    survival : array-like or data frame of shape (n_samples, 2), optional
        Time and event of each sample, which `compare_survival` compares between the clusters. The
        index of a data frame must be that of the samples.

    Returns
    -------
    Explanation
        Its representation is the text; its method ``plot`` draws the plot.

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If it has no ``labels_``, or the views are not those of `fit`.

    Notes
    -----
    The score of sample i for cluster k is ``s_ik``, the leave-one-out ridge prediction of
    one-hot(labels) / sqrt(cluster size) from the third feature map of `label_predictability`, which
    `ConsensusTLRR` also uses to label new samples. Without views it is the mean of
    one-hot(labels) / sqrt(cluster size) over the neighbours of i in ``affinity_matrix_``. Negative
    scores are set to 0. The margin of sample i in cluster a is
    ``(s_ia - s_ib) / max(s_ia, s_ib)``, where b is the other cluster with the largest score.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets, explain
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> found = explain(ConsensusTLRR(3, random_state=0).fit(views), views)
    >>> print(str(found).splitlines()[0])
    ConsensusTLRR: 90 samples in 3 clusters, 3 views
    >>> found.predictable_share.shape
    (3,)
    """
    return explained(fitted_with(model, views), ids, counts, structure, survival)


def explained(fit, ids=None, counts=None, structure=None, survival=None):
    """The `Explanation` of a `Fitted`, see `explain`."""
    model, views, samples = fit.model, fit.lifted, fit.samples
    clusters, labels = np.unique(fit.labels[samples], return_inverse=True)
    names, sizes = np.unique(fit.labels, return_counts=True)  # -1 for samples without any view
    ids = fit.ids if ids is None else np.asarray(ids)
    if ids.shape != fit.labels.shape:
        raise ValueError(f"ids has shape {ids.shape}, expected {fit.labels.shape}")
    if survival is not None:
        named = not np.array_equal(ids, np.arange(len(ids)))
        survival = compare_survival(fit.labels, survival, ids if named else None)
    found = Explanation(
        method=type(model).__name__,
        n_samples=len(fit.labels),
        labels=labels,
        samples=samples,
        clusters=clusters,
        sizes=sizes[np.searchsorted(names, clusters)],
        ids=ids,
        view_names=fit.names,
        view_support=getattr(model, "view_support_", None),
        view_agreement=getattr(model, "view_agreement_", None),
        counts=counts,
        structure=structure,
        survival=survival,
        warnings=list(getattr(model, "warnings_", [])),
        run=dict(getattr(model, "run_", {})),
    )
    with blas_threads(1):
        _evaluate_clusters(found, model, views)
        _describe_views(found, fit)
    describe_choice(found, model)
    found.methods_paragraph = methods_paragraph(found, model, fit.steps)
    return found


def _evaluate_clusters(found, model, views):
    """Evaluate the clusters, and find the samples between them."""
    embedding = found.embedding = embedding_of(model, len(found.clusters))
    c, labels = len(found.clusters), found.labels
    if c < 2:
        found.unknown.append("There is only one cluster, so it cannot be compared.")
        return
    if embedding is None:
        found.unknown.append(
            f"{found.method} has neither embedding_ nor affinity_matrix_: no silhouette."
        )
    else:
        s = simplified_silhouette(embedding, labels)
        found.silhouette = _by_cluster(s, labels, c)
    Y = one_hot(labels, c)
    if views is None:
        votes = neighbor_votes(getattr(model, "affinity_matrix_", None))
        if votes is None:
            found.unknown.append(
                f"{found.method} has no affinity_matrix_: use explain(model, views) for the "
                "predictability of the labels and the samples between two clusters."
            )
            return
        scores = votes(Y)
        given, predicted = labels, scores.argmax(axis=1)
        found.predictability = adjusted_mutual_information(labels, predicted)
        if not takes_similarities(model):
            found.unknown.append(
                "Predictability and margins are computed from neighbors in the affinity matrix "
                "alone; explain(model, views) also uses the features of the views."
            )
    else:
        used = getattr(model, "views_used_", range(len(views)))
        judge, order = judge_of([views[i] for i in used])
        sorted_labels = labels[order].astype(np.int64)
        found.predictability = float(judge([sorted_labels], c, adjusted_mutual_information)[0])
        scores = np.empty_like(Y)
        scores[order] = judge.ridge.predict(Y[order])
        predictions = judge.predictions([sorted_labels], c)
        given, predicted = (
            np.concatenate([labellings[0] for labellings in parts])
            for parts in zip(*predictions, strict=True)
        )
    found.predictable_share = _by_cluster(predicted == given, given, c)
    found.margin, found.other = margins_of(scores, labels)
    found.certainty = found.margin
    candidates = getattr(model, "candidates_", None) or {}
    if "labels" in candidates:  # they may not be stored
        columns = np.searchsorted(model.samples_, found.samples)
        same = _same_cluster(candidates["labels"][:, columns], labels)
        found.certainty = (found.margin + same) / 2
    least = np.argsort(found.certainty, kind="stable")[: round(LEAST_CERTAIN * len(labels))]
    found.uncertain = found.samples[least[found.certainty[least] < 1]]


def _by_cluster(values, labels, n_clusters):
    """Mean of the values over each cluster; NaN for an empty cluster."""
    sizes = np.bincount(labels, minlength=n_clusters)
    sums = np.bincount(labels, weights=values, minlength=n_clusters)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), np.nan)


def _same_cluster(labellings, labels):
    """Share of the labellings that agree with the label of each sample, clusters matched."""
    same = np.zeros(len(labels))
    for one in labellings:
        ours, theirs = linear_sum_assignment(contingency_matrix(labels, one), maximize=True)
        partner = np.full(labels.max() + 1, -1)
        partner[ours] = np.unique(one)[theirs]
        same += partner[labels] == one
    return same / len(labellings)


def _describe_views(found, fit):
    """Find the size and the support of every view, and the reasons for excluding views."""
    model, views = fit.model, fit.lifted
    found.view_features = getattr(model, "n_features_per_view_", [])
    if views is not None:
        found.view_features = fit.source.n_features
        missing = fit.source.sum(_missing)
        found.view_missing, found.n_incomplete = missing[:-1], int(missing[-1])
    if found.view_support is None and views is not None and len(found.clusters) > 1:
        found.view_support = ViewGraphs(views).support(found.labels)
    if found.view_support is None:
        found.unknown.append(
            f"{found.method} has no view_support_: use explain(model, views) for the support of "
            "each view."
        )
    used = getattr(model, "views_used_", None)
    aside = [] if used is None else [i for i in range(len(found.view_names)) if i not in used]
    if not aside:
        return
    if views is None:
        reasons = {i: "constant, or noise without repeated structure" for i in aside}
        found.unknown.append(
            "Use explain(model, views) for the precise reasons why views were excluded."
        )
    else:
        graphs = ViewGraphs(views, lifts=fit.lifts)
        known, across = observed(views), np.fmax.reduce(graphs.agreement, axis=1)
        reasons = {}
        for i in aside:
            if known[i].shape[0] < LEAST_PRESENT:
                reasons[i] = f"fewer than {LEAST_PRESENT} of the clustered samples have it"
            elif is_constant(known[i]):
                reasons[i] = "all samples are equal"
            else:
                reasons[i] = (
                    f"noise: z of its graph is {across[i]:.1f} with other views and "
                    f"{graphs.own(i):.1f} between halves of its columns, both below {MIN_Z:g}"
                )
    found.excluded_views = {found.view_names[i]: reason for i, reason in reasons.items()}


def _missing(first, views):
    """Number of samples of a block that lack each view, and of those that lack any view."""
    missing = np.array([missing_rows(X) for X in views])
    return np.array([*missing.sum(axis=1), missing.any(axis=0).sum()])
