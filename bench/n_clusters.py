"""How often the number of clusters is found: whole sets, and random subsets of their classes.

Usage: python bench/n_clusters.py [--sets NAME ...] [--draw 0] [--simulated]
       python bench/n_clusters.py --unequal

Six problems for each of ten sets: two shuffles of all classes, and four random subsets of three
classes or more. Right is the true count, near is within max(1, 10 %) of it, and any says that one
of the three candidates is. Seconds are of one thread, beside those of a ConsensusTLRR fit of the
whole set. --simulated asks how far confidence and levels hold, on some sixty sets of 400 samples or
more with equal, unequal, many (2 to 60), nested and other clusters, and on 24 of noise. A
suggestion is near if it is near the number of clusters, or of groups of clusters; levels are these
numbers. The second table has the stable and predictable suggestions by the lead of their criterion
over those of the next numbers, on which high confidence depends.

--unequal has ten draws of groups of very different sizes: how often the suggestion is right, and
the rarest group is a cluster of a fit with this number, or is named in ``hidden`` (a Jaccard index
of at least .8).
"""

import families
import numpy as np
from sets import TEN, shuffled
from timing import cpu_seconds, print_table, report, run
from unequal import gaussian_groups

from mvsc_fast import ConsensusTLRR, suggest_n_clusters
from mvsc_fast.judge._n_clusters import SURE, SURE_PREDICTABILITY, _lead

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


def main(sets, draw, simulated, unequal):
    if unequal:
        print_unequal()
        return
    if simulated:
        print_simulated(draw)
        return
    table, every_mark = [], []
    for number, name in enumerate(sets):
        whole, y_whole = shuffled(name)
        seconds, of_set = [], []
        for seed, (kind, views, y) in enumerate(problems(whole, y_whole, 100 * draw + number)):
            truth, options = len(np.unique(y)), {"random_state": seed, "n_threads": 1}
            spent, result = cpu_seconds(suggest_n_clusters, views, **options)
            count, candidates = result.n_clusters, result.candidates
            marks = count == truth, near(count, truth), any(near(c, truth) for c in candidates)
            of_set.append((result.confidence == "high", *marks))
            seconds.append(spent)
            report(name, kind, truth, candidates, result.confidence)
        model = ConsensusTLRR(len(np.unique(y_whole)), random_state=0, n_threads=1)
        fit, _ = cpu_seconds(model.fit, whole)
        counts = " | ".join(map(str, np.sum(of_set, axis=0)[1:]))
        ratio = f"{seconds[0]:.2f} | {fit:.2f} | {seconds[0] / fit:.2f}"  # of all classes
        table.append(f"{name} | {counts} | {ratio}")
        every_mark += of_set
    marks = np.array(every_mark).astype(int)
    counts = " | ".join(map(str, marks.sum(axis=0)[1:]))
    table.append(f"of {len(marks)} | {counts} | | |")
    print_table("set | right | near | any | seconds | ConsensusTLRR | ratio", table)
    print()
    levels = []
    for level in ("high", "low"):
        part = marks[marks[:, 0] == (level == "high"), 1:]
        levels.append([level, len(part), *part.sum(axis=0)])
    print_table("confidence | problems | right | near | any", levels)


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


def others(draw):
    """Lobes, windows of sensors, subspaces, and texts."""
    for s, (c, n_lobes) in enumerate(((4, 3), (6, 8), (10, 4))):
        seed = 10 * draw + s
        yield families.lobes(500, seed, c, n_lobes)[0], [c]
        yield families.sensors(500, seed)[0], [6]
        yield families.subspaces(500, seed)[0], [10]
    views, y = families.texts(600, draw)
    yield views, [len(np.unique(y))]


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


LEADS = (0.005, 0.01, 0.015, 0.03, 0.06, 0.1, np.inf)


def lead(result):
    """By how much the criterion exceeds those of the next numbers; -1 if it is not reliable."""
    best = int(result.criterion.argmax())
    if result.stability[best] < SURE or result.predictability[best] < SURE_PREDICTABILITY:
        return -1
    return _lead(result.criterion)[best]


def print_simulated(draw):
    """Print how far confidence and levels hold, by the family of the sets and by the lead."""
    table, leads = [], []
    for family in (flat, nested, others, noise):
        row = np.zeros(8, dtype=int)
        for seed, (views, truth) in enumerate(family(draw)):
            result = suggest_n_clusters(views, random_state=seed, n_threads=1)
            high, count, levels = result.confidence == "high", result.n_clusters, result.levels
            close = any(near(count, n) for n in truth)
            leads.append((lead(result), 1, count in truth, close))
            reached = [any(near(level, n) for level in levels) for n in truth]
            supported = [any(near(level, n) for n in truth) for level in levels]
            row[:4] += [1, high, high and count in truth, high and close]
            row[4:] += [len(truth), sum(reached), len(levels), sum(supported)]
        table.append([family.__name__, *row])
        report(*table[-1])
    header = "family | sets | high | right | near | levels | found | supported | near a level"
    print_table(header, table)
    print()
    leads, rows, low = np.array(leads), [], 0
    for high in LEADS:
        part = leads[(leads[:, 0] >= low) & (leads[:, 0] < high), 1:]
        title = f"above {low}" if np.isinf(high) else f"{low} to {high}"
        rows.append([title, *part.sum(axis=0).astype(int)])
        low = high
    print_table("lead | suggestions | right | near", rows)


DRAWS = 10
GEOMETRIC = (40, 25, 15, 10, 5, 3, 1.5, 0.5)  # per cent


def unequal_groups():
    """Name, views and groups, at most 1000 samples, all of which a suggestion uses."""
    for seed in range(DRAWS):
        for sizes in ((940, 50, 10), (300, 300, 280, 20)):
            views = families.unequal_clusters(np.random.default_rng(seed), sizes, 6)
            yield " / ".join(map(str, sizes)), views, np.repeat(range(len(sizes)), sizes)
        yield "93 %, seven of 1 %", *gaussian_groups(1000, [93, *[1] * 7], 2.5, seed=seed)
        for kind, separation in (("near", 1.5), ("far", 2.5)):
            yield f"40 to .5 %, {kind}", *gaussian_groups(1000, GEOMETRIC, separation, seed=seed)


def holds(groups, rare):
    return any(np.isin(rare, g).sum() >= 0.8 * len(np.union1d(rare, g)) for g in groups)


def print_unequal():
    """Print how often the rarest group is a cluster, or is named."""
    marks = {}
    for name, views, y in unequal_groups():
        result = suggest_n_clusters(views, random_state=0, n_threads=1)
        c, rare = result.n_clusters, np.flatnonzero(y == np.bincount(y).argmin())
        labels = ConsensusTLRR(c, random_state=0, n_threads=1).fit_predict(views)
        own = holds([np.flatnonzero(labels == k) for k in range(c)], rare)
        named = holds(result.hidden.values(), rare)
        row = [c == y.max() + 1, own, named, own or named]
        marks.setdefault(name, []).append([*row, len(rare), c])
    rows = []
    for name, each in marks.items():
        *counts, sizes, numbers = zip(*each, strict=True)
        ranges = [f"{min(values)} to {max(values)}" for values in (sizes, numbers)]
        rows.append([name, *ranges, *(f"{sum(count)} of {DRAWS}" for count in counts)])
    header = "groups | of the rarest | suggested | right | rarest a cluster | named | either"
    print_table(header, rows)


if __name__ == "__main__":
    run(main, __doc__, sets=[*TEN], draw=0, simulated=False, unequal=False)
