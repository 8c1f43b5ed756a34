"""What scaling the columns does to accuracy, on the tables of scikit-learn.

Usage: python bench/columns.py

The two halves of the columns are two views. ACC of ConsensusTLRR on shuffled samples.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import FunctionTransformer, PowerTransformer, StandardScaler
from timing import print_table, run

from mvsc_fast import ConsensusTLRR
from mvsc_fast.metrics import clustering_scores

SETS = {"wine": load_wine, "breast cancer": load_breast_cancer}
SCALINGS = {
    "raw": FunctionTransformer(),
    "`StandardScaler`": StandardScaler(),
    "`PowerTransformer`": PowerTransformer(),
}


def accuracy(load, scaling):
    X, y = load(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    X, y = scaling.fit_transform(X[order]), y[order]
    views = np.split(X, [X.shape[1] // 2], axis=1)
    labels = ConsensusTLRR(len(np.unique(y)), random_state=0).fit_predict(views)
    return clustering_scores(y, labels)["acc"]


def main():
    rows = [
        [name, *(f"{accuracy(load, scaling):.3f}" for load in SETS.values())]
        for name, scaling in SCALINGS.items()
    ]
    print_table(["columns", *SETS], rows)


if __name__ == "__main__":
    run(main, __doc__, n_threads=None)
