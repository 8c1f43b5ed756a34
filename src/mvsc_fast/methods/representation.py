"""Bases of the estimators that learn relations between samples."""

from ..graphs import graph_basis
from ..spectral import fuse
from ..transforms import Basis
from .base import MultiViewClusterer, fit_nested
from .sample_order import warn_order_dependent


class RepresentationClusterer(MultiViewClusterer):
    """Base of the methods whose tensor is |Z| + |Z|^T of relations Z they learn from the features.

    A method implements ``_learn(views, n_threads)``, which returns a `RepresentationResult`.
    """

    _keep_diagonal = True

    def _affinity(self, views, seed, n_threads):
        result = self._learn(views, n_threads, **self._context(views, seed, n_threads))
        self._keep(result, self.tol)
        self.similarity_ = self.tensor_
        self.representation_ = result.representation
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
