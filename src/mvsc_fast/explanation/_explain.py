"""The explanation of a fitted model and the function that computes it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
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
from .._utils.parts import Part, Table, folded, page
from .._utils.threads import limited
from .._utils.types import Estimator, IntArray, Views
from .._utils.validation import output_path
from ..judge import ClusterCounts, StructureTest
from ..spectral._cut import simplified_silhouette
from ._bind import bind_views
from ._evidence import (
    certainty_part,
    cluster_part,
    describe_views,
    find_embedding,
    judge_labels,
    mean_by_cluster,
)
from ._methods import computation_parts, counts_part, methods_paragraph
from ._profiles import compute_profiles, profile_part

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Share of the samples that are reported as least certain. On sixteen data sets it contains half of
# the misplaced samples, and two of five of the reported samples are misplaced: bench/margins.py.
SHARE_UNCERTAIN = 0.1
MAX_TITLE_LETTERS = 50  # in a line above a picture


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
        * ``silhouette``: mean simplified silhouette in the embedding, see
          `spectral.simplified_silhouette`.
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
        A row for each view: its name, ``features``, the number of ``samples without`` it, its
        ``support``, see `view_support_` of the estimators, and a remark if it was excluded, has
        little support, is in one of several groups of views that show different clusters, or if
        clusters follow which of its rows are all zero.
    profiles : Table or None
        Mean or share of features in each cluster and in all samples, in the units of the views,
        with the standardised difference from the other clusters. It has the features that differ
        most; `plot_markers` draws it.
    predictability : float or None
        `label_predictability` of the labels, an adjusted mutual information. For precomputed
        similarities, the same score of the prediction from neighbours.
    findings : list of Part
        What was found, and what is not known.
    computation : list of Part
        How it was computed. Each part has a ``title``, a ``table`` or None, ``sentences``, and
        ``pictures``, a dict of functions that draw on axes ``ax``.
    methods_paragraph : str
        Paragraph for the methods section of a publication: data, processing, parameters, versions
        and citation.
    """

    title: str
    clusters: Table
    samples: Table
    uncertain: IntArray
    views: Table | None
    profiles: Table | None
    predictability: float | None
    findings: list[Part]
    computation: list[Part]
    methods_paragraph: str

    def __str__(self):
        # A part may have only pictures.
        parts = [*self.findings, *self.computation]
        texts = [str(part) for part in parts if part.table is not None or part.sentences]
        return "\n\n".join([self.title, *texts])

    __repr__ = __str__

    def _repr_html_(self):
        return f"<h2>{escape(self.title)}</h2>" + self._halves(self.computation, drawn=False)

    def _halves(self, computation, *, drawn):
        """What was found as HTML, and how it was computed, folded."""
        findings, details = (
            "".join(part.to_html(drawn=drawn) for part in parts)
            for parts in (self.findings, computation)
        )
        return findings + folded("How it was computed", details)

    def plot(self) -> Figure:
        """Plot the clusters, a map, the certainty of samples and the views.

        Returns
        -------
        matplotlib.figure.Figure
            A new figure with the available pictures.
        """
        pictures = [picture for part in self.findings for picture in part.pictures.items()]
        n_rows = -(-len(pictures) // 2)
        grid = np.ravel(new_figure(10, 4.2 * n_rows, rows=n_rows, columns=min(2, len(pictures))))
        for (caption, draw), ax in zip(pictures, grid, strict=False):
            draw(ax=ax).set_title(fill(caption, MAX_TITLE_LETTERS), fontsize="medium")
        for ax in grid[len(pictures) :]:
            ax.set_axis_off()
        return grid[0].figure

    def write_report(self, path: str | PathLike[str], *, notes: Iterable[str] = ()) -> Path:
        """Write a self-contained page in HTML with all tables and pictures.

        Parameters
        ----------
        path : str or Path
        notes : list of str, default=()
            Notes and warnings to show, such as those about files. A warning of the fit is not
            shown twice.

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
        path = output_path(path)
        computation = list(self.computation)
        stated = {sentence for part in self.findings for sentence in part.sentences}
        unsaid = [note for note in dict.fromkeys(notes) if note not in stated]
        if unsaid:
            computation.insert(0, Part("Notes", None, unsaid))
        body = [
            f"<h1>{escape(self.title)}</h1>",
            f"<p>mvsc_fast {__version__}, {time.strftime('%d %B %Y')}</p>",
            self._halves(computation, drawn=True),
        ]
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
        `TLRR` give the most details. An optional attribute ``run_`` of the clusterer, a dict of
        str, describes the processing before the fit, such as ``{"processing": "logarithms of
        counts"}``; the command line sets it.
    views : list or dict of array-like of shape (n_samples, n_features_i)
        The views on which the model, or the pipeline, was fitted, in any form that `fit` accepts;
        samples may lack views. Of a pipeline, tables with names of columns describe the clusters in
        their units. If the model was fitted on precomputed similarities, predictability and margins
        are those of neighbours, and there are no profiles.
    ids : array-like of shape (n_samples,), optional
        Names of the samples. By default the index of the views that are data frames, or numbers.
    counts : ClusterCounts, optional
        Result of `suggest_n_clusters`, if it determined the number of clusters.
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
    one-hot(labels) / sqrt(cluster size) from the third feature map of `label_predictability`, which
    `ConsensusTLRR` also uses to label new samples. For precomputed similarities it is the weighted
    sum of one-hot(labels) / sqrt(cluster size) over the neighbours of i in ``affinity_matrix_``.
    Negative scores are set to 0. The margin of sample i in cluster a is
    ``(s_ia - s_ib) / max(s_ia, s_ib)``, where b is the other cluster with the largest score.

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
    # The model with its views, and all that is computed from them.
    fit = bind_views(model, views)
    ids = fit.ids if ids is None else np.asarray(ids)
    if ids.shape != fit.labels.shape:
        raise InvalidParameterError(f"ids has shape {ids.shape}, expected {fit.labels.shape}")
    embedding = find_embedding(fit)
    evidence = judge_labels(fit)
    views_part, n_incomplete = describe_views(fit)
    profiles = compute_profiles(fit)
    # Tables for users of the result.
    clusters = _tabulate_clusters(fit, evidence, embedding)
    samples = _tabulate_samples(fit, ids, evidence)
    uncertain = _least_certain(fit, evidence.certainty)

    # What was found, with doubts before all else, and what is not known.
    findings = []
    if structure is not None:
        lines = [line.strip() for line in str(structure).splitlines()]
        caption = "Modularity of the samples, and of copies without clusters"
        drawing = {caption: structure.plot}
        findings.append(Part("Structure", None, lines, drawing))
    warnings = list(getattr(fit.model, "warnings_", []))
    if warnings:
        findings.append(Part("Warnings of the fit", None, warnings))
    findings.append(cluster_part(fit, clusters, evidence, embedding))
    if profiles is not None:
        findings.append(profile_part(clusters, profiles))
    if evidence.margin is not None:
        findings.append(certainty_part(fit, samples, uncertain, evidence))
    if views_part is not None:
        findings.append(views_part)
    if counts is not None:
        findings.append(counts_part(counts))
    unknown = _open_questions(fit, embedding, counts, structure)
    if unknown:
        findings.append(Part("Not known", None, unknown))

    # The title and the paragraph repeat what a reader needs without the tables.
    n_views = f", {counted(len(fit.names), 'view')}" if fit.names else ""
    n_samples, n_clusters = len(fit.labels), counted(len(fit.clusters), "cluster")
    paragraph = methods_paragraph(fit, n_incomplete, counts, structure)
    return Explanation(
        title=f"{type(fit.model).__name__}: {counted(n_samples, 'sample')} in "
        f"{n_clusters}{n_views}",
        clusters=clusters,
        samples=samples,
        uncertain=uncertain,
        views=None if views_part is None else views_part.table,
        profiles=profiles,
        predictability=evidence.predictability,
        findings=findings,
        computation=computation_parts(fit, paragraph),
        methods_paragraph=paragraph,
    )


# --------------------------------------------------------------------------------------- the tables


def _tabulate_clusters(fit, evidence, embedding):
    """The table ``clusters`` of an `Explanation`."""
    names, sizes = np.unique(fit.labels, return_counts=True)  # -1 for samples without any view
    sizes = sizes[np.searchsorted(names, fit.clusters)]
    columns = {"cluster": fit.clusters, "samples": sizes, "share": sizes / len(fit.labels)}
    if evidence.predictable is not None:
        columns["predictable"] = evidence.predictable
    if embedding is not None and len(fit.clusters) > 1:
        silhouettes = simplified_silhouette(embedding, fit.codes)
        columns["silhouette"] = mean_by_cluster(silhouettes, fit.codes, len(fit.clusters))
    return Table(columns)


def _tabulate_samples(fit, ids, evidence):
    """The table ``samples`` of an `Explanation`."""
    columns = {"sample": ids, "cluster": fit.labels}
    if evidence.margin is None:
        return Table(columns)
    n = len(fit.labels)
    if len(fit.samples) == n:
        columns["second"] = fit.clusters[evidence.second]
    else:
        columns["second"] = np.full(n, "", dtype=object)
        columns["second"][fit.samples] = fit.clusters[evidence.second]
    for name in ("margin", "certainty"):
        values = getattr(evidence, name)
        columns[name] = np.full(n, np.nan, dtype=values.dtype)
        columns[name][fit.samples] = values
    return Table(columns)


def _least_certain(fit, certainty):
    """Indices of the tenth of the clustered samples that are the least certain."""
    if certainty is None:
        return np.empty(0, dtype=np.intp)
    n_least = max(1, round(SHARE_UNCERTAIN * len(fit.samples)))
    least = np.argsort(certainty, kind="stable")[:n_least]
    return fit.samples[least[certainty[least] < 1]]


# ---------------------------------------------------------------------------------------- the parts


def _open_questions(fit, embedding, counts, structure):
    """Sentences on what nobody has asked."""
    sentences = []
    if len(fit.clusters) < 2:
        sentences.append("There is only one cluster, so it cannot be compared.")
    if embedding is None:
        name = type(fit.model).__name__
        sentences.append(f"{name} has neither embedding_ nor affinity_matrix_: no silhouette.")
    if structure is None:
        sentences.append("Whether noise has as much structure: structure_test, or --evidence.")
    if counts is None:
        sentences.append(
            "Whether other numbers of clusters are better: suggest_n_clusters, or --clusters auto."
        )
    return sentences
