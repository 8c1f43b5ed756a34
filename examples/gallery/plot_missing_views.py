"""
Samples that lack views
=======================

A row of NaN is a missing view. Two samples are compared by the views that both have.
"""

# %%
# A third of the rows go missing
# ------------------------------
# Four hundred handwritten digits in six views; every sample keeps at least one.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from mvsc_fast import ConsensusTLRR, datasets, metrics

views, y = datasets.load_handwritten()
rng = np.random.default_rng(0)
chosen = rng.permutation(len(y))[:400]
complete, y = [X[chosen] for X in views], y[chosen]

absent = rng.random((len(views), len(y))) < 0.35
absent[rng.integers(len(views), size=len(y)), np.arange(len(y))] = False
incomplete = [X.copy() for X in complete]
for X, rows in zip(incomplete, absent, strict=True):
    X[rows] = np.nan

# %%
# Mean values, for comparison
# ---------------------------
# Imputed rows look alike, and form separate groups.

filled = [np.where(np.isnan(X), np.nanmean(X, axis=0), X) for X in incomplete]
accuracy = {}
inputs = {"complete": complete, "rows of NaN": incomplete, "means": filled}
for name, arrays in inputs.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = ConsensusTLRR(10, random_state=0).fit_predict(arrays)
    accuracy[name] = metrics.clustering_scores(y, labels)["acc"]
    print(f"{name:12} ACC {accuracy[name]:.3f}")

figure, ax = plt.subplots(figsize=(6, 2.2), layout="constrained")
bars = ax.barh(list(accuracy), list(accuracy.values()), color="#0072b2")
ax.bar_label(bars, fmt="%.2f", label_type="center", color="white")
ax.invert_yaxis()
ax.set(xlim=(0, 1), xlabel="ACC")

# %%
# New samples may lack views as well.

model = ConsensusTLRR(10, random_state=0).fit(incomplete)
print("same labels again:", np.mean(model.predict(incomplete) == model.labels_))
