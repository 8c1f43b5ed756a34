"""Row sources for Dask arrays: every partition of rows is read by the worker that computes it."""

import functools
import operator
from operator import methodcaller

import dask
import dask.array as da
import numpy as np

from .._utils.threads import limit_threads
from ._row_source import RowSource, checked_block, is_dask


class DaskSource(RowSource):
    """`RowSource` if a view is a Dask array with all columns in one chunk.

    Other views get its chunks of rows. Every partition of rows is a task, which reads its rows in
    blocks of a bounded size. Tasks run on the workers of the active client, or in the default
    scheduler. `map` can be used within a partition only.

    Raises
    ------
    ValueError
        If chunks have unknown sizes, split columns, or differ among views; the message suggests a
        remedy.
    """

    is_lazy = True

    def __init__(self, views, **about):
        arrays = [view for view in views if is_dask(view)]
        if any(np.isnan(view.shape).any() for view in arrays):
            raise ValueError("chunks of unknown size: call view.compute_chunk_sizes() first")
        super().__init__(views, **about)
        self.chunks = arrays[0].chunks[0]
        if any(view.chunks != (self.chunks, (view.shape[1],)) for view in arrays):
            raise ValueError(
                "Dask arrays need equal chunks of rows, each with all columns: use "
                "view.rechunk({0: first.chunks[0], 1: -1})"
            )
        # Views in memory are divided as the Dask arrays are, so that a task has a block of each
        # view.
        whole = {"name": False, "asarray": False, "meta": np.empty((0, 0))}
        self.views = [
            view if is_dask(view) else da.from_array(view, (self.chunks, -1), **whole)
            for view in views
        ]

    def sum(self, function, *args, join=operator.add):
        """As `RowSource.sum`, of all partitions."""
        call = methodcaller("sum", function, *args, join=join)
        tasks = [task for task, count in zip(self._tasks(call), self.chunks, strict=True) if count]
        return functools.reduce(join, dask.compute(*tasks))

    def per_row(self, function, dtype, *args):
        """As `RowSource.per_row`, a lazy Dask array in the chunks of the views."""
        dtype = np.dtype(dtype)
        tasks = self._tasks(methodcaller("per_row", function, dtype, *args))
        parts = zip(tasks, self.chunks, strict=True)
        rows = [da.from_delayed(task, (count, *dtype.shape), dtype.base) for task, count in parts]
        return da.concatenate(rows)

    def _parts(self, indices):
        """As `RowSource._parts`, of all partitions at a time."""
        ends = np.cumsum(self.chunks)
        chosen = np.split(indices, np.searchsorted(indices, ends[:-1]))
        calls = (
            methodcaller("take", rows - end + count)
            for rows, end, count in zip(chosen, ends, self.chunks, strict=True)
        )
        tasks = [task for task, rows in zip(self._tasks(*calls), chosen, strict=True) if len(rows)]
        return dask.compute(*tasks)

    def labels_like(self, labels):
        """Labels of all rows as a Dask array in the chunks of the views."""
        return da.from_array(labels, chunks=(self.chunks,))

    def load(self):
        """All rows of every view."""
        return self.take(np.arange(self.n_samples))

    def _tasks(self, *calls):
        """One delayed call of the `RowSource` of each partition; one call serves all."""
        if len(calls) == 1:
            # One task holds what the others share. If its worker dies, it is computed again, which
            # scattered data are not.
            calls = [dask.delayed(calls[0], pure=False, traverse=False)] * len(self.chunks)
        firsts = (np.cumsum(self.chunks) - self.chunks).tolist()
        blocks = zip(*(view.to_delayed().ravel().tolist() for view in self.views), strict=True)
        about = self.rows, self.titles, self.n_features, self.scalings
        return [
            dask.delayed(_of_partition)(list(parts), first, count, about, call)
            for parts, first, count, call in zip(blocks, firsts, self.chunks, calls, strict=True)
        ]


def _of_partition(blocks, first, count, about, call):
    """The result of a call of the rows of one partition, read where the task runs."""
    rows, titles, n_features, scalings = about
    checked = [
        checked_block(block, title, first, (count, d))
        for block, title, d in zip(blocks, titles, n_features, strict=True)
    ]
    source = RowSource(checked, titles=titles)
    source.rows, source.first, source.scalings = rows, first, scalings
    with limit_threads():
        return call(source)
