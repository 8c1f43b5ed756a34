"""Sparse similarity tensors that keep the longest tubes, with memory linear in n.

The slices are products of factors (see _factors.py) with local scaling,
``W_jk = min(cap, max(0, A_jk) / sqrt(r_j r_k))``, so that single entries can be computed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize
from sklearn.utils import gen_batches

from .._utils.messages import warn_user
from .._utils.threads import resolve_threads
from ..views._view_rows import unit_rows
from . import _factored  # type: ignore[attr-defined]
from ._factors import CAP, SCALE_NEIGHBORS, Factors, view_factors

# Number of samples from which a fit warns of the search. On one core that of 100 000 samples took
# 51 s for three views with 200 features in all.
MANY_ROWS = 100_000
N_CANDIDATES = 50  # nearest rows of a slice of `self_representation`
MEMORY = 2**28  # bytes of entries kept between the two sweeps over the pattern


def nearest_rows(u, n_neighbors, n_threads=1):
    """For every row, the rows with the largest positive cosines, nearest first; ties by index.

    An array of shape (n, min(n_neighbors, n - 1)), int32, padded with -1 if a row has fewer.
    """
    return _factored.nearest_rows(normalize(u), min(n_neighbors, len(u) - 1), n_threads)


def listed_rows(factors, n_views, n_candidates, n_threads=1):
    """Nearest rows in one slice of each view, the candidates for the longest tubes.

    Slices of further scales are not searched, unless the lists hold all rows: they have mostly the
    same neighbours as the first slice (on none of six data sets was the accuracy lower without
    them), and the search takes most of the time of large fits. ``factors`` are those of
    `view_factors`: one slice of each view comes first. An array of `nearest_rows` for each.
    """
    n = len(factors[0].u)
    slices = factors if n_candidates >= n - 1 else factors[:n_views]
    if n > MANY_ROWS:
        products = n**2 / 2 * sum(u.shape[1] for u, _ in slices)
        warn_user(
            f"the search for neighbors among {n} samples takes {products:.1g} multiplications, a "
            "number that grows with the square of the samples: lower max_samples"
        )
    return [nearest_rows(u, n_candidates, n_threads) for u, _ in slices]


class SparseTensor(NamedTuple):
    """Similarities of v slices on one symmetric sparse pattern without a diagonal.

    Attributes
    ----------
    values : ndarray of shape (v, nnz), float32
        C-contiguous. Select columns by take or compress: indexing with a slice and an index array
        makes the v values of an entry contiguous, which slows down sums over slices.
    indptr : ndarray of shape (n + 1,)
        Start of each row.
    indices : ndarray of shape (nnz,), int32
        Columns, ascending in each row.
    lengths : ndarray of shape (nnz,), float32
        Lengths of the tubes ``values[:, e]``.
    """

    values: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    lengths: np.ndarray

    @property
    def n(self):
        """Number of samples."""
        return len(self.indptr) - 1

    def matrices(self, entries):
        """The rows of ``entries`` (m, nnz) as m csr_arrays that share the pattern."""
        indptr = self.indptr  # with the type of the indices, which scipy would otherwise copy
        if indptr[-1] <= np.iinfo(self.indices.dtype).max:
            indptr = indptr.astype(self.indices.dtype)
        shape = self.n, self.n
        return [scipy.sparse.csr_array((row, self.indices, indptr), shape=shape) for row in entries]


def sparse_tensor(factors, candidates, *, n_longest=48, n_threads=1):
    """Sparse tensor of the longest tubes of every row, from factored slices.

    Every slice is evaluated on all candidates. The local scale r_j is the 10th largest positive
    entry among the candidates of row j.

    Parameters
    ----------
    factors : list of Factors
        One for each slice, of the same samples.
    candidates : list of ndarray of shape (n, K), int32
        Candidates of each row in one or several slices, padded with -1, see `listed_rows`.
    n_longest : int, default=48
        Number of tubes that a row keeps; the pattern is the union of these with its transpose.
    n_threads : int, default=1
        The result does not depend on it.

    Returns
    -------
    SparseTensor
    """
    # Candidates of all views together are the pattern, on which every slice has its entries.
    n, v = len(factors[0].u), len(factors)
    indptr, indices = _union(candidates)
    rank = min(SCALE_NEIGHBORS, max(n - 1, 1))
    # The scale of a sample is needed in the rows of its neighbours: scales come in a first sweep,
    # and the longest tubes of each row in a second one.
    scales = np.empty((v, n), dtype=np.float32)
    # All entries are kept between the two sweeps if they fit, else computed again in blocks.
    per_row = max(1, 4 * v * len(indices) // n)
    blocks = list(gen_batches(n, MEMORY // per_row + 1))
    for rows in blocks:
        values = _entries(factors, indptr, indices, rows, n_threads)
        for i in range(v):
            _factored.local_scales(
                values[i], indptr, rows.start, rows.stop, rank, scales[i], n_threads
            )
    roots = 1.0 / np.sqrt(np.maximum(scales, np.finfo(np.float32).tiny))  # else squares overflow
    # Second sweep: scaled entries, of which each row keeps the longest tubes.
    m = min(n_longest, max(n - 1, 1))
    columns = np.empty((n, m), dtype=np.int32)
    entries = np.empty((v, n, m), dtype=np.float32)
    lengths = np.empty((n, m), dtype=np.float32)
    for rows in blocks:
        if len(blocks) > 1:
            values = _entries(factors, indptr, indices, rows, n_threads)
        slices = values, roots, indptr, indices, rows.start, rows.stop, CAP
        _factored.longest_tubes(*slices, columns, entries, lengths, n_threads)
    is_tube = columns >= 0
    # Position of each entry of the symmetric pattern: in its own row, or in that of its column.
    position = np.arange(1, is_tube.sum() + 1)
    starts = np.concatenate([[0], np.cumsum(is_tube.sum(axis=1))])
    pattern = scipy.sparse.csr_array((position, columns[is_tube], starts), shape=(n, n))
    # A tube is kept if either of its two rows keeps it.
    pattern = pattern.maximum(pattern.T.tocsr())
    pattern.sort_indices()
    position = pattern.data - 1
    return SparseTensor(
        values=entries.reshape(v, -1).take(np.flatnonzero(is_tube)[position], axis=1),
        indptr=pattern.indptr,
        indices=pattern.indices.astype(np.int32, copy=False),
        lengths=lengths[is_tube][position],
    )


def _union(candidates):
    """Pattern (indptr, indices) of the union of lists of columns."""
    columns = np.sort(np.concatenate(candidates, axis=1), axis=1)
    # Sorted rows have duplicates side by side.
    is_first = columns >= 0
    is_first[:, 1:] &= columns[:, 1:] != columns[:, :-1]
    indptr = np.zeros(len(columns) + 1, dtype=np.intp)
    np.cumsum(is_first.sum(axis=1), out=indptr[1:])
    return indptr, columns[is_first]


def _entries(factors, indptr, indices, rows, n_threads):
    values = np.empty((len(factors), indptr[rows.stop] - indptr[rows.start]), dtype=np.float32)
    for (u, h), out in zip(factors, values, strict=True):
        _factored.products(u, h, indptr, indices, rows.start, rows.stop, out, n_threads)
    return values


def sparse_ridge_similarities(views, n_threads):
    """Sparse `self_representation` of validated views."""
    n_threads = resolve_threads(n_threads)
    factors = view_factors([unit_rows(X) for X in views])
    candidates = listed_rows(factors, len(views), N_CANDIDATES, n_threads)
    tensor = sparse_tensor(factors, candidates, n_threads=n_threads)
    return tensor.matrices(tensor.values)


def unit_neighbor_similarities(u, index, n_threads=1):
    """Sparse `nearest_neighbors` of at least two unit rows, from their cosines.

    ``index`` is that of `nearest_rows`: rows without a positive cosine are no neighbours.
    """
    n, is_neighbor = len(u), index >= 0
    # Rows that were not found are the sample itself with weight zero, so that rows have equal
    # lengths.
    index = np.where(is_neighbor, index, np.arange(n, dtype=np.int32)[:, None])
    indptr, half = np.arange(n + 1) * index.shape[1], np.full(n, 0.5, dtype=np.float32)
    factors = [Factors(u, half)]
    (cosines,) = _entries(factors, indptr, index.ravel(), slice(0, n), n_threads)
    distance = np.sqrt(np.maximum(0, 2 - 2 * cosines)).reshape(index.shape)
    return self_tuning(np.where(is_neighbor, distance, 0), index, u.dtype, is_neighbor)


def self_tuning(distance, index, dtype, is_neighbor=True):
    """Symmetric similarities from the distances of nearest rows, scaled by the largest of each."""
    n, n_neighbors = index.shape
    scale = np.maximum(distance.max(axis=1), np.finfo(distance.dtype).tiny ** 0.5)
    values = is_neighbor * np.exp(-((distance / scale[:, None]) * (distance / scale[index])))
    indptr = np.arange(n + 1) * n_neighbors
    entries = values.ravel().astype(dtype, copy=False), index.ravel(), indptr
    A = scipy.sparse.csr_array(entries, shape=(n, n))
    return (A + A.T) * dtype.type(0.5)
