"""Names of views and columns, compared with those in fit, and columns that need a warning."""

import re
from collections.abc import Iterator, ValuesView

import numpy as np
import scipy.sparse
from sklearn.utils.validation import _num_samples

from .._utils.messages import warn_user
from ._anndata import unpacked
from ._frames import only_in, shown, view_title
from ._rows import is_constant, spread
from ._view_rows import unit_rows

FEW_COLUMNS = 4
# A few columns outweigh the others if the effective number of columns is below both, the number and
# the share of all. Most tables of unlike units have 1 to 3; iris, of like units, has .6 of all.
MAX_EFFECTIVE, MAX_EFFECTIVE_SHARE = 6, 0.33
SHARE_SAMPLES = 300  # number of samples on which shares are estimated
# Last words of names that columns of labels, outcomes and ids often have.
NO_FEATURES = frozenset(
    "barcode churn class cluster death diagnosis event fraud id ids label labels mrn outcome "
    "phenotype relapse species status subtype survival target truth uuid".split()
)


def in_order(X, names):
    """Views of a dict in the order of fit; other views as given."""
    X = unpacked(X)
    if type(X) is not dict:
        return X
    if set(X) != set(names):
        raise ValueError(
            f"the dict has the views {shown(*X)}, but fit had {shown(*names)}: pass the same keys"
        )
    return {name: X[name] for name in names}


def with_absent(X, names, n_features):
    """Views of new samples, with NaN for a view that is None or absent from a dict."""
    X = unpacked(X)
    X = list(X) if isinstance(X, (Iterator, ValuesView)) else X
    if type(X) is dict:
        X = in_order(X if set(X) - set(names) else dict.fromkeys(names) | X, names)
    views = dict(enumerate(X)) if isinstance(X, (list, tuple)) else X
    if type(views) is not dict or len(views) != len(names):
        return X
    # An absent view is a matrix of NaN, so that prediction has only one case.
    widths = {key: d for key, d in zip(views, n_features, strict=True) if views[key] is None}
    if not widths:
        return X
    tables = [X for X in views.values() if getattr(X, "shape", hasattr(X, "__len__"))]
    if not tables:
        raise ValueError("every view is None, absent or no table: pass at least one")
    n = _num_samples(tables[0])
    return views | {key: np.broadcast_to(np.float32(np.nan), (n, d)) for key, d in widths.items()}


def column_attributes(columns):
    """``feature_names_in_`` of a model fitted on several views, if any view has column names."""
    arrays = [names and np.array(names, dtype=object) for names in columns]
    return {"feature_names_in_": arrays} if any(columns) else {}


def has_names_by_view(model):
    """Whether a model has names of columns for each view, not those of a single matrix."""
    return isinstance(getattr(model, "feature_names_in_", None), list)


def fitted_columns(model):
    """Names of the columns of each view in fit, or None; a single view has one array of names."""
    names = getattr(model, "feature_names_in_", None)
    return names if has_names_by_view(model) else [names] * len(model.view_names_in_)


def check_columns(model, source):
    """Compare columns with those of fit: their names, where both have names, and their numbers.

    Raise ValueError if they differ, and warn of views that have names in fit alone.

    Parameters
    ----------
    model : fitted estimator
    source : RowSource
    """
    unnamed = []
    parts = model.view_names_in_, source.columns, fitted_columns(model), source.views
    for name, columns, expected, view in zip(*parts, strict=False):
        # A matrix that repeats one number is a view that `with_absent` made.
        if expected is None or getattr(view, "strides", None) == (0, 0):
            continue
        title = view_title(name)
        if columns is None:
            unnamed.append(title)
        elif columns != list(expected):
            # Which columns are too many or too few tells more than two long lists.
            lack = only_in(columns, title, expected, "fit")
            raise ValueError(
                f"the columns of {title} are not those of fit ({lack or 'in another order'}): pass "
                "frame[columns] with the columns of feature_names_in_"
            )
    if unnamed and (source.listed or has_names_by_view(model)):  # else scikit-learn warns
        warn_user(
            f"no column names, unlike in fit: {', '.join(unnamed)}. Columns are taken to be in the "
            "order of feature_names_in_"
        )
    if source.n_features != model.n_features_per_view_:
        raise ValueError(
            f"the views have {source.n_features} features, expected {model.n_features_per_view_} "
            "as in fit: pass the views of fit, in the same order (predict: None for an absent one)"
        )


def warn_of_columns(views):
    """Warn of views with fewer than four columns, and of a few columns that outweigh the others.

    Lifted views keep the lengths of their rows, so they may have few columns.
    The second warning is given only if at least half of the views have such columns, because
    otherwise the other views compensate. Constant views, for which there is another warning, are
    ignored.

    Parameters
    ----------
    views : list of tuple
        Of each view its rows, an ndarray or csr_matrix of shape (n, d) without missing rows, its
        name, the names of its columns or None, and its `Lift` or None.
    """
    narrow, uneven = [], []
    for X, name, texts, lift in views:
        if is_constant(X):
            continue
        if X.shape[1] < FEW_COLUMNS and lift is None:
            narrow.append(f"{view_title(name)} ({X.shape[1]})")
        columns, share = _largest_columns(X, lift is not None)
        if len(columns):
            columns = columns if texts is None else [texts[j] for j in columns]
            uneven.append(f"{shown(*columns)} of {view_title(name)} ({100 * share:.3g} %)")
    if narrow:
        warn_user(
            f"fewer than {FEW_COLUMNS} features: {', '.join(narrow)}. Rows are scaled to unit "
            "length, which discards much information: concatenate such views with others, or add "
            "features"
        )
    # Columns that outweigh all others matter if they do in half of the views: one such view is
    # useful beside others.
    if uneven and 2 * len(uneven) >= len(views):
        warn_user(
            f"a few columns make up most of the squared length of rows: {', '.join(uneven)}. "
            'Similarities hardly depend on the others: scale columns with scale="standard", or '
            "--scale standard of mvsc-fast cluster"
        )


def _largest_columns(X, is_lifted=False):
    """The columns that outweigh the others, if any, and their share of the squared length of rows.

    The effective number of columns is the squared sum of their shares over the sum of their
    squared shares: k for k equally large columns beside columns of zeros.
    """
    X = X[spread(X.shape[0], SHARE_SAMPLES)]
    U = X[:, :-1] if is_lifted else unit_rows(X)  # the last lifted column is the length
    # The mean squared entries of unit rows are shares of the squared length.
    share = np.ravel(U.multiply(U).mean(axis=0) if scipy.sparse.issparse(U) else (U * U).mean(0))
    total, squares = share.sum(), share @ share
    if total**2 >= min(MAX_EFFECTIVE, MAX_EFFECTIVE_SHARE * len(share)) * squares:
        return [], 0.0
    columns = np.argsort(-share, kind="stable")[: round(total**2 / squares)]
    return columns, share[columns].sum() / total


def warn_of_names(titles, columns):
    """Warn of columns whose last word is one of NO_FEATURES; they are used like all others.

    Parameters
    ----------
    titles : iterable of str
    columns : iterable of (list of str or None)
        Names of the columns of each view.
    """
    parts = []
    for title, names in zip(titles, columns, strict=True):
        suspects = [name for name in names or () if NO_FEATURES.intersection(_words(name)[-1:])]
        if suspects:
            parts.append(f"{shown(*suspects)} of {title}")
    if parts:
        warn_user(
            f"columns with names of labels, outcomes or ids are used as features: "
            f"{', '.join(parts)}. Remove them, unless they are features"
        )


def _words(name):
    """The words of a name, such as "customer_id" or "customerID", in lower case."""
    return re.sub(r"[\W_]+|(?<=[a-z])(?=[A-Z])", " ", name).lower().split()
