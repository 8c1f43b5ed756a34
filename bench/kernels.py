"""GB/s of the fused passes against a plain copy, eigensolver rates, and rows that are predicted.

Usage: python bench/kernels.py
"""

import argparse

import numpy as np
from timing import limit_threads, median_seconds, print_table

from mvsc_fast import _kernels
from mvsc_fast.judge._landmarks import LandmarkFeatures
from mvsc_fast.views._view_rows import ViewRows


def random_symmetric(v, n):
    T = np.random.default_rng(0).random((v, n, n))
    return T + T.transpose(0, 2, 1)


def copy_rate(nbytes, n_threads):
    """GB/s of read plus written bytes of a copy, by as many threads as the pass."""
    source = np.zeros(nbytes // 8 // n_threads // 2)
    blocks = [(source.copy(), source.copy()) for _ in range(n_threads)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(n_threads) as pool:

        def run():
            list(pool.map(lambda pair: np.copyto(*pair), blocks))

        seconds, _ = median_seconds(run, 15)
    return n_threads * 2 * source.nbytes / seconds / 1e9


def passes(v, n, dtype):
    """(name, function, bytes moved) of every sweep over whole tensors."""
    W = random_symmetric(v, n).astype(dtype)
    size = W.nbytes
    yield "tube_shrink", lambda k: _kernels.tube_shrink(W, 1e-9, k), 2 * size
    yield "slice_shrink", lambda k: _kernels.slice_shrink(W, 1e-3, k), 2 * size


def random_predictor(d, n_clusters=10, n=1200):
    """A predictor of random coefficients from n samples of views of d columns."""
    rng = np.random.default_rng(0)
    rows = [ViewRows(rng.standard_normal((n, k))) for k in d]
    features = LandmarkFeatures(rows, np.linspace(0, n - 1, 600).astype(int))
    B = rng.standard_normal((features.n_features, n_clusters)).astype(np.float32)
    return features.predictor(B, range(len(d)))


def print_prediction():
    rows = []
    for d in ((200, 200, 200), (60, 240, 47), (1000,), (2000, 50)):
        predictor = random_predictor(d)
        rng = np.random.default_rng(1)
        new = [rng.standard_normal((20_000, k)) for k in d]
        with limit_threads(1):
            single = [rng.standard_normal((20_000, min(k, 1200)), dtype=np.float32) for k in d]
            product, _ = median_seconds(lambda: [Z @ Z[:600].T for Z in single], 3)  # noqa: B023
            times = [median_seconds(lambda: predictor(new, k), 3)[0] for k in (1, 2)]  # noqa: B023
        rows.append([d, *(f"{20_000 / t:.0f}" for t in times), f"{20_000 / product:.0f}"])
    print_table(["features", "rows / s", "on 2 threads", "of the products alone"], rows)


def main():
    rows = []
    for v, n in ((3, 640), (3, 2000), (6, 2000)):
        for n_threads in (1, 2):
            with limit_threads(n_threads):
                for dtype in (np.float64, np.float32):
                    for name, function, nbytes in passes(v, n, dtype):
                        seconds, _ = median_seconds(lambda: function(n_threads), 7)  # noqa: B023
                        rate, copy = nbytes / seconds / 1e9, copy_rate(nbytes, n_threads)
                        rows.append(
                            [
                                name,
                                v,
                                n,
                                np.dtype(dtype).name,
                                n_threads,
                                f"{rate:.1f}",
                                f"{copy:.1f}",
                                f"{rate / copy:.2f}",
                            ]
                        )
    print_table(["pass", "v", "n", "dtype", "threads", "GB/s", "copy GB/s", "ratio"], rows)
    print()
    rows = []
    for n in (640, 1440, 2000):
        A = random_symmetric(1, n)
        with limit_threads(1):
            gemm, _ = median_seconds(lambda: A[0] @ A[0], 3)  # noqa: B023
            full, _ = median_seconds(lambda: np.linalg.eigh(A[0]), 3)  # noqa: B023
            row = [n, f"{gemm * 1e3:.0f}", f"{full * 1e3:.0f}"]
            spectrum = np.sort(np.abs(np.linalg.eigvalsh(A[0])))
            for share in (0.0, 0.05, 0.5, 0.95):
                index = min(n - 1, max(0, int((1 - share) * n) - 1))
                t = float(spectrum[index]) if share else np.inf
                seconds, _ = median_seconds(
                    lambda: _kernels.symmetric_shrink(A.copy(), t),
                    3,  # noqa: B023
                )
                row.append(f"{seconds * 1e3:.0f}")
        rows.append(row)
    print_table(
        ["n", "gemm ms", "eigh ms", "shrink: eigenvalues only", "5 % kept", "50 %", "95 %"], rows
    )

    print()
    print_prediction()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    main()
