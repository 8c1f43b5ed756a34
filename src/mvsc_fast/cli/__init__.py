"""Command line: ``mvsc-fast cluster``, ``predict``, ``demo`` and ``config``."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence

from .. import __version__
from .._utils.threads import show_config
from ._cluster_command import run as _cluster
from ._demo_command import run as _demo
from ._options import CLUSTER, FORMS, PREDICT
from ._predict_command import run as _predict
from ._readers import shown_name

__all__ = ["main"]

EXAMPLES = """\
examples:
  mvsc-fast cluster pixels.csv shapes.csv --clusters 10 --labels out/labels.csv
      a table for each view; rows are matched by the ids in the first column
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
  mvsc-fast cluster cells.h5mu --use rna=X_pca --clusters 12 --annotate out.h5mu
      modalities of single cells, and a copy of the file with the results
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
# For each command: its function, summary, usage, options by group, and texts of its help.
COMMANDS: dict[str, tuple] = {
    "cluster": (
        _cluster,
        "cluster the samples of multi-view files",
        " FILE [FILE ...] --clusters K [OPTION ...]",
        CLUSTER,
        {
            "description": "Cluster the samples of multi-view files, one row for each sample. The "
            "labels\nhave a header and the ids of the samples, or their indices.",
            "epilog": EXAMPLES,
        },
    ),
    "predict": (
        _predict,
        "label new samples with a saved model",
        " MODEL FILE [FILE ...] [OPTION ...]",
        PREDICT,
        {
            "description": "Label new samples with a model of mvsc-fast cluster --save. Columns "
            "are matched\nby name, rows by id; a sample may lack views.",
            "epilog": PREDICT_EXAMPLES,
        },
    ),
    "demo": (
        _demo,
        "cluster handwritten digits in six views",
        "",
        {},
        {
            "description": "Cluster handwritten digits in six views, compare with simpler "
            "methods, and write\nlabels and a plot to the folder demo."
        },
    ),
    "config": (
        lambda args: show_config(),
        "show versions, BLAS, OpenMP and threads",
        "",
        {},
        {"description": "Show versions, BLAS, OpenMP and threads."},
    ),
}


class _Parser(argparse.ArgumentParser):
    """Parser with error messages of one line, and texts in the given lines."""

    def __init__(self, **options):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {message} (usage: {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code (2 for bad input)."""
    parser = _parser()
    _open_streams()
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if args.run is None:
        parser.print_help(sys.stderr)
        return 2
    if args.command == "cluster" and args.clusters is None and args.resolution is None:
        args.parser.error(
            "--clusters is missing: give the number of clusters, or auto to use the suggested one, "
            "or a --resolution"
        )
    args.argv = sys.argv[1:] if argv is None else argv
    args.warned = []

    def show(message, *_):
        if str(message) not in args.warned:
            args.warned.append(str(message))
            print(f"mvsc-fast: warning: {message}", file=sys.stderr)

    try:
        with warnings.catch_warnings():
            warnings.showwarning = show
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
    for name, (run, summary, usage, groups, texts) in COMMANDS.items():
        command = commands.add_parser(name, help=summary, usage=f"%(prog)s{usage}", **texts)
        command.set_defaults(run=run, parser=command)
        for title, options in groups.items():
            group = command.add_argument_group(title)
            for option, text in options.items():
                flag, *metavar = option.split()
                metavar = {"metavar": metavar[0]} if metavar else {}
                group.add_argument(flag, help=text, **metavar, **FORMS.get(flag, {}))
    return parser


if __name__ == "__main__":
    sys.exit(main())
