"""Types in the signatures of public functions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from .progress import IterationState

if TYPE_CHECKING:
    from pandas import DataFrame


class Shaped(Protocol):
    """Array, sparse matrix, data frame, AnnData, memory map, HDF5 data set, zarr or Dask array."""

    @property
    def shape(self) -> Any: ...


class Estimator(Protocol):
    """Clusterer, transformer or pipeline with the interface of scikit-learn."""

    def fit(self, *args: Any, **kwargs: Any) -> Any: ...


View: TypeAlias = Shaped | Sequence[Sequence[float]]
Views: TypeAlias = View | Iterable[View] | Mapping[Any, View]
GappyViews: TypeAlias = Views | Iterable[View | None] | Mapping[Any, View | None]
Similarities: TypeAlias = Shaped | Sequence[View]
Frames = TypeVar("Frames", list["DataFrame"], dict[Any, "DataFrame"])

IntArray: TypeAlias = NDArray[np.integer[Any]]
FloatArray: TypeAlias = NDArray[np.floating[Any]]
Numbers: TypeAlias = Sequence[float] | NDArray[Any]
# Unions with Any spare a cast if views or similarities are dense and in memory.
LabelArray: TypeAlias = IntArray | Any  # or a Dask array
Affinity: TypeAlias = FloatArray | Any  # or a csr_array
Tensor: TypeAlias = FloatArray | Any  # or a list of csr_arrays

Callback: TypeAlias = Callable[[IterationState], object]
Seed: TypeAlias = int | np.random.RandomState | None
Scale: TypeAlias = Literal["standard"]
