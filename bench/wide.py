"""Views with many more columns than samples, beside 30 components of the same views.

Usage: python bench/wide.py [--data NAME ...]

Negative binomial counts of 30 000 genes in 12 types, and docstrings of installed packages, the
classes, as TF-IDF of 12 000 words and 50 000 character n-grams. The 30 components are those of a
truncated singular value decomposition of the raw views, whose time counts. Each fit runs in a
process of its own, on one thread. Peak memory is above the views.
"""

import math
import pickle
import sysconfig
import time
from pathlib import Path

import numpy as np
import scipy.sparse
from families import docstrings
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from timing import apart, cpu_seconds, forget_peak, memory, print_table, report, run

from mvsc_fast import ConsensusTLRR

TYPES, GENES, BLOCK = 12, 30_000, 1024
PACKAGES = "numpy scipy sklearn pandas matplotlib polars dask distributed numba zarr pip setuptools"
PACKAGES += " hypothesis fontTools tornado narwhals _pytest"
MANY = 600  # docstrings of a package at most


def counts(n):
    """Counts of genes in types of four lineages, with as many marker genes of each."""
    rng = np.random.default_rng(0)
    p = np.maximum(rng.dirichlet(np.full(TYPES, 3.0)), 0.015)
    y = rng.choice(TYPES, n, p=p / p.sum())
    level = np.tile(rng.normal(0, 2.0, GENES), (TYPES, 1))
    for lineage in range(TYPES // 3):
        columns = rng.choice(GENES, GENES // 40, replace=False)
        level[3 * lineage : 3 * lineage + 3, columns] += rng.gamma(2, 0.7, len(columns))
    for k in range(TYPES):
        columns = rng.choice(GENES, GENES // 120, replace=False)
        level[k, columns] += rng.gamma(2, 0.6, len(columns))
    share = np.exp(level)
    share /= share.sum(axis=1, keepdims=True)
    depth = rng.lognormal(np.log(2000), 0.45, n)[:, None]
    parts = []
    for start in range(0, n, BLOCK):
        mean = share[y[start : start + BLOCK]] * depth[start : start + BLOCK]
        parts.append(scipy.sparse.csr_matrix(rng.poisson(rng.gamma(2.0, mean / 2)), dtype="f4"))
    return [scipy.sparse.vstack(parts, format="csr")], y


def texts(n):
    """Two views of docstrings."""
    rng, site = np.random.default_rng(0), Path(sysconfig.get_paths()["purelib"])
    documents, y = [], []
    for package in PACKAGES.split():
        texts = docstrings(site / package, skipped=(), most=math.inf)
        chosen = rng.permutation(len(texts))[:MANY]
        documents += [texts[i] for i in chosen]
        y += [package] * len(chosen)
    kept = rng.permutation(len(documents))[:n]
    documents = [documents[i] for i in kept]
    options = {"sublinear_tf": True, "dtype": np.float32}
    words = TfidfVectorizer(max_features=12_000, **options)
    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), max_features=50_000, **options)
    return [kind.fit_transform(documents) for kind in (words, grams)], np.array(y)[kept]


DATA = {
    "4000 cells": (counts, 4000, TYPES),
    "10 000 cells": (counts, 10_000, TYPES),
    "5000 texts": (texts, 5000, len(PACKAGES.split())),
}


def measure(name, components):
    """The cells of a row."""
    make, n, n_clusters = DATA[name]
    views, y = make(n)
    size = sum(X.data.nbytes + X.indices.nbytes for X in views) / 2**20
    before, start = forget_peak(), time.process_time()
    if components:
        views = [TruncatedSVD(components, random_state=0).fit_transform(X) for X in views]
    model = ConsensusTLRR(n_clusters, store="predictor", random_state=0, n_threads=1).fit(views)
    seconds, peak = time.process_time() - start, (memory("VmHWM") - before) / 2**20
    ari = adjusted_rand_score(y, model.labels_)
    numbers = f"{seconds:.1f} | {cpu_seconds(model.predict, views)[0]:.1f} | {size:.0f}"
    return f"{numbers} | {peak:.0f} | {len(pickle.dumps(model)) / 1e6:.1f} | {ari:.3f}"


def main(data):
    rows = []
    for name in data:
        for components in (0, 30):
            row, problem = apart(measure, name, components)
            kind = f"{components} components" if components else "as they are"
            rows.append(f"{name} | {kind} | {row or problem}")
            report(rows[-1])
    header = "data | views | CPU s | of `predict` | MiB of views | peak | MB of model | ARI"
    print_table(header, rows)


if __name__ == "__main__":
    run(main, __doc__, data=[*DATA])
