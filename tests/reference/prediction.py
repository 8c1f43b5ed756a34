"""Scores of new rows by a model file, in float64, one row after the other."""

import numpy as np
from scipy.spatial.distance import cdist

from mvsc_fast.judge._model_file import parts

from .sparse_graphs import unit


def fields(image):
    """Numbers and arrays of the head, and of each record, in their shapes."""
    top, records = parts(image)
    head = {name: int(top[name]) for name in top.dtype.names[1:]}
    L, c = head["n_landmarks"], head["n_clusters"]

    def array(offset, dtype, shape):
        """An array that starts at an offset; None for 0."""
        if offset == 0:
            return None
        size = np.prod(shape, dtype=int) * np.dtype(dtype).itemsize
        return image[offset : offset + size].view(dtype).reshape(shape)

    def matrix(offset, k, n):
        """A matrix (k, n) that is stored in panels of 16 columns."""
        stored = array(offset, np.float32, (-(-n // 16), k, 16))
        return None if stored is None else stored.transpose(1, 0, 2).reshape(k, -1)[:, :n]

    views = []
    for record in records:
        view = {name: record[name].item() for name in record.dtype.names if name != "reserved"}
        width, d = view["n_features"], view["d"]
        mapped = width + (view["lift"] != 0)  # columns of the rows that are mapped
        shapes = {"mean": (d,), "squares": (L,), "scales": (L,), "mean_row": (width,)}
        shapes |= {"steps": (mapped,), "limits": (2 * c,)}
        for name, shape in shapes.items():
            view[name] = array(view[name], np.float32, shape)
        for name, shape in {"landmarks": (d, L), "coefficients": (d, c), "fill": (L, d)}.items():
            view[name] = matrix(view[name], *shape)
        view["landmarks"] = view["landmarks"].T
        view["codes"] = array(view["codes"], np.int8, (mapped, d))
        for name, size in {"centres": width, "deviations": width, "lift": width + 1}.items():
            view[name] = array(view[name], np.float64, (size,))
        views.append(view)
    head["kernel_coefficients"] = matrix(head["kernel_coefficients"], L, c)
    return head, views


def scores(image, views):
    """Scores of the rows of all views."""
    head, records = fields(image)
    out = []
    for j in range(len(views[records[0]["input"]])):
        rows = [views[record["input"]][j] for record in records]
        centred = [_centred(record, row) for record, row in zip(records, rows, strict=True)]
        joined = np.concatenate(centred)
        joined /= np.linalg.norm(joined)
        cuts = np.cumsum([record["d"] for record in records])[:-1]
        parts = np.split(joined, cuts)
        inner = sum(record["landmarks"] @ a for record, a in zip(records, parts, strict=True))
        score, kernel = np.zeros(head["n_clusters"]), np.zeros(head["n_landmarks"])
        for record, a, row in zip(records, centred, rows, strict=True):
            if np.isnan(row).all():
                z = inner @ record["fill"] + record["mean"]
                a = (z if record["codes"] is not None else unit(z[None])[0]) - record["mean"]
            distance = cdist(a[None], record["landmarks"])[0]
            rank = min(head["scale_neighbors"], len(distance))
            t = max(np.sort(distance)[rank - 1], record["least_scale"])
            kernel += np.exp(-(distance**2) / (t * record["scales"]))
            score += a / np.linalg.norm(a) @ record["coefficients"]
        out.append(score + kernel @ head["kernel_coefficients"])
    return np.array(out)


def margins(scores, limits):
    """Margins of rows with these scores, and their distances from the centres of their clusters."""
    gaps, distances = [], []
    for row in scores:
        label = row.argmax()
        score, others = max(row[label], 0), np.maximum(np.delete(row, label), 0)
        gaps.append((score - others.max(initial=0)) / score if score > 0 else 0.0)
        roots = limits[: len(row)]
        distances.append(np.linalg.norm(row * roots - (np.arange(len(row)) == label)))
    return np.array(gaps), np.array(distances)


def _centred(record, x):
    """The centred row z - mean of a row, 0 if it is missing."""
    if np.isnan(x).all():
        return np.zeros(record["d"])
    x = x.astype(np.float64)
    if record["centres"] is not None:
        x = (x - record["centres"]) / record["deviations"]
    if record["lift"] is not None:
        apart, radius = x - record["lift"][:-1], record["lift"][-1]
        u = apart / max(radius, np.linalg.norm(apart))
        x = np.append(u, np.sqrt(max(0, 1 - u @ u)))
    z = unit((np.sqrt(np.maximum(x, 0)) if record["form"] == 2 else x)[None])[0]
    if record["codes"] is not None:
        z = (z * record["steps"]) @ record["codes"]
    return z - record["mean"]
