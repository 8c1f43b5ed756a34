"""Base of the estimators that clean a similarity tensor which some graph or method made."""

import numpy as np

from .. import graphs
from .._relevance import view_support
from ..spectral import fuse
from ..validation import check_similarities
from ._base import MultiViewClusterer, as_array, fit_nested
from ._cost import Cost
from ._tlrr_size import count_slices
from ._tsvd_msc import TSVDMSC, tsvd_msc

TSVD_LAM = 0.5  # cleans better than the 0.05 at which t-SVD-MSC itself clusters best
GRAPHS = {
    "selfrep": graphs.self_representation,
    "knn": graphs.knn,
    "gaussian": graphs.gaussian,
}
GRAPH_NAMES = ("precomputed", "tsvd", *GRAPHS)


def check_graph(value, name):
    """``value``, the name of a graph or an estimator."""
    named = isinstance(value, str)
    if not (value in GRAPH_NAMES if named else hasattr(value, "fit")):
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, GRAPH_NAMES))} or an estimator, "
            f"got {value!r}"
        )
    return value


class RecoveryClusterer(MultiViewClusterer):
    """Base of the methods that clean a similarity tensor W; their ``graph`` says where it is from.

    A method implements ``_affinity(views, seed, n_threads)`` and calls `_similarities` in it.

    Parameters
    ----------
    graph : str or estimator, default="selfrep"
        Where W comes from: "selfrep" (`graphs.self_representation`), "knn", "gaussian", "tsvd"
        (t-SVD-MSC, lam 0.5, with its order-free transform), "precomputed" (X is W), or an
        estimator with a ``tensor_``, which is fitted on the views if it is not fitted yet.

    Attributes
    ----------
    similarity_ : ndarray of shape (v, n_samples, n_samples)
        The input tensor W.
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        The low-rank tensor L.
    n_iter_ : int
        Iterations of the solver.
    converged_ : bool
    history_ : dict of ndarray
        ``residual`` and ``seconds`` after every iteration, see the result of the function.
    """

    _checks = {"graph": check_graph}

    def _validate(self, X, reset=True):
        if not self._is_precomputed():
            return super()._validate(X, reset)
        X = np.asarray(X)[None] if np.ndim(X) == 2 else X
        W = check_similarities(X, nonnegative=True, name="X")
        if W.shape[1] < 2:
            raise ValueError("X has 1 sample: at least 2 are needed")
        self.n_features_in_ = W.shape[1]
        self.view_names_in_ = list(range(len(W)))
        return W

    def _cost(self, views):
        features = [] if self._is_precomputed() else views
        cost = self._cost_of_slices(views, count_slices(views, self.graph), features)
        if self.graph == "tsvd":
            first = TSVDMSC()._cost(views)
            cost = Cost(max(cost.memory, first.memory), *np.add(cost[1:], first[1:]))
        return cost

    def _view_support(self, views):
        if self._is_precomputed():
            return view_support(views, self.labels_)
        return super()._view_support(views)

    def _is_precomputed(self):
        return self.graph == "precomputed"

    def _similarities(self, views, seed, n_threads):
        """W, which also becomes ``similarity_``."""
        self._progress.stage("graph")
        self.similarity_ = self._graph_tensor(views, seed, n_threads)
        shape = self.similarity_.shape
        self._log(f"{shape[0]} views, {shape[1]} samples, graph {self.graph!r}")
        return self.similarity_

    def _graph_tensor(self, views, seed, n_threads):
        if not isinstance(self.graph, str):
            fitted = fit_nested(self.graph, "tensor_", views, seed, n_threads)
            tensor = as_array(fitted.tensor_)
            return check_similarities(tensor, name=f"{type(fitted).__name__}.tensor_")
        if self.graph == "precomputed":
            return views
        if self.graph == "tsvd":
            return tsvd_msc.solve(
                views,
                lam=TSVD_LAM,
                sample_transform="graph",
                n_threads=n_threads,
                callback=self._progress.iteration,
            ).tensor
        return GRAPHS[self.graph](views)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        return tags


class SplittingClusterer(RecoveryClusterer):
    """Base of the methods whose function splits W into a low-rank and a sparse part.

    Attributes
    ----------
    affinity_ : ndarray of shape (n_samples, n_samples)
        Sum of ``|L_i|``, diagonal cleared.
    """

    def _affinity(self, views, seed, n_threads):
        W = self._similarities(views, seed, n_threads)
        self._keep(self._solve(W, n_threads=n_threads), self.tol)
        return fuse(self.tensor_)
