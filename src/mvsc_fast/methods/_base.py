"""The estimator that all methods share: views -> graphs -> solve -> spectral -> labels."""

import contextlib
import inspect

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from .._documentation import completed
from .._progress import Progress
from .._relevance import MAX_SAMPLES, ViewGraphs
from .._warnings import warn_user
from ..spectral import spectral_labels
from ..threads import use_threads
from ..validation import available_memory, check_clusters
from ..views import named_views
from ..views._columns import check_columns, in_order, keep_columns, warn_of_columns
from ._cost import Cost
from ._method import CHECKS, check_seed, count, natural


class MultiViewClusterer(ClusterMixin, BaseEstimator):
    """Base of the clustering estimators.

    A method implements ``_affinity(views, seed, n_threads)``, which sets what it learns and returns
    the n x n affinity matrix; one that finds labels in another way implements ``_cluster``. It
    names its ``_function``, and `_solve` calls that with the parameters of the estimator; and what
    a fit needs: ``_arrays``, how many of (v, n, n) and of (n, n) there are at most at a time, and
    ``_work``, for each slice, eigenproblems, products of n x n with n x r matrices for views of
    rank r, and passes over n x n entries, all in as many iterations as it takes as a rule.

    Parameters are checked by the ``checks`` of the function and the ``_checks`` of the estimator
    and its bases, before any work. Their documentation, and that of attributes, is inherited in
    the same way: a docstring says what is new in its class.

    Parameters
    ----------
    n_clusters : int, default=8
    n_init : int, default=20
        Starts of k-means.
    random_state : int or RandomState, optional
        Pass an int for reproducible labels.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed. Labels do not depend on it.
    verbose : int, default=0
        1 says on standard error what the fit will need, and each stage with the time since it
        began; of a long one, iterations and the time left. On a terminal a bar where tqdm is
        installed (``pip install mvsc_fast[progress]``).
    callback : callable, optional
        Called with an `IterationState` (iteration, residual, seconds, block, stage, total) at the
        beginning of every stage, as iteration 0, and after every iteration. Returning True ends
        the iterations of the stage with what they have found, where there are any; an exception
        ends the fit. A clone has a copy of it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the normalised affinity, rows of unit length.
    view_support_ : ndarray of shape (n_views,)
        Adjusted mutual information of the labels with the vote of each view's own graph: around 0
        for noise, .3 to 1 for views that carry the clusters. The graphs are of at most 1000
        samples, and cost little beside the fit; of precomputed similarities every slice is one.
    view_names_in_ : list
        Keys of the dict of views that `fit` was given, else 0, 1, ...
    n_features_in_ : int or list of int
    feature_names_in_ : ndarray of str, or list with one for each view
        Names of the columns, where a view was a data frame whose names are all strings; None for
        the other views of a list.

    Examples
    --------
    >>> from mvsc_fast import {name}, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> {name}(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    _function = None
    _takes_missing = False  # whether samples may lack some views
    _learned = ("tensor",)  # fields of the function's result that become attributes
    _large = ("affinity_", "similarity_", "tensor_", "embedding_")  # that keep="labels" leaves out
    _arrays = (0, 0)
    _work = (0, 0, 0)
    _way_out = (
        'about {n} samples would fit; ConsensusTLRR, and TLRR with size="sample", cluster '
        "max_samples of them and label the others"
    )
    _progress = Progress()  # silent but in a fit
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
            cls.__doc__ = doc.replace("{name}", cls.__name__)

    def _keep_parameters(self, arguments):
        """Keep every argument of ``__init__``, given as its ``locals()``, under its own name."""
        vars(self).update({name: value for name, value in arguments.items() if name != "self"})

    def fit(self, X, y=None):
        """Learn from the views and cluster the samples.

        A fit that fails, or is interrupted, leaves the estimator as it was.

        Parameters
        ----------
        X : list, tuple, dict or generator of array-like, sparse matrix or data frame
            The views, of shape (n_samples, n_features_i); one 2-D array is one view. The keys of a
            dict name the views. Indexes of pandas frames must agree: `views.align` makes them.
            Rows are scaled to unit length, so that the unit of a view does not matter; columns
            that are much larger than the others decide alone: scale them first.
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
        before = dict(vars(self))
        try:
            self._fit_views(X)
        except BaseException:  # an interrupt leaves no half of a model either
            vars(self).clear()
            vars(self).update(before)
            raise
        return self

    def _fit_views(self, X):
        """`fit`, but for what a failure leaves."""
        self._check_parameters()
        views = self._validate(X)
        n_samples = views[0].shape[0]
        check_clusters(self.n_clusters, n_samples)
        self._warn_of_columns(views)
        with self._reporting(), use_threads(self.n_threads, n_samples) as n_threads:
            self._check_cost(views)
            self._cluster(views, draw_seed(self.random_state), n_threads)
            self._progress.stage("support")
            self.view_support_ = self._view_support(views)
        self._deliver(X)
        self._drop_what_is_not_kept()

    def fit_predict(self, X, y=None):
        """As `fit`, and returns ``labels_``, an int array of shape (n_samples,)."""
        return self.fit(X).labels_

    def _deliver(self, X):
        """Bring ``labels_`` into the form of the views that `fit` was given."""

    def _check_parameters(self):
        for name, value in self.get_params(deep=False).items():
            if name in self._checks:
                self._checks[name](value, name)

    def _validate(self, X, reset=True):
        """Validated views; sets or compares what is known of their names and columns."""
        given = named_views(
            X if reset else in_order(X, self.view_names_in_),
            ensure_min_samples=2 if reset else 1,
            missing=self._takes_missing,
        )
        if reset:
            self.view_names_in_ = given.names
        if not given.listed and (reset or not isinstance(self.n_features_in_, list)):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return given.arrays
        n_features = [view.shape[1] for view in given.arrays]
        if reset:
            self.n_features_in_ = n_features
            keep_columns(self, given.columns)
            return given.arrays
        check_columns(self, given.columns)
        self._check_n_features(n_features)
        return given.arrays

    def _check_n_features(self, n_features):
        if n_features != np.ravel(self.n_features_in_).tolist():
            raise ValueError(
                f"the views have {n_features} features, those of fit had {self.n_features_in_}"
            )

    def _is_precomputed(self):
        """Whether the views are similarities, not features."""
        return False

    def _warn_of_columns(self, views):
        if not self._is_precomputed():
            warn_of_columns(views, self.view_names_in_, getattr(self, "feature_names_in_", None))

    def _check_cost(self, views):
        """Refuse before any work what does not fit into memory, and say what the fit needs."""
        cost, n = self._cost(views), views[0].shape[0]
        fitting = int(n * min(1.0, (available_memory() / max(cost.memory, 1.0)) ** 0.5))
        cost.check(f"{type(self).__name__} with {n} samples", self._way_out.format(n=fitting))
        if self.verbose:
            self._log(f"{n} samples, {cost.told()}")

    def _cost(self, views):
        """`Cost` of a fit."""
        return self._cost_of_slices(views, len(views), views)

    def _cost_of_slices(self, views, v, features):
        """`Cost` by ``_arrays`` and ``_work``: v slices of the samples, and views to make them."""
        n, itemsize = views[0].shape[0], views[0].dtype.itemsize
        width = sum(X.shape[1] for X in features)
        rank = sum(min(X.shape) for X in features)
        (tensors, matrices), (eigen, products, passes) = self._arrays, self._work
        entries = (tensors * v + matrices) * n**2 + 2 * n * width + 6 * n * rank
        # The cut is one more eigenproblem; singular vectors of the views cost about ten.
        decompositions = sum(10 * max(X.shape) * min(X.shape) ** 2 for X in features)
        support = 8 * (len(features) + 3) * min(n, MAX_SAMPLES) ** 2
        return Cost(
            memory=max(itemsize * entries, support) + 2**23,
            eigen=(eigen * v + 1) * n**3 + decompositions,
            products=2 * products * n**2 * rank,
            passes=passes * v * n**2,
        )

    def _cluster(self, views, seed, n_threads):
        """Set ``labels_`` and all else that is learned."""
        self.affinity_ = self._affinity(views, seed, n_threads)
        self._progress.stage("cut")
        self.labels_, self.embedding_ = spectral_labels(
            self.affinity_, self.n_clusters, n_init=self.n_init, random_state=seed
        )

    def _view_support(self, views):
        """Agreement of ``labels_`` with every view by itself."""
        return ViewGraphs(views).support(self.labels_)

    def _solve(self, data, **given):
        """Result of the function on validated data, with the parameters that both have."""
        own = self.get_params(deep=False)
        shared = {name: own[name] for name in self._function.checks if name in own}
        given = {**shared, "callback": self._progress.iteration, **given}
        self._progress.stage("solve", given["max_iter"])
        return self._function.solve(data, **given)

    def _keep(self, result, tol, *, expected=False):
        """Learn from a solver's result; warn of an end that nobody ``expected`` or asked for."""
        residual = result.history["residual"]
        reached = f"{residual[-1]:.2g}" if len(residual) else "unknown"
        if not (result.converged or expected or self._progress.stopped):
            warn_user(
                f"{type(self).__name__} stopped after {result.n_iter} iterations at a residual of "
                f"{reached} (tol={tol:g}): raise max_iter, or accept a larger tol",
                ConvergenceWarning,
            )
        self._log(f"{result.n_iter} iterations, residual {reached}")
        for name in (*self._learned, "n_iter", "converged", "history"):
            setattr(self, f"{name}_", getattr(result, name))

    def _drop_what_is_not_kept(self):
        if vars(self).get("keep") == "labels":
            self._drop_large()

    def _drop_large(self):
        for name in self._large:
            vars(self).pop(name, None)

    def __getattr__(self, name):
        if name in self._large and vars(self).get("keep") == "labels" and "labels_" in vars(self):
            raise AttributeError(f'keep="labels" has not stored {name}: fit with keep="all"')
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _permute(self, order):
        """Bring what was learned about the samples into another order."""
        for name in ("labels_", "embedding_"):
            setattr(self, name, getattr(self, name)[order])
        for name in ("affinity_", "similarity_", "tensor_", "representation_"):
            if hasattr(self, name):
                setattr(self, name, _permuted(getattr(self, name), order))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @contextlib.contextmanager
    def _reporting(self):
        """While a fit runs, its stages are told to the reader and to the callback."""
        self._progress = Progress(type(self).__name__, self.verbose, self.callback)
        try:
            yield
        finally:
            self._progress.close()
            del self._progress

    def _log(self, message):
        self._progress.log(message)


def draw_seed(random_state):
    """One integer, so that every stage starts alike however often it draws."""
    return int(check_random_state(random_state).randint(2**31 - 1))


def _permuted(learned, order):
    """A matrix or a tensor of relations between samples, in another order of these."""
    if isinstance(learned, list):  # slices that share a pattern, as `SparseTensor.slices`
        first = learned[0]
        numbers = np.arange(len(first.indices)), first.indices, first.indptr
        places = _permuted(scipy.sparse.csr_array(numbers, shape=first.shape), order)
        places.sort_indices()  # scipy would do so in place, in all slices at once
        pattern = places.indices, places.indptr
        return [
            scipy.sparse.csr_array((A.data[places.data], *pattern), shape=first.shape)
            for A in learned
        ]
    if scipy.sparse.issparse(learned):
        return learned[order][:, order]
    return np.ascontiguousarray(learned[..., order, :][..., order])


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
        # The parameters of a wrapper are those of the estimator in it.
        inherited |= {f"estimator__{key}": value for key, value in inherited.items()}
        estimator.set_params(
            **{key: value for key, value in inherited.items() if given.get(key, 0) is None},
            **{key: "all" for key in ("keep", "estimator__keep") if key in given},
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
