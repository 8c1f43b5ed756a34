"""Labels and scores of a clustering, as text."""

import csv
import sys

import numpy as np
from sklearn.metrics.cluster import contingency_matrix

from .._utils.messages import counted


def note_user(note):
    print(f"mvsc-fast: {note}", file=sys.stderr)


def write_labels(stream, columns, ids=None, id_name="sample"):
    """Write a header and a line for each sample: its id or its index, and its values."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([id_name, *columns])
    columns = [values.tolist() for values in columns.values()]
    names = range(len(columns[0])) if ids is None else ids
    writer.writerows(zip(names, *columns, strict=True))


def certainty_columns(explained):
    """Certainty and second cluster of each sample if they are explained; empty if unknown."""
    if explained is None or "certainty" not in explained.samples:
        return {}
    values = explained.samples["certainty"]
    texts = ["" if np.isnan(value) else f"{value:.3f}" for value in values.tolist()]
    return {"certainty": np.array(texts, dtype=object), "second": explained.samples["second"]}


def common_labels(true_labels, rows, labels):
    """Known labels and labels of the samples that have both."""
    labelled = labels[rows] >= 0
    return true_labels[labelled], labels[rows][labelled]


def cross_table(true_labels, labels):
    """The contingency table of clusters and known labels of the same samples, as text."""
    # Integers that were read as floats are shown as integers.
    names, classes = np.unique(
        true_labels.astype(str) if true_labels.dtype == object else true_labels, return_inverse=True
    )
    names = [f"{name:g}" if isinstance(name, float) else str(name) for name in names.tolist()]
    table = zip(np.unique(labels), *contingency_matrix(labels, classes).T, strict=True)
    width = max(8, *map(len, names))
    lines = []
    for row in [("", *names), *table]:
        lines.append(" ".join(str(cell).rjust(width) for cell in row))
    title = f"{counted(len(labels), 'sample')} by cluster (rows) and known label (columns):"
    return "\n".join([title, *lines])


def summary(views, labels):
    """Summarise the numbers of samples and features and the clusters in one line."""
    widths = [X.shape[1] for X in views.values()]
    sizes = np.unique(labels[labels >= 0], return_counts=True)[1].tolist()
    unlabelled = f"; {np.sum(labels < 0)} without a label" if (labels < 0).any() else ""
    features = " + ".join(map(str, widths[:8])) + (" + ..." if len(widths) > 8 else "")
    parts = ", ".join(map(str, sizes[:20])) + (", ..." if len(sizes) > 20 else "")
    return (
        f"{counted(len(labels), 'sample')}, {features} features in "
        f"{counted(len(widths), 'view')}, {counted(len(sizes), 'cluster')} of {parts} samples"
        f"{unlabelled}"
    )


def score_table(rows):
    """Format scores by row and name as lines of text."""
    names = next(iter(rows.values()))
    width, widths = max(map(len, rows)), [max(len(name) + 2, 7) for name in names]
    lines = [" " * width + "".join(map(str.rjust, names, widths))]
    for row, scores in rows.items():
        cells = (f"{value:.3f}" for value in scores.values())
        lines.append(f"{row:<{width}}" + "".join(map(str.rjust, cells, widths)))
    return "\n".join(lines)
