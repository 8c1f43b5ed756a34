"""Base of the estimators that learn relations between samples, and the order of the samples."""

import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score

from ..spectral import fuse, spectral_labels
from ..threads import blas_threads
from .base import MultiViewClusterer, warn_not_converged

MAX_ROUNDS = 5  # of self-ordering; labels stand still after two or three


class RepresentationClusterer(MultiViewClusterer):
    """Base of the methods whose tensor is |Z| + |Z|^T of relations Z they learn from the features.

    A method implements ``_learn(views, n_threads)``, which returns a `RepresentationResult`.
    """

    _keep_diagonal = True

    def _affinity(self, views, seed, n_threads):
        result = self._best_result(views, seed, n_threads)
        warn_not_converged(type(self).__name__, result, self.tol)
        self._log(f"{result.n_iter} iterations, residual {result.history['residual'][-1:]}")
        self.representation_ = result.representation
        self.tensor_ = self.similarity_ = result.tensor
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        return self._fuse(result)

    def _best_result(self, views, seed, n_threads):
        return self._learn(views, n_threads)

    def _fuse(self, result):
        return fuse(result.tensor, keep_diagonal=self._keep_diagonal)


class SampleTransformClusterer(RepresentationClusterer):
    """Base of the methods whose tensor norm transforms along the samples.

    A method implements ``_learn(views, n_threads, transform)`` and has the parameters
    ``sample_transform`` and ``reorder``.
    """

    def _best_result(self, views, seed, n_threads):
        if isinstance(self.sample_transform, str) and self.sample_transform == "dft":
            warn_order_dependent()
        result = self._learn(views, n_threads, self.sample_transform)
        if self.reorder:
            result = self._self_ordered(views, result, seed, n_threads)
        return result

    def _self_ordered(self, views, result, seed, n_threads):
        """The published method on samples sorted by the labels that it finds itself."""
        labels, degree = self._labels(result, seed, n_threads)
        for self.n_rounds_ in range(1, MAX_ROUNDS + 1):
            order = np.lexsort((degree, labels))
            result = self._learn([X[order] for X in views], n_threads, "dft")
            back = np.argsort(order)
            result.representation = np.ascontiguousarray(result.representation[:, back][:, :, back])
            former = labels
            labels, degree = self._labels(result, seed, n_threads)
            self._log(f"ordering {self.n_rounds_}: {adjusted_rand_score(former, labels):.3f}")
            if adjusted_rand_score(former, labels) == 1.0:
                break
        return result

    def _labels(self, result, seed, n_threads):
        S = self._fuse(result)
        with blas_threads(n_threads):
            labels, _ = spectral_labels(S, self.n_clusters, n_init=self.n_init, random_state=seed)
        return labels, S.sum(axis=1)


_order_warned = False


def warn_order_dependent():
    """Say once that a transform along the samples makes labels depend on their order."""
    global _order_warned
    if not _order_warned:
        _order_warned = True
        warnings.warn(
            'sample_transform="dft" runs along the samples, so the labels depend on their order, '
            'and files sorted by class flatter it: use "graph" unless you reproduce a published '
            "table",
            UserWarning,
            stacklevel=5,
        )
