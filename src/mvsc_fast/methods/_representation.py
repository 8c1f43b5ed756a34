"""Bases of the estimators that learn relations between samples."""

from .._utils.messages import warn_user
from ..solvers._transforms import Basis, check_sample_transform, graph_basis
from ..spectral import fuse
from ._base import MultiViewClusterer, as_array, fit_nested


class RepresentationClusterer(MultiViewClusterer):
    """Base of methods whose tensor is ``|Z| + |Z|^T`` of relations Z learned from the features.

    Their function returns a `RepresentationResult`.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the normalised affinity matrix, rows scaled to unit length.
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        ``|Z| + |Z|^T``.
    similarity_ : ndarray of shape (v, n_samples, n_samples)
        The same array: the method learns its similarities itself.
    representation_ : ndarray of shape (v, n_samples, n_samples)
        Z; column k holds the coefficients of sample k.
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        Sum of the slices, diagonal kept.
    n_iter_ : int
        Iterations of the solver.
    converged_ : bool
    history_ : dict of ndarray
        ``residual`` and ``seconds`` after every iteration, see the result of the function.
    """

    _keep_diagonal = True
    _learned = ("tensor", "representation")

    def _solve(self, views, seed, n_threads, progress):
        progress.stage("graph")
        context = self._context(views, seed, n_threads)
        learned = self._attributes(self._call(views, progress, n_threads, **context))
        tensor = learned["tensor_"]
        return {
            "affinity_matrix_": fuse(tensor, keep_diagonal=self._keep_diagonal),
            "similarity_": tensor,
            **learned,
        }

    def _context(self, views, seed, n_threads):
        """Arguments of the function that are made first."""
        return {}


def _check_source(value, name):
    """``value``, a transform along the samples or an estimator to make one from."""
    return value if hasattr(value, "fit") else check_sample_transform(value, name)


class SampleTransformClusterer(RepresentationClusterer):
    """Base of the methods whose tensor norm transforms along the samples.

    Parameters
    ----------
    sample_transform : {"graph", "dft", "identity"}, ndarray or estimator, default="graph"
        The transform along the samples in the tensor norm. "graph" takes the eigenvectors of a
        similarity graph, which are free of the order of the samples. **The published "dft" depends
        on that order**; it is for reproducing tables in file order. The columns of an orthonormal
        matrix are a basis of your own. An estimator refreshes the graph basis: it is computed from
        the affinity that the estimator finds, as in ``sample_transform=TLRR(n_clusters)``.
    """

    _checks = {"sample_transform": _check_source}

    def _context(self, views, seed, n_threads):
        transform = self.sample_transform
        if isinstance(transform, str) and transform == "dft":
            warn_user(
                'sample_transform="dft" runs along the samples, so the labels depend on their '
                'order, and files sorted by class flatter it: use "graph" unless you reproduce a '
                "published table"
            )
        elif hasattr(transform, "fit"):
            fitted = fit_nested(transform, "affinity_matrix_", views, seed, n_threads)
            transform = Basis(graph_basis(as_array(fitted.affinity_matrix_)[None]))
        return {"sample_transform": transform}
