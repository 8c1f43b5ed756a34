"""Clusters of single cells by their number, and by resolutions, some of which are supported.

Usage: python bench/cells_resolution.py [--cells N] [--draws R]

Three simulated sets of ``bench/cells_recipes.py``, 30 components of genes and CLR of proteins.
Adjusted Rand index (ARI) of `ConsensusTLRR` with the true number of clusters, with resolution 1,
with the best of nine resolutions by the truth, and with the finest resolution that
`suggest_resolution` supports; number of clusters, or resolution, in parentheses. Then the curve of
each set, first draw.
"""

import argparse
import sys
import warnings

import numpy as np
from cells import centred_log_ratios, simulate
from cells_recipes import SETS, TOP, logs_of
from sklearn.metrics import adjusted_rand_score
from timing import print_table

from mvsc_fast import ConsensusTLRR, suggest_resolution

NAMES = ("12 types", "6 types", "weak genes")


def measured(cells, seed, name):
    """A row of the first table, and those of the curve."""
    data = simulate(cells, seed, **SETS[name])
    y = data.obs["type"].to_numpy()
    c = len(np.unique(y))
    views = [logs_of(data["rna"].X, TOP), centred_log_ratios(data["prot"].X)]
    found = suggest_resolution(views, random_state=0)
    given = [(c, None), *((None, r) for r in found.resolutions)]
    labeller, *scores = (
        adjusted_rand_score(y, ConsensusTLRR(c, resolution=r, random_state=0).fit_predict(views))
        for c, r in given
    )
    pairs = zip(scores, found.n_clusters.tolist(), strict=True)
    at = dict(zip(found.resolutions.tolist(), pairs, strict=True))
    best = max(at, key=at.get)
    finest = max(found.supported, default=None)
    one = f"{at[1.0][0]:.3f} ({at[1.0][1]})"
    last = "none" if finest is None else f"{at[finest][0]:.3f} ({finest:g})"
    row = [name, seed, f"{labeller:.3f} ({c})", one, f"{at[best][0]:.3f} ({best:g})", last]
    evidence = np.transpose([found.stability, found.predictability, scores])
    curve = []
    for (r, (_, k)), (stability, J, ari) in zip(at.items(), evidence, strict=True):
        supported = "yes" if r in found.supported else ""
        curve.append([name, f"{r:g}", k, f"{stability:.3f}", f"{J:.3f}", supported, f"{ari:.3f}"])
    print(*row, found.supported, file=sys.stderr, flush=True)
    return row, curve


def main(cells, draws):
    found = [measured(cells, seed, name) for name in NAMES for seed in range(draws)]
    ways = ["its number of types", "resolution 1", "best resolution", "finest supported"]
    print_table(["set", "draw", *ways], [row for row, _ in found])
    print()
    columns = ["resolution", "clusters", "stability", "predictability", "supported", "ARI"]
    print_table(["set", *columns], [line for _, curve in found[::draws] for line in curve])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=3000)
    parser.add_argument("--draws", type=int, default=1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    main(arguments.cells, arguments.draws)
