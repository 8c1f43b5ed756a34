"""How labels were computed: its parts of an explanation, and a paragraph for a publication."""

import platform
from functools import partial
from inspect import signature

import numpy as np
import scipy
import sklearn

from .. import __version__
from .._utils.messages import counted
from .._utils.parts import MAX_ROWS, Part, Table
from ..judge._levels import groups_in_words
from ..judge._support import MIN_Z
from ._plots import plot_consensus, plot_similarity

CITATION = (
    "Jia Y., Liu H., Hou J., Kwong S., Zhang Q.: Multi-view spectral clustering tailored tensor "
    "low-rank representation. IEEE Transactions on Circuits and Systems for Video Technology "
    "31(12), 2021, doi:10.1109/TCSVT.2021.3055039"
)
CITED_BY = {"TLRR": "is", "ConsensusTLRR": "uses"}
ALWAYS_NAMED = ("n_clusters", "random_state")  # parameters
WITHOUT_EFFECT = ("callback", "verbose", "n_threads")  # on labels
SUPPORTED = (
    "stability: agreement of the clusters of six graphs. Supported numbers are the most stable "
    "ones of their neighbourhood; nested clusters have several."
)


# ------------------------------------------------------------------------------------ the paragraph


def methods_paragraph(fit, n_incomplete, counts, structure):
    """The paragraph for a `BoundModel`, and results of tests or None."""
    # The data and what was done with them before the fit.
    model, n = fit.model, len(fit.labels)
    method, run = type(model).__name__, getattr(model, "run_", {})
    sentences = [f"We clustered {counted(n, 'sample')}{_data_text(fit)}."]
    if n_incomplete:
        sentences.append(f"{counted(n_incomplete, 'sample')} lacked at least one view.")
    if structure is not None:
        sentences.append(structure.sentence)
    steps = ", then ".join(" ".join(str(step).split()) for step in fit.steps)
    processing = run.get("processing", steps)
    if processing:
        sentences.append(f"Processing: {processing}.")

    # Parameters that the user has chosen, and what they led to.
    defaults, parameters = signature(type(model)).parameters, []
    for name, value in model.get_params(deep=False).items():
        is_chosen = name not in WITHOUT_EFFECT and repr(value) != repr(defaults[name].default)
        if is_chosen or name in ALWAYS_NAMED:
            parameters.append(f"{name}={value!r}")
    sentences.append(
        f"{method} found {counted(len(fit.clusters), 'cluster')} ({', '.join(parameters)}; other "
        "parameters at their defaults)."
    )
    # What was selected, the software, and the paper to cite.
    if counts is not None:
        others = ", ".join(map(str, counts.candidates[1:])) or "none"
        sentences.append(
            f"suggest_n_clusters suggested {counted(counts.n_clusters, 'cluster')} "
            f"({counts.confidence} confidence; other candidates: {others})."
        )
    sentences += _sample_sentences(fit)
    if fit.excluded:
        names = ", ".join(map(str, fit.excluded))
        sentences.append(f"Views excluded as uninformative: {names}.")
    software = (
        f"mvsc_fast {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}"
    )
    sentences.append(f"Software: {software}.")
    if method in CITED_BY:
        sentences.append(f"{method} {CITED_BY[method]} the method of {CITATION}.")
    return " ".join(sentences)


def _data_text(fit):
    """The views and their sizes in words, with a blank before; empty for similarities."""
    if fit.source is None:
        return ""
    sizes = [counted(d, "feature") for d in fit.source.n_features]
    if len(sizes) == 1:
        return f" described by {sizes[0]}"
    names = [f"view {name}" if isinstance(name, int) else name for name in fit.names]
    texts = [f"{name} ({size})" for name, size in zip(names, sizes, strict=True)]
    return f" described by {len(names)} views: {', '.join(texts)}"


def _sample_sentences(fit):
    """Sentences on samples that were not clustered."""
    m, n = len(fit.samples), len(fit.labels)
    n_labelled = int(np.isin(fit.labels, fit.clusters).sum())
    sentences = []
    if n_labelled < n:
        n_lost = counted(n - n_labelled, "sample")
        sentences.append(f"Without any view that is used, and with the label -1: {n_lost}.")
    if m < n_labelled:
        sentences.append(
            f"{m} of {n} samples were clustered; the labels of the others were predicted."
        )
    return sentences


# ---------------------------------------------------------------------------------------- the parts


def computation_parts(fit, paragraph):
    """The parts of an `Explanation` that say how it was computed."""
    parts = [
        _choice_part(fit),
        *_agreement_parts(fit),
        Part("Methods paragraph", None, [paragraph]),
    ]
    run = getattr(fit.model, "run_", {})
    if run:
        columns = {"before the fit": list(run), "": list(map(str, run.values()))}
        parts.insert(0, Part("Before the fit", Table(columns)))
    return parts


def _agreement_parts(fit):
    """How far each two views agree, if the model knows it."""
    title, names = "Agreement of the views", fit.names
    agreement = getattr(fit.model, "view_agreement_", None)
    if agreement is None or np.isnan(agreement).all():
        return []
    if len(names) > MAX_ROWS:
        sentence = f"The table of {len(names)} views is left out; the model has it: view_agreement_"
        return [Part(title, None, [f"{sentence}."])]
    # Numbers above the columns, because names would make the table too wide.
    columns = {"": [str(i) if name == i else f"{i} {name}" for i, name in enumerate(names)]}
    for i, values in enumerate(agreement):
        columns[str(i)] = ["" if np.isnan(z) else f"{z:.1f}" for z in values]
    sentence = (
        "By how many standard deviations two views agree on the neighbours of samples more than by "
        f"chance. Below {MIN_Z:g} they show different clusters, or one of them shows none."
    )
    return [Part(title, Table(columns), [sentence])]


def counts_part(counts):
    """The evidence for the candidate and the supported numbers of clusters."""
    numbers = sorted({*counts.candidates, *counts.levels})
    rows = np.searchsorted(counts.counts, numbers)
    columns = {
        "clusters": counts.counts[rows],
        "smallest": counts.smallest[rows],
        "stability": counts.stability[rows],
        "predictability": counts.predictability[rows],
        "": np.where(np.isin(numbers, counts.levels), "supported", ""),
    }
    # Those with the suggested number, not the clusters of the fit.
    words = groups_in_words(counts.hidden, counts.sizes)
    suggested = counted(counts.n_clusters, "cluster")
    sentences = [SUPPORTED, *(f"{suggested}: {text}" for text in words)]
    pictures = {"Stability and predictability of each number of clusters": counts.plot}
    return Part("Numbers of clusters", Table(columns), sentences, pictures)


def _choice_part(fit):
    """How the labels were chosen, with the matrices from which they were."""
    model, sentences = fit.model, []
    candidates = getattr(model, "candidates_", None)
    # ConsensusTLRR has chosen among candidates, other methods have iterated.
    if candidates is not None:
        n_fused = int(candidates["fused"].sum())
        sentences.append(
            f"The {n_fused} best refined labellings of {len(candidates['fused'])} were fused by "
            f"TLRR. Their mean adjusted Rand index with the labels is {model.fused_agreement_:.2f};"
            " other samples of the same kind would lead to labels that differ by about as much."
        )
    elif hasattr(model, "n_iter_"):
        ending = "" if getattr(model, "converged_", True) else ", not converged"
        sentences.append(f"{counted(model.n_iter_, 'iteration')}{ending}.")
        if getattr(model, "gap_", None) is not None:
            sentences.append(f"The relative duality gap of the tensor is {model.gap_:.2g}.")
    return Part("How the labels were chosen", None, sentences, _matrix_pictures(fit))


def _matrix_pictures(fit):
    """Pictures of the affinity matrices of the clustered samples, by caption."""
    model = fit.model
    labels = fit.labels[fit.clustered]
    affinity = getattr(model, "affinity_matrix_", None)
    pictures = {}
    if affinity is not None:
        caption = "Affinity matrix, samples sorted by cluster"
        pictures[caption] = partial(plot_similarity, affinity, labels)
    if "labels" in (getattr(model, "candidates_", None) or {}):
        caption = "Consensus: share of the labellings that join two samples"
        pictures[caption] = partial(plot_consensus, model.candidates_, labels)
    return pictures
