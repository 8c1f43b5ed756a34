"""Detection of views without structure, and the support of views for labels."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from .._utils.messages import counted, warn_user
from ..similarity._dense import ridge_slice
from ..views._row_source import RowSource
from ..views._rows import is_constant, presence, spread
from ..views._sample import canonical_order
from ..views._view_rows import ViewRows, imputed, in_canonical_columns, nonzero_columns, unit_rows
from ._ridge import adjusted_mutual_information, one_hot

GRAPH_RIDGE = 0.5  # for the graphs; MIN_Z was measured with this value
# Two graphs agree from this z on. For the test of noise (`helpful_views`): at least 6.3 for
# views of ten real sets, at most 3.7 for nine kinds of noise. `warn_of_camps` has other evidence.
MIN_Z = 5.0
MIN_SAMPLES = 200
MIN_COMMON = 4  # samples that connect two views: fewer have no moments, see `permutation_z`
MIN_COLUMNS = 4
GRAPH_SAMPLES = 1000  # for the graph of a view; larger subsamples did not change the result


def permutation_z(A, B):
    """Standardised association of two graphs under random permutations (Mantel 1967).

    The number of standard deviations by which ``s = sum_jk A_jk B_jk`` exceeds its mean over all
    n! joint permutations of the rows and columns of B. The moments are exact: with s1 = sum A,
    s2 = sum A^2, s3 = sum of the squared row sums, t1, t2, t3 those of B, and N = n (n - 1)::

        E s   = s1 t1 / N
        E s^2 = 2 s2 t2 / N  +  4 (s3 - s2) (t3 - t2) / (N (n - 2))
                + (s1^2 + 2 s2 - 4 s3) (t1^2 + 2 t2 - 4 t3) / (N (n - 2) (n - 3))

    Parameters
    ----------
    A, B : ndarray of shape (n, n), n >= 4
        Symmetric with zero diagonal. Each must be computed from its own view alone, because
        slices that share a sparse pattern are associated by this pattern.

    Returns
    -------
    float
        0 if one of the graphs has no variance.
    """
    n = A.shape[0]
    N = n * (n - 1.0)
    (s1, s2, s3), (t1, t2, t3) = _moments(A), _moments(B)
    together = float((A * B).sum(dtype=np.float64))
    mean = s1 * t1 / N
    square = (
        2 * s2 * t2 / N
        + 4 * (s3 - s2) * (t3 - t2) / (N * (n - 2))
        + (s1**2 + 2 * s2 - 4 * s3) * (t1**2 + 2 * t2 - 4 * t3) / (N * (n - 2) * (n - 3))
    )
    variance = square - mean**2
    return (together - mean) / np.sqrt(variance) if variance > 1e-12 * square else 0.0


def _moments(A):
    rows = A.sum(axis=1, dtype=np.float64)
    return rows.sum(), float((A * A).sum(dtype=np.float64)), float(rows @ rows)


def graph_support(A, labels):
    """Agreement of labels with the graph A of one view, whose diagonal is ignored; at least 0.

    Adjusted mutual information of the labels with those that the neighbours of each sample predict,
    ``argmax_k (A Y)_k`` with Y = one-hot(labels) / sqrt(cluster size).
    """
    votes = count_votes(A, one_hot(labels, int(labels.max()) + 1)).argmax(axis=1)
    return max(0.0, adjusted_mutual_information(labels, votes))


def count_votes(A, Y):
    """A Y for a graph A, whose diagonal is ignored, and indicators Y."""
    return np.asarray(A @ Y) - A.diagonal()[:, None] * Y


def _graph(X):
    """Graph of one view, float32, from rows of unit length.

    Without edges if all samples are equal, because they would have one label.
    """
    graph = np.zeros((X.shape[0], X.shape[0]), dtype=np.float32)
    if len(graph) < 2 or is_constant(X):
        return graph
    rows = X[:, nonzero_columns(X)].astype(np.float32, copy=False)
    return ridge_slice(rows, GRAPH_RIDGE, graph)


class ViewGraphs(NamedTuple):
    """Graphs of each view alone, on at most 1000 evenly spaced samples in canonical order.

    The graph of a view contains the samples that have the view.

    Attributes
    ----------
    samples : ndarray of int
        Indices of the samples of the graphs.
    present : ndarray of shape (v, m) of bool
        Whether each of these samples has each view.
    graphs : list of ndarray of shape (m_i, m_i), float32
        `self_representation` of each view.
    """

    samples: np.ndarray
    present: np.ndarray
    graphs: list

    def support(self, labels):
        """`graph_support` of labels of all samples for each view, an array of shape (v,)."""
        labels, pairs = labels[self.samples], zip(self.graphs, self.present, strict=True)
        return np.array(
            [graph_support(A, labels[has]) if has.sum() > 1 else 0.0 for A, has in pairs]
        )


def view_graphs(views):
    """The `ViewGraphs` of views of shape (n, d_i), whose rows may be NaN and in any order."""
    samples = canonical_order(RowSource(views))[spread(views[0].shape[0], GRAPH_SAMPLES)]
    rows = [X[samples] for X in views]
    present = presence(rows)
    graphs = [_graph(unit_rows(X[has])) for X, has in zip(rows, present, strict=True)]
    return ViewGraphs(samples, present, graphs)


def sample_graphs(sample):
    """The `ViewGraphs` of a `Drawn` sample, from the unit rows that it has."""
    present = sample.present
    samples = spread(present.shape[1], GRAPH_SAMPLES)
    is_drawn = np.isin(np.arange(present.shape[1]), samples)
    graphs = [_graph(view.unit.unit[is_drawn[view.present]]) for view in sample.views]
    return ViewGraphs(samples, present[:, samples], graphs)


def compare_graphs(graphs):
    """`permutation_z` of each two of the `ViewGraphs`, of shape (v, v).

    Two graphs are compared on the samples that have both views. NaN on the diagonal, and for two
    views that too few samples have both.
    """
    n_views = len(graphs.graphs)
    z = np.full((n_views, n_views), np.nan)
    for i, j in combinations(range(n_views), 2):
        has_both = graphs.present[i] & graphs.present[j]
        if has_both.sum() < (MIN_COMMON if has_both.all() else MIN_SAMPLES):
            continue  # too few samples for a decision
        rows = [np.flatnonzero(has_both[graphs.present[k]]) for k in (i, j)]
        A, B = (graphs.graphs[k][np.ix_(r, r)] for k, r in zip((i, j), rows, strict=True))
        z[i, j] = z[j, i] = permutation_z(A, B)
    return z


def compare_halves(view, samples):
    """z between the graphs of two halves of the columns of a `DrawnView`, on some samples.

    Every second one of the `in_canonical_columns` is in the same half. Infinity if there are too
    few samples or columns to decide.
    """
    # The last column of a lifted view, the length of its rows, is in no half of the columns.
    X = view.rows if view.lift is None else view.rows[:, :-1]
    has = view.present[samples]
    X, columns = in_canonical_columns(X[samples[has]])
    if (has.sum() < MIN_SAMPLES and not has.all()) or len(columns) < MIN_COLUMNS:
        return np.inf
    X = unit_rows(X)
    halves = [unit_rows(X[:, start::2]) for start in (0, 1)]
    return permutation_z(*map(_graph, halves))


def helpful_views(views, indices, agreement, samples):
    """Indices of the views with repeated structure among ``indices``, and whether none has it.

    A view is excluded with a warning if its graph does not agree with that of any other view
    (z < 5), and the graphs of two halves of its columns do not agree either. It is kept if there
    are too few data to decide: fewer than 200 samples or 4 columns.

    Views are `DrawnView`, ``agreement`` is that of `compare_graphs`, and ``samples`` are those of
    the graphs. All indices are returned if no view has repeated structure.
    """
    if len(indices) < 2 or len(samples) < MIN_SAMPLES:
        return indices, False
    # A view is noise if it agrees neither with another view nor within: its halves differ, too.
    # Views that could not be compared are taken to agree.
    z = np.nan_to_num(agreement[np.ix_(indices, indices)], nan=np.inf)
    np.fill_diagonal(z, -np.inf)
    across = dict(zip(indices, z.max(axis=1), strict=True))
    lonely = [i for i in indices if across[i] < MIN_Z]
    halves = {i: compare_halves(views[i], samples) for i in lonely}
    noise = [i for i in halves if halves[i] < MIN_Z]
    suspected = [i for i in lonely if i not in noise]
    # If all views are noise, nothing is better than anything else.
    if len(noise) == len(indices):
        warn_user(
            "no view agrees with another view, nor do two halves of the columns of a view: "
            "the labels may be arbitrary"
        )
        return indices, True
    if noise:
        excluded = "; ".join(
            f"view {views[i].name!r} (z {across[i]:.1f} with other views, {halves[i]:.1f} within)"
            for i in noise
        )
        warn_user(
            f"excluded as noise, both z below {MIN_Z:g}: {excluded}. Use "
            'view_selection="all" to keep every view'
        )
    # Structure that no other view shows may be real, or come from another order of the samples.
    if suspected and len(indices) - len(noise) > 1:
        suspects = ", ".join(f"view {views[i].name!r} (z {across[i]:.1f})" for i in suspected)
        warn_user(
            f"no other view agrees with {suspects}: kept, but check that all views describe "
            "the same samples in the same order"
        )
    return [i for i in indices if i not in noise], False


def warn_of_camps(agreement, n_samples, support, names):
    """Warn of groups of views that agree with each other, and with no view of another group.

    Two views agree if their z is at least 5, as in the test of noise. Here z is at least 9 for each
    two views of the sixteen sets of bench/sets.py, although 700 is possible, and at most 2.4
    between groups of views of independent clusters. The threshold is not relative to the z within
    the groups: two views of images and two of texts may agree a hundred times as much within as
    across, and still show the same clusters. ``agreement`` is that of `compare_graphs`, ``support``
    that of the labels, see `ViewGraphs`.
    """
    compared = ~np.isnan(agreement)
    if n_samples < MIN_SAMPLES or compared.sum() < agreement.size - len(agreement):
        return  # too few for a decision
    count, group_of_view = connected_components(agreement >= MIN_Z)
    groups = [np.flatnonzero(group_of_view == k) for k in range(count)]
    groups = [group for group in groups if len(group) > 1]
    if len(groups) < 2:
        return
    # The labels mostly follow the group with the largest support, which comes first.
    groups.sort(key=lambda group: -support[group].mean())
    listed = "; ".join(
        f"views {', '.join(repr(names[i]) for i in group)} (support {support[group].mean():.2f})"
        for group in groups
    )
    warn_user(
        f"the views form {len(groups)} groups that agree within, but not with each other: "
        f"{listed}. The labels mostly follow the first: cluster each group separately, because "
        "they show different clusters of the same samples"
    )


def warn_of_parts(present, names):
    """Warn of samples that no view connects: too few have a view of each part."""
    common = present.astype(np.intp) @ present.T
    connected = common >= np.minimum(MIN_COMMON, common.diagonal())
    count, part_of_view = connected_components(connected)
    if count > 1:
        parts = [np.flatnonzero(part_of_view == k) for k in range(count)]
        listed = "; ".join(
            f"{counted(present[part].any(axis=0).sum(), 'sample')} of "
            f"{'view' if len(part) == 1 else 'views'} {', '.join(repr(names[i]) for i in part)}"
            for part in parts
        )
        warn_user(
            f"no view connects {count} parts of the samples: {listed}. Equal labels in different "
            "parts mean nothing, and the labels within suffer: cluster each part separately"
        )


def warn_of_constant(names, consequence):
    """Warn of views in which all samples are equal, by their names."""
    if names:
        warn_user(
            f"{'view' if len(names) == 1 else 'views'} {' and '.join(map(repr, names))}: all "
            f"samples are equal, {consequence}"
        )


class UsedViews(NamedTuple):
    """The views that are fused.

    Attributes
    ----------
    indices : list of int
        In an order that does not depend on that of the views.
    graphs : ViewGraphs
        Graphs of all views, used or not.
    agreement : ndarray of shape (v, v)
        That of these graphs, see `compare_graphs`.
    rows : list of ViewRows
        Rows of all samples for the judge and the predictor; missing ones are predicted from all
        other views.
    present_rows : list of ViewRows
        Rows of the samples that have each view, for the graphs: predicted rows would join samples
        that lack a view.
    present : ndarray of shape (len(indices), n) of bool
    are_noise : bool
        Whether no view has repeated structure, and a warning said so.
    """

    indices: list
    graphs: ViewGraphs
    agreement: np.ndarray
    rows: list
    present_rows: list
    present: np.ndarray
    are_noise: bool


def views_of(sample, *, select=True):
    """The `UsedViews` of a `Drawn` sample; missing rows are predicted from the other views.

    Constant views are excluded, and those without repeated structure if ``select``; the first view
    remains if all are excluded.
    """
    views, present = sample.views, sample.present
    graphs = sample_graphs(sample)
    agreement = compare_graphs(graphs)
    # Constant views and noise are left out, but one view must remain.
    warn_of_constant([view.name for view in views if view.is_constant], "ignored")
    indices, are_noise = [i for i, view in enumerate(views) if not view.is_constant], False
    if select:
        indices, are_noise = helpful_views(views, indices, agreement, graphs.samples)
    indices = indices or [0]
    warn_of_parts(present[indices], [views[i].name for i in indices])
    # Rows of complete views serve for graphs and regressions alike.
    rows = present_rows = [view.unit for view in views]
    if not present.all():
        complete = imputed([view.rows for view in views], present)
        rows = [ViewRows(X, view.nonnegative) for X, view in zip(complete, views, strict=True)]
    # The fit takes them in an order that depends on their contents alone, as rounding does then.
    indices.sort(key=lambda i: (rows[i].rank, np.square(rows[i].mean).sum()))
    rows, present_rows = [rows[i] for i in indices], [present_rows[i] for i in indices]
    return UsedViews(indices, graphs, agreement, rows, present_rows, present[indices], are_noise)
