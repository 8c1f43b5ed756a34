"""``mvsc-fast demo``: handwritten digits in six views, clustered in a minute."""

from pathlib import Path

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

from .. import datasets
from ..methods import TLRR, ConsensusTLRR
from ..metrics import clustering_scores
from ._outputs import prepare_outputs, replaced, score_table, write_labels

N_SAMPLES = 300  # of 2000


def add_parser(commands):
    """Add the command to the parser of all commands."""
    parser = commands.add_parser(
        "demo",
        help="cluster handwritten digits in six views",
        description="Cluster handwritten digits in six views, compare with a simpler method, "
        "and\nwrite the labels to demo/labels.csv.",
    )
    parser.set_defaults(run=run)


def run(args):
    """Cluster, compare with a simpler method, and write the labels."""
    labels_path = Path("demo/labels.csv")
    prepare_outputs([labels_path])
    views, y = datasets.load_handwritten()
    samples, _ = train_test_split(
        np.arange(len(y)), train_size=N_SAMPLES, stratify=y, random_state=0
    )
    views, y = [X[samples] for X in views], y[samples]
    print(f"UCI Multiple Features: {len(y)} handwritten digits in {len(views)} views, 10 clusters")

    # Both estimators of this package, and spectral clustering of the joined features.
    models = {"ConsensusTLRR": ConsensusTLRR(10, random_state=0)}
    models["TLRR"] = TLRR(10, random_state=0)
    scores = {}
    for name, model in models.items():
        scores[name] = clustering_scores(y, model.fit(views).labels_)
    joined = np.hstack([normalize(X) for X in views])
    baseline = SpectralClustering(10, affinity="nearest_neighbors", random_state=0).fit(joined)
    scores["joined features"] = clustering_scores(y, baseline.labels_)
    print("Agreement with the digits, 1 is perfect:")
    print(score_table(scores))

    with replaced(labels_path) as stream:
        columns = {"cluster": models["ConsensusTLRR"].labels_, "digit": y}
        write_labels(stream, columns, samples)
    print(f"wrote {labels_path}")
