"""``mvsc-fast demo``: handwritten digits in six views, clustered in a minute."""

from sklearn.cluster import SpectralClustering
from sklearn.preprocessing import normalize
from sklearn.utils import resample

from .. import datasets
from ..methods import ConsensusTLRR
from ..metrics import clustering_scores
from ._output import score_table

N_SAMPLES = 300  # of 2000


def add_parser(commands):
    """Add the command to the parser of all commands."""
    text = "cluster handwritten digits in six views, and compare with a simpler method"
    commands.add_parser("demo", help=text, description=text).set_defaults(run=run)


def run(args):
    """Cluster, and compare with spectral clustering of the joined features."""
    views, y = datasets.load_handwritten()
    *views, y = resample(*views, y, replace=False, n_samples=N_SAMPLES, stratify=y, random_state=0)
    joined = sum(normalize(X) @ normalize(X).T for X in views).clip(0)
    models = {"ConsensusTLRR": ConsensusTLRR(10, random_state=0).fit(views)}
    models["mean cosines"] = SpectralClustering(10, affinity="precomputed", random_state=0)
    models["mean cosines"].fit(joined)
    print(f"UCI Multiple Features: {len(y)} handwritten digits in {len(views)} views, 10 clusters")
    print("Agreement with the digits, 1 is perfect:")
    print(score_table({name: clustering_scores(y, m.labels_) for name, m in models.items()}))
