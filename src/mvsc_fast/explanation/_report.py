"""A self-contained HTML report that shows and explains the result of a fit."""

import platform
import time
from html import escape
from pathlib import Path

import numpy as np
import scipy
import sklearn

from .. import __version__
from ..views._row_source import stored_rows
from . import explain
from ._page import details, figure, gallery, html_table, page, section
from ._panels import panels_of, similarities
from ._plots import new_figure, plot_candidates, plot_embedding, plot_n_clusters, plot_similarity

LISTED = 50  # samples between two clusters
DRAWN = 20_000  # samples of an embedding
LEARNED = {
    "lam_": "lam",
    "n_iter_": "iterations",
    "converged_": "converged",
    "gap_": "relative duality gap",
    "n_tuples_": "tuples of labels that were fused",
}


def write_report(
    path, model, views=None, *, explanation=None, counts=None, ids=None, notes=(), files=()
):
    """Write a self-contained HTML report on a fitted model.

    The report shows the sizes and the quality of the clusters, similarities before and after
    recovery, the embedding, the support of the views, the choices that were made, parameters,
    versions and warnings.

    Parameters
    ----------
    path : str or Path
        The folder must exist.
    model : estimator
        Fitted estimator. Similarities and embedding are shown only if it has ``store="all"``.
    views : list or dict of array-like of shape (n_samples, n_features_i), optional
        The views that it was fitted on.
    explanation : Explanation, optional
        Result of `explain`; computed by default.
    counts : ClusterCounts, optional
        Result of `suggest_n_clusters`, if it determined the number of clusters.
    ids : array-like of shape (n_samples,), optional
        Names of the samples; by default their indices.
    notes : list of str, default=()
        Notes and warnings to show, such as those about the files.
    files : list of str, default=()
        Names of the files.

    Returns
    -------
    Path

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    in_memory = views is not None and stored_rows(views) is None
    found = explain(model, views if in_memory else None) if explanation is None else explanation
    clusters = len(found.clusters)
    parts = [
        f"<h1>{found.n_samples} samples in {clusters} clusters</h1>",
        f"<p>{escape(found.method)} of mvsc_fast {__version__}"
        f"{escape(' on ' + ', '.join(map(str, files))) if files else ''}, "
        f"{time.strftime('%d %B %Y')}.</p>",
        section("Clusters", "", _clusters(found) + gallery(_panels(found)) + _between(found, ids)),
        section("Similarities", _caption(found), gallery(_relations(model, found))),
    ]
    if found.view_names:
        text = (
            "Support is the agreement of the clusters with the graph of a view: around 0 for "
            "noise, .3 and more for informative views."
        )
        parts.append(section("Views", text, _views(found, views)))
    parts += [
        section("Why these clusters", "", gallery(_choices(model, counts))
                + f"<pre tabindex=\"0\">{escape(str(found))}</pre>"),
        section("How it was computed", "", _parameters(model)
                + details("Warnings and notes", list(notes)) + f"<p>{escape(_versions())}</p>"),
    ]  # fmt: skip
    path = Path(path)
    title = f"{found.n_samples} samples in {clusters} clusters"
    path.write_text(page(title, parts), encoding="utf-8")
    return path


def _clusters(found):
    lines = [
        [escape(str(name)), str(size), f"{100 * size / found.n_samples:.1f} %",
         *(_number(values[k]) for values in (found.predictability, found.silhouette)
           if values is not None)]
        for k, (name, size) in enumerate(zip(found.clusters, found.sizes, strict=True))
    ]  # fmt: skip
    heads = ["cluster", "samples", "share"]
    heads += ["predictable"] * (found.predictability is not None)
    heads += ["silhouette"] * (found.silhouette is not None)
    return html_table(lines, [heads])


def _between(found, ids):
    """Table of the samples with the smallest margins."""
    if not len(found.between):
        return ""
    place = {sample: row for row, sample in enumerate(found.samples.tolist())}
    rows = [place[sample] for sample in found.between[:LISTED].tolist()]
    lines = [
        [escape(str(found.samples[row] if ids is None else ids[found.samples[row]])),
         escape(str(found.clusters[found.labels[row]])),
         escape(str(found.clusters[found.other[row]])), f"{found.margin[row]:.2f}"]
        for row in rows
    ]  # fmt: skip
    count = len(found.between)
    most = f", the {LISTED} closest are shown" if count > LISTED else ""
    return (
        f"<details><summary>Samples between two clusters ({count}{most})</summary>"
        f"{html_table(lines, [['sample', 'in', 'or in', 'margin']])}</details>"
    )


CAPTIONS = {
    "_sizes": "Samples of each cluster",
    "_quality": "How well each cluster is separated from the others",
    "_margins": "How clearly each sample is in its cluster; 0 is halfway to another",
    "_support": "Support of each view for the clusters",
}


def _panels(found):
    for draw in panels_of(found):

        def drawn(draw=draw):
            ax = new_figure()
            draw(ax, found)
            return ax

        yield figure(drawn, draw.__name__, CAPTIONS[draw.__name__])


def _caption(found):
    text = "Samples are sorted by cluster: bright squares on the diagonal are clusters."
    m = len(found.samples)
    return text if m == found.n_samples else f"{text} Only the {m} clustered samples are shown."


def _relations(model, found):
    """Similarities before and after, and the embedding."""
    pictures = []
    if getattr(model, "affinity_matrix_", None) is not None:
        matrices, labels, titles = similarities(model)
        for S, title in zip(matrices, titles, strict=True):
            pictures.append(figure(lambda S=S: plot_similarity(S, labels), title, title))
    embedding = found.embedding
    if embedding is not None:
        shown = np.arange(len(embedding))[:: -(-len(embedding) // DRAWN)]
        labels = found.clusters[found.labels[shown]]
        pictures.append(figure(
            lambda: plot_embedding(embedding[shown], labels, groups="found"), "embedding",
            "First two principal directions of the spectral embedding",
        ))  # fmt: skip
    return pictures


def _views(found, views):
    named = dict(views) if hasattr(views, "keys") else dict(enumerate(views or ()))
    lines = []
    for i, name in enumerate(found.view_names):
        X = named.get(name)
        lacking = ""
        if X is not None and stored_rows([X]) is None and hasattr(X, "__array__"):
            lacking = str(int(np.isnan(np.asarray(X, dtype=float)).all(axis=1).sum()))
        support = "" if found.view_support is None else _number(found.view_support[i])
        reason = found.excluded_views.get(name)
        lines.append([
            escape(str(name)), "" if X is None else str(X.shape[1]), lacking, support,
            "" if reason is None else f"excluded: {escape(str(reason))}",
        ])  # fmt: skip
    return html_table(lines, [["view", "features", "samples without", "support", ""]])


def _choices(model, counts):
    if counts is not None:
        yield figure(lambda: plot_n_clusters(counts), "counts",
                     "Evidence for each number of clusters")  # fmt: skip
    if hasattr(model, "candidates_"):
        yield figure(lambda: plot_candidates(model.candidates_), "candidates",
                     "Predictability of the candidate labellings")  # fmt: skip


def _parameters(model):
    defaults = type(model)().get_params(deep=False)
    lines = [
        [escape(name), escape(str(value)), "" if value == defaults[name] else "given"]
        for name, value in sorted(model.get_params(deep=False).items())
        if name not in ("callback", "verbose")
    ]
    learned = [
        [escape(title), escape(f"{value:.4g}" if isinstance(value, float) else str(value)), "found"]
        for name, title in LEARNED.items()
        if (value := getattr(model, name, None)) is not None
    ]
    return html_table(lines + learned, [["parameter", "value", ""]])


def _versions():
    return (
        f"mvsc_fast {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}, {platform.system()} on "
        f"{platform.machine()}."
    )


def _number(value):
    return "–" if np.isnan(value) else f"{value:.2f}"
