"""Sylvester equations with symmetric coefficients, through eigendecompositions."""

import numpy as np


def sylvester(left, right, QC):
    """Z with ``A Z + Z B = C`` for ``A = Q diag(a) Q^T`` and ``B = R diag(b) R^T``.

    ``Z = Q [ (Q^T C R)_ij / (a_i + b_j) ] R^T``, in which entries with a_i + b_j = 0 are set to 0.
    This is the solution of minimum norm, or the least-squares solution if there is none. ``left``
    is (a, Q) and ``right`` (b, R); Q may lack eigenvectors to which C is orthogonal. QC is Q^T C.
    """
    (a, Q), (b, R) = left, right
    total = a[:, None] + b
    largest = np.abs(a).max() + np.abs(b).max()
    zero = np.abs(total) <= len(b) * np.finfo(total.dtype).eps * largest
    total[zero] = 1.0
    inner = QC @ R
    inner /= total
    inner[zero] = 0.0
    return Q @ (inner @ R.T)
