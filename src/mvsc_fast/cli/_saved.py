"""Saved models, and a warning if new samples have other units than those in fit."""

import pickle
from pathlib import Path

import numpy as np
import scipy.sparse

from .._utils.messages import import_extra, warn_user
from ..judge._model_file import names_in
from ..methods._prediction import SavedPredictor, native_model, note_content
from ..views._frames import view_title
from ..views._read import read_views
from ..views._rows import spread
from ._outputs import replaced

KEYS = {"model", "views", "columns", "id_name", "one_table", "values"}
TRUSTED = ("mvsc_fast.", "numpy.", "scipy.", "sklearn.")
COMPARED = 1000  # maximum number of samples for quantiles of the values of a view
# Median distance of new values from the medians of fit, in interquartile ranges. On 13 views of
# digits, measurements and assays: at most .51 for half of the samples, at most 1 for a single
# class, and rarely above 2 for a single sample; usually more for other units, logarithms or scales.
FARTHEST = 2
# The same for a single column. On 13 views it is at most 1.8 for ten samples, 3.5 for a class, and
# 8 for one sample, but 500 for a unit that is a thousand times smaller. Larger units are not found.
FARTHEST_COLUMN, FARTHEST_OF_FEW, FEW = 10, 100, 10
# Ratio of the sizes of values of sparse views: counts above 50 are more than ten times as large as
# their logarithms.
LARGEST_RATIO = 10


def save_model(path, content):
    """Write a dict with a model as a pickle, or in the format of the suffix .mvsc or .skops."""
    with replaced(path, "wb") as stream:
        if is_native(path):
            stream.write(_native(**content))
        else:
            stream.write((skops_of(path) or pickle).dumps(content))


def is_native(path):
    """Whether a path has the suffix .mvsc, of model files for `SavedPredictor` and C."""
    return Path(path).suffix.lower() == ".mvsc"


def _native(model, views, columns, values, **facts):
    """A model file; a pipeline is split into its model and its scaling of columns."""
    scalers = None
    if hasattr(model, "steps"):
        scale, model = (step for _, step in model.steps)
        scalers = [(part.mean_, part.scale_) for part in scale.transformers_.values()]
    facts["values"] = [pair and [part.tolist() for part in pair] for pair in values]
    return native_model(model, views, columns, scalers, **facts)


def _loaded(path):
    """The content of a model file, as `save_model` got it."""
    model = SavedPredictor(path)
    names, columns, n_features, note = names_in(model.predictor_.model.image)
    model.view_names_in_ = names
    try:
        facts = _checked_facts(note_content(note), n_features)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: its note is damaged ({error})") from error
    return {**facts, "model": model, "views": names, "columns": columns}


def _checked_facts(note, n_features):
    """What `_native` writes beside the model, of these types; other entries are ignored."""
    facts = {"id_name": None, "one_table": False, "values": [None] * len(n_features)}
    facts |= {name: value for name, value in note.items() if name in facts}
    if not (facts["id_name"] is None or isinstance(facts["id_name"], str)):
        raise ValueError("id_name is no text")
    if not isinstance(facts["one_table"], bool):
        raise ValueError("one_table is not true or false")
    pairs = zip(facts["values"], n_features, strict=True)
    return facts | {"values": [_checked_pair(pair, width) for pair, width in pairs]}


def _checked_pair(pair, width):
    """Medians and ranges of the columns of a view, or None."""
    return None if pair is None else tuple(np.array(pair, dtype=np.float64).reshape(2, width))


def load_model(path):
    """Read a dict that `save_model` wrote; a pickle of another version warns."""
    if is_native(path):
        return _loaded(path)
    data, skops = Path(path).read_bytes(), skops_of(path)
    try:
        if skops is None:
            content = pickle.loads(data)
        else:
            types = skops.get_untrusted_types(data=data)
            content = skops.loads(
                data, trusted=[name for name in types if name.startswith(TRUSTED)]
            )
        if not (content.keys() >= KEYS and hasattr(content["model"], "predict")):
            raise ValueError("it has no model")
    except Exception as error:  # files that are damaged or of another version raise any error
        raise ValueError(
            f"{path} is not a model that mvsc-fast cluster --save wrote, or it is damaged or "
            f"of another version ({type(error).__name__}: {error})"
        ) from error
    return content


def keep_containers(scale, views):
    """Let a `PerView` return data frames for the views that are, as pandas may not be installed."""
    for name, X in views.items():
        out = "pandas" if hasattr(X, "iloc") else "default"
        scale.transformers_[name].set_output(transform=out)


def skops_of(path):
    """The module skops.io if a path has the suffix .skops, else None."""
    if Path(path).suffix.lower() != ".skops":
        return None
    import_extra("skops", path)
    return import_extra("skops.io", path)


def values_of(views):
    """Median and interquartile range of each column of each view.

    For sparse views, whose columns are mostly zeros, whether all values are whole numbers, and the
    99th percentile of their sizes.
    """
    summaries = []
    for X in _some_rows(views):
        if scipy.sparse.issparse(X):
            summaries.append(_kind_of_values(X))
        else:
            low, median, high = np.nanpercentile(X, (25, 50, 75), axis=0)
            summaries.append((median, high - low))
    return summaries


def _kind_of_values(X):
    """Whether all values but zeros are whole numbers, and the 99th percentile of their sizes."""
    values = X.data if scipy.sparse.issparse(X) else X.ravel()
    values = values[np.isfinite(values) & (values != 0)]
    largest = np.percentile(np.abs(values), 99) if len(values) else 0.0
    return np.array([float((values % 1 == 0).all())]), np.array([largest])


def warn_of_units(views, values, columns):
    """Warn of views or columns whose values are far from those in fit, in their median.

    Sparse views are compared by the kind of their values.
    """
    views_and_rows = zip(views, _some_rows(views), values, columns, strict=True)
    for name, X, fitted, names in views_and_rows:
        if fitted is None:
            continue
        median, width = fitted
        if len(median) == 1 < X.shape[1]:
            _warn_of_kind(name, X, fitted)
            continue
        if scipy.sparse.issparse(X):
            continue
        present = np.flatnonzero((width > 0) & ~np.isnan(X).all(axis=0))
        if not len(present):
            continue
        distances = np.abs(X[:, present] - median[present]) / width[present]
        where, distance = view_title(name), np.nanmedian(distances)
        # If most columns are as in the fit, one of them may have another unit.
        if distance <= FARTHEST:
            by_column = np.nanmedian(distances, axis=0)
            k = np.argmax(by_column)
            distance, j = by_column[k], present[k]
            where = f"column {repr(names[j]) if names else j + 1} of {where}"
            if distance <= (FARTHEST_OF_FEW if len(X) < FEW else FARTHEST_COLUMN):
                continue
        warn_user(
            f"values of {where} are typically {distance:.1f} interquartile ranges from the medians "
            "of the fit, but about 0.5 is expected: check that units, logarithms and scaling are "
            "the same"
        )


def _warn_of_kind(name, X, fitted):
    """Warn if a view has counts and that of the fit has not, or values of other sizes."""
    kinds = [(bool(whole[0]), float(largest[0])) for whole, largest in (_kind_of_values(X), fitted)]
    (whole, largest), (fitted_whole, fitted_largest) = kinds
    ratio = max(largest, fitted_largest) / max(min(largest, fitted_largest), 1e-300)
    if largest > 0 and fitted_largest > 0 and (whole != fitted_whole or ratio > LARGEST_RATIO):
        new, old = (
            f"{'whole numbers' if is_whole else 'numbers'} up to {size:.3g}"
            for is_whole, size in kinds
        )
        warn_user(
            f"values of {view_title(name)} are {new}, but those of the fit were {old}: check that "
            "counts, units, logarithms and scaling are the same"
        )


def _some_rows(views):
    source = read_views(views, min_samples=1)
    return source.take(spread(source.n_samples, COMPARED))
