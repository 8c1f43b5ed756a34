"""Row sources whose views are Dask arrays: a partition of rows is read where it is computed."""

import operator
import pickle
import warnings

import dask
import dask.array as da
import numpy as np

from ._row_source import RowSource
from .threads import limit_threads


class DaskSource(RowSource):
    """As `RowSource`, of Dask arrays with the same row chunks and one chunk of columns.

    Every partition of rows is a task, and reads its rows in blocks of a bounded size. What tasks
    share is sent once. Tasks run where Dask computes: on the workers of the active client, or in
    the default scheduler. `map` is for a partition alone.

    Raises
    ------
    ValueError
        If a view is no Dask array, or chunks are of unknown size, split columns, or differ among
        views; the message says how to change that.
    """

    def __init__(self, views, names, rows=None):
        super().__init__(views, names, rows)
        chunks = self.views[0].chunks[0]
        for X, name in zip(self.views, names, strict=True):
            if X.chunks[0] != chunks:
                raise ValueError(
                    f"{name} has {len(X.chunks[0])} chunks of rows, first {X.chunks[0][0]}, view 0 "
                    f"has {len(chunks)}, first {chunks[0]}: they must be the same, as by "
                    "view.rechunk({0: views[0].chunks[0]})"
                )

    def _checked(self, X, name):
        if not isinstance(X, da.Array):
            raise ValueError(
                f"{name} is a {type(X).__module__.partition('.')[0]} {type(X).__name__}: where one "
                "view is a Dask array all must be, as by dask.array.from_array(view, "
                "chunks=(other.chunks[0], -1)) or frame.to_dask_array(lengths=True)"
            )
        if np.isnan(X.shape).any():
            raise ValueError(
                f"{name} has chunks of unknown size: call view.compute_chunk_sizes() first"
            )
        if X.ndim == 2 and len(X.chunks[1]) > 1:
            raise ValueError(
                f"{name} has {len(X.chunks[1])} chunks of columns, a row must be in one: "
                "view.rechunk({1: -1})"
            )
        return super()._checked(X, name)

    def sum(self, function, *args):
        """Sum of what all blocks give, added in pairs of neighbours."""
        given = dask.delayed((function, args), pure=False, traverse=False)
        counts = self.views[0].chunks[0]
        parts = [
            dask.delayed(_sum)(*task, self.rows, given)
            for task, count in zip(self._partitions(), counts, strict=True)
            if count
        ]
        while len(parts) > 1:
            added = map(dask.delayed(operator.add), parts[::2], parts[1::2])
            parts = [*added, *parts[len(parts) - len(parts) % 2 :]]
        return parts[0].compute()

    def per_row(self, function, dtype, *args):
        """One value for each row, a lazy Dask array in the chunks of the views."""
        given = _sent((function, args))
        return da.concatenate(
            [
                da.from_delayed(
                    dask.delayed(_per_row)(first, blocks, self.rows, given, np.dtype(dtype)),
                    shape=(count,),
                    dtype=dtype,
                )
                for (first, blocks), count in zip(
                    self._partitions(), self.views[0].chunks[0], strict=True
                )
            ]
        )

    def take(self, indices):
        """Some rows of every view, in the order of their numbers given."""
        order = np.argsort(indices)
        found = dask.compute(*[X[np.asarray(indices)[order]] for X in self.views])
        back = np.argsort(order)
        return [X.astype(self.dtype, copy=False)[back] for X in found]

    def threads(self, n_threads):
        """One: tasks run side by side."""
        return 1

    def labels_like(self, labels):
        """Labels of all rows as a Dask array in the chunks of the views."""
        return da.from_array(labels, chunks=(self.views[0].chunks[0],))

    def _all(self):
        return list(dask.compute(*self.views))

    def _partitions(self):
        """(number of the first row, the delayed blocks of all views) of every partition."""
        starts = np.cumsum([0, *self.views[0].chunks[0][:-1]]).tolist()
        blocks = [X.to_delayed().ravel().tolist() for X in self.views]
        return list(zip(starts, map(list, zip(*blocks, strict=True)), strict=True))


def _sent(state):
    """Something that tasks share: one copy on the cluster, not one for each task.

    A task makes it, so that it is made again where the worker that holds it is lost; what is
    scattered has its copies removed but one, and is lost with that.
    """
    made = dask.delayed(pickle.loads, pure=False)(pickle.dumps(state))
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    if not hasattr(client, "persist"):
        return made
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.persist(made)


def _sum(first, blocks, rows, given):
    function, args = given
    with limit_threads():
        return RowSource(blocks, rows=rows, first=first).sum(function, *args)


def _per_row(first, blocks, rows, given, dtype):
    function, args = given
    with limit_threads():
        return RowSource(blocks, rows=rows, first=first).per_row(function, dtype, *args)
