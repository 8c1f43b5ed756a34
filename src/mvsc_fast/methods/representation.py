"""Bases of the estimators that learn relations between samples."""

from ..graphs import graph_basis
from ..spectral import fuse
from ..transforms import Basis
from .base import MultiViewClusterer, fit_nested, warn_not_converged
from .sample_order import warn_order_dependent


class RepresentationClusterer(MultiViewClusterer):
    """Base of the methods whose tensor is |Z| + |Z|^T of relations Z they learn from the features.

    A method implements ``_learn(views, n_threads)``, which returns a `RepresentationResult`.
    """

    _keep_diagonal = True

    def _affinity(self, views, seed, n_threads):
        result = self._learn(views, n_threads, **self._context(views, seed, n_threads))
        warn_not_converged(type(self).__name__, result, self.tol)
        self._log(f"{result.n_iter} iterations, residual {result.history['residual'][-1:]}")
        self.representation_ = result.representation
        self.tensor_ = self.similarity_ = result.tensor
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        return fuse(self.tensor_, keep_diagonal=self._keep_diagonal)

    def _context(self, views, seed, n_threads):
        """Further arguments of ``_learn``."""
        return {}


class SampleTransformClusterer(RepresentationClusterer):
    """Base of the methods whose tensor norm transforms along the samples.

    A method implements ``_learn(views, n_threads, transform)`` and has the parameters
    ``sample_transform`` and ``reorder``.
    """

    def _context(self, views, seed, n_threads):
        transform = self.sample_transform
        if isinstance(transform, str) and transform == "dft":
            warn_order_dependent()
        elif hasattr(transform, "fit"):
            fitted = fit_nested(transform, "affinity_", views, seed, n_threads)
            transform = Basis(graph_basis(fitted.affinity_[None]))
        return {"transform": transform}
