"""Time, peak memory and accuracy from thousands to a million samples, beside other methods.

Usage: python bench/large_n.py [--sizes 100000 1000000] [--data subspaces hdigit] [--limit 60]

Every cell is a process of its own, with one thread. "MiB" is its peak above what was in use after
the imports, the data included; "CPU s" and "s" are the processor and wall seconds of the fit; the
exponents are of CPU seconds and peak memory since the size before. A method that fails, or takes
longer than --limit seconds, is not tried at larger sizes. Samples of files are shuffled, and
"subspaces" are those of `families.py`. Averaged neighbours are hard to beat on hdigit.
"""

import tempfile

import numpy as np
import scipy.sparse
from families import subspaces
from fit import spectral
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.metrics import pairwise_distances_chunked
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_svd
from timing import (
    apart,
    cpu_seconds,
    forget_peak,
    load_shared,
    memory,
    print_table,
    report,
    run,
    stopwatch,
)

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SIZES = [100_000, 1_000_000]
DATA = ["subspaces", "hdigit"]
CHUNK = 50_000  # samples of a chunk of Dask
NEAREST_ANCHORS = 5


def consensus(**parameters):
    def labels(views, k):
        model = ConsensusTLRR(k, random_state=0, n_threads=1, **parameters)
        return np.asarray(model.fit(views).labels_)

    return labels


def units(views):
    return [normalize(X.astype(np.float32)) for X in views]


def mini_batches(views, k):
    return MiniBatchKMeans(k, n_init=3, random_state=0).fit_predict(np.hstack(units(views)))


def anchors(count):
    """Spectral clustering of the bipartite graph of samples and anchors, averaged over views.

    Anchors are the centres of k-means cells of all views side by side. In each view a sample is
    joined to its five nearest ones by a Gaussian of the distance over that to the fifth, rows of
    sum 1; with Z their mean and D its column sums, the embedding is the left singular vectors of
    Z D^-1/2 (Chen & Cai, Large scale spectral clustering with landmark-based representation, 2011).
    """

    def labels(views, k):
        model = MiniBatchKMeans(count, n_init=1, random_state=0)
        cells = model.fit_predict(np.hstack(units(views)))
        Z = sum(weights(X, cells) for X in units(views)) / len(views)
        Z = Z @ scipy.sparse.diags_array(1 / np.sqrt(np.maximum(Z.sum(axis=0), 1e-12)))
        vectors, _, _ = randomized_svd(scipy.sparse.csr_array(Z), k, random_state=0)
        return KMeans(k, n_init=10, random_state=0).fit_predict(normalize(vectors))

    return labels


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
    "ConsensusTLRR": consensus(),
    "ConsensusTLRR, all samples": consensus(max_samples=2**31),
    "ConsensusTLRR, memory maps": consensus(),
    "ConsensusTLRR, Dask": consensus(),
    "MiniBatchKMeans": mini_batches,
    "SpectralClustering, nearest neighbors": lambda views, k: (
        spectral([np.hstack(units(views))], k).labels_
    ),
    "averaged nearest neighbors": lambda views, k: spectral(units(views), k).labels_,
    "150 anchors": anchors(150),
    "400 anchors": anchors(400),
}


def measure(data, n, method, folder):
    """Fit one method here: CPU seconds, seconds, MiB, ACC."""
    before = memory("VmRSS")
    views, y = subspaces(n, 0) if data == "subspaces" else load_shared(data, seed=0)
    if method.endswith(("memory maps", "Dask")):
        for i in range(len(views)):
            np.save(f"{folder}/{i}.npy", views[i])
            views[i] = np.load(f"{folder}/{i}.npy", mmap_mode="r")
    if method.endswith("Dask"):
        import dask.array

        views = [dask.array.from_array(X, chunks=(CHUNK, -1)) for X in views]
    forget_peak()  # of making the data
    wall, (cpu, labels) = stopwatch(cpu_seconds, METHODS[method], views, len(np.unique(y)))
    peak = (memory("VmHWM") - before) / 2**20
    return cpu, wall, peak, clustering_scores(y, labels)["acc"]


def main(sizes, data, limit):
    table = []
    for name in data:
        for method in METHODS:
            before = None
            for n in sizes if name == "subspaces" else [len(load_shared(name)[1])]:
                with tempfile.TemporaryDirectory() as folder:
                    row, problem = apart(measure, name, n, method, folder, limit=limit)
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
    run(main, __doc__, None, sizes=SIZES, data=DATA, limit=60.0)
