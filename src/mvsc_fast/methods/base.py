"""The estimator that all methods share: views -> graphs -> solve -> spectral -> labels."""

import sys
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ..spectral import spectral_labels
from ..threads import resolve_threads, use_threads
from ..validation import check_integer
from ..views import check_views
from .sample_order import check_reorderable, self_order


class MultiViewClusterer(ClusterMixin, BaseEstimator):
    """Base of the clustering estimators.

    A method implements ``_affinity(views, seed, n_threads)``, which sets ``tensor_``, ``n_iter_``
    and what else it learns, and returns the n x n affinity matrix. Parameters ``n_clusters``,
    ``n_init``, ``random_state`` and ``n_threads`` are common to all.
    """

    def fit(self, X, y=None):
        """Learn the similarity tensor of the views and cluster the samples.

        Parameters
        ----------
        X : list of array-like or sparse matrix of shape (n_samples, n_features_i)
            The views; one 2-D array is one view.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a view or a parameter is invalid; the message says which.
        """
        resolve_threads(self.n_threads)  # refuses a wrong number before any work
        n_clusters = check_integer(self.n_clusters, "n_clusters", 1)
        n_init = check_integer(self.n_init, "n_init", 1)
        views = self._validate(X)
        n_samples = views[0].shape[0]
        if n_clusters > n_samples:
            raise ValueError(
                f"n_clusters={n_clusters} is more than the number of samples, n_samples={n_samples}"
            )
        reorder = getattr(self, "reorder", False)
        if reorder:
            check_reorderable(self)
        # One integer seed, so that every stage starts alike however often it draws.
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        with use_threads(self.n_threads, n_samples) as n_threads:
            self.affinity_ = self._affinity(views, seed, n_threads)
            self.labels_, self.embedding_ = spectral_labels(
                self.affinity_, n_clusters, n_init=n_init, random_state=seed
            )
        if reorder:
            self_order(self, views, seed)
        return self

    def fit_predict(self, X, y=None):
        """As `fit`, and returns ``labels_``, an int array of shape (n_samples,)."""
        return self.fit(X).labels_

    def _validate(self, X):
        """Validated views; sets ``n_features_in_``, a list where X is one."""
        views = check_views(X)
        if len(views) == 1 and not isinstance(X, (list, tuple)):
            validate_data(self, X, skip_check_array=True)
        else:
            self.n_features_in_ = [view.shape[1] for view in views]
        return views

    def _keep(self, result, tol):
        """Learn the tensor of a solver's result, and say how the solver ended."""
        warn_not_converged(type(self).__name__, result, tol, stacklevel=5)
        self._log(f"{result.n_iter} iterations, residual {result.history['residual'][-1:]}")
        self.tensor_ = result.tensor
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged

    def _permute(self, order):
        """Bring what was learned about the samples into another order."""
        for name in ("labels_", "embedding_"):
            setattr(self, name, getattr(self, name)[order])
        for name in ("affinity_", "similarity_", "tensor_", "representation_"):
            if hasattr(self, name):
                permuted = getattr(self, name)[..., order, :][..., order]
                setattr(self, name, np.ascontiguousarray(permuted))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _log(self, message):
        if getattr(self, "verbose", 0):
            print(f"[{type(self).__name__}] {message}", file=sys.stderr, flush=True)


def warn_not_converged(name, result, tol, stacklevel=4):
    """ConvergenceWarning with the last residual, if the result did not converge.

    ``stacklevel`` is that of the user's call of ``fit``.
    """
    if not result.converged:
        residual = result.history["residual"]
        reached = f"{residual[-1]:.2g}" if len(residual) else "unknown"
        warnings.warn(
            f"{name} stopped after {result.n_iter} iterations at a residual of {reached} "
            f"(tol={tol:g}): raise max_iter, or accept a larger tol",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def fit_nested(estimator, attribute, views, seed, n_threads):
    """An estimator inside another one, fitted on the views unless it has ``attribute`` already.

    It inherits the seed and the threads where its own are None, and is never changed itself.
    """
    if not hasattr(estimator, attribute):
        estimator = clone(estimator)
        given = estimator.get_params(deep=False)
        inherited = {"random_state": seed, "n_threads": n_threads}
        estimator.set_params(
            **{key: value for key, value in inherited.items() if given.get(key, 0) is None}
        )
        estimator.fit(views)
    learned, n_samples = np.shape(getattr(estimator, attribute)), views[0].shape[0]
    if learned[-2:] != (n_samples, n_samples):
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {learned[-1]} samples, the views have "
            f"{n_samples}: pass an unfitted estimator, or the same samples"
        )
    return estimator
