"""The options of the commands, and the forms of their values."""

import argparse
import math

from ..methods import ESTIMATORS
from ._outputs import STDOUT, check_printable, note_user
from ._readers import ALL, Options, load_data

SAMPLE_COLUMNS = "with --transpose, columns that are samples"


def add_input(parser, files, columns):
    """Add the files and the options that say how to read them; returns their group.

    ``files`` and ``columns`` are the help of the files and of --columns.
    """
    # Options that both commands have: which files, and how to read them.
    group = parser.add_argument_group("input")
    group.add_argument("files", nargs="+", metavar="FILE", help=files)
    add = group.add_argument
    add(
        "--id-column",
        metavar="NAME",
        action="append",
        help="column with the ids of the samples: a name or, of a column without one, its number "
        "from 1, or none; FILE:NAME for one file; by default the first column, if it has text or a "
        "name such as id",
    )
    add(
        "--columns",
        metavar="NAMES",
        action="append",
        help=columns,
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


def add_cluster_options(parser):
    """Add the options of ``mvsc-fast cluster``."""
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
        action="store_const",
        dest="affinity",
        const="precomputed",
        help="the files contain similarities of samples (tlrr, trpca, snn)",
    )
    # What is computed.
    add = parser.add_argument_group("clustering").add_argument
    add(
        "--clusters",
        metavar="K",
        type=_clusters,
        required=True,
        help="number of clusters, auto to use the suggested number, or resolution=R for Leiden "
        "communities at this resolution (consensus-tlrr)",
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
        help="test whether all views, and each alone, show more structure than noise (about 10 "
        "times slower)",
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


def read_files(args, files, *, truth=None, **options):
    """The `Data` of files as the arguments of a command say, after its notes."""
    names = set(vars(args)).intersection(Options._fields)
    reading = Options(**{name: getattr(args, name) for name in names})._replace(truth=truth)
    data = load_data(files, reading, **options)
    for note in data.notes:
        note_user(note)
    if args.labels is None:
        check_printable([data.id_name, *(() if data.ids is None else data.ids)])
    return data


def _clusters(text):
    """A number of clusters or "auto", or a resolution, which is a float."""
    try:
        name, equals, number = text.partition("=")
        if text == "auto":
            return text
        if name == "resolution" and equals and 0 < float(number) < math.inf:
            return float(number)
        if text.isdecimal() and int(text) > 0:
            return int(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(
        f"expected a positive integer, auto or resolution=R with a positive R, got {text!r}"
    )
