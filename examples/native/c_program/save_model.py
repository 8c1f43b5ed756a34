"""Writes what label_rows needs of a fitted ConsensusTLRR.

Usage:

    from save_model import save
    save(ConsensusTLRR(10).fit(views), "model.bin", [X.shape[1] for X in views])
"""

import numpy as np


def save(model, path, n_features):
    """Whole numbers of 64 bits: views, views used, clusters, landmarks, scale_neighbors, and 1 if
    there is ``fill``; the columns of all views (``n_features``), the numbers of the views used, and
    their n_features, d and form; least_scales. Then for each view 1 and samples and factors, or 0;
    means, landmarks, scales, coefficients, mean_rows and fill. Last kernel_coefficients.
    """
    native = model.to_native()
    has_fill = native["fill"] is not None
    names = ["means", "landmarks", "scales", "coefficients", "mean_rows", *["fill"] * has_fill]
    with open(path, "wb") as file:

        def write_numbers(*numbers):
            np.array(numbers, dtype=np.int64).tofile(file)

        counts = (native[name] for name in ("n_clusters", "n_landmarks", "scale_neighbors"))
        write_numbers(len(n_features), len(native["views"]), *counts, has_fill)
        write_numbers(*n_features, *native["views"])
        for name in ("n_features", "d", "form"):
            write_numbers(*native[name])
        native["least_scales"].tofile(file)
        for i, factor in enumerate(native["factors"]):
            write_numbers(factor is not None)
            if factor is not None:
                native["samples"][i].tofile(file)
                factor.tofile(file)
            for name in names:
                native[name][i].tofile(file)
        native["kernel_coefficients"].tofile(file)
