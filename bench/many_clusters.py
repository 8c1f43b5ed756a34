"""CPU seconds, memory and accuracy of ConsensusTLRR by the number of clusters, views and columns.

Usage: python bench/many_clusters.py

Gaussian clusters of equal sizes, or of sizes that fall geometrically by 10 : 1, in float32. Each
fit has a process and one thread of its own, or two for the last; its peak memory is that beyond the
views.
"""

from itertools import product

import numpy as np
from timing import apart, cpu_seconds, forget_peak, memory, print_table, run, stopwatch

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

# n, clusters, views, columns of each, separation of the centres in standard deviations, how much
# larger the largest cluster is than the smallest, and threads if they are not one
SIZES = [
    *product([4000], [10, 50, 200, 500], [3], [50], [1.0], [1, 10]),
    *product([2000], [100, 200], [3], [50], [0.6], [1, 10]),
    *product([4000], [200], [6], [50], [1.0], [1, 10]),
    *product([4000], [200], [3], [500], [1.0], [1, 10]),
    *product([100_000], [50], [3], [50], [1.0], [1, 10]),
    (100_000, 500, 3, 50, 1.0, 1),
    (4000, 10, 20, 50, 1.0, 1),
    *product([1000], [10], [3], [50, 20_000], [1.0], [1]),
    (4000, 200, 3, 50, 1.0, 1, 2),
]


def gaussian_clusters(n, n_clusters, n_views, n_columns, separation, ratio):
    """Views and labels, the largest cluster ``ratio`` times the smallest."""
    rng = np.random.default_rng(0)
    shares = ratio ** -np.linspace(0, 1, n_clusters)
    sizes = np.maximum(2, np.round(n * shares / shares.sum()).astype(int))
    y = rng.permutation(np.repeat(np.arange(n_clusters), sizes))
    views = []
    for _ in range(n_views):
        centres = separation * rng.standard_normal((n_clusters, n_columns), dtype=np.float32)
        views.append(centres[y] + rng.standard_normal((len(y), n_columns), dtype=np.float32))
    return views, y


def measure(n, n_clusters, n_views, n_columns, separation, ratio, n_threads=1):
    """Seconds and CPU seconds of a fit, MiB beyond its views, and ACC."""
    views, y = gaussian_clusters(n, n_clusters, n_views, n_columns, separation, ratio)
    before = forget_peak()
    model = ConsensusTLRR(n_clusters, random_state=0, n_threads=n_threads)
    seconds, (cpu, _) = stopwatch(cpu_seconds, model.fit, views)
    peak = (memory("VmHWM") - before) / 2**20
    return seconds, cpu, peak, clustering_scores(y, model.labels_)["acc"]


def main():
    rows = []
    for size in SIZES:
        row, problem = apart(measure, *size)
        if row is None:
            raise SystemExit(problem)
        *sizes, ratio, n_threads = (*size, 1)[:7]
        seconds, cpu, peak, acc = row
        cells = f"{cpu:.1f}", f"{seconds:.1f}", f"{peak:.0f}", f"{acc:.3f}"
        rows.append([*sizes, f"{ratio} : 1", n_threads, *cells])
    head = ["n", "clusters", "views", "columns", "separation", "sizes"]
    print_table([*head, "threads", "CPU s", "s", "MiB", "ACC"], rows)


if __name__ == "__main__":
    run(main, __doc__)
