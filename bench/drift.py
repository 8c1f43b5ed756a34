"""How many new samples are unlike the fitted ones, and how many if one view fails.

Usage: python bench/drift.py [--sets NAME ...] [--max-samples 1500] [--split 1] [--sensors]
       python bench/drift.py --clusters [--draws 5]

One half of each set is fitted, the other is new. Its first view is left as it is, gets the rows of
other samples, is stuck at its mean, is replaced by Gaussian noise of the same means and deviations,
or gets other units (columns are multiplied by log-normal numbers). For each: the share of the new
samples whose residual is larger than that of .95 of the fitted ones, in bold where `predict` warns,
and the adjusted Rand index of the predicted labels with the classes.

--sensors also fits 2000 windows of three sensors and labels 1000 others: of later days, on which
the zero points of the sensors have drifted; with an accelerometer that is stuck at 1, replaced by
noise, assigned to other windows, or 9.81 times as large; and without standardised columns. It
counts the cases with a warning by the adjusted Rand index that is lost. The limit of the warning
was chosen on the first split of the sets, so neither --split 2 nor the sensors had a part in it.

--clusters has the share of unlike ones among new samples of clusters of 50, 37, 10 and 3 % of 1000
fitted samples, whose labels are right: Gaussian clusters at distance 6, and four of the ten digits
of hdigit, other ones in each draw. Then it counts the warnings of `predict` for 30 new samples of
the smallest of Gaussian clusters, in six draws.
"""

import warnings

import numpy as np
import scipy.sparse
from families import unequal_clusters, windows
from sets import SIXTEEN, at_hand
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from timing import load_shared, print_table, run

from mvsc_fast import ConsensusTLRR

CHANGES = {
    "as in fit": lambda X, rng: X,
    "of other samples": lambda X, rng: rng.permutation(X),
    "stuck": lambda X, rng: np.full_like(X, X.mean()),
    "noise": lambda X, rng: X.mean(axis=0) + X.std(axis=0) * rng.standard_normal(X.shape),
    "other units": lambda X, rng: X * rng.lognormal(size=X.shape[1]),
}
DAYS = (0, 5, 20, 60)
OF_SENSORS = {
    "stuck": lambda X, rng: np.ones_like(X),
    "replaced by noise": CHANGES["noise"],
    "of other windows": CHANGES["of other samples"],
    "9.81 times as large": lambda X, rng: 9.81 * X,
}

SIZES = (500, 370, 100, 30)
RARE = ((285, 15), (970, 30), (270, 15, 15), (1940, 60))  # of the second table of clusters


def halves(views, y, max_samples, split):
    """Views of the fit and new ones, dense, and the classes of the new samples."""
    order = np.random.RandomState(split).permutation(len(y))[:max_samples]
    views = [X.toarray() if scipy.sparse.issparse(X) else X for X in views]
    fitted, new = ([X[rows] for X in views] for rows in (order[::2], order[1::2]))
    return fitted, new, len(np.unique(y)), y[order[1::2]]


def seen(model, new, y):
    """Share of the new samples that are unlike, whether a warning is given, and the ARI."""
    rows = model.predictor_.predictions(new)
    return rows["unlike"].mean(), warns(model, rows), adjusted_rand_score(y, rows["label"])


def warns(model, rows):
    """Whether `predict` warns of unlike samples, given what is predicted."""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model.predictor_.tell_unlike(rows, lambda text: None)
    return bool(warned)


def of_set(data, max_samples, split):
    """What is `seen` after each change."""
    fitted, (first, *others), c, y = halves(*data, max_samples, split)
    model = ConsensusTLRR(c, random_state=0, n_threads=1).fit(fitted)
    for change in CHANGES.values():
        new = np.ascontiguousarray(change(first, np.random.RandomState(0)))
        yield seen(model, [new, *others], y)


def of_sensors(draw, n=2000, m=1000):
    """What is `seen` by its name."""
    fitted, _ = windows(n, 2 * draw)
    scales = [StandardScaler().fit(X) for X in fitted]

    def scaled(views):
        return [scaler.transform(X) for scaler, X in zip(scales, views, strict=True)]

    model = ConsensusTLRR(6, random_state=0, n_threads=1).fit(scaled(fitted))
    for day in DAYS:
        new, y = windows(m, 2 * draw + 1, day)
        yield f"day {day}", seen(model, scaled(new), y)
    (first, *others), y = windows(m, 2 * draw + 1)
    for name, change in OF_SENSORS.items():
        changed = change(first, np.random.RandomState(draw)).astype(np.float32)
        yield f"accelerometer {name}", seen(model, scaled([changed, *others]), y)
    yield "columns not standardised", seen(model, [first, *others], y)


def print_lost(by_set, by_sensor):
    """Print how many cases have a warning, by the adjusted Rand index that the change costs."""
    cases = {}
    for title, values in (
        ("sixteen sets", np.array([*by_set.values()], dtype=float)),
        ("sensors", np.array([*by_sensor.values()], dtype=float).swapaxes(0, 1)),
    ):  # of shape (sets or draws, changes, 3); the first change is none
        lost = values[:, :1, 2] - values[:, :, 2]
        cases[title] = lost.ravel(), values[:, :, 1].ravel()
    rows = []
    for low, high in ((-1, 0.02), (0.02, 0.1), (0.1, 0.3), (0.3, 1)):
        rows.append([f"{'less than' if low < 0 else f'{low} to'} {high}"])
        for lost, warned in cases.values():
            inside = warned[(lost >= low) & (lost < high)]
            rows[-1].append(f"{int(inside.sum())} of {len(inside)}")
    print_table(["adjusted Rand index lost", *cases], rows)


def gaussian(sizes, draw):
    views = unequal_clusters(np.random.default_rng(draw), sizes, 6)
    return [np.split(X, np.cumsum(sizes)[:-1]) for X in views]


def digits(sizes, draw):
    views, y = load_shared("hdigit", draw)
    rows = [np.flatnonzero(y == (k + draw) % 10)[:size] for k, size in enumerate(sizes)]
    return [[X[part].astype(float) for part in rows] for X in views]


def of_clusters(make, sizes, m, draw):
    """Of m new samples of each cluster: share that is right, share unlike of these, warning."""
    parts = make([size + m for size in sizes], draw)
    fitted = [np.vstack([X[:size] for X, size in zip(view, sizes, strict=True)]) for view in parts]
    model = ConsensusTLRR(len(sizes), random_state=0, n_threads=1).fit(fitted)
    y = np.repeat(range(len(sizes)), sizes)
    of_label = np.array([np.bincount(y[model.labels_ == k]).argmax() for k in range(len(sizes))])
    for k, size in enumerate(sizes):
        rows = model.predictor_.predictions([view[k][size:] for view in parts])
        right = of_label[rows["label"]] == k
        yield right.mean(), rows["unlike"][right].mean(), warns(model, rows)


def print_clusters(draws):
    rows = []
    for kind, make in {"Gaussian clusters": gaussian, "digits": digits}.items():
        cases = np.array([list(of_clusters(make, SIZES, 500, draw)) for draw in range(draws)])
        for size, (right, unlike, _) in zip(SIZES, cases.transpose(1, 2, 0), strict=True):
            extremes = f"{unlike.min():.3f} to {unlike.max():.3f}"
            rows.append(f"{kind} | {size} | {right.mean():.3f} | {unlike.mean():.3f} | {extremes}")
    print_table("data | fitted samples of the cluster | right | unlike of these | in draws", rows)
    print()
    rows = []
    for sizes in RARE:
        warned = [[*of_clusters(gaussian, sizes, 30, draw)][-1][2] for draw in range(6)]
        rows.append([" / ".join(map(str, sizes)), f"{sum(warned)} of {len(warned)}"])
    print_table("fitted samples of the clusters | warnings for 30 of the smallest", rows)


def main(sets, max_samples, split, draws, sensors, clusters):
    if clusters:
        print_clusters(draws)
        return
    by_set = {name: list(of_set(data, max_samples, split)) for name, data in at_hand(sets)}
    if not sensors:
        rows = []
        for name, cases in by_set.items():
            bold = ["**" if warned else "" for _, warned, _ in cases]
            texts = [f"{mark}{case[0]:.2f}{mark}" for mark, case in zip(bold, cases, strict=True)]
            ari = [f"({case[2]:.2f})" for case in cases]
            rows.append([name, *map(" ".join, zip(texts, ari, strict=True))])
        print_table(["data", *CHANGES], rows)
        return
    by_sensor, rows = {}, []
    for draw in range(draws):
        for name, case in of_sensors(draw):
            by_sensor.setdefault(name, []).append(case)
    for name, cases in by_sensor.items():
        share, warned, ari = np.array(cases, dtype=float).T
        counts = f"{int(warned.sum())} of {draws}"
        rows.append(f"{name} | {share.mean():.2f} | {counts} | {ari.mean():.2f}")
    print_table("new windows | unlike | warned | adjusted Rand index", rows)
    print()
    print_lost(by_set, by_sensor)


if __name__ == "__main__":
    switches = {"sensors": False, "clusters": False}
    run(main, __doc__, sets=[*SIXTEEN], max_samples=1500, split=1, draws=5, **switches)
