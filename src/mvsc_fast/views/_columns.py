"""Names of views and of their columns between fit and predict, and views that need scaling."""

from collections.abc import Mapping

import numpy as np
import scipy.sparse

from .._utils.messages import warn_user
from ._frames import check_same_columns, shown, view_title
from ._rows import is_constant, observed, spread, unit_rows

FEW_COLUMNS = 4
# Share of the squared length of rows that the two largest columns carry. Of 40 views of the ten
# real sets: at most .71, but for the morphological features of the digits (1.0), which help beside
# other views. Unscaled tables of measurements: .98 and more, in all views.
LARGEST_SHARE = 0.9
MAX_SAMPLES = 300  # samples that shares are estimated on


def in_order(X, names):
    """Views of a dict in the order of those of fit, others as they are."""
    if not isinstance(X, Mapping) or scipy.sparse.issparse(X):  # some of which are mappings
        return X
    absent = [name for name in names if name not in X]
    extra = [name for name in X if name not in names]
    if absent or extra:
        raise ValueError(
            f"the dict has the views {shown(*X)}, and fit had {shown(*names)}: pass the same keys"
        )
    return {name: X[name] for name in names}


def column_attributes(columns):
    """``feature_names_in_`` of a model fitted on several views, if any has names."""
    named = [None if names is None else np.array(names, dtype=object) for names in columns]
    return {} if all(names is None for names in named) else {"feature_names_in_": named}


def check_columns(model, columns):
    """Compare the names of columns with those of fit, where both are known.

    Parameters
    ----------
    model : fitted estimator
    columns : list of (list of str or None)
        One for each view, as of `NamedViews`.
    """
    fitted = getattr(model, "feature_names_in_", None)
    if fitted is None:
        return
    fitted = fitted if isinstance(fitted, list) else [fitted]
    for name, found, known in zip(model.view_names_in_, columns, fitted, strict=False):
        if found is not None and known is not None:
            check_same_columns(view_title(name), found, known)


def warn_of_columns(views, names, columns):
    """Warn of views with fewer than four columns, and of few columns that outweigh all others.

    The latter where so it is in at least half of the views: elsewhere the others make up for it.
    Constant views, of which there are other warnings, are passed over.

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (n, d_i)
        Rows may be NaN.
    names : list
    columns : list of (list of str or None)
        Names of the columns of each view, as of `NamedViews`.
    """
    views = observed(views)
    few = [i for i, X in enumerate(views) if X.shape[1] < FEW_COLUMNS and not is_constant(X)]
    if few:
        told = ", ".join(f"{view_title(names[i])} ({views[i].shape[1]})" for i in few)
        warn_user(
            f"fewer than {FEW_COLUMNS} features: {told}. Rows are scaled to unit length, which "
            "leaves little of so few: join such views to others, or add features",
        )
    largest = {i: found for i, X in enumerate(views) if (found := _largest_columns(X)) is not None}
    if 2 * len(largest) >= len(views) and largest:
        told = []
        for i, (which, share) in largest.items():
            which = which if columns[i] is None else [columns[i][j] for j in which]
            told.append(f"{shown(*which)} of {view_title(names[i])} ({100 * share:.3g} %)")
        warn_user(
            f"few columns carry nearly all of the squared length of rows: {', '.join(told)}. "
            "Similarities hardly see the others: scale columns first, as by "
            "sklearn.preprocessing.StandardScaler for each view",
        )


def _largest_columns(X):
    """The one or two columns that carry nearly all of the length of rows, and their share."""
    if X.shape[1] < FEW_COLUMNS:
        return None
    X = X[spread(X.shape[0], MAX_SAMPLES)]
    U = unit_rows(X)
    share = np.asarray(U.multiply(U).mean(axis=0) if scipy.sparse.issparse(U) else (U * U).mean(0))
    share = share.ravel()
    which = np.argsort(-share, kind="stable")[:2]
    total = share.sum()
    if total == 0 or share[which].sum() <= LARGEST_SHARE * total:
        return None
    share = share[which] / total
    return (which[:1], share[0]) if share[0] > LARGEST_SHARE else (which, share.sum())
