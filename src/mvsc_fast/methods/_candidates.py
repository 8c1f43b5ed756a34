"""The candidate labellings of ConsensusTLRR, and the affinity matrix for their refinement."""

from functools import partial
from itertools import chain

import numpy as np
from sklearn.preprocessing import normalize

from ..judge._scan import SCALES, SIZES, neighbor_graphs, neighbourhood_growth, scan, sizes_of
from ..spectral._cut import (
    KMEANS_ROWS,
    assign,
    diffusion_map,
    distinct_rows,
    even_starts,
)
from ..spectral._leiden import leiden, leiden_graph
from ..spectral._ward import cluster_means, ward_labels
from ..views._rows import spread
from ..views._view_rows import leading_map

# Neighbours of a graph of another kind. It is used from a number of samples on, where it adds .013
# +- .006 to the mean accuracy of sixteen sets and five simulated families; few neighbours, which
# show groups of ten samples, are always used.
NEAREST, ENOUGH = 15, 200
FEW_NEAREST = 6
# Offsets of the k-means starts by graph and embedding. Each gives a separate labelling, because
# predictability chooses better among starts than inertia does. The diffusion map, which Ward's
# method cuts as well, is needed for groups of unequal size; with c eigenvectors in place of 2 c it
# loses .009 +- .005 on 103 sets and families.
STARTS = {
    "unit": {"c": (1 / 6, 5 / 6)},
    "centred": {"c": (1 / 6, 5 / 6), "diffusion": (1 / 2,)},
    "neighbors": {"c": (1 / 6, 5 / 6), "diffusion": (1 / 2,)},
}
FEW_STARTS = {"diffusion": (1 / 2,)}  # in the graph of few neighbours
# With more clusters `even_starts` stay in worse optima than starts from Ward's clusters, and c
# eigenvectors of fewer graphs are as accurate in a seventh of the time: +.002 +- .003 on 15
# problems of 20 to 200 classes. With the ten classes of yaleb10 these candidates lose .1.
MAX_EVEN_STARTS = 40
WARD = None  # in place of an offset
MANY_STARTS = {"unit": {"c": (WARD,)}, "centred": {"c": (WARD,), "diffusion": ()}}
JOINED_COLUMNS = 100  # leading components of wider joined rows


def candidate_labellings(used, c, n_threads, progress):
    """The candidates without scores, and the affinity matrix that is used for refinement.

    The affinity matrix is the sum over the graphs of unit and centred rows with most neighbours.
    """
    n = used.present.shape[1]
    # Sizes of neighbourhoods grow with the samples of a cluster. Few neighbours show small groups.
    many = c > MAX_EVEN_STARTS
    n_vectors = {"unit": c, "centred": c if many else 2 * c}
    growth = neighbourhood_growth(n, c)
    sizes = sizes_of(n, [round(growth * d) for d in SIZES])
    nearest = [max(2, min(FEW_NEAREST, n // 10))]
    if n >= ENOUGH:
        nearest.insert(0, NEAREST)

    # The graphs are made one after another, and each is forgotten when it has been partitioned.
    graphs = scan(
        used.present_rows, used.present, sizes, n_vectors, growth=growth, n_threads=n_threads
    )
    count = len(SCALES) * len(sizes)
    if not many:
        neighbor_scans = neighbor_graphs(used.present_rows, used.present, nearest, 2 * c, n_threads)
        graphs, count = chain(graphs, neighbor_scans), count + len(nearest)
    labellings, affinity = [], None
    for kind, d, A, values, vectors in progress.each("labellings", graphs, count):
        starts = (MANY_STARTS if many else STARTS)[kind]
        if kind == "neighbors" and d == nearest[-1]:
            starts = FEW_STARTS
        graph_labellings = partitions(A, values, vectors, c, starts)
        labellings += [(kind, d, *entry) for entry in graph_labellings]
        if kind in SCALES and d == max(sizes):
            affinity = A if affinity is None else affinity + A
    if affinity is None:  # the callback ended the previous stage
        affinity = A
    labellings += [("none", 0, *entry) for entry in joined_partitions(used.rows, c)]
    return tabulate(labellings), affinity


def communities(graphs, resolution, seed, progress):
    """The candidates of a resolution, without scores: the communities of each graph."""
    labellings = [
        (kind, d, "none", "Leiden", leiden(leiden_graph(A), resolution, seed))
        for kind, d, A in progress.each("communities", graphs, len(graphs))
    ]
    return tabulate(labellings)


def partitions(affinity, values, vectors, c, starts):
    """Labellings of one graph: tuples of its embedding, the algorithm, and the labels."""
    labellings = []
    for embedding, offsets in starts.items():
        if embedding == "diffusion":
            points = diffusion_map(affinity, values, vectors)
            labellings.append((embedding, "Ward", ward_labels(points, c)))
        else:
            points = normalize(vectors[:, :c])
        for offset in offsets:
            start = ward_labels(points, c) if offset is WARD else offset
            labellings.append((embedding, "k-means", kmeans_labels(points, c, start)))
    return labellings


def joined_partitions(rows, c):
    """Labellings of the joined rows of all views, without a graph, as those of `partitions`.

    Columns have the same weight ("standard") or that of their variance ("rows"): the first are
    needed for tables, the second for words.
    """
    labellings = []
    units = [view.unit - view.unit.mean(axis=0) for view in rows]
    standard = [U / (np.sqrt(U.shape[1]) * np.maximum(U.std(axis=0), 1e-6)) for U in units]
    # Raw rows weight columns by their variance, standardised ones count all columns alike.
    for name, parts in (("rows", units), ("standard", standard)):
        points = np.hstack(parts, dtype=np.float32)
        if points.shape[1] > JOINED_COLUMNS:
            points = points @ leading_map(points, min(JOINED_COLUMNS, len(points)))
        points = points.astype(np.float64)
        has_ward, many = name == "standard", c > MAX_EVEN_STARTS
        ward = ward_labels(points, c) if has_ward or many else None
        labellings.append((name, "k-means", kmeans_labels(points, c, ward if many else 1 / 2)))
        if has_ward:
            labellings.append((name, "Ward", ward))
    return labellings


def kmeans_labels(points, c, start):
    """Labels by k-means from the `even_starts` of an offset, or from the clusters of other labels.

    Labels may have fewer than c clusters, whose means are then all starts.
    """
    if isinstance(start, np.ndarray):
        starts = cluster_means(points, start)
        c = len(starts)
    else:
        # k-means would warn of fewer distinct rows than clusters, which a fit reports itself.
        c = min(c, distinct_rows(points[spread(len(points), KMEANS_ROWS)]))
        starts = partial(even_starts, offset=start)
    return assign(points, c, init=starts, n_init=1).astype(np.int64)


def tabulate(labellings):
    """Arrays of the candidates, without scores."""
    names = ("graph", "n_neighbors", "embedding", "algorithm", "labels")
    columns = zip(*labellings, strict=True)
    return {name: np.array(column) for name, column in zip(names, columns, strict=True)}
