"""GB/s of the fused passes against a plain copy of as many bytes, eigensolver rates, and votes.

Usage: python bench/kernels.py
"""

import argparse

import numpy as np
from timing import ROOT, limit_threads, median_seconds, print_table

from mvsc_fast import _kernels
from mvsc_fast._sparse._factors import Factors
from mvsc_fast._sparse._votes import vote_scores


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


def passes(core_parts, v, n, dtype):
    """(name, function, bytes moved) of every sweep over whole tensors."""
    W = random_symmetric(v, n).astype(dtype)
    L, E, Y1, Y2, X = (np.zeros_like(W) + dtype(0.1 * k) for k in range(5))
    size = W.nbytes
    arguments = {"omega2": 0.5, "alpha": 9.0, "lam": 15.0, "mu": 1.0, "mu_next": 1.1}
    yield (
        "ialm_pass",
        lambda k: core_parts.ialm_pass(W, L, E, Y1, Y2, X, **arguments, n_threads=k),
        10 * size,
    )
    yield "tube_shrink", lambda k: _kernels.tube_shrink(W, 1e-9, k), 2 * size
    yield "slice_shrink", lambda k: _kernels.slice_shrink(W, 1e-3, k), 2 * size


def random_votes(m, n, d, seed=0):
    """Factors of m new and n fitted samples, local scales and labels."""
    rng = np.random.default_rng(seed)
    centres = [rng.standard_normal((10, k)) for k in d]

    def factors(count):
        y = rng.integers(10, size=count)
        rows = [C[y] + rng.standard_normal((count, C.shape[1])) for C in centres]
        h = 1 + rng.random(count, dtype=np.float32)
        return [Factors((u / u.shape[1] ** 0.5).astype(np.float32), h) for u in rows]

    scales = rng.random((len(d), n), dtype=np.float32) + np.float32(0.5)
    return factors(m), factors(n), scales, rng.integers(10, size=n)


def votes_by_numpy(new, fitted, scales, labels, block=1024):
    """`vote_scores` by passes of NumPy over (block, n) matrices."""
    m, n = len(new[0].h), len(labels)
    scores, roots, member = [], 1 / np.sqrt(scales), labels[:, None] == np.arange(10)
    for rows in (slice(first, first + block) for first in range(0, m, block)):
        squares = np.zeros((len(new[0].h[rows]), n), dtype=np.float32)
        for a, b, root in zip(new, fitted, roots, strict=True):
            A = a.u[rows] @ b.u.T
            A *= a.h[rows, None] + b.h
            np.maximum(A, 0, out=A)
            own = np.partition(A, n - 10, axis=1)[:, n - 10]
            A *= root / np.sqrt(own)[:, None]
            np.minimum(A, 1.5, out=A)
            A *= A
            squares += A
        longest = np.argpartition(squares, n - 21, axis=1)[:, n - 21 :]
        lengths = np.sqrt(np.take_along_axis(squares, longest, axis=1))
        lengths -= lengths[:, :1]
        scores += [w @ member[k] for w, k in zip(lengths, longest, strict=True)]
    return np.array(scores)


def print_votes():
    rows = []
    for m, n, d in ((2048, 2000, (80, 60, 60) * 2), (1024, 20000, (80, 60, 60) * 2),
                    (1024, 5000, (256, 200))):  # fmt: skip
        problem = random_votes(m, n, d)
        with limit_threads(1):
            gemm, _ = median_seconds(
                lambda: [a.u @ b.u.T for a, b in zip(*problem[:2], strict=True)],  # noqa: B023
                3,
            )
            numpy, expected = median_seconds(lambda: votes_by_numpy(*problem), 3)  # noqa: B023
            seconds, found = median_seconds(lambda: vote_scores(*problem, 10), 3)  # noqa: B023
        np.testing.assert_allclose(found, expected, atol=1e-3)
        rows.append([m, n, len(d), sum(d), f"{numpy * 1e3:.0f}", f"{seconds * 1e3:.0f}",
                     f"{gemm * 1e3:.0f}", f"{numpy / seconds:.1f}",
                     f"{gemm / seconds:.2f}"])  # fmt: skip
    print_table(["new", "fitted", "slices", "features", "NumPy ms", "votes ms", "product ms",
                 "faster", "share of the product"], rows)  # fmt: skip


def main():
    import extensions  # of the tests, which timing has put on the path

    core_parts = extensions.build(ROOT / "tests" / "core_parts", ROOT / "build")
    rows = []
    for v, n in ((3, 640), (3, 2000), (6, 2000)):
        for n_threads in (1, 2):
            with limit_threads(n_threads):
                for dtype in (np.float64, np.float32):
                    for name, function, nbytes in passes(core_parts, v, n, dtype):
                        seconds, _ = median_seconds(lambda: function(n_threads), 7)  # noqa: B023
                        rate, copy = nbytes / seconds / 1e9, copy_rate(nbytes, n_threads)
                        rows.append([name, v, n, np.dtype(dtype).name, n_threads, f"{rate:.1f}",
                                     f"{copy:.1f}", f"{rate / copy:.2f}"])  # fmt: skip
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
    print_votes()


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    main()
