"""The explanation of a fitted model and the function that computes it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from html import escape
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .. import __version__
from .._utils.figures import new_figure
from .._utils.messages import counted
from .._utils.parameters import InvalidParameterError, check_type
from .._utils.parts import Part, Table, format_value, page
from .._utils.threads import limited
from .._utils.types import Estimator, IntArray, Views
from .._utils.validation import output_path
from ..judge import ClusterCounts, StructureTest
from ..spectral._cut import simplified_silhouette
from ._bind import bind_views
from ._evidence import find_embedding, judge_labels, tabulate_views
from ._markers import find_markers, plot_markers
from ._plots import draw_bars, draw_certainty, plot_embedding, plot_similarity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Share of the samples that are reported as least certain. On sixteen data sets it contains half of
# the misplaced samples, and two of five of the reported samples are misplaced: bench/margins.py.
SHARE_UNCERTAIN = 0.1
N_MARKERS, N_DESCRIBED = 10, 4  # features of each view in the table, and of a cluster in words
MIN_EFFECT = 0.2  # of features that are worth a word: a small difference by Cohen's rule
MAX_MAPPED_CLUSTERS = 40  # whose map can be read


@dataclass(repr=False)
class Explanation:
    """Result of `explain`; printing it shows the text, and Jupyter shows its tables.

    Attributes
    ----------
    title : str
        The method, and the numbers of samples, clusters and views.
    clusters : Table
        A row for each cluster, with the columns

        * ``cluster``: its label in ``labels_``;
        * ``samples``: number of samples, including those that were not clustered, and ``share``;
        * ``predictable``: share of its samples whose label is predicted from all other samples;
        * ``silhouette``: mean simplified silhouette in the embedding (Hruschka, de Castro &
          Campello 2004), 1 far from other clusters, 0 or less between them.
    samples : Table
        A row for each sample, with the columns

        * ``sample``: its id, or its index, and ``cluster``: its label;
        * ``second``: the nearest other cluster;
        * ``margin``: 1 if only its own cluster has a positive score, 0 if it is halfway to another
          cluster, negative if it is nearer to that cluster;
        * ``certainty``: mean of the margin and of the share of the candidate labellings, with
          clusters matched one to one, in which the sample is in its cluster; the margin if there
          are no candidates.

        The last three are absent if they are unknown; they are NaN and "" for samples that were not
        clustered (``samples_``).
    uncertain : ndarray of int
        Indices of the tenth of the clustered samples with the smallest certainty, in ascending
        order. Samples with a certainty of 1 are not among them.
    views : Table or None
        A row for each view: its name, ``features``, the number of clustered ``samples without`` it,
        its ``support``, see `view_support_` of the estimators, its largest ``agreement`` with
        another view, see `view_agreement_` of `ConsensusTLRR`, and a ``remark`` if it was excluded
        or has little support.
    markers : Table or None
        The features that distinguish the clusters in each view, see `markers`.
    predictability : float or None
        `label_predictability` of the labels, an adjusted mutual information. For precomputed
        similarities, the same score of the prediction from neighbours.
    parts : list of Part
        What is shown. Each part has a ``title``, a ``table`` or None, ``sentences``, and
        ``pictures``, a dict of functions that draw on axes ``ax``.
    """

    title: str
    clusters: Table
    samples: Table
    uncertain: IntArray
    views: Table | None
    markers: Table | None
    predictability: float | None
    parts: list[Part]

    def __str__(self):
        return "\n\n".join([self.title, *map(str, self.parts)])

    __repr__ = __str__

    def _repr_html_(self, drawn=False):
        parts = (part.to_html(drawn=drawn) for part in self.parts)
        return f"<h1>{escape(self.title)}</h1>{''.join(parts)}"

    def plot(self) -> Figure:
        """Plot the clusters, a map, their markers, the certainty of samples and the views.

        Returns
        -------
        matplotlib.figure.Figure
            A new figure with the available pictures.
        """
        pictures = [picture for part in self.parts for picture in part.pictures.items()]
        n_rows = -(-len(pictures) // 2)
        grid = np.ravel(new_figure(10, 4.2 * n_rows, rows=n_rows, columns=min(2, len(pictures))))
        for (caption, draw), ax in zip(pictures, grid, strict=False):
            draw(ax=ax).set_title(fill(caption, 50), fontsize="medium")
        for ax in grid[len(pictures) :]:
            ax.set_axis_off()
        return grid[0].figure

    def write_report(self, path: str | PathLike[str], *, notes: Iterable[str] = ()) -> Path:
        """Write a self-contained page in HTML with all tables and pictures.

        Parameters
        ----------
        path : str or Path
        notes : list of str, default=()
            Lines to show at the end, such as how the data were processed.

        Returns
        -------
        Path

        Raises
        ------
        OSError
            If the folder does not exist, or the path is a folder.
        ImportError
            If matplotlib is not installed.
        """
        path, notes = output_path(path), list(notes)
        body = [self._repr_html_(drawn=True)]
        body += [Part("Notes", None, notes).to_html(drawn=False)] if notes else []
        body += [f"<p>mvsc_fast {__version__}, {time.strftime('%d %B %Y')}</p>"]
        path.write_text(page(self.title, body), encoding="utf-8")
        return path


@limited
def explain(
    model: Estimator,
    views: Views,
    *,
    ids: ArrayLike | None = None,
    counts: ClusterCounts | None = None,
    structure: StructureTest | None = None,
) -> Explanation:
    """Explain the labels of a fitted model by a text, tables, pictures and a report.

    Parameters
    ----------
    model : estimator
        A fitted clusterer with ``labels_``, or a pipeline that ends in one. `ConsensusTLRR` and
        `TLRR` give the most details.
    views : list or dict of array-like of shape (n_samples, n_features_i)
        The views on which the model, or the pipeline, was fitted, in any form that `fit` accepts;
        samples may lack views. If the model was fitted on precomputed similarities, predictability
        and margins are those of neighbours, and there are no markers.
    ids : array-like of shape (n_samples,), optional
        Names of the samples. By default the index of the views that are data frames, or numbers.
    counts : ClusterCounts, optional
        Result of `suggest_n_clusters`, which is then shown.
    structure : StructureTest, optional
        Result of `structure_test`, which is then shown first.

    Returns
    -------
    Explanation

    Raises
    ------
    NotFittedError
        If the model is not fitted.
    ValueError
        If it has no ``labels_``, or the views are not those of `fit`.

    Notes
    -----
    The score of sample i for cluster k is ``s_ik``, the leave-one-out ridge prediction of
    one-hot(labels) / sqrt(cluster size) from the second feature map of `label_predictability`,
    which `ConsensusTLRR` also uses to label new samples. For precomputed similarities it is the
    weighted sum of the same over the neighbours of i in ``affinity_matrix_``. Negative scores are
    set to 0. The margin of sample i in cluster a is ``(s_ia - s_ib) / max(s_ia, s_ib)``, where b is
    the other cluster with the largest score.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets, explain
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> explanation = explain(ConsensusTLRR(3, random_state=0).fit(views), views)
    >>> explanation.title
    'ConsensusTLRR: 90 samples in 3 clusters, 3 views'
    >>> list(explanation.clusters)
    ['cluster', 'samples', 'share', 'predictable', 'silhouette']
    """
    if counts is not None:
        check_type(counts, "counts", ClusterCounts)
    if structure is not None:
        check_type(structure, "structure", StructureTest)
    fit = bind_views(model, views)
    ids = fit.ids if ids is None else np.asarray(ids)
    if ids.shape != fit.labels.shape:
        raise InvalidParameterError(f"ids has shape {ids.shape}, expected {fit.labels.shape}")

    # Tables for users of the result.
    embedding, evidence = find_embedding(fit), judge_labels(fit)
    clusters = _tabulate_clusters(fit, evidence, embedding)
    samples = _tabulate_samples(fit, ids, evidence)
    uncertain = _least_certain(fit, evidence.certainty)
    view_table, marker_table = tabulate_views(fit), None
    if fit.views is not None and len(fit.clusters) > 1:
        marker_table = find_markers(fit, N_MARKERS)

    # What a reader sees, with doubts before all else, and what is not known at the end.
    largest = np.argsort(-clusters["samples"], kind="stable")
    by_size = Table({name: column[largest] for name, column in clusters.items()})
    parts = [] if structure is None else [_result_part("Structure", structure)]
    if warnings := list(getattr(fit.model, "warnings_", [])):
        parts.append(Part("Warnings of the fit", None, warnings))
    parts.append(_cluster_part(fit, by_size, evidence, embedding))
    if marker_table is not None:
        parts.append(_marker_part(by_size, marker_table))
    if evidence.margin is not None:
        parts.append(_certainty_part(fit, samples, uncertain, evidence))
    if view_table is not None:
        parts.append(_view_part(view_table))
    parts += [] if counts is None else [_result_part("Numbers of clusters", counts)]
    if structure is None:
        sentence = "Whether noise has as much structure is not known: structure_test tells."
        parts.append(Part("Structure", None, [sentence]))
    n_views = f", {counted(len(fit.names), 'view')}" if fit.names else ""
    title = f"{type(fit.model).__name__}: {counted(len(fit.labels), 'sample')} in "
    title += f"{counted(len(fit.clusters), 'cluster')}{n_views}"
    tables = clusters, samples, uncertain, view_table, marker_table
    return Explanation(title, *tables, evidence.predictability, parts)


# --------------------------------------------------------------------------------------- the tables


def _tabulate_clusters(fit, evidence, embedding):
    names, sizes = np.unique(fit.labels, return_counts=True)  # -1 for samples without any view
    sizes = sizes[np.searchsorted(names, fit.clusters)]
    columns = {"cluster": fit.clusters, "samples": sizes, "share": sizes / len(fit.labels)}
    if evidence.predictable is not None:
        columns["predictable"] = evidence.predictable
    if embedding is not None and len(fit.clusters) > 1:
        silhouettes = simplified_silhouette(embedding, fit.codes)
        columns["silhouette"] = np.bincount(fit.codes, silhouettes) / np.bincount(fit.codes)
    return Table(columns)


def _tabulate_samples(fit, ids, evidence):
    columns = {"sample": ids, "cluster": fit.labels}
    if evidence.margin is not None:
        columns["second"] = _of_all(fit, fit.clusters[evidence.second], "")
        columns["margin"] = _of_all(fit, evidence.margin, np.nan)
        columns["certainty"] = _of_all(fit, evidence.certainty, np.nan)
    return Table(columns)


def _of_all(fit, values, blank):
    """Values of the clustered samples as a column of all samples."""
    if len(values) == len(fit.labels):
        return values
    column = np.full(len(fit.labels), blank, object if blank == "" else values.dtype)
    column[fit.samples] = values
    return column


def _least_certain(fit, certainty):
    """Indices of the tenth of the clustered samples that are the least certain."""
    if certainty is None:
        return np.empty(0, dtype=np.intp)
    n_least = max(1, round(SHARE_UNCERTAIN * len(fit.samples)))
    least = np.argsort(certainty, kind="stable")[:n_least]
    return fit.samples[least[certainty[least] < 1]]


# ---------------------------------------------------------------------------------------- the parts


def _result_part(title, result):
    """The lines and the picture of a result that shows itself."""
    lines = [line.strip() for line in str(result).splitlines()]
    return Part(title, None, lines, {title: result.plot})


def _cluster_part(fit, clusters, evidence, embedding):
    """How large the clusters are, and how far apart."""
    draw = partial(draw_bars, clusters["cluster"], clusters["samples"], "samples")
    sentences, pictures = [], {"Samples of each cluster": draw}
    if evidence.predictability is not None:
        sentences.append(
            "predictable: share of samples whose label is predicted from the other samples. "
            f"Predictability, an adjusted mutual information: {evidence.predictability:.2f}; both "
            "are high in noise, too."
        )
    if "silhouette" in clusters:
        sentences.append("silhouette: 1 far from other clusters, 0 or less between them.")
        if clusters.n_rows <= MAX_MAPPED_CLUSTERS:
            caption = "Map of the samples: neighbors are near, other distances mean nothing"
            pictures[caption] = partial(plot_embedding, embedding, fit.clusters[fit.codes])
    affinity = getattr(fit.model, "affinity_matrix_", None)
    if affinity is not None:
        caption = "Affinity matrix, samples sorted by cluster"
        labels = fit.labels[getattr(fit.model, "samples_", fit.samples)]
        pictures[caption] = partial(plot_similarity, affinity, labels)
    return Part("Clusters, the largest first", clusters, sentences, pictures)


def _marker_part(clusters, markers):
    """What distinguishes each cluster, in words."""
    texts = []
    for cluster in clusters["cluster"]:
        of_cluster = (markers["cluster"] == cluster) & (np.abs(markers["effect"]) >= MIN_EFFECT)
        rows = np.flatnonzero(of_cluster)[:N_DESCRIBED]
        texts.append("; ".join(_in_words(markers, i) for i in rows) or "like all samples")
    sentence = (
        "Mean in the cluster; in parentheses that of all samples, and the difference from other "
        f"clusters in standard deviations, if at least {MIN_EFFECT}. Clusters of noise differ as "
        "well, because they were found in these features."
    )
    caption = "Differences of each cluster from the others in standard deviations"
    table = Table({"cluster": clusters["cluster"], "differs most in": texts})
    return Part("Markers", table, [sentence], {caption: partial(plot_markers, markers)})


def _in_words(markers, i):
    """A row of the table of markers."""
    mean, overall = (format_value(float(markers[name][i])) for name in ("mean", "overall"))
    feature = markers["feature"][i]
    name = feature if isinstance(feature, str) else f"{markers['view'][i]}[{feature}]"
    return f"{name} {mean} ({overall}, {markers['effect'][i]:+.1f})"


def _certainty_part(fit, samples, uncertain, evidence):
    """The samples that are between two clusters."""
    is_uncertain = np.isin(fit.samples, uncertain)
    draw = partial(draw_certainty, fit.clusters, fit.codes, evidence.certainty, is_uncertain)
    sentence = (
        "margin: 1 clearly in its cluster, 0 halfway to the second, negative nearer to it. "
        "certainty: mean of the margin and of the share of the candidate labellings that agree."
    )
    table = Table({name: column[uncertain] for name, column in samples.items()})
    pictures = {"Certainty of each sample, the least certain ones in red": draw}
    title = f"Least certain samples: {len(uncertain)}"
    return Part(title, table if len(uncertain) else None, [sentence], pictures)


def _view_part(table):
    """How far the clusters follow each view, and the views each other."""
    support = "support: how far the clusters follow the view's own neighbors; large in noise, too."
    agreement = "agreement: the largest with another view, in standard deviations above chance."
    sentences = [support, agreement] if "agreement" in table else [support]
    draw = partial(draw_bars, table["view"], table["support"], "agreement with the clusters")
    pictures = {"Support of each view for the clusters": draw}
    return Part("Views", table, sentences, pictures)
