"""Similarities of samples of which some lack views.

In a view that a sample lacks it has the mean similarities of its 5 nearest samples that have the
view. The result is an ordinary tensor.
"""

import numpy as np
import scipy.sparse
from sklearn.utils import gen_batches

from .. import _factored
from ..views._rows import observed, presence, unit_rows
from ._factors import Factors, view_maps
from ._graphs import CANDIDATES, LONGEST, SparseTensor, nearest_rows
from ._votes import precomputed_votes

NEAREST = 5  # samples that stand for one without the view; 2 to 10 give the same within .03
SCALE_RANK, CAP = 10, 1.5  # as in `self_representation`


def spread_factors(factors, has):
    """Factors of all samples, zero for those without the view, from those of the others."""
    u = np.zeros((len(has), factors.u.shape[1]), dtype=np.float32)
    h = np.zeros(len(has), dtype=np.float32)
    u[has], h[has] = factors.u, factors.h
    return Factors(u, h)


class CompletedTensor:
    """Similarities of samples of which some lack views.

    1. Slices W_i as in `sparse_tensor`, among the samples that have the view.
    2. S_jk, the mean of W_i,jk over the slices that both samples have.
    3. A sample without a view stands for the weighted mean of its 5 nearest by S that have it: with
       these weights as rows of P_i, and those of the identity for all others, P_i W_i P_i^T.
    4. Means are flat: the local scale and the cap once more in the slices that were completed.

    Parameters
    ----------
    factors : list of Factors
        Of all n samples, zeros for those without the view (`spread_factors`).
    present : ndarray of shape (v, n) of bool
        For each slice.
    n_candidates, n_longest : int
        As in `sparse_tensor`.
    n_threads : int

    Attributes
    ----------
    tensor : SparseTensor
    scales : ndarray of shape (v, n)
        Local scales of step 1.
    nearest : list of csr_array of shape (n, n)
        P_i.
    again : ndarray of shape (v, n)
        Local scales of step 4, 1 in complete slices.
    """

    def __init__(self, factors, present, *, n_candidates=CANDIDATES, n_longest=LONGEST, n_threads):
        n = present.shape[1]
        found = [nearest_rows(u, n_candidates, n_threads) for u, _ in factors]
        pattern = _pattern(found)
        self.scales = np.empty((len(factors), n), dtype=np.float32)
        slices = []
        for (u, h), scale in zip(factors, self.scales, strict=True):
            values = np.empty(pattern.nnz, dtype=np.float32)
            _factored.products(u, h, pattern.indptr, pattern.indices, 0, n, values, n_threads)
            slices.append(_on_local_scale(values, pattern, scale, n_threads))
        S = _mean_similarity(slices, pattern, present)
        self.nearest = [_nearest_with(S, has) for has in present]
        self.again = np.ones_like(self.scales)
        completed = []
        for values, has, P in zip(slices, present, self.nearest, strict=True):
            W = _csr(values, pattern)
            completed.append(W if has.all() else _both_sides(P, W))
        if n_candidates < n - 1:
            lists = [
                _largest(A, np.flatnonzero(~has), n_candidates)
                for A, has in zip(completed, present, strict=True)
                if not has.all()
            ]
            pattern = _pattern(found + lists)
        else:
            pattern = _as_pattern(sum(A != 0 for A in completed))
        rows = np.repeat(np.arange(n), np.diff(pattern.indptr))
        out = np.empty((len(factors), pattern.nnz), dtype=np.float32)
        for i, (A, has) in enumerate(zip(completed, present, strict=True)):
            out[i] = np.asarray(A[rows, pattern.indices]).ravel()
            if not has.all():
                out[i] = _on_local_scale(out[i], pattern, self.again[i], n_threads)
        self.tensor = _longest(out, pattern, self.scales, n_longest)


def _csr(values, pattern):
    return scipy.sparse.csr_array((values, pattern.indices, pattern.indptr), shape=pattern.shape)


def _pattern(candidates):
    """The symmetric pattern of lists of columns, -1 for none, without diagonal."""
    n = len(candidates[0])
    columns = np.concatenate(candidates, axis=1)
    rows = np.repeat(np.arange(n), columns.shape[1])
    columns = columns.ravel()
    there = (columns >= 0) & (columns != rows)
    ones = np.ones(np.count_nonzero(there), dtype=np.int8)
    return _as_pattern(scipy.sparse.csr_array((ones, (rows[there], columns[there])), shape=(n, n)))


def _as_pattern(A):
    A = scipy.sparse.csr_array(A + A.T)
    A.setdiag(0)
    A.eliminate_zeros()
    A.sort_indices()
    A.indices = A.indices.astype(np.int32, copy=False)
    return A


def _on_local_scale(values, pattern, scale, n_threads):
    """min(cap, A_jk / sqrt(r_j r_k)); ``scale`` becomes r."""
    n = pattern.shape[0]
    rank = min(SCALE_RANK, max(n - 1, 1))
    _factored.local_scales(values, pattern.indptr, 0, n, rank, scale, n_threads)
    root = 1 / np.sqrt(scale)
    rows = np.repeat(root, np.diff(pattern.indptr))
    return np.minimum(values * (rows * root[pattern.indices]), np.float32(CAP))


def _mean_similarity(slices, pattern, present):
    """S on the pattern."""
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    shared = sum((has[rows] & has[pattern.indices]).astype(np.float32) for has in present)
    return _csr(sum(slices) / np.maximum(shared, 1), pattern)


def _nearest_with(S, has):
    """P of one slice: of samples without the view the weights of their nearest that have it."""
    n = len(has)
    lacking = np.flatnonzero(~has)
    A = S[lacking].tocoo()
    there = has[A.col] & (A.data > 0)
    row, col, data = A.row[there], A.col[there], A.data[there]
    order = np.lexsort((col, -data, row))
    row, col, data = row[order], col[order], data[order]
    first = np.searchsorted(row, np.arange(len(lacking)))
    kept = np.arange(len(row)) - first[row] < NEAREST
    row, col, data = row[kept], col[kept], data[kept]
    data = data / np.bincount(row, weights=data, minlength=len(lacking))[row]
    own = np.flatnonzero(has)
    return scipy.sparse.csr_array(
        (
            np.concatenate([np.ones(len(own)), data]).astype(np.float32),
            (np.concatenate([own, lacking[row]]), np.concatenate([own, col])),
        ),
        shape=(n, n),
    )


def _both_sides(P, W):
    """P W P^T without its diagonal, symmetric to the bit."""
    A = P @ W @ P.T
    A = ((A + A.T) * np.float32(0.5)).tocsr()
    A.setdiag(0)
    A.eliminate_zeros()
    A.sort_indices()
    return A


def _largest(A, rows, count):
    """Columns of the largest entries of some rows, -1 where they have fewer, and in all others."""
    part = A[rows]
    row = np.repeat(np.arange(len(rows)), np.diff(part.indptr))
    order = np.argsort(row - part.data / (4 * CAP), kind="stable")  # by row, largest first
    place = np.arange(part.nnz) - part.indptr[row]
    kept = place < count
    out = np.full((A.shape[0], count), -1, dtype=np.int32)
    out[rows[row[kept]], place[kept]] = part.indices[order][kept]
    return out


def _longest(values, pattern, scales, n_longest):
    """The `SparseTensor` of the longest tubes of each row."""
    n = pattern.shape[0]
    rows = np.repeat(np.arange(n), np.diff(pattern.indptr))
    lengths = np.sqrt(np.einsum("ij,ij->j", values, values))
    order = np.lexsort((pattern.indices, -lengths, rows))
    place = np.arange(len(order)) - pattern.indptr[rows]
    kept = np.zeros(len(order), dtype=bool)
    kept[order] = (place < n_longest) & (lengths[order] > 0)
    missed = np.zeros(n, dtype=np.float32)
    np.maximum.at(missed, rows[~kept], lengths[~kept])
    twin = scipy.sparse.csr_array(
        (np.arange(len(order)), pattern.indices, pattern.indptr), shape=(n, n)
    ).T.tocsr()
    twin.sort_indices()
    kept |= kept[twin.data]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=n))])
    return SparseTensor(
        values=values.compress(kept, axis=1),
        indptr=indptr.astype(pattern.indptr.dtype),
        indices=pattern.indices[kept],
        lengths=lengths[kept],
        scales=scales,
        missed=missed,
    )


def _local_scales(A, rank):
    """For every row the rank-th largest positive entry, the least if fewer, 1 if none."""
    top = np.partition(A, A.shape[1] - rank, axis=1)[:, A.shape[1] - rank :]
    scale = np.where(top > 0, top, np.inf).min(axis=1)
    return np.where(np.isfinite(scale), scale, np.float32(1.0))


class NewRows:
    """Similarities of new samples, which may lack views, to fitted ones, and their votes.

    Parameters
    ----------
    maps : list of ridge maps
        See `view_maps`; attribute ``view``.
    fitted : list of Factors
        Of the m fitted samples.
    scales : ndarray of shape (v, m)
    completed : CompletedTensor, optional
        Where fitted samples lack views.
    present : ndarray of shape (v, m) of bool, optional
        For each slice.
    """

    def __init__(self, maps, fitted, scales, completed=None, present=None):
        self._maps, self._fitted, self._scales = maps, fitted, scales
        self._present = np.ones(scales.shape, dtype=bool) if present is None else present
        self._nearest = None if completed is None else completed.nearest
        self._again = np.ones_like(scales) if completed is None else completed.again

    def scores(self, views, labels, n_clusters, n_threads):
        """Votes for new samples of the views, rows of which may be NaN; see `vote_scores`."""
        v, m = self._scales.shape
        present = presence(views)
        if present is None:
            present = np.ones((len(views), views[0].shape[0]), dtype=bool)
        size = max(1, 2**25 // (v * m))
        return np.concatenate(
            [
                precomputed_votes(
                    self._rows([X[rows] for X in views], present[:, rows]),
                    labels,
                    n_clusters,
                    n_threads=n_threads,
                )
                for rows in gen_batches(views[0].shape[0], size)
            ]
        )

    def _rows(self, views, present):
        """W of shape (v, b, m)."""
        b, m = present.shape[1], self._scales.shape[1]
        W = np.zeros((len(self._maps), b, m), dtype=np.float32)
        total, shared = 0.0, 0.0
        for A, one, fitted, scale, there in zip(
            W, self._maps, self._fitted, self._scales, self._present, strict=True
        ):
            has = present[one.view]
            if has.any():
                A[has] = _similar(one(unit_rows(views[one.view][has])), fitted, scale)
            total = total + A
            shared = shared + (has[:, None] & there)
        S = total / np.maximum(shared, 1)
        for i, (A, one, there) in enumerate(zip(W, self._maps, self._present, strict=True)):
            has = present[one.view]
            if not has.all():
                A[~has] = self._stand_in(i, np.where(there, S[~has], 0))
            if not there.all():
                A[:, ~there] = (self._nearest[i][~there] @ A.T).T
            rows = ~has if there.all() else np.ones(b, dtype=bool)
            if rows.any():
                B = A[rows]
                root = 1 / np.sqrt(_local_scales(B, min(SCALE_RANK, m)))
                A[rows] = np.minimum(B * root[:, None] / np.sqrt(self._again[i]), CAP)
        return W

    def _stand_in(self, i, S):
        """Rows of slice i as the weighted mean of those of the nearest fitted samples."""
        k = min(NEAREST, S.shape[1])
        which = np.argpartition(S, S.shape[1] - k, axis=1)[:, S.shape[1] - k :]
        weights = np.take_along_axis(S, which, axis=1)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
        used, place = np.unique(which, return_inverse=True)
        place = place.reshape(which.shape)
        fitted, scale = self._fitted[i], self._scales[i]
        rows = _similar(Factors(fitted.u[used], fitted.h[used]), fitted, scale, scale[used])
        rows[np.arange(len(used)), used] = 0.0
        return np.einsum("ij,ijk->ik", weights.astype(np.float32), rows[place])


def _similar(new, fitted, scale, own=None):
    """W of some samples and all fitted ones in one slice; ``own`` is their local scale."""
    A = new.u @ fitted.u.T
    A *= new.h[:, None] + fitted.h
    np.maximum(A, 0.0, out=A)
    own = _local_scales(A, min(SCALE_RANK, A.shape[1])) if own is None else own
    A /= np.sqrt(own)[:, None]
    A /= np.sqrt(scale)
    return np.minimum(A, CAP, out=A)


class IncompleteSamples(NewRows):
    """As `FittedSamples` of TLRR, where samples lack views.

    Parameters
    ----------
    views : list of ndarray or csr_matrix of shape (m, d_i)
        Rows may be NaN.
    n_threads : int
    every : bool
        Whether all tubes are kept.
    """

    def __init__(self, views, n_threads, every=False):
        present = presence(views)
        maps = view_maps([unit_rows(X) for X in observed(views)])
        fitted = [spread_factors(one.factors, present[one.view]) for one in maps]
        present = np.array([present[one.view] for one in maps])
        m = present.shape[1]
        sizes = {"n_candidates": m - 1, "n_longest": m - 1} if every else {}
        completed = CompletedTensor(fitted, present, n_threads=n_threads, **sizes)
        self.tensor = completed.tensor
        self.unseen = np.full(m, 0.0 if every else np.inf)
        super().__init__(maps, fitted, completed.scales, completed, present)

    def forget(self):
        """Drop what only the fit needs."""
        self.tensor = None
        for one in self._maps:
            one.factors = None


def kind_tensor(rows, present, kind, scales, **sizes):
    """The completed tensor of one kind of rows.

    Parameters
    ----------
    rows : list of ViewRows
        Of the samples that have each view.
    present : ndarray of shape (v, n) of bool
    kind : str
        Attribute of the rows.
    scales : sequence of float
    sizes
        As for `CompletedTensor`.

    Returns
    -------
    SparseTensor
    """
    given = [getattr(view, kind) for view in rows]
    maps = view_maps(given, scales)
    factors = [spread_factors(one.factors, present[one.view]) for one in maps]
    present = np.array([present[one.view] for one in maps])
    return CompletedTensor(factors, present, **sizes).tensor
