"""Thresholds on the tubes of similarity tensors, and the affinities that are left above them."""

import numpy as np
import scipy.sparse

from .._utils.messages import warn_user

# Mean row sum of the unprocessed share of an affinity. .003 to .03 give the same accuracy on YaleB,
# without it the exact minimiser has .85 instead of .95.
REGULARIZATION = 0.01


def tube_lengths(W):
    """Lengths of the tubes W[:, j, k], j != k, of symmetric slices.

    Parameters
    ----------
    W : ndarray of shape (v, n, n), or list of v sparse arrays of shape (n, n)
        Sparse slices may have any patterns.

    Returns
    -------
    ndarray of shape (n (n - 1),), or (nnz,) where the slices are sparse
        Of every pair of samples twice.
    """
    if scipy.sparse.issparse(W[0]):
        squares = scipy.sparse.coo_array(sum(A.multiply(A) for A in W))
        return np.sqrt(squares.data[squares.row != squares.col])
    squares = np.einsum("ijk,ijk->jk", W, W)
    return np.sqrt(squares[~np.eye(len(squares), dtype=bool)])


def tube_threshold(lengths, n, n_neighbors):
    """The tube length that ``n_neighbors`` tubes of each of n samples exceed on average.

    Parameters
    ----------
    lengths : ndarray of shape (nnz,)
        Of all tubes of a symmetric tensor off its diagonal, so that every pair of samples counts
        twice; those of length zero may be left out. See `tube_lengths` and `SparseTensor`.
    n, n_neighbors : int

    Returns
    -------
    float
        The shortest positive tube if there are too few; half of the longest if more tubes tie at
        the maximum than asked for, so that all of them survive.
    """
    positive = np.count_nonzero(lengths)
    if positive == 0:
        return 1.0
    rank = len(lengths) - min(max(n * n_neighbors, 1), positive)
    tau, longest = float(np.partition(lengths, rank)[rank]), float(lengths.max())
    return tau if tau < longest * (1 - 1e-6) else longest / 2


def regularized(S, S_W, n):
    """S with a small share of the unprocessed affinity S_W, both at mean row sum 1; overwrites S.

    The exact minimiser is so sparse that its graph breaks into a large component and tiny ones, on
    which normalised cuts waste clusters; weak dense links prevent that (regularised spectral
    clustering: Amini et al. 2013; Joseph & Yu 2016).

    Parameters
    ----------
    S, S_W : ndarray or csr_array
        Affinity matrices, or the entries of both on one sparse pattern.
    n : int
        Number of samples.
    """
    S *= n / (float(S.sum(dtype=np.float64)) or 1.0)
    S += S_W * (REGULARIZATION * n / (float(S_W.sum(dtype=np.float64)) or 1.0))
    return S


def thresholded_affinity(tensor, tau):
    """Sum of the tube-shrunken slices, with a weak share of the unshrunken sum.

    ``S / mean row sum + .01 S_W / mean row sum``, S = sum_i W_i max(0, 1 - tau / length), the
    first step of the certified solver; see `regularized`.

    Parameters
    ----------
    tensor : SparseTensor
        Non-negative slices on one pattern.
    tau : float

    Returns
    -------
    csr_array of shape (n, n), float32
    """
    lengths = tensor.lengths
    factors = np.maximum(0, 1 - np.float32(tau) / np.where(lengths > 0, lengths, 1))
    plain = tensor.values.sum(axis=0)
    return tensor.matrices([regularized(plain * factors, plain, tensor.n)])[0]


def warn_of_unlike(degree):
    """Say that most samples resemble no other, so that their labels mean nothing.

    Parameters
    ----------
    degree : ndarray of shape (n,)
        Row sums of a graph.
    """
    alone = np.count_nonzero(degree == 0)
    if 2 * alone > len(degree):
        warn_user(
            f"{alone} of {len(degree)} samples resemble no other in any view: there is nothing to "
            "cluster them by, and their labels mean nothing"
        )
