"""
How similarities become blocks
==============================

TLRR denoises a tensor of similarities, one slice for each view: its input, its output, and how
close the result is to the exact minimiser.
"""

# %%
# Ten digits in four views
# ------------------------
# Twenty of each, by profiles, Fourier coefficients, pixels and Zernike moments.

import matplotlib.pyplot as plt
import numpy as np

from mvsc_fast import TLRR, datasets, metrics, solvers
from mvsc_fast.explanation import plot_embedding, plot_similarity
from mvsc_fast.spectral import fuse

views, y = datasets.load_handwritten()
chosen = np.concatenate([np.flatnonzero(y == digit)[:20] for digit in range(10)])
views, y = [views[i][chosen] for i in (0, 1, 4, 5)], y[chosen]

model = TLRR(n_clusters=10, random_state=0).fit(views)
print(f"ACC {metrics.clustering_scores(y, model.labels_)['acc']:.3f}")
print(f"relative gap {model.gap_:.1e} after {model.n_iter_} iterations")

# %%
# Before and after
# ----------------
# The similarities of the views, and what TLRR keeps of them.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
plot_similarity(fuse(model.similarity_), y, ax=axes[0]).set_title("similarity W")
ax = plot_similarity(fuse(model.tensor_), y, ax=axes[1])
ax.set_title("tensor L")

# %%
# A map of the embedding
# ----------------------
# k-means clusters ten eigenvectors of the affinity matrix. The map lays samples out so that
# neighbours in all ten are neighbours in the picture; distances between groups mean nothing.

figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
ax = plot_embedding(model.embedding_, y, ax=ax)

# %%
# Two solvers of one problem
# --------------------------
# The certified solver bounds its distance to the minimiser in every iteration; the published
# iteration approaches the same tensor in many more of them.

parameters = dict(omega1=model.omega1, alpha=model.alpha, lam=model.lam_)
certified = solvers.tlrr(model.similarity_, tol=1e-4, **parameters)
published = solvers.tlrr(model.similarity_, solver="ialm", **parameters)
print(f"certified: {certified.n_iter} iterations, relative gap {certified.gap:.1e}")
print(f"published: {published.n_iter} iterations")

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.semilogy(certified.history["residual"], label="certified: relative gap")
ax.semilogy(published.history["residual"], "--", label="published: largest residual")
ax.set(xlabel="iteration", ylabel="residual")
legend = ax.legend()
