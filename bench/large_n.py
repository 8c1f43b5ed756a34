"""Time, peak memory and accuracy from thousands to a million samples, beside other methods.

Usage: python bench/large_n.py [--sizes 100000 1000000] [--data subspaces hdigit] [--limit 60]
       python bench/large_n.py --clusters
       python bench/large_n.py --subsamples 500 1000 2000 4000 10000

Every fit is a process of its own, with one thread. "MiB" is its peak above what was in use after
the imports, the data included; "CPU s" are the processor seconds of the fit. A method that fails,
or takes longer than --limit seconds, is not tried at larger sizes. Samples of files are shuffled,
and "subspaces" are those of `families.py`. Averaged neighbours are hard to beat on hdigit.

--clusters is ConsensusTLRR by the number of clusters, views and columns: Gaussian clusters of equal
sizes, or of sizes that fall geometrically by 10 : 1, in float32; memory is that beyond the views.
--subsamples is its adjusted Rand index by max_samples, for all samples, of which those beyond it
are predicted, mean of two draws: of 40 000 samples of simulated families, and of whole sets. The
last row has mean CPU seconds.
"""

import tempfile
from functools import partial

import numpy as np
from families import lobes, sensors, subspaces
from sklearn.cluster import MiniBatchKMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import normalize
from timing import (
    apart,
    cpu_seconds,
    forget_peak,
    load_shared,
    memory,
    print_table,
    report,
    run,
)

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SIZES, DATA = [100_000, 1_000_000], ["subspaces", "hdigit"]
TOTAL = 40_000  # samples of a family of which subsamples are clustered
CHUNK = 50_000  # samples of a chunk of Dask


def consensus(**parameters):
    def labels(views, k):
        model = ConsensusTLRR(k, random_state=0, n_threads=1, **parameters)
        return np.asarray(model.fit(views).labels_)

    return labels


def spectral(units, k):
    """scikit-learn's clusters of the mean of a graph of 15 nearest neighbours for each array."""
    A = sum(kneighbors_graph(U, 15, include_self=True) for U in units) / len(units)
    model = SpectralClustering(k, affinity="precomputed", random_state=0)
    return model.fit_predict((A + A.T) / 2)


def units(views):
    return [normalize(X.astype(np.float32)) for X in views]


def mini_batches(views, k):
    return MiniBatchKMeans(k, n_init=3, random_state=0).fit_predict(np.hstack(units(views)))


METHODS = {
    "ConsensusTLRR": consensus(),
    "ConsensusTLRR, all samples": consensus(max_samples=2**31),
    "ConsensusTLRR, memory maps": consensus(),
    "ConsensusTLRR, Dask": consensus(),
    "MiniBatchKMeans": mini_batches,
    "SpectralClustering": lambda views, k: spectral([np.hstack(units(views))], k),
    "averaged neighbours": lambda views, k: spectral(units(views), k),
}


def measure(data, n, method, folder):
    """Fit one method here: CPU seconds, MiB, ACC."""
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
    cpu, labels = cpu_seconds(METHODS[method], views, len(np.unique(y)))
    peak = (memory("VmHWM") - before) / 2**20
    return cpu, peak, clustering_scores(y, labels)["acc"]


# n, clusters, views, columns of each, and how much the largest cluster exceeds the smallest
SIZES_OF_CLUSTERS = [
    (4000, 10, 3, 50, 1),
    (4000, 200, 3, 50, 1),
    (4000, 500, 3, 50, 10),
    (100_000, 500, 3, 50, 1),
    (4000, 10, 20, 50, 1),
    (1000, 10, 3, 20_000, 1),
]


def gaussian_clusters(n, n_clusters, n_views, n_columns, ratio):
    """Views and labels, the largest cluster ``ratio`` times the smallest."""
    rng = np.random.default_rng(0)
    shares = ratio ** -np.linspace(0, 1, n_clusters)
    sizes = np.maximum(2, np.round(n * shares / shares.sum()).astype(int))
    y = rng.permutation(np.repeat(np.arange(n_clusters), sizes))
    views = []
    for _ in range(n_views):
        centres = rng.standard_normal((n_clusters, n_columns), dtype=np.float32)
        views.append(centres[y] + rng.standard_normal((len(y), n_columns), dtype=np.float32))
    return views, y


def measure_clusters(n, n_clusters, *sizes):
    """CPU seconds of a fit, MiB beyond its views, and ACC."""
    views, y = gaussian_clusters(n, n_clusters, *sizes)
    before = forget_peak()
    cpu, labels = cpu_seconds(consensus(), views, n_clusters)
    return cpu, (memory("VmHWM") - before) / 2**20, clustering_scores(y, labels)["acc"]


def print_clusters():
    rows = []
    for size in SIZES_OF_CLUSTERS:
        row, problem = apart(measure_clusters, *size)
        if row is None:
            raise SystemExit(problem)
        cells = f"{row[0]:.1f}", f"{row[1]:.0f}", f"{row[2]:.3f}"
        rows.append([*size[:-1], f"{size[-1]} : 1", *cells])
    print_table("n | clusters | views | columns | sizes | CPU s | MiB | ACC", rows)


def print_subsamples(sizes):
    rows, seconds = [], []
    families = {family.__name__: partial(family, TOTAL) for family in (sensors, lobes, subspaces)}
    files = {name: partial(load_shared, name) for name in ("hdigit", "scene15")}
    for name, load in (families | files).items():
        results = []
        for draw in range(2):
            views, y = load(seed=draw)
            for size in sizes:
                fit = consensus(max_samples=size)
                cpu, labels = cpu_seconds(fit, views, len(np.unique(y)))
                results.append([adjusted_rand_score(y, labels), cpu])
        scores, spent = np.reshape(results, (2, len(sizes), 2)).mean(axis=0).T
        rows.append([name, len(y), len(np.unique(y)), *(f"{score:.3f}" for score in scores)])
        seconds.append(spent)
    rows.append(["CPU s", "", "", *(f"{mean:.1f}" for mean in np.mean(seconds, axis=0))])
    print_table(["data", "samples", "clusters", *map(str, sizes)], rows)


def main(sizes, data, limit, clusters, subsamples):
    if clusters:
        print_clusters()
        return
    if subsamples != [0]:
        print_subsamples(subsamples)
        return
    table = []
    for name in data:
        for method in METHODS:
            for n in sizes if name == "subspaces" else [len(load_shared(name)[1])]:
                with tempfile.TemporaryDirectory() as folder:
                    row, problem = apart(measure, name, n, method, folder, limit=limit)
                cells = f"{row[0]:.1f} | {row[1]:.0f} | {row[2]:.3f}" if row else f"{problem} | |"
                table.append(f"{name} | {method} | {n} | {cells}")
                report(table[-1])
                if row is None:
                    break
    print_table("data | method | n | CPU s | MiB | ACC", table)


if __name__ == "__main__":
    options = {"clusters": False, "subsamples": [0]}
    run(main, __doc__, sizes=SIZES, data=DATA, limit=60.0, **options)
