"""Is there any structure? The labeller on views whose samples are mixed at random."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from .._utils.figures import COLORS, group_names, legend_below, new_figure
from .._utils.messages import counted
from .._utils.parameters import check_flag, check_integer, check_seed, jobs
from .._utils.parts import ShortRepr
from .._utils.threads import limited
from .._utils.types import FloatArray, GappyViews, Scale, Seed
from .._utils.validation import check_clusters
from ..views._lift import find_lift
from ..views._read import read_views
from ..views._rows import is_constant
from ..views._sample import drawn
from ..views._scaling import check_scale
from ._copies import best_modularities, coordinates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEVEL = 0.05  # largest p-value that is called significant
MIN_COMPLETE = 20  # samples with all views
LOW_Z = -2.0  # below it, and if all copies are larger, the copies have more than the samples
# Relative excess over rotated copies that noise may have if it is not Gaussian, of 500 samples; it
# grows with their number, at most to MAX_MARGIN: thresholds increase with modularities.
NOISE_MARGIN, MAX_MARGIN = 0.1, 0.5


@dataclass(repr=False)
class StructureTest(ShortRepr):
    """Result of `structure_test`; printing it shows a sentence.

    Attributes
    ----------
    p_value : float
        ``(1 + m) / (1 + number of copies)``, where ``m`` is the number of ``thresholds`` that are
        at least the observed modularity. Small values are evidence of structure.
    z : float
        Observed modularity minus the mean of the copies, in standard deviations of these, without
        the margin; NaN if all copies are alike.
    observed : float
        Mean of the nine largest modularities of labellings of the samples, each divided by the
        largest that clusters of its sizes can have; at most 1.
    null : ndarray of shape (n_rotations,)
        The same of each copy.
    thresholds : ndarray of shape (n_rotations,)
        Modularities of the copies, plus the margin of `structure_test`.
    n_samples : int
        Number of samples that were used.
    n_incomplete : int
        Number of samples that were drawn, but lack a view and were not used.
    each : dict of StructureTest
        Result for each view alone that is not constant, by name; empty unless ``each_view=True``.
    """

    p_value: float
    z: float
    observed: float
    null: FloatArray
    thresholds: FloatArray
    n_samples: int
    n_incomplete: int = 0
    each: dict[Any, StructureTest] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The result in one sentence."""
        # With few copies no p-value is small enough: the smallest possible one is not an absence of
        # structure.
        smallest = 1 / (1 + len(self.null))
        amount, remark = "no more", ": the clusters may be arbitrary"
        if self.p_value <= max(LEVEL, smallest):
            amount, remark = "more", ""
            if smallest > LEVEL:
                remark = f": p = {LEVEL} needs at least {round(1 / LEVEL) - 1} copies"
        elif self.observed > self.null.max():
            amount = "slightly more"
            remark = ": noise that is not Gaussian may have slightly more, too"
        elif self.z <= LOW_Z and self.observed < self.null.min():
            amount = "less"
            remark = (
                ": a few samples, such as outliers or tiny groups, have much of the variance: "
                "evidence neither of clusters nor against them"
            )
        # Samples without all views were not tested.
        samples = counted(self.n_samples, "sample")
        if self.n_incomplete:
            samples += f" ({self.n_incomplete} others lack a view)"
        return (
            f"The structure test found {amount} structure in {samples} than in {len(self.null)} "
            "copies of the same covariances without clusters "
            f"(p = {self.p_value:.2g}, z = {self.z:.1f}){remark}."
        )

    def __str__(self):
        lines = [
            self.sentence,
            f"The best labellings have a modularity of {self.observed:.2f}, where 1 is the largest "
            f"that clusters of their sizes can have; those of the copies have "
            f"{self.null.mean():.2f} on average and {self.null.max():.2f} at most.",
        ]
        if self.p_value <= LEVEL:
            lines.append(
                "The test cannot tell clusters from a shift between batches, a continuum along a "
                "curve or over a plane, repeated samples, or columns of few values."
            )
        lines += [
            f"  view {name!r} alone: p = {test.p_value:.3g}, z = {test.z:.1f}"
            for name, test in self.each.items()
        ]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the modularity of the samples beside that of their copies.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Those of a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        tests = {"all views": self, **self.each}
        # Names have two lines each.
        ax = new_figure(4.4, max(3.4, 1.2 + 0.42 * len(tests))) if ax is None else ax
        # Copies as points, the samples as a diamond, each named once.
        for row, result in enumerate(tests.values()):
            height = row + np.linspace(-0.2, 0.2, len(result.null))
            ax.plot(result.null, height, ".", color=COLORS[0], label="" if row else "copies")
            limit, label = result.thresholds.max(), "" if row else "limit of noise"
            ax.plot(limit, row, "|", ms=18, color=COLORS[0], label=label)
            ax.plot(result.observed, row, "D", color=COLORS[3], label="" if row else "samples")
        names = group_names(name if isinstance(name, str) else f"view {name}" for name in tests)
        p_values = [f"p = {result.p_value:.2g}" for result in tests.values()]
        ax.set_yticks(range(len(tests)), list(map("\n".join, zip(names, p_values, strict=True))))
        ax.set(xlabel="modularity of the best labellings", ylim=(len(tests) - 0.4, -0.6))
        ax.margins(x=0.1)
        legend_below(ax)
        return ax


@limited
def structure_test(
    views: GappyViews,
    n_clusters: int,
    *,
    n_rotations: int = 19,
    max_samples: int = 500,
    each_view: bool = False,
    scale: Scale | None = None,
    random_state: Seed = None,
    n_jobs: int | None = None,
) -> StructureTest:
    """Test whether the views show more structure than noise of the same covariances.

    All columns are centred. In each of ``n_rotations`` copies, one random orthogonal matrix that
    keeps the mean row mixes the samples of all views. The covariances within and between views
    remain, and all else becomes Gaussian: a copy has no clusters. In views that a fit lifts to a
    hemisphere, such as those of at most three columns, the principal components of the copy are
    then made uniform by the normal distribution function, so that the copy fills a box with the
    same mean and nearly the same covariances. Of such views, a fit finds the corners of uniform
    noise, which Gaussian copies do not have.

    Spectral labellings of six graphs are computed for the views and for each copy, and the
    modularities of the nine best in the graph of all views are compared. Each modularity is divided
    by ``1 - sum p^2``, the largest that clusters with the shares ``p`` of the edges can have, so
    that clusters may be of unequal sizes. If the samples are drawn from one Gaussian distribution
    and no view is lifted, a p-value of at most ``a`` has probability at most ``a``. Noise with
    other distributions, such as counts or heavy tails, has larger modularities than its copies, so
    that only those which are larger by more than a margin count as larger: ``10 sqrt(n / 500)``
    percent for ``n`` samples, which is 4.5 percent for 100 and 10 for 500. If a copy has more than
    .5, its margin decreases linearly to 0 at the largest possible modularity of 1.

    The predictability of labels (`label_predictability`) has less power as a statistic: clusters
    that are subspaces are less predictable than halves of a Gaussian cloud.

    Correlated columns alone are no structure, and neither is a continuum along a line: two classes
    that are the ends of one may not be found. Neither may clear clusters in one or two columns,
    whose copies have nearly the largest possible modularity, nor groups of fewer than about eight
    of the samples that are drawn. Strong skewness, and sometimes heavy tails, may be found without
    clusters: take logarithms of such columns first. So may a difference between batches, a
    continuum along a curve or over a plane, repeated samples, and columns with few values.

    Parameters
    ----------
    views : list or dict of array-like of shape (n_samples, n_features_i), or table
        The input of `ConsensusTLRR.fit`, in any form that it accepts. Square roots of non-negative
        views are taken first. Samples that lack a view, and constant views, are not used.
    n_clusters : int
        Number of clusters of the labellings.
    n_rotations : int, default=19
        Number of copies. The smallest p-value is ``1 / (1 + n_rotations)``: .05 by default.
    max_samples : int, default=500
        Maximum number of samples, which are drawn uniformly. Larger numbers increase ``z`` and the
        cost; the margin grows as well.
    each_view : bool, default=False
        Whether to test each view alone, too.
    scale : {"standard"}, optional
        How columns are scaled, as in `ConsensusTLRR`.
    random_state : int or RandomState, optional
        Pass an int for reproducible results.
    n_jobs : int, optional
        Number of copies that are clustered in parallel, see `joblib.Parallel`. Results do not
        depend on it.

    Returns
    -------
    StructureTest

    Raises
    ------
    ValueError
        If a view or a parameter is invalid, fewer than 20 samples have all views, or all are equal.

    References
    ----------
    Langsrud: Rotation tests. Statistics and Computing 15, 2005.

    Tibshirani, Walther, Hastie: Estimating the number of clusters in a data set via the gap
    statistic. Journal of the Royal Statistical Society B 63, 2001: the uniform box.

    Examples
    --------
    >>> from mvsc_fast import datasets, structure_test
    >>> views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> structure_test(views, 3, n_rotations=4, random_state=0).p_value
    0.2
    """
    # Parameters are checked before the data are read, which may take long.
    n_clusters = check_integer(n_clusters, "n_clusters", 2)
    n_rotations = check_integer(n_rotations, "n_rotations", 2)
    max_samples = check_integer(max_samples, "max_samples", MIN_COMPLETE)
    check_flag(each_view, "each_view")
    scale = check_scale(scale, "scale")
    n_jobs = effective_n_jobs(jobs(n_jobs, "n_jobs"))  # 0 is an error of joblib
    rng = check_random_state(check_seed(random_state, "random_state"))
    source = read_views(views)

    # Copies are made of the rows as they are: lifted ones are on a sphere, and their copies not.
    seed = rng.randint(2**31 - 1)
    sample = drawn(source, max_samples, MIN_COMPLETE, seed, scale=scale, unit=False)
    complete = sample.present.all(axis=0)
    n = np.count_nonzero(complete)
    if n < MIN_COMPLETE:
        have = f"{counted(n, 'sample')} of {len(sample.samples)} with all views"
        raise ValueError(f"{have}: at least {MIN_COMPLETE} are needed")
    check_clusters(n_clusters, n)
    views = [view._replace(rows=view.rows[complete]) for view in sample.views]
    views = [view for view in views if not is_constant(view.rows)]
    if not views:
        raise ValueError("all samples are equal: they have no structure")
    lift = [find_lift(view.rows, view.nonnegative) is not None for view in views]
    # Rotated samples are in no order: an order by their entries would be a difference.
    order = rng.permutation(n)
    rows = [
        coordinates(view.rows, view.nonnegative and not is_lifted)[order]
        for view, is_lifted in zip(views, lift, strict=True)
    ]
    # The samples themselves (None) and their copies, of all views and perhaps of each alone.
    copies = [None, *rng.randint(2**31 - 1, size=n_rotations)]
    modularities = Parallel(n_jobs=n_jobs)(
        delayed(best_modularities)(rows, n_clusters, copy, lift, each_view=each_view)
        for copy in copies
    )
    test, *by_view = (
        _result(observed, np.array(null), n, len(sample.samples) - n)
        for observed, *null in zip(*modularities, strict=True)
    )
    return replace(test, each=dict(zip((view.name for view in views), by_view, strict=False)))


def _result(observed, null, n_samples, n_incomplete):
    # Modularities that noise may have if its rotated copies have those of ``null``.
    margin = min(NOISE_MARGIN * np.sqrt(n_samples / 500), MAX_MARGIN)
    thresholds = null + margin * np.maximum(null, 0) * np.minimum(1, 2 * (1 - null))
    spread = null.std(ddof=1)
    # Equal modularities may differ in rounding.
    p_value = (1 + (thresholds >= observed - 1e-9).sum()) / (1 + len(null))
    z = (observed - null.mean()) / spread if spread > 0 else np.nan
    return StructureTest(
        float(p_value), float(z), float(observed), null, thresholds, n_samples, n_incomplete
    )
