"""Writes what label_rows needs of a fitted TLRR.

Usage:

    from save_voters import save
    save(TLRR(10).fit(views), "voters.bin")
"""

import numpy as np

COUNTS = "n_clusters", "n_votes", "scale_neighbors", "n_listed", "n_candidates"


def save(model, path):
    """Numbers of 64 bits: v, n, those of COUNTS, views, and the cap.

    Then for each view its columns; for each slice its view and d; for each slice the columns used
    (d), the Cholesky factor (d x d), u (n x d) and h (n), both float32; and of all of them the
    scales (v x n, float32) and the labels (n).
    """
    voters = model.voters()
    widths = np.atleast_1d(model.n_features_in_)
    counts = [voters[name] for name in COUNTS]
    with open(path, "wb") as file:

        def write(numbers, dtype):
            np.ascontiguousarray(numbers, dtype=dtype).tofile(file)

        write([*voters["scales"].shape, *counts, len(widths)], np.int64)
        write([voters["cap"]], np.float64)
        write(widths, np.int64)
        for view, columns in zip(voters["view"], voters["columns"], strict=True):
            write([view, len(columns)], np.int64)
        for i, columns in enumerate(voters["columns"]):
            write(columns, np.int64)
            write(voters["lower"][i], np.float64)
            write(voters["u"][i], np.float32)
            write(voters["h"][i], np.float32)
        write(voters["scales"], np.float32)
        write(voters["labels"], np.int64)
