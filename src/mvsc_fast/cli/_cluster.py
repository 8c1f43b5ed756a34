"""``mvsc-fast cluster``: from files to labels and a report."""

import argparse
import os
import sys
from functools import cache, partial
from pathlib import Path

import numpy as np

from .._utils.figures import new_figure
from ..explanation._annotate import annotate
from ..explanation._explain import explain
from ..judge._n_clusters import suggest_n_clusters
from ..judge._structure import structure_test
from ..methods import ESTIMATORS
from ..methods._prediction import native_model
from ..views._columns import fitted_columns
from ._output import (
    note_user,
    prepare_outputs,
    printable,
    replaced,
    rounded,
    tell_scores,
    tell_sizes,
    write_labels,
)
from ._read import CELLS, KINDS, check_options, read, read_labels
from ._tables import kind_of

METHODS = f"{', '.join(ESTIMATORS)}; default: consensus-tlrr"
EXAMPLES = """\
examples:
  mvsc-fast cluster pixels.csv shapes.csv --clusters 10 --labels out/labels.csv
  mvsc-fast cluster all.xlsx --columns 'blood_*' --columns age,bmi --clusters 3
  mvsc-fast cluster a.csv b.csv --clusters auto --scale standard --report r.html
  mvsc-fast cluster MSRC_v1.mat --views X --clusters 7 --scores Y
  mvsc-fast cluster genes.csv --sep ';' --decimal , --transpose --clusters 4
  mvsc-fast cluster rna.csv dna.csv --clusters 4 --save model.mvsc > labels.csv
"""


def add_input(parser):
    """Add the files and the options that say how to read them, as `read` takes them."""
    add = parser.add_argument_group("input (docs/files.md)").add_argument
    add("files", nargs="+", metavar="FILE", help=KINDS)
    ids = "column of ids, or none; repeat it if files differ"
    add("--id-column", metavar="NAME", action="append", help=ids)
    add("--sep", metavar="C", help="separator of columns in texts, such as ';'")
    add("--decimal", choices=(".", ","), metavar="C", help="decimal mark, . or ,")
    add("--transpose", action="store_true", help="samples are columns of the tables or arrays")
    add("--views", metavar="NAMES", help="arrays that are views, as X1,X2 or rna=X_pca,prot=X")


def add_parser(commands):
    """Add the command to the parser of all commands."""
    parser = commands.add_parser(
        "cluster",
        help="cluster the samples of multi-view files",
        usage="%(prog)s FILE [FILE ...] --clusters K [OPTION ...]",
        description="Cluster the samples of multi-view files, one row for each sample.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=run)
    add_input(parser)
    add = parser.add_argument
    names = "features, as age,blood_* or '!sex'; repeat it, also as VIEW=NAMES, for several views"
    add("--columns", metavar="NAMES", action="append", help=names)
    add("--join", choices=("inner", "outer"), help="samples with an id in all files, or in any")
    add("--scale", choices=("standard",), help="scale columns to mean 0 and standard deviation 1")
    number = "number of clusters, or auto for the suggested number"
    add("--clusters", metavar="K", type=_clusters, required=True, help=number)
    add("--method", choices=ESTIMATORS, metavar="NAME", default="consensus-tlrr", help=METHODS)
    add("--seed", metavar="N", type=int, default=0, help="seed of random numbers; default: 0")
    add("--evidence", action="store_true", help="test whether there is more structure than noise")
    add("--labels", metavar="FILE", help="labels (.csv), or a copy of the .h5ad or .h5mu with them")
    add("--certainty", action="store_true", help="also write how certain each label is")
    add("--report", metavar="FILE", help="explain the result in a page (.html) or a text")
    add("--scores", metavar="LABELS", help="known labels: a table, or name of an array or column")
    add("--save", metavar="MODEL", help="save the model for mvsc-fast predict and for C (.mvsc)")


def _clusters(text):
    """A number of clusters, or "auto"."""
    if text == "auto":
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a positive integer or auto, got {text!r}")


def run(args):
    """Cluster the files of ``args`` and write the requested output."""
    # Whatever can be checked is checked before the fit.
    is_file = os.path.isfile(args.scores or "") or kind_of(args.scores or "") == ".parquet"
    method = _checked(args, is_file)
    files = {printable(Path(file.removesuffix(".gz")).stem): file for file in args.files}
    if len(files) < len(args.files):
        raise ValueError(f"{' '.join(args.files)}: files need different names, as views have these")
    data = read(files, args, note_user, truth=None if is_file else args.scores)
    views, n_samples = data.views, next(iter(data.views.values())).shape[0]
    known = read_labels(args.scores, args, data.ids, n_samples) if is_file else data.labels
    if known is not None and not _is_known(known).any():
        raise ValueError(f"--scores {args.scores}: no sample has a label")

    # The number of clusters is suggested, and the model is fitted.
    counts = structure = None
    n_clusters, common = args.clusters, {"scale": args.scale, "random_state": args.seed}
    if n_clusters == "auto":
        counts = suggest_n_clusters(views, **common)
        note_user(counts)
        n_clusters = counts.n_clusters
    if args.evidence:
        structure = structure_test(views, n_clusters, each_view=len(views) > 1, **common)
        note_user(structure)
    model = method(n_clusters, **common)
    if hasattr(model, "verbose"):  # else a fit takes too little time for a report
        model.set_params(verbose=int(sys.stderr.isatty()))
    model.fit(views)
    labels = model.labels_

    # The labels come first, whatever happens to other outputs.
    about = {"ids": data.ids, "counts": counts, "structure": structure}
    explained = cache(partial(explain, model, views, **about))
    columns = {"cluster": labels}
    if args.certainty and "certainty" in (samples := explained().samples):
        columns |= {"certainty": rounded(samples["certainty"]), "second": samples["second"]}
    if _is_copy(args):
        annotate(data.cells, model, views)
        with replaced(args.labels, "wb") as stream:
            data.cells.write(stream.name)
    else:
        with replaced(args.labels) as stream:
            write_labels(stream, columns, data.ids)
    if args.save:
        facts = {"id_column": args.id_column, "views": args.views}
        image = native_model(model, model.view_names_in_, fitted_columns(model), **facts)
        with replaced(args.save, "wb") as stream:
            stream.write(image)
    if args.report:
        explained()  # before the file is opened
        with replaced(args.report) as stream:
            if kind_of(args.report) == ".html":
                notes = [printable(" ".join(args.argv)), *args.warned]
                explained().write_report(stream.name, notes=notes)
            else:
                print(explained(), file=stream)
    if known is not None:
        has_both = _is_known(known) & (labels >= 0)
        stream = sys.stdout if args.labels else sys.stderr  # labels there come alone
        tell_scores(args.method, known[has_both].astype(str), labels[has_both], stream)
    tell_sizes(labels)


def _checked(args, is_file):
    """The class of the method; raise ValueError for options that cannot be met."""
    method = ESTIMATORS[args.method]
    check_options(args.files, args, args.scores if is_file else None)
    if args.certainty and _is_copy(args):
        raise ValueError("--certainty: labels in cells have mvsc_margin; write them as .csv")
    if args.save and not hasattr(method, "predict"):
        raise ValueError(f"--save: {args.method} cannot predict, only consensus-tlrr can")
    if args.save and Path(args.save).suffix.lower() != ".mvsc":
        raise ValueError(f"--save {args.save}: models have the suffix .mvsc")
    inputs = [*args.files, args.scores or args.files[0]]
    prepare_outputs([args.labels, args.report, args.save], inputs, _is_copy(args))
    if args.report and kind_of(args.report) == ".html":
        new_figure()  # raises ImportError before the fit, not after it
    return method


def _is_copy(args):
    """Whether the labels are written into a copy of the file of cells."""
    kind = kind_of(args.labels or "")
    return kind in CELLS and kind == kind_of(args.files[0])


def _is_known(labels):
    """Which samples have a known label; it is None or NaN otherwise."""
    return np.array([label is not None and label == label for label in labels])
