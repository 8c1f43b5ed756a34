"""Simulated CITE-seq-like cells, their preparation, and Leiden.

Negative binomial counts of 12 types in 4 lineages, 2000 genes and 100 proteins. A third of the
types is weak in the genes, a third in the proteins. The scripts ``cells_*.py`` need
``pip install "mvsc-fast[scverse]"``.
"""

import anndata as ad
import mudata as md
import numpy as np
import scanpy as sc
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

TYPES, GENES, PROTEINS, BLOCK = 12, 2000, 100, 4096
RESOLUTIONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)


def simulate(
    n,
    seed=0,
    *,
    types=TYPES,
    genes=GENES,
    proteins=PROTEINS,
    depth=600,
    contrast=1.0,
    dropout=0.0,
    batches=1,
    batch_spread=0.5,
    spread=1.0,
    rarest=None,
):
    """MuData of raw counts, with the types and batches in ``obs``.

    ``depth`` is the median number of counts of genes in a cell, ``spread`` the standard deviation
    of the logarithms of their means, and ``contrast`` the factor of their markers; a share
    ``dropout`` of all entries becomes 0. Batches differ by factors of genes and proteins, whose
    logarithms have the standard deviation ``batch_spread``. ``rarest`` is the share of the type
    with the fewest cells.
    """
    rng = np.random.default_rng(seed)
    p = np.maximum(rng.dirichlet(np.full(types, 3.0)), 0.015)
    if rarest is not None:
        k = p.argmin()
        p[k] = rarest / (1 - rarest) * np.delete(p, k).sum()
    y = rng.choice(types, n, p=p / p.sum())
    kind = np.arange(types) % 3  # 1: weak in proteins, 2: weak in genes
    levels = []
    for width, base, scale, shared, own, weak in (
        (genes, (-1.5, spread), contrast, 75 * genes // GENES, np.array([25, 25, 5]), 2),
        (proteins, (2.0, 1.0), 1.0, 8, np.array([2, 0, 2]), 1),
    ):
        own = own * (width // GENES) if weak == 2 else own
        level = np.tile(rng.normal(*base, width), (types, 1))
        for lineage in range(types // 3):
            columns = rng.choice(width, shared, replace=False)
            level[3 * lineage : 3 * lineage + 3, columns] += scale * rng.gamma(2, 0.7, shared)
        for k in range(types):
            columns = rng.choice(width, own[kind[k]], replace=False)
            level[k, columns] += scale * rng.gamma(2, 0.6, len(columns)) + (weak == 1)
        levels.append(level)
    depths = rng.lognormal(np.log(depth), 0.45, n)[:, None]
    batch, counts = np.zeros(n, dtype=int), []
    if batches > 1:
        batch = rng.integers(batches, size=n)
    block = min(BLOCK, BLOCK * GENES // genes)
    for level, theta in zip(levels, (2.0, 4.0), strict=True):
        factors = rng.lognormal(0, batch_spread, (batches, level.shape[1])) if batches > 1 else None
        parts = []
        for start in range(0, n, block):
            rows = slice(start, start + block)
            mean = np.exp(level[y[rows]])
            if factors is not None:
                mean *= factors[batch[rows]]
            if level is levels[0]:
                mean *= depths[rows] / mean.sum(axis=1, keepdims=True)
            drawn = rng.poisson(rng.gamma(theta, mean / theta))
            if dropout:
                drawn *= rng.random(drawn.shape) > dropout
            parts.append(sp.csr_matrix(drawn, dtype="f4"))
        counts.append(ad.AnnData(sp.vstack(parts, format="csr")))
    data = md.MuData(dict(zip(("rna", "prot"), counts, strict=True)))
    data.obs["type"], data.obs["batch"] = y, batch.astype(str)
    return data


def log_counts(rna):
    """Replace counts of genes by logarithms of their shares."""
    sc.pp.normalize_total(rna, target_sum=1e4)
    sc.pp.log1p(rna)


def centred_log_ratios(counts):
    """The usual preparation of counts of proteins, an array."""
    logs = np.log1p(counts.toarray())
    return logs - logs.mean(axis=1, keepdims=True)


def leiden(graph, y):
    """Adjusted Rand indices of communities of a graph, by the resolution."""
    data = ad.AnnData(sp.csr_matrix((graph.shape[0], 1), dtype="f4"))
    data.obsp["connectivities"] = sp.csr_matrix(graph)
    data.uns["neighbors"] = {"connectivities_key": "connectivities", "params": {}}
    scores = {}
    for r in RESOLUTIONS:
        sc.tl.leiden(data, r, flavor="igraph", n_iterations=2, directed=False)
        scores[r] = adjusted_rand_score(y, data.obs["leiden"].to_numpy().astype(int))
    return scores
