"""Base classes of the estimators: views -> similarities -> solver -> cut -> labels."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from .. import __version__
from .._utils.messages import recorded, warn_user
from .._utils.parameters import CHECKS, check_seed, count, draw_seed, verbosity, with_entries
from .._utils.progress import Progress
from .._utils.threads import use_threads
from .._utils.types import Affinity, Callback, FloatArray, LabelArray, Scale, Seed, Tensor, Views
from .._utils.validation import check_clusters, check_memory
from ..judge._support import view_graphs, warn_of_constant
from ..similarity._affinity import warn_of_isolated
from ..solvers._run import Run
from ..spectral._cut import normalized_cut
from ..views import loaded
from ..views._columns import column_attributes, warn_of_columns, warn_of_names
from ..views._facts import warn_of_zeros
from ..views._read import read_views
from ..views._row_source import RowSource
from ..views._rows import is_constant
from ..views._sample import canonical_order, equal_samples, row_keys, warn_of_few
from ..views._scaling import ColumnScaling, check_scale, fit_scalings, scaled

if TYPE_CHECKING:  # scikit-learn has no types, and a base without types accepts any parameter
    from typing_extensions import Self

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...

    class ClusterMixin:
        def fit_predict(self, X: Views, y: Any = None) -> LabelArray: ...

else:
    from sklearn.base import BaseEstimator, ClusterMixin


@dataclass(eq=False, repr=False, kw_only=True)
class MultiViewClusterer(ClusterMixin, BaseEstimator):
    """Base class of the clustering estimators.

    Estimators are dataclasses: a parameter is a field with its default, a learned attribute one
    with ``init=False``. Each is documented and checked once, in the class that has it: docstrings
    get the entries of the base classes, and ``_checks`` has a ``check(value, name)`` for each
    parameter.

    A fit consists of four steps. Each is a hook that a method may override:

    1. ``_read(X)`` validates the input and returns a `RowSource`; ``_scaled(source)`` returns the
       views as the other steps see them, and warns of input that is valid but not useful.
    2. ``_check_memory(views)`` raises MemoryError if the fit needs too much memory.
    3. ``_learn(views, seed, n_threads, progress)`` returns a dict of the learned attributes.
    4. ``_view_support(views, labels)`` compares the labels with each view alone.

    The steps return dicts of attributes; only `fit` sets attributes. They run on a new estimator
    with the same parameters, so that changing a parameter during a fit has no effect on it, and a
    fit that fails leaves the estimator unchanged.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    scale : {"standard"}, optional
        "standard" brings every column to mean 0 and standard deviation 1, for columns that measure
        different quantities or have very different ranges. Columns of sparse views are divided by
        their standard deviation and not centred, so that zeros remain zeros; constant columns are
        only centred. Missing rows and cells are ignored. None, because columns of counts,
        histograms, term weights, spectra, pixels and learned embeddings are comparable as they are.
    random_state : int or RandomState, optional
        Pass an int for reproducible labels.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, from 0.
    view_support_ : ndarray of shape (n_views,)
        Adjusted mutual information between the labels and those predicted from the graph of each
        view alone: how far the labels follow the view. Around 0 for a noise view beside others that
        show the clusters, .2 to .8 if all is noise. Computed on at most 1000 samples.
    view_names_in_ : list
        Keys if `fit` was given a dict of views, else 0, 1, ...
    n_features_in_ : int
        Total number of features of all views.
    n_features_per_view_ : list of int
        Number of features of each view.
    feature_names_in_ : ndarray of str, or list with one array per view
        Column names. Defined only if a view is a data frame whose column names are all strings; in
        a list, None stands for every other view.
    scaling_ : list of tuple of (ndarray, ndarray)
        Means and standard deviations of the columns of each view, by which they are scaled: means
        of sparse views are 0, deviations of constant columns 1. Defined only with a ``scale``, or
        if squares of the entries of a view cannot be represented: without a ``scale``, such a view
        is divided by a power of two.
    warnings_ : list of str
        Warnings of the fit.
    """

    n_clusters: int = field(default=8, kw_only=False)
    scale: Scale | None = None
    random_state: Seed = None

    labels_: LabelArray = field(init=False)
    view_support_: FloatArray = field(init=False)
    view_names_in_: list[Any] = field(init=False)
    n_features_in_: int = field(init=False)
    n_features_per_view_: list[int] = field(init=False)
    feature_names_in_: Any = field(init=False)
    scaling_: list[ColumnScaling] = field(init=False)
    warnings_: list[str] = field(init=False)

    _remedy = "Raise max_iter, or accept a larger tol"  # if there is no convergence
    _checks: ClassVar[dict[str, Any]] = {
        **CHECKS,
        "n_clusters": count,
        "scale": check_scale,
        "random_state": check_seed,
        "verbose": verbosity,
    }

    def __init_subclass__(cls):
        super().__init_subclass__()
        cls.__doc__ = with_entries(cls.__doc__, cls.__base__.__doc__)

    # ------------------------------------------------------------------ the public method

    def fit(self, X: Views, y: Any = None) -> Self:
        """Cluster the samples of the views.

        A fit that fails or is interrupted leaves the estimator unchanged.

        Parameters
        ----------
        X : list, tuple, dict or generator of array-like, sparse matrix, data frame or AnnData
            Views of shape (n_samples, n_features_i); a 2-D array is a single view. The keys of a
            dict, or the modalities of MuData, are the names of the views. pandas frames must have
            equal indexes, see `views.align`. The unit of a view does not matter: rows are scaled to
            unit length, or, by ETLMSC and with an ``affinity`` of distances, distances between rows
            are divided by typical ones. It may matter with ``normalize=False``. Columns are
            scaled only with ``scale="standard"``.
        y : Ignored
            Not used, present for API consistency.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        ValueError
            If a view or a parameter is invalid, or if `y` looks like a view.
        """
        if _is_view(y):
            raise ValueError("y looks like a view, but is not used: pass several views as a list")
        # A copy is fitted, and its attributes replace the old ones only when the fit has succeeded.
        with recorded() as texts:
            learned = type(self)(**self.get_params(deep=False))._fitted(X)
            unlearned = {key: value for key, value in vars(self).items() if not key.endswith("_")}
            self.__dict__ = unlearned | learned | {"warnings_": texts}
        return self

    # ------------------------------------------------------------------ the steps of a fit

    def _fitted(self, X):
        """A dict of all attributes that a fit learns."""
        # Checks that need no computing come first: parameters, data, number of clusters.
        for name, value in self.get_params(deep=False).items():
            setattr(self, name, self._checks[name](value, name))
        source = self._read(X)
        attributes = input_attributes(X, source)
        check_clusters(self.n_clusters, source.n_samples)
        return attributes | self._learned(source)

    def _learned(self, source):
        """The attributes that depend on the rows of the views."""
        self._check_memory(source.views)
        views, scalings = self._scaled(source)
        # One seed for all steps, so that a generator that is passed is used once. Methods without
        # these parameters use one thread and report nothing.
        seed, parameters = draw_seed(self.random_state), self.get_params(deep=False)
        report = parameters.get("verbose", 0), parameters.get("callback")
        with (
            closing(Progress(type(self).__name__, *report)) as progress,
            use_threads(parameters.get("n_threads", 1), source.n_samples) as n_threads,
        ):
            learned = self._learn(views, seed, n_threads, progress)
            progress.stage("support")
            support = self._view_support(views, learned["labels_"])
        return {**learned, **scaling_attribute(scalings), "view_support_": support}

    def _read(self, X):
        """Validated views."""
        return loaded(read_views(X))

    def _scaled(self, source):
        """The views and their scalings; warns of features and samples that say nothing."""
        scalings = fit_scalings(source, self.scale, source.facts)
        views = scaled(source.views, scalings)
        no_lifts = [None] * len(views)
        warn_of_columns(list(zip(views, source.names, source.columns, no_lifts, strict=True)))
        warn_of_zeros(source.facts.zeros)
        consequence = (
            f"which says nothing about clusters, but {type(self).__name__} uses it: remove it"
        )
        pairs = zip(source.names, views, strict=True)
        warn_of_constant([name for name, X in pairs if is_constant(X)], consequence)
        rows = RowSource(views)
        keys = row_keys(rows)
        order = canonical_order(rows, keys)
        equal = equal_samples([view[order] for view in views], keys[order])
        warn_of_few(equal, self.n_clusters)
        return views, scalings

    def _check_memory(self, views):
        """Raise MemoryError if a fit needs too much; its memory is linear in the samples here."""

    def _view_support(self, views, labels):
        """Agreement of the labels with each view alone."""
        return view_graphs(views).support(labels)

    def _begin(self, progress, **penalty):
        """Begin the stage of the iteration; returns its `Run`."""
        progress.stage("solve", self.max_iter)
        return Run(self.tol, self.max_iter, progress.iteration, **penalty)

    def _course(self, result, progress):
        """Attributes from the end of a `Run`, or of a result with the same fields.

        Warns if the iteration did not converge.
        """
        residual = result.history["residual"]
        reached = f"{residual[-1]:.2g}" if len(residual) else "unknown"
        # A run that was told to stop, or not to iterate, does not warn.
        if not (result.converged or self.max_iter == 0 or progress.stopped):
            warn_user(
                f"{type(self).__name__} did not converge: the residual is {reached} after "
                f"{result.n_iter} iterations. {self._remedy}",
                ConvergenceWarning,
            )
        progress.log(f"{result.n_iter} iterations, residual {reached}")
        return {
            "n_iter_": result.n_iter,
            "converged_": result.converged,
            "history_": result.history,
        }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self):
        return {**super().__getstate__(), "_version": __version__}

    def __setstate__(self, state):
        version = state.pop("_version", "unknown")
        if version != __version__:
            warn_user(
                f"this {type(self).__name__} was saved by mvsc_fast {version}, and this is "
                f"{__version__}: attributes may be missing and predictions may differ. Fit it again"
            )
        super().__setstate__(state)  # parameters that are newer have the defaults of the class


@dataclass(eq=False, repr=False, kw_only=True)
class ReportingClusterer(MultiViewClusterer):
    """Base class of the methods whose fits may be long.

    Parameters
    ----------
    verbose : int, default=0
        If 1, print each stage with the elapsed time to standard error. On a terminal, long stages
        have a progress bar if tqdm is installed.
    callback : callable, optional
        Function that is called with an `IterationState` at the start of every stage (iteration 0)
        and after every iteration. If it returns True, the stage stops with its current result; if
        it raises an exception, the fit is aborted. A clone gets a copy of it.
    """

    verbose: int = 0
    callback: Callback | None = None


@dataclass(eq=False, repr=False, kw_only=True)
class TensorClusterer(ReportingClusterer):
    """Base class of the methods that learn a tensor of similarities, and cut its graph.

    A method defines ``_solve(views, seed, n_threads, progress)``, which returns a dict of learned
    attributes that includes the affinity matrix, and ``_arrays``, the maximum number of arrays of
    shape (v, n, n), and of shape (n, n), that exist at a time. It may override
    ``_cut(learned, seed)``, which returns labels and embedding.

    Parameters
    ----------
    n_init : int, default=20
        Number of k-means initialisations; the best is kept.

    Attributes
    ----------
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        Sum of the slices of ``|tensor_|``, with zero diagonal.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Leading eigenvectors of the normalised affinity matrix, rows scaled to unit length.
    n_iter_ : int
        Number of iterations of the solver.
    converged_ : bool
        Whether the residual reached ``tol``.
    history_ : dict of ndarray
        ``residual``, which is compared with ``tol`` (or a cheaper lower bound, if that exceeds
        ``tol``), and ``seconds`` since the start, after every iteration.
    """

    n_init: int = 20

    affinity_matrix_: Affinity = field(init=False)
    embedding_: FloatArray = field(init=False)
    similarity_: Tensor = field(init=False)
    tensor_: Tensor = field(init=False)
    n_iter_: int = field(init=False)
    converged_: bool = field(init=False)
    history_: dict[str, FloatArray] = field(init=False)

    _arrays = (0, 0)
    _checks: ClassVar[dict[str, Any]] = {**ReportingClusterer._checks, "n_init": count}

    def _check_memory(self, views, slices_per_view=1):
        n, v = views[0].shape[0], slices_per_view * len(views)
        tensors, matrices = self._arrays
        check_memory(
            views[0].dtype.itemsize * (tensors * v + matrices) * n**2 + 2**23,
            f"{type(self).__name__} with {n} samples",
            "ConsensusTLRR clusters a subsample and predicts the labels of the others",
        )

    def _learn(self, views, seed, n_threads, progress):
        learned = self._solve(views, seed, n_threads, progress)
        progress.stage("cut")
        return learned | self._cut(learned, seed)

    def _cut(self, learned, seed):
        """Labels and embedding of the affinity matrix."""
        S = learned["affinity_matrix_"]
        warn_of_isolated(np.ravel(S.sum(axis=1)))
        labels, embedding = normalized_cut(
            S, self.n_clusters, n_init=self.n_init, random_state=seed
        )
        return {"labels_": labels, "embedding_": embedding}


def _is_view(y):
    """Whether y is a matrix of several columns."""
    if isinstance(y, (list, tuple)):
        return len(y) > 0 and np.ndim(y[0]) > 0 and np.size(y[0]) > 1
    return len(getattr(y, "shape", ())) == 2 and y.shape[1] > 1


def input_attributes(X, source):
    """A dict of the attributes that describe the input X of `fit`; warns of names of labels."""
    warn_of_names(source.titles, source.columns)
    names = column_attributes(source.columns)
    if not source.listed and hasattr(X, "columns"):
        # scikit-learn compares the names of a single frame in predict.
        single = BaseEstimator()
        validate_data(single, X, skip_check_array=True)
        names = {"feature_names_in_": getattr(single, "feature_names_in_", None)}
    attributes = {
        "view_names_in_": source.names,
        "n_features_in_": sum(source.n_features),
        "n_features_per_view_": source.n_features,
    }
    return attributes | {name: value for name, value in names.items() if value is not None}


def scaling_attribute(scalings):
    """``scaling_``, if the columns of the views are scaled."""
    return {} if None in scalings else {"scaling_": scalings}


def learned_by(estimator, attribute, views, seed, n_threads):
    """``attribute`` that a clone of an estimator learns from the views.

    It inherits the seed and the number of threads if its own are None.
    """
    estimator = clone(estimator)
    inherited, parameters = {"random_state": seed, "n_threads": n_threads}, estimator.get_params()
    unset = {key: value for key, value in inherited.items() if parameters.get(key, 0) is None}
    estimator.set_params(**unset).fit(views)
    if not hasattr(estimator, attribute):
        raise ValueError(f"{type(estimator).__name__} has no attribute {attribute} after fit")
    return getattr(estimator, attribute)
