"""``mvsc-fast cluster``: from files to labels and a report."""

import argparse
import shlex
import sys
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline

from .._utils.figures import new_figure
from .._utils.messages import warn_user
from .._utils.validation import available_memory
from ..datasets._arrays import is_symmetric
from ..explanation._explain import explain
from ..judge._n_clusters import suggest_n_clusters
from ..judge._structure import structure_test
from ..methods import ESTIMATORS
from ..metrics import clustering_scores
from ._cells import CELLS, cells_kind, parse_use, write_annotated
from ._matching import load_labels
from ._outputs import (
    STDOUT,
    add_output,
    certainty_columns,
    cross_table,
    errors_of,
    note_user,
    prepare_outputs,
    print_escaped,
    replaced,
    score_table,
    shown_name,
    summary,
    write_labels,
)
from ._readers import SAMPLE_COLUMNS, add_input, read_files
from ._saved import Saved, check_suffix, is_native, save_model

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
PAGES, TEXTS = (".html", ".htm"), ("", ".txt", ".md", ".log")  # suffixes of reports


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
    parser.set_defaults(run=run)
    # What is read, and how samples and columns are prepared.
    add = add_input(
        parser,
        "a table (.csv, .tsv, .txt, each also .gz; .parquet; .xlsx with one sheet) or .npy for "
        "each view, or one .npz, .mat, .h5 or .zarr with all views, or .h5ad, .h5mu, 10x .h5 or a "
        "folder with matrix.mtx",
        "columns to use as features, such as height,blood_*, or to exclude, such as "
        "'!sex,!stage'; FILE:NAMES for one file; several times for several views of one table, as "
        f"VIEW=NAMES with numbers, categories and text; {SAMPLE_COLUMNS}",
    ).add_argument
    add(
        "--join",
        choices=("inner", "outer"),
        help="if files do not have the same ids: inner keeps the samples in every file, outer "
        "those in at least one file, some of which then lack a view",
    )
    add(
        "--scale",
        choices=("standard",),
        help="standard: scale columns to mean 0 and standard deviation 1, for columns with "
        "different units",
    )
    add(
        "--precomputed",
        action="store_true",
        help="the files contain similarities of samples (tlrr, trpca, snn)",
    )
    # What is computed.
    add = parser.add_argument_group("clustering").add_argument
    add(
        "--clusters",
        metavar="K",
        type=_clusters,
        required=True,
        help="number of clusters, or auto to use the suggested number",
    )
    add(
        "--method",
        metavar="NAME",
        choices=sorted(ESTIMATORS),
        default="consensus-tlrr",
        help=f"{', '.join(ESTIMATORS)}; default: consensus-tlrr",
    )
    add("--seed", metavar="N", type=int, default=0, help="seed of random numbers; default: 0")
    # What is written.
    add = add_output(parser).add_argument
    add(
        "--certainty",
        action="store_true",
        help="also write how certain each label is, and the nearest other cluster",
    )
    add(
        "--report",
        metavar="FILE",
        help="explain the result in a page (.html) or a text (.txt); - prints it",
    )
    add(
        "--evidence",
        action="store_true",
        help="test whether all views, and each alone, show more structure than noise (10 times "
        "slower, and as much again for each view)",
    )
    add(
        "--scores",
        metavar="LABELS",
        nargs="?",
        const=True,
        default=False,
        help="compare with known labels, or labels of an earlier run: a table with ids and labels, "
        "a variable of .npz, .mat, .h5 or .zarr, a column of obs or, without LABELS, those that "
        "the input file has",
    )
    add(
        "--save",
        metavar="MODEL",
        help="save the model and its scaling for mvsc-fast predict, as a pickle (.pkl), or as "
        ".mvsc, which has no code and which C programs can read",
    )
    add(
        "--annotate",
        metavar="FILE",
        help="copy of the .h5ad or .h5mu with labels, margins, weights of modalities and the joint "
        "graph, for scanpy and muon",
    )


def _clusters(text):
    """A number of clusters or "auto"."""
    if text == "auto":
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a positive integer or auto, got {text!r}")


def run(args):
    """Cluster the files of ``args`` and write the requested output."""
    # Whatever can be checked is checked before the fit.
    parameters = {"scale": args.scale, "random_state": args.seed}
    method, method_parameters = _method(args)
    _prepare_outputs(args)
    is_file = isinstance(args.scores, str) and Path(args.scores).is_file()
    truth = args.scores if isinstance(args.scores, str) and not is_file else None
    # Arrays remain on disk if memory is too small.
    parts = [part for name in args.files for part in (Path(name), *Path(name).rglob("*"))]
    size = sum(part.stat().st_size for part in parts if part.is_file())
    is_lazy = 2 * size > available_memory()
    data = read_files(args, args.files, truth=truth, lazy=is_lazy, square=args.precomputed)
    if data.encoder is not None and args.save and is_native(args.save):
        raise ValueError(
            f"--save {args.save}: such files have no place for the encoder of NAME=COLUMNS; use "
            "the suffix .pkl"
        )
    views = data.views
    known_labels = None if args.scores is False else _known_labels(args.scores, is_file, data)
    if not args.precomputed:
        _warn_of_similarities(views)

    # The number of clusters is suggested, and the model is fitted.
    n_clusters, counts, structure = args.clusters, None, None
    if n_clusters == "auto":
        counts = suggest_n_clusters(views, **parameters)
        note_user(counts)
        n_clusters = counts.n_clusters
    if args.evidence:
        structure = structure_test(views, n_clusters, each_view=len(views) > 1, **parameters)
        note_user(structure)
    model = method(n_clusters, **parameters, **method_parameters).fit(views)
    labels = model.labels_
    model.run_ = _record(args, data, model)
    # Encoded columns are explained in the units of their table.
    estimator, source = model, views
    if data.encoder is not None:
        estimator, source = make_pipeline(data.encoder, model), data.frame
    about = {"ids": data.ids, "counts": counts, "structure": structure}

    # The labels come first, whatever happens to other outputs.
    columns = {"cluster": labels}
    if args.certainty:
        explained = explain(estimator, source, **about)
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
    if args.report and not args.certainty:
        explained = explain(estimator, source, **about)
    if args.report == STDOUT:
        print_escaped(explained, out)
    elif args.report:
        with replaced(args.report) as stream:
            if _is_page(args.report):
                explained.write_report(stream.name, notes=[*data.notes, *args.warned])
            else:
                print(explained, file=stream)
    if known_labels is not None:
        true_labels, samples = known_labels
        has_label = labels[samples] >= 0
        true_labels, clusters = true_labels[has_label], labels[samples][has_label]
        print_escaped(score_table({args.method: clustering_scores(true_labels, clusters)}), out)
        print_escaped(cross_table(true_labels, clusters), out)
    print(end="", file=out, flush=True)  # an error of this comes before the summary
    note_user(summary(views, labels))


# ------------------------------------------------------------------------------- before the work


def _method(args):
    """The class of the method and its own parameters; raise ValueError for those it does not have.

    Raise it as well for other options that would be ignored or are incompatible.
    """
    method = ESTIMATORS[args.method]
    parameters = {"verbose": int(sys.stderr.isatty())}
    if args.precomputed:
        parameters["affinity"] = "precomputed"
    if parameters.keys() - method().get_params(False):
        raise ValueError(f"--precomputed would be ignored by the method {args.method}, see --help")
    if args.save and not hasattr(method, "predict"):
        raise ValueError(f"--save: {args.method} cannot predict, only consensus-tlrr can")
    if args.precomputed:
        for is_given, subject in (
            (args.scale, "--scale needs"),
            (args.clusters == "auto", "--clusters auto needs"),
            (args.evidence, "--evidence needs"),
            (cells_kind(args.files[0]), f"{args.files[0]} contains"),
        ):
            if is_given:
                raise ValueError(f"{subject} features, but --precomputed expects similarities")
    return method, parameters


def _prepare_outputs(args):
    """Create the folders of the output; raise an error before any work if it is not writable."""
    names = [name for name in (args.report, args.save, args.annotate) if name not in (None, STDOUT)]
    inputs = [name for name in (*args.files, args.scores) if isinstance(name, str)]
    prepare_outputs([args.labels, *names], inputs)
    if args.save is not None:
        check_suffix(args.save)
    if args.annotate is not None:
        suffixes = {Path(name).suffix.lower() for name in (args.files[0], args.annotate)}
        if len(args.files) > 1 or len(suffixes) > 1 or not suffixes <= set(CELLS):
            raise ValueError(
                f"--annotate copies one .h5ad or .h5mu file with its results, and cannot write "
                f"{args.annotate} from {shown_name(', '.join(args.files))}"
            )
    if args.report and _is_page(args.report):
        new_figure()  # raises ImportError before the fit, not after it
    elif args.report and Path(args.report).suffix.lower() not in TEXTS:
        raise ValueError(f"--report {args.report}: a page has the suffix .html, a text .txt")


def _is_page(name):
    """Whether a report is a page and no text."""
    return Path(name).suffix.lower() in PAGES


# -------------------------------------------------------------------------------------- the work


def _warn_of_similarities(views):
    """Warn of symmetric matrices, which are hardly features."""
    for name, X in views.items():
        A = getattr(X, "values", getattr(X, "X", X))  # of data frames, and of AnnData
        if X.shape[0] == X.shape[1] > 3 and is_symmetric(A):
            warn_user(
                f"{name!r} is symmetric and used as features; similarities need --precomputed"
            )


def _known_labels(scores, is_file, data):
    """Known labels of a file, or of the file of the views, and the samples that have one."""
    n_samples = next(iter(data.views.values())).shape[0]
    if is_file:
        # Cells have no name of ids, as tables have.
        id_name = None if data.cells is not None else data.id_name
        labels, samples = load_labels(scores, data.ids, n_samples, id_name)
    elif data.y is not None:
        samples = np.flatnonzero([label not in (None, "") for label in data.y])
        labels = data.y[samples]
    else:
        problem = f"there is no file {scores}, and the input has no labels of this name"
        if scores is True:
            problem = "the input has no labels, or several that differ"
        raise ValueError(
            f"--scores: {problem}: give a table, as in --scores known.csv, or --scores NAME for "
            "a variable of a file of arrays or a column of obs"
        )
    place = "the input" if scores is True else scores
    if not len(samples):
        raise ValueError(f"{place} has no label of these samples")
    if len(samples) < n_samples:
        note_user(f"--scores: {len(samples)} of {n_samples} samples have a label in {place}")
    return labels, samples


def _save(args, data, model):
    """Save the model and the information that `mvsc-fast predict` needs to read new samples."""
    is_chosen = args.views is not None and data.cells is not None
    use = parse_use(args.views) if is_chosen else None
    saved = Saved(model, data.id_names, data.one_table, use=use, encoder=data.encoder)
    save_model(args.save, saved)
    note_user(
        f"{args.save} contains rows of the data: see 'What a saved model holds' in the "
        "documentation"
    )


def _record(args, data, model):
    """The steps before the fit, by title."""
    sizes = (f"{name} ({X.shape[0]} x {X.shape[1]})" for name, X in data.views.items())
    command = shown_name(shlex.join(["mvsc-fast", *map(str, args.argv)]))
    record = {"command": command, "views": ", ".join(sizes)}
    steps = [] if data.encoder is None else [" ".join(str(data.encoder).split())]
    if args.scale:
        steps.append("columns were scaled to mean 0 and standard deviation 1")
        if not all(means.any() for means, _ in model.scaling_):
            steps[-1] += ", those of sparse views to standard deviation 1 alone"
    if steps:
        record["processing"] = ", then ".join(steps)
    return record
