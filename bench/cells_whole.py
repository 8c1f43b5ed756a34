"""From a file of simulated cells to labels, joint graph, Leiden, UMAP and markers.

Usage: python bench/cells_whole.py simulate FILE [--cells N] [--narrow]
       python bench/cells_whole.py {counts,components,shell,backed,wnn} FILE [--rest]

The file has counts of 30 000 genes and 150 proteins, with --narrow of 2000 and 100 as those of
``bench/cells.py``, and the centred log-ratios (CLR) of the proteins.
``counts`` fits on the counts of genes and on CLR, ``components`` on 30 components of log counts
and on CLR; ``shell`` runs ``mvsc-fast cluster --annotate``; with ``backed`` the counts of genes
stay on disk; ``wnn`` finds the neighbours of scanpy and muon. Each step has its seconds, CPU
seconds, the peak memory of the process so far, and the adjusted Rand index (ARI) of its labels.
Leiden has the best of eight resolutions by the truth, and its time is that of one. With --rest,
UMAP, a picture and markers follow, which are the work of scanpy alone.
"""

import argparse
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import matplotlib
import mudata
import scanpy as sc
from cells import TYPES, centred_log_ratios, leiden, log_counts, simulate
from sklearn.metrics import adjusted_rand_score

import mvsc_fast

WIDE = {"genes": 30_000, "proteins": 150, "depth": 2500, "spread": 2.0, "contrast": 0.5}
VARIABLE, COMPONENTS = 2000, 30
USE = {"rna": "X", "prot": "X_clr"}


class Steps:
    """Prints a row of the table after each step."""

    def __init__(self):
        self.last = self._now()
        print("| step | s | CPU s | GiB | ARI |\n|---|---|---|---|---|", flush=True)

    def _now(self):
        own, other = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        cpu = sum(use.ru_utime + use.ru_stime for use in (own, other))
        return time.perf_counter(), cpu, max(own.ru_maxrss, other.ru_maxrss) / 2**20

    def done(self, name, score=None, runs=1):
        now = self._now()
        wall, cpu = ((b - a) / runs for a, b in zip(self.last[:2], now[:2], strict=True))
        text = "" if score is None else f"{score:.3f}"
        print(f"| {name} | {wall:.0f} | {cpu:.0f} | {now[2]:.1f} | {text} |", flush=True)
        self.last = self._now()


def fit(steps, data, use):
    """Labels and joint graph of views that are read from the data."""
    parts = {name: data[name].obsm[key] if key != "X" else data[name] for name, key in use.items()}
    model = mvsc_fast.ConsensusTLRR(TYPES, random_state=0).fit(parts)
    steps.done("`fit`", adjusted_rand_score(data.obs["type"], model.labels_))
    mvsc_fast.annotate(data, model, parts)
    steps.done("`annotate`")
    return data


def components(steps, data):
    rna = data["rna"]
    log_counts(rna)
    sc.pp.highly_variable_genes(rna, n_top_genes=VARIABLE)
    sc.pp.pca(rna, n_comps=COMPONENTS)
    steps.done("logs, variable genes, PCA (scanpy)")


def shell(steps, path):
    """The copy of the file that the command writes."""
    copy = path.with_name("clustered.h5mu")
    command = Path(sys.executable).with_name("mvsc-fast")
    options = ["--views", "prot=X_clr", "--clusters", str(TYPES), "--annotate", copy]
    subprocess.run([command, "cluster", path, *options], check=True, stdout=subprocess.DEVNULL)
    data = mudata.read_h5mu(copy)
    steps.done(
        "`mvsc-fast cluster --annotate`", adjusted_rand_score(data.obs["type"], data.obs["mvsc"])
    )
    return data


def wnn(steps, data):
    import muon

    components(steps, data)
    for name, key in {"rna": "X_pca", "prot": "X_clr"}.items():
        sc.pp.neighbors(data[name], use_rep=key)
    steps.done("neighbours (scanpy)")
    muon.pp.neighbors(data, key_added="mvsc")
    steps.done("WNN (muon)")


def rest(steps, data, picture):
    """What follows on the joint graph, by scanpy."""
    matplotlib.use("Agg")
    sc.tl.umap(data, neighbors_key="mvsc")
    steps.done("UMAP")
    sc.pl.umap(data, color="mvsc", show=False).figure.savefig(picture, bbox_inches="tight")
    data.push_obs(["mvsc"])
    log_counts(data["rna"])
    sc.tl.rank_genes_groups(data["rna"], "mvsc")
    steps.done("picture, logs, markers")


def main(way, path, also):
    warnings.simplefilter("ignore")
    steps = Steps()
    if way == "shell":
        data = shell(steps, path)
    else:
        data = mudata.read_h5mu(path, backed="r" if way == "backed" else None)
        steps.done("read")
        if way == "wnn":
            wnn(steps, data)
        else:
            if way == "components":
                components(steps, data)
            fit(steps, data, USE | ({"rna": "X_pca"} if way == "components" else {}))
    y, graph = data.obs["type"], data.obsp["mvsc_connectivities"]
    scores = leiden(graph, y)
    r = max(scores, key=scores.get)
    steps.done(f"Leiden, resolution {r:g}", scores[r], len(scores))
    if also:
        rest(steps, data, path.with_suffix(".png"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ways = ["simulate", "counts", "components", "shell", "backed", "wnn"]
    parser.add_argument("way", choices=ways)
    parser.add_argument("file", type=Path)
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--narrow", action="store_true")
    parser.add_argument("--rest", action="store_true")
    arguments = parser.parse_args()
    if arguments.way == "simulate":
        data = simulate(arguments.cells, **({} if arguments.narrow else WIDE))
        data["prot"].obsm["X_clr"] = centred_log_ratios(data["prot"].X)
        data.write(arguments.file)
    else:
        main(arguments.way, arguments.file, arguments.rest)
