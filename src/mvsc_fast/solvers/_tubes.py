"""The first step of the certified solver on a sparse pattern, and what it is worth."""

import numpy as np


def solve_tubes(tensor, *, omega1, alpha, lam):
    """Shrink every stored tube by ``tau = omega2 alpha / (2 lam)``.

    With T the dual point ``2 lam (W - L)`` of the tube terms and zero for all others, the tube
    terms and the misfit cancel and the duality gap is what is left of the objective,

        omega1 sum_i ||L_i||_*  +  omega2 sum_j ||L_(j)||_*

    The row slices' norms are exact, from their v x v Gram matrices; a frontal slice's is at most
    the sum of its row lengths.

    Parameters
    ----------
    tensor : SparseTensor
        W on its pattern.
    omega1, alpha, lam : float
        As of `tlrr`.

    Returns
    -------
    values : ndarray of shape (v, nnz), float32
        L on the pattern of W.
    gap_bound : float
        The objective at L is within ``gap_bound * lam * ||L||_F^2`` of its minimum for this W.
    """
    omega2 = 1.0 - omega1
    tau = np.float32(omega2 * alpha / (2 * lam))
    lengths = tensor.lengths
    values = tensor.values * np.maximum(0, 1 - tau / np.where(lengths > 0, lengths, 1))
    v, n = len(values), len(tensor.indptr) - 1
    rows = np.repeat(np.arange(n), np.diff(tensor.indptr))
    grams = np.empty((n, v, v))
    for a in range(v):
        for b in range(a + 1):
            products = np.bincount(rows, values[a].astype(np.float64) * values[b], minlength=n)
            grams[:, a, b] = grams[:, b, a] = products
    squares = grams[:, np.arange(v), np.arange(v)]
    frontal = np.sqrt(squares).sum()
    row_slices = np.sqrt(np.maximum(np.linalg.eigvalsh(grams), 0)).sum()
    misfit = lam * squares.sum()
    gap = omega1 * frontal + omega2 * row_slices
    return values, float(gap / misfit) if misfit > 0 else 0.0
