"""CPU seconds, memory and accuracy of ConsensusTLRR by the number of clusters, views and columns.

Usage: python bench/many_clusters.py [--limit 300] [--only N C]

Gaussian clusters of equal sizes, or of sizes that fall geometrically by 10 : 1, in float32. Each
fit has a process and one thread of its own, and ends after --limit CPU seconds; its peak memory is
that beyond the views. PYTHONPATH chooses another commit.
"""

import argparse
import json
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path
from subprocess import PIPE

import numpy as np
from timing import print_table

# n, clusters, views, columns of each, separation of the centres in standard deviations, and how
# much larger the largest cluster is than the smallest
SIZES = [
    *product([4000], [10, 50, 200, 500], [3], [50], [1.0], [1, 10]),
    *product([2000], [100, 200], [3], [50], [0.6], [1, 10]),
    *product([4000], [200], [6], [50], [1.0], [1, 10]),
    *product([4000], [200], [3], [500], [1.0], [1, 10]),
    *product([100_000], [50], [3], [50], [1.0], [1, 10]),
    (100_000, 500, 3, 50, 1.0, 1),
]
FIT = """
import json, resource, sys, time, warnings
sys.path.insert(0, sys.argv[1])
n, c, v, d, separation, ratio, limit = json.loads(sys.argv[2])
resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 1))
warnings.simplefilter("ignore")
from many_clusters import gaussian_clusters
from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores
views, y = gaussian_clusters(n, c, v, d, separation, ratio)
memory = lambda name: next(
    int(line.split()[1]) / 1024 for line in open("/proc/self/status") if line.startswith(name)
)
open("/proc/self/clear_refs", "w").write("5")  # forget the peak so far
before, start = memory("VmRSS"), time.process_time()
labels = ConsensusTLRR(c, random_state=0, n_threads=1).fit(views).labels_
seconds = time.process_time() - start
print(seconds, memory("VmHWM") - before, clustering_scores(y, labels)["acc"])
"""


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


def main(limit, only):
    rows = []
    for n, c, v, d, separation, ratio in SIZES:
        if only and only != [n, c]:
            continue
        arguments = json.dumps([n, c, v, d, separation, ratio, limit])
        command = [sys.executable, "-c", FIT, str(Path(__file__).parent), arguments]
        run = subprocess.run(command, stdout=PIPE, text=True)
        cells = ["more than the limit", "", ""]
        if run.returncode != -signal.SIGXCPU:
            seconds, peak, accuracy = map(float, run.stdout.split())
            cells = [f"{seconds:.1f}", f"{peak:.0f}", f"{accuracy:.3f}"]
        rows.append([n, c, v, d, separation, f"{ratio} : 1", *cells])
    head = ["n", "clusters", "views", "columns", "separation", "sizes", "CPU s", "MiB", "ACC"]
    print_table(head, rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=300, help="CPU seconds of a fit")
    parser.add_argument("--only", nargs=2, type=int, metavar=("N", "C"))
    given = parser.parse_args()
    main(given.limit, given.only)
