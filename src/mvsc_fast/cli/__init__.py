"""Command line: ``mvsc-fast cluster``, ``predict``, ``demo`` and ``config``."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence

from .. import __version__
from .._utils.threads import show_config
from . import _cluster, _demo, _predict

__all__ = ["main"]

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
    """Run the command line; returns the exit code.

    It is 2 for bad input, 3 if `predict` with ``--summary`` warns of unlike samples, 130 after an
    interrupt, and 141 if the program that reads the output has ended.
    """
    parser = _parser()
    if sys.stderr is None:  # closed: print would write to the standard output
        sys.stderr = open(os.devnull, "w")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # letters that a terminal does not have are escaped
            stream.reconfigure(errors="backslashreplace")
    args = parser.parse_args(argv)
    if args.run is None:
        parser.print_help(sys.stderr)
        return 2
    args.argv = ["mvsc-fast", *map(str, sys.argv[1:] if argv is None else argv)]
    args.warned = []

    # Warnings are one line each, once, and also in the report.
    def show(message, *_):
        text = " ".join(str(message).split())
        if text not in args.warned:
            args.warned.append(text)
            print(f"mvsc-fast: warning: {text}", file=sys.stderr)

    try:
        with warnings.catch_warnings():
            warnings.showwarning = show
            code = args.run(args) or 0
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:  # the program that reads the labels has ended
        _drop_output()
        return 141
    except (ValueError, OSError, ImportError, MemoryError, RuntimeError) as error:
        text = str(error) or type(error).__name__
        if isinstance(error, OSError) and error.filename:
            text = f"{error.filename}: {error.strerror}"
        print(f"mvsc-fast: error: {' '.join(text.split())}", file=sys.stderr)
        _drop_output()
        return 2
    except KeyboardInterrupt:
        print("mvsc-fast: interrupted", file=sys.stderr)
        return 130
    return code


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
    parser.set_defaults(run=None)
    commands = parser.add_subparsers(
        prog=parser.prog, title="commands", dest="command", metavar="COMMAND"
    )
    for command in (_cluster, _predict, _demo):
        command.add_parser(commands)
    config = commands.add_parser("config", help="show versions, BLAS, OpenMP and threads")
    config.set_defaults(run=lambda args: show_config())
    return parser
