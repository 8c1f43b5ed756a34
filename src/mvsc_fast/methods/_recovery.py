"""Base class of the estimators that recover a low-rank tensor from similarities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, ValuesView
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import scipy.sparse

from .._utils.messages import warn_user
from .._utils.parameters import InvalidParameterError
from .._utils.types import Affinity, FloatArray, Tensor
from .._utils.validation import check_similarities
from ..judge._support import view_support
from ..similarity import _dense as graphs
from ..similarity._factors import RIDGE_SCALES, view_scales
from ..spectral._cut import symmetric_sum
from ..views._frames import is_frame, only_in, read_frame, view_title
from ..views._row_source import RowSource
from ._base import MultiViewClusterer, learned_by

AFFINITIES = {
    "self_representation": graphs.ridge_similarities,
    "nearest_neighbors": graphs.neighbor_similarities,
    "rbf": graphs.kernel_similarities,
}
AffinityName = Literal["self_representation", "nearest_neighbors", "rbf", "precomputed"]
NAMES = get_args(AffinityName)
N_DISTANCES = 120  # number of samples whose triangles are compared
DISTANCE_ROUNDING = 1e-12  # largest error of a distance, in units of the largest one


def check_affinity_parameter(value, name):
    """``value``, which must be the name of an affinity or an estimator."""
    if not (value in NAMES if isinstance(value, str) else hasattr(value, "fit")):
        raise InvalidParameterError(
            f"{name} must be one of {', '.join(map(repr, NAMES))} or an estimator, got {value!r}"
        )
    return value


class RecoveryClusterer(MultiViewClusterer):
    """Base class of the methods that recover a low-rank tensor L from a similarity tensor W.

    A method defines ``_recover(W, **iteration)``, which returns the result of its function, and may
    override ``_attributes(W, result)``, its affinity matrix and other learned attributes.

    Parameters
    ----------
    affinity : str or estimator, default="self_representation"
        How to construct W: "self_representation", "nearest_neighbors" and "rbf" call the function
        of this name in `similarity`; "precomputed" means that X is W, whose slices may be
        the values of a dict. An estimator with an attribute ``tensor_`` is fitted on the views,
        unless it is fitted already.

    Attributes
    ----------
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        Sum of ``|L_i|`` with zero diagonal.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the normalised affinity matrix, rows scaled to unit length.
    similarity_ : ndarray of shape (v, n_samples, n_samples)
        The input tensor W.
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        The low-rank tensor L.
    n_iter_ : int
        Number of iterations of the solver.
    converged_ : bool
        Whether the residual reached ``tol``.
    history_ : dict of ndarray
        ``residual``, which is compared with ``tol`` (or a cheaper lower bound, if that exceeds
        ``tol``), and ``seconds`` since the start, after every iteration.
    """

    affinity_matrix_: Affinity
    embedding_: FloatArray
    similarity_: Tensor
    tensor_: Tensor
    n_iter_: int
    converged_: bool
    history_: dict[str, FloatArray]

    _takes_sparse = False  # whether precomputed similarities may be sparse
    _checks: ClassVar[dict[str, Any]] = {
        **MultiViewClusterer._checks,
        "affinity": check_affinity_parameter,
    }

    def _read(self, X):
        if not self._precomputed:
            return super()._read(X)
        if self.scale is not None:
            raise ValueError(
                f'scale={self.scale!r} needs features, but affinity="precomputed" expects '
                "similarities: scale the views before the similarities are computed"
            )
        # Similarities come in more forms than features: a matrix, an array of slices, a list or a
        # dict.
        X = [X] if scipy.sparse.issparse(X) else X  # some are mappings
        names = list(X) if isinstance(X, Mapping) else None
        if isinstance(X, (Mapping, Iterator, ValuesView)):
            X = list(X.values() if isinstance(X, Mapping) else X)
        sparse = isinstance(X, (list, tuple)) and any(map(scipy.sparse.issparse, X))
        is_list = isinstance(X, (list, tuple)) and len(X) > 0
        is_single = not sparse and (np.ndim(X[0]) + 1 if is_list else np.ndim(X)) == 2
        X = [X] if is_single else X
        if isinstance(X, (list, tuple)):
            X = _matched(X, [view_title(name) for name in names or range(len(X))])
        # Methods without a sparse solver get a dense tensor.
        sparse = sparse and self._takes_sparse
        W = check_similarities(X, nonnegative=True, name="X", sparse=sparse)
        if W[0].shape[0] < 2:
            raise ValueError("X has 1 sample, expected at least 2")
        return RowSource(W, names=names)

    def _scaled(self, source):
        if not self._precomputed:
            return super()._scaled(source)
        for S, title in zip(source.views, source.titles, strict=True):
            if doubt := _doubt_of(S):
                warn_user(f"{title} {doubt}")
        return source.views, [None] * len(source)

    @property
    def _precomputed(self):
        return isinstance(self.affinity, str) and self.affinity == "precomputed"

    def _check_memory(self, views):
        if scipy.sparse.issparse(views[0]) and self._precomputed:
            return
        # Self-representation may have two slices for a view.
        features, v = ([], len(views)) if self._precomputed else (views, len(views))
        if isinstance(self.affinity, str) and self.affinity == "self_representation":
            v = sum(len(view_scales(*X.shape, RIDGE_SCALES)) for X in views)
        self._check_slices(views, v, features)

    def _view_support(self, views, labels):
        if self._precomputed:
            return view_support(views, labels)
        return super()._view_support(views, labels)

    def _similarities(self, views, seed, n_threads, progress):
        """The tensor W."""
        progress.stage("graph")
        if isinstance(self.affinity, str):
            W = views if self._precomputed else AFFINITIES[self.affinity](views)
        else:
            tensor = learned_by(self.affinity, "tensor_", views, seed, n_threads)
            W = check_similarities(tensor, name=f"{type(self.affinity).__name__}.tensor_")
        progress.log(f"{len(W)} slices, {W[0].shape[0]} samples, affinity {self.affinity!r}")
        return W

    def _solve(self, views, seed, n_threads, progress):
        W = self._similarities(views, seed, n_threads, progress)
        progress.stage("solve", self.max_iter)
        result = self._recover(
            W,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads,
            callback=progress.iteration,
        )
        return {
            "similarity_": W,
            "tensor_": result.tensor,
            **self._attributes(W, result),
            **self._course(result, progress),
        }

    def _attributes(self, W, result):
        """The affinity matrix of the low-rank tensor, and what else the method learns."""
        return {"affinity_matrix_": symmetric_sum(result.tensor)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags


def _matched(matrices, titles):
    """Matrices of similarities, with rows and columns in the order of the first ids.

    pandas frames are matched by the ids in their index and columns, or in one of both. Matrices
    without ids correspond by position.
    """
    order, matched = None, []
    for X, title in zip(matrices, titles, strict=True):
        if hasattr(X, "iloc"):
            # Numbers from 0 are no ids, and ids of one side stand for both.
            columns = X.index if _are_counted(X.columns) else X.columns
            rows = columns if _are_counted(X.index) else X.index
            if not _are_counted(rows):
                order = rows if order is None else order
                for ids in (rows, columns):
                    _check_ids(ids, order, title)
                X = X.set_axis(rows).set_axis(columns, axis=1).loc[order, order]
        matched.append(read_frame(X, title).values if is_frame(X) else X)
    return matched


def _are_counted(names):
    """Whether names are the numbers 0, 1, 2, ... that stand for none."""
    return list(names) == list(range(len(names)))


def _check_ids(ids, order, title):
    """Raise ValueError unless each id of the first matrix occurs once."""
    if not ids.is_unique:
        raise ValueError(f"{title}: ids of similarities occur more than once")
    absent, extra = order.difference(ids, sort=False), ids.difference(order, sort=False)
    if lack := only_in((absent, "the first matrix"), (extra, title)):
        raise ValueError(
            f"similarities must have the same ids in rows and columns, and in all matrices: {lack}"
        )


def _doubt_of(S):
    """Why a matrix hardly contains similarities, for a message; None if it may."""
    # A sample of rows is enough to recognise distances, which are no similarities.
    S = S.toarray() if scipy.sparse.issparse(S) and S.shape[0] <= N_DISTANCES else S
    if scipy.sparse.issparse(S) or S.ndim != 2 or S.shape[0] != S.shape[1] or len(S) < 4:
        return None
    rows = np.linspace(0, len(S) - 1, min(len(S), N_DISTANCES)).astype(int)
    S = np.asarray(S)[np.ix_(rows, rows)]
    off_diagonal = S[~np.eye(len(S), dtype=bool)]
    if (off_diagonal == off_diagonal[0]).all():
        return "has equal similarities of all samples, which contain no clusters"
    # The roots of squared distances and of 1 - r are distances, as those of distances are.
    least = DISTANCE_ROUNDING * off_diagonal.max()
    if np.abs(np.diag(S)).max() > least or off_diagonal.min() < -least:
        return None
    if off_diagonal.max() <= 4 * off_diagonal.min():  # then the triangle inequality always holds
        return None
    roots = np.sqrt(np.maximum(S, 0))
    shortest = (roots[:, :, None] + roots[None, :, :]).min(axis=1)  # from i to k by any j
    if (roots <= shortest + np.sqrt(least)).all():
        return (
            "looks like distances (0 on the diagonal, and the triangle inequality holds), but "
            "similarities are needed, as exp(-D ** 2 / median(D) ** 2)"
        )
    return None
