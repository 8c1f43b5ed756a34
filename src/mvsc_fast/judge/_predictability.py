"""A judge of labels that needs no truth: how well the other samples predict each sample's label."""

import numpy as np

from .._utils.threads import blas_threads
from ..views import check_views
from ..views._rows import ViewRows, canonical_order
from ._ridge import Judge


def label_predictability(views, labels):
    """How well ridge regression on all other samples predicts each sample's label.

    The mean over three feature maps F of ::

        NMI(labels, argmax_k yhat_k),    yhat_i = (u_i (U^T Y) - h_i Y_i) / (1 - h_i),

    where yhat_i is the leave-one-out prediction of Y = one-hot(labels) / sqrt(cluster size),
    U = F (F^T F + g I)^-1/2, h_i = ||u_i||^2 and g = n / (2 min(n, D)). The maps are the unit rows
    of all views side by side, the same centred, and centred square roots beside 600 Nystroem
    features of local Gaussian kernels. One D x D Gram matrix for each map, then two thin products
    for each labelling: linear in the number of samples. Of more than 4096 samples, so many, spread
    evenly, are the ones that predict: each other by the first two maps, all by the third.

    It serves to choose among labellings of the same samples and the same number of clusters,
    whatever methods, parameters or seeds they come from. It is no test: labels that follow a
    nuisance in the views are predictable too.

    Parameters
    ----------
    views : list of array-like or sparse matrix of shape (n_samples, n_features_i)
        As for the estimators; one matrix is one view.
    labels : array-like of shape (n_samples,) or (n_labellings, n_samples)
        Integers or strings. Judging many labellings at once costs little more than judging one.

    Returns
    -------
    float, or ndarray of shape (n_labellings,)
        In [0, 1], 1 where every label is predicted. 0 for a single cluster, which has nothing to
        predict. Independent of the order of the samples.

    Raises
    ------
    ValueError
        If a view is invalid, or labels do not match the samples or are NaN or None.

    Notes
    -----
    As a scorer of scikit-learn's form: ``lambda model, X, y=None: label_predictability(X,
    model.labels_)``.

    Examples
    --------
    >>> from mvsc_fast import datasets, label_predictability
    >>> views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> label_predictability(views, y) > label_predictability(views, y[::-1])
    True
    """
    views = check_views(views)
    labels = np.asarray(labels)
    n = views[0].shape[0]
    if labels.ndim not in (1, 2) or labels.shape[-1] != n or labels.size == 0:
        raise ValueError(
            f"labels has shape {labels.shape}, the views have {n} samples: pass one label per "
            "sample, or rows of them"
        )
    unknown = labels != labels  # NaN
    if labels.dtype == object:
        unknown = unknown | (labels == None)  # noqa: E711
    if np.any(unknown):
        first = int(np.flatnonzero(np.atleast_2d(unknown).any(axis=0))[0])
        raise ValueError(
            f"labels has {np.count_nonzero(unknown)} NaN or None, the first for sample {first}: "
            "leave samples without a label out"
        )
    with blas_threads(1):
        order = canonical_order(views)
        judge = Judge([ViewRows(X[order]) for X in views])
        scores = [judge(*_numbered(row[order]))[0] for row in np.atleast_2d(labels)]
    return float(scores[0]) if labels.ndim == 1 else np.array(scores)


def _numbered(labels):
    """[labels from 0], and how many there are."""
    names, numbered = np.unique(labels, return_inverse=True)
    return [numbered], len(names)
