"""Clusters of single cells by their number, and by resolutions, some of which are supported.

Usage: python bench/cells_resolution.py [--cells N] [--draws R]
       python bench/cells_resolution.py --rare [--cells N] [--draws R]

Three simulated sets of ``bench/cells_recipes.py``, 30 components of genes and CLR of proteins.
Adjusted Rand index (ARI) of `ConsensusTLRR` with the true number of clusters, with resolution 1,
with the best of nine resolutions by the truth, and with the finest resolution that
`suggest_resolution` supports; number of clusters, or resolution, in parentheses. Then the curve of
each set, first draw.

With --rare: 12 types of cells of one or two donors, the rarest with .5 % of the cells. ARI, and the
largest Jaccard index of a cluster with the rarest type, by numbers of clusters and resolutions; and
of linear discriminant analysis that is told the types of four fifths of the cells.
"""

import numpy as np
from cells import centred_log_ratios, simulate
from cells_recipes import SETS, TOP, logs_of
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler
from timing import print_table, report, run

from mvsc_fast import ConsensusTLRR, suggest_resolution

NAMES = ("12 types", "6 types", "weak genes")
RARE = {"rarest": 0.005, "batch_spread": 0.3}
RARE_SETTINGS = [(12, None), (16, None), (24, None), (None, 1.0), (None, 2.0), (None, 3.0)]


def measured(cells, seed, name):
    """A row of the first table, and those of the curve."""
    data = simulate(cells, seed, **SETS[name])
    y = data.obs["type"].to_numpy()
    c = len(np.unique(y))
    views = [logs_of(data["rna"].X, TOP), centred_log_ratios(data["prot"].X)]
    suggestion = suggest_resolution(views, random_state=0)
    settings = [(c, None), *((None, r) for r in suggestion.resolutions)]
    labeller, *scores = (
        adjusted_rand_score(y, ConsensusTLRR(c, resolution=r, random_state=0).fit_predict(views))
        for c, r in settings
    )
    pairs = zip(scores, suggestion.n_clusters.tolist(), strict=True)
    at = dict(zip(suggestion.resolutions.tolist(), pairs, strict=True))
    best = max(at, key=at.get)
    finest = max(suggestion.supported, default=None)
    usual = f"{at[1.0][0]:.3f} ({at[1.0][1]})"
    last = "none" if finest is None else f"{at[finest][0]:.3f} ({finest:g})"
    row = [name, seed, f"{labeller:.3f} ({c})", usual, f"{at[best][0]:.3f} ({best:g})", last]
    evidence = np.transpose([suggestion.stability, suggestion.predictability, scores])
    curve = []
    for (r, (_, k)), (stability, J, ari) in zip(at.items(), evidence, strict=True):
        supported = "yes" if r in suggestion.supported else ""
        curve.append([name, f"{r:g}", k, f"{stability:.3f}", f"{J:.3f}", supported, f"{ari:.3f}"])
    report(*row, suggestion.supported)
    return row, curve


def print_rare(cells, draws):
    """How well the rarest type is found."""
    rows = []
    for donors in (1, 2):
        scores = {}
        for seed in range(draws):
            data = simulate(cells, seed, contrast=0.45, batches=donors, **RARE)
            y = data.obs["type"].to_numpy()
            rare = y == np.bincount(y).argmin()
            views = [logs_of(data["rna"].X, TOP), centred_log_ratios(data["prot"].X)]
            joined = StandardScaler().fit_transform(np.hstack(views))
            told = cross_val_predict(LinearDiscriminantAnalysis(), joined, y, cv=5)
            labellings = {"told the types": told}
            for c, r in RARE_SETTINGS:
                name = f"{c} clusters" if r is None else f"resolution {r}"
                model = ConsensusTLRR(c, resolution=r, random_state=0)
                labellings[name] = model.fit_predict(views)
            for name, labels in labellings.items():
                sizes = np.bincount(labels)
                shared = np.bincount(labels[rare], minlength=len(sizes))
                jaccard = (shared / (sizes + rare.sum() - shared)).max()
                ari = adjusted_rand_score(y, labels)
                scores.setdefault(name, []).append((ari, jaccard, len(sizes)))
        for name, values in scores.items():
            ari, jaccard, count = np.mean(values, axis=0)
            n_found = sum(value[1] > 0.5 for value in values)
            rows.append(
                f"{donors} | {name} | {count:.0f} | {ari:.3f} | {jaccard:.2f} | "
                f"{n_found} of {draws}"
            )
            report(rows[-1])
    print_table(["donors", "setting", "clusters", "ARI", "Jaccard index", "draws with .5"], rows)


def main(cells, draws, rare):
    if rare:
        print_rare(cells, draws)
        return
    results = [measured(cells, seed, name) for name in NAMES for seed in range(draws)]
    ways = ["its number of types", "resolution 1", "best resolution", "finest supported"]
    print_table(["set", "draw", *ways], [row for row, _ in results])
    print()
    columns = ["resolution", "clusters", "stability", "predictability", "supported", "ARI"]
    print_table(["set", *columns], [line for _, curve in results[::draws] for line in curve])


if __name__ == "__main__":
    run(main, __doc__, None, cells=3000, draws=1, rare=False)
