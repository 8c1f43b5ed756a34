"""
Choosing the number of neighbours of TLRR
=========================================

`TLRR` keeps the ``n_neighbors`` strongest similarities per sample on average, and this number
decides most. No score without labels chooses it reliably: here is what `label_predictability` says,
beside the accuracy.
"""

# %%
# Labels at several numbers of neighbours
# ---------------------------------------
# Two hundred digits, twenty of each, in two of their six views.

import matplotlib.pyplot as plt
import numpy as np

from mvsc_fast import TLRR, datasets, label_predictability, metrics

arrays, y = datasets.load_handwritten()
chosen = np.concatenate([np.flatnonzero(y == digit)[:20] for digit in range(10)])
views, y = [arrays[i][chosen] for i in (1, 4)], y[chosen]

sizes = [6, 11, 15, 21, 42]
labellings = [
    TLRR(10, n_neighbors=d, random_state=0).fit_predict(views) for d in sizes
]

# %%
# Predictability and accuracy
# ---------------------------
# The predictability needs no digits, the accuracy does. The most predictable labels of several
# settings are usually not more accurate than those of the default (:doc:`/comparing`).

judged = label_predictability(views, labellings)
accuracy = [metrics.clustering_scores(y, labels)["acc"] for labels in labellings]
for d, J, acc in zip(sizes, judged, accuracy, strict=True):
    print(f"{d:2} neighbours: predictability {J:.3f}, ACC {acc:.3f}")

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.plot(
    sizes, judged, "o-", color="#0072b2", label="predictability (no true labels)"
)
ax.plot(sizes, accuracy, "s--", color="#e69f00", label="ACC")
ax.set_xscale("log")
ax.set_xticks(sizes, [str(d) for d in sizes])
ax.minorticks_off()
ax.set(xlabel="n_neighbors", ylim=(0.75, 1))
legend = ax.legend(loc="lower left")

# %%
# The best number depends on the similarities. On the tensor of t-SVD-MSC that the paper uses for
# Extended Yale B, its ``lam=15`` and ``alpha=9`` are right (:doc:`table </measured>`).
# `ConsensusTLRR` needs no such choice: its candidates cover
# four numbers of neighbours.
