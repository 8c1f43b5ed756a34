"""
Handwritten digits in six views
===============================

Two thousand digits, each described by six sets of features: clusters of half of them, the support
of each view, and labels of the other half.
"""

# %%
# The views
# ---------
# Profiles, Fourier coefficients, Karhunen-Loeve coefficients, shapes, pixels, Zernike moments: a
# list of arrays with one row for each sample. The digits ``y`` serve only to check the result.

import matplotlib.pyplot as plt
import numpy as np

from mvsc_fast import ConsensusTLRR, datasets, label_predictability, metrics
from mvsc_fast.explanation import plot_candidates, plot_similarity

views, y = datasets.load_handwritten()
order = np.random.default_rng(0).permutation(len(y))
fitted, later = order[:1000], order[1000:]
print([X.shape for X in views])

# %%
# Clusters
# --------
# Only the number of clusters has to be given.

model = ConsensusTLRR(n_clusters=10, random_state=0).fit([X[fitted] for X in views])
print("sizes", np.bincount(model.labels_))
print("support of the views", model.view_support_.round(2))

# %%
# How good are they? The first number needs no true labels: it measures how well the label of each
# sample is predicted from the others. The other numbers compare with the digits.

judged = label_predictability([X[fitted] for X in views], model.labels_)
scores = metrics.clustering_scores(y[fitted], model.labels_)
print(f"predictability {judged:.3f}")
for name, value in scores.items():
    print(f"{name:9} {value:.3f}")

# %%
# The labels are fused from the six most predictable of 32 candidates. The similarities of the
# samples, sorted by cluster, form ten blocks:

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
plot_candidates(model.candidates_, ax=axes[0], title="candidates")
ax = plot_similarity(
    model.affinity_matrix_, model.labels_, ax=axes[1], title="similarities"
)

# %%
# New samples
# -----------
# The fitted model labels the digits it has not seen.

labels = model.predict([X[later] for X in views])
print(f"ACC of new samples {metrics.clustering_scores(y[later], labels)['acc']:.3f}")
