"""
From one table to clusters
==========================

A table whose columns measure different things becomes two views with scaled columns, in one
pipeline of scikit-learn.
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

from mvsc_fast import ConsensusTLRR, metrics
from mvsc_fast.explanation import plot_embedding
from mvsc_fast.preprocessing import ViewSplitter
from mvsc_fast.spectral import spectral_embedding

X, y = load_wine(return_X_y=True)
print("ranges:", np.ptp(X, axis=0).round(1).tolist())

# %%
# The pipeline
# ------------
# The estimators scale rows to unit length, but columns only on request: a raw row consists of
# little but the column with a range of 1402.

models = {}
for name, scale in (("raw columns", None), ("scaled columns", "standard")):
    model = make_pipeline(
        ViewSplitter({"first": slice(0, 6), "second": slice(6, 13)}),
        ConsensusTLRR(3, scale=scale, random_state=0),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        models[name] = model.fit(X)[-1]
    for warning in caught:
        print(textwrap.fill(f"{name}: {warning.message}", width=80))
    scores = metrics.clustering_scores(y, models[name].labels_)
    print(f"{name}: ACC {scores['acc']:.3f}")

# %%
# Spectral embeddings of the similarities, coloured by the type of wine:

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
for ax, (name, fitted) in zip(axes, models.items(), strict=True):
    embedding = spectral_embedding(fitted.affinity_matrix_, 3)
    plot_embedding(embedding, y, ax=ax).set_title(name)
