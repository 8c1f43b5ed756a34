"""How fitted samples vote for the labels of new ones, by the longest tubes between them."""

import numpy as np
import scipy.sparse

from .. import _factored
from ..threads import blas_threads

# Fitted samples that vote for a new one. Accuracy of new samples by 20, 40 and 60 votes: 2000
# fitted of hdigit .989, .991, .992; 6000 in 60 clusters .847, .864, .873; 250 of ngs .938, .966,
# .972; 1000 of handwritten .963, .964, .962; 250 of ORL in 40 clusters .803, .797, .787.
N_VOTES = 40
# Fitted samples to which a new one has tubes in all slices, where only some are listed. Accuracy by
# 48, 64 and all: 100 000 subspaces .746, .749 and .748; hdigit from 2000 .875, .872 and .872, from
# 5000 .994 each; 60 clusters .972, .972 and .971; handwritten .958, .956 and .956.
N_CANDIDATES = 64


def vote_scores(
    new,
    fitted,
    scales,
    labels,
    n_clusters,
    *,
    n_listed=None,
    n_votes=N_VOTES,
    n_candidates=N_CANDIDATES,
    scale_neighbors=10,
    cap=1.5,
    n_threads=1,
):
    """What the most similar fitted samples say about new ones.

    A new row has entries A_k for the fitted samples in every slice, a local scale of its own and
    tubes as in `sparse_tensor`, shrunken by the length t of the (n_votes + 1)-th longest:

        score_k = sum over the n_votes longest tubes of (length - t)+ [label = k]

    As there, only the first slices list candidates, those with the longest tubes in these; the
    others have entries for candidates alone, and so has the row's local scale in them.

    Parameters
    ----------
    new, fitted : list of Factors
        The same slices of m new and n fitted samples, see `ridge_maps`.
    scales : ndarray of shape (v, n)
        Local scales of the fitted samples (`SparseTensor.scales`).
    labels : ndarray of shape (n,), int
    n_clusters : int
    n_listed : int, optional
        Slices that list candidates, the first ones; None is all, and all samples are candidates.
    n_votes : int, default=40
    n_candidates : int, default=64
        More than ``n_votes``, or so many are taken.
    scale_neighbors, cap
        As in `self_representation`.
    n_threads : int, default=1
        Each needs memory for 256 rows of n float32 numbers, whatever m is.

    Returns
    -------
    ndarray of shape (m, n_clusters), float32
        A row of zeros for a sample that resembles no fitted one in a listed slice. A row's bits do
        not depend on the number of threads nor on the other new rows, and on its place only modulo
        128: new rows in blocks of a multiple of 128 have those that all together have.

    Raises
    ------
    ValueError
        If similarities leave the range of float32.
    """
    scales = np.ascontiguousarray(scales, dtype=np.float32)
    labels = np.ascontiguousarray(labels, dtype=np.intp)
    with blas_threads(1):  # blocks of rows run side by side
        return _factored.vote(
            new,
            fitted,
            scales,
            labels,
            n_clusters,
            len(fitted) if n_listed is None else n_listed,
            n_votes,
            max(n_candidates, n_votes + 1),
            scale_neighbors,
            cap,
            n_threads,
        )


def precomputed_votes(W, labels, n_clusters, *, n_votes=N_VOTES, n_threads=1):
    """`vote_scores` from rows of similarities of new samples to fitted ones, (v, m, n)."""
    squares = np.zeros(W[0].shape, dtype=np.float32)
    for A in W:
        A = A.toarray() if scipy.sparse.issparse(A) else A
        squares += np.square(A, dtype=np.float32)
    labels = np.ascontiguousarray(labels, dtype=np.intp)
    return _factored.vote_by_squares(squares, labels, n_clusters, n_votes, n_threads)
