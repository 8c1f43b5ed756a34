"""How many new samples are unlike the fitted ones, and how many if one view fails.

Usage: python bench/drift.py [--sets NAME ...] [--max-samples 1500]
       python bench/drift.py --sensors | --clusters [--draws 5]

One half of each set is fitted, the other is new. Its first view is left as it is, gets the rows of
other samples, is stuck at its mean, is replaced by Gaussian noise of the same means and deviations,
or gets other units (columns are multiplied by log-normal numbers). For each: the share of the new
samples whose residual is larger than that of .95 of the fitted ones, in how many sets `predict`
warns, and the adjusted Rand index of the predicted labels with the classes, means over sets;
bench/results/drift.csv has each set.

--sensors fits 2000 windows of three sensors and labels 1000 others: of later days, on which the
zero points of the sensors have drifted; with an accelerometer that is stuck at 1, is replaced by
noise, belongs to other windows, or is 9.81 times as large; and without standardised columns. The
limit of the warning was chosen on the sets, so the sensors had no part in it.

--clusters has the share of unlike ones among new samples of Gaussian clusters at distance 6, of 50,
37, 10 and 3 % of 1000 fitted samples, whose labels are right.
"""

import warnings

import numpy as np
import scipy.sparse
from families import unequal_clusters, windows
from sets import SIXTEEN, at_hand
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from timing import print_table, run, write_rows

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


def halves(views, y, max_samples):
    """Views of the fit and new ones, dense, and the classes of the new samples."""
    order = np.random.RandomState(1).permutation(len(y))[:max_samples]
    views = [X.toarray() if scipy.sparse.issparse(X) else X for X in views]
    fitted, new = ([X[rows] for X in views] for rows in (order[::2], order[1::2]))
    return fitted, new, len(np.unique(y)), y[order[1::2]]


def seen(model, new, y):
    """Share of the new samples that are unlike, whether `predict` warns, and the ARI."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = model.predict(new)
    warned = any("farther from" in str(warning.message) for warning in caught)
    return unlike(model, new).mean(), warned, adjusted_rand_score(y, labels)


def unlike(model, new):
    return model.predict_margin(new, return_unlike=True)[1]


def of_set(data, max_samples):
    """What is `seen` after each change."""
    fitted, (first, *others), c, y = halves(*data, max_samples)
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


def gaussian(sizes, draw):
    views = unequal_clusters(np.random.default_rng(draw), sizes, 6)
    return [np.split(X, np.cumsum(sizes)[:-1]) for X in views]


def of_clusters(sizes, m, draw):
    """Of m new samples of each cluster: the share that is right, and the share unlike of these."""
    parts = gaussian([size + m for size in sizes], draw)
    fitted = [np.vstack([X[:size] for X, size in zip(view, sizes, strict=True)]) for view in parts]
    model = ConsensusTLRR(len(sizes), random_state=0, n_threads=1).fit(fitted)
    y = np.repeat(range(len(sizes)), sizes)
    of_label = np.array([np.bincount(y[model.labels_ == k]).argmax() for k in range(len(sizes))])
    for k, size in enumerate(sizes):
        new = [view[k][size:] for view in parts]
        right = of_label[model.predict(new)] == k
        yield right.mean(), unlike(model, new)[right].mean()


def print_clusters(draws):
    cases = np.array([list(of_clusters(SIZES, 500, draw)) for draw in range(draws)])
    rows = []
    for size, (right, unlike) in zip(SIZES, cases.transpose(1, 2, 0), strict=True):
        extremes = f"{unlike.min():.3f} to {unlike.max():.3f}"
        rows.append(f"{size} | {right.mean():.3f} | {unlike.mean():.3f} | {extremes}")
    print_table("fitted samples of the cluster | right | unlike of these | in draws", rows)


def print_means(title, cases):
    """Print means over sets or draws; ``cases`` has those of each change."""
    rows = []
    for name, values in cases.items():
        share, warned, ari = np.array(values, dtype=float).T
        counts = f"{int(warned.sum())} of {len(warned)}"
        rows.append(f"{name} | {share.mean():.2f} | {counts} | {ari.mean():.2f}")
    print_table(f"{title} | unlike | warned | adjusted Rand index", rows)


def main(sets, max_samples, draws, sensors, clusters):
    if clusters:
        print_clusters(draws)
    elif sensors:
        by_sensor = {}
        for draw in range(draws):
            for name, case in of_sensors(draw):
                by_sensor.setdefault(name, []).append(case)
        print_means("new windows", by_sensor)
    else:
        by_set = {name: list(of_set(data, max_samples)) for name, data in at_hand(sets)}
        by_change = dict(zip(CHANGES, zip(*by_set.values(), strict=True), strict=True))
        print_means("first view", by_change)
        lines = [
            [name, change, f"{share:.2f}", int(warned), f"{ari:.2f}"]
            for name, cases in by_set.items()
            for change, (share, warned, ari) in zip(CHANGES, cases, strict=True)
        ]
        write_rows("drift", ["data", "first view", "unlike", "warned", "ari"], lines)


if __name__ == "__main__":
    options = {"max_samples": 1500, "draws": 5, "sensors": False, "clusters": False}
    run(main, __doc__, sets=[*SIXTEEN], **options)
