"""
From one table to clusters
==========================

A table whose columns measure different things becomes two views, each with its own transformer, in
one pipeline of scikit-learn.
"""

# %%
# The table
# ---------
# Thirteen chemical measurements of 178 wines, in units from parts to hundreds.

import textwrap
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvsc_fast import ConsensusTLRR, metrics
from mvsc_fast.explanation import plot_embedding
from mvsc_fast.preprocessing import PerView, ViewSplitter
from mvsc_fast.spectral import spectral_embedding

X, y = load_wine(return_X_y=True)
print("ranges:", np.ptp(X, axis=0).round(1).tolist())

# %%
# The pipeline
# ------------
# The estimators scale rows to unit length, but not columns: without a scaler, a row would consist
# of little but the column with a range of 1402.

model = make_pipeline(
    ViewSplitter({"first": slice(0, 6), "second": slice(6, 13)}),
    PerView(StandardScaler()),
)
scaled = list(model.fit_transform(X).values())
raw = list(model[0].transform(X).values())

labels = {}
for name, views in (("raw columns", raw), ("scaled columns", scaled)):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels[name] = ConsensusTLRR(3, random_state=0).fit(views)
    for warning in caught:
        print(textwrap.fill(f"{name}: {warning.message}", width=80))
    scores = metrics.clustering_scores(y, labels[name].labels_)
    print(f"{name}: ACC {scores['acc']:.3f}")

# %%
# Spectral embeddings of the similarities, coloured by the vineyard that the wines come from:

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, (name, fitted) in zip(axes, labels.items(), strict=True):
    embedding = spectral_embedding(fitted.affinity_matrix_, 3)
    plot_embedding(embedding, y, ax=ax, title=name, groups="true")
