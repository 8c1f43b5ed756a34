"""Pictures of README.md and structure.md, from the embedded handwritten numerals.

Usage: python docs/make_picture.py

Writes to docs/_static what one view, the average of all, and TLRR see in the same samples, 40 of
each digit (similarities.png), and tests of 300 digits and of noise (structure.png).
"""

import io
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from PIL import Image

from mvsc_fast import TLRR, datasets, metrics, similarity, structure_test
from mvsc_fast.explanation import plot_similarity
from mvsc_fast.spectral import fuse, spectral_labels

STATIC = Path(__file__).resolve().parent / "_static"
SHAPES = 1  # number of the view of Fourier coefficients


def draw_similarities():
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
    picture.save(STATIC / "similarities.png", optimize=True)


def draw_structure():
    views, y = datasets.load_handwritten()
    order = np.random.default_rng(100).permutation(len(y))[:300]
    digits, rng = [X[order] for X in views[:3]], np.random.default_rng(0)
    noise = [rng.standard_normal((300, 20)) for _ in range(2)]
    cases = {"handwritten digits": (digits, 10), "Gaussian noise": (noise, 4)}
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True)
    for ax, (title, (parts, c)) in zip(panels, cases.items(), strict=True):
        test = structure_test(parts, c, each_view=True, random_state=0)
        test.plot(ax=ax).set_title(title)
        ax.set_xlim(0.2, 0.95)
    figure.savefig(STATIC / "structure.png", dpi=100)


def main():
    draw_similarities()
    draw_structure()


if __name__ == "__main__":
    main()
