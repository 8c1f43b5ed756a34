"""How often the number of clusters is right: whole sets, and random subsets of their classes.

Usage: python bench/n_clusters.py [--sets NAME ...] [--draw 0] [--simulated]

Six problems for each of ten sets: two shuffles of all classes, and four random subsets of three
classes or more. Right is the true count, near is within max(1, 10 %) of it, and any says that one
of the three candidates is. bench/results/n_clusters.csv has each set. --simulated asks how far
confidence and levels hold, on some fifty sets of 400 samples or more with equal, unequal, many (2
to 60) and nested clusters, and on 24 of noise. A suggestion is near if it is near the number
of clusters, or of groups of clusters; levels are these numbers.
"""

import families
import numpy as np
from sets import TEN, shuffled
from timing import print_table, report, run, write_rows

from mvsc_fast import suggest_n_clusters

SUBSETS = 4
COUNTS = (2, 3, 4, 6, 9, 13, 20, 30, 45, 60)
# Number of groups, and clusters of each.
GROUPS = ((2, 2), (3, 3), (4, 3), (2, 5), (5, 2), (4, 5), (6, 4), (8, 3), (3, 8))
DISTANCES = (2, 2.5, 3, 4, 6)  # of clusters from the mean of their group, in deviations of a column


def problems(views, y, draw):
    """Name, views and labels; the random state is the number of the problem."""
    n, classes = len(y), np.unique(y)
    rng = np.random.RandomState(draw)
    for _ in range(2):
        order = rng.permutation(n)
        yield "all", [X[order] for X in views], y[order]
    for _ in range(SUBSETS):
        chosen = rng.choice(classes, rng.randint(3, len(classes)), replace=False)
        kept = rng.permutation(np.flatnonzero(np.isin(y, chosen)))
        yield f"{len(chosen)} of {len(classes)}", [X[kept] for X in views], y[kept]


def near(count, truth):
    return abs(count - truth) <= max(1, 0.1 * truth)


def main(sets, draw, simulated):
    if simulated:
        print_simulated(draw)
        return
    lines, every_mark = [], []
    for number, name in enumerate(sets):
        marks = []
        for seed, (kind, views, y) in enumerate(problems(*shuffled(name), 100 * draw + number)):
            truth, result = len(np.unique(y)), suggest_n_clusters(views, random_state=seed)
            count, candidates = result.n_clusters, result.candidates
            hits = count == truth, near(count, truth), any(near(c, truth) for c in candidates)
            marks.append((result.confidence == "high", *hits))
            report(name, kind, truth, candidates, result.confidence)
        lines.append([name, *np.sum(marks, axis=0)[1:]])
        every_mark += marks
    marks, rows = np.array(every_mark), []
    for title, part in (
        ("all", marks),
        ("confidence high", marks[marks[:, 0]]),
        ("confidence low", marks[~marks[:, 0]]),
    ):
        rows.append([title, len(part), *part[:, 1:].sum(axis=0)])
    print_table("suggestions | problems | right | near | any", rows)
    write_rows("n_clusters", ["data", "right", "near", "any"], lines)


def noisy(rng, centres, y):
    """A view for each of some arrays of cluster means."""
    return [means[y] + rng.normal(0, 1, (len(y), means.shape[1])) for means in centres]


def flat(draw):
    """Gaussian clusters of equal and of unequal sizes."""
    for i, c in enumerate(COUNTS):
        for j, apart in enumerate((2, 2.7, 4)):
            unequal = bool((i + j + draw) % 2)
            rng = np.random.default_rng((draw, i, j, unequal))
            p = np.maximum(rng.dirichlet(np.full(c, 2.0)), 0.25 / c) if unequal else np.ones(c)
            y = rng.choice(c, max(400, 12 * c), p=p / p.sum())
            centres = [2 * apart * rng.normal(0, 1, (c, d)) / np.sqrt(d) for d in (20, 30)]
            yield noisy(rng, centres, y), [len(np.unique(y))]


def nested(draw):
    """Gaussian clusters in groups."""
    for i, (groups, parts) in enumerate(GROUPS):
        for j, apart in enumerate(DISTANCES):
            if (i + j + draw) % 2 == 0:
                rng = np.random.default_rng((draw, i, j, 7))
                y = rng.integers(groups * parts, size=480)
                centres = [families.means(rng, groups, parts, apart, d) for d in (20, 30)]
                yield noisy(rng, centres, y), [groups, groups * parts]


def noise(draw):
    """Views without clusters."""
    n = 300
    for i in range(4):
        rng = np.random.default_rng((draw, i, 99))
        factors, plane = rng.normal(size=(n, 3)), rng.uniform(size=(n, 2))
        depth = rng.lognormal(0, 0.5, (n, 1))
        yield [rng.uniform(size=(n, d)) for d in (8, 15)], []
        yield [rng.normal(size=(n, d)) for d in (30, 40)], []
        yield [rng.standard_t(3, size=(n, d)) for d in (20, 30)], []
        yield [factors @ rng.normal(size=(3, d)) + rng.normal(size=(n, d)) for d in (20, 30)], []
        yield [rng.poisson(depth * rng.gamma(2, 2, d)).astype(float) for d in (40, 60)], []
        yield [plane @ rng.normal(size=(2, d)) + rng.normal(0, 0.1, (n, d)) for d in (20, 30)], []


def print_simulated(draw):
    """Print how far confidence and levels hold, by the family of the sets."""
    table = []
    for family in (flat, nested, noise):
        row = np.zeros(8, dtype=int)
        for seed, (views, truth) in enumerate(family(draw)):
            result = suggest_n_clusters(views, random_state=seed)
            high, count, levels = result.confidence == "high", result.n_clusters, result.levels
            close = any(near(count, n) for n in truth)
            reached = [any(near(level, n) for level in levels) for n in truth]
            supported = [any(near(level, n) for n in truth) for level in levels]
            row[:4] += [1, high, high and count in truth, high and close]
            row[4:] += [len(truth), sum(reached), len(levels), sum(supported)]
        table.append([family.__name__, *row])
        report(*table[-1])
    header = "family | sets | high | right | near | levels | reached | supported | near a level"
    print_table(header, table)


if __name__ == "__main__":
    run(main, __doc__, sets=[*TEN], draw=0, simulated=False)
