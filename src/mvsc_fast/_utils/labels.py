"""Check of labels that users give: of classes, of clusters, of several labellings."""

from numbers import Number

import numpy as np

from .containers import check_container
from .messages import counted


def index_of(labels):
    """The index of a pandas series; None for other containers."""
    return labels.index if hasattr(labels, "iloc") else None


def check_labels(labels, name, n=None, index=None, other="the views"):
    """Number labels from 0 in sorted order; an int64 array of shape (n_samples,).

    ``n`` and ``index`` are the expected number of labels and, for a pandas series, their index;
    ``name`` and ``other`` name in messages the labels and what has these samples.
    """
    check_container(labels, name)
    is_list = isinstance(labels, (list, tuple))  # whose types NumPy would unify
    values = np.asarray(labels, dtype=object if is_list else None)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} has shape {values.shape}: expected one label per sample")
    # Labels must be those of the samples: as many, and with the same ids if both have ids.
    if n is not None and len(values) != n:
        raise ValueError(
            f"{name} has {counted(len(values), 'label')}, but the number of samples is {n} in "
            f"{other}: expected one label per sample"
        )
    labels_index = index_of(labels)
    if labels_index is not None and index is not None and not labels_index.equals(index):
        row = int(np.argmax(labels_index != index))
        raise ValueError(
            f"{name} and {other} have different indexes, {labels_index[row]!r} and "
            f"{index[row]!r} in row {row}: align them by .loc, or pass arrays to compare by "
            "position"
        )
    if values.dtype == object:
        unknown = np.array([not _is_known(label) for label in values])
    else:
        unknown = values != values
    if unknown.any():
        raise ValueError(
            f"{name} has {np.count_nonzero(unknown)} NaN or None, the first for sample "
            f"{int(unknown.argmax())}: remove samples without a label"
        )
    if values.dtype == object:
        _check_types(set(map(type, values)), name)
    return np.unique(values, return_inverse=True)[1].astype(np.int64, copy=False)


def _is_known(label):
    """Whether a label is not None, NaN, or NA of pandas, whose comparison with itself is NA."""
    same = label == label
    return label is not None and isinstance(same, bool | np.bool_) and bool(same)


def _check_types(types, name):
    """Raise ValueError unless all labels are text, or all are numbers."""
    text = {kind for kind in types if issubclass(kind, str)}
    numbers = {kind for kind in types if issubclass(kind, Number | np.bool_)}
    if other_types := types - text - numbers:
        kinds = ", ".join(sorted(kind.__name__ for kind in other_types))
        raise ValueError(f"{name} has labels of type {kinds}: expected numbers or strings")
    if text and numbers:
        raise ValueError(f"{name} has both numbers and strings, such as 1 and '1': convert them")
