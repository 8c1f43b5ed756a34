"""
From images to clusters
=======================

Images of handwritten digits are described in four ways, and `ConsensusTLRR` clusters the four
views. What do the clusters look like, which images are misplaced, what does each view contribute,
and how are new images labelled?
"""

# %%
# The images
# ----------
# Images of 16 x 15 pixels, in random order. A thousand are clustered, five hundred are new. The
# digits serve only to check the result. Your own images are read from a folder by
# ``np.stack([skimage.io.imread(path) for path in paths])``; images of different sizes, or in
# colour, need ``skimage.transform.resize`` and ``skimage.color.rgb2gray`` first.

import matplotlib.pyplot as plt
import numpy as np
from skimage.feature import hog, local_binary_pattern
from skimage.filters import gabor

from mvsc_fast import ConsensusTLRR, datasets, explain, label_predictability, metrics
from mvsc_fast.explanation import stability

arrays, digits = datasets.load_handwritten()
chosen = np.random.default_rng(0).permutation(len(digits))[:1500]
images = np.uint8(arrays[4][chosen].reshape(-1, 16, 15) * 40)  # 0 .. 240
digits = digits[chosen]
print(images.shape, images.dtype)

# %%
# Four views
# ----------
# Intensities; directions of edges (HOG); histograms of local binary patterns in 4 x 3 cells, for
# texture; and magnitudes of Gabor filters at four angles, for strokes. The settings are small, as
# the images are: for larger ones take cells of 8 or 16 pixels.


def edges(image):
    return hog(image, orientations=8, pixels_per_cell=(4, 4), cells_per_block=(2, 2))


def texture(image):
    patterns = local_binary_pattern(image, 8, 1, "uniform")  # 10 different ones
    bands = np.array_split(patterns, 4)
    cells = [cell for band in bands for cell in np.array_split(band, 3, axis=1)]
    return np.ravel([np.histogram(cell, 10, (0, 10))[0] for cell in cells])


# %%


def strokes(image):
    waves = [gabor(image / 240, 0.25, theta=np.pi * k / 4) for k in range(4)]
    return np.ravel([np.hypot(*wave)[::2, ::2] for wave in waves])


features = {
    "pixels": np.ravel,
    "edges": edges,
    "texture": texture,
    "strokes": strokes,
}


def views_of(images):
    return {name: np.stack([f(i) for i in images]) for name, f in features.items()}


views, new = views_of(images[:1000]), views_of(images[1000:])
y, y_new = digits[:1000], digits[1000:]
print({name: X.shape for name, X in views.items()})

# %%
# Clusters
# --------
# Only the number of clusters has to be given. The predictability needs no digits; ACC compares
# with them.

model = ConsensusTLRR(n_clusters=10, random_state=0).fit(views)
labels = model.labels_
acc = metrics.clustering_scores(y, labels)["acc"]
print(f"predictability {label_predictability(views, labels):.3f}, ACC {acc:.3f}")

# %%
# The margin of an image is 1 if all evidence is for its cluster, and about 0 between two clusters.
# Each row shows a cluster: the six images with the largest margins, then the six with the
# smallest.

explanation = explain(model, views)
margin = explanation.samples["margin"]

figure, rows = plt.subplots(10, 12, figsize=(6.5, 5.6), layout="constrained")
for cluster, row in enumerate(rows):
    members = np.flatnonzero(labels == cluster)
    members = members[np.argsort(-margin[members], kind="stable")]
    for axes, i in zip(row, [*members[:6], *members[-6:]], strict=True):
        axes.imshow(images[i], cmap="gray_r")
        axes.axis("off")
figure.suptitle("typical and doubtful images of each cluster")

# %%
# Misplaced images
# ----------------
# Each cluster is given the digit that is most frequent in it. Without digits you would look at the
# images with the smallest margins; how many of the misplaced ones are among them?

digit_of = np.array([np.bincount(y[labels == c]).argmax() for c in range(10)])
wrong = np.flatnonzero(digit_of[labels] != y)
doubtful = np.isin(wrong, explanation.uncertain).sum()
print(f"{len(wrong)} of {len(y)} images are misplaced;", end=" ")
print(f"{doubtful} of them are among the {len(explanation.uncertain)} least certain")

figure, axes = plt.subplots(3, 6, figsize=(6.5, 4), layout="constrained")
for ax in axes.flat:
    ax.axis("off")
for ax, i in zip(axes.flat, wrong[np.argsort(margin[wrong])], strict=False):
    ax.imshow(images[i], cmap="gray_r")
    ax.set_title(f"{y[i]} with {digit_of[labels[i]]}s", fontsize=10)
figure.suptitle("misplaced images: digit, and cluster")

# %%
# What each view contributes
# --------------------------
# Clusters of each view alone, and of all views but this one. The support, which needs no digits,
# is the agreement of the clusters with the view alone.


def accuracy(*names):
    model = ConsensusTLRR(n_clusters=10, random_state=0)
    labels = model.fit_predict({name: views[name] for name in names})
    return metrics.clustering_scores(y, labels)["acc"]


print("view      support   alone   without")
for name, support in zip(views, model.view_support_, strict=True):
    others = [other for other in views if other != name]
    print(f"{name:8} {support:8.2f} {accuracy(name):7.3f} {accuracy(*others):9.3f}")
print(f"all views {acc:24.3f}")

# %%
# How sure are the clusters?
# --------------------------
# Another answer that needs no digits: cluster random subsamples of 600 images, and compare.

print(stability(model, views, n_resamples=5, random_state=0))

# %%
# New images
# ----------
# They are described by the same functions, and labelled by the fitted model.

predicted = model.predict(new)
print(f"ACC of new images {metrics.clustering_scores(y_new, predicted)['acc']:.3f}")

# %%
# Conclusion
# ----------
# The four views together are better than three of them alone. Strokes alone are better still, which
# only the digits tell, but a cluster of 24 images, which hardly ever returns in subsamples, says
# that the clusters are not certain. For images of your own, compute two to five different
# descriptions, look at typical and doubtful images of each cluster, and at the stability, and
# cluster more images if it is low. Do not choose views by the accuracy, unless you report it for
# other images.
