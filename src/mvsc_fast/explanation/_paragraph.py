"""A paragraph on a fit for the methods section of a publication."""

import contextlib
import platform
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import scipy
import sklearn

from .. import __version__
from .._utils.messages import counted
from ..judge._ridge import mutual_information

CITATION = (
    "Jia Y., Liu H., Hou J., Kwong S., Zhang Q.: Multi-view spectral clustering tailored tensor "
    "low-rank representation. IEEE Transactions on Circuits and Systems for Video Technology "
    "31(12), 2021, doi:10.1109/TCSVT.2021.3055039"
)
LEIDEN = (
    "Traag V. A., Waltman L., van Eck N. J.: From Louvain to Leiden: guaranteeing well-connected "
    "communities. Scientific Reports 9, 2019, doi:10.1038/s41598-019-41695-z"
)
CITED_BY = {"TLRR": "is", "ConsensusTLRR": "uses"}
NAMED_VIEWS = 12
WITHOUT_EFFECT = ("callback", "verbose", "n_threads")  # on labels


def methods_paragraph(found, model, steps):
    """The paragraph for an `Explanation` of a model that follows the ``steps`` of a pipeline."""
    n, views = found.n_samples, _described(found) if found.view_features else ""
    sentences = [f"We clustered {counted(n, 'sample')}{views}."]
    if found.n_incomplete:
        sentences.append(f"{counted(found.n_incomplete, 'sample')} lacked at least one view.")
    if found.structure is not None:
        sentences.append(found.structure.sentence)
    processing = found.run.get("processing")
    if steps:
        processing = ", then ".join(" ".join(str(step).split()) for step in steps)
    if processing:
        sentences.append(f"Processing: {processing}.")
    shown = {"random_state", *given_parameters(model)}.difference(WITHOUT_EFFECT)
    values = model.get_params(deep=False).items()
    parameters = ", ".join(f"{name}={value!r}" for name, value in values if name in shown)
    sentences.append(
        f"{found.method} found {counted(len(found.clusters), 'cluster')} ({parameters}; other "
        "parameters at their defaults)."
    )
    sentences += selection(found)
    if found.excluded_views:
        names = ", ".join(map(str, found.excluded_views))
        sentences.append(f"Views excluded as uninformative: {names}.")
    sentences.append(f"Software: {versions(model)}.")
    if _has_resolution(model):
        sentences.append(f"The clusters are Leiden communities of the joint graph: {LEIDEN}.")
    elif found.method in CITED_BY:
        sentences.append(f"{found.method} {CITED_BY[found.method]} the method of {CITATION}.")
    return " ".join(sentences)


def _has_resolution(model):
    return getattr(model, "resolution", None) is not None


def _described(found):
    names, sizes = found.view_names, found.view_features
    if len(names) == 1:
        return f" described by {counted(sizes[0], 'feature')}"
    described = [
        f"{f'view {name}' if isinstance(name, int) else name} ({counted(size, 'feature')})"
        for name, size in zip(names, sizes, strict=True)
    ]
    if len(described) > NAMED_VIEWS:
        described = [*described[:NAMED_VIEWS], "..."]
    return f" described by {len(names)} views: {', '.join(described)}"


def selection(found):
    """Sentences on the suggested number of clusters and on samples that were not clustered."""
    m, n, labelled = len(found.samples), found.n_samples, found.sizes.sum()
    sentences = [] if found.counts is None else [f"{suggestion(found.counts)}."]
    if labelled < n:
        sentences.append(
            f"Without any view, and with the label -1: {counted(n - labelled, 'sample')}."
        )
    if m < labelled:
        sentences.append(
            f"{m} of {n} samples were clustered; the labels of the others were predicted."
        )
    return sentences


def describe_choice(found, model):
    """Describe how the labels were chosen."""
    found.choices = selection(found)
    add = found.choices.append
    found.candidates = getattr(model, "candidates_", None)
    if found.candidates is not None:
        add(
            "The clusters are refined communities, by the Leiden algorithm, of the joint graph."
            if _has_resolution(model)
            else "The best refined labellings, at most seven, were fused by TLRR."
        )
        if "labels" in found.candidates:  # they may not be stored
            found.agreement = _agreement(found.candidates["labels"], found.labels)
            add(
                f"The normalised mutual information of {len(found.agreement)} candidate "
                f"labellings with the labels is {found.agreement.mean():.2f} on average and at "
                f"least {found.agreement.min():.2f}."
            )
        return
    if hasattr(model, "n_iter_"):
        end = "" if getattr(model, "converged_", True) else ", not converged"
        add(f"{counted(model.n_iter_, 'iteration')}{end}.")
    gap = getattr(model, "gap_", None)
    if gap is not None:
        add(f"The relative duality gap of the tensor is {gap:.2g}.")
    else:
        found.unknown.append(f"{found.method} has no candidate labellings to show.")


def _agreement(labellings, labels):
    """Normalised mutual information of each of some labellings with the labels."""
    c, labels = int(max(labellings.max(), labels.max())) + 1, labels.astype(np.int64)
    return np.array([mutual_information(one, labels, c) for one in labellings])


def suggestion(counts):
    """The sentence on the suggested number of clusters, without its period."""
    others, levels = (
        ", ".join(map(str, some)) or "none" for some in (counts.candidates[1:], counts.levels)
    )
    return (
        f"suggest_n_clusters suggested {counted(counts.n_clusters, 'cluster')} "
        f"({counts.confidence} confidence; other candidates: {others}; supported numbers: {levels})"
    )


def given_parameters(model):
    """Names of the parameters of an estimator that are not at their defaults."""
    defaults = type(model)().get_params(deep=False)
    return [
        name
        for name, value in model.get_params(deep=False).items()
        if repr(value) != repr(defaults[name]) or name == "n_clusters"
    ]


def versions(model):
    """Versions of the packages on which the labels of a model depend."""
    found = (
        f"mvsc_fast {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )
    if _has_resolution(model):
        with contextlib.suppress(PackageNotFoundError):  # a loaded model needs none
            found += f", igraph {version('igraph')}"
    return found
