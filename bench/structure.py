"""How often `structure_test` finds structure in noise, and in data with classes.

Usage: python bench/structure.py [--draws 200] [--samples 100] [--noise] [--sets] [--strength]
       [--unasked] [--parts] [--views] [--reads] [--doubts]

Without a choice, the first three tables. Noise has no clusters: of a valid test, at most .05 of the
p-values are .05 (two standard errors: .03 of 200 draws). Heavy tails, counts, shuffled columns and
skewed values are not Gaussian, so for them this is not guaranteed, and worse for more samples:
an eighth of the draws are repeated with 500. Strengths are distances of the means of three
equal clusters, in standard deviations of their Gaussian noise, in two views of 20 columns, of two
clusters that are far from the origin, in one view of few columns, and of clusters in two views of
20 columns, of which one has most of the samples. Unasked are groups
that a user does not mean, such as batches, of 150 samples. Parts are
clusters of each of four clusters, of which one is tested. Reads are the numbers that a user sees of
noise. bench/results/structure.csv has each of the sixteen sets.

Doubts are the fits that warn that their clusters are no better than those of noise: of the sixteen
sets; of Gaussian groups of equal and of unequal sizes at several distances in two views of 20
columns; and of 300 samples of noise, in 2, 4 and 8 clusters. Right are labels with an adjusted Rand
index of at least .9 with the groups. Of right labels, and of the sets, no fit should warn.
"""

import time
import warnings
from functools import partial
from itertools import product
from types import SimpleNamespace

import numpy as np
from families import means, unequal_clusters
from joblib import Parallel, delayed
from sets import SIXTEEN, at_hand, shuffled
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from timing import print_table, report, run, stopwatch, write_rows

from mvsc_fast import (
    ConsensusTLRR,
    label_predictability,
    structure_test,
    suggest_n_clusters,
)


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
    "heavy tails, 3 columns": lambda rng, n: [rng.standard_t(3, (n, 3))],
    "uniform, 2 columns": lambda rng, n: [rng.uniform(-1, 1, (n, 2))],
    "lognormal": lambda rng, n: [rng.lognormal(0, 1, (n, 20))],
    "lognormal, 2 columns": lambda rng, n: [rng.lognormal(0, 1, (n, 2))],
    "exponential, 3 columns": lambda rng, n: [rng.exponential(size=(n, 3))],
}


def clusters(rng, n, distance):
    y = np.arange(n) % 3
    corners = np.eye(3) * distance / np.sqrt(2)
    return [np.hstack([corners[y], np.zeros((n, 17))]) + rng.standard_normal((n, 20)) for _ in "ab"]


def two_clusters(rng, n, d):
    """Clusters at distance 6 in one of d columns, all with mean 3 in the first cluster."""
    return [6 * np.outer(np.arange(n) % 2, np.eye(1, d)) + rng.normal(3, 1, (n, d))]


UNEQUAL = ((285, 15), (142, 8), (940, 50, 10))


def batches(rng, n):
    batch = rng.integers(2, size=(n, 1))
    return [rng.standard_normal((n, 30)) + batch * rng.standard_normal(30) for _ in "ab"]


def smooth_field(rng, n):
    """Columns that vary smoothly over a square, from which samples are taken at random."""
    places = rng.uniform(size=(n, 2))
    squares = ((places[:, None] - places) ** 2).sum(axis=-1)
    root = np.linalg.cholesky(np.exp(-squares / 0.02) + 1e-6 * np.eye(n))
    return [root @ rng.standard_normal((n, 20)) + rng.normal(0, 0.3, (n, 20)) for _ in "ab"]


def waves(rng, n):
    times = np.linspace(0, 2 * np.pi, 50)
    phases = rng.uniform(0, 2 * np.pi, (2, n, 1))
    return [np.sin(times + phase) + rng.normal(0, 0.5, (n, 50)) for phase in phases]


UNASKED = {
    "a shift between batches": batches,
    "a smooth field in a square": smooth_field,
    "waves of random phase": waves,
    "half of the samples twice": lambda rng, n: [
        rng.standard_normal((n, 15))[np.arange(n) % (n // 2)] for _ in "ab"
    ],
}


def found_cluster(rng, n, n_parts=1, apart=0.0, length=0.0):
    """Views of the first of four clusters that were found; ``apart`` as in bench/families.py.

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


# Of the warnings of a fit whose labels may be those of noise.
OF_NOISE = ("clusters of noise are as predictable", "no view agrees with another view")
RIGHT = 0.9
GROUPS = {  # distances and sizes of clusters of which a fit should not warn
    "equal groups": ((3, 4, 6), ((33,) * 3, (100,) * 3, (50,) * 8)),
    "unequal groups": (
        (4, 5, 8),
        ((940, 50, 10), (800, 150, 50), (150, 10, 5), (300, 300, 300, 20), (480, *(18,) * 7)),
    ),
}


def one_test(seed, make, n_clusters, options):
    """p-values of all views, and of each view alone if it is tested; z."""
    rng = np.random.default_rng(seed)
    views, state = make(rng), int(rng.integers(2**31 - 1))
    test = structure_test(views, n_clusters, random_state=state, **options)
    return [test.p_value, *(view.p_value for view in test.each.values())], test.z


def share(marks):
    """Share of the draws with a mark, and its standard error."""
    mean = np.mean(marks)
    return f"{mean:.3f} ± {np.sqrt(mean * (1 - mean) / len(marks)):.3f}"


def in_draws(function, draws, jobs, *args):
    """What a function finds in each draw, by its seed."""
    results = Parallel(n_jobs=jobs)(delayed(function)(seed, *args) for seed in range(draws))
    report(args, f"{time.process_time():.0f} s")
    return results


def rejected(make, n_clusters, args, draws=None, **options):
    """Share of draws with a p-value of .05, the smallest of 19 copies, and mean z."""
    results = in_draws(one_test, draws or args.draws, args.jobs, make, n_clusters, options)
    p_values, z = zip(*results, strict=True)
    return [*map(share, np.array(p_values).T <= 0.05), f"{np.mean(z):.1f}"]


def doubts(views, c):
    """A model, and whether its fit warns that the labels may be those of noise."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = ConsensusTLRR(c, random_state=0, n_threads=1).fit(views)
    texts = " ".join(str(warning.message) for warning in caught)
    return model, any(words in texts for words in OF_NOISE)


def problems(draws):
    """Family, views, classes and number of clusters of the fits that may warn."""
    for _, (views, y) in at_hand(SIXTEEN, shuffled):
        yield "sixteen sets", views, y, len(np.unique(y))
    for family, (distances, choices) in GROUPS.items():
        for distance, sizes, seed in product(distances, choices, range(draws)):
            views = unequal_clusters(np.random.default_rng(seed), sizes, distance)
            yield family, views, np.repeat(range(len(sizes)), sizes), len(sizes)
    for make, c, seed in product(NOISE.values(), (2, 4, 8), range(draws)):
        yield "noise", make(np.random.default_rng(seed), 300), None, c


def reads(make, n_views, draws):
    """What a user learns of noise: means, and in how many draws there is a warning."""
    rows = []
    for seed in range(draws):
        rng = np.random.default_rng(seed)
        views = [make(rng) for _ in range(n_views)]
        model, warned = doubts(views, 4)
        counts = suggest_n_clusters(views, random_state=0)
        predictability = label_predictability(views, model.labels_)
        p_value = structure_test(views, 4, random_state=seed).p_value
        evidence = warned, p_value <= 0.05, counts.confidence == "high", len(counts.levels) > 0
        rows.append([predictability, model.view_support_.mean(), *evidence])
    rows = np.array(rows, dtype=float)
    row = [f"{mean:.2f}" for mean in rows[:, :2].mean(axis=0)]
    return row + [f"{int(count)} of {draws}" for count in rows[:, 2:].sum(axis=0)]


def noise_rows(args):
    n = args.samples
    yield f"noise | p = .05, {n} samples | mean z | p = .05, 500 samples | mean z"
    for name, make in NOISE.items():
        larger = rejected(partial(make, n=500), 4, args, args.draws // 8)
        yield [name, *rejected(partial(make, n=n), 4, args), *larger]


def strength_rows(args):
    yield "clusters | p = .05 | mean z"
    for d in (0, 1, 2, 3, 4):
        cells = rejected(partial(clusters, n=args.samples, distance=d), 3, args)
        yield [f"three at distance {d}", *cells]
    for d in (2, 3, 5):
        cells = rejected(partial(two_clusters, n=args.samples, d=d), 2, args)
        yield [f"two at distance 6, one view of {d} columns", *cells]
    for sizes in UNEQUAL:
        cells = rejected(partial(unequal_clusters, sizes=sizes), len(sizes), args)
        yield [f"sizes {' / '.join(map(str, sizes))}, distance 8", *cells]


def unasked_rows(args):
    yield "groups that nobody asked for | p = .05 | mean z"
    for name, make in UNASKED.items():
        yield [name, *rejected(partial(make, n=150), 3, args)]


def views_rows(args):
    yield "two views | both | first alone | second alone"
    for name in ("Gaussian", "three factors", "counts with size factors"):
        make = partial(NOISE[name], n=args.samples)
        yield [name, *rejected(make, 4, args, each_view=True)[:3]]
    for d in (2, 3, 4):
        make = partial(clusters, n=args.samples, distance=d)
        yield [f"clusters at distance {d}", *rejected(make, 3, args, each_view=True)[:3]]


def reads_rows(args):
    yield (
        "noise | views | predictability | support | the fit warns | p = .05 | high confidence | "
        "supported numbers"
    )
    n = args.samples
    kinds = {
        "uniform": lambda rng: rng.uniform(-1, 1, (n, 20)),
        "Gaussian": lambda rng: rng.standard_normal((n, 20)),
        "digits, columns shuffled": lambda rng: shuffled_columns(rng, n)[0],
    }
    for v in (1, 2):
        for name, make in kinds.items():
            yield [name, v, *reads(make, v, args.draws)]


def parts_rows(args):
    yield "cluster | p = .05 | mean z"
    for name, kind in PARTS.items():
        yield [name, *rejected(partial(found_cluster, n=args.samples, **kind), 2, args)]


def doubts_rows(args):
    yield "labels | fits | as noise"
    marks = {}
    for family, views, y, c in problems(args.draws):
        model, warned = doubts(views, c)
        if "groups" in family:
            right = adjusted_rand_score(y, model.labels_) >= RIGHT
            family += ", right" if right else ", wrong"
        marks.setdefault(family, []).append(warned)
    yield from ([name, len(each), sum(each)] for name, each in marks.items())


def sets_rows(args):
    yield "data | p = .05 | smallest z | seconds"
    lines = []
    for name, (views, y) in at_hand(SIXTEEN, shuffled):
        spent, test = stopwatch(structure_test, views, len(np.unique(y)), random_state=0)
        lines.append([name, test.n_samples, test.p_value, round(test.z, 1), round(spent, 1)])
    write_rows("structure", ["data", "samples", "p", "z", "seconds"], lines)
    _, _, p, z, seconds = map(np.array, zip(*lines, strict=True))
    found = f"{np.sum(p <= 0.05)} of {len(p)}"
    yield f"sixteen sets | {found} | {z.min():.1f} | {seconds.min():.1f} to {seconds.max():.1f}"


TABLES = {
    "noise": noise_rows,
    "strength": strength_rows,
    "unasked": unasked_rows,
    "views": views_rows,
    "parts": parts_rows,
    "reads": reads_rows,
    "doubts": doubts_rows,
    "sets": sets_rows,
}
DEFAULT = ("noise", "strength", "sets")


def main(draws, samples, jobs, **chosen):
    args = SimpleNamespace(draws=draws, samples=samples, jobs=jobs)
    names = [name for name in TABLES if chosen[name]]
    for name in names or DEFAULT:
        header, *rows = TABLES[name](args)
        print_table(header, rows)
        print()


if __name__ == "__main__":
    switches = dict.fromkeys(TABLES, False)
    run(main, __doc__, None, draws=200, samples=100, jobs=2, **switches)
