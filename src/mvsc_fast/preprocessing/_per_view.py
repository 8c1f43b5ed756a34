"""A transformer for each view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import scipy.sparse
from sklearn.base import TransformerMixin, clone
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from .._utils.messages import import_extra
from .._utils.parameters import InvalidParameterError
from .._utils.types import Estimator
from ..views._frames import shown, view_title
from ..views._row_source import is_dask, is_stored
from ._table_columns import named_items, with_keys_of

if TYPE_CHECKING:
    from typing_extensions import Self

Step: TypeAlias = Estimator | Literal["passthrough"] | None
Tables: TypeAlias = Sequence[Any] | dict[Any, Any]
Steps: TypeAlias = Step | Mapping[Any, Step] | Sequence[Step]
Container: TypeAlias = Literal["default", "pandas", "polars"]


class PerView(TransformerMixin, _BaseComposition, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Apply a transformer to each view.

    Text needs a vectorizer, categories need an encoder, and columns with long tails a logarithm or
    `PowerTransformer`. Columns of different units need no transformer: the estimators scale them
    with ``scale="standard"``, also if views are stored outside memory and in model files. Here,
    stored views are read into memory, unless they are returned unchanged.

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
    >>> from sklearn.preprocessing import PowerTransformer
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(
    ...     ViewSplitter([slice(6), slice(6, 13)]),
    ...     PerView(PowerTransformer()),
    ...     TLRR(3, random_state=0),
    ... )
    >>> model.fit_predict(X).shape
    (178,)
    """

    transformers: Steps
    transformers_: Any
    _output: Container | None = None

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
        steps = []
        for (name, view), step in zip(
            named_items(_check_container(X)), self._by_view(X), strict=True
        ):
            step = _IDENTITY if _passes(step) else step
            if not hasattr(step, "transform"):
                raise InvalidParameterError(
                    f'view {name!r}: expected a transformer, None or "passthrough", got {step!r}'
                )
            steps.append(_call(name, clone(step).fit, _in_memory(view, step), y))
        self.transformers_ = with_keys_of(X, steps)
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
        # New samples of a dict may lack views, but not have others or another order.
        views = dict(named_items(_check_container(X)))
        steps = dict(named_items(self.transformers_))
        if [*views] != [name for name in steps if name in views or not isinstance(X, dict)]:
            raise ValueError(
                f"X has the views {shown(*views)}, fit had {shown(*steps)}: pass the same "
                "views in the same order"
            )
        tables = []
        for name, view in views.items():
            tables.append(None if view is None else self._transformed(name, steps[name], view))
        return with_keys_of(X, tables)

    def _transformed(self, name, step, view):
        """A transformed view, which must have the same samples, in the chosen container."""
        table = _call(name, step.transform, _in_memory(view, step))
        n, n_rows = (X.shape[0] if hasattr(X, "shape") else len(X) for X in (view, table))
        if n_rows != n:
            raise ValueError(
                f"{view_title(name)}: {type(step).__name__} returned {n_rows} rows for {n} "
                "samples. A vectorizer needs the texts alone: pass a dict of views, such as "
                '{"text": frame["text"], ...}, or use FrameEncoder'
            )
        # Transformers cannot return sparse matrices as data frames.
        if self._output != "pandas" or not scipy.sparse.issparse(table):
            return table
        frames = import_extra("pandas", 'set_output(transform="pandas")').DataFrame.sparse
        names, index = step.get_feature_names_out(), view.index if hasattr(view, "iloc") else None
        return frames.from_spmatrix(table, index=index, columns=names)

    def set_output(self, *, transform: Container | None = None) -> Self:
        """Set the output container of every transformer that has ``set_output``.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            None changes nothing. With "pandas", sparse matrices of a vectorizer become data frames
            with sparse columns. Views without a transformer remain as they are.

        Returns
        -------
        self
        """
        if transform is None:
            return self
        fitted = named_items(getattr(self, "transformers_", []))
        for _, step in [*self._steps, ("", self.transformers), *fitted]:
            if hasattr(step, "set_output") and not _is_identity(step):
                step.set_output(transform=transform)
        self._output = transform
        return self

    def __sklearn_clone__(self):
        clone = super().__sklearn_clone__()
        clone._output = self._output
        return clone

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
        steps = named_items(self.transformers_)
        names = dict.fromkeys(name for name, _ in steps)
        if input_features is not None:
            names = dict(named_items(input_features))
        outputs = [_call(name, step.get_feature_names_out, names[name]) for name, step in steps]
        return with_keys_of(self.transformers_, outputs)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get parameters, including those of the transformers if ``deep``.

        Returns
        -------
        dict
        """
        return self._get_params("_steps", deep=deep)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by the names that `get_params` returns.

        Returns
        -------
        self
        """
        return self._set_params("_steps", **parameters)

    @property
    def _steps(self):
        """The pairs (name, transformer) of all views; empty for a single transformer."""
        if not isinstance(self.transformers, (dict, list, tuple)):
            return []
        return [(str(name), step) for name, step in named_items(self.transformers)]

    @_steps.setter
    def _steps(self, steps):
        self.transformers = with_keys_of(self.transformers, [step for _, step in steps])

    def _by_view(self, X):
        """The transformer given for every view of X."""
        steps = self.transformers
        if not isinstance(steps, (dict, list, tuple)):
            return [steps] * len(X)
        names, step_of_view = [name for name, _ in named_items(X)], dict(named_items(steps))
        if step_of_view.keys() != set(names):
            raise ValueError(
                f"transformers for the views {shown(*step_of_view)}, but the views are "
                f'{shown(*names)}: give one for each view, "passthrough" to leave a view as it is, '
                "or a single one for all"
            )
        return [step_of_view[name] for name in names]


_IDENTITY = FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one")


def _passes(step):
    """Whether a view is returned unchanged."""
    return step is None or (isinstance(step, str) and step == "passthrough")


def _is_identity(step):
    return isinstance(step, FunctionTransformer) and step.func is None


def _in_memory(view, step):
    """A view that is stored outside memory as an array, unless it is returned unchanged."""
    if _is_identity(step):
        return view
    return np.asarray(view) if is_dask(view) or is_stored(view) else view


def _call(name, method, X, *args):
    """The result of a transformer's method, whose errors name the view."""
    try:
        return method(X, *args)
    except (AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"{view_title(name)}: {error}") from error


def _check_container(X):
    """Return X, which must be a list or a dict of views."""
    if not isinstance(X, (dict, list, tuple)):
        raise InvalidParameterError(
            f"X must be a list or a dict of views, got {type(X).__name__}: split one table by "
            "ViewSplitter"
        )
    if len(X) == 0:
        raise ValueError("X has no views")
    return X
