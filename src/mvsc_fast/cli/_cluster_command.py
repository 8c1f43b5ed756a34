"""``mvsc-fast cluster``: from files to labels and a report."""

import shlex
import sys
from pathlib import Path

import numpy as np

from .. import __version__
from .._utils.figures import check_picture
from .._utils.messages import warn_user
from .._utils.validation import available_memory
from ..datasets._arrays import SUFFIXES, is_symmetric
from ..explanation._explain import explain
from ..judge._n_clusters import suggest_n_clusters
from ..judge._structure import structure_test
from ..methods import ESTIMATORS
from ..metrics import clustering_scores
from ._cells import column_of, parse_use, write_annotated
from ._files import CELLS, cells_kind, errors_of, shown_name
from ._matching import load_labels
from ._options import add_cluster_options, read_files
from ._outputs import (
    STDOUT,
    certainty_columns,
    check_printable,
    cross_table,
    note_user,
    prepare_outputs,
    replaced,
    score_table,
    summary,
    write_labels,
)
from ._saved import check_suffix, is_native, save_model
from ._tables import EXCEL, PACKED, PARQUET, TEXT

EXAMPLES = """\
examples:
  mvsc-fast cluster pixels.csv shapes.csv --clusters 10 --labels out/labels.csv
      a table for each view; rows are matched by the ids in the first column
  mvsc-fast cluster all.xlsx --columns 'blood_*' --columns age,bmi --clusters 3
      two views from the columns of one table
  mvsc-fast cluster a.csv --columns 'f=n_*' --columns who=age,sex --clusters 6
      two views of numbers, categories or texts, which are encoded
  mvsc-fast cluster a.csv b.csv --clusters auto --scale standard --report r.html
      suggest the number of clusters, standardise columns, and write a report
  mvsc-fast cluster rna.tsv dna.tsv --transpose --clusters 4 --scores known.csv
      tables with samples as columns; compare with known labels by id
  mvsc-fast cluster rna.csv dna.csv --clusters 4 --save model.pkl > labels.csv
      save the model, to label new samples with mvsc-fast predict
  mvsc-fast cluster cells.h5mu --views rna=X_pca --clusters 12 --annotate a.h5mu
      modalities of single cells, and a copy of the file with the results
"""
REPORTS = ("", ".txt", ".md", ".log")  # besides pages
PARAMETERS = ("affinity", "resolution")  # of some methods


def add_parser(commands):
    """Add the command to the parser of all commands."""
    parser = commands.add_parser(
        "cluster",
        help="cluster the samples of multi-view files",
        usage="%(prog)s FILE [FILE ...] --clusters K [OPTION ...]",
        description="Cluster the samples of multi-view files, one row for each sample. The "
        "labels\nhave a header and the ids of the samples, or their indices.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=run, parser=parser)
    add_cluster_options(parser)


def run(args):
    """Cluster the files of ``args`` and write the requested output."""
    # Whatever can be checked is checked before the fit.
    args.resolution = None
    if isinstance(args.clusters, float):  # communities, whose number is not given
        args.clusters, args.resolution = None, args.clusters
    parameters = {
        "random_state": args.seed,
        "verbose": int(sys.stderr.isatty()),
        "scale": args.scale,
        **_method_parameters(args),
    }
    precomputed = args.affinity == "precomputed"
    _check_combinations(args, precomputed)
    _prepare_outputs(args)
    truth = args.scores if _is_variable(args.scores, args.files[0]) else None
    # Arrays remain on disk if memory is too small.
    sizes = [Path(name).stat().st_size for name in args.files if Path(name).is_file()]
    is_lazy = 2 * sum(sizes) > available_memory()
    data = read_files(args, args.files, truth=truth, lazy=is_lazy, square=precomputed)
    if data.encoder is not None and args.save and is_native(args.save):
        raise ValueError(
            f"--save {args.save}: such files have no place for the encoder of NAME=COLUMNS; use "
            "the suffix .pkl"
        )
    views = data.views
    n_samples = next(iter(views.values())).shape[0]
    truth = _known_labels(True if truth else args.scores, data, n_samples)
    if not precomputed:
        _warn_of_similarities(views)
    if args.labels is not None and truth is not None:
        check_printable(map(str, truth[0]))

    # The number of clusters is suggested, and the model is fitted.
    n_clusters, counts, structure = args.clusters, None, None
    options = {"scale": args.scale, "random_state": args.seed}
    if n_clusters == "auto":
        counts = suggest_n_clusters(views, **options)
        note_user(counts)
        n_clusters = counts.n_clusters
    if args.evidence:
        structure = structure_test(views, n_clusters, each_view=len(views) > 1, **options)
        note_user(structure)
    model = ESTIMATORS[args.method](n_clusters, **parameters).fit(views)
    labels = model.labels_
    model.run_ = _record(args, data, model)
    explained = None
    if args.certainty or args.report:
        explained = explain(model, views, ids=data.ids, counts=counts, structure=structure)

    # The labels come first, whatever happens to other outputs.
    columns = {"cluster": labels}
    if args.certainty:
        columns |= certainty_columns(explained)
    with replaced(args.labels) as stream:
        write_labels(stream, columns, data.ids, data.id_name)
    if args.save:
        _save(args, data, model)
    if args.annotate:
        with errors_of(args.annotate):
            write_annotated(args.annotate, args.files[0], data.cells, model, views)
    # Labels on the standard output must stay machine-readable.
    out = sys.stdout if args.labels else sys.stderr
    if args.report == STDOUT:
        print(explained, file=out)
    elif args.report:
        notes = [*data.notes, *args.warned]
        with replaced(args.report) as stream:
            if is_page(args.report):
                explained.write_report(stream.name, notes=notes)
            else:
                print(explained, file=stream)
    if truth is not None:
        has_label = labels[truth[1]] >= 0
        true_labels, clusters = truth[0][has_label], labels[truth[1]][has_label]
        print(score_table({args.method: clustering_scores(true_labels, clusters)}), file=out)
        print(cross_table(true_labels, clusters), file=out)
    print(end="", file=out, flush=True)  # an error of this comes before the summary
    note_user(summary(data.views, labels))


# ------------------------------------------------------------------------------- before the work


def _method_parameters(args):
    """Parameters of the method from options; raise ValueError if it does not have one of them."""
    parameters = {name: getattr(args, name) for name in PARAMETERS}
    parameters = {name: value for name, value in parameters.items() if value is not None}
    for name in parameters:
        methods = [key for key, method in ESTIMATORS.items() if name in method().get_params(False)]
        if args.method not in methods:
            option = "--precomputed" if name == "affinity" else "--clusters resolution=R"
            raise ValueError(
                f"{option} would be ignored: it is for --method {', '.join(methods)}, not for "
                f"{args.method}"
            )
    return parameters


def _check_combinations(args, precomputed):
    """Raise ValueError if an option would be ignored, or two are incompatible."""
    if args.save and not hasattr(ESTIMATORS[args.method], "predict"):
        raise ValueError(f"--save: {args.method} cannot predict, only consensus-tlrr can")
    if precomputed:
        for is_given, subject in (
            (args.scale, "--scale needs"),
            (args.clusters == "auto", "--clusters auto needs"),
            (args.evidence, "--evidence needs"),
            (cells_kind(args.files[0]), f"{args.files[0]} contains"),
        ):
            if is_given:
                raise ValueError(f"{subject} features, but --precomputed expects similarities")
    if args.evidence and args.clusters is None:
        raise ValueError("--evidence needs a number of --clusters to test, not a resolution")


def _prepare_outputs(args):
    """Create the folders of the output; raise an error before any work if it is not writable."""
    outputs = [name for name in (args.report, args.save, args.annotate) if name]
    outputs = [args.labels, *(name for name in outputs if name != STDOUT)]
    inputs = [name for name in (*args.files, args.scores) if isinstance(name, str)]
    prepare_outputs(outputs, inputs)
    if args.save is not None:
        check_suffix(args.save)
    if args.annotate is not None:
        suffixes = {Path(name).suffix.lower() for name in (args.files[0], args.annotate)}
        if len(args.files) > 1 or len(suffixes) > 1 or not suffixes <= set(CELLS):
            raise ValueError(
                f"--annotate copies one .h5ad or .h5mu file with its results, and cannot write "
                f"{args.annotate} from {shown_name(', '.join(args.files))}"
            )
    if args.report and is_page(args.report):
        check_picture("report.svg")
    elif args.report and Path(args.report).suffix.lower() not in REPORTS:
        raise ValueError(f"--report {args.report}: a page has the suffix .html, a text .txt")


def is_page(name):
    """Whether a report is a page and no text."""
    return Path(name).suffix.lower() in (".html", ".htm")


def _is_variable(scores, file):
    """Whether known labels are a variable of a file of arrays, and not a table."""
    is_array = Path(file).suffix.lower() in SUFFIXES and not cells_kind(file)
    is_table = Path(str(scores)).suffix.lower() in (*TEXT, *EXCEL, *PARQUET, *PACKED)
    return isinstance(scores, str) and is_array and not is_table


# -------------------------------------------------------------------------------------- the work


def _warn_of_similarities(views):
    """Warn of symmetric matrices, which are hardly features."""
    for name, X in views.items():
        if X.shape[0] == X.shape[1] > 3 and is_symmetric(getattr(X, "values", X)):
            warn_user(
                f"{name!r} is symmetric and used as features; similarities need --precomputed"
            )


def _known_labels(scores, data, n_samples):
    """Known labels, and the samples that have one; None without --scores.

    ``scores`` is True for labels in the file of the views.
    """
    if not scores:
        return None
    if scores is True:
        if data.y is not None:
            return data.y, np.arange(n_samples)
        raise ValueError(
            "--scores: the file contains no labels, or several that differ: name its variable with "
            "--scores NAME, a column of obs, such as --scores cell_type, or a table"
        )
    # Names of tables come before those of columns of cells.
    column = None if data.cells is None else column_of(data.cells, scores)
    if Path(scores).exists():
        y, rows, note = load_labels(scores, data.ids, n_samples, data.id_name)
        if note:
            note_user(note)
    elif column is not None:
        column = column.reindex(data.ids)
        rows = np.flatnonzero(column.notna())
        y = column.to_numpy(dtype=object)[rows]
    else:
        raise ValueError(
            f"--scores {scores}: there is neither a file of labels nor a column of obs of this name"
        )
    if len(rows) < n_samples:
        note_user(f"--scores: {len(rows)} of {n_samples} samples have a label in {scores}")
    return y, rows


def _save(args, data, model):
    """Save the model and the information that `mvsc-fast predict` needs to read new samples."""
    save_model(
        args.save,
        {
            "model": model,
            "views": list(data.views),
            "columns": data.columns,
            "n_features": [X.shape[1] for X in data.views.values()],
            "id_name": data.id_name,
            "one_table": data.one_table,
            "version": __version__,
            "encoder": data.encoder,
            "use": None if args.views is None or data.cells is None else parse_use(args.views),
        },
    )
    note_user(
        f"{args.save} contains rows of the data: see 'What a saved model holds' in the "
        "documentation"
    )


def _record(args, data, model):
    """The steps before the fit, by title."""
    sizes = (f"{name} ({X.shape[0]} x {X.shape[1]})" for name, X in data.views.items())
    command = shown_name(shlex.join(["mvsc-fast", *map(str, args.argv)]))
    record = {"command": command, "views": ", ".join(sizes)}
    if args.scale:
        record["processing"] = "columns were scaled to mean 0 and standard deviation 1"
        if not all(means.any() for means, _ in model.scaling_):
            record["processing"] += ", those of sparse views to standard deviation 1 alone"
    return record
