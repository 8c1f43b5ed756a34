"""The candidate labellings of ConsensusTLRR, and the affinity matrix for their refinement."""

from functools import partial
from itertools import chain

import numpy as np
from sklearn.preprocessing import normalize

from ..judge._scan import SCALES, neighbor_graphs, neighbourhood_growth, scan, sizes_of
from ..spectral._cut import (
    KMEANS_ROWS,
    assign,
    cluster_means,
    diffusion_map,
    distinct_rows,
    even_starts,
)
from ..spectral._ward import ward_labels
from ..views._rows import spread
from ..views._view_rows import leading_map

# Mean numbers of neighbours of the graphs of similarities, before they grow. A third one between
# them changes the accuracy by less than a standard error (bench/unequal.py, bench/accuracy.py).
SIZES = (8, 30)
# Neighbours of the graphs of another kind. The first number is used from ENOUGH samples on, where
# it adds .013 +- .006 to the mean accuracy of sixteen sets and five simulated families; few
# neighbours, which show groups of ten samples, are always used.
NEAREST, FEW_NEAREST, ENOUGH = 15, 6, 200
# How each graph is partitioned: its embeddings, and the algorithms that cut them. The diffusion map
# is needed for groups of unequal size, as is Ward's method; with c eigenvectors in place of 2 c it
# loses .009 +- .005 on 103 sets and families. The graph "none" are the rows of all views side by
# side, whose columns have the weight of their variance ("rows"), which is needed for words, or the
# same ("standard"), which is needed for tables.
PARTITIONS = {
    "unit": {"c": ("k-means",)},
    "centred": {"c": ("k-means",), "diffusion": ("Ward", "k-means")},
    "neighbors": {"c": ("k-means",), "diffusion": ("Ward", "k-means")},
    "few neighbors": {"diffusion": ("Ward", "k-means")},
    "none": {"rows": ("k-means",), "standard": ("k-means", "Ward")},
}
# Offsets of the starts of k-means (`even_starts`). Each gives a labelling, because predictability
# chooses better among starts than inertia does.
OFFSETS = {"c": (1 / 6, 5 / 6), "diffusion": (1 / 2,), "rows": (1 / 2,), "standard": (1 / 2,)}
# With more clusters these starts stay in worse optima than one from Ward's clusters, and c
# eigenvectors of fewer graphs are as accurate in a seventh of the time: +.002 +- .003 on 15
# problems of 20 to 200 classes. With the ten classes of yaleb10 these candidates lose .1.
MAX_EVEN_STARTS = 40
JOINED_COLUMNS = 100  # leading components of wider joined rows


def candidate_labellings(used, c, n_threads, progress):
    """The candidates without scores, and the affinity matrix that is used for refinement.

    The affinity matrix is the sum over the graphs of unit and centred rows with most neighbours.
    """
    # Sizes of neighbourhoods grow with the samples of a cluster. Few neighbours show small groups.
    n, many = used.present.shape[1], c > MAX_EVEN_STARTS
    growth = neighbourhood_growth(n, c)
    sizes = sizes_of(n, [round(growth * d) for d in SIZES])
    nearest = {"neighbors": NEAREST, "few neighbors": max(2, min(FEW_NEAREST, n // 10))}
    if n < ENOUGH:
        del nearest["neighbors"]

    # The graphs are made one after another, and each is forgotten when it has been partitioned.
    views = used.present_rows, used.present
    n_vectors = {"unit": c, "centred": c if many else 2 * c}
    graphs = scan(*views, sizes, n_vectors, growth=growth, n_threads=n_threads)
    count = len(SCALES) * len(sizes)
    if not many:
        graphs = chain(graphs, neighbor_graphs(*views, nearest, 2 * c, n_threads))
        count += len(nearest)
    labellings, affinity = [], None
    for graph, d, A, values, vectors in progress.each("labellings", graphs, count):
        for embedding in PARTITIONS[graph]:
            is_map = embedding == "diffusion"
            points = diffusion_map(A, values, vectors) if is_map else normalize(vectors[:, :c])
            labellings += partitions(points, c, graph, d, embedding)
        if graph in SCALES and d == max(sizes):
            affinity = A if affinity is None else affinity + A
    if affinity is None:  # the callback ended the previous stage
        affinity = A
    for embedding, points in joined_rows(used.rows).items():
        labellings += partitions(points, c, "none", 0, embedding)
    return tabulate(labellings), affinity


def partitions(points, c, graph, n_neighbors, embedding):
    """Candidates from the points of an embedding of a graph, as `tabulate` takes them."""
    algorithms, offsets = PARTITIONS[graph][embedding], OFFSETS[embedding]
    many = c > MAX_EVEN_STARTS
    ward = ward_labels(points, c) if "Ward" in algorithms or many else None
    labellings = []
    for algorithm in algorithms:
        if algorithm == "Ward":
            labellings.append((algorithm, ward))
        else:
            starts = [ward] if many else offsets
            labellings += [(algorithm, kmeans_labels(points, c, start)) for start in starts]
    return [(graph, n_neighbors, embedding, *entry) for entry in labellings]


def joined_rows(rows):
    """Points of the embeddings of the graph "none", of at most 100 columns."""
    units = [view.unit - view.unit.mean(axis=0) for view in rows]
    standard = [U / (np.sqrt(U.shape[1]) * np.maximum(U.std(axis=0), 1e-6)) for U in units]
    embeddings = {}
    for name, parts in (("rows", units), ("standard", standard)):
        points = np.hstack(parts, dtype=np.float32)
        if points.shape[1] > JOINED_COLUMNS:
            points = points @ leading_map(points, min(JOINED_COLUMNS, len(points)))
        embeddings[name] = points.astype(np.float64)
    return embeddings


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
    return assign(points, c, init=starts, n_init=1)


def tabulate(labellings):
    """Arrays of the candidates, without scores."""
    names = ("graph", "n_neighbors", "embedding", "algorithm", "labels")
    columns = zip(*labellings, strict=True)
    return {name: np.array(column) for name, column in zip(names, columns, strict=True)}
