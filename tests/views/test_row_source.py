"""Row sources: blocks, samples and sums wherever views are kept, and what they refuse."""

import re
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from conftest import memory_map

from mvsc_fast.views._columns import with_absent
from mvsc_fast.views._facts import summarised
from mvsc_fast.views._passes import drawn, label_rows
from mvsc_fast.views._read import read_views
from mvsc_fast.views._row_source import RowSource, block_rows, check_bytes
from mvsc_fast.views._rows import canonical_order


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((500, d)) * 10.0 ** rng.integers(-3, 4, (500, 1)) for d in (7, 30)]


def drawn_samples(source):
    """Indices of 100 samples that are drawn from a source, in canonical order."""
    return drawn(source, 100, 2, seed=0).samples


def test_the_draw_does_not_depend_on_order_or_blocks(views):
    order = np.random.default_rng(1).permutation(500)
    samples = drawn_samples(RowSource(views, rows=64))
    permuted = drawn_samples(RowSource([X[order] for X in views], rows=100))
    np.testing.assert_array_equal(samples, order[permuted])
    facts = summarised(RowSource(views, rows=64)).views
    assert [view.least for view in facts] == [X.min() for X in views]
    for view, X in zip(facts, views, strict=True):
        np.testing.assert_array_equal(view.largest, np.abs(X).max(axis=0))
    complete = drawn(RowSource(views), 500, 2, seed=0, lift=False)
    np.testing.assert_array_equal(complete.samples, canonical_order(views))


def test_the_draw_does_not_depend_on_columns_without_meaning(views):
    rng = np.random.default_rng(2)
    samples = drawn_samples(RowSource(views))
    others = [np.hstack([np.zeros((500, 2)), X])[:, rng.permutation(X.shape[1] + 2)] for X in views]
    np.testing.assert_array_equal(drawn_samples(RowSource(others)), samples)
    np.testing.assert_array_equal(drawn_samples(RowSource(views[::-1])), samples)


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


def test_given_labels_stay_and_others_come_from_their_rows(views):
    source, predict = RowSource(views, rows=60), lambda views: (views[0][:, 0] > 0).astype(int)
    samples, expected = np.array([0, 59, 60, 499]), predict(views)
    expected[samples] = 7, 8, 9, 10
    labels, _ = label_rows(source, predict, samples, expected[samples])
    np.testing.assert_array_equal(labels, expected)


def test_dask_arrays_must_be_chunked_by_rows_alike(views):
    X, Y = (da.from_array(X, chunks=(100, -1)) for X in views)
    with pytest.raises(ValueError, match=r"view 1 has 3 chunks of columns.*rechunk\(\{1: -1\}\)"):
        read_views([X, Y.rechunk({1: 10})])
    with pytest.raises(ValueError, match=r"view 1 has 2 chunks of rows, first 250, view 0 has 5"):
        read_views([X, Y.rechunk({0: 250})])
    with pytest.raises(ValueError, match=r"view 1 has chunks of unknown.*compute_chunk_sizes\(\)"):
        read_views([X, Y[Y[:, 0] > 0]])


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
    source = read_views([first, second])
    for use in (lambda: summarised(source), lambda: source.take(np.arange(5)), source.load):
        with pytest.raises(ValueError, match=message):
            use()


def test_a_data_frame_may_have_a_column_of_any_name(views):
    frame = pd.DataFrame(views[0][:, :2], columns=["__dask_graph__", "__dataframe__"])
    assert read_views([frame, views[1]]).n_features == [2, 30]
    (_, absent) = with_absent([frame, None], [0, 1], [2, 30])
    assert absent.shape == (len(frame), 30) and np.isnan(absent).all()


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
