"""Base of the estimators that clean a similarity tensor which some graph or method made."""

import numpy as np

from .. import graphs
from ..spectral import fuse
from ..validation import check_similarities
from ._tsvd_msc import tsvd_msc
from .base import MultiViewClusterer, fit_nested

TSVD_LAM = 0.5  # cleans better than the 0.05 at which t-SVD-MSC itself clusters best
GRAPHS = {
    "selfrep": graphs.self_representation,
    "knn": graphs.knn,
    "gaussian": graphs.gaussian,
}
GRAPH_NAMES = ("precomputed", "tsvd", *GRAPHS)


class RecoveryClusterer(MultiViewClusterer):
    """Base of the methods that clean a similarity tensor W; their ``graph`` says where it is from.

    A method implements ``_affinity(views, seed, n_threads)`` and calls `_similarities` in it.
    """

    def _validate(self, X):
        self._check_parameters()
        if not self._is_precomputed():
            return super()._validate(X)
        X = np.asarray(X)[None] if np.ndim(X) == 2 else X
        W = check_similarities(X, nonnegative=True, name="X")
        if W.shape[1] < 2:
            raise ValueError("X has 1 sample: at least 2 are needed")
        self.n_features_in_ = W.shape[1]
        return W

    def _is_precomputed(self):
        return isinstance(self.graph, str) and self.graph == "precomputed"

    def _check_parameters(self):
        named = isinstance(self.graph, str)
        if not (self.graph in GRAPH_NAMES if named else hasattr(self.graph, "fit")):
            raise ValueError(
                "graph must be one of "
                f"{', '.join(map(repr, GRAPH_NAMES))} or an estimator, "
                f"got {self.graph!r}"
            )

    def _similarities(self, views, seed, n_threads):
        """W, which also becomes ``similarity_``."""
        self.similarity_ = self._graph_tensor(views, seed, n_threads)
        shape = self.similarity_.shape
        self._log(f"{shape[0]} views, {shape[1]} samples, graph {self.graph!r}")
        return self.similarity_

    def _graph_tensor(self, views, seed, n_threads):
        if isinstance(self.graph, str):
            if self.graph == "precomputed":
                return views
            if self.graph == "tsvd":
                return tsvd_msc(views, lam=TSVD_LAM, transform="graph", n_threads=n_threads).tensor
            return GRAPHS[self.graph](views)
        fitted = fit_nested(self.graph, "tensor_", views, seed, n_threads)
        return check_similarities(fitted.tensor_, name=f"{type(fitted).__name__}.tensor_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags


class SplittingClusterer(RecoveryClusterer):
    """Base of the methods that split W into a low-rank and a sparse part.

    A method implements ``_recover(W, n_threads)``, which returns a `RecoveryResult`.
    """

    def _affinity(self, views, seed, n_threads):
        result = self._recover(self._similarities(views, seed, n_threads), n_threads)
        self._keep(result, self.tol)
        return fuse(self.tensor_)
