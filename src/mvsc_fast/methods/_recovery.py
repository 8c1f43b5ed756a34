"""Base class of the estimators that recover a low-rank tensor from similarities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse

from .._utils.parameters import check_estimator, option
from .._utils.types import Estimator
from .._utils.validation import check_similarities
from ..judge._support import graph_support
from ..similarity import _dense as graphs
from ..spectral._cut import symmetric_sum
from ..views._frames import is_frame, read_frame
from ..views._read import listed_views
from ..views._row_source import RowSource
from ._base import TensorClusterer, learned_by

AFFINITIES = {
    "self_representation": graphs.ridge_similarities,
    "nearest_neighbors": graphs.neighbor_similarities,
    "rbf": graphs.kernel_similarities,
}
AffinityName = Literal["self_representation", "nearest_neighbors", "rbf", "precomputed"]


def check_affinity_parameter(value, name):
    """``value``, which must be the name of an affinity or an estimator."""
    return (check_estimator if hasattr(value, "fit") else option(AffinityName))(value, name)


@dataclass(eq=False, repr=False, kw_only=True)
class RecoveryClusterer(TensorClusterer):
    """Base class of the methods that recover a low-rank tensor L from a similarity tensor W.

    A method defines ``_recover(W, n_threads, progress)``, which returns L and its `Run`, and may
    override ``_attributes(W, L, run)``, its affinity matrix and other learned attributes.

    Parameters
    ----------
    affinity : str or estimator, default="self_representation"
        How to construct W: "self_representation", "nearest_neighbors" and "rbf" call the function
        of this name in `similarity`; "precomputed" means that X is W, whose slices may be
        the values of a dict. A clone of an estimator is fitted on the views, and W is its
        ``tensor_``.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs of the process. Labels do
        not depend on it.

    Attributes
    ----------
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        Sum of ``|L_i|`` with zero diagonal.
    similarity_ : ndarray of shape (v, n_samples, n_samples)
        The input tensor W.
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        The low-rank tensor L.
    """

    affinity: AffinityName | Estimator = "self_representation"
    n_threads: int | None = None

    _takes_sparse = False  # whether precomputed similarities may be sparse
    _checks: ClassVar[dict[str, Any]] = {
        **TensorClusterer._checks,
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
        # An array of slices is W itself; a list or a dict may mix arrays, frames and sparse slices.
        is_tensor = isinstance(X, np.ndarray) and X.ndim == 3
        pairs = list(enumerate(X)) if is_tensor else listed_views(X)[0]
        names = [name.item() if isinstance(name, np.generic) else name for name, _ in pairs]
        slices = X if is_tensor else _without_ids([A for _, A in pairs])
        sparse = self._takes_sparse and any(map(scipy.sparse.issparse, slices))
        W = check_similarities(slices, nonnegative=True, name="X", sparse=sparse)
        if W[0].shape[0] < 2:
            raise ValueError("X has 1 sample, expected at least 2")
        return RowSource(W, names=names)

    def _scaled(self, source):
        if not self._precomputed:
            return super()._scaled(source)
        return source.views, [None] * len(source.views)

    @property
    def _precomputed(self):
        return isinstance(self.affinity, str) and self.affinity == "precomputed"

    def _check_memory(self, views):
        if not (scipy.sparse.issparse(views[0]) and self._precomputed):
            is_one = isinstance(self.affinity, str) and self.affinity != "self_representation"
            super()._check_memory(views, slices_per_view=1 if is_one else 2)

    def _view_support(self, views, labels):
        if self._precomputed:
            return np.array([graph_support(A, labels) for A in views])
        return super()._view_support(views, labels)

    def _solve(self, views, seed, n_threads, progress):
        # The tensor W, then L.
        progress.stage("graph")
        if isinstance(self.affinity, str):
            W = views if self._precomputed else AFFINITIES[self.affinity](views)
        else:
            tensor = learned_by(self.affinity, "tensor_", views, seed, n_threads)
            W = check_similarities(tensor, name=f"{type(self.affinity).__name__}.tensor_")
        progress.log(f"{len(W)} slices, {W[0].shape[0]} samples, affinity {self.affinity!r}")
        tensor, run = self._recover(W, n_threads, progress)
        learned = {"similarity_": W, "tensor_": tensor, **self._course(run, progress)}
        return learned | self._attributes(W, tensor, run)

    def _attributes(self, W, tensor, run):
        """The affinity matrix of the low-rank tensor, and what else the method learns."""
        return {"affinity_matrix_": symmetric_sum(tensor)}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        return tags


def _without_ids(matrices):
    """Matrices of similarities as arrays; frames must have the same ids in rows and columns."""
    ids = [names for A in matrices if hasattr(A, "iloc") for names in (A.index, A.columns)]
    if any(list(names) != list(ids[0]) for names in ids):
        raise ValueError(
            "similarities have different ids in rows, columns or matrices: order them by "
            "frame.loc[ids, ids]"
        )
    return [read_frame(A, "X").values if is_frame(A) else A for A in matrices]
