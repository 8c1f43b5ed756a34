"""The parts of an explanation as tables and sentences, and as text for terminals of 80 columns."""

from textwrap import fill
from typing import NamedTuple

import numpy as np

from .._utils.messages import counted
from ..judge._parts import groups_in_words
from ..judge._support import MIN_Z
from ._table import ROWS, WRAPPED, Table, shown_value, text_table

FEW = 6  # candidates
WEAK_CLUSTER, WEAK_VIEW = 0.7, 0.1
CERTAINTY = "certainty: mean of the margin and of the share of the candidate labellings that agree."
DESCRIBES = (
    "The test describes these samples. It does not validate the clusters if survival took part in "
    "the choice of features, of the number of clusters or of the method."
)
SUPPORTED = (
    "stability: agreement of the clusters of six graphs. Supported numbers are the most stable "
    "ones of their neighborhood; nested clusters have several."
)
LEFT = ("view", "graph", "")  # columns of text


class Part(NamedTuple):
    """A table with a title, cells by the names of the columns, and sentences about it."""

    title: str
    columns: dict
    sentences: list


def parts_of(found, rows=ROWS):
    """The available parts of an `Explanation`, by name, with at most ``rows`` rows per table."""
    parts = {}
    if found.structure is not None:
        lines = [line.strip() for line in str(found.structure).splitlines()]
        parts["structure"] = Part("Structure", {}, lines)
    if found.warnings:
        parts["warnings"] = Part("Warnings of the fit", {}, found.warnings)
    parts["clusters"] = _clusters(found, rows)
    if found.survival is not None:
        table = found.survival.table.cells()
        parts["survival"] = Part("Survival", table, [str(found.survival), DESCRIBES])
    if found.margin is not None:
        parts["uncertain"] = _uncertain(found, rows)
    if found.view_support is not None or found.excluded_views:
        parts["views"] = _views(found)
    compared = found.view_agreement is not None and not np.isnan(found.view_agreement).all()
    if compared and len(found.view_names) <= rows:
        parts["agreement"] = _agreement(found)
    if found.counts is not None:
        parts["counts"] = _counts(found.counts)
    if found.choices:
        parts["choices"] = Part("How the labels were chosen", {}, found.choices)
    if found.candidates is not None:
        parts["candidates"] = _candidates(found)
    if found.unknown:
        parts["unknown"] = Part("Not available", {}, found.unknown)
    return parts


def explained_text(found):
    """The text of an `Explanation`."""
    views = f", {counted(len(found.view_names), 'view')}" if found.view_names else ""
    clusters = counted(len(found.clusters), "cluster")
    texts = [f"{found.method}: {counted(found.n_samples, 'sample')} in {clusters}{views}"]
    parts = [*parts_of(found).values(), Part("Methods paragraph", {}, [found.methods_paragraph])]
    for title, columns, sentences in parts:
        table = [text_table(columns, LEFT)] if columns else []
        lines = (fill(one, **WRAPPED) for one in sentences)
        texts.append("\n".join([title, *table, *lines]))
    return "\n\n".join(texts)


def _clusters(found, rows):
    c, predictable = len(found.clusters), found.predictable_share
    worth = predictable if predictable is not None else found.silhouette
    shown, title, sentences = np.arange(c), "Clusters", []
    if c > rows:
        by = -found.sizes if worth is None else np.nan_to_num(worth, nan=-1)
        shown = np.argsort(by, kind="stable")[:rows]
        title += f" ({rows} of {c}, the {'largest' if worth is None else 'weakest'} first)"
    columns = {
        "cluster": found.clusters,
        "samples": found.sizes,
        "share": np.array([f"{100 * size / found.n_samples:.0f} %" for size in found.sizes]),
    }
    if predictable is not None:
        columns["predictable"] = predictable
        weak = [str(found.clusters[k]) for k in np.flatnonzero(predictable < WEAK_CLUSTER)]
        if weak:
            more = f" and {len(weak) - ROWS} more" if len(weak) > ROWS else ""
            names = ", ".join(weak[:ROWS])
            sentences.append(f"Not well separated from the others: {names}{more}.")
        overall = np.average(predictable, weights=np.bincount(found.labels))
        sentences.append(
            "predictable: share of samples whose label is predicted from the other samples; "
            f"{overall:.2f} in all clusters. Predictability, an adjusted mutual "
            f"information: {found.predictability:.2f}."
        )
    if found.silhouette is not None:
        columns["silhouette"] = found.silhouette
        sentences.append("silhouette: 1 far from other clusters, 0 or less between them.")
    return Part(title, Table(columns).cells(shown), sentences)


def _uncertain(found, rows):
    count = len(found.uncertain)
    if count == 0:
        return Part("Least certain samples", {}, ["No sample is near another cluster."])
    negative = counted(int((found.margin < 0).sum()), "sample")
    title = f"Least certain samples: {count} ({100 * count / len(found.samples):.0f} %)"
    return Part(
        title + (f", the first {rows}" if count > rows else ""),
        found.table(found.uncertain[:rows]).cells(),
        [
            "margin: 1 clearly in its cluster, 0 halfway to the second, negative nearer to it "
            f"({negative}).",
            *([CERTAINTY] if found.certainty is not found.margin else []),
        ],
    )


def _views(found):
    known = {
        "view": found.view_names,
        "features": found.view_features,
        "samples without": found.view_missing,
        "support": found.view_support,
    }
    columns = {
        name: [shown_value(value) for value in np.array(values, dtype=object)]
        for name, values in known.items()
        if values is not None and len(values)
    }
    support = np.ones(len(found.view_names)) if found.view_support is None else found.view_support
    columns[""] = [
        "excluded"
        if name in found.excluded_views
        else "little support for these clusters"
        if value < WEAK_VIEW
        else ""
        for name, value in zip(found.view_names, support, strict=True)
    ]
    sentences = [
        f"{name if isinstance(name, str) else f'View {name}'} was excluded: {reason}."
        for name, reason in found.excluded_views.items()
    ]
    if found.view_support is not None:
        sentences.append(
            "support: how far the clusters follow the view's own neighbors; large in noise, too. "
            "structure_test tests for noise."
        )
    return Part("Views", columns, sentences)


def _agreement(found):
    # Numbers above the columns, because names would make the table too wide.
    rows = [str(i) if name == i else f"{i} {name}" for i, name in enumerate(found.view_names)]
    columns = {"": rows}
    for i, values in enumerate(found.view_agreement):
        columns[str(i)] = ["" if np.isnan(z) else f"{z:.1f}" for z in values]
    sentence = (
        "By how many standard deviations two views agree on the neighbors of samples more than by "
        f"chance. Below {MIN_Z:g} they show different clusters, or one of them shows none."
    )
    return Part("Agreement of the views", columns, [sentence])


def _counts(found):
    shown = sorted({*found.candidates, *found.levels})
    place = np.searchsorted(found.counts, shown)
    columns = {
        "clusters": found.counts,
        "smallest": found.smallest,
        "stability": found.stability,
        "predictability": found.predictability,
        "": np.where(np.isin(found.counts, found.levels), "supported", ""),
    }
    sentences = [SUPPORTED, *groups_in_words(found.hidden, found.sizes)]
    return Part("Numbers of clusters", Table(columns).cells(place), sentences)


def _candidates(found):
    given = found.candidates
    columns = {
        "graph": given["graph"],
        "neighbors": given["n_neighbors"],
        "embedding": given["embedding"],
        "algorithm": given["algorithm"],
        "predictability": given["predictability"],
    }
    if found.agreement is not None:
        columns["agreement"] = found.agreement
    shown = np.argsort(-given["predictability"], kind="stable")[:FEW]
    title = f"The {len(shown)} most predictable of {len(given['graph'])} labellings"
    return Part(title, Table(columns).cells(shown), [])
