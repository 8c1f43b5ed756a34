"""``mvsc-fast cluster``: from files to labels, a plot and a report."""

import csv
import shlex
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.preprocessing import StandardScaler
from sklearn.utils import gen_batches

from .._utils.validation import available_memory
from ..explanation import explain, write_report
from ..explanation._panels import similarities
from ..explanation._plots import check_picture, new_figure, plot_similarity
from ..methods import ESTIMATORS
from ..metrics import clustering_scores
from ..views._row_source import stored_rows
from ._outputs import check_outputs, replaced
from ._readers import STDIN, load_data, load_labels, shown_name
from ._scaled_rows import ScaledRows

BLOCK = 65536  # labels written at once
COUNTED = 1000  # samples that the number of clusters is suggested from
NO_AFFINITY = "awp"
# Options that set a parameter of some methods.
OPTIONS = {
    "neighbors": "n_neighbors",
    "affinity": "affinity",
    "memory_limit": "memory_limit",
    "max_samples": "max_samples",
}


def run(args):
    """Cluster the files of ``args`` and write the requested output."""
    parameters = {
        "random_state": args.seed,
        "n_threads": args.threads,
        "verbose": int(sys.stderr.isatty()),
        **_method_parameters(args),
    }
    precomputed = args.affinity == "precomputed"
    _check_combinations(args, precomputed)
    _check_outputs(args)
    with _collected() as said:
        data = load_data(args.files, id_column=args.id_column or "auto", columns=args.columns,
                         join=args.join, transpose=args.transpose, lazy=_lazy(args))  # fmt: skip
        for note in data.notes:
            _tell(note)
        views = data.views
        n_samples = next(iter(views.values())).shape[0]
        truth = _truth(args.scores, data, n_samples)
        if args.scale == "standard":
            views = {name: _scaled(name, X) for name, X in views.items()}
        if precomputed:
            views = [X if scipy.sparse.issparse(X) else np.asarray(X) for X in views.values()]
        counts = _suggested(views, args) if args.clusters == "auto" else None
        n_clusters = args.clusters if counts is None else counts.n_clusters
        model = ESTIMATORS[args.method](n_clusters, **parameters).fit(views)
    labels = model.labels_
    model.run_ = _record(args, data)
    if args.labels:
        with replaced(args.labels) as stream:
            write_labels(stream, labels, data.ids, data.id_name)
    else:
        write_labels(sys.stdout, labels, data.ids, data.id_name)
    # Labels on the standard output must stay machine-readable.
    out = sys.stdout if args.labels else sys.stderr
    if args.explain or args.report:
        explained = explain(model, views, ids=data.ids, counts=counts)
    if args.explain:
        print(explained, file=out)
    if args.plot:
        with replaced(args.plot, "wb") as stream:
            form = Path(args.plot).suffix.lower().lstrip(".")
            picture(model).savefig(stream, dpi=120, format=form)
    if args.report:
        with replaced(args.report) as stream:
            write_report(stream.name, model, views, explanation=explained,
                         notes=[*data.notes, *said])  # fmt: skip
    if truth is not None:
        y, rows = truth
        print(score_table({args.method: clustering_scores(y, labels[rows])}), file=out)
    _tell(summary(data.views, labels))


# ------------------------------------------------------------------------------- before the work


def _method_parameters(args):
    """Parameters of the method from options; ValueError if the method does not have one."""
    parameters = {}
    for option, name in OPTIONS.items():
        value = getattr(args, option)
        if value is None:
            continue
        having = [key for key, one in ESTIMATORS.items() if name in one().get_params(deep=False)]
        if args.method not in having:
            raise ValueError(
                f"--{option.replace('_', '-')} would be ignored: it is a parameter of --method "
                f"{' or '.join(having) or 'none'}, not of {args.method}"
            )
        parameters[name] = value
    return parameters


def _check_combinations(args, precomputed):
    """Raise ValueError if an option would be ignored, or two are incompatible."""
    if args.plot and args.method == NO_AFFINITY:
        raise ValueError(f"--plot: {NO_AFFINITY} learns no affinity matrix to plot")
    if precomputed:
        for given, name in ((args.scale == "standard", "--scale"),
                            (args.clusters == "auto", "--clusters auto"),
                            (args.memory_limit, "--memory-limit")):  # fmt: skip
            if given:
                raise ValueError(
                    f"{name} is for features, --affinity precomputed takes similarities"
                )
    if args.files.count(STDIN) > 1:
        raise ValueError(f"{STDIN} is the standard input, which can be read once")


def _check_outputs(args):
    """Create the folders of the output; raises an error before any work if it is not writable."""
    names = [name for name in (args.labels, args.plot, args.report) if name is not None]
    inputs = [name for name in args.files if name != STDIN]
    check_outputs(names, [*inputs, args.scores] if _is_file(args.scores) else inputs)
    if args.labels is None and sys.stdout is None:
        raise ValueError("the standard output is closed: name a file by --labels")
    if args.plot is not None:
        check_picture(args.plot)
    if args.report is not None:
        check_picture("report.svg")


def _is_file(scores):
    """Whether --scores names a file."""
    return isinstance(scores, str)


# -------------------------------------------------------------------------------------- the work


@contextmanager
def _collected():
    """Texts of the warnings, each shown once."""
    said = []
    with warnings.catch_warnings():
        show = warnings.showwarning

        def collect(message, *rest):
            if str(message) not in said:
                said.append(str(message))
                show(message, *rest)

        warnings.showwarning = collect
        yield said


def _tell(note):
    print(f"mvsc-fast: {note}", file=sys.stderr)


def _truth(scores, data, n_samples):
    """Known labels, and the samples that have one; None without --scores."""
    if not scores:
        return None
    if _is_file(scores):
        y, rows = load_labels(scores, data.ids, n_samples)
        if len(rows) < n_samples:
            _tell(f"--scores: {len(rows)} of {n_samples} samples have a label in {scores}")
        if len(set(rows.tolist())) < len(rows) or len(rows) == 0:
            raise ValueError(f"--scores: {scores} does not have one label for each id")
        return y, rows
    if data.y is None:
        raise ValueError(
            "--scores: the file holds no labels: --scores FILE takes them from a table"
        )
    if len(data.y) != n_samples:
        raise ValueError(f"--scores: {len(data.y)} labels for {n_samples} samples")
    return data.y, np.arange(n_samples)


def _lazy(args):
    """Whether to leave arrays on disk, because a limit is given or memory is too small."""
    if args.memory_limit is not None:
        return True
    sizes = [Path(name).stat().st_size for name in args.files if Path(name).is_file()]
    return 2 * sum(sizes) > available_memory()


def _scaled(name, X):
    """Scale the columns of a view to mean 0 and standard deviation 1."""
    if scipy.sparse.issparse(X):
        raise ValueError(f"--scale standard: {name} is sparse, and would become dense")
    if stored_rows(X) is not None:
        return ScaledRows(X)
    scaled = StandardScaler().fit_transform(np.asarray(X))
    return X.__class__(scaled, index=X.index, columns=X.columns) if hasattr(X, "iloc") else scaled


def _suggested(views, args):
    """Suggest numbers of clusters and report them."""
    from ..judge._n_clusters import suggest_n_clusters

    source = stored_rows(views)
    if source is not None and source.n_samples > COUNTED:
        rng = np.random.RandomState(args.seed)
        rows = np.sort(rng.choice(source.n_samples, COUNTED, replace=False))
        views = dict(zip(views, source.take(rows), strict=True))
    counts = suggest_n_clusters(views, random_state=args.seed, n_threads=args.threads)
    others = ", ".join(map(str, counts.candidates[1:])) or "none"
    _tell(
        f"--clusters auto: {counts.n_clusters} clusters are suggested with {counts.confidence} "
        f"confidence; others that stand out: {others}"
    )
    return counts


def _record(args, data):
    """What was done before the fit, by title."""
    sizes = (f"{name} ({X.shape[0]} x {X.shape[1]})" for name, X in data.views.items())
    command = shown_name(shlex.join(["mvsc-fast", *map(str, args.argv)]))
    record = {"command": command, "files": ", ".join(sizes)}
    if args.scale == "standard":
        record["processing"] = "columns were scaled to mean 0 and standard deviation 1"
    return record


# ------------------------------------------------------------------------------------- the results


def write_labels(stream, labels, ids=None, id_name="sample"):
    """Write a header and a line for each sample: its id, or its number from 0, and its cluster."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([id_name, "cluster"])
    for rows in gen_batches(len(labels), BLOCK):
        names = range(rows.start, rows.stop) if ids is None else ids[rows].tolist()
        writer.writerows(zip(names, labels[rows].tolist(), strict=True))


def summary(views, labels):
    """Summarise the numbers of samples and features and the clusters in one line."""
    widths = [X.shape[1] for X in views.values()]
    sizes = np.unique(labels, return_counts=True)[1].tolist()
    features = " + ".join(map(str, widths[:8])) + (" + ..." if len(widths) > 8 else "")
    told = ", ".join(map(str, sizes[:20])) + (", ..." if len(sizes) > 20 else "")
    return (
        f"{len(labels)} samples, {features} features in {len(widths)} "
        f"{'view' if len(widths) == 1 else 'views'}, {len(sizes)} clusters of {told} samples"
    )


def picture(model):
    """Figure of the affinity matrices before and after recovery."""
    (before, after), labels, titles = similarities(model)
    return pair(before, after, labels, titles)


def pair(before, after, labels, titles, groups="found"):
    """Two affinity matrices side by side."""
    both = new_figure(11, 5.2, columns=2)
    for ax, S, title in zip(both, (before, after), titles, strict=True):
        plot_similarity(S, labels, ax=ax, title=title, groups=groups)
    return both[0].figure


def score_table(rows):
    """Scores by row and name, as lines of text."""
    names = next(iter(rows.values()))
    width = max(map(len, rows))
    lines = [" " * width + "".join(f"{name:>11}" for name in names)]
    lines += [
        f"{row:<{width}}" + "".join(f"{value:11.3f}" for value in scores.values())
        for row, scores in rows.items()
    ]
    return "\n".join(lines)
