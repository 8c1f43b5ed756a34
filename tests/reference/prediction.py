"""Scores of new rows by a model file, in float64, one row after the other."""

import numpy as np
from scipy.spatial.distance import cdist

import reference.predictability as twin
from mvsc_fast.judge._model_file import unpack


def fields(image):
    """Numbers and arrays of the head, and of each record, in their shapes."""
    head, views = unpack(image)
    L, c = head["n_landmarks"], head["n_clusters"]
    for view in views:
        width, d = view["n_features"], view["d"]
        view["lift"] = array(view["lift"], np.float64, (width + 1,))
        shapes = {"mean": (d,), "squares": (L,), "scales": (L,), "mean_row": (width,)}
        for name, shape in shapes.items():
            view[name] = array(view[name], np.float32, shape)
        for name, shape in {"landmarks": (d, L), "coefficients": (d, c), "fill": (L, d)}.items():
            view[name] = matrix(view[name], *shape)
        view["landmarks"] = view["landmarks"].T
        given = width + (view["lift"] is not None)  # columns of the rows that are mapped
        view["codes"] = array(view["codes"], np.int8, (given, d))
        view["steps"] = array(view["steps"], np.float32, (given,))
        for name in ("centres", "deviations"):
            view[name] = array(view[name], np.float64, (width,))
        of_clusters = 1 if head["version"] == 2 else c
        view["limits"] = array(view["limits"], np.float32, (c + of_clusters,))
    head["kernel_coefficients"] = matrix(head["kernel_coefficients"], L, c)
    return head, views


def array(data, dtype, shape):
    """An array of bytes, which may be followed by zeros; None for None."""
    if data is None:
        return None
    count = np.prod(shape, dtype=int)
    return data[: count * np.dtype(dtype).itemsize].view(dtype).reshape(shape)


def matrix(data, k, n):
    """A matrix (k, n) that is stored in panels of 16 columns."""
    if data is None:
        return None
    count = -(-n // 16)
    parts = array(data, np.float32, (count, k, 16))
    return parts.transpose(1, 0, 2).reshape(k, -1)[:, :n]


def scores(image, views):
    """Scores of the rows of all views."""
    head, known = fields(image)
    out = []
    for j in range(len(views[known[0]["input"]])):
        rows = [views[one["input"]][j] for one in known]
        centred = [_centred(one, row) for one, row in zip(known, rows, strict=True)]
        joined = np.concatenate(centred)
        joined /= np.linalg.norm(joined)
        cuts = np.cumsum([one["d"] for one in known])[:-1]
        parts = np.split(joined, cuts)
        inner = sum(one["landmarks"] @ a for one, a in zip(known, parts, strict=True))
        score, kernel = np.zeros(head["n_clusters"]), np.zeros(head["n_landmarks"])
        for one, a, row in zip(known, centred, rows, strict=True):
            if np.isnan(row).all():
                z = inner @ one["fill"] + one["mean"]
                a = (z if one["codes"] is not None else twin.unit(z[None])[0]) - one["mean"]
            distance = cdist(a[None], one["landmarks"])[0]
            rank = min(head["scale_neighbors"], len(distance))
            t = max(np.sort(distance)[rank - 1], one["least_scale"])
            kernel += np.exp(-(distance**2) / (t * one["scales"]))
            score += a / np.linalg.norm(a) @ one["coefficients"]
        out.append(score + kernel @ head["kernel_coefficients"])
    return np.array(out)


def margins(scores, limits):
    """Margins of rows with these scores, and their distances from the centres of their clusters."""
    found, distances = [], []
    for row in scores:
        label = row.argmax()
        own, others = max(row[label], 0), np.maximum(np.delete(row, label), 0)
        found.append((own - others.max(initial=0)) / own if own > 0 else 0.0)
        roots = limits[: len(row)]
        distances.append(np.linalg.norm(row * roots - (np.arange(len(row)) == label)))
    return np.array(found), np.array(distances)


def _centred(one, x):
    """The centred row z - mean of a row, 0 if it is missing."""
    if np.isnan(x).all():
        return np.zeros(one["d"])
    x = x.astype(np.float64)
    if one["centres"] is not None:
        x = (x - one["centres"]) / one["deviations"]
    if one["lift"] is not None:
        apart, radius = x - one["lift"][:-1], one["lift"][-1]
        u = apart / max(radius, np.linalg.norm(apart))
        x = np.append(u, np.sqrt(max(0, 1 - u @ u)))
    z = twin.unit((np.sqrt(np.maximum(x, 0)) if one["form"] == 2 else x)[None])[0]
    if one["codes"] is not None:
        z = (z * one["steps"]) @ one["codes"]
    return z - one["mean"]
