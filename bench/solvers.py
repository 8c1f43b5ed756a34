"""NumPy twin, published iteration and certified solver in one run.

Usage: python bench/solvers.py
       python bench/solvers.py --growth
       python bench/solvers.py --tolerances 500

Times are seconds of one run on one thread, medians of three for the dual solver of small tensors.
"speed-up" is against the twin. ACC is on the samples in the order named: the default W (shuffled,
15 neighbours, alpha 9), or the paper's W (t-SVD-MSC lam 0.5, DFT, file order). Above 1000 samples
twins run 20 iterations and are scaled to the count of the compiled published iteration, which is
that of the twin wherever both were run; "~" marks them.
--growth has CPU seconds and peak memory of the dual solver by the number of samples, for the
default W of synthetic views. --tolerances compares what the dual solver returns at three tolerances
with what it returns at 1e-6: the error relative to that tensor, and the adjusted Rand index of its
labels with those of that tensor; default W of at most that many shuffled samples. Views 0, 1 and 2
of the handwritten digits are an easy problem, views 0, 3 and 5 a hard one.
"""

import numpy as np
from sets import SIXTEEN
from sklearn.metrics import adjusted_rand_score
from timing import (
    apart,
    cpu_seconds,
    forget_peak,
    memory,
    print_table,
    run,
    stopwatch,
    twin,
)

from mvsc_fast import datasets, similarity
from mvsc_fast.methods import TSVDMSC
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.similarity._affinity import regularized
from mvsc_fast.solvers import tlrr
from mvsc_fast.spectral import fuse, spectral_labels

PAPER = {"omega1": 0.4, "alpha": 9.0, "lam": 15.0}
FOURIER = {"lam": 0.5, "sample_transform": "dft"}
SIZES = (500, 1000, 2000, 3000)  # samples of synthetic views
# Views of handwritten digits; with view 3, which has six columns, tubes differ little.
EASY, HARD = (0, 1, 2), (0, 3, 5)


def problems():
    """(name, W, parameters, labels) of tensors made from real data."""
    for name in ("yaleb10", "coil20"):
        views, y = SIXTEEN[name]()
        order = np.random.RandomState(0).permutation(len(y))
        W = similarity.self_representation([X[order] for X in views])
        lam = tlrr(W, max_iter=0).parameters["lam"]
        yield f"{name}, default W", W, {"omega1": 0.5, "alpha": 9.0, "lam": lam}, y[order]
        if name == "yaleb10":
            yield f"{name}, paper's W", TSVDMSC(10, **FOURIER).fit(views).tensor_, PAPER, y


def labels_of(L, W, y):
    """The labels that the estimator TLRR would give."""
    S = regularized(fuse(L), fuse(W), len(y))
    return spectral_labels(S, len(np.unique(y)), random_state=0)[0]


def twin_seconds(W, parameters, n_iter):
    """Seconds of the NumPy twin, and whether they were scaled up from 20 iterations."""
    if len(W[0]) < 1000:
        seconds, (_, residuals, _) = stopwatch(twin("tlrr").tlrr, W, **parameters)
        assert len(residuals) == n_iter, (len(residuals), n_iter)
        return seconds, ""
    seconds, _ = stopwatch(twin("tlrr").tlrr, W, **parameters, max_iter=20)
    return seconds * n_iter / 20, "~"


def print_tlrr():
    rows = []
    for name, W, parameters, y in problems():
        n = W.shape[1]
        times = [stopwatch(tlrr, W, **parameters) for _ in range(3 if n < 1000 else 1)]
        ialm_time, ialm = stopwatch(tlrr, W, solver="ialm", **parameters)
        twin_time, mark = twin_seconds(W, parameters, ialm.n_iter)
        dual_time, dual = np.median([seconds for seconds, _ in times]), times[-1][1]
        rows.append(f"{name} | {n} | NumPy twin | {mark}{twin_time:.2f} | 1 | {ialm.n_iter} | |")
        for solver, seconds, result, digits in (
            ("ialm", ialm_time, ialm, 1),
            ("dual", dual_time, dual, 0),
        ):
            gap = f"{dual.gap:.1e}" if solver == "dual" else ""
            rows.append(
                f"{name} | {n} | {solver} | {seconds:.2f} | {mark}{twin_time / seconds:.{digits}f} "
                f"| {result.n_iter} | {gap} | "
                f"{clustering_scores(y, labels_of(result.tensor, W, y))['acc']:.3f}"
            )
    print_table("tensor | n | solver | seconds | speed-up | iterations | relative gap | ACC", rows)


def synthetic(n):
    """The default W of synthetic views."""
    views, _ = datasets.make_multiview_subspaces(
        n, 10, n_features=(60, 80, 40), subspace_dim=8, noise=0.5, random_state=0
    )
    return similarity.self_representation(views)


def solver_peak(n):
    """Bytes that tlrr takes beyond its input."""
    W = synthetic(n)
    before = forget_peak()
    tlrr(W)
    return memory("VmHWM") - before


def print_growth():
    rows, per_iteration, peaks = [], [], []
    for n in SIZES:
        W = synthetic(n)
        wall, (seconds, result) = stopwatch(cpu_seconds, tlrr, W, n_threads=1)
        peaks.append(apart(solver_peak, n)[0])
        per_iteration.append(seconds / result.n_iter)
        rows.append(
            f"{n} | {seconds:.2f} | {result.n_iter} | {per_iteration[-1]:.2f} | "
            f"{result.eigen_seconds / wall:.0%} | {peaks[-1] / 2**20:.0f} | "
            f"{1 + peaks[-1] / W.nbytes:.1f}"
        )
    # Exponents of power laws through all sizes.
    of_time, of_memory = np.polyfit(np.log(SIZES), np.log([per_iteration, peaks]).T, 1)[0]
    rows.append(f"exponent | | | {of_time:.2f} | | {of_memory:.2f} |")
    header = "n | CPU seconds | iterations | per iteration | in eigenproblems | "
    print_table(header + "peak MiB beyond W | peak in tensors, W included", rows)


def print_tolerances(n):
    """Error, labels and CPU seconds of the dual solver at several tolerances."""
    views, y = datasets.load_handwritten()
    problems = {"scene15 (1500)": SIXTEEN["scene15 (1500)"]()}
    for triple in (EASY, HARD):
        problems[f"handwritten {triple}"] = [views[j] for j in triple], y
    rows = []
    for name, (views, y) in problems.items():
        sample = np.random.RandomState(0).permutation(len(y))[:n]
        W, y = similarity.self_representation([X[sample] for X in views]), y[sample]
        # In place of the minimiser, from which it is no further than 7e-4 of its size.
        best = tlrr(W, tol=1e-6, max_iter=10_000, n_threads=1)
        size, expected = np.linalg.norm(best.tensor), labels_of(best.tensor, W, y)
        for tol in (1e-2, 1e-3, 1e-4):
            seconds, result = cpu_seconds(tlrr, W, tol=tol, max_iter=10_000, n_threads=1)
            error = np.linalg.norm(result.tensor - best.tensor)
            labels = labels_of(result.tensor, W, y)
            rows.append(
                f"{name} | {len(y)} | {tol:.0e} | {result.n_iter} | {seconds:.2f} | "
                f"{result.error_bound / size:.1e} | {error / size:.1e} | "
                f"{adjusted_rand_score(expected, labels):.3f}"
            )
    header = "tensor | n | tol | iterations | CPU seconds | bound of the error | error"
    print_table(f"{header} | ARI with 1e-6", rows)


def main(growth, tolerances):
    if growth:
        print_growth()
    elif tolerances:
        print_tolerances(tolerances)
    else:
        print_tlrr()


if __name__ == "__main__":
    run(main, __doc__, growth=False, tolerances=0)
