"""The picture of README.md: what one view, the average of all, and TLRR see in the same samples.

Usage: python docs/make_picture.py

Writes docs/_static/similarities.png from the embedded handwritten numerals, 40 of each digit.
"""

import io
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

from mvsc_fast import TLRR, datasets, metrics, similarity
from mvsc_fast.explanation import plot_similarity
from mvsc_fast.spectral import fuse, spectral_labels

PICTURE = Path(__file__).resolve().parent / "_static" / "similarities.png"
SHAPES = 1  # number of the view of Fourier coefficients


def main():
    views, y = datasets.load_handwritten()
    chosen = np.concatenate([np.flatnonzero(y == digit)[:40] for digit in range(10)])
    views, y = [X[chosen] for X in views], y[chosen]
    model = TLRR(10, random_state=0).fit(views)
    one = similarity.self_representation([views[SHAPES]]).mean(axis=0)
    average = similarity.self_representation(views).mean(axis=0)
    matrices = {
        "one view": (one, spectral_labels(one, 10, random_state=0)[0]),
        "average of six views": (average, spectral_labels(average, 10, random_state=0)[0]),
        "after TLRR": (fuse(model.tensor_), model.labels_),
    }
    with rc_context({"font.size": 8}):
        figure = Figure(figsize=(9.6, 2.9), layout="constrained")
        panels = figure.subplots(1, 3)
        for ax, (name, (S, labels)) in zip(panels, matrices.items(), strict=True):
            acc = metrics.clustering_scores(y, labels)["acc"]
            plot_similarity(S, y, ax=ax).set_title(f"{name}: ACC {acc:.2f}")
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=90)
    picture = Image.open(drawn).convert("RGB").quantize(32)  # a third of the size
    picture.save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
