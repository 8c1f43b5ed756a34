"""Command line: ``mvsc-fast cluster``, ``mvsc-fast demo`` and ``mvsc-fast config``."""

import argparse
import os
import sys
import warnings

from .. import __version__
from .._utils.threads import show_config
from ..methods import ESTIMATORS
from ..views._row_source import check_bytes
from ._cluster_command import run as _cluster
from ._demo_command import run as _demo
from ._readers import ALL

__all__ = ["main"]

AFFINITIES = ("self_representation", "nearest_neighbors", "rbf", "precomputed")
EXAMPLES = """\
examples:
  mvsc-fast cluster pixels.csv shapes.csv --clusters 10 --labels out/labels.csv
      one table for each view; the column of ids is found, and rows are matched by it
  mvsc-fast cluster measured.xlsx --columns 'blood_*' --columns height,weight --clusters 3
      two views from the columns of one table
  mvsc-fast cluster a.csv b.csv --clusters auto --scale standard --report out/report.html
      the number of clusters suggested, columns of different units made alike, and a page that
      explains the result
  mvsc-fast cluster rna.tsv methylation.tsv --transpose --clusters 4 --scores histology.csv
      tables with genes as rows and samples as columns, compared with known labels by id
  mvsc-fast cluster a.npy b.npy --clusters 20 --memory-limit 600MiB --labels labels.csv
      files larger than memory
  zcat a.csv.gz | mvsc-fast cluster - b.csv --clusters 10 > labels.csv
"""


class _Parser(argparse.ArgumentParser):
    """One whose errors are one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message} (usage: {self.prog} --help)\n")


def main(argv=None):
    """Run the command line; returns the exit code (2 for bad input)."""
    parser = _parser()
    _open_streams()
    args = parser.parse_args(argv)
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
    """Forget what could not be written, which Python would try again at its end."""
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

    demo = commands.add_parser("demo", help="cluster handwritten digits in six views")
    demo.add_argument("--per-class", type=int, default=100, help="samples of each digit, up to 200")
    demo.add_argument("--output", default="demo", metavar="DIR", help="where labels and picture go")
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
        "a header and\nthe ids of the samples, or their numbers from 0.",
    )  # fmt: skip
    cluster.set_defaults(run=_cluster)

    files = cluster.add_argument_group("what is read")
    files.add_argument(
        "files", nargs="+", metavar="FILE",
        help="a table (.csv, .tsv, .txt, each also .gz; .parquet; .xlsx with one sheet) or .npy "
        "for each view, or one .npz, .mat, .h5 or .zarr with all views; - is the standard input",
    )  # fmt: skip
    files.add_argument(
        "--id-column", metavar="NAME",
        help="column of tables with the ids of the samples: a name, a number from 1, or none; "
        "without this, the column whose values all differ and are those of a column of the other "
        "files",
    )  # fmt: skip
    files.add_argument(
        "--columns", action="append", metavar="NAMES",
        help="columns that are features, as height,blood_*,7-12, or are not, as '!sex,!stage'; "
        "once for all files, once for each file, or several times for several views of one table",
    )  # fmt: skip
    files.add_argument(
        "--transpose", action="append", nargs="?", const=ALL, default=[], metavar="FILE",
        help="samples are the columns, of this file or, after all files, of each of them; columns "
        "of names and numbers of genes in front of the samples are left out",
    )  # fmt: skip
    files.add_argument(
        "--join", choices=("inner", "outer"),
        help="if files do not have the same ids: keep the samples that are in every file, or those "
        "in any file, some of which then lack a view",
    )  # fmt: skip
    files.add_argument(
        "--scale", choices=("standard", "none"), default="none",
        help="standard: columns get mean 0 and standard deviation 1, as units that differ need it",
    )  # fmt: skip

    work = cluster.add_argument_group("what is done")
    work.add_argument(
        "--clusters", type=_clusters, required=True, metavar="K",
        help='number of clusters (required), or "auto" to have it suggested',
    )  # fmt: skip
    work.add_argument(
        "--method", choices=sorted(ESTIMATORS), default="consensus-tlrr", metavar="NAME",
        help=f"{', '.join(ESTIMATORS)}; the first without this",
    )  # fmt: skip
    work.add_argument(
        "--neighbors", type=int, metavar="N", help="nearest samples in a graph (tlrr, awp)"
    )
    work.add_argument(
        "--affinity", choices=AFFINITIES, metavar="NAME",
        help=f"similarities that tlrr, trpca and snn start from: {', '.join(AFFINITIES[:-1])}, or "
        "precomputed if the files have them",
    )  # fmt: skip
    work.add_argument(
        "--max-samples", type=int, metavar="N",
        help="cluster at most N samples, the others get labels from them (consensus-tlrr)",
    )  # fmt: skip
    work.add_argument(
        "--memory-limit", type=_bytes, metavar="SIZE",
        help="as 600MiB: .npy, .h5 and .zarr are read in blocks that fit (consensus-tlrr)",
    )  # fmt: skip
    work.add_argument("--seed", type=int, default=0, help="of random numbers; 0 without this")
    work.add_argument("--threads", type=int, default=None, help="all processors without this")

    out = cluster.add_argument_group("what is written")
    out.add_argument("--labels", metavar="CSV", help="labels, instead of on the standard output")
    out.add_argument("--plot", metavar="PNG", help="picture of the affinity, sorted by cluster")
    out.add_argument("--report", metavar="HTML", help="page that shows and explains the result")
    out.add_argument(
        "--explain", action="store_true", help="print why the labels are what they are"
    )
    out.add_argument(
        "--scores", nargs="?", const=True, default=False, metavar="CSV",
        help="compare with labels, in a table with ids and labels, or those that the file has",
    )  # fmt: skip


def _clusters(text):
    """A number of clusters, or "auto"."""
    return text if text == "auto" else int(text)


def _bytes(text):
    """A text that is a number of bytes."""
    try:
        check_bytes(text, "size")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


if __name__ == "__main__":
    sys.exit(main())
