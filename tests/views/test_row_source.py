"""Row sources: blocks, samples and sums wherever views are kept, and what they refuse."""

import re
import threading
from pathlib import Path

import dask.array as da
import h5py
import numpy as np
import pytest
import scipy.sparse
import zarr
from dask.distributed import Client, LocalCluster

from mvsc_fast.views import _dask
from mvsc_fast.views._passes import labels_of, summarised
from mvsc_fast.views._row_source import RowSource, block_rows, check_bytes, stored_rows
from mvsc_fast.views._rows import canonical_order


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((500, d)) * 10.0 ** rng.integers(-3, 4, (500, 1)) for d in (7, 30)]


def memory_map(X, folder, mode="r"):
    path = folder / f"{X.shape[1]}.npy"
    np.save(path, X)
    return np.load(path, mmap_mode=mode)


def hdf5(X, folder):
    return h5py.File(folder / f"{X.shape[1]}.h5", "w").create_dataset("X", data=X, chunks=(70, 3))


KEPT = {
    "memory map": memory_map,
    "private memory map": lambda X, folder: memory_map(X, folder, mode="c"),
    "hdf5": hdf5,
    "zarr": lambda X, folder: zarr.array(X, chunks=(70, 3)),
    "dask": lambda X, folder: da.from_array(X, chunks=((130, 0, 170, 200), -1)),
}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.parametrize("rows", [33, 1000])
def test_sums_and_samples_are_the_same_bits_wherever_views_are_kept(views, tmp_path, name, rows):
    expected = summarised(RowSource(views))
    source = stored_rows([KEPT[name](X, tmp_path) for X in views], rows)
    assert (source.n_samples, source.n_features) == (500, [7, 30])
    found = summarised(source)
    for key in ("keys", "least"):
        for a, b in zip(getattr(found, key), getattr(expected, key), strict=True):
            np.testing.assert_array_equal(a, b)
    numbers = np.array([499, 0, 3, 212, 130, 131])
    for found, X in zip(source.take(numbers), views, strict=True):
        np.testing.assert_array_equal(found, X[numbers])


def test_the_summary_does_not_depend_on_order_or_blocks(views):
    order = np.random.default_rng(1).permutation(500)
    summary = summarised(RowSource(views, rows=64))
    permuted = summarised(RowSource([X[order] for X in views], rows=100))
    for keys, others in zip(summary.keys, permuted.keys, strict=True):
        np.testing.assert_array_equal(keys[order], others)
    np.testing.assert_array_equal(np.lexsort(summary.keys), canonical_order(views))
    np.testing.assert_array_equal(summary.least, [X.min() for X in views])


def resident(path):
    """Bytes of the file mapped from a folder that this process holds."""
    _, _, after = Path("/proc/self/smaps").read_text().partition(str(path))
    return int(re.search(r"^Rss: *(\d+) kB", after, re.MULTILINE)[1]) * 1024


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux")
def test_pages_of_memory_maps_are_given_back(tmp_path):
    X = memory_map(np.ones((100_000, 50)), tmp_path)
    assert X.sum() == 5e6 and resident(tmp_path) > 30e6
    source = stored_rows([X], 2500)
    held = [resident(tmp_path) for _ in source.map(lambda first, blocks: blocks[0].sum())]
    assert max(held[1:]) < 15e6 and resident(tmp_path) == 0
    source.take(np.arange(0, 100_000, 700))
    assert resident(tmp_path) == 0


def test_changes_in_a_private_memory_map_are_kept(tmp_path):
    X = memory_map(np.ones((100, 3)), tmp_path, mode="c")
    X[5] = 2.0
    source = stored_rows([X], 50)
    assert sum(source.map(lambda first, blocks: blocks[0].sum())) == X.sum() == 303


def test_given_labels_stay_and_others_come_from_their_rows(views):
    labels = labels_of(
        RowSource(views, rows=60),
        lambda blocks: (blocks[0][:, 0] > 0).astype(int),
        np.array([0, 59, 60, 499]),
        np.array([7, 8, 9, 10]),
    )
    expected = (views[0][:, 0] > 0).astype(int)
    expected[[0, 59, 60, 499]] = 7, 8, 9, 10
    np.testing.assert_array_equal(labels, expected)


@pytest.mark.parametrize(
    ("layout", "value"),
    [
        (np.asarray, -np.inf),
        (scipy.sparse.csr_array, -np.inf),
        (scipy.sparse.csr_array, np.nan),
    ],
)
def test_the_first_entry_that_cannot_be_used_is_named(views, layout, value):
    message = f"view 1 has {value} in row 410, column 5: impute or remove such samples"
    broken = [views[0], views[1].copy()]
    broken[1][410, 5] = broken[1][411, 2] = value
    source = RowSource([layout(X) for X in broken], rows=64)
    with pytest.raises(ValueError, match=message):
        summarised(source)
    with pytest.raises(ValueError, match=message):
        labels_of(source, len, np.empty(0, int), np.empty(0, int))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda X: [X, X[:-1]], "view 1 has 499 samples, view 0 has 500"),
        (lambda X: [X, X.astype(complex)], "view 1 has dtype complex128: convert it to real"),
        (lambda X: [X, X[:, :0]], "view 1 has no columns"),
        (lambda X: [X, X[0]], r"view 1 has shape \(7,\): it must have rows and columns"),
    ],
)
@pytest.mark.parametrize("wrap", [lambda X: X, da.from_array])
def test_views_that_do_not_fit_together(views, given, message, wrap):
    with pytest.raises(ValueError, match=message):
        stored_rows([wrap(views[0]), *map(wrap, given(views[0])[1:])]) or RowSource(given(views[0]))


def test_dask_arrays_must_be_chunked_by_rows_alike(views):
    X, Y = (da.from_array(X, chunks=(100, -1)) for X in views)
    with pytest.raises(ValueError, match=r"view 1 has 3 chunks of columns.*rechunk\(\{1: -1\}\)"):
        stored_rows([X, Y.rechunk({1: 10})])
    with pytest.raises(ValueError, match=r"view 1 has 2 chunks of rows, first 250, view 0 has 5"):
        stored_rows([X, Y.rechunk({0: 250})])
    with pytest.raises(ValueError, match=r"view 1 has chunks of unknown.*compute_chunk_sizes\(\)"):
        stored_rows([X, Y[Y[:, 0] > 0]])
    with pytest.raises(ValueError, match=r"view 1 is a numpy ndarray: if one view is a Dask"):
        stored_rows([X, views[1]])


def test_what_is_in_memory_is_no_source(views):
    for X in (views, views[0], [scipy.sparse.csr_array(views[0])], [[1.0, 2.0]], None):
        assert stored_rows(X) is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (5, 5),
        (2e9, 2 * 10**9),
        ("600MiB", 600 * 2**20),
        ("1.5 GB", 1.5e9),
        ("2kib", 2048),
        ("77", 77),
    ],
)
def test_numbers_of_bytes(given, expected):
    assert check_bytes(given, "memory_limit") == expected


@pytest.mark.parametrize("given", [0, -1, True, 1.5, np.inf, "", "600 miles", "-3MB", "0MB", None])
def test_what_is_no_number_of_bytes(given):
    with pytest.raises(ValueError, match=f"memory_limit must be.*{re.escape(repr(given))}"):
        check_bytes(given, "memory_limit")


def test_blocks_fit_in_the_memory_there_is():
    assert block_rows([100, 100]) == 8192
    assert block_rows([100_000]) == 128
    assert block_rows([200], available=2**22) == 256
    assert block_rows([200], available=0) == 128


def test_a_cluster_without_workers_is_told_of(views, monkeypatch):
    monkeypatch.setattr(_dask, "PATIENCE", 0.05)
    options = {"n_workers": 0, "processes": False, "threads_per_worker": 1}
    with LocalCluster(**options, dashboard_address=None) as cluster, Client(cluster):
        source = stored_rows([da.from_array(X, chunks=(200, -1)) for X in views])
        coming = threading.Timer(0.5, cluster.scale, [1])
        with pytest.warns(UserWarning, match="has no workers: the fit waits until") as told:
            coming.start()
            total = source.sum(lambda first, blocks: blocks[0].sum(axis=0))
        coming.join()
    assert len(told) == 1 and told[0].filename == __file__
    np.testing.assert_allclose(total, views[0].sum(axis=0))
