"""A self-contained HTML report that shows and explains the result of a fit."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterable
from functools import partial
from html import escape
from os import PathLike
from pathlib import Path

import numpy as np

from .. import __version__
from .._utils.messages import counted
from .._utils.types import Estimator, Views
from .._utils.validation import output_path
from ._consensus import plot_consensus_cdf, plot_delta_area, plot_n_clusters
from ._explain import Explanation, explained
from ._fitted import fitted_with
from ._markers import NO_TEST, markers_of, plot_markers
from ._page import details, figure, gallery, html_table, page, section
from ._panels import panels_of, similarities
from ._paragraph import given_parameters, versions
from ._plots import new_figure, plot_candidates, plot_embedding, plot_similarity
from ._structure import plot_structure
from ._survival import plot_survival
from ._text import parts_of

LISTED = 50  # maximum number of clusters and of least certain samples
DRAWN = 20_000  # maximum number of samples in a plot of an embedding
SECTIONS = (
    *("structure", "warnings", "clusters", "survival", "uncertain", "markers", "similarities"),
    *("views", "agreement", "counts", "choices", "candidates", "unknown"),
)
MARKERS = (
    f"Features whose values in a cluster differ most from those of all other samples. {NO_TEST}"
)
LEARNED = {
    "lam_": "lam",
    "n_iter_": "iterations",
    "converged_": "converged",
    "gap_": "relative duality gap",
    "n_tuples_": "tuples of labels that were fused",
}


def write_report(
    path: str | PathLike[str],
    model: Estimator,
    views: Views | None = None,
    *,
    explanation: Explanation | None = None,
    notes: Iterable[str] = (),
) -> Path:
    """Write a self-contained HTML report on a fitted model.

    The report shows the sizes and the quality of the clusters, the features that distinguish
    them, similarities before and after recovery, the embedding, the support of the views, the
    choice of the labels, the processing before the fit, parameters, versions, warnings, and a
    paragraph for the methods section of a publication.

    Parameters
    ----------
    path : str or Path
    model : estimator
        Fitted estimator, or a pipeline that ends in one. Similarities and embedding are shown only
        if it has ``store="all"``. An optional attribute ``run_``, a dict of str, describes the
        processing before the fit, such as ``{"processing": "logarithms of counts"}``; the command
        line sets it.
    views : list or dict of array-like of shape (n_samples, n_features_i), optional
        The views on which it was fitted.
    explanation : Explanation, optional
        Result of `explain`, which accepts the ids of the samples, a suggested number of clusters,
        a test of structure and the survival of the samples. Computed by default.
    notes : list of str, default=()
        Notes and warnings to show, such as those about the files.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    ImportError
        If matplotlib is not installed.
    """
    path = output_path(path)
    fit = fitted_with(model, views)
    found = explained(fit) if explanation is None else explanation
    clusters = counted(len(found.clusters), "cluster")
    title = f"{counted(found.n_samples, 'sample')} in {clusters}"
    notes = [note for note in dict.fromkeys(notes) if note not in found.warnings]
    done = [[escape(title), escape(text)] for title, text in found.run.items()]
    pictures: dict[str, list[str]] = {}
    for name, *drawing in _drawings(fit, found):
        pictures[name] = [*pictures.get(name, []), figure(*drawing)]
    sections = {
        name: _section(part, pictures.get(name, []))
        for name, part in parts_of(found, LISTED).items()
    }
    if "markers" in pictures:
        sections["markers"] = section("Markers", MARKERS, pictures["markers"][0])
    shown = pictures.get("similarities", ())
    sections["similarities"] = section("Similarities", _caption(found), gallery(shown))
    parts = [
        f"<h1>{title}</h1>",
        f"<p>{escape(found.method)} of mvsc_fast {__version__}, {time.strftime('%d %B %Y')}.</p>",
        *(sections.get(name, "") for name in SECTIONS),
        section(
            "How it was computed",
            "",
            html_table(done, [["before the fit", ""]], "wide")
            + _parameters(fit.model, found)
            + details("Warnings and notes", notes)
            + f"<p>{versions(fit.model)}, {platform.system()} on {platform.machine()}.</p>",
        ),
        section("Methods paragraph", escape(found.methods_paragraph), ""),
    ]
    path.write_text(page(title, parts), encoding="utf-8")
    return path


def _section(part, pictures):
    """The section for a part of the explanation, with its pictures."""
    title, columns, sentences = part
    cells = [[escape(cell) for cell in column] for column in columns.values()]
    table = html_table(list(zip(*cells, strict=True)), [list(columns)])
    lines = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    return section(title, "", table + lines + (gallery(pictures) if pictures else ""))


def _caption(found):
    text = "Samples are sorted by cluster: bright squares on the diagonal are clusters."
    m = len(found.samples)
    return text if m == found.n_samples else f"{text} Only the {m} clustered samples are shown."


def _drawings(fit, found):
    """Section, function that returns axes, name and caption of each figure."""
    if found.structure is not None:
        caption = "Modularity of the samples and of their copies without structure"
        yield "structure", lambda: plot_structure(found.structure), "structure", caption
    for draw, caption in panels_of(found):
        yield "clusters", lambda draw=draw: draw(found, new_figure()), caption, caption
    if found.survival is not None:
        yield "survival", lambda: plot_survival(found.survival), "survival", "Kaplan-Meier curves"
    if fit.views is not None and len(found.clusters) > 1:
        table = markers_of(fit)
        caption = "Standardised differences of the features that distinguish each cluster"
        yield "markers", lambda: plot_markers(table), "markers", caption
    if getattr(fit.model, "affinity_matrix_", None) is not None:
        matrices, labels, titles = similarities(fit.model, found.clusters[found.labels])
        for S, title in zip(matrices, titles, strict=True):
            yield "similarities", partial(plot_similarity, S, labels), title, title
    if found.embedding is not None:
        rows = np.arange(len(found.embedding))[:: -(-len(found.embedding) // DRAWN)]
        groups = found.clusters[found.labels[rows]]
        caption = "First two principal directions of the spectral embedding"
        draw = partial(plot_embedding, found.embedding[rows], groups)
        yield "similarities", draw, "embedding", caption
    if found.counts is not None:
        caption = "Stability and predictability of each number of clusters"
        yield "choices", lambda: plot_n_clusters(found.counts), "counts", caption
        caption = "Relative growth of the area under the consensus distribution"
        yield "choices", lambda: plot_delta_area(found.counts), "delta area", caption
    if found.candidates is not None:
        caption = "Predictability of the candidate labellings"
        yield "choices", lambda: plot_candidates(found.candidates), "candidates", caption
    shown = found.counts or (found.agreement is not None and found.candidates)
    if shown:
        caption = "Share of the pairs of samples up to each consensus"
        yield "choices", lambda: plot_consensus_cdf(shown), "consensus", caption


def _parameters(model, found):
    origin = dict.fromkeys(given_parameters(model), "given")
    if found.counts is not None:
        origin["n_clusters"] = f"suggested, {found.counts.confidence} confidence"
    lines = [
        [escape(name), escape(str(value)), origin.get(name, "")]
        for name, value in sorted(model.get_params(deep=False).items())
        if name not in ("callback", "verbose")
    ]
    learned = [
        [escape(title), escape(f"{value:.4g}" if isinstance(value, float) else str(value)), "found"]
        for name, title in LEARNED.items()
        if (value := getattr(model, name, None)) is not None
    ]
    return html_table(lines + learned, [["parameter", "value", ""]])
