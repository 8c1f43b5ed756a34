"""Predictability of labels: a score of a labelling that needs no ground truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils.threads import limited
from .._utils.types import Scale, Views
from .._utils.validation import check_labels
from ..views._lift import find_lift, lifted
from ..views._read import read_views
from ..views._sample import drawn
from ..views._scaling import check_scale
from ._ridge import adjusted_mutual_information, judge_of


@limited
def label_predictability(
    views: Views, labels: ArrayLike, *, scale: Scale | None = None
) -> float | Any:
    """Measure how well the label of each sample is predicted from all other samples.

    The score is the mean, over two feature maps F, of ::

        AMI(labels, argmax_k yhat_k),    yhat_i = (u_i (U^T Y) - h_i Y_i) / (1 - h_i),

    where yhat_i is the leave-one-out ridge prediction of Y = one-hot(labels) / sqrt(cluster size),
    U = F (F^T F + g I)^-1/2, h_i = ||u_i||^2 and g = n / (2 min(n, D)). The first map concatenates
    the unit rows of all views. The second consists of centred rows (of square roots, for
    non-negative views) and 600 Nystroem features of local Gaussian kernels. The cost is linear in
    the number of samples. If there are more than 4096 samples, the regressions are fitted on an
    evenly spaced subsample of this size; the first map scores the subsample, the second scores all
    samples. Views are lifted as in `ConsensusTLRR`. Views with more columns than samples enter by
    their leading components, and count n columns in D.

    AMI is the adjusted mutual information, which is about 0 for random labels whatever the number
    of clusters. The score compares labellings of one kind for the same views, such as the
    candidates of `ConsensusTLRR`. It is no guide to methods, parameters or sets of views, and not a
    significance test (see `structure_test`): labels that follow a nuisance factor of the views are
    predictable too.

    Parameters
    ----------
    views : list of array-like or sparse matrix of shape (n_samples, n_features_i)
        Views, as for `ConsensusTLRR`: missing rows are predicted from the other views, and samples
        that lack all views are not scored. A single matrix is one view.
    labels : array-like of shape (n_samples,) or (n_labellings, n_samples)
        Numbers or strings; the index of a pandas series must be that of the views. Scoring many
        labellings at once costs little more than scoring one.
    scale : {"standard"}, optional
        How columns are scaled, as in `ConsensusTLRR`.

    Returns
    -------
    float, or ndarray of shape (n_labellings,)
        Scores of at most 1, which is that of labels that are all predicted: 0 for a single cluster,
        and on average for labels that the views say nothing of. They do not depend on the order of
        the samples.

    Raises
    ------
    ValueError
        If a view is invalid, or labels do not match the samples or their ids, or are NaN or None.

    Examples
    --------
    >>> from mvsc_fast import datasets, label_predictability
    >>> views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> label_predictability(views, y) > label_predictability(views, y[::-1])
    True
    """
    scale = check_scale(scale, "scale")
    source = read_views(views)
    n, index = source.n_samples, source.index
    # One labelling or several are accepted.
    entries: Any = labels if isinstance(labels, (list, tuple)) else np.asarray(labels)
    is_table = getattr(entries, "ndim", 1) > 0 and len(entries) > 0 and np.ndim(entries[0]) == 1
    if is_table:
        numbered = [check_labels(row, f"labelling {i}", n, index) for i, row in enumerate(entries)]
    else:
        numbered = [check_labels(labels, "labels", n, index)]
    # The views go through the steps of a fit. Samples without any view cannot be predicted, and the
    # canonical order makes the scores independent of the order of the samples.
    sample = drawn(source, n, 1, 0, scale=scale, unit=False)
    lifts = [find_lift(view.observed, view.nonnegative) for view in sample.views]
    rows = [lifted(view.rows, lift) for view, lift in zip(sample.views, lifts, strict=True)]
    judge, order = judge_of(rows, range(len(rows)))
    samples = sample.samples[order]
    numbered = [np.unique(row[samples], return_inverse=True)[1] for row in numbered]
    scores = [judge([row], int(row.max()) + 1, adjusted_mutual_information)[0] for row in numbered]
    return np.array(scores) if is_table else float(scores[0])
