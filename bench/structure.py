"""How often `structure_test` finds structure in noise, and in data with classes.

Usage: python bench/structure.py [--draws 200] [--samples 100] [--noise] [--sets] [--strength]
       [--pairs] [--parts]

Without a choice, the first three tables. Noise has no clusters: of a valid test, at most .05 of the
p-values are .05 (two standard errors: .03 of 200 draws). Heavy tails, counts and shuffled columns
are not Gaussian, so for them this is not guaranteed. Strengths are distances of the means of three
equal clusters, in standard deviations of their Gaussian noise, in two views of 20 columns. Pairs
are views of clusters, of which one is permuted; .05 is the limit for those that are unrelated.
Parts are clusters of each of four clusters, of which one that was found is tested.
"""

import argparse

import numpy as np
from joblib import Parallel, delayed
from n_clusters import means
from sets import SIXTEEN, shuffled
from sklearn.datasets import load_digits
from timing import NotAtHand, print_table, stopwatch

from mvsc_fast import ConsensusTLRR, structure_test


def factors(rng, n):
    hidden = rng.standard_normal((n, 3))
    return [hidden @ rng.standard_normal((3, d)) + rng.normal(0, 0.5, (n, d)) for d in (20, 30)]


def counts(rng, n):
    size = rng.lognormal(0, 0.5, (n, 1))
    return [rng.poisson(size * rng.gamma(0.5, 10, d)).astype(float) for d in (50, 80)]


def shuffled_columns(rng, n):
    images = load_digits().data
    return [np.array([rng.permutation(column)[:n] for column in images.T]).T]


NOISE = {
    "uniform": lambda rng, n: [rng.uniform(-1, 1, (n, 20))],
    "Gaussian": lambda rng, n: [rng.standard_normal((n, 20)) for _ in range(2)],
    "heavy tails (t, 3 degrees of freedom)": lambda rng, n: [rng.standard_t(3, (n, 20))],
    "three factors": factors,
    "counts with size factors": counts,
    "digits, columns shuffled": shuffled_columns,
}


def clusters(rng, n, distance):
    y = np.arange(n) % 3
    corners = np.eye(3) * distance / np.sqrt(2)
    return [np.hstack([corners[y], np.zeros((n, 17))]) + rng.standard_normal((n, 20)) for _ in "ab"]


def pair(rng, n, n_others=3, share=0.0, spread=0.0):
    """Views of 3 and of other clusters, which are the same for a share of the samples.

    ``spread`` is the standard deviation of a factor that both views have in common.
    """
    y, other = rng.integers(3, size=n), rng.integers(n_others, size=n)
    other = np.where(rng.uniform(size=n) < share, y, other)
    factor = rng.normal(0, spread, (n, 1))
    return [
        rng.normal(0, 1, (labels.max() + 1, 20))[labels]
        + factor * rng.standard_normal(20)
        + rng.standard_normal((n, 20))
        for labels in (y, other)
    ]


PAIRS = {
    "unrelated, 3 clusters in each": {},
    "unrelated, 3 and 6 clusters": {"n_others": 6},
    "same clusters for .2 of the samples": {"share": 0.2},
    "same clusters for .5 of the samples": {"share": 0.5},
    "same clusters": {"share": 1.0},
    "unrelated clusters, a common factor": {"spread": 1.0},
}


def found_cluster(rng, n, n_parts=1, apart=0.0, length=0.0):
    """Views of the first of four clusters that were found; ``apart`` as in bench/n_clusters.py.

    ``length`` is the standard deviation of a continuum in each cluster.
    """
    y, position = rng.integers(4 * n_parts, size=4 * n), rng.normal(0, length, (4 * n, 1))
    views = [
        means(rng, 4, n_parts, apart, 20)[y]
        + position * rng.standard_normal(20) / np.sqrt(20)
        + rng.standard_normal((4 * n, 20))
        for _ in "ab"
    ]
    labels = ConsensusTLRR(4, random_state=0, n_threads=1).fit_predict(views)
    return [X[labels == 0] for X in views]


PARTS = {
    "no parts": {},
    "a continuum": {"length": 5.0},
    "3 parts at distance 1.5": {"n_parts": 3, "apart": 1.5},
    "3 parts at distance 2.5": {"n_parts": 3, "apart": 2.5},
}


def rejected(make, n_clusters, draws, jobs, **options):
    """Share of draws with a p-value of .05, the smallest of 19 copies, and mean z."""

    def one(seed):
        rng = np.random.default_rng(seed)
        return structure_test(
            make(rng), n_clusters, random_state=int(rng.integers(2**31 - 1)), **options
        )

    found = Parallel(n_jobs=jobs)(delayed(one)(seed) for seed in range(draws))
    share = np.mean([test.p_value <= 0.05 for test in found])
    error = np.sqrt(share * (1 - share) / draws)
    return [f"{share:.3f} ± {error:.3f}", f"{np.mean([test.z for test in found]):.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    for name in ("noise", "sets", "strength", "pairs", "parts"):
        parser.add_argument(f"--{name}", action="store_true")
    args = parser.parse_args()
    everything = not (args.noise or args.sets or args.strength or args.pairs or args.parts)
    n, draws = args.samples, args.draws
    if args.noise or everything:
        rows = [
            [name, *rejected(lambda rng, make=make: make(rng, n), 4, draws, args.jobs)]
            for name, make in NOISE.items()
        ]
        print_table(["noise", "p = .05", "mean z"], rows)
        print()
    if args.strength or everything:
        rows = [
            [distance, *rejected(lambda rng, d=distance: clusters(rng, n, d), 3, draws, args.jobs)]
            for distance in (0, 1, 2, 3, 4)
        ]
        print_table(["distance of clusters", "p = .05", "mean z"], rows)
        print()
    if args.pairs:
        rows = [
            [
                name,
                *rejected(lambda rng, o=own: pair(rng, n, **o), 3, draws, args.jobs, permuted=[1]),
            ]
            for name, own in PAIRS.items()
        ]
        print_table(["pair of views", "p = .05", "mean z"], rows)
    if args.parts:
        rows = [
            [name, *rejected(lambda rng, o=own: found_cluster(rng, n, **o), 2, draws, args.jobs)]
            for name, own in PARTS.items()
        ]
        print_table(["cluster", "p = .05", "mean z"], rows)
    if args.sets or everything:
        rows = []
        for name in SIXTEEN:
            try:
                views, y = shuffled(name)
            except NotAtHand:
                continue
            seconds, found = stopwatch(structure_test, views, len(np.unique(y)), random_state=0)
            rows.append([name, found.n_samples, f"{found.p_value:.2f}", f"{found.z:.1f}"])
            rows[-1].append(f"{seconds:.1f}")
        print_table(["data", "samples", "p", "z", "seconds"], rows)


if __name__ == "__main__":
    main()
