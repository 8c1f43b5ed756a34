"""Simulated single cells: what clusterings show of them, and of cells of blood.

Usage: python bench/cells.py [--cells N] [--draws R] [--rare]

Negative binomial counts of 12 types in 4 lineages, 2000 genes and 100 proteins. A third of the
types is weak in the genes, a third in the proteins. Needs
``pip install "mvsc-fast[scverse]" muon``.

Mean adjusted Rand index (ARI) of R draws of five simulated sets, and that of
``scanpy.datasets.pbmc68k_reduced``: 700 cells, one modality, classes ``bulk_labels``, its counts
recovered from their logarithms. `ConsensusTLRR` has the true number of clusters. Leiden has the
best of eight resolutions by the truth, on the joint graph of the same fit, on the neighbours that
scanpy computes by genes only, or on those of muon's WNN. bench/results/cells.csv has each set.

--rare: 30 components of genes and the centred log-ratios (CLR) of proteins, cells of one or two
donors, the rarest type with .5 % of the cells; ARI, and the largest Jaccard index of a cluster with
this type, beside those of discriminant analysis that is told the types of other cells, and of
k-means and Gaussian mixtures with 12 clusters.
"""

import anndata as ad
import mudata as md
import numpy as np
import scanpy as sc
import scipy.sparse as sp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler
from timing import print_table, report, run, write_rows
from unequal import METHODS

from mvsc_fast import ConsensusTLRR, annotate

GENES, PROTEINS = 2000, 100
SETS = {
    "12 types": {},
    "6 types": {"types": 6},
    "weak genes": {"contrast": 0.7},
    "half zeroed": {"dropout": 0.5},
    "two batches": {"batches": 2},
}
PBMC = "pbmc68k"
TOP, COMPONENTS = 1000, 30
RESOLUTIONS = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)  # of Leiden
RARE = {"rarest": 0.005, "batch_spread": 0.3, "contrast": 0.45}
RARE_COUNTS, SIMPLE = (12, 24), ("k-means", "Gaussian mixture")


# ------------------------------------------------------------------------------------------ cells


def simulate(
    n, seed, *, types=12, contrast=1.0, dropout=0.0, batches=1, batch_spread=0.5, rarest=None
):
    """MuData of raw counts, with the types and batches in ``obs``.

    ``contrast`` is the factor of the logarithms of markers among the genes; a share ``dropout`` of
    all entries becomes 0. Batches differ by factors of genes and proteins, whose logarithms have
    the standard deviation ``batch_spread``. ``rarest`` is the share of the type with the fewest
    cells.
    """
    rng = np.random.default_rng(seed)
    p = np.maximum(rng.dirichlet(np.full(types, 3.0)), 0.015)
    if rarest is not None:
        k = p.argmin()
        p[k] = rarest / (1 - rarest) * np.delete(p, k).sum()
    y = rng.choice(types, n, p=p / p.sum())
    # Logarithmic levels of each type: markers of its lineage, and its own.
    kind = np.arange(types) % 3  # 1: weak in proteins, 2: weak in genes
    levels = []
    for width, base, scale, shared, own, weak in (
        (GENES, -1.5, contrast, 75, (25, 25, 5), 2),
        (PROTEINS, 2.0, 1.0, 8, (2, 0, 2), 1),
    ):
        level = np.tile(rng.normal(base, 1.0, width), (types, 1))
        for lineage in range(types // 3):
            columns = rng.choice(width, shared, replace=False)
            level[3 * lineage : 3 * lineage + 3, columns] += scale * rng.gamma(2, 0.7, shared)
        for k in range(types):
            columns = rng.choice(width, own[kind[k]], replace=False)
            level[k, columns] += scale * rng.gamma(2, 0.6, len(columns)) + (weak == 1)
        levels.append(level)
    depths = rng.lognormal(np.log(600), 0.45, n)[:, None]
    batch, counts = np.zeros(n, dtype=int), []
    if batches > 1:
        batch = rng.integers(batches, size=n)
    for level, theta in zip(levels, (2.0, 4.0), strict=True):
        mean = np.exp(level[y])
        if batches > 1:
            mean *= rng.lognormal(0, batch_spread, (batches, level.shape[1]))[batch]
        if level is levels[0]:
            mean *= depths / mean.sum(axis=1, keepdims=True)
        drawn = rng.poisson(rng.gamma(theta, mean / theta))
        if dropout:
            drawn *= rng.random(drawn.shape) > dropout
        counts.append(ad.AnnData(sp.csr_matrix(drawn, dtype="f4")))
    data = md.MuData(dict(zip(("rna", "prot"), counts, strict=True)))
    data.obs["type"], data.obs["batch"] = y, batch.astype(str)
    return data


def pbmc():
    """The cells of pbmc68k_reduced with their counts, whose logarithms are in ``raw``."""
    reduced = sc.datasets.pbmc68k_reduced()
    counts = reduced.raw.X.tocsr().astype("f4")
    np.expm1(counts.data, out=counts.data)
    for row in range(counts.shape[0]):
        part = counts.data[counts.indptr[row] : counts.indptr[row + 1]]
        part[:] = np.rint(part / part.min())
    data = md.MuData({"rna": ad.AnnData(counts)})
    data.obs["type"] = reduced.obs["bulk_labels"].cat.codes.to_numpy()
    return data


# ----------------------------------------------------------------------------------- preparations


def logs_of(counts, top=None):
    """Logarithms of counts over their sums: of all genes, or components of the most variable."""
    data = ad.AnnData(counts.copy())
    sc.pp.normalize_total(data, target_sum=1e4)
    sc.pp.log1p(data)
    if top is None:
        return data.X
    if counts.shape[1] > top:
        sc.pp.highly_variable_genes(data, n_top_genes=top)
    sc.pp.pca(data, n_comps=COMPONENTS)
    return data.obsm["X_pca"]


def centred_log_ratios(counts):
    logs = np.log1p(counts.toarray())
    return logs - logs.mean(axis=1, keepdims=True)


def prepared(data):
    """Components of genes, and CLR of proteins."""
    return [logs_of(data["rna"].X, TOP), centred_log_ratios(data["prot"].X)]


PREPARED_GENES = {
    "counts": lambda counts: counts,
    "logs": logs_of,
    "logs, PCA": lambda counts: logs_of(counts, TOP),
}
PREPARED_PROTEINS = {"counts": lambda counts: counts.toarray(), "CLR": centred_log_ratios}
RECIPES = [("counts", "counts"), ("counts", "CLR"), ("logs", "CLR")]
RECIPES += [("logs, PCA", "counts"), ("logs, PCA", "CLR")]


# ------------------------------------------------------------------------------------------ tables


def leiden_labels(graph, resolution):
    """Communities of a graph by scanpy."""
    data = ad.AnnData(sp.csr_matrix((graph.shape[0], 1), dtype="f4"))
    data.obsp["connectivities"] = sp.csr_matrix(graph)
    data.uns["neighbors"] = {"connectivities_key": "connectivities", "params": {}}
    sc.tl.leiden(data, resolution, flavor="igraph", n_iterations=2, directed=False)
    return data.obs["leiden"].to_numpy().astype(int)


def best_leiden(graph, y):
    """Largest adjusted Rand index of communities of a graph over the resolutions."""
    return max(adjusted_rand_score(y, leiden_labels(graph, r)) for r in RESOLUTIONS)


def joint_graph(model, views):
    """The graph that `annotate` writes."""
    data = ad.AnnData(sp.csr_matrix((len(model.labels_), 1), dtype="f4"))
    annotate(data, model, views)
    return data.obsp["mvsc_connectivities"]


def fit_scores(views, y):
    """ARI of `ConsensusTLRR` by its number of clusters and of Leiden on its graph."""
    model = ConsensusTLRR(len(np.unique(y)), random_state=0).fit(views)
    return adjusted_rand_score(y, model.labels_), best_leiden(joint_graph(model, views), y)


def wnn_graph(components, proteins):
    import muon

    modalities = {"rna": ad.AnnData(components), "prot": ad.AnnData(proteins)}
    data = md.MuData(modalities)
    for name in modalities:
        sc.pp.neighbors(data[name], use_rep="X")
    muon.pp.neighbors(data, key_added="wnn")
    return data.obsp[data.uns["wnn"]["connectivities_key"]]


def recipe_scores(data):
    """ARI of each row of the table: (preparations of both modalities, method)."""
    y, scores, proteins = data.obs["type"].to_numpy(), {}, {}
    genes = {name: prepare(data["rna"].X) for name, prepare in PREPARED_GENES.items()}
    if "prot" in data.mod:
        counts = data["prot"].X
        proteins = {name: prepare(counts) for name, prepare in PREPARED_PROTEINS.items()}
    for recipe in RECIPES:
        views = [genes[recipe[0]]]
        if proteins:
            views.append(proteins[recipe[1]])
        ari, communities = fit_scores(views, y)
        scores[(*recipe, "`ConsensusTLRR`")] = ari
        scores[(*recipe, "its joint graph, Leiden")] = communities
    name, components = [*genes.items()][-1]
    alone = ad.AnnData(components)
    sc.pp.neighbors(alone, use_rep="X")
    scores[name, "", "neighbours, Leiden"] = best_leiden(alone.obsp["connectivities"], y)
    if proteins:
        graph = wnn_graph(components, proteins["CLR"])
        scores[name, "CLR", "WNN, Leiden"] = best_leiden(graph, y)
    return scores


def print_recipes(cells, draws):
    columns = {}
    for name, options in SETS.items():
        several = []
        for seed in range(draws):
            several.append(recipe_scores(simulate(cells, seed, **options)))
            report(name, seed, several[-1])
        columns[name] = {key: np.mean([scores[key] for scores in several]) for key in several[0]}
    blood = recipe_scores(pbmc())
    rows, lines = [], []
    for key in columns["12 types"]:
        aris = [ari[key] for ari in columns.values()]
        known = f"{blood[key]:.3f}" if key in blood else ""
        rows.append([*key, f"{np.mean(aris):.3f}", known])
        lines.append([*key, *(f"{ari:.3f}" for ari in aris), known])
    print_table(["genes", "proteins", "method", "five simulated sets", PBMC], rows)
    write_rows("cells", ["genes", "proteins", "method", *columns, PBMC], lines)


def print_rare(cells, draws):
    """How well the rarest type is shown, of one and of two donors."""
    rows = {}
    for donors in (1, 2):
        scores = {}
        for seed in range(draws):
            data = simulate(cells, seed, batches=donors, **RARE)
            y, views = data.obs["type"].to_numpy(), prepared(data)
            rare = y == np.bincount(y).argmin()
            # Discriminant analysis that is told the types of four fifths of the cells.
            joined = StandardScaler().fit_transform(np.hstack(views))
            told = cross_val_predict(LinearDiscriminantAnalysis(), joined, y, cv=5)
            labellings = {"told the types": told}
            for c in RARE_COUNTS:
                labellings[f"{c} clusters"] = METHODS["ConsensusTLRR"](views, c)
            for name in SIMPLE:
                labellings[name] = METHODS[name](views, 12)
            for name, labels in labellings.items():
                sizes = np.bincount(labels)
                shared = np.bincount(labels[rare], minlength=len(sizes))
                jaccard = (shared / (sizes + rare.sum() - shared)).max()
                scores.setdefault(name, []).append((adjusted_rand_score(y, labels), jaccard))
        for name, values in scores.items():
            ari, jaccard = np.mean(values, axis=0)
            rows.setdefault(name, [name]).extend([f"{ari:.3f}", f"{jaccard:.2f}"])
    print_table("setting | ARI | Jaccard index | ARI, two donors | Jaccard index", [*rows.values()])


def main(cells, draws, rare):
    if rare:
        print_rare(cells, draws)
    else:
        print_recipes(cells, draws)


if __name__ == "__main__":
    run(main, __doc__, None, cells=3000, draws=1, rare=False)
