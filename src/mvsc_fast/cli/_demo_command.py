"""``mvsc-fast demo``: handwritten digits in six views, clustered in a minute."""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from .. import datasets
from .._utils.figures import check_picture
from .._utils.threads import use_threads
from ..methods import TLRR, ConsensusTLRR
from ..metrics import clustering_scores
from ..similarity import _dense as graphs
from ..spectral import fuse, spectral_labels
from ._cluster_command import pair, score_table, write_labels
from ._outputs import check_outputs, replaced

ESTIMATORS = (
    (ConsensusTLRR, "consensus of the labels of many graphs"),
    (TLRR, "similarities recovered by the low-rank tensor"),
)


PER_CLASS = 30  # number of samples of each digit
SEED = 0


def run(args):
    """Cluster, compare with simpler methods, and write labels and a plot."""
    start = time.perf_counter()
    folder = Path("demo")
    written = [folder / "labels.csv", folder / "similarity.png"]
    check_outputs(written)
    check_picture(written[1])
    views, y, samples = _balanced_handwritten(PER_CLASS, SEED)
    print(
        f"UCI Multiple Features: {len(y)} handwritten digits in {len(views)} views, "
        "shuffled, 10 clusters",
        flush=True,
    )
    rows, models = {}, []
    for number, (estimator, what) in enumerate(ESTIMATORS, start=1):
        name = estimator.__name__
        print(f"{number} of 3: {name}, {what}", flush=True)
        begin = time.perf_counter()
        model = estimator(10, random_state=SEED, verbose=int(sys.stderr.isatty())).fit(views)
        models.append(model)
        print(f"        {time.perf_counter() - begin:.1f} s", flush=True)
        rows[name] = clustering_scores(y, model.labels_)
    print("3 of 3: graphs of nearest neighbours, for comparison", flush=True)
    begin = time.perf_counter()
    with use_threads(None, len(y)):
        for name, labels in _baselines(views, 10, SEED):
            print(f"        {name}", flush=True)
            rows[name] = clustering_scores(y, labels)
    print(f"        {time.perf_counter() - begin:.1f} s")
    print("Agreement with the digits, 1 is perfect:")
    print(score_table(rows))
    consensus, tlrr = models
    print(
        f"ConsensusTLRR combined {len(consensus.candidates_['labels'])} labellings without true "
        f"labels; TLRR took {tlrr.n_iter_} solver iterations"
    )
    with replaced(written[0]) as stream:
        write_labels(stream, {"cluster": consensus.labels_, "digit": y}, samples)
    W, L = tlrr.similarity_, tlrr.tensor_
    titles = ("similarity W", "affinity after TLRR")
    figure = pair(fuse(W), fuse(L), y, titles, groups="true")
    with replaced(written[1], "wb") as stream:
        figure.savefig(stream, dpi=120, format="png")
    print(f"wrote {', '.join(map(str, written))} after {time.perf_counter() - start:.1f} s")


def _balanced_handwritten(per_class, seed):
    """Views, digits and sample numbers of a random subset with equal counts of every digit."""
    views, y = datasets.load_handwritten()
    rng = check_random_state(seed)
    chosen = np.concatenate(
        [rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in np.unique(y)]
    )
    chosen = rng.permutation(chosen)
    return [X[chosen] for X in views], y[chosen], chosen


def _baselines(views, n_clusters, seed):
    """Spectral clustering of self-tuning nearest-neighbour graphs, samples of unit length."""

    def labels(affinity):
        return spectral_labels(affinity, n_clusters, random_state=seed)[0]

    views = [normalize(X) for X in views]
    W = graphs.nearest_neighbors(views)
    for i, A in enumerate(W):
        yield f"view {i} alone", labels(A)
    yield "averaged graph", labels(W.mean(axis=0))
    yield "concatenated", labels(graphs.nearest_neighbors([np.hstack(views)])[0])
