"""Views and labels in files of arrays: .npz, .mat, HDF5 and zarr; pickles are never loaded."""

import re
from pathlib import Path

import numpy as np
import scipy.sparse

from .._utils.messages import counted
from ._stores import SUFFIXES, read_variables

__all__ = ["SUFFIXES", "read_arrays"]

VIEW_NAMES = ("X", "data", "fea", "views", "features", "Xs", "x")
NUMBERED = re.compile(r"(?:x|view|v|fea|data)_?(\d+)", re.IGNORECASE)
DOCUMENTED = re.compile(r"view_\d+")  # samples are rows if the labels do not contradict
LABEL_NAMES = {"y", "ytrue", "gt", "gnd", "s", "gtruth", "groundtruth", "truth", "truths"}
LABEL_NAMES |= {"label", "labels", "truelabel", "truelabels", "classlabel", "classlabels"}
LABEL_NAMES |= {"class", "classes", "target", "targets", "category", "categories"}
LABEL_NAMES |= {"celltype", "celltypes"}
# Words in the names of matrices that are no views, and of those that stop the run
INDICES = {"ind", "index", "indices", "idx", "id", "ids", "mask", "missing", "perm"}
INDICES |= {"fold", "folds", "split", "splits"}
DOUBTFUL = {"weight", "weights", *LABEL_NAMES} - {"s"}
# Parts of one data set, which are not views of the same samples
PARTS = [
    re.compile(rf"{long}|(?<![a-z]){short}(?![a-z])", re.IGNORECASE)
    for long, short in (("train", "tr"), ("test", "te"), ("valid", "val"))
]
MAX_SHOWN = 8  # number of variables in a message
MAX_CLASSES = 1000  # of labels as a sparse matrix with a column for each class


def read_arrays(path, *, views=None, truth=None, transpose=None, fit=None, lazy=False):
    """The views of a file by name, its labels or None, and notes on what was taken.

    ``views`` and ``truth`` name variables; fields of structs and members of groups are named
    ``struct.field``. ``transpose`` says whether columns are samples; None lets the length that all
    views share or that of the labels decide. ``fit`` has the numbers of features of the views of a
    model, by name: variables of these names are views, and the numbers decide first. ``lazy``
    leaves matrices of HDF5 and zarr on disk if their rows are samples.
    """
    path, fit = Path(path), fit or {}
    variables = read_variables(path, None if views is None else {*views, truth})
    # Views are named by the user, by a model, or by convention.
    names = _view_names(variables, views or _names_of_fit(variables, fit), truth)
    matrices = {}
    for name in names:
        parts = _matrices(variables[name])
        several = isinstance(variables[name], list) or len(parts) > 1
        matrices |= {f"{name}[{i}]" if several else name: X for i, X in enumerate(parts)}
    # Vectors with the names of labels decide; others may describe features as well as samples.
    leftovers = {name: A for name, A in variables.items() if name not in names}
    vectors = {name: y for name, A in leftovers.items() if (y := labels_in(A)) is not None}
    if truth is not None:
        if truth not in vectors:
            raise ValueError(f"{truth!r} has no labels: the file has {_described(variables)}")
        label_vectors = {truth: vectors[truth]}
    else:
        usual = {name: y for name, y in vectors.items() if _is_label_name(name)}
        label_vectors = {name: y for name, y in usual.items() if len(np.unique(y)) < len(y)}
    if transpose is None:
        transpose = _orientation_of_fit(matrices, fit)
    is_turned = _columns_are_samples(matrices, label_vectors, transpose, views is not None)
    n = next(iter(matrices.values())).shape[int(is_turned)]
    labels = [name for name, y in label_vectors.items() if len(y) == n]
    if label_vectors and not labels:
        raise ValueError(
            f"{n} samples are {'columns' if is_turned else 'rows'} of {_described(matrices)}, but "
            f"{_described(leftovers, label_vectors)} has another number of labels: name "
            "variables of the same samples with --views and --scores"
        )
    codes = [np.unique(vectors[name], return_inverse=True)[1] for name in labels]
    agree = all(np.array_equal(codes[0], other) for other in codes[1:])
    # One note states all decisions; if the file has the documented names, there are none.
    facts = [f"{n} samples are {'columns' if is_turned else 'rows'}", f"views {_listed(matrices)}"]
    facts.append(f"labels {labels[0]}" if labels else "no labels")
    if not agree:
        facts[-1] = f"labels in {_listed(labels)} differ: --scores NAME selects them"
    leftovers = {name: A for name, A in leftovers.items() if name not in labels}
    if unread := [
        name for name, A in leftovers.items() if _matrices(A) or len(getattr(A, "shape", ())) > 2
    ]:
        facts.append(f"not read: {_described(leftovers, unread)}")
    documented = variables.keys() <= {*names, "y"} and all(map(DOCUMENTED.fullmatch, names))
    notes = [] if documented and not is_turned else [f"{path.name}: {'; '.join(facts)}"]
    y = vectors[labels[0]] if labels and agree else None
    for name, X in matrices.items():
        X = X if scipy.sparse.issparse(X) or (lazy and not is_turned) else X[:]
        matrices[name] = X.T if is_turned else X
    return matrices, y, notes


# ---------------------------------------------------------------------------------------- decisions


def _view_names(variables, views, truth):
    """The names of the variables that are views."""
    parts = {name: _matrices(A) for name, A in variables.items()}
    numbered = [name for name in variables if NUMBERED.fullmatch(_last(name))]
    numbered.sort(key=lambda name: int(NUMBERED.fullmatch(_last(name))[1]))
    for name in views or numbered:
        if name not in variables:
            raise ValueError(f"no variable {name!r}: the file has {_described(variables)}")
        if not parts[name]:
            raise ValueError(f"{_described(variables, [name])} is not a matrix of real numbers")
    if views is not None:
        return list(dict.fromkeys(views))
    # Candidates are all matrices but vectors, labels and indices, those with usual names first.
    free = [name for name in parts if any(min(X.shape) > 1 for X in parts[name])]
    free = [name for name in free if not _is_truth(name, variables[name]) and name != truth]
    free = [name for name in free if not _words(name) & INDICES]
    free.sort(key=lambda name: (_last(name) not in VIEW_NAMES, bool(_words(name) & DOUBTFUL)))
    if not free:
        raise ValueError(
            "no matrices of real numbers with a row or a column for each sample: the file has "
            f"{_described(variables)}"
        )
    usual = [name for name in free if _last(name) in VIEW_NAMES]
    cells = [name for name in free if isinstance(variables[name], list)]
    stems = {name.rstrip("0123456789") for name in numbered}
    if len(usual) == 1 and (usual == free or usual[0] in cells):
        return usual
    if len(stems) == 1 and not usual and (len(numbered) > 1 or numbered == free):
        return numbered
    if len(cells) == 1 and not usual and not numbered:
        return cells
    # Matrices of any names are views, unless their names or shapes say that some are none.
    square = {X.shape[0] == X.shape[1] for name in free for X in parts[name]}
    split = [form for form in PARTS if any(form.search(name) for name in free)]
    doubtful = [name for name in free if _words(name) & DOUBTFUL]
    if usual or numbered or cells or doubtful or len(square) > 1 or len(split) > 1:
        raise ValueError(
            f"{_described(variables, free)} could all be views: name those of the same samples, "
            f"such as --views {','.join(free[:2])}"
        )
    return free


def _names_of_fit(variables, fit):
    """Those variables that are views of a model, or None."""
    names = dict.fromkeys(name.partition("[")[0] for name in fit)
    return [name for name in names if name in variables] or None


def _orientation_of_fit(matrices, fit):
    """Whether columns are samples, if only then or only otherwise views have the size of a fit."""
    names = [name for name in matrices if name in fit]
    sizes = [fit[name] for name in names] if names else list(fit.values())
    views = [matrices[name] for name in names or matrices]
    fits = [[X.shape[axis] for X in views] == sizes for axis in (0, 1)]
    return fits[0] if fits[0] != fits[1] else None


def _columns_are_samples(matrices, labels, transpose, chosen):
    """Whether columns are samples, by the length that all views share, or that of the labels.

    ``labels`` are vectors by name; ``chosen`` says whether views were named with --views.
    """
    lengths = [{X.shape[axis] for X in matrices.values()} for axis in (0, 1)]
    shared = [axis for axis in (0, 1) if len(lengths[axis]) == 1]
    if transpose is not None:
        shared = [int(transpose)] if int(transpose) in shared else []
    if not shared:
        option = {None: "rows or of columns", False: "rows", True: "columns (--transpose)"}
        raise ValueError(
            f"{_described(matrices)} do not share a number of {option[transpose]}: name views of "
            "the same samples with --views"
        )
    if transpose is not None:
        return transpose
    # The number of labels decides where it fits one side only.
    deciding = {len(y) for y in labels.values()} & (lengths[0] | lengths[1])
    if shared == [1]:
        # Usual names are those of views; others may be samples with the same features, or results.
        names = {_last(name.partition("[")[0]) for name in matrices}.difference(VIEW_NAMES)
        if chosen or all(map(NUMBERED.fullmatch, names)) or deciding & lengths[1]:
            return True
        raise ValueError(
            f"{_described(matrices)} share columns alone, and no labels tell that these are the "
            "samples: use --transpose if they are, else name views of the same samples with --views"
        )
    if shared == [0]:
        return False
    if lengths[0] != lengths[1] and len(deciding) == 1:
        return deciding == lengths[1]
    # Square symmetric matrices are the same either way, and documented names have rows of samples.
    square = lengths[0] == lengths[1] and all(map(is_symmetric, matrices.values()))
    if square or all(map(DOCUMENTED.fullmatch, matrices)):
        return False
    raise ValueError(
        f"rows or columns of {_described(matrices)} could be the samples, and no labels decide: "
        "name labels with --scores NAME, or use --transpose if columns are samples, or "
        "--transpose none if rows are"
    )


def _matrices(A):
    """The matrices of a variable: itself, its cells, or the slices of a stack of square ones."""
    if isinstance(A, list):
        cells = A[0] if len(A) == 1 and isinstance(A[0], list) else A
        parts = [_matrices(cell) for cell in cells]
        return [part[0] for part in parts] if all(len(part) == 1 for part in parts) else []
    shape = getattr(A, "shape", ())
    if not shape or A.dtype.kind not in "fiub":
        return []
    # More slices than samples are images.
    if len(shape) == 3 and shape[0] == shape[1] >= shape[2]:
        return [A[:, :, i] for i in range(shape[2])]
    if len(shape) == 3 and shape[0] <= shape[1] == shape[2]:
        return [A[i] for i in range(shape[0])]
    return [A] if len(shape) == 2 else []


def labels_in(A):
    """Labels in a variable or None: integers, text, a row or column for each class, equal cells."""
    if isinstance(A, list):
        if all(isinstance(cell, np.ndarray) and cell.size == 1 for cell in A):
            return labels_in(np.array([cell.item() for cell in A]))
        vectors = [labels_in(cell) for cell in A]
        equal = all(y is not None and np.array_equal(y, vectors[0]) for y in vectors)
        return vectors[0] if vectors and equal else None
    shape = getattr(A, "shape", ())
    if not shape or A.dtype.kind not in "fiubU" or max(shape) < 2 or min(shape) == 0:
        return None
    if scipy.sparse.issparse(A):
        if A.nnz > max(shape) or min(shape) > MAX_CLASSES:
            return None
        A = A.toarray()
    if np.prod(shape) == max(shape):
        y = np.ravel(A[:])
        return y if y.dtype.kind != "f" or np.array_equal(y, np.rint(y)) else None
    if len(shape) != 2 or A.dtype.kind == "U" or min(shape) == max(shape):
        return None
    # One column for each class: exactly one entry of a row is the largest.
    axis, values = int(np.argmin(shape)), A[:]
    hits = values == values.max()
    coded = len(np.unique(values)) == 2 and (hits.sum(axis) == 1).all()
    return hits.argmax(axis) if coded else None


def is_symmetric(X):
    """Whether the first rows of a square matrix are its first columns."""
    part = X[:100, :100]
    part = part.toarray() if scipy.sparse.issparse(part) else part
    return np.allclose(part, part.T, equal_nan=True)


# -------------------------------------------------------------------------------------------- names


def _last(name):
    """The name of a field without that of its struct."""
    return name.rpartition(".")[2]


def _is_label_name(name):
    return re.sub("[_-]", "", _last(name).lower()) in LABEL_NAMES


def _words(name):
    """The words in a name."""
    return {word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+", _last(name))}


def _is_truth(name, A):
    """Whether a variable has the name and the form of labels."""
    return _is_label_name(name) and labels_in(A) is not None


def _listed(names):
    """Names in a message, at most MAX_SHOWN of them."""
    names = list(names)
    end = f", ... ({len(names)} in all)" if len(names) > MAX_SHOWN else ""
    return ", ".join(names[:MAX_SHOWN]) + end or "no variables"


def _described(variables, names=None):
    """Names and shapes of variables in a message."""
    return _listed(f"{name} ({_shape(variables[name])})" for name in names or variables)


def _shape(A):
    """The shape of a variable or of its first cell, in words."""
    if isinstance(A, list):
        return f"{counted(len(A), 'cell')} of {_shape(A[0])}" if A else "empty"
    return " x ".join(map(str, getattr(A, "shape", ()))) or "no array"
