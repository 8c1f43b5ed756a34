"""Time and peak memory of the certified solver against n, and a problem of many blocks.

Usage: python bench/scaling.py
"""

import numpy as np
import scipy.sparse
from timing import apart, forget_peak, memory, print_table, run, stopwatch

from mvsc_fast import datasets, similarity
from mvsc_fast.solvers import tlrr

SIZES = (500, 1000, 2000, 3000)


def problem(n):
    """The default W of synthetic views."""
    views, _ = datasets.make_multiview_subspaces(
        n, 10, n_features=(60, 80, 40), subspace_dim=8, noise=0.5, random_state=0
    )
    return similarity.self_representation(views)


def solver_peak(n, parameters):
    """Bytes that tlrr takes beyond its input."""
    W = problem(n)
    before = forget_peak()
    tlrr(W, n_threads=2, **parameters)
    return memory("VmHWM") - before


def growth(values):
    """Exponent of a power law through the values at SIZES."""
    return np.polyfit(np.log(SIZES), np.log(values), 1)[0]


def main():
    rows, per_iteration, peaks = [], [], []
    for n in SIZES:
        W = problem(n)
        seconds, result = stopwatch(tlrr, W, n_threads=1)
        peak = apart(solver_peak, n, {"solver": "dual"}, threads={})[0]
        peaks.append(peak)
        rows.append(
            f"{n} | {seconds:.2f} | {result.n_iter} | {seconds / result.n_iter:.2f} | "
            f"{result.eigen_seconds / seconds:.0%} | {peak / 2**20:.0f} | {1 + peak / W.nbytes:.1f}"
        )
        per_iteration.append(seconds / result.n_iter)
    rows.append(f"exponent | | | {growth(per_iteration):.2f} | | {growth(peaks):.2f} |")
    header = "n | seconds | iterations | seconds per iteration | in eigenproblems | "
    print_table(header + "peak MiB beyond W | peak in tensors, W included", rows)

    # Past the fast-forward and the partial eigensolver memory no longer changes.
    published = {"solver": "ialm", "max_iter": 60}
    tensors = 1 + apart(solver_peak, 1000, published, threads={})[0] / (3 * 1000**2 * 8)
    print(f"\nPublished iteration at n = 1000, two threads: {tensors:.1f} tensors.")

    rng = np.random.default_rng(0)
    blocks = np.abs(rng.standard_normal((2, 200, 50, 50)))
    blocks += blocks.transpose(0, 1, 3, 2)
    W = [
        scipy.sparse.block_diag(list(map(scipy.sparse.csr_array, view)), format="csr")
        for view in blocks
    ]
    print()
    rows = []
    for n_threads in (1, 2):
        seconds, result = stopwatch(tlrr, W, alpha=5.0, lam=4.0, n_threads=n_threads)
        rows.append(
            f"{W[0].shape[0]} | {len(np.unique(result.blocks))} | {n_threads} | {seconds:.2f} | "
            f"{result.n_iter} | {result.gap:.1e}"
        )
    print_table(["n", "blocks", "threads", "seconds", "most iterations", "relative gap"], rows)


if __name__ == "__main__":
    run(main, __doc__, n_threads=None)
