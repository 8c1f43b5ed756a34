"""A transformer for each view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._utils.types import Estimator
from ._containers import ChosenOutput, Container, items, like, unchanged
from ._stored import fitted, named, transformed
from ._table_columns import listed

if TYPE_CHECKING:
    from typing_extensions import Self

Step: TypeAlias = Estimator | Literal["passthrough"] | None
Tables: TypeAlias = Sequence[Any] | dict[Any, Any]
Steps: TypeAlias = Step | Mapping[Any, Step] | Sequence[Step]


class PerView(  # type: ignore[call-arg]
    ChosenOutput, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Apply a transformer to each view.

    The clustering estimators bring every row of a view to unit length, so that the unit of a view
    does not matter, but those of its columns do. Scale columns that measure different quantities or
    have very different ranges, for example by `StandardScaler`. Do not scale counts, histograms,
    term weights, spectra, pixels or learned embeddings, whose columns are comparable. Text needs a
    vectorizer, categories need an encoder.

    Parameters
    ----------
    transformers : transformer, dict or list
        One transformer for each view: a list in the order of the views, or a dict whose keys are
        the names of the views (0, 1, ... if the views are a list). A clone of a single transformer
        is applied to each view. None or "passthrough" returns a view unchanged.

    Attributes
    ----------
    transformers_ : dict or list of transformer
        The fitted clones, a dict or a list as the views in `fit`.

    Raises
    ------
    ValueError
        In `fit`, if a view has no transformer or a transformer has no view. Errors of a transformer
        are raised with the name of the view.

    Notes
    -----
    Views may be stored outside memory: memory maps, HDF5 data sets, zarr and Dask arrays. A
    transformer with ``partial_fit``, such as `StandardScaler`, `MinMaxScaler`, `MaxAbsScaler` or
    `IncrementalPCA`, is then fitted in blocks of rows, and `transform` returns an array whose rows
    are transformed when they are read by slices (a lazy Dask array for a Dask array). Other
    transformers read the whole view into memory, if it is available. The blocks of a fit depend on
    the shape of the view alone.

    In a pipeline, parameters of the transformers have names such as ``perview__shape__with_mean``
    or ``perview__0__with_mean``, with the name of the view; those of a single transformer for all
    views ``perview__transformers__with_mean``. Grid search splits its input by rows, so begin the
    pipeline with `ViewSplitter`: it takes a single table.

    Examples
    --------
    >>> from mvsc_fast import TLRR
    >>> from mvsc_fast.preprocessing import PerView, ViewSplitter
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(
    ...     ViewSplitter([slice(6), slice(6, 13)]),
    ...     PerView(StandardScaler()),
    ...     TLRR(3, random_state=0),
    ... )
    >>> model.fit_predict(X).shape
    (178,)
    """

    transformers: Steps
    transformers_: Any

    def __init__(self, transformers: Steps) -> None:
        self.transformers = transformers

    def fit(self, X: Tables, y: Any = None) -> Self:
        """Fit a clone of each transformer on its view.

        Parameters
        ----------
        X : list or dict of views
            Views in any form that the transformers accept: arrays, sparse matrices, data frames,
            lists of texts.
        y : optional
            Passed to every transformer.

        Returns
        -------
        self
        """
        views = items(_check_container(X))
        found = []
        for (name, view), given in zip(views, self._by_view(X), strict=True):
            if _passes(given):
                given = unchanged(self._output)
            if not hasattr(given, "transform"):
                raise ValueError(
                    f'view {name!r}: expected a transformer, None or "passthrough", got {given!r}'
                )
            if view is None:
                raise ValueError(
                    f"view {name!r} is None: remove it, or pass rows of NaN for the samples that "
                    "lack this view"
                )
            found.append(fitted(clone(given), view, name, y))
        self.transformers_ = like(X, found)
        return self

    def transform(self, X: Tables) -> Any:
        """Transform every view.

        Parameters
        ----------
        X : list or dict of views
            The same views as in `fit`. A view that all samples lack may be None, or absent from
            the dict.

        Returns
        -------
        list or dict of views
            Transformed views, a dict or a list as X; None for views that are None.
        """
        check_is_fitted(self)
        views = dict(items(_check_container(X)))
        steps = dict(items(self.transformers_))
        if [*views] != [name for name in steps if name in views or not isinstance(X, dict)]:
            raise ValueError(
                f"X has the views {listed(views)}, fit had {listed(steps)}: pass the same "
                "views in the same order"
            )
        return like(
            X,
            [
                None if view is None else transformed(steps[name], view, name)
                for name, view in views.items()
            ],
        )

    def set_output(self, *, transform: Container | None = None) -> Self:
        """Set the output container of every transformer.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            Passed to ``set_output`` of every transformer. "default" also returns views without a
            transformer unchanged; None changes nothing.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a transformer has no ``set_output``.
        """
        if transform is None:
            return self
        given = self.transformers
        if not isinstance(given, (dict, list, tuple)):
            given = [given]
        parts = [*items(given), *items(getattr(self, "transformers_", []))]
        parts = [(name, one) for name, one in parts if not _passes(one)]
        for name, one in parts:
            if not hasattr(one, "set_output"):
                raise ValueError(f"view {name!r}: {one!r} has no set_output")
        for _, one in parts:
            one.set_output(transform=transform)
        self._output = transform
        return self

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Get the output feature names of each view.

        Parameters
        ----------
        input_features : dict or list of array-like of str, optional
            Input feature names of each view, as returned by `ViewSplitter.get_feature_names_out`.

        Returns
        -------
        dict or list of ndarray of str
        """
        check_is_fitted(self)
        steps = items(self.transformers_)
        names = dict.fromkeys(name for name, _ in steps)
        if input_features is not None:
            names = dict(items(input_features))
        return like(
            self.transformers_,
            [named(name, one.get_feature_names_out, names[name]) for name, one in steps],
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get parameters, including those of the transformers if ``deep``.

        Returns
        -------
        dict
        """
        out = super().get_params(deep=deep)
        for name, one in self._parts() if deep else []:
            out[name] = one
            if hasattr(one, "get_params"):
                out |= {f"{name}__{key}": value for key, value in one.get_params().items()}
        return out

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by the names that `get_params` returns.

        Returns
        -------
        self
        """
        parts = self._parts()
        if any(name in parameters for name, _ in parts):
            chosen = [parameters.pop(name, one) for name, one in parts]
            self.transformers = like(self.transformers, chosen)
        return super().set_params(**parameters)

    def _parts(self):
        """The pairs (name, transformer) of all views; empty for a single transformer."""
        if not isinstance(self.transformers, (dict, list, tuple)):
            return []
        return [(str(name), one) for name, one in items(self.transformers)]

    def _by_view(self, X):
        """The transformer given for every view of X."""
        names, given = [name for name, _ in items(X)], self.transformers
        if not isinstance(given, (dict, list, tuple)):
            return [given] * len(names)
        if isinstance(given, dict):
            for name in names:
                if name not in given:
                    raise ValueError(
                        f'no transformer for view {name!r}: give one, or "passthrough" to leave '
                        "the view as it is"
                    )
            for name in given:
                if name not in names:
                    raise ValueError(
                        f"a transformer for view {name!r}, but the views are {listed(names)}"
                    )
            return [given[name] for name in names]
        if len(given) != len(names):
            raise ValueError(
                f"{len(given)} transformers for {len(names)} views: give one for each view, or a "
                "single one for all"
            )
        return given


def _passes(given):
    """Whether a view is returned unchanged."""
    return given is None or (isinstance(given, str) and given == "passthrough")


def _check_container(X):
    """Return X, which must be a list or a dict of views."""
    if not isinstance(X, (dict, list, tuple)):
        raise ValueError(
            f"X must be a list or a dict of views, got {type(X).__name__}: split one table by "
            "ViewSplitter"
        )
    if len(X) == 0:
        raise ValueError("X has no views")
    return X
