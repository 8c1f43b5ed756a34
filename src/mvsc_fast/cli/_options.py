"""Options that several commands have, and the forms of their values."""

import argparse

from ..views._row_source import check_bytes
from ._outputs import STDOUT
from ._readers import ALL, Options


def add_input(parser, files):
    """Add the files and the options that say how to read them; returns their group."""
    group = parser.add_argument_group("input")
    group.add_argument("files", nargs="+", metavar="FILE", help=files)
    add = group.add_argument
    add(
        "--id-column",
        metavar="NAME",
        action="append",
        help="column with the ids of the samples: a name, a number from 1, or none; FILE:NAME for "
        "one file; by default the first column, if it has text or a name such as id",
    )
    add(
        "--columns",
        metavar="NAMES",
        action="append",
        help="columns to use as features, such as height,blood_*,7-12, or to exclude, such as "
        "'!sex,!stage'; FILE:NAMES for one file; several times for several views of one table; "
        "with --transpose, columns that are samples",
    )
    add(
        "--transpose",
        metavar="FILE",
        action="append",
        nargs="?",
        const=ALL,
        default=[],
        help="read columns as samples, in this file or, without FILE, in all files, also of "
        "arrays; none if the rows of arrays are samples and the file does not tell",
    )
    add(
        "--no-header",
        action="store_false",
        dest="header",
        help="the first line is a sample, not the names of the columns",
    )
    add(
        "--decimal",
        metavar="MARK",
        action="append",
        help="decimal mark of text tables, . or ,; the other mark and blanks may then separate "
        "thousands; FILE:MARK for one file",
    )
    add(
        "--views",
        metavar="NAMES",
        help="matrices of a file to use as views: variables of .npz, .mat, .h5 or .zarr, such as "
        "X1,X2; of .h5ad, X (default), raw, layers or keys of obsm, such as X_pca,X_lsi; of .h5mu, "
        "one of each modality, such as rna=X_pca,prot=X_clr",
    )
    return group


def add_output(parser):
    """Add the options for the labels, which `cluster` and `predict` write; returns their group."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--labels",
        metavar="CSV",
        type=lambda name: None if name == STDOUT else name,
        help="file for labels; default: -, the standard output",
    )
    return group


def reading_options(args, **more):
    """The `Options` of reading in the arguments of a command."""
    names = [name for name in Options._fields if hasattr(args, name)]
    return Options(**{name: getattr(args, name) for name in names} | more)


def clusters(text):
    """A number of clusters, or "auto"."""
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a positive integer or auto, got {text!r}")
    return int(text)


def memory(text):
    """A text that represents a number of bytes."""
    try:
        check_bytes(text, "size")
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text
