"""Row sources for Dask arrays: every partition of rows is read by the worker that computes it."""

import operator
import warnings

import dask
import dask.array as da
import numpy as np

from .._utils.messages import warn_user
from .._utils.threads import limit_threads
from ._row_source import RowSource

PATIENCE = 60  # seconds after which a waiting fit checks whether the cluster has workers


class DaskSource(RowSource):
    """`RowSource` for Dask arrays with the same row chunks and one chunk of columns.

    Every partition of rows is a task, which reads its rows in blocks of a bounded size. Arguments
    that tasks share are sent once. Tasks run on the workers of the active client, or in the default
    scheduler. A warning is given if there have been no workers for a minute. `map` can be used
    within a partition only.

    Raises
    ------
    ValueError
        If a view is not a Dask array, or if chunks have unknown sizes, split columns, or differ
        among views; the message suggests a remedy.
    """

    def __init__(self, views, titles, rows=None):
        super().__init__(views, titles, rows)
        chunks = self.views[0].chunks[0]
        for X, title in zip(self.views, titles, strict=True):
            if X.chunks[0] != chunks:
                raise ValueError(
                    f"{title} has {len(X.chunks[0])} chunks of rows, first {X.chunks[0][0]}, "
                    f"{titles[0]} has {len(chunks)}, first {chunks[0]}: they must be equal: use "
                    "view.rechunk({0: first.chunks[0]})"
                )

    def _checked(self, X, name):
        if not isinstance(X, da.Array):
            raise ValueError(
                f"{name} is a {type(X).__module__.partition('.')[0]} {type(X).__name__}: if one "
                "view is a Dask array, all must be: use dask.array.from_array(view, "
                "chunks=(other.chunks[0], -1)) or frame.to_dask_array(lengths=True)"
            )
        if np.isnan(X.shape).any():
            raise ValueError(
                f"{name} has chunks of unknown size: call view.compute_chunk_sizes() first"
            )
        if X.ndim == 2 and len(X.chunks[1]) > 1:
            raise ValueError(
                f"{name} has {len(X.chunks[1])} chunks of columns, but every row must be in "
                "one: use view.rechunk({1: -1})"
            )
        return super()._checked(X, name)

    def sum(self, function, *args):
        """Sum of the results of all blocks, by pairwise summation of neighbouring blocks."""
        call = _Call(function, args)
        counts = self.views[0].chunks[0]
        parts = [
            dask.delayed(_sum)(*task, self.rows, call)
            for task, count in zip(self._partitions(), counts, strict=True)
            if count
        ]
        while len(parts) > 1:
            added = map(dask.delayed(operator.add), parts[::2], parts[1::2])
            parts = [*added, *parts[len(parts) - len(parts) % 2 :]]
        return _computed(parts)[0]

    def per_row(self, function, dtype, *args):
        """One value for each row, a lazy Dask array in the chunks of the views."""
        call = _sent(_Call(function, args))
        return da.concatenate(
            [
                da.from_delayed(
                    dask.delayed(_per_row)(first, blocks, self.rows, call, np.dtype(dtype)),
                    shape=(count,),
                    dtype=dtype,
                )
                for (first, blocks), count in zip(
                    self._partitions(), self.views[0].chunks[0], strict=True
                )
            ]
        )

    def take(self, indices):
        """The rows of every view with the given indices, in this order."""
        order = np.argsort(indices)
        found = _computed([X[np.asarray(indices)[order]] for X in self.views])
        back = np.argsort(order)
        return [X.astype(self.dtype, copy=False)[back] for X in found]

    def threads(self, n_threads):
        """One, because tasks run in parallel."""
        return 1

    def labels_like(self, labels):
        """Labels of all rows as a Dask array in the chunks of the views."""
        return da.from_array(labels, chunks=(self.views[0].chunks[0],))

    def _partitions(self):
        """The pairs (index of the first row, delayed blocks of all views) of all partitions."""
        starts = np.cumsum([0, *self.views[0].chunks[0][:-1]]).tolist()
        blocks = [X.to_delayed().ravel().tolist() for X in self.views]
        return list(zip(starts, map(list, zip(*blocks, strict=True)), strict=True))


class _Call:
    """A function of a block with its other arguments, which Dask does not traverse."""

    def __init__(self, function, args):
        self.function, self.args = function, args

    def __call__(self, first, blocks):
        return self.function(first, blocks, *self.args)


def _client():
    """The active client of a cluster, or None."""
    client = getattr(dask.base.get_scheduler(), "__self__", None)
    return client if hasattr(client, "submit") else None


def _computed(collections):
    """Compute Dask collections; warn if no worker is left.

    A cluster without workers waits for new ones by default
    (``distributed.scheduler.no-workers-timeout``), and then the fit continues.
    """
    client = _client()
    if client is None:
        return list(dask.compute(*collections))
    import distributed

    futures, told = client.compute(list(collections)), False
    while True:
        try:
            distributed.wait(futures, timeout=None if told else PATIENCE)
        except distributed.TimeoutError:
            told = not client.nthreads()
            if told:
                warn_user(
                    f"the Dask cluster at {client.scheduler.address} has no workers: the fit waits "
                    "until there are some"
                )
        else:
            return client.gather(futures)


def _sent(call):
    """The arguments that tasks share, sent once and not with each task.

    They are sent as the result of a task and are not scattered: if the only worker with scattered
    data dies, the data are lost, but a task is computed again.
    """
    client = _client()
    if client is not None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return client.submit(_itself, call, pure=False)
    return dask.delayed(call, pure=False, traverse=False)


def _itself(call):
    return call


def _sum(first, blocks, rows, call):
    with limit_threads():
        return RowSource(blocks, rows=rows, first=first).sum(call)


def _per_row(first, blocks, rows, call, dtype):
    with limit_threads():
        return RowSource(blocks, rows=rows, first=first).per_row(call, dtype)
