"""Command line: ``mvsc-fast cluster``, ``mvsc-fast reproduce`` and ``mvsc-fast demo``."""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.preprocessing import normalize
from sklearn.utils import check_random_state

from . import __version__, datasets, graphs
from .methods import ESTIMATORS, TLRR, ConsensusTLRR
from .metrics import clustering_scores
from .plots import MAX_SAMPLES, check_picture, new_figure, plot_similarity
from .readers import load_views
from .spectral import fuse, spectral_labels
from .threads import show_config

__all__ = ["main"]


def main(argv=None):
    """Run the command line; returns the exit code (2 for bad input)."""
    parser = _parser()
    args = parser.parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: print(
                f"mvsc-fast: warning: {message}", file=sys.stderr
            )
            args.run(args)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        print(f"mvsc-fast: error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("mvsc-fast: interrupted", file=sys.stderr)
        return 130
    return 0


def _parser():
    parser = argparse.ArgumentParser(
        prog="mvsc-fast", description="Multi-view spectral clustering with low-rank tensors."
    )
    parser.add_argument("--version", action="version", version=f"mvsc-fast {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)

    cluster = commands.add_parser("cluster", help="cluster the samples of multi-view files")
    cluster.add_argument(
        "files", nargs="+", metavar="FILE",
        help="one .npz or .mat with all views, or one .csv or .npy for each view",
    )  # fmt: skip
    cluster.add_argument("--clusters", type=int, required=True, metavar="K")
    cluster.add_argument("--method", choices=sorted(ESTIMATORS), default="consensus-tlrr")
    cluster.add_argument(
        "--neighbors", metavar="N", help='similar samples each keeps (--method tlrr), or "auto"'
    )
    cluster.add_argument("--labels", metavar="CSV", help="write labels here, not to the output")
    cluster.add_argument("--plot", metavar="PNG", help="draw the affinity, sorted by cluster")
    cluster.add_argument(
        "--scores", action="store_true", help="compare with the labels in the file"
    )
    cluster.add_argument("--seed", type=int, default=0)
    cluster.add_argument("--threads", type=int, default=None)
    cluster.set_defaults(run=_cluster)

    demo = commands.add_parser("demo", help="cluster handwritten digits in six views")
    demo.add_argument("--per-class", type=int, default=100, help="samples of each digit, up to 200")
    demo.add_argument("--output", default="demo", metavar="DIR", help="where labels and picture go")
    demo.add_argument("--seed", type=int, default=0)
    demo.add_argument("--threads", type=int, default=None)
    demo.set_defaults(run=_demo)

    reproduce = commands.add_parser("reproduce", help="compute the paper's tables and pictures")
    reproduce.add_argument("data", metavar="DATA_FOLDER", help="with .npz files of the data sets")
    reproduce.add_argument("--output", default="reproduced", metavar="DIR",
                           help="where results and report go; finished cells are kept")  # fmt: skip
    for name, what in (("methods", "rows of the tables"), ("sets", "data sets"),
                       ("orders", "file, shuffled"), ("studies", "tables, ablation, initial, "
                       "sensitivity")):  # fmt: skip
        reproduce.add_argument(f"--{name}", nargs="+", help=f"{what}; all by default")
    reproduce.add_argument("--seeds", type=int, default=3, help="shuffles, and random starts")
    reproduce.add_argument("--repeats", type=int, default=20, help="runs of k-means on one fit")
    reproduce.add_argument("--jobs", type=int, help="cells at a time; all CPUs by default")
    reproduce.add_argument("--longest", type=float, default=20.0, metavar="MINUTES",
                           help="leave out cells that take longer")  # fmt: skip
    reproduce.add_argument("--dry-run", action="store_true", help="only say how long it takes")
    reproduce.set_defaults(run=_reproduce)

    config = commands.add_parser("config", help="show versions, BLAS, OpenMP and threads")
    config.set_defaults(run=lambda args: show_config())
    return parser


def _cluster(args):
    if args.plot and args.method == "awp":
        raise ValueError("--plot: awp learns no affinity that could be drawn")
    parameters = {
        "random_state": args.seed,
        "n_threads": args.threads,
        "verbose": int(sys.stderr.isatty()),
        **_neighbors(args),
    }
    _check_outputs(args)
    views, y = load_views(args.files)
    if args.scores and y is None:
        raise ValueError(f"--scores: {args.files[0]} holds no labels")
    model = ESTIMATORS[args.method](args.clusters, **parameters).fit(views)
    if args.scores and len(y) != len(model.labels_):
        raise ValueError(f"--scores: {len(y)} labels for {len(model.labels_)} samples")
    if args.labels:
        np.savetxt(args.labels, model.labels_, fmt="%d")
    else:
        np.savetxt(sys.stdout, model.labels_, fmt="%d")
    if args.plot:
        _picture(model).savefig(args.plot, dpi=120)
    if args.scores:
        # Labels on the standard output must stay machine-readable.
        out = sys.stdout if args.labels else sys.stderr
        print(_score_table({args.method: clustering_scores(y, model.labels_)}), file=out)


def _reproduce(args):
    from . import reproduce

    given = {key: value for key, value in vars(args).items()
             if key not in ("command", "run") and value is not None}  # fmt: skip
    records = reproduce.run(**given)
    failed = [record for record in records if "error" in record]
    if failed and not args.dry_run:
        raise ValueError(f"{len(failed)} cells failed, the first with {failed[0]['error']}")


def _check_outputs(args):
    """Make the folders of what will be written, and refuse what cannot be, before any work."""
    for name in (args.labels, args.plot):
        if name is not None:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            if Path(name).is_dir():
                raise ValueError(f"{name} is a folder: name a file to write")
    if args.plot is not None:
        check_picture(args.plot)


def _neighbors(args):
    """The parameter that --neighbors sets, if it is given."""
    given = args.neighbors
    if given is None:
        return {}
    if args.method != "tlrr":
        raise ValueError(f"--neighbors: {args.method} has no such parameter, --method tlrr has")
    if given != "auto" and not given.isdecimal():
        raise ValueError(f'--neighbors must be a number or "auto", got {given!r}')
    return {"n_neighbors": given if given == "auto" else int(given)}


def _picture(model):
    """What was cut, beside what it was made from."""
    labels = model.labels_[getattr(model, "samples_", slice(None))]
    if hasattr(model, "similarity_"):
        titles = ("similarity W", f"affinity after {type(model).__name__}")
        return _pair(fuse(model.similarity_), model.affinity_, labels, titles)
    found = np.stack([one.labels for one in model.candidates_])
    rows = np.argsort(labels, kind="stable")
    rows = rows[:: -(-len(rows) // MAX_SAMPLES)]
    agreement = sum(np.equal.outer(one, one).astype(np.float32) for one in found[:, rows])
    titles = ("similarities of the graphs", "share of labellings that join a pair")
    return _pair(model.affinity_[rows][:, rows], agreement / len(found), labels[rows], titles)


def _pair(before, after, labels, titles, groups="found"):
    """Two affinity matrices side by side."""
    both = new_figure(11, 5.2, columns=2)
    for ax, S, title in zip(both, (before, after), titles, strict=True):
        plot_similarity(S, labels, ax=ax, title=title, groups=groups)
    return both[0].figure


def _demo(args):
    start = time.perf_counter()
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    check_picture(folder / "similarity.png")
    views, y, samples = _balanced_handwritten(args.per_class, args.seed)
    print(
        f"UCI Multiple Features: {len(y)} handwritten digits in {len(views)} views, "
        "shuffled, 10 clusters",
        flush=True,
    )
    rows, models = {}, []
    for estimator in (ConsensusTLRR, TLRR):
        begin = time.perf_counter()
        model = estimator(10, random_state=args.seed, n_threads=args.threads).fit(views)
        models.append(model)
        name = estimator.__name__
        seconds = time.perf_counter() - begin
        print(f"{name}: {seconds:.1f} s", flush=True)
        rows[name] = clustering_scores(y, model.labels_)
    for name, labels in _baselines(views, 10, args.seed):
        rows[name] = clustering_scores(y, labels)
    print(_score_table(rows))
    consensus, tlrr = models
    print(
        f"ConsensusTLRR chose among {len(consensus.candidates_)} labellings without the digits; "
        f"TLRR chose {tlrr.n_neighbors_} neighbors and took {tlrr.n_iter_} solver iterations"
    )
    written = [folder / "labels.csv", folder / "similarity.png"]
    np.savetxt(written[0], np.column_stack([samples, consensus.labels_, y]), fmt="%d",
               delimiter=",", header="sample,cluster,digit", comments="")  # fmt: skip
    W, L = tlrr.similarity_, tlrr.tensor_
    titles = ("similarity W", "affinity after TLRR")
    figure = _pair(fuse(W), fuse(L), y[tlrr.samples_], titles, groups="true")
    figure.savefig(written[1], dpi=120)
    print(f"wrote {', '.join(map(str, written))} after {time.perf_counter() - start:.1f} s")


def _balanced_handwritten(per_class, seed):
    """The same number of every digit in random order: views, digits, numbers of the samples."""
    if not 3 <= per_class <= 200:
        raise ValueError(f"--per-class must be from 3 to 200, got {per_class}")
    views, y = datasets.load_handwritten()
    rng = check_random_state(seed)
    chosen = np.concatenate(
        [rng.choice(np.flatnonzero(y == c), per_class, replace=False) for c in np.unique(y)]
    )
    chosen = rng.permutation(chosen)
    return [X[chosen] for X in views], y[chosen], chosen


def _baselines(views, n_clusters, seed):
    """Spectral clustering of self-tuning nearest-neighbour graphs, samples of unit length."""

    def labels(affinity):
        return spectral_labels(affinity, n_clusters, random_state=seed)[0]

    views = [normalize(X) for X in views]
    W = graphs.knn(views)
    for i, A in enumerate(W):
        yield f"view {i} alone", labels(A)
    yield "averaged graph", labels(W.mean(axis=0))
    yield "concatenated", labels(graphs.knn([np.hstack(views)])[0])


def _score_table(rows):
    names = next(iter(rows.values()))
    width = max(map(len, rows))
    lines = [" " * width + "".join(f"{name:>11}" for name in names)]
    lines += [
        f"{row:<{width}}" + "".join(f"{value:11.3f}" for value in scores.values())
        for row, scores in rows.items()
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
