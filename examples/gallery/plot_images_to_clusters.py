"""
From a folder of images to clusters
===================================

Eight toy figures are photographed from many sides under changing light and written to a folder, one
sub-folder for each. scikit-image reads them and describes each image in three ways, and
`ConsensusTLRR` clusters the three views. The names of the sub-folders are used only to check the
result.

This example needs scikit-image and matplotlib. Your own folder is read in the same way.
"""

# %%
# A folder of images
# ------------------
# Every figure has a number of lobes of a certain depth. Every photograph turns it, shifts it and
# lights it from another side, with some noise.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from skimage.feature import local_binary_pattern
from skimage.filters import gabor
from skimage.io import imread, imsave

from mvsc_fast import ConsensusTLRR, label_predictability, metrics

counts = [2, 3, 3, 4, 4, 5, 6, 8]
depths = [0.15, 0.1, 0.25, 0.1, 0.25, 0.2, 0.2, 0.15]
FIGURES = list(zip(counts, depths, strict=True))
rng = np.random.default_rng(0)
y, x = np.mgrid[-1:1:64j, -1:1:64j]


def photograph(lobes, depth):
    across, down = x - rng.uniform(-0.1, 0.1), y - rng.uniform(-0.1, 0.1)
    angle = np.arctan2(down, across) + rng.uniform(-0.3, 0.3)
    edge = 0.55 + depth * np.cos(lobes * angle)
    figure = 1 / (1 + np.exp(25 * (np.hypot(across, down) - edge)))
    side = rng.uniform(0, 2 * np.pi)
    light = 0.65 + 0.3 * (np.cos(side) * x + np.sin(side) * y)
    image = figure * light + rng.normal(0, 0.03, x.shape)
    return np.uint8(255 * np.clip(image, 0, 1))


folder = tempfile.TemporaryDirectory()
for number, (lobes, depth) in enumerate(FIGURES):
    directory = Path(folder.name) / f"figure{number}"
    directory.mkdir()
    for k in range(25):
        path = directory / f"{k:02}.png"
        imsave(path, photograph(lobes, depth), check_contrast=False)

# %%
# Three views
# -----------
# Intensities, histograms of local binary patterns in cells of 8 x 8 pixels, and magnitudes of Gabor
# responses at four angles. Images of different sizes, or in colour, need
# ``skimage.transform.resize`` and ``skimage.color.rgb2gray`` first.


def describe(image):
    patterns = local_binary_pattern(image, 8, 1, "nri_uniform")  # 59 different ones
    cells = patterns.reshape(8, 8, 8, 8).swapaxes(1, 2).reshape(64, -1)
    histograms = [np.histogram(cell, 59, (0, 59))[0] for cell in cells]
    waves = [gabor(image / 255, 0.25, theta=np.pi * k / 4) for k in range(4)]
    magnitude = np.mean([np.hypot(*wave) for wave in waves], axis=0)
    return image.ravel() / 255, np.ravel(histograms), magnitude.ravel()


def views_of(images):
    return [np.stack(view) for view in zip(*map(describe, images), strict=True)]


paths = sorted(Path(folder.name).glob("*/*.png"))
labels = [path.parent.name for path in paths]
images = np.stack([imread(path) for path in paths])
views = views_of(images)
print(images.shape, [X.shape for X in views], paths[0].relative_to(folder.name))

# %%
# Clusters
# --------
# The predictability of the labels needs no true labels; ACC compares with the names of the folders.

model = ConsensusTLRR(n_clusters=8, random_state=0).fit(views)
scores = metrics.clustering_scores(labels, model.labels_)
judged = label_predictability(views, model.labels_)
print(f"predictability {judged:.3f}, ACC {scores['acc']:.3f}")

# %%
# One row of images for each cluster:

picture, rows = plt.subplots(8, 10, figsize=(7, 6), layout="constrained")
for cluster, row in enumerate(rows):
    members = np.flatnonzero(model.labels_ == cluster)
    shown = members[np.linspace(0, len(members) - 1, len(row)).astype(int)]
    for axes, sample in zip(row, shown, strict=True):
        axes.imshow(images[sample], cmap="gray", vmin=0, vmax=255)
        axes.axis("off")
picture.suptitle("ten images of each cluster")

# %%
# New images are described by the same functions and labelled by the fitted model.

new = np.stack([photograph(*figure) for figure in FIGURES])
print("new images:", model.predict(views_of(new)))
print("the folders:", model.labels_[::25])
folder.cleanup()
