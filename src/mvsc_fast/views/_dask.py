"""Row sources for Dask arrays: every partition of rows is read by the worker that computes it."""

import operator
from functools import partial
from typing import NamedTuple

import dask
import dask.array as da
import numpy as np

from .._utils.threads import limit_threads
from ._row_source import RowSource, checked_block, is_dask, stacked


class DaskSource(RowSource):
    """`RowSource` if a view is a Dask array with all columns in one chunk.

    Other views get its chunks of rows. Every partition of rows is a task, which reads its rows in
    blocks of a bounded size. Arguments that tasks share are sent once. Tasks run on the workers of
    the active client, or in the default scheduler. `map` can be used within a partition only.

    Raises
    ------
    ValueError
        If chunks have unknown sizes, split columns, or differ among views; the message suggests a
        remedy.
    """

    is_lazy = True

    def __init__(self, views, rows=None, *, titles, **about):
        for view, title in zip(views, titles, strict=True):
            if is_dask(view):
                _check_chunks(view, title)
        first_dask = next(i for i, view in enumerate(views) if is_dask(view))
        chunks = views[first_dask].chunks[0]
        super().__init__(views, rows, titles=titles, **about)
        for view, title in zip(views, titles, strict=True):
            if is_dask(view) and view.chunks[0] != chunks:
                raise ValueError(
                    f"{title} has {len(view.chunks[0])} chunks of rows, first "
                    f"{view.chunks[0][0]}, {titles[first_dask]} has {len(chunks)}, first "
                    f"{chunks[0]}: they must be equal: use view.rechunk({{0: first.chunks[0]}})"
                )
        # Views in memory are divided as the Dask arrays are, so that a task has a block of each
        # view.
        self.views = [
            view
            if is_dask(view)
            else da.from_array(view, (chunks, -1), name=False, asarray=False, meta=np.empty((0, 0)))
            for view in views
        ]
        self._declared = [(view.shape[1], view.dtype) for view in views]

    def sum(self, function, *args):
        """Sum of the results of all blocks, by pairwise summation of neighbouring blocks."""
        call = partial(_call, function, args)  # in which Dask does not look for collections
        parts = [
            dask.delayed(_sum)(blocks, partition, call)
            for blocks, partition in self._partitions()
            if partition.size
        ]
        # A tree of sums keeps tasks small and its shape fixed, so that rounding does not depend on
        # the schedule.
        while len(parts) > 1:
            added = map(dask.delayed(operator.add), parts[::2], parts[1::2])
            parts = [*added, *parts[len(parts) - len(parts) % 2 :]]
        return dask.compute(*parts)[0]

    def per_row(self, function, dtype, *args):
        """As `RowSource.per_row`, a lazy Dask array in the chunks of the views."""
        # One task holds what the others share. If its worker dies, it is computed again, which
        # scattered data are not.
        call = dask.delayed(partial(_call, function, args), pure=False, traverse=False)
        dtype = np.dtype(dtype)
        return da.concatenate(
            [
                da.from_delayed(
                    dask.delayed(_per_row)(blocks, partition, call, dtype),
                    shape=(partition.size, *dtype.shape),
                    dtype=dtype.base,
                )
                for blocks, partition in self._partitions()
            ]
        )

    def take(self, indices):
        """The rows of every view with the given indices, in this order."""
        indices = np.asarray(indices)
        order = np.argsort(indices)
        ascending, parts = indices[order], []
        for blocks, partition in self._partitions():
            low, high = np.searchsorted(ascending, [partition.first, partition.end])
            if low < high:
                chosen = ascending[low:high] - partition.first
                parts.append(dask.delayed(_take)(blocks, partition, chosen))
        # Parts are in ascending order of the rows, and are put back into the one asked for.
        back = np.argsort(order)
        return [stacked(part)[back] for part in zip(*dask.compute(*parts), strict=True)]

    def load(self):
        """All rows of every view."""
        return self.take(np.arange(self.n_samples))

    def threads(self, n_threads):
        """One, because tasks run in parallel."""
        return 1

    def labels_like(self, labels):
        """Labels of all rows as a Dask array in the chunks of the views."""
        return da.from_array(labels, chunks=(self.views[0].chunks[0],))

    def _partitions(self):
        """The pairs (delayed blocks of all views, `Partition`) of all partitions."""
        counts = self.views[0].chunks[0]
        firsts = np.cumsum([0, *counts[:-1]]).tolist()
        blocks = [view.to_delayed().ravel().tolist() for view in self.views]
        return [
            (list(parts), Partition(first, count, self.rows, self.titles, self._declared))
            for first, count, *parts in zip(firsts, counts, *blocks, strict=True)
        ]


class Partition(NamedTuple):
    """Rows that one task reads, and what their views declare of them."""

    first: int
    size: int
    rows: int
    titles: list
    declared: list  # number of columns and dtype of each view

    @property
    def end(self):
        """Index of the first row after this partition."""
        return self.first + self.size

    def source(self, blocks):
        """The rows as a `RowSource`; raises ValueError if they are not as declared."""
        checked = [
            checked_block(block, title, self.first, (self.size, d), dtype)
            for block, title, (d, dtype) in zip(blocks, self.titles, self.declared, strict=True)
        ]
        return RowSource(checked, self.rows, self.first, titles=self.titles)


def _call(function, args, first, blocks):
    return function(first, blocks, *args)


def _sum(blocks, partition, call):
    with limit_threads():
        return partition.source(blocks).sum(call)


def _per_row(blocks, partition, call, dtype):
    with limit_threads():
        return partition.source(blocks).per_row(call, dtype)


def _take(blocks, partition, chosen):
    return partition.source(blocks).take(chosen)


def _check_chunks(view, title):
    """Raise ValueError unless every row of a Dask array is in one chunk of known size."""
    if np.isnan(view.shape).any():
        raise ValueError(
            f"{title} has chunks of unknown size: call view.compute_chunk_sizes() first"
        )
    if view.ndim == 2 and len(view.chunks[1]) > 1:
        raise ValueError(
            f"{title} has {len(view.chunks[1])} chunks of columns, but every row must be in "
            "one: use view.rechunk({1: -1})"
        )
