"""Rows wherever views are kept: draws, labels, pages, blocks, and what is refused."""

import re
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from conftest import fitted_consensus, memory_map

from mvsc_fast import ConsensusTLRR
from mvsc_fast.views import check_views
from mvsc_fast.views._read import read_views
from mvsc_fast.views._row_source import RowSource, block_rows, check_bytes


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((500, d)) * 10.0 ** rng.integers(-3, 4, (500, 1)) for d in (7, 30)]


def test_draws_and_labels_depend_on_values_alone(views):
    """Not on the order of samples, views and columns, on blocks, and on columns of zeros."""
    rng = np.random.default_rng(1)
    order, model = rng.permutation(500), fitted_consensus(views, max_samples=100)
    chunked = [da.from_array(X[order], chunks=(64, -1)) for X in views]
    permuted = fitted_consensus(chunked, max_samples=100)
    np.testing.assert_array_equal(np.sort(order[permuted.samples_]), model.samples_)
    np.testing.assert_array_equal(permuted.labels_, model.labels_[order])
    wide = [np.hstack([np.zeros((500, 2)), X])[:, rng.permutation(X.shape[1] + 2)] for X in views]
    for other in (wide, views[::-1]):
        samples = fitted_consensus(other, max_samples=100).samples_
        np.testing.assert_array_equal(samples, model.samples_)


def resident(path):
    """Bytes of the file mapped from a folder that this process holds."""
    _, _, after = Path("/proc/self/smaps").read_text().partition(str(path))
    return int(re.search(r"^Rss: *(\d+) kB", after, re.MULTILINE)[1]) * 1024


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux")
def test_pages_of_memory_maps_are_given_back(tmp_path):
    X = memory_map(np.ones((100_000, 50)), tmp_path)
    assert X.sum() == 5e6 and resident(tmp_path) > 30e6
    source = read_views([X])
    source.rows = 10_000
    held = [resident(tmp_path) for _ in source.map(lambda first, blocks: blocks[0].sum())]
    assert max(held[1:]) < 15e6 and resident(tmp_path) == 0
    source.take(np.arange(0, 100_000, 700))
    assert resident(tmp_path) == 0


def test_changes_in_a_private_memory_map_are_kept(tmp_path):
    X = memory_map(np.ones((100, 3)), tmp_path, mode="c")
    X[5] = 2.0
    source = read_views([X])
    source.rows = 50
    assert sum(source.map(lambda first, blocks: blocks[0].sum())) == X.sum() == 303


def test_dask_arrays_must_be_chunked_by_rows_alike(views):
    X, Y = (da.from_array(X, chunks=(100, -1)) for X in views)
    with pytest.raises(ValueError, match=r"view 1 has 3 chunks of columns.*rechunk\(\{1: -1\}\)"):
        check_views([X, Y.rechunk({1: 10})])
    with pytest.raises(ValueError, match=r"view 1 has 2 chunks of rows, first 250, view 0 has 5"):
        check_views([X, Y.rechunk({0: 250})])
    with pytest.raises(ValueError, match=r"view 1 has chunks of unknown.*compute_chunk_sizes\(\)"):
        check_views([X, Y[Y[:, 0] > 0]])


class Declared:
    """A stored array of a declared shape and type that keeps the bounds of what is read."""

    ndim = 2

    def __init__(self, X, shape, dtype=np.float64):
        self.X, self.shape, self.dtype = X, shape, np.dtype(dtype)
        self.read = []

    def __getitem__(self, rows):
        self.read.append((rows.start, rows.stop))
        return self.X[rows]


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((500, 31), float), ((500, 29), float), ((510, 30), float), ((500, 30), np.float32)],
    ids=["more columns", "fewer columns", "more rows", "another type"],
)
@pytest.mark.parametrize("lazy", [False, True], ids=["stored", "dask"])
def test_rows_that_are_not_as_declared(views, shape, dtype, lazy):
    message = (
        rf"view 1, rows 0 to {shape[0] - 1}: got float64 of shape \(500, 30\), "
        rf"but the view declares {np.dtype(dtype)} of shape \({shape[0]}, {shape[1]}\)"
    )
    first, second = np.resize(views[0], (shape[0], 7)), Declared(views[1], shape, dtype)
    if lazy:
        block = dask.delayed(lambda: views[1])()
        second = da.from_delayed(block, shape=shape, dtype=dtype)
    for use in (check_views, ConsensusTLRR(3, max_samples=9).fit):
        with pytest.raises(ValueError, match=message):
            use([first, second])


def test_a_data_frame_may_have_a_column_of_any_name(views):
    frame = pd.DataFrame(views[0][:, :2], columns=["__dask_graph__", "__dataframe__"])
    model = fitted_consensus([frame, views[1]])
    assert model.n_features_per_view_ == [2, 30] and model.predict([frame, None]).shape == (500,)


NUMBERS_OF_BYTES = {5: 5, 2e9: 2 * 10**9, "77": 77, "1.5 GB": 1.5e9, "4 TB": 4e12}
NUMBERS_OF_BYTES |= {"2kib": 2048, "600MiB": 600 * 2**20, "2GiB": 2**31, "3 TiB": 3 * 2**40}


@pytest.mark.parametrize("given", NUMBERS_OF_BYTES)
def test_numbers_of_bytes(given):
    assert check_bytes(given, "memory_limit") == NUMBERS_OF_BYTES[given]


@pytest.mark.parametrize("given", [0, -1, True, 1.5, np.inf, "", "600 miles", "-3MB", "0MB", None])
def test_what_is_no_number_of_bytes(given):
    with pytest.raises(ValueError, match=f"memory_limit must be.*{re.escape(repr(given))}"):
        check_bytes(given, "memory_limit")


def test_blocks_fit_in_the_memory_there_is():
    assert block_rows([100, 100]) == 8192
    assert block_rows([100_000]) == 128
    assert block_rows([200], available=2**22) == 256
    assert block_rows([200], available=0) == 128


def test_only_blocks_with_samples_are_read():
    stored = Declared(np.arange(40.0).reshape(20, 2), (20, 2))
    source = RowSource([stored], rows=5)
    np.testing.assert_array_equal(source.take([17, 1, 16])[0], stored.X[[17, 1, 16]])
    assert stored.read == [(0, 5), (15, 20)]
