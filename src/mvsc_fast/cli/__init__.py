"""Command line: ``mvsc-fast cluster``, ``predict``, ``demo`` and ``config``."""

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
from ._demo_command import run as _demo
from ._predict_command import run as _predict
from ._readers import ALL

__all__ = ["main"]

EXAMPLES = """\
examples:
  mvsc-fast cluster pixels.csv shapes.csv --clusters 10 --labels out/labels.csv
      one table for each view; rows are matched by the column of ids, which is detected
  mvsc-fast cluster measured.xlsx --columns 'blood_*' --columns height,weight --clusters 3
      two views from the columns of one table
  mvsc-fast cluster a.csv b.csv --clusters auto --scale standard --report out/report.html
      suggest the number of clusters, standardise the columns, and write a report
  mvsc-fast cluster rna.tsv methylation.tsv --transpose --clusters 4 --scores histology.csv
      tables with genes as rows and samples as columns; compare with known labels by id
  mvsc-fast cluster a.npy b.npy --clusters 20 --memory-limit 600MiB --labels labels.csv
      files larger than memory
  mvsc-fast cluster rna.csv mirna.csv --clusters 4 --save model.pkl --labels labels.csv
      save the model, which labels new samples: mvsc-fast predict model.pkl rna=new.csv
  zcat a.csv.gz | mvsc-fast cluster - b.csv --clusters 10 > labels.csv
"""


class _Parser(argparse.ArgumentParser):
    """Parser with error messages of one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message} (usage: {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (2 for bad input)."""
    parser = _parser()
    _open_streams()
    args = parser.parse_args(argv)
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
        print(f"mvsc-fast: error: {' '.join(str(error).split())}", file=sys.stderr)
        _drop_output()
        return 2
    except KeyboardInterrupt:
        print("mvsc-fast: interrupted", file=sys.stderr)
        return 130
    return 0


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
        prog="mvsc-fast", description="Multi-view spectral clustering with low-rank tensors."
    )
    parser.add_argument("--version", action="version", version=f"mvsc-fast {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_cluster(commands)
    _add_predict(commands)

    demo = commands.add_parser("demo", help="cluster handwritten digits in six views")
    demo.add_argument("--per-class", type=int, default=30, help="samples of each digit, up to 200")
    demo.add_argument("--output", default="demo", metavar="DIR", help="folder for the results")
    demo.add_argument("--seed", type=int, default=0)
    demo.add_argument("--threads", type=int, default=None)
    demo.set_defaults(run=_demo)

    config = commands.add_parser("config", help="show versions, BLAS, OpenMP and threads")
    config.set_defaults(run=lambda args: show_config())
    return parser


def _add_cluster(commands):
    cluster = commands.add_parser(
        "cluster", help="cluster the samples of multi-view files", epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Cluster the samples of multi-view files, one row for each sample. Labels have "
        "a header and\nthe ids of the samples, or their indices.",
    )  # fmt: skip
    cluster.set_defaults(run=_cluster)

    files = cluster.add_argument_group("input")
    files.add_argument(
        "files", nargs="+", metavar="FILE",
        help="a table (.csv, .tsv, .txt, each also .gz; .parquet; .xlsx with one sheet) or .npy "
        "for each view, or one .npz, .mat, .h5 or .zarr with all views; - is the standard input",
    )  # fmt: skip
    files.add_argument(
        "--id-column", metavar="NAME",
        help="column with the ids of the samples: a name, a number from 1, or none; by default, "
        "the column of distinct values that also occur in a column of the other files",
    )  # fmt: skip
    files.add_argument(
        "--columns", action="append", metavar="NAMES",
        help="columns to use as features, such as height,blood_*,7-12, or to exclude, such as "
        "'!sex,!stage'; once for all files, once for each file, or several times for several "
        "views of one table",
    )  # fmt: skip
    files.add_argument(
        "--transpose", action="append", nargs="?", const=ALL, default=[], metavar="FILE",
        help="read columns as samples, in this file or, without FILE, in all files; columns of "
        "gene names and numbers before the samples are ignored",
    )  # fmt: skip
    files.add_argument(
        "--join", choices=("inner", "outer"),
        help="if files do not have the same ids: inner keeps the samples in every file, outer "
        "those in at least one file, some of which then lack a view",
    )  # fmt: skip
    files.add_argument(
        "--scale", choices=("standard", "none"), default="none",
        help="standard: scale columns to mean 0 and standard deviation 1, for columns with "
        "different units",
    )  # fmt: skip

    work = cluster.add_argument_group("clustering")
    work.add_argument(
        "--clusters", type=_clusters, required=True, metavar="K",
        help='number of clusters (required), or "auto" to use the suggested number',
    )  # fmt: skip
    work.add_argument(
        "--method", choices=sorted(ESTIMATORS), default="consensus-tlrr", metavar="NAME",
        help=f"{', '.join(ESTIMATORS)}; default: consensus-tlrr",
    )  # fmt: skip
    work.add_argument("--neighbors", type=int, metavar="N", help="number of neighbors (tlrr, awp)")
    work.add_argument(
        "--affinity", choices=AFFINITIES, metavar="NAME",
        help=f"similarities for tlrr, trpca and snn: {', '.join(AFFINITIES[:-1])}, or "
        "precomputed if the files contain similarities",
    )  # fmt: skip
    work.add_argument(
        "--max-samples", type=int, metavar="N",
        help="cluster at most N samples and predict the labels of the others (consensus-tlrr)",
    )  # fmt: skip
    work.add_argument(
        "--memory-limit", type=_bytes, metavar="SIZE",
        help="maximum memory, such as 600MiB; .npy, .h5 and .zarr are read in blocks "
        "(consensus-tlrr)",
    )  # fmt: skip
    work.add_argument("--seed", type=int, default=0, help="seed of random numbers; default: 0")
    work.add_argument(
        "--threads", type=int, default=None, help="number of threads; default: all free processors"
    )

    out = cluster.add_argument_group("output")
    out.add_argument("--labels", metavar="CSV", help="file for labels; default: standard output")
    out.add_argument("--plot", metavar="PNG", help="plot of the affinity matrix, sorted by cluster")
    out.add_argument("--report", metavar="HTML", help="report that shows and explains the result")
    out.add_argument(
        "--explain", action="store_true",
        help="print an explanation of the labels; with --explain or --report, the file of labels "
        "contains margins",
    )  # fmt: skip
    out.add_argument(
        "--save", metavar="MODEL",
        help="save the model and its scaling for mvsc-fast predict, as a pickle, or .skops",
    )  # fmt: skip
    out.add_argument(
        "--compare", metavar="CSV",
        help="compare with other labels of the same samples: adjusted Rand index and cross table",
    )  # fmt: skip
    out.add_argument(
        "--scores", nargs="?", const=True, default=False, metavar="CSV",
        help="compare with known labels, from a table with ids and labels or, without CSV, from "
        "the input file",
    )  # fmt: skip


def _add_predict(commands):
    predict = commands.add_parser(
        "predict", help="label new samples with a saved model",
        description="Label new samples with a model of mvsc-fast cluster --save. Columns are "
        "matched by name, rows by id;\na sample may lack views.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    predict.set_defaults(run=_predict)
    predict.add_argument("model", metavar="MODEL", help="file that --save wrote; a pickle can run "
                         "any code, so load only files that you trust")  # fmt: skip
    predict.add_argument(
        "files", nargs="+", metavar="FILE",
        help="a file for each view, in the order of the fit, or VIEW=FILE for some of the views; "
        "VIEW is the name of its file in the fit, without suffix",
    )  # fmt: skip
    predict.add_argument("--id-column", metavar="NAME", help="as for cluster")
    predict.add_argument("--transpose", action="append", nargs="?", const=ALL, default=[],
                         metavar="FILE", help="as for cluster")  # fmt: skip
    predict.add_argument(
        "--labels", metavar="CSV", help="file for labels; default: standard output"
    )


def _clusters(text):
    """A number of clusters, or "auto"."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected an integer or auto, got {text!r}") from None


def _bytes(text):
    """Check a string that represents a number of bytes."""
    try:
        check_bytes(text, "size")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


if __name__ == "__main__":
    sys.exit(main())
