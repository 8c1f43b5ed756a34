"""Command line: ``mvsc-fast cluster``, ``predict``, ``demo`` and ``config``."""
# PYTHON_ARGCOMPLETE_OK

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence

from .. import __version__
from .._utils.threads import show_config
from ..methods import ESTIMATORS
from ..methods._recovery import NAMES as AFFINITIES
from ..views._row_source import check_bytes
from ._cluster_command import run as _cluster
from ._completion import complete
from ._demo_command import run as _demo
from ._outputs import output
from ._predict_command import run as _predict
from ._readers import ALL, shown_name

__all__ = ["main"]

EXAMPLES = """\
examples:
  mvsc-fast cluster pixels.csv shapes.csv --clusters 10 --labels out/labels.csv
      a table for each view; rows are matched by their ids, which are detected
  mvsc-fast cluster all.xlsx --columns 'blood_*' --columns age,bmi --clusters 3
      two views from the columns of one table
  mvsc-fast cluster a.csv b.csv --clusters auto --scale standard --report r.html
      suggest the number of clusters, standardise columns, and write a report
  mvsc-fast cluster rna.tsv dna.tsv --transpose --clusters 4 --scores known.csv
      tables with samples as columns; compare with known labels by id
  mvsc-fast cluster a.npy b.npy --clusters 20 --memory-limit 600MiB > labels.csv
      files larger than memory
  mvsc-fast cluster rna.csv dna.csv --clusters 4 --save model.pkl > labels.csv
      save the model, to label new samples with mvsc-fast predict
  zcat a.csv.gz | mvsc-fast cluster - b.csv --clusters 10 > labels.csv
"""
PREDICT_EXAMPLES = """\
examples:
  mvsc-fast predict model.pkl new_rna.csv new_dna.csv --labels new.csv
      a file for each view, in the order of the fit
  mvsc-fast predict model.pkl rna=new_rna.csv > new.csv
      samples without the other views
"""
FIRST_STEPS = """\
examples:
  mvsc-fast demo
  mvsc-fast cluster a.csv b.csv --clusters 3 --labels labels.csv
  mvsc-fast cluster --help
"""


class _Parser(argparse.ArgumentParser):
    """Parser with error messages of one line, and texts in the given lines."""

    def __init__(self, **options):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message} (usage: {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (2 for bad input)."""
    parser = _parser()
    if "_ARGCOMPLETE" in os.environ:
        complete(parser)
    _open_streams()
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if args.run is None:
        parser.print_help(sys.stderr)
        return 2
    if args.command == "cluster" and args.clusters is None:
        args.parser.error(
            "--clusters is missing: give the number of clusters, or auto to use the suggested one"
        )
    args.argv = sys.argv[1:] if argv is None else argv
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: print(
                f"mvsc-fast: warning: {message}", file=sys.stderr
            )
            args.run(args)
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:  # the program that reads the labels has ended
        _drop_output()
        return 141
    except (ValueError, OSError, ImportError, MemoryError) as error:
        print(f"mvsc-fast: error: {' '.join(_message(error).split())}", file=sys.stderr)
        _drop_output()
        return 2
    except KeyboardInterrupt:
        print("mvsc-fast: interrupted", file=sys.stderr)
        return 130
    return 0


def _message(error):
    """The text of an error; that of the system without its number."""
    if not isinstance(error, OSError) or error.strerror is None:
        return str(error)
    return f"{shown_name(error.filename)}: {error.strerror}" if error.filename else error.strerror


def _open_streams():
    """Files that are opened later must not get the numbers of closed standard streams."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # print would write to the standard output


def _drop_output():
    """Discard unwritten output, which Python would otherwise try to write at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser():
    parser = _Parser(
        prog="mvsc-fast",
        usage="%(prog)s COMMAND [...]",
        epilog=FIRST_STEPS,
        description="Multi-view spectral clustering with low-rank tensors.",
    )
    parser.add_argument("--version", action="version", version=f"mvsc-fast {__version__}")
    parser.set_defaults(run=None, parser=parser)
    commands = parser.add_subparsers(
        prog=parser.prog, title="commands", dest="command", metavar="COMMAND"
    )
    _add_cluster(commands)
    _add_predict(commands)

    demo = _add(
        commands,
        "demo",
        _demo,
        "cluster handwritten digits in six views",
        " [OPTION ...]",
        description="Cluster handwritten digits in six views, compare with simpler "
        "methods, and write\nlabels and a plot.",
    )
    demo.add_argument(
        "--per-class",
        type=int,
        default=30,
        metavar="N",
        help="samples of each digit, from 3 to 200; default: 30",
    )
    demo.add_argument(
        "--output", default="demo", metavar="DIR", help="folder for the results; default: demo"
    )
    _add_machine(demo)

    _add(
        commands,
        "config",
        lambda args: show_config(),
        "show versions, BLAS, OpenMP and threads",
        "",
        description="Show versions, BLAS, OpenMP and threads.",
    )
    return parser


def _add(commands, name, run, summary, usage, **options):
    """The parser of a new command."""
    parser = commands.add_parser(name, help=summary, usage=f"%(prog)s{usage}", **options)
    parser.set_defaults(run=run, parser=parser)
    return parser


def _add_tables(parser):
    parser.add_argument(
        "--id-column",
        metavar="NAME",
        help="column with the ids of the samples: a name, a number from 1, or none; by default, "
        "the column of distinct values that also occur in a column of the other files",
    )
    parser.add_argument(
        "--transpose",
        action="append",
        nargs="?",
        const=ALL,
        default=[],
        metavar="FILE",
        help="read columns as samples, in this file or, without FILE, in all files; columns of "
        "gene names and numbers before the samples are ignored",
    )


def _add_machine(parser):
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="seed of random numbers; default: 0"
    )
    parser.add_argument(
        "--threads",
        type=_positive,
        metavar="N",
        help="number of threads; default: all free processors",
    )


def _add_labels(parser):
    parser.add_argument(
        "--labels",
        type=output,
        metavar="CSV",
        help="file for labels; default: -, the standard output",
    )


def _add_cluster(commands):
    cluster = _add(
        commands,
        "cluster",
        _cluster,
        "cluster the samples of multi-view files",
        " FILE [FILE ...] --clusters K [OPTION ...]",
        epilog=EXAMPLES,
        description="Cluster the samples of multi-view files, one row for each sample. The "
        "labels\nhave a header and the ids of the samples, or their indices.",
    )

    files = cluster.add_argument_group("input")
    files.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a table (.csv, .tsv, .txt, each also .gz; .parquet; .xlsx with one sheet) or .npy "
        "for each view, or one .npz, .mat, .h5 or .zarr with all views; - is the standard input",
    )
    _add_tables(files)
    files.add_argument(
        "--columns",
        action="append",
        metavar="NAMES",
        help="columns to use as features, such as height,blood_*,7-12, or to exclude, such as "
        "'!sex,!stage'; once for all files, once for each file, or several times for several "
        "views of one table",
    )
    files.add_argument(
        "--join",
        choices=("inner", "outer"),
        help="if files do not have the same ids: inner keeps the samples in every file, outer "
        "those in at least one file, some of which then lack a view",
    )
    files.add_argument(
        "--scale",
        choices=("standard", "none"),
        default="none",
        help="standard: scale columns to mean 0 and standard deviation 1, for columns with "
        "different units; default: none",
    )

    work = cluster.add_argument_group("clustering")
    work.add_argument(
        "--clusters",
        type=_clusters,
        metavar="K",
        help="number of clusters (required), or auto to use the suggested number",
    )
    work.add_argument(
        "--method",
        choices=sorted(ESTIMATORS),
        default="consensus-tlrr",
        metavar="NAME",
        help=f"{', '.join(ESTIMATORS)}; default: consensus-tlrr",
    )
    work.add_argument(
        "--neighbors", type=_positive, metavar="N", help="number of neighbors (tlrr, awp)"
    )
    work.add_argument(
        "--affinity",
        choices=AFFINITIES,
        metavar="NAME",
        help=f"similarities for tlrr, trpca and snn: {', '.join(AFFINITIES[:-1])}, or "
        "precomputed if the files contain similarities",
    )
    work.add_argument(
        "--max-samples",
        type=_positive,
        metavar="N",
        help="cluster at most N samples and predict the labels of the others (consensus-tlrr)",
    )
    work.add_argument(
        "--memory-limit",
        type=_bytes,
        metavar="SIZE",
        help="maximum memory, such as 600MiB; .npy, .h5 and .zarr are read in blocks "
        "(consensus-tlrr)",
    )
    _add_machine(work)

    out = cluster.add_argument_group("output")
    _add_labels(out)
    out.add_argument("--plot", metavar="PNG", help="plot of the affinity matrix, sorted by cluster")
    out.add_argument("--report", metavar="HTML", help="report that shows and explains the result")
    out.add_argument(
        "--explain",
        action="store_true",
        help="print an explanation of the labels; with --explain or --report, the file of labels "
        "contains margins",
    )
    out.add_argument(
        "--save",
        metavar="MODEL",
        help="save the model and its scaling for mvsc-fast predict, as a pickle, or .skops",
    )
    out.add_argument(
        "--compare",
        metavar="CSV",
        help="compare with other labels of the same samples: adjusted Rand index and cross table",
    )
    out.add_argument(
        "--scores",
        nargs="?",
        const=True,
        default=False,
        metavar="CSV",
        help="compare with known labels, from a table with ids and labels or, without CSV, from "
        "the input file",
    )


def _add_predict(commands):
    predict = _add(
        commands,
        "predict",
        _predict,
        "label new samples with a saved model",
        " MODEL FILE [FILE ...] [OPTION ...]",
        epilog=PREDICT_EXAMPLES,
        description="Label new samples with a model of mvsc-fast cluster --save. Columns are "
        "matched\nby name, rows by id; a sample may lack views.",
    )
    files = predict.add_argument_group("input")
    files.add_argument(
        "model",
        metavar="MODEL",
        help="file that --save wrote; a pickle can run any code, so load only files that you trust",
    )
    files.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a file for each view, in the order of the fit, or VIEW=FILE for some of the views; "
        "VIEW is the name of its file in the fit, without suffix",
    )
    _add_tables(files)
    _add_labels(predict.add_argument_group("output"))


def _clusters(text):
    """A number of clusters, or "auto"."""
    return text if text == "auto" else _positive(text, " or auto")


def _positive(text, otherwise=""):
    """A positive integer."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a positive integer{otherwise}, got {text!r}")
    return int(text)


def _bytes(text):
    """Check a string that represents a number of bytes."""
    try:
        check_bytes(text, "size")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


if __name__ == "__main__":
    sys.exit(main())
