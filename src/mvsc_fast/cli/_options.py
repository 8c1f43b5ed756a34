"""The options of the commands: their texts by group, and the forms of their values."""

import argparse

from ..methods import ESTIMATORS
from ..methods._recovery import NAMES as AFFINITIES
from ..views._row_source import check_bytes
from ._outputs import output
from ._readers import ALL

TABLES = {
    "--id-column NAME": "column with the ids of the samples: a name, a number from 1, or none; "
    "FILE:NAME for one file; by default the first column, if it has text or a name such as id",
    "--no-header": "the first line is a sample, not the names of the columns",
    "--decimal MARK": "decimal mark of text tables, . or ,; FILE:MARK for one file",
    "--thousands MARK": "separator of thousands of text tables: , or . or ' '; also FILE:MARK",
    "--transpose FILE": "read columns as samples, in this file or, without FILE, in all files, "
    "also of arrays; none if the rows of arrays are samples and the file does not tell",
    "--samples NAMES": "columns that are samples with --transpose, such as 'TCGA-*' or '!Score'; "
    "by default those that the other files have",
}
CELLS = {
    "--use NAMES": "matrices of .h5ad or .h5mu to use as views: X (default), raw, a layer or a key "
    "of obsm; several of .h5ad, such as X_pca,X_lsi, or one of each modality, such as "
    "rna=X_pca,prot=X_clr",
    "--views NAMES": "variables of .npz, .mat, .h5 or .zarr to use as views, such as X1,X2, or "
    "data.views for a field of a struct; by default, those with usual names, or the matrices that "
    "share one length",
}
MACHINE = {
    "--seed N": "seed of random numbers; default: 0",
    "--threads N": "number of threads; default: all free processors",
}
LABELS = {"--labels CSV": "file for labels; default: -, the standard output"}
CLUSTER = {
    "input": {
        "files FILE": "a table (.csv, .tsv, .txt, each also .gz; .parquet; .xlsx with one sheet) "
        "or .npy for each view, or one .npz, .mat, .h5 or .zarr with all views, or .h5ad, .h5mu, "
        "10x .h5 or a folder with matrix.mtx; - is the standard input",
        **TABLES,
        **CELLS,
        "--truth NAME": "variable of .npz, .mat, .h5 or .zarr with the known labels",
        "--columns NAMES": "columns to use as features, such as height,blood_*,7-12, or to "
        "exclude, such as '!sex,!stage'; FILE:NAMES for one file; several times for several views "
        "of one table",
        "--join": "if files do not have the same ids: inner keeps the samples in every file, outer "
        "those in at least one file, some of which then lack a view",
        "--scale": "standard: scale columns to mean 0 and standard deviation 1, for columns with "
        "different units; default: none",
    },
    "clustering": {
        "--clusters K": "number of clusters, or auto to use the suggested number; required without "
        "--resolution",
        "--resolution R": "find Leiden communities at this resolution instead (consensus-tlrr)",
        "--method NAME": f"{', '.join(ESTIMATORS)}; default: consensus-tlrr",
        "--affinity NAME": f"similarities for tlrr, trpca and snn: {', '.join(AFFINITIES[:-1])}, "
        "or precomputed if the files contain similarities",
        "--max-samples N": "cluster at most N samples and predict the labels of the others "
        "(consensus-tlrr)",
        "--memory-limit SIZE": "maximum memory, such as 600MiB; arrays on disk, also in .h5ad and "
        ".h5mu, are read in blocks (consensus-tlrr)",
        **MACHINE,
    },
    "output": {
        **LABELS,
        "--evidence": "test whether all views, and each alone, show more structure than noise, "
        "which takes about ten times as long; shown first by --explain and --report",
        "--report HTML": "report that shows and explains the result",
        "--explain": "print an explanation of the labels; with --explain or --report, the file of "
        "labels contains the certainty of each sample",
        "--save MODEL": "save the model and its scaling for mvsc-fast predict, as a pickle, or "
        ".skops, or .mvsc, which C programs can read",
        "--annotate FILE": "copy of the .h5ad or .h5mu with labels, margins, weights of modalities "
        "and the joint graph, for scanpy and muon",
        "--scores CSV": "compare with known labels, or labels of an earlier run, from a table with "
        "ids and labels, a column of obs or, without CSV, from the input file: scores and a cross "
        "table",
    },
}
PREDICT = {
    "input": {
        "model MODEL": "file that --save wrote; a pickle, unlike .mvsc, can run any code: load "
        "only those that you trust",
        "files FILE": "a file for each view, in the order of the fit, or VIEW=FILE for some of the "
        "views; VIEW is the name of its file in the fit, without suffix",
        **TABLES,
        **CELLS,
    },
    "output": {
        **LABELS,
        "--explain": "also write how certain each label is, from 0 to 1, and whether the sample is "
        "unlike those of the fit",
    },
}


def _clusters(text):
    """A number of clusters, or "auto"."""
    return text if text == "auto" else _positive(text, " or auto")


def _use(text):
    """Names of matrices in AnnData: one, a list, or a dict by modality."""
    names = text.split(",")
    if not any("=" in name for name in names):
        return text if len(names) == 1 else names
    pairs = [name.split("=") for name in names]
    if any(len(pair) != 2 or not all(pair) for pair in pairs) or len(dict(pairs)) < len(pairs):
        raise argparse.ArgumentTypeError(
            f"expected NAME,NAME or MODALITY=NAME,MODALITY=NAME, got {text!r}"
        )
    return dict(pairs)


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


# Arguments of ``add_argument``, besides the text and the name of the value.
FORMS = {
    "files": {"nargs": "+"},
    "--id-column": {"action": "append"},
    "--decimal": {"action": "append"},
    "--thousands": {"action": "append"},
    "--no-header": {"action": "store_false", "dest": "header"},
    "--transpose": {"action": "append", "nargs": "?", "const": ALL, "default": []},
    "--columns": {"action": "append"},
    "--join": {"choices": ("inner", "outer")},
    "--use": {"type": _use},
    "--views": {"type": lambda text: text.split(",")},
    "--scale": {"choices": ("standard", "none"), "default": "none"},
    "--clusters": {"type": _clusters},
    "--resolution": {"type": float},
    "--method": {"choices": sorted(ESTIMATORS), "default": "consensus-tlrr"},
    "--affinity": {"choices": AFFINITIES},
    "--max-samples": {"type": _positive},
    "--memory-limit": {"type": _bytes},
    "--seed": {"type": int, "default": 0},
    "--threads": {"type": _positive},
    "--labels": {"type": output},
    "--evidence": {"action": "store_true"},
    "--explain": {"action": "store_true"},
    "--scores": {"nargs": "?", "const": True, "default": False},
}
