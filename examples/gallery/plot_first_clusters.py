"""
Handwritten digits in six views
===============================

Two thousand digits, each described by six sets of features: clusters of half of them, what each
view contributes, and labels of the other half.
"""

# %%
# The views
# ---------
# Profiles, Fourier coefficients, Karhunen-Loeve coefficients, shapes, pixels, Zernike moments: a
# list of arrays with one row for each sample. The digits ``y`` serve only to check the result.

import matplotlib.pyplot as plt
import numpy as np

from mvsc_fast import ConsensusTLRR, datasets, label_predictability, metrics
from mvsc_fast.explanation._plots import plot_embedding

views, y = datasets.load_handwritten()
order = np.random.default_rng(0).permutation(len(y))
fitted, later = order[:1000], order[1000:]
print([X.shape for X in views])

# %%
# Clusters
# --------
# The number of clusters is all that has to be said.

model = ConsensusTLRR(n_clusters=10, random_state=0).fit([X[fitted] for X in views])
print("sizes", np.bincount(model.labels_))
print("support of the views", model.view_support_.round(2))

# %%
# How good are they? The first number needs no truth: how well the other samples predict the label
# of each. The others compare with the digits.

judged = label_predictability([X[fitted] for X in views], model.labels_)
scores = metrics.clustering_scores(y[fitted], model.labels_)
print(f"predictability {judged:.3f}")
for name, value in scores.items():
    print(f"{name:9} {value:.3f}")

# %%
# Ten groups in the two directions in which the embedding spreads most:

figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
ax = plot_embedding(model.embedding_, y[fitted], ax=ax, title="a thousand digits")

# %%
# New samples
# -----------
# The fitted model labels the digits that it has not seen.

labels = model.predict([X[later] for X in views])
print(f"ACC of new samples {metrics.clustering_scores(y[later], labels)['acc']:.3f}")
