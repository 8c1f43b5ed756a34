"""Estimators that cluster a sample of many samples, and then label the others in blocks."""

from functools import partial
from typing import NamedTuple

import numpy as np

from .._sources._passes import LARGEST_GRAM, labels_of, summarised
from .._sources._row_source import (
    COPIES,
    LEAST_ROWS,
    RowSource,
    block_rows,
    check_bytes,
    row_source,
)
from ..validation import check_integer
from ..views._columns import in_order, keep_columns
from ._method import either
from ._tlrr_size import count_voters


class Drawn(NamedTuple):
    """A sample of the rows of a source, in canonical order.

    Attributes
    ----------
    source : RowSource
    numbers : ndarray of shape (m,), int
        Of the samples that were drawn.
    views : list of ndarray or csr_matrix of shape (m, d_i)
        Their rows.
    summary : Summary
        Of all samples.
    """

    source: RowSource
    numbers: np.ndarray
    views: list
    summary: object


class SampledClusterer:
    """What those have in common that cluster at most ``max_samples`` samples of many.

    They read views in blocks, of arrays in memory as of those on disk or on other machines, in
    three passes: one over all samples for what the fit needs of them, one for the rows of a sample,
    one for the labels of the others. No result depends on the size of the blocks.

    A method implements ``_draws_sample(views)``, whether it takes that way, and
    ``_labeller(n_threads)``, what gives new rows their labels. It names the limit that "auto" is at
    least, and whether it uses the products of all samples.

    Parameters
    ----------
    max_samples : int or "auto"
        Samples that are clustered at most.
    memory_limit : int or str, optional
        Bytes that a fit or prediction beyond ``max_samples`` may hold at once, besides views that
        are in memory: a number, or a string such as "600MiB". Blocks of rows are made to fit;
        MemoryError says what is needed where that is more. None is no limit but the machine's.

    Attributes
    ----------
    labels_ : ndarray or dask array of shape (n_samples,)
        Lazy, in the chunks of the views, where these were Dask arrays: what the workers need was
        sent to them through the client that was active in `fit`, and is there while it is open.
    samples_ : ndarray of shape (m,)
        Numbers of the samples that were clustered, ascending.
    """

    _checks = {
        "max_samples": either("auto", partial(check_integer, minimum=2)),
        "memory_limit": either(None, check_bytes),
    }
    _least_limit = 20_000
    _sums_products = False

    def _check_parameters(self):
        super()._check_parameters()
        if self._limit() < self.n_clusters:
            raise ValueError(
                f"max_samples={self.max_samples} is less than n_clusters={self.n_clusters}"
            )

    def _limit(self):
        """Samples that are clustered at most."""
        if self.max_samples == "auto":
            return max(self._least_limit, 300 * self.n_clusters)
        return self.max_samples

    def _validate(self, X, reset=True):
        """Views in memory, or their source where they are not and are not to be loaded."""
        given = X if reset else in_order(X, self.view_names_in_)
        source = None if self._is_precomputed() else row_source(given)
        if source is None:
            return super()._validate(X, reset)
        source.rows = self._block_rows(source)
        if not reset:
            self._check_n_features(source.n_features)
            return source
        if not self._draws_sample(source):
            return super()._validate(source.like(source.load(self._bytes())))
        self.view_names_in_ = source.view_names
        self.n_features_in_ = source.n_features if source.listed else source.n_features[0]
        keep_columns(self, [None] * len(source))
        return source

    def _deliver(self, X):
        source = None if self._is_precomputed() else row_source(X)
        if source is not None and isinstance(self.labels_, np.ndarray):
            self.labels_ = source.labels_like(self.labels_)

    def _draw(self, views, seed):
        """A uniform sample of ranks in canonical order: passes one and two."""
        source = self._source(views)
        self._check_memory(source)
        self._log(f"{source.n_samples} samples in blocks of {source.rows}")
        summary = summarised(source, grams=self._sums_products)
        order = np.lexsort(summary.keys)
        ranks = np.random.RandomState(seed).choice(len(order), self._limit(), replace=False)
        numbers = order[np.sort(ranks)]
        sample = source.take(numbers)
        if source is views:
            super()._warn_of_columns(sample)
        return Drawn(source, numbers, sample, summary)

    def _warn_of_columns(self, views):
        if not isinstance(views, RowSource):  # else of the sample that is drawn
            super()._warn_of_columns(views)

    def _labels_of(self, views, n_threads, samples=None, labels=None):
        """Labels of all rows; those of some samples, in ascending order, may be given."""
        if samples is None:
            samples, labels = np.empty(0, dtype=np.intp), np.empty(0, dtype=self.labels_.dtype)
        source = self._source(views)
        return labels_of(source, self._labeller(source.threads(n_threads)), samples, labels)

    def _source(self, views):
        if isinstance(views, RowSource):
            return views
        source = RowSource(views)
        source.rows = self._block_rows(source)
        return source

    def _bytes(self):
        return None if self.memory_limit is None else check_bytes(self.memory_limit, "memory_limit")

    def _block_rows(self, source):
        """Rows of a block that fit beside what a pass holds in any case."""
        if self.memory_limit is None:
            return block_rows(source.n_features)
        return block_rows(source.n_features, max(0, self._bytes() - self._held(source)))

    def _held(self, source):
        """Bytes that the passes need besides the blocks."""
        n, m, d = source.n_samples, min(self._limit(), source.n_samples), sum(source.n_features)
        grams = sum(8 * d * d for d in source.n_features if d <= LARGEST_GRAM)
        keys = 8 * n * (len(source) + 2)  # of each view, and their order
        voters = count_voters(m, self.n_clusters)
        # Factors in two scales, and tubes of some rows.
        votes = 8 * m * d + 8 * min(voters, 1024) * voters
        return max(keys + 3 * grams * self._sums_products, 8 * n + 2 * grams + votes)

    def _check_memory(self, source):
        """MemoryError where ``memory_limit`` is too little; before any work."""
        if self.memory_limit is None:
            return
        passes = self._held(source) + COPIES * 8 * LEAST_ROWS * sum(source.n_features)
        m = min(self._limit(), source.n_samples)
        fit = self._cost(source).memory
        if max(passes, fit) > self._bytes():
            raise MemoryError(
                f"memory_limit={self.memory_limit!r}: the fit of {m} samples needs about "
                f"{fit / 2**20:.4g} MiB, the passes over {source.n_samples} samples at least "
                f"{passes / 2**20:.4g} MiB: raise the limit, or lower max_samples"
            )
