"""Preparations of single cells, and what clusterings find in them.

Usage: python bench/cells_recipes.py [--cells N] [--draws R] [--harmony] [--atac]

Mean adjusted Rand index (ARI) of R draws of five simulated sets (``bench/cells.py``), and that of
``scanpy.datasets.pbmc68k_reduced``: 700 cells, one modality, classes ``bulk_labels``, its counts
recovered from their logarithms. `ConsensusTLRR` has the true number of clusters. Leiden has the
best of eight resolutions by the truth, on the joint graph of the same fit, on the neighbours that
scanpy finds by genes alone, or on those of muon's WNN. With --harmony, components of genes and
CLR of proteins of two batches are integrated by Harmony (``pip install harmonypy``); the adjusted
mutual information (AMI) of labels and batches is 0 if they are independent. With --atac, genes of
``bench/cells.py`` become peaks of the same cells, most of which have no or one count; they are
clustered as they are, as 0 and 1, or as components of TF-IDF (latent semantic indexing, LSI, by
muon), alone and with 30 components of genes; means and standard errors.
"""

import anndata as ad
import mudata as md
import numpy as np
import scanpy as sc
from cells import centred_log_ratios, leiden, log_counts, simulate
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from timing import print_table, report, run, with_error

import mvsc_fast
from mvsc_fast.explanation import joint_graph

SETS = {
    "12 types": {},
    "6 types": {"types": 6},
    "weak genes": {"contrast": 0.7},
    "half zeroed": {"dropout": 0.5},
    "two batches": {"batches": 2},
}
PBMC = "pbmc68k"
TOP, COMPONENTS = 1000, 30
PEAKS, DEPTH = 10_000, 1500


def counts_of(counts):
    return counts


def logs_of(counts, top=None):
    """Logarithms of counts over their sums: of all genes, or components of the most variable."""
    data = ad.AnnData(counts.copy())
    log_counts(data)
    if top is None:
        return data.X
    if counts.shape[1] > top:
        sc.pp.highly_variable_genes(data, n_top_genes=top)
    sc.pp.pca(data, n_comps=COMPONENTS)
    return data.obsm["X_pca"]


GENES = {"counts": counts_of, "logs": logs_of, "logs, PCA": lambda counts: logs_of(counts, TOP)}
PROTEINS = {"counts": lambda counts: counts.toarray(), "CLR": centred_log_ratios}
RECIPES = [("counts", "counts"), ("counts", "CLR"), ("logs", "CLR")]
RECIPES += [("logs, PCA", "counts"), ("logs, PCA", "CLR")]


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


def best_leiden(graph, y):
    return max(leiden(graph, y).values())


def fit_scores(views, y):
    """ARI of `ConsensusTLRR` by its number of clusters and of Leiden on its graph, and labels."""
    model = mvsc_fast.ConsensusTLRR(len(np.unique(y)), random_state=0).fit(views)
    ari = adjusted_rand_score(y, model.labels_)
    return ari, best_leiden(joint_graph(model, views), y), model.labels_


def wnn_graph(components, proteins):
    import muon

    modalities = {"rna": ad.AnnData(components), "prot": ad.AnnData(proteins)}
    data = md.MuData(modalities)
    for name in modalities:
        sc.pp.neighbors(data[name], use_rep="X")
    muon.pp.neighbors(data, key_added="wnn")
    return data.obsp[data.uns["wnn"]["connectivities_key"]]


def measured(data):
    """ARI of each row of the table: (preparations of both modalities, method)."""
    y, scores, proteins = data.obs["type"].to_numpy(), {}, {}
    genes = {name: prepare(data["rna"].X) for name, prepare in GENES.items()}
    if "prot" in data.mod:
        proteins = {name: prepare(data["prot"].X) for name, prepare in PROTEINS.items()}
    for recipe in RECIPES:
        views = [genes[recipe[0]]]
        if proteins:
            views.append(proteins[recipe[1]])
        ari, communities, _ = fit_scores(views, y)
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


def integrated(cells, draws):
    """Table of modalities as they are and after Harmony."""
    from harmonypy import run_harmony

    results = {}
    for seed in range(draws):
        data = simulate(cells, seed, **SETS["two batches"])
        y, batch = data.obs["type"].to_numpy(), data.obs["batch"]

        def harmony(X, obs=data.obs):
            X = np.asarray(X, dtype=np.float64)
            return run_harmony(X, obs, "batch", verbose=False, random_state=0).Z_corr

        genes, proteins = logs_of(data["rna"].X, TOP), centred_log_ratios(data["prot"].X)
        for name, views in {
            "none": [genes, proteins],
            "genes": [harmony(genes), proteins],
            "genes and proteins": [harmony(genes), harmony(proteins)],
        }.items():
            ari, communities, labels = fit_scores(views, y)
            mixing = adjusted_mutual_info_score(batch, labels)
            results.setdefault(name, []).append([ari, mixing, communities])
    rows = [[name, *(f"{x:.3f}" for x in np.mean(all_, axis=0))] for name, all_ in results.items()]
    print_table("integrated | ARI | AMI with the batch | ARI of Leiden", rows)


def lsi_of(counts):
    import muon

    data = ad.AnnData(counts.copy())
    muon.atac.pp.tfidf(data, scale_factor=1e4)
    muon.atac.tl.lsi(data, n_comps=COMPONENTS + 1)
    return data.obsm["X_lsi"][:, 1:]  # the first follows the depth


def peaks(cells, draws):
    """Table of the preparations of peaks, alone and with genes."""
    results = {}
    for seed in range(draws):
        for name, options in {"peaks": {}, "weak peaks": {"contrast": 0.5}}.items():
            data = simulate(cells, seed, genes=PEAKS, depth=DEPTH, **options)
            y, counts = data.obs["type"].to_numpy(), data["rna"].X
            counts = counts[:, counts.getnnz(axis=0) > 0]
            other = simulate(cells, seed)  # the same types
            genes = logs_of(other["rna"].X, TOP)
            assert (y == other.obs["type"]).all()
            for recipe, X in {
                "counts": counts,
                "0 and 1": counts.astype(bool).astype("f4"),
                "TF-IDF, LSI": lsi_of(counts),
            }.items():
                for extra, views in {"": [X], " and genes": [X, genes]}.items():
                    scores = fit_scores(views, y)[:2]
                    methods = "`ConsensusTLRR`", "its joint graph, Leiden"
                    for method, score in zip(methods, scores, strict=True):
                        row = results.setdefault((recipe, method), {})
                        row.setdefault(name + extra, []).append(score)
                    report(name + extra, seed, recipe, scores)
    columns = sorted(next(iter(results.values())))
    rows = [[*key, *(with_error(row[c]) for c in columns)] for key, row in results.items()]
    print_table(["peaks as", "method", *columns], rows)


def main(cells, draws, harmony, atac):
    if harmony or atac:
        (integrated if harmony else peaks)(cells, draws)
        return
    columns, keys = {}, []
    for name, options in SETS.items():
        several = []
        for seed in range(draws):
            data = simulate(cells, seed, **options)
            several.append(measured(data))
            report(name, seed, several[-1])
        columns[name] = {key: np.mean([scores[key] for scores in several]) for key in several[0]}
        keys = keys or list(several[0])
    columns["mean"] = {key: np.mean([ari[key] for ari in columns.values()]) for key in keys}
    columns[PBMC] = measured(pbmc())
    rows = []
    for key in keys:
        cells = [f"{ari[key]:.3f}" if key in ari else "" for ari in columns.values()]
        rows.append([*key, *cells])
    print_table(["genes", "proteins", "method", *columns], rows)


if __name__ == "__main__":
    run(main, __doc__, None, cells=3000, draws=1, harmony=False, atac=False)
