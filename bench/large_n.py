"""Time, peak memory and accuracy from thousands to a million samples, beside other methods.

Usage: python bench/large_n.py [--sizes 10000 30000 100000] [--data subspaces hdigit]
                               [--only "memory maps"] [--threads 1] [--limit 900]

Every cell is a process of its own. "MiB" is its peak above what was in use after the imports, the
data included; "CPU s" and "s" are the processor and wall seconds of the fit; the exponents are of
CPU seconds and peak memory since the size before. A method that fails, or takes longer than
--limit seconds, is not tried at larger sizes. Samples of files are shuffled, and "subspaces" are
those of `families.py`. Averaged neighbours are hard to beat on hdigit.
"""

import tempfile
import time

import numpy as np
import scipy.sparse
from families import subspaces
from sklearn.cluster import KMeans, MiniBatchKMeans, SpectralClustering
from sklearn.metrics import pairwise_distances_chunked
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd
from timing import (
    apart,
    forget_peak,
    limit_threads,
    load_shared,
    memory,
    print_table,
    report,
    run,
)

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000]
DATA = ["subspaces", "uci_digit", "handwritten", "scene15", "hdigit"]
CHUNK = 50_000  # samples of a chunk of Dask
NEIGHBORS = 15
NEAREST_ANCHORS = 5


def ours(**parameters):
    def fit(views, k, n_threads):
        model = ConsensusTLRR(k, random_state=0, n_threads=n_threads, **parameters)
        return np.asarray(model.fit(views).labels_)

    return fit


def side_by_side(views):
    return np.hstack([normalize(X.astype(np.float32)) for X in views])


def mini_batches(views, k, n_threads):
    return MiniBatchKMeans(k, n_init=3, random_state=0).fit_predict(side_by_side(views))


def concatenated(views, k, n_threads):
    model = SpectralClustering(
        k, affinity="nearest_neighbors", n_neighbors=NEIGHBORS, random_state=0, n_jobs=n_threads
    )
    return model.fit_predict(side_by_side(views))


def averaged(views, k, n_threads):
    units = [normalize(X.astype(np.float32)) for X in views]
    graphs = [kneighbors_graph(U, NEIGHBORS, include_self=True) for U in units]
    mean = sum(graphs) / len(graphs)
    model = SpectralClustering(k, affinity="precomputed", random_state=0)
    return model.fit_predict((mean + mean.T) / 2)


def anchors(count):
    """Spectral clustering of the bipartite graph of samples and anchors, averaged over views.

    Anchors are the centres of k-means cells of all views side by side. In each view a sample is
    joined to its five nearest ones by a Gaussian of the distance over that to the fifth, rows of
    sum 1; with Z their mean and D its column sums, the embedding is the left singular vectors of
    Z D^-1/2 (Chen & Cai, Large scale spectral clustering with landmark-based representation, 2011).
    """

    def fit(views, k, n_threads):
        model = MiniBatchKMeans(count, n_init=1, random_state=0)
        cells = model.fit_predict(side_by_side(views))
        Z = sum(weights(normalize(X.astype(np.float32)), cells) for X in views) / len(views)
        Z = Z @ scipy.sparse.diags_array(1 / np.sqrt(np.maximum(Z.sum(axis=0), 1e-12)))
        vectors, _, _ = randomized_svd(scipy.sparse.csr_array(Z), k, random_state=0)
        return KMeans(k, n_init=10, random_state=0).fit_predict(normalize(vectors))

    return fit


def weights(X, cells):
    """Weights of the nearest anchors of each row of a view, of shape (n, anchors)."""
    numbers, cells = np.unique(cells, return_inverse=True)
    member = scipy.sparse.csr_array((np.ones(len(X)), cells, np.arange(len(X) + 1)))
    centres = ((member.T @ X) / np.bincount(cells)[:, None]).astype(np.float32)
    nearest, distance = [], []
    for block in pairwise_distances_chunked(X, centres, metric="euclidean", working_memory=64):
        nearest.append(np.argpartition(block, NEAREST_ANCHORS, axis=1)[:, :NEAREST_ANCHORS])
        distance.append(np.take_along_axis(block, nearest[-1], axis=1))
    nearest, distance = np.concatenate(nearest), np.concatenate(distance)
    scale = np.maximum(distance.max(axis=1, keepdims=True), 1e-12)
    values = normalize(np.exp(-((distance / scale) ** 2)), norm="l1")
    entries = values.ravel(), nearest.ravel(), np.arange(len(X) + 1) * NEAREST_ANCHORS
    return scipy.sparse.csr_array(entries, shape=(len(X), len(numbers)))


METHODS = {
    "ConsensusTLRR": ours(),
    "ConsensusTLRR, 2000 samples": ours(max_samples=2000),
    "ConsensusTLRR, 5000 samples": ours(max_samples=5000),
    "ConsensusTLRR, all samples": ours(max_samples=2**31),
    "ConsensusTLRR, memory maps": ours(memory_limit="600MiB"),
    "ConsensusTLRR, Dask": ours(memory_limit="600MiB"),
    "MiniBatchKMeans": mini_batches,
    "SpectralClustering, nearest neighbors": concatenated,
    "averaged nearest neighbors": averaged,
    "150 anchors": anchors(150),
    "400 anchors": anchors(400),
}
# With fewer samples these are the default.
MIN_SAMPLES = {
    "ConsensusTLRR, 2000 samples": 2001,
    "ConsensusTLRR, 5000 samples": 5001,
    "ConsensusTLRR, all samples": 4001,
}


def map_view(X, path):
    """A view in a file instead of in memory."""
    np.save(path, X)
    return np.load(path, mmap_mode="r")


def measure(data, n, method, n_threads, folder):
    """Fit one method here: CPU seconds, seconds, MiB, ACC."""
    before = memory("VmRSS")
    views, y = subspaces(n, 0) if data == "subspaces" else load_shared(data, seed=0)
    if method.endswith(("memory maps", "Dask")):
        views = [map_view(views.pop(0), f"{folder}/{i}.npy") for i in range(len(views))]
    if method.endswith("Dask"):
        import dask.array

        views = [dask.array.from_array(X, chunks=(CHUNK, -1)) for X in views]
    forget_peak()  # of making the data
    with limit_threads(n_threads):
        wall, cpu = time.perf_counter(), time.process_time()
        labels = METHODS[method](views, len(np.unique(y)), n_threads)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    peak = (memory("VmHWM") - before) / 2**20
    return cpu, wall, peak, clustering_scores(y, labels)["acc"]


def main(sizes, data, only, threads, limit):
    table = []
    for name in data:
        for method in [method for method in METHODS if only in method]:
            before = None
            for n in sizes if name == "subspaces" else [len(load_shared(name)[1])]:
                if n < MIN_SAMPLES.get(method, 0):
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    cell = name, n, method, threads, folder
                    row, problem = apart(measure, *cell, limit=limit, threads={})
                if row is None:
                    table.append(f"{name} | {method} | {n} | | | | | | | {problem}")
                    report(table[-1])
                    break
                cpu, wall, peak, acc = row
                growth = ["", ""]
                if before and n != before[0]:
                    pairs = (cpu, before[1]), (peak, before[2])
                    growth = [f"{np.log(b / a) / np.log(n / before[0]):.2f}" for b, a in pairs]
                table.append(
                    f"{name} | {method} | {n} | {cpu:.1f} | {wall:.1f} | {peak:.0f} | {acc:.3f} | "
                    f"{' | '.join(growth)} | "
                )
                report(table[-1])
                before = n, cpu, peak
    header = "data | method | n | CPU s | s | MiB | ACC | exponent of time | of memory | ended by"
    print_table(header, table)


if __name__ == "__main__":
    run(main, __doc__, None, sizes=SIZES, data=DATA, only="", threads=1, limit=900.0)
