"""Simulated views with known classes, of as many samples as a benchmark needs.

Every family is a function of the number of samples and a seed that returns views and labels.

Usage: python bench/families.py [--draws 3]

In two families the first view shows the classes, and the others show other groups, or fewer. For
the labels of all views, of each view, and the classes: the adjusted Rand index with the classes,
mean ± standard deviation over draws, and the predictability from all views and from each.
"""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale
from timing import print_table, run

from mvsc_fast import ConsensusTLRR, label_predictability

RATE, LENGTH, USERS = 50, 128, 30  # samples of a signal in a second and in a window
SHARES = [0.25, 0.2, 0.15, 0.15, 0.15, 0.1]  # of six activities, the first two static
FREQUENCY = np.array([0.0, 0.0, 1.8, 2.6, 1.2, 1.9])
AMPLITUDE = np.array([0.03, 0.04, 0.8, 1.8, 0.5, 0.75])
HARMONIC = np.array([0.0, 0.0, 0.3, 0.6, 0.2, 0.55])
POSTURE = np.array([[0, 0, 1], [0.2, 0.95, 0.1], [0.05, 0.1, 0.98], [0.1, 0.1, 0.97]])
POSTURE = np.vstack([POSTURE, [[0.4, 0.05, 0.9], [0.15, 0.1, 0.96]]])
SENSORS = {"accelerometer": (1.0, 0.12), "gyroscope": (1.5, 0.3), "magnetometer": (0.3, 0.15)}
DRIFT = np.array([0.02, 0.015, -0.02])  # of the three axes in a day
BLOCK = 5000  # windows in memory at a time


def sensors(n, seed):
    """Windows of three sensors of thirty users with six activities, in standardised features.

    Only the accelerometer and the magnetometer can distinguish the two static postures.
    """
    views, y = windows(n, seed)
    return [scale(X) for X in views], y


def windows(n, seed, day=0):
    """The same before they are standardised; the zero points of all sensors drift by the day."""
    rng = np.random.default_rng(seed)
    blocks = [_windows(rng, min(BLOCK, n - first), day) for first in range(0, n, BLOCK)]
    views = [np.vstack(parts) for parts in zip(*(views for views, _ in blocks), strict=True)]
    return views, np.concatenate([y for _, y in blocks])


def _windows(rng, n, day):
    y, user = rng.choice(6, n, p=SHARES), rng.integers(USERS, size=n)
    users = np.random.default_rng(7)  # the same in every draw
    pace, strength = users.normal(1, 0.08, USERS), users.lognormal(0, 0.25, USERS)
    tilt = users.normal(0, 0.15, (USERS, 3))
    time = 2 * np.pi * np.arange(LENGTH) / RATE
    views = []
    for name, (gain, noise) in SENSORS.items():
        frequency = FREQUENCY[y] * pace[user] * rng.normal(1, 0.03, n)
        amplitude = AMPLITUDE[y] * strength[user] * rng.lognormal(0, 0.15, n) * gain
        axes = np.array([0.3, 1.0, 0.5] if name == "gyroscope" else [1.0, 0.6, 0.4])
        angle = frequency[:, None, None] * time
        phase = rng.uniform(0, 2 * np.pi, (n, 3, 1))
        wave = np.sin(angle + phase) + HARMONIC[y, None, None] * np.sin(2 * (angle + phase))
        signal = amplitude[:, None, None] * axes[:, None] * wave
        if name == "accelerometer":
            signal += (POSTURE[y] + tilt[user])[:, :, None]
        if name == "magnetometer":
            signal += (0.8 * POSTURE[y, ::-1] + tilt[user] + rng.normal(0, 0.3, (n, 3)))[:, :, None]
        signal += day * DRIFT[:, None]
        views.append(_features(signal + rng.normal(0, noise, signal.shape)))
    return views, y


def _features(signal):
    """Moments, quantiles, logarithmic spectrum and correlations of three axes, float32."""
    moving = signal - signal.mean(axis=2, keepdims=True)
    power = np.abs(np.fft.rfft(moving, axis=2)) ** 2
    total = power.sum(axis=2) + 1e-9
    unit = moving / (moving.std(axis=2, keepdims=True) + 1e-6)
    parts = [
        signal.mean(axis=2),
        signal.std(axis=2),
        np.abs(np.diff(signal, axis=2)).mean(axis=2),
        *np.percentile(signal, [0, 10, 25, 50, 75, 90, 100], axis=2),
        np.log(power[:, :, 1:33] + 1e-3).reshape(len(signal), -1),
        power @ np.arange(power.shape[2]) / total,
        np.log(total),
        *((unit[:, i] * unit[:, j]).mean(axis=1)[:, None] for i, j in ((0, 1), (0, 2), (1, 2))),
    ]
    return np.hstack(parts).astype(np.float32)


def lobes(n, seed, n_clusters=6, n_lobes=8, separation=0.45):
    """Three views of clusters in pairs, each cluster of several lobes, some hidden in each view."""
    rng = np.random.default_rng([seed, 9])
    shares = np.maximum(rng.dirichlet(np.full(n_clusters, 4.0)), 0.04)
    y = rng.choice(n_clusters, n, p=shares / shares.sum())
    lobe = rng.choice(n_lobes, n, p=rng.dirichlet(np.full(n_lobes, 3.0)))
    views = []
    for d in (30, 40, 50):
        pairs = rng.normal(0, separation, (n_clusters, d))
        clusters = rng.normal(0, 0.9 * separation, (n_clusters, d))
        centres = rng.normal(0, 0.7, (n_clusters, n_lobes, d))
        clusters[rng.permutation(n_clusters)[: n_clusters // 3]] = 0
        inside = rng.normal(0, 1, (n, 3)) @ rng.normal(0, 0.5, (3, d))
        X = pairs[y // 2] + clusters[y] + centres[y, lobe] + inside
        views.append((X + rng.normal(0, 1.3, (n, d))).astype(np.float32))
    return views, y


CLUSTERS, RANK, NOISE, CORRUPT, FEATURES = 10, 4, 0.25, 0.15, (40, 60, 100)
DRAWN = 10_000  # samples that share a random generator


def subspaces(n, seed):
    """Three views of ten noisy subspaces; the samples of a smaller n are the first of a larger one.

    In each view four clusters look like four others, and 15 % of the samples are those of somebody
    else.
    """
    rng = np.random.default_rng([seed, 1])
    structures = []
    for d in FEATURES:
        looks_like, order = np.arange(CLUSTERS), rng.permutation(CLUSTERS)
        looks_like[order[:4]] = order[4:8]
        structures.append((looks_like, rng.standard_normal((CLUSTERS, RANK, d)) / np.sqrt(d)))
    views, y = [np.empty((n, d), dtype=np.float32) for d in FEATURES], np.empty(n, dtype=np.int64)
    for first in range(0, n, DRAWN):
        rng = np.random.default_rng([seed, 2, first])
        labels = rng.choice(CLUSTERS, DRAWN, p=np.full(CLUSTERS, 1 / CLUSTERS))
        rows = slice(first, min(n, first + DRAWN))
        y[rows] = labels[: len(y[rows])]
        for X, (looks_like, bases) in zip(views, structures, strict=True):
            drawn = _subspace_rows(rng, bases[looks_like[labels]])
            X[rows] = drawn[: len(X[rows])]
    return views, y


def _subspace_rows(rng, bases):
    n, rank, d = bases.shape
    noise = NOISE * rng.standard_normal((n, d))
    X = (rng.standard_normal((n, 1, rank)) @ bases)[:, 0] + noise * np.sqrt(rank / d)
    wrong = rng.random(n) < CORRUPT
    X[wrong] = X[rng.permutation(n)[: wrong.sum()]]
    return X


def means(rng, n_groups, n_parts, apart, d):
    """Means of clusters, at a distance from the mean of their group."""
    groups = rng.normal(0, 10, (n_groups, d)) / np.sqrt(d)
    parts = rng.normal(0, apart, (n_groups, n_parts, d)) / np.sqrt(d)
    return (groups[:, None] + parts).reshape(-1, d)


def unequal_clusters(rng, sizes, distance=8):
    """Clusters in two views, whose means are orthogonal vectors of the same length."""
    y, c = np.repeat(np.arange(len(sizes)), sizes), len(sizes)
    return [
        rng.standard_normal((len(y), 20))
        + distance * np.linalg.qr(rng.standard_normal((20, c)))[0].T[y]
        for _ in "ab"
    ]


TYPES, BATCHES, GENES, PROTEINS = 12, 3, 1000, 60


def cells(n, seed):
    """Genes and proteins of cells in principal components, the proteins with a strong batch effect.

    The classes are 12 types in 4 lineages. One of each three is weak in the genes, another in the
    proteins. The genes do not show the batches, which are as orderly as the types.
    """
    rng = np.random.default_rng([seed, 12])
    shares = np.maximum(rng.dirichlet(np.full(TYPES, 3.0)), 0.03)
    y, batch = rng.choice(TYPES, n, p=shares / shares.sum()), rng.integers(BATCHES, size=n)
    genes = np.exp(rng.normal(-1.5, 1.3, GENES) + _markers(rng, GENES, 60, (45, 45, 8))[y])
    genes *= (rng.lognormal(np.log(800), 0.45, n) / genes.sum(axis=1))[:, None]
    genes = rng.poisson(rng.gamma(2.0, genes / 2.0))
    proteins = rng.normal(2.0, 0.6, PROTEINS) + _markers(rng, PROTEINS, 6, (2, 0, 2))[y]
    proteins = np.exp(proteins + rng.normal(0, 1, (BATCHES, PROTEINS))[batch])
    proteins *= rng.lognormal(0, 0.35, n)[:, None]
    proteins = np.log1p(rng.poisson(rng.gamma(4.0, proteins / 4.0)))
    genes = np.log1p(1e4 * genes / genes.sum(axis=1, keepdims=True))
    parts = (genes, 30), (proteins - proteins.mean(axis=1, keepdims=True), 18)
    return [PCA(d, random_state=0).fit_transform(X) for X, d in parts], y


def _markers(rng, width, shared, own):
    """Logarithmic levels of each type: columns that a lineage shares, and those of a type alone."""
    levels = np.zeros((TYPES, width))
    for first in range(0, TYPES, 3):
        columns = rng.choice(width, shared, replace=False)
        levels[first : first + 3, columns] += rng.gamma(2, 0.7, shared)
        for k, count in enumerate(own, first):
            levels[k, rng.choice(width, count, replace=False)] += rng.gamma(2, 0.6, count)
    return levels


# Samples and names of the views, the one that shows the classes best first.
ONE_GOOD_VIEW = {sensors: (2000, list(SENSORS)), cells: (1500, ["genes", "proteins"])}


def evaluated(views, y, seed):
    """Adjusted Rand index, predictability from all views and from each, for every labelling.

    These are the labels of all views, those of each view by itself, and the classes.
    """
    model, parts = (
        ConsensusTLRR(int(y.max()) + 1, random_state=seed),
        [views, *([X] for X in views)],
    )
    labellings = [*map(model.fit_predict, parts), y]
    judges = [label_predictability(part, labellings) for part in parts]
    return np.column_stack([[adjusted_rand_score(y, labels) for labels in labellings], *judges])


def main(draws):
    rows = []
    for family, (n, names) in ONE_GOOD_VIEW.items():
        results = np.array([evaluated(*family(n, draw), draw) for draw in range(draws)])
        titles = ["all views", *names, "the classes"]
        for name, mean, deviation in zip(titles, results.mean(0), results.std(0), strict=True):
            index, together, *single = (f"{x:.2f}" for x in mean)
            index += f" ± {deviation[0]:.2f}"
            rows.append([f"{family.__name__} ({n})", name, index, together, ", ".join(single)])
    print_table("family | labels of | ARI | predicted from all views | from each view", rows)


if __name__ == "__main__":
    run(main, __doc__, draws=3)
