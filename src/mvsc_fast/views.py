"""Lists of feature matrices in, one validated form out."""

import numpy as np
import scipy.sparse
from sklearn.utils import check_array

from .validation import check_finite, check_squarable

__all__ = ["check_views"]


def check_views(views, *, ensure_min_samples=2):
    """Validate multi-view features.

    Parameters
    ----------
    views : list of array-like or sparse matrix of shape (n_samples, n_features_i)
        One matrix for each view, all with the same samples in the same order. A single matrix
        (array, sparse matrix or data frame) is one view.
    ensure_min_samples : int, default=2

    Returns
    -------
    list of ndarray or csr_matrix
        float32 where every view is float32, else float64. C-contiguous; not copied if they
        already were of this form.

    Raises
    ------
    ValueError
        On an empty list, views with different numbers of samples, NaN or infinite entries (with
        their count), entries too large to be squared, complex or non-numeric entries, or fewer
        samples than needed.
    """
    named = _as_list(views)
    checked = [
        check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_all_finite=False,
            ensure_min_samples=ensure_min_samples,
            input_name=name,
        )
        for name, X in named
    ]
    for (name, _), X in zip(named, checked, strict=True):
        if X.shape[0] != checked[0].shape[0]:
            raise ValueError(
                f"{name} has {X.shape[0]} samples, view 0 has {checked[0].shape[0]}: "
                "every view must describe the same samples"
            )
        check_finite(X, name)
        check_squarable(X, name)
    dtype = np.result_type(*(X.dtype for X in checked))
    return [X.astype(dtype, copy=False) for X in checked]


def _as_list(views):
    """(name, matrix) of every view."""
    if isinstance(views, (list, tuple)):
        if len(views) == 0:
            raise ValueError("the list of views is empty: pass at least one feature matrix")
        if np.ndim(views[0]) >= 2 or scipy.sparse.issparse(views[0]):
            return [(f"view {i}", X) for i, X in enumerate(views)]
    elif getattr(views, "ndim", 2) == 3:
        raise ValueError(
            f"got one array of shape {views.shape}: pass a list of (n_samples, n_features) "
            'arrays, or graph="precomputed" for a stack of similarity matrices'
        )
    return [("X", views)]
