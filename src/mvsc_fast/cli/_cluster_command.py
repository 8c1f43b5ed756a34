"""``mvsc-fast cluster``: from files to labels and a report."""

import csv
import shlex
import sys
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.metrics.cluster import contingency_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._utils.figures import check_picture, new_figure
from .._utils.messages import counted
from .._utils.validation import available_memory
from ..explanation import plot_similarity
from ..explanation._explain import explain
from ..judge._structure import structure_test
from ..methods import ESTIMATORS
from ..metrics import clustering_scores
from ..preprocessing import PerView
from ._cells import CELLS, cells_kind, check_source, column_of, write_annotated
from ._labels import load_labels
from ._outputs import check_outputs, check_printable, replaced
from ._readers import STDIN, load_data, naming, shown_name
from ._saved import keep_containers, save_model, skops_of, values_of

# Options that set a parameter of some methods.
OPTIONS = {
    "affinity": "affinity",
    "memory_limit": "memory_limit",
    "max_samples": "max_samples",
    "resolution": "resolution",
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
    data = load_data(
        args.files,
        id_column=args.id_column,
        columns=args.columns,
        join=args.join,
        transpose=args.transpose,
        samples=args.samples,
        header=args.header,
        decimal=args.decimal,
        thousands=args.thousands,
        use=args.use,
        arrays=args.views,
        truth=args.truth,
        lazy=_lazy(args),
        square=precomputed,
    )
    for note in data.notes:
        note_user(note)
    views = data.views
    n_samples = next(iter(views.values())).shape[0]
    truth = _truth(args.scores, data, n_samples)
    if args.labels is None:
        check_printable([data.id_name, *(() if data.ids is None else data.ids)])
    elif truth is not None:
        check_printable(map(str, truth[0]))
    scale = None
    if args.scale == "standard":
        scale, views = _scaled(views)
    if precomputed:
        views = {
            name: X if scipy.sparse.issparse(X) else np.asarray(X) for name, X in views.items()
        }
    counts = _suggested(views, args) if args.clusters == "auto" else None
    n_clusters = args.clusters if counts is None else counts.n_clusters
    structure = _tested(views, n_clusters, args) if args.evidence else None
    model = ESTIMATORS[args.method](n_clusters, **parameters).fit(views)
    labels = model.labels_
    model.run_ = _record(args, data)
    explained = None
    if args.explain or args.report:
        whole = model if scale is None else make_pipeline(scale, model)  # for profiles in units
        explained = explain(whole, data.views, ids=data.ids, counts=counts, structure=structure)
    with replaced(args.labels) as stream:
        columns = {"cluster": labels, **_certainty(explained)}
        write_labels(stream, columns, data.ids, data.id_name)
    if args.save:
        _save(args, data, model, scale)
    if args.annotate:
        copied = args.annotate, args.files[0], data.cells
        naming(args.annotate, write_annotated, *copied, model, views)
    # Labels on the standard output must stay machine-readable.
    out = sys.stdout if args.labels else sys.stderr
    if args.explain:
        print(explained, file=out)
    if args.report:
        with replaced(args.report) as stream:
            explained.write_report(stream.name, notes=[*data.notes, *args.warned])
    if truth is not None:
        known, found = _labelled(*truth, labels)
        print(score_table({args.method: clustering_scores(known, found)}), file=out)
        print(cross_table(known, found), file=out)
    print(end="", file=out, flush=True)  # an error of this comes before the summary
    note_user(summary(data.views, labels))


# ------------------------------------------------------------------------------- before the work


def _method_parameters(args):
    """Parameters of the method from options; raise ValueError if it does not have one of them."""
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
    if args.save and not hasattr(ESTIMATORS[args.method], "predict"):
        raise ValueError(f"--save: {args.method} cannot predict, only consensus-tlrr can")
    if precomputed:
        for given, name in (
            (args.scale == "standard", "--scale needs"),
            (args.clusters == "auto", "--clusters auto needs"),
            (args.evidence, "--evidence needs"),
            (args.memory_limit, "--memory-limit needs"),
            (cells_kind(args.files[0]), f"{args.files[0]} contains"),
        ):
            if given:
                raise ValueError(
                    f"{name} features, but --affinity precomputed expects similarities"
                )
    if args.clusters is not None and args.resolution is not None:
        raise ValueError("--clusters and --resolution are both given: a resolution needs no number")
    if args.evidence and args.clusters is None:
        raise ValueError("--evidence needs --clusters, a number to test, in place of --resolution")
    if args.files.count(STDIN) > 1:
        raise ValueError(f"{STDIN} is the standard input, which can be read only once")


def _check_outputs(args):
    """Create the folders of the output; raise an error before any work if it is not writable."""
    outputs = [args.labels, *filter(None, (args.report, args.save, args.annotate))]
    inputs = [name for name in (*args.files, args.scores) if name != STDIN]
    check_outputs(outputs, [name for name in inputs if isinstance(name, str)])
    if args.save is not None:
        skops_of(args.save)
    if args.annotate is not None:
        suffixes = {Path(name).suffix.lower() for name in (args.files[0], args.annotate)}
        if len(args.files) > 1 or len(suffixes) > 1 or not suffixes <= set(CELLS):
            raise ValueError(
                f"--annotate copies one .h5ad or .h5mu file with its results, and cannot write "
                f"{args.annotate} from {shown_name(' '.join(args.files))}"
            )
        check_source(args.files[0])
    if args.report is not None:
        check_picture("report.svg")


# -------------------------------------------------------------------------------------- the work


def note_user(note):
    print(f"mvsc-fast: {note}", file=sys.stderr)


def _truth(scores, data, n_samples):
    """Known labels, and the samples that have one; None without --scores."""
    if not scores:
        return None
    if isinstance(scores, str):
        y, rows = _known(scores, data, n_samples)
        if len(rows) < n_samples:
            note_user(f"--scores: {len(rows)} of {n_samples} samples have a label in {scores}")
        return y, rows
    if data.y is None and data.cells is not None:
        raise ValueError("--scores: name a column of obs, such as --scores cell_type, or a table")
    if data.y is None:
        raise ValueError(
            "--scores: the file contains no labels, or several that differ: name its variable with "
            "--truth NAME, or a table with --scores FILE"
        )
    if len(data.y) != n_samples:
        raise ValueError(
            f"--scores: {counted(len(data.y), 'label')} for {counted(n_samples, 'sample')}"
        )
    return data.y, np.arange(n_samples)


def _known(name, data, n_samples):
    """Labels from a column of ``obs`` or else a table, and the samples that have one."""
    column = None if data.cells is None or Path(name).exists() else column_of(data.cells, name)
    if column is None:
        labels, rows, note = load_labels(name, data.ids, n_samples, data.id_name)
        if note:
            note_user(note)
        return labels, rows
    column = column.reindex(data.ids)
    present = column.notna().to_numpy()
    return column.to_numpy(dtype=object)[present], np.flatnonzero(present)


def _lazy(args):
    """Whether to leave arrays on disk, because a limit is given or memory is too small."""
    if args.memory_limit is not None:
        return True
    sizes = [Path(name).stat().st_size for name in args.files if Path(name).is_file()]
    return 2 * sum(sizes) > available_memory()


def _scaled(views):
    """A fitted transformer to mean 0 and standard deviation 1, and the scaled views."""
    for name, X in views.items():
        if scipy.sparse.issparse(X) or hasattr(X, "obs_names"):
            raise ValueError(
                f"--scale standard: {name} is sparse or on disk, and would become dense in memory"
            )
    scale = PerView(StandardScaler()).fit(views)
    keep_containers(scale, views)
    return scale, scale.transform(views)


def _save(args, data, model, scale):
    """Save the model and the information that `mvsc-fast predict` needs to read new samples."""
    save_model(
        args.save,
        {
            "model": model if scale is None else make_pipeline(scale, model),
            "views": list(data.views),
            "columns": data.columns,
            "n_features": [X.shape[1] for X in data.views.values()],
            "id_name": data.id_name,
            "one_table": data.one_table,
            "use": args.use,
            "values": values_of(data.views),
        },
    )
    note_user(
        f"{args.save} contains rows of the data: see 'What a saved model holds' in the "
        "documentation"
    )


def _suggested(views, args):
    """Suggest numbers of clusters and report them."""
    from ..judge._n_clusters import suggest_n_clusters

    counts = suggest_n_clusters(views, random_state=args.seed, n_threads=args.threads)
    for line in str(counts).splitlines():
        note_user(line)
    return counts


def _tested(views, n_clusters, args):
    """Test the views for structure and report the result."""
    found = structure_test(
        views, n_clusters, each_view=len(views) > 1, random_state=args.seed, n_jobs=args.threads
    )
    for line in str(found).splitlines():
        note_user(line.strip())
    return found


def _record(args, data):
    """The steps before the fit, by title."""
    sizes = (f"{name} ({X.shape[0]} x {X.shape[1]})" for name, X in data.views.items())
    command = shown_name(shlex.join(["mvsc-fast", *map(str, args.argv)]))
    record = {"command": command, "views": ", ".join(sizes)}
    if args.scale == "standard":
        record["processing"] = "columns were scaled to mean 0 and standard deviation 1"
    return record


# ------------------------------------------------------------------------------------- the results


def write_labels(stream, columns, ids=None, id_name="sample"):
    """Write a header and a line for each sample: its id or its index, and its values."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([id_name, *columns])
    columns = [values.tolist() for values in columns.values()]
    names = range(len(columns[0])) if ids is None else ids
    writer.writerows(zip(names, *columns, strict=True))


def _certainty(explained):
    """Certainty and second cluster of each sample if they are explained; empty if unknown."""
    if explained is None or "certainty" not in explained.samples:
        return {}
    values = explained.samples["certainty"]
    texts = ["" if np.isnan(value) else f"{value:.3f}" for value in values.tolist()]
    return {"certainty": np.array(texts, dtype=object), "second": explained.samples["second"]}


def _labelled(known, rows, labels):
    """Known labels and found labels of the samples that have both."""
    there = labels[rows] >= 0
    return known[there], labels[rows][there]


def cross_table(known, labels):
    """The contingency table of clusters and known labels of the same samples, as text."""
    names, known = np.unique(
        known.astype(str) if known.dtype == object else known, return_inverse=True
    )
    names = [f"{name:g}" if isinstance(name, float) else str(name) for name in names.tolist()]
    table = zip(np.unique(labels), *contingency_matrix(labels, known).T, strict=True)
    width = max(8, *map(len, names))
    lines = [" ".join(str(cell).rjust(width) for cell in row) for row in [("", *names), *table]]
    title = f"{counted(len(labels), 'sample')} by cluster (rows) and known label (columns):"
    return "\n".join([title, *lines])


def summary(views, labels):
    """Summarise the numbers of samples and features and the clusters in one line."""
    widths = [X.shape[1] for X in views.values()]
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1].tolist()
    others = f"; {np.sum(labels < 0)} without a label" if (labels < 0).any() else ""
    features = " + ".join(map(str, widths[:8])) + (" + ..." if len(widths) > 8 else "")
    parts = ", ".join(map(str, sizes[:20])) + (", ..." if len(sizes) > 20 else "")
    return (
        f"{counted(len(labels), 'sample')}, {features} features in "
        f"{counted(len(widths), 'view')}, {counted(len(sizes), 'cluster')} of {parts} samples"
        f"{others}"
    )


def pair(before, after, labels, titles, groups="found"):
    """Two affinity matrices side by side."""
    both = new_figure(11, 5.2, columns=2)
    for ax, S, title in zip(both, (before, after), titles, strict=True):
        plot_similarity(S, labels, ax=ax, title=title, groups=groups)
    return both[0].figure


def score_table(rows):
    """Format scores by row and name as lines of text."""
    names = next(iter(rows.values()))
    width, widths = max(map(len, rows)), [max(len(name) + 2, 7) for name in names]
    lines = [" " * width + "".join(map(str.rjust, names, widths))]
    for row, scores in rows.items():
        cells = (f"{value:.3f}" for value in scores.values())
        lines.append(f"{row:<{width}}" + "".join(map(str.rjust, cells, widths)))
    return "\n".join(lines)
