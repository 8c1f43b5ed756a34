"""Communities at several resolutions, and the evidence for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .._utils.parameters import CHECKS, InvalidParameterError, check_integer, draw_seed, positive
from .._utils.parts import ShortRepr
from .._utils.threads import use_threads
from .._utils.types import FloatArray, IntArray, Scale, Seed, Views
from ..spectral._leiden import import_igraph, leiden, leiden_graph
from ..views._passes import drawn
from ..views._read import read_views
from ..views._scaling import check_scale
from ._levels import (
    agreement,
    by_size,
    groups_in_words,
    hidden_groups,
    plot_counts,
    supported_counts,
)
from ._ridge import Judge, adjusted_mutual_information, refined_labellings
from ._scan import SIZES, TYPICAL, graphs_of_sizes, neighbourhood_growth
from ._support import views_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(repr=False)
class Resolutions(ShortRepr):
    """Clusters at several resolutions and the evidence for each.

    Attributes
    ----------
    supported : tuple of float
        Resolutions whose clusters are supported, ascending: local maxima of ``stability`` of at
        least .85 with a ``predictability`` of at least .9, as in `ClusterCounts`; of equal ones the
        smallest. The largest resolution is never among them.
    resolutions : ndarray of shape (k,)
    n_clusters : ndarray of shape (k,)
        Number of clusters that `ConsensusTLRR` finds at each resolution.
    stability : ndarray of shape (k,)
        Agreement of the communities of six graphs: Fleiss' kappa of which pairs of samples are in a
        cluster, 1 if all agree and 0 by chance.
    predictability : ndarray of shape (k,)
        `label_predictability` of the clusters, an adjusted mutual information.
    n_samples : int
        Number of samples that were used.
    smallest : ndarray of shape (k,)
        Number of samples in the smallest cluster at each resolution.
    sizes : dict of ndarray
        Sizes of the clusters in descending order, by resolution: of all supported ones, or of the
        most stable one if there is none.
    hidden : dict of dict
        Groups that these clusters hold, by resolution, see `ClusterCounts`. If there are any, try a
        larger resolution.
    """

    supported: tuple[float, ...]
    resolutions: FloatArray
    n_clusters: IntArray
    stability: FloatArray
    predictability: FloatArray
    n_samples: int
    smallest: IntArray
    sizes: dict[float, IntArray] = field(default_factory=dict)
    hidden: dict[float, dict[int, IntArray]] = field(default_factory=dict)

    def __str__(self):
        rows = zip(self.resolutions, self.n_clusters, self.smallest, strict=True)
        lines = [
            f"Resolution {r:g}: {c} clusters, the smallest of {smallest}"
            + (", supported" if r in self.supported else "")
            for r, c, smallest in rows
        ]
        for r, groups in self.hidden.items():
            words = groups_in_words(groups, self.sizes[r])
            lines += [f"Resolution {r:g}: {sentence}" for sentence in words]
        return "\n".join(lines)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot stability and predictability against the resolution, the supported ones circled.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Those of a new figure by default.

        Returns
        -------
        matplotlib.axes.Axes
        """
        curves = {
            "stability": (self.stability, self.supported, "supported"),
            "predictability": (self.predictability, (), ""),
        }
        ax = plot_counts(self.resolutions, curves, ax)
        # Resolutions are ratios; each has its number of clusters below.
        pairs = zip(self.resolutions, self.n_clusters, strict=True)
        ax.set(xscale="log", xlabel="resolution (number of clusters)")
        ax.set_xticks(self.resolutions, [f"{r:g}\n({c})" for r, c in pairs], fontsize="small")
        ax.set_xticks([], minor=True)
        return ax


def suggest_resolution(
    views: Views,
    *,
    resolutions: Sequence[float] = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0),
    max_samples: int = 4000,
    scale: Scale | None = None,
    random_state: Seed = None,
    n_threads: int | None = None,
) -> Resolutions:
    """Compare the clusters of several resolutions, and report which are supported.

    Communities of six graphs are found at each resolution, as by ``ConsensusTLRR(n_clusters=None,
    resolution=r)``: of the two variants of its graphs, each with 8, 15 and 30 neighbours. A
    resolution is supported if these graphs agree, and if the clusters of `ConsensusTLRR` are
    predictable. Nested clusters have several supported resolutions.

    Parameters
    ----------
    views : list, tuple, dict or generator of array-like, sparse matrix or data frame
        Views, as for `suggest_n_clusters`.
    resolutions : sequence of float
        Positive numbers, which are evaluated in ascending order.
    max_samples : int, default=4000
        Maximum number of samples to use, a uniform subsample. The number of clusters at a
        resolution depends on it, so use that of the fit.
    scale : {"standard"}, optional
        How columns are scaled, as in `ConsensusTLRR`.
    random_state : int or RandomState, optional
        Pass an int for reproducible results.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs that are free.
        Results do not depend on it.

    Returns
    -------
    Resolutions
        Independent of the order of the samples.

    Raises
    ------
    ImportError
        If igraph is not installed: ``pip install "mvsc-fast[leiden]"``.
    ValueError
        If a view or a parameter is invalid.

    Examples
    --------
    >>> from mvsc_fast import datasets, suggest_resolution
    >>> views, _ = datasets.make_multiview_subspaces(120, 4, random_state=0)
    >>> suggest_resolution(views, random_state=0).n_clusters  # doctest: +SKIP
    array([ 4,  4,  4,  4,  4,  4,  4,  4,  7])
    """
    # Parameters and the optional package are checked before the data are read.
    if np.ndim(resolutions) != 1 or len(resolutions) == 0:
        raise InvalidParameterError(
            f"resolutions must be one or more numbers in a list, got {resolutions!r}"
        )
    checked = [positive(r, f"resolutions[{i}]") for i, r in enumerate(resolutions)]
    max_samples = check_integer(max_samples, "max_samples", 2)
    seed = draw_seed(random_state)
    scale = check_scale(scale, "scale")
    CHECKS["n_threads"](n_threads, "n_threads")
    import_igraph()
    # The graphs do not depend on the resolution: they are made once.
    source = read_views(views)
    sample = drawn(source, max_samples, 2, seed, scale=scale)
    values = np.unique(checked)
    with use_threads(n_threads, len(sample.samples)) as n_threads:
        used = views_of(sample)
        graphs = partitioned_graphs(used, n_threads)
        judge, affinity = Judge(used.rows), graphs[-1][-1]
        parted = [leiden_graph(A) for *_, A in graphs]
        counts, stability, predictability, labellings = [], [], [], []
        # The graphs of the kinds must agree for stability; the joint graph, the last, has the
        # labels.
        for r in values.tolist():
            *labels_of_kinds, labels = [leiden(graph, r, seed) for graph in parted]
            c = int(labels.max()) + 1
            labels = refined_labellings([labels], c, judge.ridge, affinity)
            labellings.append(by_size(labels[0]))
            counts.append(c)
            stability.append(agreement(np.array(labels_of_kinds)))
            predictability.append(judge(labels, c, adjusted_mutual_information)[0])
    # Of resolutions that are equally stable, the smallest one is preferred: fewer clusters.
    evidence = np.array(counts), np.array(stability), np.array(predictability)
    supported = supported_counts(*evidence, -values)
    # The clusters that a user will look at are divided: those of resolutions that are supported.
    described = np.flatnonzero(supported) if supported.any() else [int(evidence[1].argmax())]
    sizes: dict[float, IntArray] = {}
    hidden = {}
    for t in described:
        resolution = float(values[t])
        sizes[resolution] = np.bincount(labellings[t])
        hidden[resolution] = hidden_groups(used, sample.samples, labellings[t], seed)
    return Resolutions(
        tuple(values[supported].tolist()),
        values,
        *evidence,
        len(sample.samples),
        smallest=np.array([np.bincount(labels)[-1] for labels in labellings]),
        sizes=sizes,
        hidden=hidden,
    )


def partitioned_graphs(used, n_threads):
    """Kind, size and affinity of six graphs, and of the joint one, the sum of the two largest."""
    n = used.present.shape[1]
    growth = neighbourhood_growth(n, TYPICAL)
    sizes = [round(growth * d) for d in SIZES]
    rows = used.present_rows, used.present
    graphs = list(graphs_of_sizes(*rows, sizes, growth, n_threads))
    largest = graphs[-1][1]
    return [*graphs, ("joint", largest, sum(A for _, d, A in graphs if d == largest))]
