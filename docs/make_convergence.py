"""The picture of how_tlrr_is_solved.md: convergence of the dual solver and the published iteration.

Usage: python docs/make_convergence.py

Writes docs/_static/convergence.png from 200 embedded handwritten numerals in four views.
"""

import io
import operator
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter
from PIL import Image

from mvsc_fast import datasets
from mvsc_fast.similarity import self_representation
from mvsc_fast.solvers import tlrr

PICTURE = Path(__file__).resolve().parent / "_static" / "convergence.png"
PARAMETERS = {"omega1": 0.5, "alpha": 9.0, "n_neighbors": 15}
DUAL_STEPS = [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20, 25, 30]
PUBLISHED_STEPS = [1, 3, 10, *range(20, 141, 5)]


def similarities():
    """W of 20 numerals of each kind: profiles, Fourier coefficients, pixels, Zernike moments."""
    views, y = datasets.load_handwritten()
    chosen = np.concatenate([np.flatnonzero(y == digit)[:20] for digit in range(10)])
    return self_representation([views[i][chosen] for i in (0, 1, 4, 5)])


def main():
    W = similarities()
    minimiser = tlrr(W, tol=1e-11, max_iter=1000, **PARAMETERS)
    size = np.linalg.norm(minimiser.tensor)

    def error(result):
        return np.linalg.norm(result.tensor - minimiser.tensor) / size

    dual = [tlrr(W, tol=0, max_iter=k, **PARAMETERS) for k in DUAL_STEPS]
    published = [tlrr(W, solver="ialm", max_iter=k, **PARAMETERS) for k in PUBLISHED_STEPS]
    bounds = [result.error_bound / size for result in dual]
    errors = [error(result) for result in dual]
    assert all(map(operator.le, errors, np.add(bounds, minimiser.error_bound / size)))

    figure = Figure(figsize=(6.6, 4.3), layout="constrained")
    ax = figure.subplots()
    blue = {"marker": "o", "color": "#0072b2"}
    ax.plot(DUAL_STEPS, bounds, "--", mfc="white", label="dual: bound on the error", **blue)
    ax.plot(DUAL_STEPS, errors, "-", label="dual: true error", **blue)
    gaps = [result.gap for result in dual]
    ax.plot(DUAL_STEPS, gaps, "s-", color="#009e73", label="dual: relative gap")
    ax.axhline(1e-3, color="#009e73", linestyle=":", label="default tol of the relative gap")
    steps = [result.n_iter for result in published]
    errors = [error(result) for result in published]
    ax.plot(steps, errors, "^-", color="#d55e00", label="published iteration: true error")
    ax.set(xscale="log", yscale="log", xlabel="iteration", ylabel="gap or error, relative to $L^*$")
    ax.set_xticks([1, 2, 5, 10, 20, 50, 100], minor=False)
    ax.xaxis.set_major_formatter(ScalarFormatter())
    ax.minorticks_off()
    ax.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=2, fontsize="small", frameon=False)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=110)
    Image.open(drawn).convert("RGB").quantize(32).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
