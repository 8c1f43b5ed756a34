"""
How similarities become blocks
==============================

TLRR cleans a tensor of similarities, one slice for each view: what goes in, what comes out, how the
number of neighbours is chosen, and how close the result is to the exact minimiser.
"""

# %%
# Ten digits in four views
# ------------------------
# Twenty of each, by profiles, Fourier coefficients, pixels and Zernike moments.

import matplotlib.pyplot as plt
import numpy as np

from mvsc_fast import TLRR, datasets, metrics, tlrr
from mvsc_fast.explanation._plots import plot_convergence, plot_neighbors_path, plot_similarity
from mvsc_fast.spectral import fuse

views, y = datasets.load_handwritten()
chosen = np.concatenate([np.flatnonzero(y == digit)[:20] for digit in range(10)])
views, y = [views[i][chosen] for i in (0, 1, 4, 5)], y[chosen]

model = TLRR(n_clusters=10, random_state=0).fit(views)
print(f"ACC {metrics.clustering_scores(y, model.labels_)['acc']:.3f}")

# %%
# Before and after
# ----------------
# The similarities that the views give, and those that TLRR leaves of them.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
plot_similarity(
    fuse(model.similarity_), y, ax=axes[0], title="similarity W", groups="true"
)
ax = plot_similarity(
    fuse(model.tensor_), y, ax=axes[1], title="tensor L", groups="true"
)

# %%
# The number of neighbours
# ------------------------
# Labels are most predictable from the other samples at the size that was chosen.

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax = plot_neighbors_path(model.path_, ax=ax)

# %%
# Two solvers of one problem
# --------------------------
# The certified solver knows its distance to the minimiser at every step; the published iteration
# approaches the same tensor in many more.

parameters = dict(omega1=model.omega1, alpha=model.alpha, lam=model.lam_)
certified = tlrr(model.similarity_, tol=1e-4, **parameters)
published = tlrr(model.similarity_, solver="ialm", **parameters)
print(f"certified: {certified.n_iter} iterations, relative gap {certified.gap:.1e}")
print(f"published: {published.n_iter} iterations")

figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
histories = {
    "certified: relative gap": certified.history["residual"],
    "published: largest residual": published.history["residual"],
}
ax = plot_convergence(histories, ax=ax)
