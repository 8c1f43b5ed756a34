"""Similarity tensors kept where their tubes are longest, at a cost and memory linear in n.

The slices are products of factors (see _sparse/_factors.py) on a local scale,
``W_jk = min(cap, max(0, A_jk) / sqrt(r_j r_k))``: an entry is computed where it is wanted.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from sklearn.neighbors import NearestNeighbors

from .._utils.threads import blas_threads, resolve_threads
from .._utils.validation import check_integer, check_number
from ..views import check_views
from ..views._rows import comparable, unit_rows
from . import _factored
from ._factors import SCALES, check_scales, view_factors
from ._nearest_rows import listed_rows, nearest_rows

MEMORY = 2**28  # bytes of entries kept between the two sweeps over the pattern
CANDIDATES, LONGEST = 50, 64  # nearest rows of each slice, tubes of each row, in the estimators


class SparseTensor(NamedTuple):
    """Similarities of v slices on one symmetric sparse pattern without a diagonal.

    Attributes
    ----------
    values : ndarray of shape (v, nnz), float32
        C-contiguous: by take or compress, as an index array beside a slice puts the v values of an
        entry next to each other, and sums over slices are slow then.
    indptr : ndarray of shape (n + 1,)
        Where each row begins.
    indices : ndarray of shape (nnz,), int32
        Columns, ascending in each row.
    lengths : ndarray of shape (nnz,), float32
        Of the tubes ``values[:, e]``.
    """

    values: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    lengths: np.ndarray

    @property
    def n(self):
        """Number of samples."""
        return len(self.indptr) - 1

    def slices(self):
        """The slices as csr_arrays that share the pattern."""
        return self.matrices(self.values)

    def matrices(self, entries):
        """The rows of ``entries`` (m, nnz) as m csr_arrays that share the pattern."""
        indptr = self.indptr  # of the same type as the indices: otherwise scipy copies these
        if indptr[-1] <= np.iinfo(self.indices.dtype).max:
            indptr = indptr.astype(self.indices.dtype)
        shape = self.n, self.n
        return [scipy.sparse.csr_array((row, self.indices, indptr), shape=shape) for row in entries]


def sparse_tensor(
    factors,
    *,
    n_candidates=50,
    n_longest=48,
    cap=1.5,
    scale_neighbors=10,
    n_threads=1,
    candidates=None,
):
    """The longest tubes of every row of a tensor of factored slices.

    Candidates of a row are its nearest rows by the cosine of u in any slice; every slice is
    evaluated on all of them. Local scales r_j, the ``scale_neighbors``-th largest positive entry of
    row j, are of the candidates.

    Parameters
    ----------
    factors : list of Factors
        One for each slice, of the same samples.
    n_candidates : int, default=50
        Nearest rows of each slice.
    n_longest : int, default=48
        Tubes that a row keeps; the pattern is the union of these with its transpose.
    cap, scale_neighbors
        As in `self_representation`.
    n_threads : int, default=1
        The result does not depend on it.
    candidates : list of ndarray of shape (n, K), int32, optional
        Columns for each row, -1 for none, as of `listed_rows`, instead of looking for them.

    Returns
    -------
    SparseTensor
    """
    n, v = len(factors[0].u), len(factors)
    if candidates is None:
        candidates = [nearest_rows(u, n_candidates, n_threads) for u, _ in factors]
    indptr, indices = _union(candidates)
    rank = min(scale_neighbors, max(n - 1, 1))
    scales = np.empty((v, n), dtype=np.float32)
    # All entries are kept between the two sweeps if they fit, else computed again, block by block.
    per_row = max(1, 4 * v * len(indices) // n)
    blocks = [slice(first, min(n, first + MEMORY // per_row + 1))
              for first in range(0, n, MEMORY // per_row + 1)]  # fmt: skip
    for rows in blocks:
        values = _entries(factors, indptr, indices, rows, n_threads)
        for i in range(v):
            _factored.local_scales(
                values[i], indptr, rows.start, rows.stop, rank, scales[i], n_threads
            )
    roots = 1.0 / np.sqrt(scales)
    m = min(n_longest, max(n - 1, 1))
    kept = np.empty((n, m), dtype=np.int32)
    entries = np.empty((v, n, m), dtype=np.float32)
    lengths = np.empty((n, m), dtype=np.float32)
    for rows in blocks:
        if len(blocks) > 1:
            values = _entries(factors, indptr, indices, rows, n_threads)
        _factored.longest_tubes(
            values, roots, indptr, indices, rows.start, rows.stop, cap, kept, entries, lengths,
            n_threads,
        )  # fmt: skip
    found = kept >= 0
    # Where an entry of the symmetric pattern stands: in its own row, or in that of its column.
    place = np.arange(1, found.sum() + 1)
    starts = np.concatenate([[0], np.cumsum(found.sum(axis=1))])
    pattern = scipy.sparse.csr_array((place, kept[found], starts), shape=(n, n))
    pattern = pattern.maximum(pattern.T.tocsr())
    pattern.sort_indices()
    place = pattern.data - 1
    return SparseTensor(
        values=entries.reshape(v, -1).take(np.flatnonzero(found)[place], axis=1),
        indptr=pattern.indptr,
        indices=pattern.indices.astype(np.int32, copy=False),
        lengths=lengths[found][place],
    )


def _union(candidates):
    """Pattern (indptr, indices) of the union of lists of columns."""
    columns = np.sort(np.concatenate(candidates, axis=1), axis=1)
    new = columns >= 0
    new[:, 1:] &= columns[:, 1:] != columns[:, :-1]
    indptr = np.zeros(len(columns) + 1, dtype=np.intp)
    np.cumsum(new.sum(axis=1), out=indptr[1:])
    return indptr, columns[new]


def _entries(factors, indptr, indices, rows, n_threads):
    values = np.empty((len(factors), indptr[rows.stop] - indptr[rows.start]), dtype=np.float32)
    for (u, h), out in zip(factors, values, strict=True):
        _factored.products(u, h, indptr, indices, rows.start, rows.stop, out, n_threads)
    return values


def sparse_self_representation(
    views,
    *,
    scales=SCALES,
    n_candidates=50,
    n_longest=48,
    scale_neighbors=10,
    cap=1.5,
    n_threads=None,
):
    """`self_representation` where its tubes are longest, at a cost and memory linear in n.

    Equal to the dense one of the same ``scales`` on its pattern, where the local scales agree: a
    row's ``scale_neighbors`` largest entries are among its candidates as a rule, and always with
    ``n_candidates=n - 1``. Search for the candidates takes n^2 d multiplications.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
    scales, scale_neighbors, cap
        As in `self_representation`.
    n_candidates : int, default=50
        Nearest rows of each view by the first scale, on whose union all slices are evaluated.
    n_longest : int, default=48
        Tubes kept for each sample; a tube stays if either of its two samples keeps it.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed. The result does not depend on it.

    Returns
    -------
    list of csr_array of shape (n, n), float32
        Symmetric, of one pattern without diagonal, entries in [0, cap]. First every view by
        ``scales[0]``, then the views with n >= 4 d by the other scales.
    """
    views = check_views(views)
    scales = check_scales(scales)
    n_candidates = check_integer(n_candidates, "n_candidates", 1)
    n_longest = check_integer(n_longest, "n_longest", 1)
    scale_neighbors = check_integer(scale_neighbors, "scale_neighbors", 1)
    cap = check_number(cap, "cap", 0.0, open_interval=True)
    n_threads = resolve_threads(n_threads)
    with blas_threads(1):
        factors = view_factors([unit_rows(X) for X in views], scales)
    tensor = sparse_tensor(
        factors,
        n_longest=n_longest,
        cap=cap,
        scale_neighbors=scale_neighbors,
        n_threads=n_threads,
        candidates=listed_rows(factors, len(views), n_candidates, n_threads),
    )
    return tensor.slices()


def sparse_nearest_neighbors(views, *, n_neighbors=15):
    """`nearest_neighbors` without its zeros.

    Returns
    -------
    list of csr_array of shape (n, n)
        Each of a pattern of its own.
    """
    return sparse_neighbor_similarities(
        check_views(views), check_integer(n_neighbors, "n_neighbors", 1)
    )


def sparse_neighbor_similarities(views, n_neighbors):
    """`sparse_nearest_neighbors` of validated views."""
    n = views[0].shape[0]
    n_neighbors = min(n_neighbors, n - 1)
    indptr = np.arange(n + 1) * n_neighbors
    out = []
    for X in comparable(views):
        distance, index = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors()
        scale = np.maximum(distance[:, -1], np.finfo(distance.dtype).tiny ** 0.5)
        values = np.exp(-((distance / scale[:, None]) * (distance / scale[index])))
        A = scipy.sparse.csr_array(
            (values.ravel().astype(views[0].dtype, copy=False), index.ravel(), indptr), shape=(n, n)
        )
        out.append((A + A.T) * views[0].dtype.type(0.5))
    return out
