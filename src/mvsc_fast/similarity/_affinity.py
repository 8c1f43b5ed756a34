"""Tube thresholds of similarity tensors and thresholded affinity matrices."""

import numpy as np
import scipy.sparse

from .._utils.messages import warn_user
from ..views._view_rows import with_data

# Mean row sum of the regularisation of an affinity matrix. Values of .003 to .03 give the same
# accuracy on YaleB; without it the exact minimiser has .85 instead of .95.
REGULARIZATION = 0.01


def tube_lengths(W):
    """Lengths of the tubes W[:, j, k], an array, or a coo_array for csr slices of any patterns."""
    # A power of two, which rounds nothing, keeps squares in the range of numbers.
    exponent = np.frexp(max(abs(A).max() for A in W))[1]
    if scipy.sparse.issparse(W[0]):
        slices = [with_data(A, np.ldexp(A.data, -exponent)) for A in W]
        lengths = scipy.sparse.coo_array(sum(A.multiply(A) for A in slices))
        lengths.data = np.ldexp(np.sqrt(lengths.data), exponent)
        return lengths
    return np.ldexp(np.sqrt(sum(np.square(np.ldexp(A, -exponent)) for A in W)), exponent)


def tube_threshold(lengths, n, n_neighbors):
    """Tube length that on average ``n_neighbors`` tubes of each of n samples exceed.

    ``lengths`` are those of all off-diagonal tubes of a symmetric tensor, so that every pair of
    samples counts twice; zeros may be omitted. The result is the length of the shortest positive
    tube if there are too few, and half of the maximum if more tubes than requested tie at the
    maximum, so that all of them are kept.
    """
    positive = np.count_nonzero(lengths)
    if positive == 0:
        return 1.0
    rank = len(lengths) - min(max(n * n_neighbors, 1), positive)
    tau, longest = float(np.partition(lengths, rank)[rank]), float(lengths.max())
    return tau if tau < longest * (1 - 1e-6) else longest / 2


def regularized(S, S_W, n):
    """Add regularisation to the affinity matrix S, in place.

    S is scaled to mean row sum 1, and a hundredth of S_W, scaled likewise, is added. The exact
    minimiser is so sparse that its graph breaks into a large component and tiny ones, to which
    normalised cuts assign clusters; weak dense links prevent that (regularised spectral clustering:
    Amini et al. 2013; Joseph & Yu 2016).

    Parameters
    ----------
    S, S_W : ndarray or csr_array
        Affinity matrices after and before thresholding, or their entries on one sparse pattern.
    n : int
        Number of samples.
    """
    S *= n / (float(S.sum(dtype=np.float64)) or 1.0)
    S += S_W * (REGULARIZATION * n / (float(S_W.sum(dtype=np.float64)) or 1.0))
    return S


def thresholded_affinity(tensor, tau):
    """Sum of the slices of a `SparseTensor` after tube shrinkage, with regularisation.

    ``S / mean row sum + .01 S_W / mean row sum``, S = sum_i W_i max(0, 1 - tau / length), the
    first step of the certified solver; see `regularized`. A csr_array of shape (n, n), float32.
    """
    lengths = tensor.lengths
    factors = np.maximum(0, 1 - np.float32(tau) / np.where(lengths > 0, lengths, 1))
    total = tensor.values.sum(axis=0)
    return tensor.matrices([regularized(total * factors, total, tensor.n)])[0]


def warn_of_isolated(degree):
    """Warn if more than half of the samples have no neighbour, by the row sums of a graph."""
    n_isolated = np.count_nonzero(degree == 0)
    if 2 * n_isolated > len(degree):
        warn_user(
            f"{n_isolated} of {len(degree)} samples have no neighbour in any view; their labels "
            "are arbitrary"
        )
