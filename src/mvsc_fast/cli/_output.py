"""What the commands write: files, which are replaced when they are complete, and texts."""

import csv
import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sklearn.metrics.cluster import contingency_matrix

from .._utils.messages import counted
from .._utils.parts import text_table
from ..metrics import clustering_scores


@contextmanager
def replaced(name, mode="w"):
    """Open a stream for a file that is moved to its path after it has been written.

    None is the standard output, which like pipes and devices is written directly.
    """
    options = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    if name is None:
        yield sys.stdout
        sys.stdout.flush()
    elif os.path.exists(name) and not os.path.isfile(name):
        with open(name, mode, **options) as stream:
            yield stream
    else:
        path = Path(os.path.realpath(name))  # the target of a link is replaced, not the link
        temporary = path.with_name(f".mvsc-fast-{os.getpid()}-{path.name[-20:]}")
        try:
            with open(temporary, mode, **options) as stream:
                yield stream
            if path.exists():
                shutil.copymode(path, temporary)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def prepare_outputs(names, inputs, is_copy=False):
    """Create the folders of output files; raise ValueError if one is an input or another output.

    The first is that of the labels, a table unless they are written into a copy of the cells. That
    comes before the work, which an error after it would lose.
    """
    if names[0] is None and sys.stdout is None:
        raise ValueError("the standard output is closed: use --labels to write a file")
    paths = [Path(os.path.realpath(name)) for name in names if name is not None]
    others = [Path(os.path.realpath(name)) for name in inputs]
    for i, path in enumerate(paths):
        if path in [*paths[:i], *others] or path.is_dir():
            raise ValueError(f"{path} is a folder, an input file or another output: choose another")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not os.access(path.parent if path.is_file() or not path.exists() else path, os.W_OK):
            raise ValueError(f"{path} cannot be written")
    if not is_copy and Path(names[0] or "").suffix.lower() not in ("", ".csv"):
        raise ValueError(f"--labels {names[0]}: labels are .csv, or a copy of the file of cells")


def printable(path):
    """A text that can be displayed everywhere: paths may have bytes that are none."""
    return os.fsencode(path).decode("utf-8", "replace")


def note_user(note):
    """Print each line of a note for the user."""
    for line in str(note).splitlines():
        print(f"mvsc-fast: {line.strip()}", file=sys.stderr)


def write_labels(stream, columns, ids):
    """Write a header and a line for each sample: its id or its index, and its values."""
    n_samples = len(next(iter(columns.values())))
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["sample" if ids is None else ids.name, *columns])
    writer.writerows(zip(range(n_samples) if ids is None else ids, *columns.values(), strict=True))


def rounded(values):
    """Numbers as text, empty where they are NaN."""
    return np.array(["" if np.isnan(value) else f"{value:.3f}" for value in values.tolist()])


def score_table(rows):
    """Scores by row and name as lines of text."""
    columns = {"": list(rows)}
    for name in next(iter(rows.values())):
        columns[name] = [f"{scores[name]:.3f}" for scores in rows.values()]
    return text_table(columns, [""])


def tell_scores(method, known, labels, stream):
    """Print scores of labels, and their contingency table with known labels."""
    print(score_table({method: clustering_scores(known, labels)}), file=stream)
    names, classes = np.unique(known, return_inverse=True)
    columns = {"": list(map(str, np.unique(labels)))}
    for name, column in zip(names.tolist(), contingency_matrix(labels, classes).T, strict=True):
        columns[name] = list(map(str, column))
    title = f"{counted(len(labels), 'sample')} by cluster (rows) and known label (columns):"
    print(f"{title}\n{text_table(columns)}", file=stream)


def tell_sizes(labels):
    """Print the number of samples of each cluster."""
    names, sizes = np.unique(labels, return_counts=True)
    parts = (
        f"{size} in {name}" if name >= 0 else f"{size} without a label"
        for name, size in zip(names.tolist(), sizes.tolist(), strict=True)
    )
    note_user(f"{counted(len(labels), 'sample')} by cluster: {', '.join(parts)}")
