"""The estimator that all methods share: views -> similarities -> solver -> cut -> labels."""

import inspect
import threading

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .._utils.documentation import completed
from .._utils.messages import warn_user
from .._utils.progress import Progress
from .._utils.threads import use_threads
from .._utils.validation import check_available_memory, check_clusters
from ..judge._support import MAX_SAMPLES, ViewGraphs
from ..solvers._method import CHECKS, check_seed, count, natural
from ..spectral import spectral_labels
from ..views import named_views
from ..views._columns import column_attributes, warn_of_columns
from ..views._rows import canonical_order, constant_views, equal_samples, warn_of_few


class MultiViewClusterer(ClusterMixin, BaseEstimator):
    """Base of the clustering estimators.

    A fit runs in five steps, the hooks that a method may override:

    1. ``_read(X)`` checks what the user gave and returns `NamedViews`; ``_warn(given)`` warns of
       what is valid but meaningless.
    2. ``_check_memory(views)`` refuses what does not fit, by ``_arrays``: how many arrays of shape
       (v, n, n) and of shape (n, n) there are at most at a time.
    3. ``_solve(views, seed, n_threads, progress)`` returns a dict of what was learned, the affinity
       matrix among it; `_call` calls the ``_function`` of the method for it.
    4. ``_cut(learned, seed)`` returns labels and embedding.
    5. ``_view_support(views, labels)`` compares the labels with each view alone.

    The steps return what they find, by the name of the attribute; only `fit` sets attributes. They
    run on a new estimator of the same parameters, so that changes of parameters during a fit have
    no effect on it, and a fit that fails leaves the estimator as it was.

    Parameters are checked by the ``checks`` of the function and the ``_checks`` of the estimator
    and its bases, before any work. Their documentation, and that of attributes, is inherited in
    the same way: a docstring describes what is new in its class.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    n_init : int, default=20
        Number of k-means initialisations; the best is kept.
    random_state : int or RandomState, optional
        Pass an int for reproducible labels.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs that the process may use.
        Labels do not depend on it.
    verbose : int, default=0
        If 1, print each stage with the elapsed time and, for long stages, their progress to
        standard error. On a terminal a progress bar is shown if tqdm is installed.
    callback : callable, optional
        Called with an `IterationState` at the beginning of every stage, as iteration 0, and after
        every iteration. Returning True ends the iterations of the stage with the result so far; an
        exception ends the fit. A clone gets a copy of it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, from 0.
    view_support_ : ndarray of shape (n_views,)
        Adjusted mutual information between the labels and the labels that each view's own graph
        predicts: around 0 for noise, .3 to 1 for views that carry the clusters. Computed on at most
        1000 samples.
    view_names_in_ : list
        Keys of the dict of views given to `fit`, or 0, 1, ...
    n_features_in_ : int
        Number of features of all views together.
    n_features_per_view_ : list of int
        Number of features of each view.
    feature_names_in_ : ndarray of str, or list with one array per view
        Names of the columns, if a view was a data frame whose column names are all strings; None
        for the other views of a list.

    Examples
    --------
    >>> from {module} import {name}
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> {name}(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    _function = None
    _learned = ("tensor",)  # fields of the function's result that become attributes
    _arrays = (0, 0)
    _remedy = "Raise max_iter, or accept a larger tol"  # where the iteration does not converge
    _checks = {
        "n_clusters": count,
        "n_init": count,
        "random_state": check_seed,
        "n_threads": CHECKS["n_threads"],
        "verbose": natural,
        "callback": CHECKS["callback"],
    }

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        checks = [vars(base).get("_checks", {}) for base in reversed(cls.__mro__)]
        cls._checks = {name: check for part in checks for name, check in part.items()}
        if cls._function is not None:
            cls._checks = {**cls._function.checks, **cls._checks}
        if cls.__doc__ is not None and "__init__" in vars(cls):
            sources = [base.__doc__ for base in cls.__mro__[1:] if hasattr(base, "_checks")]
            if cls._function is not None:
                sources.append(cls._function.__doc__)
            signature = inspect.signature(cls)
            inherited = ("Attributes", "References", "Examples")
            doc = completed(cls.__doc__, sources, signature, inherited)
            home = "mvsc_fast" if cls.__name__ in TOP_LEVEL else "mvsc_fast.methods"
            cls.__doc__ = doc.replace("{name}", cls.__name__).replace("{module}", home)

    def _keep_parameters(self, arguments):
        """Keep every argument of ``__init__``, given as its ``locals()``, under its own name."""
        vars(self).update({name: value for name, value in arguments.items() if name != "self"})

    # ------------------------------------------------------------------ the public methods

    def fit(self, X, y=None):
        """Learn from the views and cluster the samples.

        A fit that fails or is interrupted leaves the estimator as it was.

        Parameters
        ----------
        X : list, tuple, dict or generator of array-like, sparse matrix or data frame
            The views, of shape (n_samples, n_features_i); one 2-D array is one view. The keys of a
            dict name the views. Indexes of pandas frames must agree: use `views.align`. Rows are
            scaled to unit length, so that the unit of a view does not matter; columns that are
            much larger than the others dominate: scale them first.
        y : ignored
            For compatibility with scikit-learn.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a view or a parameter is invalid; the message says which.
        RuntimeError
            If the estimator is being fitted already, by another thread or around a callback.
        """
        with _Fitting(self):
            learned = type(self)(**self.get_params(deep=False))._fitted(X)
            kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
            self.__dict__ = kept | learned
        return self

    def fit_predict(self, X, y=None):
        """Call `fit` and return ``labels_``.

        Parameters
        ----------
        X, y
            See `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.fit(X).labels_

    # ------------------------------------------------------------------ the steps of a fit

    def _fitted(self, X):
        """Everything that a fit learns, by the name of its attribute."""
        self._check_parameters()
        given = self._read(X)
        views, n = given.arrays, given.arrays[0].shape[0]
        check_clusters(self.n_clusters, n)
        self._check_memory(views)
        self._warn(given)
        seed = draw_seed(self.random_state)
        with (
            Progress(type(self).__name__, self.verbose, self.callback) as progress,
            use_threads(self.n_threads, n) as n_threads,
        ):
            learned = self._solve(views, seed, n_threads, progress)
            progress.stage("cut")
            learned |= self._cut(learned, seed)
            progress.stage("support")
            support = self._view_support(views, learned["labels_"])
        return {**input_attributes(X, given), **learned, "view_support_": support}

    def _check_parameters(self):
        for name, value in self.get_params(deep=False).items():
            if name in self._checks:
                self._checks[name](value, name)

    def _read(self, X):
        """Validated features."""
        return named_views(X)

    def _warn(self, given):
        """Warn of what in the features makes clusters meaningless."""
        views = given.arrays
        warn_of_columns(views, given.names, given.columns)
        constant_views(views, "which carries no information about clusters", given.names)
        order = canonical_order(views)
        warn_of_few(equal_samples([view[order] for view in views]), self.n_clusters)

    def _check_memory(self, views):
        self._check_slices(views, len(views), views)

    def _check_slices(self, views, v, features):
        """MemoryError if v slices of the samples, made from some features, do not fit."""
        n, itemsize = views[0].shape[0], views[0].dtype.itemsize
        width = sum(X.shape[1] for X in features)
        rank = sum(min(X.shape) for X in features)
        tensors, matrices = self._arrays
        entries = (tensors * v + matrices) * n**2 + 2 * n * width + 6 * n * rank
        support = 8 * (len(features) + 3) * min(n, MAX_SAMPLES) ** 2
        check_available_memory(
            max(itemsize * entries, support) + 2**23,
            f"{type(self).__name__} with {n} samples",
            "ConsensusTLRR clusters a sample of them and labels the others",
        )

    def _cut(self, learned, seed):
        """Labels and embedding of the affinity matrix."""
        S = learned["affinity_matrix_"]
        labels, embedding = spectral_labels(
            S, self.n_clusters, n_init=self.n_init, random_state=seed
        )
        return {"labels_": labels, "embedding_": embedding}

    def _view_support(self, views, labels):
        """Agreement of the labels with every view alone."""
        return ViewGraphs(views).support(labels)

    def _call(self, data, progress, n_threads, **given):
        """Result of the function on validated data, with the parameters that both have."""
        own = {**self.get_params(deep=False), "n_threads": n_threads}
        shared = {name: own[name] for name in self._function.checks if name in own}
        given = {**shared, "callback": progress.iteration, **given}
        progress.stage("solve", given["max_iter"])
        result = self._function.solve(data, **given)
        residual = result.history["residual"]
        reached = f"{residual[-1]:.2g}" if len(residual) else "unknown"
        if not (result.converged or given["max_iter"] == 0 or progress.stopped):
            warn_user(
                f"{type(self).__name__} did not converge: the residual is {reached} after "
                f"{result.n_iter} iterations. {self._remedy}",
                ConvergenceWarning,
            )
        progress.log(f"{result.n_iter} iterations, residual {reached}")
        return result

    def _attributes(self, result):
        """What is learned from a solver's result, by the name of its attribute."""
        names = (*self._learned, "n_iter", "converged", "history")
        return {f"{name}_": getattr(result, name) for name in names}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


TOP_LEVEL = ("TLRR", "ConsensusTLRR")


class _Fitting:
    """While a fit runs, another one of the same estimator is refused."""

    _running, _lock = set(), threading.Lock()

    def __init__(self, estimator):
        self._key = id(estimator)
        self._name = type(estimator).__name__

    def __enter__(self):
        with self._lock:
            if self._key in self._running:
                raise RuntimeError(
                    f"this {self._name} is being fitted already, by another thread or around this "
                    "callback: fit a clone (sklearn.base.clone) instead"
                )
            self._running.add(self._key)

    def __exit__(self, *_):
        self._running.discard(self._key)


def input_attributes(X, given):
    """What is known of the views X that `fit` was given, by the name of the attribute."""
    n_features = [int(view.shape[1]) for view in given.arrays]
    names = column_attributes(given.columns)
    if not given.listed:
        single = BaseEstimator()
        validate_data(single, X, skip_check_array=True)
        names = {"feature_names_in_": getattr(single, "feature_names_in_", None)}
    return {
        "view_names_in_": given.names,
        "n_features_in_": sum(n_features),
        "n_features_per_view_": n_features,
        **{name: value for name, value in names.items() if value is not None},
    }


def draw_seed(random_state):
    """One integer, so that every stage starts alike however often it draws."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def as_array(learned):
    """A matrix, or a tensor that may be a list of slices, as an array, sparse or not before."""
    if isinstance(learned, list):
        return np.stack([as_array(A) for A in learned])
    return learned.toarray() if scipy.sparse.issparse(learned) else learned


def check_estimator(value, name):
    """``value``, which must be an estimator."""
    if isinstance(value, type) or not hasattr(value, "fit"):
        raise ValueError(f"{name} must be an estimator, got {value!r}")
    return value


def fit_nested(estimator, attribute, views, seed, n_threads):
    """An estimator inside another one, fitted on the views unless it has ``attribute`` already.

    It inherits the seed and the threads where its own are None, and is never changed itself.
    """
    if not hasattr(estimator, attribute):
        estimator = clone(estimator)
        given = estimator.get_params()
        inherited = {"random_state": seed, "n_threads": n_threads}
        estimator.set_params(
            **{key: value for key, value in inherited.items() if given.get(key, 0) is None}
        )
        estimator.fit(views)
        if not hasattr(estimator, attribute):
            raise ValueError(f"{type(estimator).__name__} learns no {attribute.rstrip('_')}")
    learned, n_samples = getattr(estimator, attribute), views[0].shape[0]
    shape = np.shape(learned[0] if isinstance(learned, list) else learned)
    if shape[-2:] != (n_samples, n_samples):
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {shape[-1]} samples, the views have "
            f"{n_samples}: pass an unfitted estimator, or the same samples"
        )
    return estimator
