"""Graphs and their eigenvectors for unit and centred rows and several numbers of neighbours."""

import numpy as np
import scipy.sparse

from ..similarity._affinity import thresholded_affinity, tube_threshold
from ..similarity._factors import view_factors
from ..similarity._sparse import (
    listed_rows,
    nearest_rows,
    sparse_tensor,
    unit_neighbor_similarities,
)
from ..spectral._eigenvectors import leading_block

# Ridges of the slices of a view for each kind of rows, relative to the mean eigenvalue of its Gram
# matrix. A single ridge for all sets lowers the accuracy by .1 on some of them, and its choice by
# stability fails on three.
SCALES = {"unit": (0.5, 5.0), "centred": (1.0, 10.0)}
SIZES = (8, 15, 30)  # mean numbers of neighbours of the graphs, before they grow
CANDIDATES, LONGEST = 50, 64  # nearest rows of a slice, tubes of a row; they matter for scene15
# Samples of a cluster beyond which neighbourhoods grow with its size, and by how much at most.
# With 60 neighbours among 10 000 samples graphs show parts of clusters: of six activities two are
# merged in three of four subsamples (ARI .60, with growth .90).
GROWING, MAX_GROWTH = 200, 4.0


def neighbourhood_growth(n_samples, n_clusters):
    """Factor of all sizes of neighbourhoods, by the mean size of the clusters."""
    return min(MAX_GROWTH, max(1.0, n_samples / (GROWING * n_clusters)))


def sizes_of(n_samples, sizes):
    """The neighbourhood sizes that are at most a third of the samples; at least one."""
    return [d for d in sizes if d <= n_samples / 3] or [max(1, n_samples // 3)]


def scan(rows, present, sizes, n_components, *, growth=1.0, n_threads):
    """Leading eigenvectors of the graphs of "unit" and "centred" rows at every size.

    Two samples have no similarity in a view that one of them lacks. At 30 % missing the mean
    accuracy is .884; it is .893 if such similarities are completed from the nearest samples, and
    .863 if the rows of the view are predicted (five data sets, three repetitions).

    Parameters
    ----------
    rows : list of ViewRows
        Rows of the samples that have each view.
    present : ndarray of shape (v, n) of bool
    sizes : sequence of int
        Mean numbers of tubes that a sample keeps.
    n_components : dict of int
        Numbers of eigenvectors by the kind of graph.
    growth : float, default=1.0
        Factor of the number of tubes that a sample keeps; ``sizes`` are already multiplied by it.
    n_threads : int

    Yields
    ------
    kind : str
    size : int
    affinity : csr_array of shape (n, n), float32
    values, vectors
        See `normalized_eigenvectors`.
    """
    n, block = present.shape[1], None
    for kind, scales in SCALES.items():
        pairs = zip(rows, present, strict=True)
        parts = [(getattr(view, kind), has, view.rank) for view, has in pairs]
        parts = [part for part in parts if part[0].any()]
        parts = parts or [(np.ones((n, 1)), np.ones(n, dtype=bool), 1)]  # all samples are equal
        rows_of_kind, has_view, ranks = zip(*parts, strict=True)
        factors = view_factors(rows_of_kind, scales, has_view, ranks)
        candidates = listed_rows(factors, len(parts), round(growth * CANDIDATES), n_threads)
        longest = round(growth * LONGEST)
        tensor = sparse_tensor(factors, candidates, n_longest=longest, n_threads=n_threads)
        for d in sizes_of(n, sizes):
            affinity = thresholded_affinity(tensor, tube_threshold(tensor.lengths, n, d))
            count = min(n_components[kind], n)
            values, block = leading_block(affinity, count, block, n_threads)
            yield kind, d, affinity, values, block[:, : len(values)].astype(np.float64)


def neighbor_graphs(rows, present, sizes, n_components, n_threads):
    """Graphs of nearest neighbours of centred rows and their eigenvectors, as `scan` yields them.

    The affinity is the sum of the similarities with local scaling in each view (Zelnik-Manor &
    Perona 2004).

    Parameters
    ----------
    rows, present
        As for `scan`.
    sizes : dict of int
        Numbers of neighbours by the kind of graph that is yielded.
    n_components, n_threads : int
    """
    n, block, searched = present.shape[1], None, []
    for view, has in zip(rows, present, strict=True):
        samples = np.flatnonzero(has).astype(np.int32)
        if len(samples) > 1:
            C = view.centred
            index = nearest_rows(C, min(max(sizes.values()), len(samples) - 1), n_threads)
            searched.append((C, samples, index))
    for kind, size in sizes.items():
        affinity = scipy.sparse.csr_array((n, n), dtype=np.float32)
        for C, samples, index in searched:
            A = unit_neighbor_similarities(C, index[:, :size], n_threads).tocoo()
            places = samples[A.row], samples[A.col]
            affinity += scipy.sparse.csr_array((A.data, places), shape=(n, n))
        values, block = leading_block(affinity, min(n_components, n), block, n_threads)
        yield kind, size, affinity, values, block[:, : len(values)].astype(np.float64)
