"""Profiles: features of each cluster in the units of the user's tables."""

from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.sparse

from .._utils.parts import Part, Table, format_value
from ..views._frames import NUMERIC
from ..views._read import listed_views
from ._markers import (
    best_features,
    column_blocks,
    feature_table,
    membership,
    standardised_differences,
)
from ._plots import plot_markers

N_PROFILED = 10  # features of each cluster, and as many words of texts
N_DESCRIBED, N_DESCRIBED_WORDS = 4, 3  # features of each cluster in words, and words of texts
MIN_EFFECT = 0.2  # of features that are worth a word: a small difference by Cohen's rule
MEAN_ROUNDING = 1e-6  # of a mean, relative to the largest value, in single precision
TEXT_KINDS = ("obj", "str", "utf8", "categor", "enum", "large_string", "dictionary")  # of columns
MAX_LEVELS = 20  # distinct values of a column of categories; columns with more are names or texts


class Features(NamedTuple):
    """Columns of a view in their original units."""

    view: object  # name of the view; None if there is only one table
    names: list
    values: np.ndarray  # of the samples that have the view, with NaN for missing cells, or sparse
    present: np.ndarray  # which of the clustered samples have the view
    measures: list  # "category" or "word", see `compute_profiles`; None for other columns


def compute_profiles(fit):
    """Mean or share of features in each cluster, in the units of the views; None if unknown.

    The features that differ most between a cluster and all others are kept, for all clusters.

    Returns
    -------
    Table or None
        ``measure`` is "mean", "share" for columns of zeros and ones, "category" for the share of
        one value of a column of strings, or "word" for the share of the texts with a word;
        ``value`` and ``overall`` are those of the cluster and of all samples, ``effect`` is the
        standardised difference from the other clusters.
    """
    c = len(fit.clusters)
    if fit.views is None or c < 2:
        return None

    # Statistics of all columns of all tables, side by side.
    names, statistics = [], []
    for features in _original_features(fit):
        member = membership(fit.codes[features.present], c)
        is_share = []
        for block in column_blocks(features.values):
            value, overall, effect, is_binary = _describe(block, member)
            statistics.append((value, np.broadcast_to(overall, value.shape), effect))
            is_share += is_binary.tolist()
        for name, share, measure in zip(features.names, is_share, features.measures, strict=True):
            names.append((features.view, name, measure or ("share" if share else "mean")))
    if not names:
        return None
    value, overall, effect = (np.hstack(blocks) for blocks in zip(*statistics, strict=True))

    # Words come after all else, which they would crowd out, and features in the order of their
    # differences.
    views, features, measures = (np.fromiter(x, dtype=object) for x in zip(*names, strict=True))
    is_word = measures == "word"
    keys = -np.nan_to_num(np.abs(effect)), np.broadcast_to(is_word, effect.shape)
    ranked = best_features(np.lexsort(keys), is_word, N_PROFILED)
    return feature_table(
        fit.clusters,
        ranked,
        {"view": views, "feature": features, "measure": measures},
        {"value": value, "overall": overall, "effect": effect},
    )


def _describe(block, member):
    """Means of each cluster and of all samples, effects, and which columns have zeros and ones."""
    missing = np.isnan(block)
    if missing.any():
        values, counts = np.where(missing, 0, block), member @ (~missing).astype(np.float64)
    else:
        values, counts = block, member.sum(axis=1)[:, None]
    with np.errstate(all="ignore"):  # unknown values are NaN, and sums may overflow
        sums = member @ values
        value, overall = sums / counts, sums.sum(axis=0) / counts.sum(axis=0)
    # The mean of a standardised column is 0 but for rounding.
    overall[np.abs(overall) < MEAN_ROUNDING * np.abs(values).max(axis=0, initial=0)] = 0
    is_binary = (values.min(axis=0, initial=0) == 0) & (values.max(axis=0, initial=0) == 1)
    is_binary[is_binary] = np.isin(values[:, is_binary], (0, 1)).all(axis=0)
    return value, overall, standardised_differences(block, member, counts), is_binary


def _original_features(fit):
    """The `Features` of each table of the user, or those of the last step where it has none."""
    last = {}
    for i, (name, columns, X) in enumerate(zip(fit.names, fit.columns, fit.views, strict=True)):
        has = fit.present[i]
        last[name] = Features(name, columns, X[has], has, [None] * len(columns))
    if fit.originals is None:
        return list(last.values())
    # Where a table of the user cannot be read, the columns of the fit take its place, and so do the
    # words of the texts of a table.
    pairs, is_list = listed_views(fit.originals)
    if is_list:
        candidates = [_read_table(X, name, fit) or _words(last.get(name)) for name, X in pairs]
    else:
        table = _read_table(pairs[0][1], None, fit)
        if table is None:
            return list(last.values())
        known = (step.text_views_ for step in fit.steps if hasattr(step, "text_views_"))
        text_views = next(known, [])
        candidates = [table, *(_words(last.get(name)) for name in text_views)]
    return [features for features in candidates if features is not None]


def _words(features):
    """Which texts have which word, if the columns of a view are counts of words."""
    if features is None or not scipy.sparse.issparse(features.values):
        return features
    if not isinstance(features.names[0], str):  # steps of the pipeline do not know the words
        return features
    view = features.view if isinstance(features.view, str) else f"view_{features.view}"
    names = [f"{view} has {word!r}" for word in features.names]
    has_word = (features.values != 0).astype(np.float32)
    return Features(None, names, has_word, features.present, ["word"] * len(names))


def _read_table(X, view, fit):
    """The `Features` of a table before the steps of a pipeline; None if it is none."""
    present = np.ones(len(fit.samples), dtype=bool)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiub":
        names = list(range(X.shape[1]))
        return Features(view, names, X[fit.samples], present, [None] * len(names))
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return None
    is_pandas = hasattr(X, "iloc")
    # Numbers as they are, categories as shares of their values; dates and others are left out.
    names, values, measures = [], [], []
    for j, (name, dtype) in enumerate(zip(X.columns, X.dtypes, strict=True)):
        column = X.iloc[:, j] if is_pandas else X[name]
        kind = str(dtype).lower()
        if kind.startswith(TEXT_KINDS):
            # A column of its own for each value; columns with many are names or texts.
            missing = np.asarray(column.isna() if is_pandas else column.is_null())[fit.samples]
            cells = np.asarray(column.to_numpy(), dtype=object)[fit.samples]
            texts = np.array(list(map(str, cells)), dtype=object)  # of one length they fill memory
            levels = np.unique(texts[~missing])
            for level in levels if 1 < len(levels) <= MAX_LEVELS else ():
                names.append(f"{name} = {level}")
                values.append(np.where(missing, np.nan, texts == level))
                measures.append("category")
        elif NUMERIC.match(kind):
            to_nan = {"dtype": np.float64, "na_value": np.nan} if is_pandas else {}
            names.append(name)
            values.append(np.asarray(column.to_numpy(**to_nan), dtype=np.float64)[fit.samples])
            measures.append(None)
    return Features(view, names, np.column_stack(values), present, measures) if values else None


def feature_label(feature, view):
    """The name of a feature, with its view if it has only a number."""
    if isinstance(feature, str):
        return feature
    if view is None:
        return f"column {feature}"
    return f"{f'view_{view}' if isinstance(view, int) else view}[{feature}]"


def _describe_profiles(profiles, clusters):
    """The features in which each cluster differs most, in words, in the order of the clusters."""
    effect, measure = profiles["effect"], profiles["measure"]
    is_word = measure == "word"
    # Categories and words that are rare in a cluster tell little.
    is_rare = (effect < 0) & np.isin(measure, ["category", "word"])
    is_typical = (np.abs(effect) >= MIN_EFFECT) & ~is_rare
    texts = []
    for cluster in clusters:
        rows = np.flatnonzero(is_typical & (profiles["cluster"] == cluster))
        numbers, words = rows[~is_word[rows]], rows[is_word[rows]]
        described = *numbers[:N_DESCRIBED], *words[:N_DESCRIBED_WORDS]
        parts = [
            _describe_row({name: column[row] for name, column in profiles.items()})
            for row in described
        ]
        texts.append("; ".join(parts) or "like all samples")
    return texts


def _describe_row(row):
    """One feature in one cluster, in words."""
    inside, overall, effect = (float(row[name]) for name in ("value", "overall", "effect"))
    if row["measure"] == "mean":
        texts = format_value(inside), format_value(overall)
    else:
        texts = f"{100 * inside:.0f} %", f"{100 * overall:.0f} %"
    difference = f"{effect:+.1f}" if abs(effect) < 10 else f"beyond {np.sign(effect):+.0f}0"
    return f"{feature_label(row['feature'], row['view'])} {texts[0]} ({texts[1]}, {difference})"


def profile_part(clusters, profiles):
    """What distinguishes each cluster, in the units of the views."""
    order = np.argsort(-clusters["samples"], kind="stable")
    texts = _describe_profiles(profiles, clusters["cluster"])
    columns = {
        "cluster": clusters["cluster"][order],
        "share": [f"{100 * share:.0f} %" for share in clusters["share"][order]],
        "differs most in": [texts[k] for k in order],
    }
    sentence = (
        "Mean or share in the cluster; in parentheses that of all samples, and the difference from "
        f"the other clusters in standard deviations, if at least {MIN_EFFECT}. Clusters of noise "
        "differ as well, because they were found in these features."
    )
    caption = "Differences of each cluster from the others in standard deviations"
    title = "Profiles, the largest clusters first"
    return Part(title, Table(columns), [sentence], {caption: partial(plot_markers, profiles)})
