"""
From a folder of images to clusters
===================================

Eight toy figures are photographed from many sides under changing light and written to a folder, one
sub-folder for each. `load_images` reads them, `image_views` describes each image in three ways, and
`ConsensusTLRR` clusters what it sees. The names of the sub-folders serve only to check the result.

Needs ``pip install mvsc-fast[features,plot]``. A folder of your own is read just as well.
"""

# %%
# A folder of images
# ------------------
# Every figure has a number of lobes and a depth of them; every photograph turns and shifts it and
# lights it from another side, with some noise.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from mvsc_fast import ConsensusTLRR, label_predictability, metrics
from mvsc_fast.features import image_views, load_images

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
        Image.fromarray(photograph(lobes, depth)).save(directory / f"{k}.png")

# %%
# Three views
# -----------
# Intensities, histograms of local binary patterns, and magnitudes of Gabor filters, with the
# dimensions that are usual in the literature.

images, labels, names = load_images(folder.name)
views = image_views(images)
print(images.shape, [X.shape for X in views], names[0])

# %%
# Clusters
# --------
# The predictability of the labels needs no truth; ACC compares with the names of the folders.

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
# Images that come later are described by the same functions and labelled by the fitted model.

new = np.stack([photograph(*figure) for figure in FIGURES])
print("new images:", model.predict(image_views(new)))
print("the folders:", model.labels_[::25])
folder.cleanup()
