"""
Judging labels without true labels
==================================

Meaningful labels can be predicted from the other samples. `label_predictability` measures this for
the labels of any method, and so chooses between methods, parameters and seeds.
"""

# %%
# Labellings of the same samples
# ------------------------------
# Five methods cluster four hundred digits.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from mvsc_fast import (
    TLRR,
    ConsensusTLRR,
    datasets,
    label_predictability,
    metrics,
    similarity,
)
from mvsc_fast.methods import AWP
from mvsc_fast.spectral import spectral_labels

views, y = datasets.load_handwritten()
chosen = np.random.default_rng(1).permutation(len(y))[:400]
views, y = [X[chosen] for X in views], y[chosen]

side_by_side = np.hstack([normalize(X) for X in views])
labellings = {
    "ConsensusTLRR": ConsensusTLRR(10, random_state=0).fit_predict(views),
    "TLRR": TLRR(10, random_state=0).fit_predict(views),
    "AWP": AWP(10).fit_predict(views),
    "averaged graph": spectral_labels(
        similarity.nearest_neighbors(views).mean(axis=0), 10, random_state=0
    )[0],
    "k-means": KMeans(10, n_init=5, random_state=0).fit_predict(side_by_side),
    "random": np.random.default_rng(0).integers(10, size=len(y)),
}

# %%
# Predictability and accuracy
# ---------------------------
# Predictability is computed from the views and the labels, without the digits.

judged = label_predictability(views, list(labellings.values()))
accuracy = [
    metrics.clustering_scores(y, labels)["acc"] for labels in labellings.values()
]
for name, J, acc in zip(labellings, judged, accuracy, strict=True):
    print(f"{name:15} predictability {J:.3f}   ACC {acc:.3f}")

figure, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
place = np.arange(len(labellings))
ax.barh(
    place,
    judged,
    height=0.36,
    color="#0072b2",
    label="predictability (no true labels)",
)
ax.barh(place + 0.38, accuracy, height=0.36, color="#e69f00", label="ACC")
ax.set_yticks(place + 0.19, list(labellings))
ax.set(xlim=(0, 1))
ax.invert_yaxis()
figure.legend(loc="outside upper center", ncols=2)

# %%
# Compare only labellings of the same samples with the same number of clusters. Differences below
# .02 mean nothing, and labels that follow a nuisance in the views are predictable too.
