"""
How many clusters, and why these
================================

A suggestion for the number of clusters with the curve it is read from, and an explanation of the
clusters: their quality, their least certain samples, and the support of each view.
"""

# %%
# The number of clusters
# ----------------------
# Five hundred handwritten digits in six views. The number of different digits is not used.

import matplotlib.pyplot as plt
import numpy as np

from mvsc_fast import ConsensusTLRR, datasets, explain, suggest_n_clusters
from mvsc_fast.explanation import plot_n_clusters

arrays, y = datasets.load_handwritten()
chosen = np.random.default_rng(0).permutation(len(y))[:500]
names = ["profiles", "Fourier", "Karhunen-Loeve", "shapes", "pixels", "Zernike"]
views = {name: X[chosen] for name, X in zip(names, arrays, strict=True)}

found = suggest_n_clusters(views, max_clusters=20, random_state=0)
print(
    f"{found.n_clusters}, or {found.candidates[1:]}; {found.confidence} confidence"
)

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax = plot_n_clusters(found, ax=ax)

# %%
# Why these clusters
# ------------------

model = ConsensusTLRR(n_clusters=10, random_state=0).fit(views)
explanation = explain(model, views)
print(explanation)

# %%
# Check the least certain samples first: more of them are in a cluster of another digit.

digits = y[chosen]
most = [
    np.bincount(digits[model.labels_ == cluster]).argmax() for cluster in range(10)
]
wrong = digits != np.take(most, model.labels_)
print(f"of another digit: {wrong.mean():.0%} of all samples,", end=" ")
print(f"{wrong[explanation.uncertain].mean():.0%} of the least certain ones")
