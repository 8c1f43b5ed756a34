"""
Methods that depend on the order of the samples
===============================================

A Fourier transform along the samples profits from a file that is sorted by class, which shuffling
the same samples reveals. The order-free transform does not depend on it.
"""

# %%
# Ten digits, one after the other
# -------------------------------
# Thirty of each, in two of their six views.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from mvsc_fast import TLRR, datasets, metrics
from mvsc_fast.methods import TSVDMSC

views, y = datasets.load_handwritten()
chosen = np.concatenate([np.flatnonzero(y == digit)[:30] for digit in range(10)])
views, y = [X[chosen] for X in (views[1], views[5])], y[chosen]
in_order = np.argsort(y, kind="stable")
shuffled = np.random.default_rng(0).permutation(len(y))

methods = {
    "t-SVD-MSC, dft (published)": TSVDMSC(
        10, lam=0.2, sample_transform="dft", random_state=0
    ),
    "t-SVD-MSC, graph basis": TSVDMSC(10, lam=0.2, random_state=0),
    "TLRR": TLRR(10, random_state=0),
}
accuracy = {}
for name, model in methods.items():
    for order in (in_order, shuffled):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "dft" warns of exactly this
            labels = model.fit_predict([X[order] for X in views])
        scores = metrics.clustering_scores(y[order], labels)
        accuracy.setdefault(name, []).append(scores["acc"])
    by_class, mixed = accuracy[name]
    print(f"{name:28} sorted by class {by_class:.3f}, shuffled {mixed:.3f}")

# %%
# Only the published transform profits from the order.

figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
place = np.arange(len(methods))
colors = {"sorted by class": "#e69f00", "shuffled": "#0072b2"}
for shift, (order, color) in enumerate(colors.items()):
    values = [pair[shift] for pair in accuracy.values()]
    ax.barh(place + 0.38 * shift, values, height=0.36, color=color, label=order)
ax.set_yticks(place + 0.19, list(accuracy))
ax.set(xlim=(0, 1), xlabel="ACC")
ax.invert_yaxis()
figure.legend(loc="outside upper center", ncols=2)
