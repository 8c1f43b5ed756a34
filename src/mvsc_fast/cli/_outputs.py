"""What the commands write: files, which are replaced when they are complete, and texts."""

import csv
import os
import shutil
import sys
from contextlib import contextmanager
from itertools import combinations, product
from pathlib import Path

import numpy as np
from sklearn.metrics.cluster import contingency_matrix

from .._utils.messages import counted
from .._utils.parts import text_table
from ._notation import as_text

STDOUT = "-"
MAX_LISTED = 20  # numbers of views or of clusters in the summary


@contextmanager
def replaced(name, mode="w"):
    """Open a stream for a file that is moved to its path after it has been written.

    None is the standard output, which like pipes and devices is written directly.
    """
    options = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    if name is None:
        yield sys.stdout
        sys.stdout.flush()
    elif _is_direct(name):
        with open(name, mode, **options) as stream:
            yield stream
    else:
        path = Path(os.path.realpath(name))  # the target of a link is replaced, not the link
        temporary = path.with_name(f".mvsc-fast-{os.getpid()}-{path.name}")
        try:
            with open(temporary, mode, **options) as stream:
                yield stream
            if path.exists():
                shutil.copymode(path, temporary)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def _is_direct(name):
    """Whether a path is a pipe or a device, also one that leads to a file, as /dev/stdout."""
    path = Path(name)
    return path.exists() and not path.is_file() or path.as_posix().startswith(("/dev/", "/proc/"))


def add_output(parser):
    """Add the option for the labels, which `cluster` and `predict` write; returns its group."""
    group = parser.add_argument_group("output")
    group.add_argument(
        "--labels",
        metavar="CSV",
        type=lambda name: None if name == STDOUT else name,
        help="file for labels; default: -, the standard output",
    )
    return group


def prepare_outputs(names, inputs=()):
    """Create the folders of output files; raise an error if they are not writable.

    The files must differ from each other and from the input. None is the standard output.
    """
    if None in names and sys.stdout is None:
        raise ValueError("the standard output is closed: use --labels to write a file")
    if STDOUT in names:
        raise ValueError(f"{STDOUT} stands for the standard output only in --labels and --report")
    names = [name for name in names if name is not None]
    for name in names:
        if os.path.expanduser(name) != str(name):
            raise ValueError(f"{name}: the shell has not replaced ~: write a blank before it")
    # Folders are created and tested now, because an error after the fit would lose it.
    for name in names:
        Path(os.path.realpath(name)).parent.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = Path(os.path.realpath(name))
        if Path(name).is_dir():
            raise ValueError(f"{name} is a folder: choose a file name")
        # A file with write protection would be replaced all the same.
        targets = [name] if _is_direct(name) else filter(os.path.exists, (path.parent, path))
        if not all(os.access(target, os.W_OK) for target in targets):
            raise ValueError(f"{name} cannot be written: no permission for it or its folder")
    # Links may lead two names to one file.
    for name, other in [*combinations(names, 2), *product(names, inputs)]:
        if os.path.realpath(name) == os.path.realpath(other):
            problem = "is an input file" if other in inputs else "would be written twice"
            raise ValueError(f"{name} {problem}, as {other}: choose another")


def check_printable(texts):
    """Raise ValueError if the standard output cannot show some texts."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        "".join(texts).encode(encoding)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the standard output cannot show {ascii(error.object[error.start])}, because its "
            f"encoding is {encoding}: set the environment variable PYTHONUTF8=1 or, for the labels "
            "of samples, use --labels FILE"
        ) from None


# ------------------------------------------------------------------------------------------- text


def shown_name(path):
    """The name of a file as text that can be displayed everywhere."""
    return os.fsencode(str(path)).decode("utf-8", "replace")


@contextmanager
def errors_of(path):
    """Add the name of the file at ``path`` to all errors."""
    try:
        yield
    except ImportError:
        raise
    except Exception as error:  # parsers of damaged files may raise any error
        if isinstance(error, OSError) and error.filename is not None:
            raise
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        name = shown_name(path)
        prefix = "" if message.startswith((name, str(path))) else f"{name}: "
        raise ValueError(f"{prefix}{message}") from error


def print_escaped(text, out):
    """Print a text with escapes for the characters that the encoding of the stream does not have.

    Texts are for reading; an error would lose those that come after them.
    """
    encoding = getattr(out, "encoding", None) or "utf-8"
    print(str(text).encode(encoding, "backslashreplace").decode(encoding), file=out)


def note_user(note):
    """Print each line of a note for the user."""
    for line in str(note).splitlines():
        print(f"mvsc-fast: {line.strip()}", file=sys.stderr)


def write_labels(stream, columns, ids=None, id_name="sample"):
    """Write a header and a line for each sample: its id or its index, and its values."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([id_name, *columns])
    names = range(len(next(iter(columns.values())))) if ids is None else ids
    writer.writerows(zip(names, *columns.values(), strict=True))


def certainty_columns(explained):
    """Certainty and second cluster of each sample; empty texts if there is a single cluster."""
    if "certainty" not in explained.samples:
        empty = np.full(explained.samples.n_rows, "", dtype=object)
        return {"certainty": empty, "second": empty}
    values = explained.samples["certainty"]
    texts = ["" if np.isnan(value) else f"{value:.3f}" for value in values.tolist()]
    return {"certainty": np.array(texts, dtype=object), "second": explained.samples["second"]}


def score_table(rows):
    """Scores by row and name as lines of text."""
    columns = {"": list(rows)}
    for name in next(iter(rows.values())):
        columns[name] = [f"{scores[name]:.3f}" for scores in rows.values()]
    return text_table(columns, [""])


def cross_table(true_labels, labels):
    """The contingency table of clusters and known labels of the same samples, as text."""
    names, classes = np.unique(
        true_labels.astype(str) if true_labels.dtype == object else true_labels, return_inverse=True
    )
    columns = {"": list(map(str, np.unique(labels)))}
    counts = contingency_matrix(labels, classes).T
    for name, column in zip(names.tolist(), counts, strict=True):
        columns[as_text(name)] = list(map(str, column))
    title = f"{counted(len(labels), 'sample')} by cluster (rows) and known label (columns):"
    return f"{title}\n{text_table(columns)}"


def summary(views, labels):
    """Summarise the numbers of samples and features and the clusters in one line."""
    widths = [X.shape[1] for X in views.values()]
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1].tolist()
    noun = "feature" if widths == [1] else "features"
    unlabelled = f"; {np.sum(labels < 0)} without a label" if (labels < 0).any() else ""
    return (
        f"{counted(len(labels), 'sample')}, {_listed(widths, ' + ')} {noun} in "
        f"{counted(len(widths), 'view')}, {counted(len(sizes), 'cluster')} of "
        f"{_listed(sizes, ', ')} samples{unlabelled}"
    )


def _listed(numbers, separator):
    """Numbers as text, at most MAX_LISTED of them."""
    more = ["..."] if len(numbers) > MAX_LISTED else []
    return separator.join([*map(str, numbers[:MAX_LISTED]), *more])
