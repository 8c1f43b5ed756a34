"""How often the number of clusters is found: whole sets, and random subsets of their classes.

Usage: python bench/n_clusters.py [--sets NAME ...] [--max-samples 1000] [--draw 0] [--stability]
                                  [--simulated] [--hidden] [--details]

Six problems for each of ten sets: two shuffles of all classes, and four random subsets of three
classes or more. Right is the true count, near is within max(1, 10 %) of it, and any says that one
of the three candidates is. Seconds are of one thread, beside those of a ConsensusTLRR fit of the
whole set. --stability asks instead whether the most stable candidate is a better choice if
confidence is low: four subsamples of 80 % of at most --max-samples samples for each candidate.
--simulated asks how far confidence and levels hold, on some sixty sets of 400 samples or more with
equal, unequal, many (2 to 60), nested and other clusters, and on 24 of noise. A suggestion is near
if it is near the number of clusters, or of groups of clusters; levels are these numbers. The
second table has the stable and predictable suggestions by the lead of their criterion over those of
the next numbers, on which high confidence depends. --hidden counts the groups that suggestions name
within clusters, in the first 600 samples of sixteen sets and in noise. A group is a class if it has
a Jaccard index of at least .5 with the classes of which it has most samples.
"""

import argparse
import sys
import time
import warnings

import families
import numpy as np
from sets import SIXTEEN, TEN, shuffled
from timing import limit_threads, print_table

from mvsc_fast import ConsensusTLRR, suggest_n_clusters
from mvsc_fast.explanation import stability
from mvsc_fast.judge._n_clusters import PREDICTABLE, SURE, _lead

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


def cpu_seconds(function):
    start = time.process_time()
    return function(), time.process_time() - start


def main(names, max_samples, draw, show):
    details, table, sure = [], [], []
    for number, name in enumerate(names):
        views, y = shuffled(name)
        right = []
        for seed, (what, some, labels) in enumerate(problems(views, y, 100 * draw + number)):
            truth = len(np.unique(labels))
            found, seconds = cpu_seconds(
                lambda: suggest_n_clusters(
                    some, max_samples=max_samples, random_state=seed, n_threads=1
                )
            )
            count = found.n_clusters
            marks = (
                count == truth,
                near(count, truth),
                any(near(one, truth) for one in found.candidates),
            )
            right.append(marks)
            sure.append((found.confidence, *marks))
            details.append(
                [
                    name,
                    what,
                    len(labels),
                    truth,
                    " ".join(map(str, found.candidates)),
                    f"{found.criterion.max():.3f}",
                    found.confidence,
                    f"{seconds:.2f}",
                    "" if marks[1] else "missed",
                ]
            )
            if seed == 0:
                whole = seconds
        model = ConsensusTLRR(len(np.unique(y)), random_state=0, n_threads=1)
        fit = cpu_seconds(lambda: model.fit(views))[1]
        table.append(
            [
                name,
                *np.sum(right, axis=0).tolist(),
                f"{whole:.2f}",
                f"{fit:.2f}",
                f"{whole / fit:.2f}",
            ]
        )
        print(*table[-1], file=sys.stderr)
    total = np.sum([row[1:4] for row in table], axis=0)
    if show:
        print_table(
            ["set", "classes", "n", "true", "candidates", "criterion", "confidence", "seconds", ""],
            details,
        )
        print()
    print_table(
        ["set", "right", "near", "any", "seconds", "ConsensusTLRR", "ratio"],
        [*table, [f"of {len(sure)}", *total, "", "", ""]],
    )
    print()
    levels = []
    for level in ("high", "low"):
        marks = [one[1:] for one in sure if one[0] == level]
        levels.append([level, len(marks), *(np.sum(marks, axis=0) if marks else (0, 0, 0))])
    print_table(["confidence", "problems", "right", "near", "any"], levels)


def most_stable(names, max_samples, draw, show):
    """Print how often the most stable candidate is near the truth, beside the suggested one."""
    details, marks = [], []
    for number, name in enumerate(names):
        views, y = shuffled(name)
        for seed, (what, some, labels) in enumerate(problems(views, y, 100 * draw + number)):
            some, truth = [X[:max_samples] for X in some], len(np.unique(labels[:max_samples]))
            found = suggest_n_clusters(some, random_state=seed, n_threads=1)
            if found.confidence == "high":
                continue
            agreement = [
                stability(
                    ConsensusTLRR(c, n_threads=1), some, n_resamples=4, random_state=0
                ).agreement.mean()
                for c in found.candidates
            ]
            chosen = found.candidates[int(np.argmax(agreement))]
            marks.append((near(found.n_clusters, truth), near(chosen, truth)))
            details.append(
                [
                    name,
                    what,
                    truth,
                    " ".join(map(str, found.candidates)),
                    " ".join(f"{one:.2f}" for one in agreement),
                    chosen,
                ]
            )
            print(*details[-1], file=sys.stderr)
    marks = np.array(marks, dtype=int)
    gain = marks[:, 1] - marks[:, 0]
    error = gain.std(ddof=1) * np.sqrt(len(gain))
    if show:
        print_table(["set", "classes", "true", "candidates", "agreement", "most stable"], details)
        print()
    print(
        f"of {len(marks)} near: {marks[:, 0].sum()} as suggested, {marks[:, 1].sum()} by "
        f"stability; difference {gain.sum():+d}, standard error {error:.1f}"
    )


def means(rng, n_groups, n_parts, apart, d):
    """Means of clusters, at a distance from the mean of their group."""
    groups = rng.normal(0, 10, (n_groups, d)) / np.sqrt(d)
    parts = rng.normal(0, apart, (n_groups, n_parts, d)) / np.sqrt(d)
    return (groups[:, None] + parts).reshape(-1, d)


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
                centres = [means(rng, groups, parts, apart, d) for d in (20, 30)]
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


def lead(found):
    """By how much the criterion exceeds those of the next numbers; -1 if it is not reliable."""
    best = int(found.criterion.argmax())
    if found.stability[best] < SURE or found.predictability[best] < PREDICTABLE:
        return -1
    return _lead(found.criterion)[best]


def simulated(draw):
    """Print how far confidence and levels hold, by the family of the sets and by the lead."""
    table, leads = [], []
    for family in (flat, nested, others, noise):
        row = np.zeros(8, dtype=int)
        for seed, (views, truth) in enumerate(family(draw)):
            found = suggest_n_clusters(views, random_state=seed, n_threads=1)
            high, count = found.confidence == "high", found.n_clusters
            close = any(near(count, one) for one in truth)
            leads.append((lead(found), 1, count in truth, close))
            row += [
                1,
                high,
                high and count in truth,
                high and close,
                len(truth),
                sum(any(near(level, one) for level in found.levels) for one in truth),
                len(found.levels),
                sum(any(near(level, one) for one in truth) for level in found.levels),
            ]
        table.append([family.__name__, *row])
        print(*table[-1], file=sys.stderr)
    heads = ["sets", "high", "right", "near", "levels", "found", "supported", "near a level"]
    print_table(["family", *heads], table)
    print()
    leads, rows, low = np.array(leads), [], 0
    for high in LEADS:
        some = leads[(leads[:, 0] >= low) & (leads[:, 0] < high), 1:]
        title = f"above {low}" if np.isinf(high) else f"{low} to {high}"
        rows.append([title, *some.sum(axis=0).astype(int)])
        low = high
    print_table(["lead", "suggestions", "right", "near"], rows)


def overlap(group, y):
    """Jaccard index of some samples and the classes of which they are more than half."""
    classes = np.unique(y)
    shares = np.array([np.mean(np.isin(np.flatnonzero(y == c), group)) for c in classes])
    whole = np.flatnonzero(np.isin(y, classes[shares > 0.5]))
    return len(np.intersect1d(group, whole)) / len(np.union1d(group, whole))


def hidden(draw):
    """Print how many groups are named within the clusters of suggestions, and are classes."""
    cases = []
    for name in SIXTEEN:
        views, y = shuffled(name)
        cases.append((name, [X[:600] for X in views], y[:600]))
    cases += [("noise", views, None) for views, _ in noise(draw)]
    rows = []
    for seed, (name, views, y) in enumerate(cases):
        found = suggest_n_clusters(views, random_state=seed, n_threads=1)
        groups = list(found.hidden.values())
        right = [] if y is None else [overlap(group, y) >= 0.5 for group in groups]
        rows.append([name, found.n_clusters, int(found.sizes.min()), len(groups), sum(right)])
        print(*rows[-1], sep="   ", file=sys.stderr, flush=True)
    print_table(["data", "suggested", "smallest", "named groups", "that are classes"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", choices=TEN, default=[*TEN], metavar="NAME")
    parser.add_argument("--max-samples", type=int, default=1000)
    parser.add_argument("--draw", type=int, default=0, help="another choice of the classes")
    parser.add_argument("--stability", action="store_true", help="choose by stability instead")
    parser.add_argument("--simulated", action="store_true", help="test confidence and levels")
    parser.add_argument("--hidden", action="store_true", help="count groups within clusters")
    parser.add_argument("--details", action="store_true", help="also a table of all problems")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # of views that do not agree on a few samples
    run = most_stable if arguments.stability else main
    with limit_threads(1):
        if arguments.simulated:
            simulated(arguments.draw)
        elif arguments.hidden:
            hidden(arguments.draw)
        else:
            run(arguments.sets, arguments.max_samples, arguments.draw, arguments.details)
