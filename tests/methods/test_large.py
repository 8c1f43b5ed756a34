"""Fits beyond max_samples: one result from memory, files and Dask, in blocks of any size."""

import os
import warnings

import dask
import dask.array as da
import h5py
import numpy as np
import pytest
import zarr
from conftest import memory_map
from dask.distributed import Client, LocalCluster
from reference.prediction import fields
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.metrics import clustering_scores

N, M = 300, 120
LABELLER = ConsensusTLRR(3, max_samples=M, random_state=0)


@pytest.fixture(scope="module")
def subspaces():
    return datasets.make_multiview_subspaces(N, 3, n_features=(20, 15), random_state=0)


@pytest.fixture(scope="module")
def views(subspaces):
    return subspaces[0]


@pytest.fixture(scope="module")
def fitted(views):
    return clone_of(LABELLER).fit(views)


@pytest.fixture(scope="module")
def files(views, tmp_path_factory):
    """The views in files of three kinds."""
    folder = tmp_path_factory.mktemp("views")
    with h5py.File(folder / "views.h5", "w") as file:
        for i, X in enumerate(views):
            file[str(i)] = X
        yield {
            "memory map": [memory_map(X, folder) for X in views],
            "hdf5": [file[str(i)] for i in range(2)],
            "zarr": [zarr.array(X, chunks=(100, 10)) for X in views],
        }


@pytest.fixture(scope="module")
def client():
    """Two worker processes."""
    options = {"processes": True, "n_workers": 2, "threads_per_worker": 1}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Creating scratch directories")  # slow on busy machines
        cluster = LocalCluster(**options, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        yield client


def clone_of(model, **parameters):
    return type(model)(**{**model.get_params(deep=False), **parameters})


def chunked(views, rows):
    return [da.from_array(X, chunks=(rows, -1)) for X in views]


def test_a_sample_is_fitted_and_the_others_labelled(subspaces, fitted):
    views, y = subspaces
    assert fitted.samples_.shape == (M,) and np.all(np.diff(fitted.samples_) > 0)
    assert fitted.affinity_matrix_.shape == (M, M)
    assert clustering_scores(y, fitted.labels_)["acc"] > 0.97
    assert fitted.view_support_.shape == (2,) and fitted.view_support_.min() > 0.3
    again = fitted.predict(views)
    rest = np.setdiff1d(np.arange(N), fitted.samples_)
    np.testing.assert_array_equal(again[rest], fitted.labels_[rest])
    assert np.mean(again == fitted.labels_) > 0.98
    whole = clone_of(fitted, max_samples=N).fit(views)
    assert adjusted_rand_score(whole.labels_, fitted.labels_) > 0.9


def test_labels_depend_neither_on_blocks_nor_threads_nor_order_nor_where_views_are(
    views, fitted, files, monkeypatch, threads_at_any_size
):
    monkeypatch.setattr("mvsc_fast.views._row_source.BLOCK", 50)
    order = np.random.default_rng(0).permutation(N)
    permuted = clone_of(fitted, n_threads=2).fit([X[order] for X in views])
    np.testing.assert_array_equal(permuted.labels_, fitted.labels_[order])
    for given in (*files.values(), chunked(views, 170)):
        model = clone_of(fitted, memory_limit="300MiB", n_threads=2).fit(given)
        np.testing.assert_array_equal(np.asarray(model.labels_), fitted.labels_)
        np.testing.assert_array_equal(model.samples_, fitted.samples_)
        np.testing.assert_array_equal(np.asarray(fitted.predict(given)), fitted.predict(views))


@pytest.mark.parametrize("rows", [100, N])
def test_dask_arrays_have_the_labels_of_arrays(views, fitted, client, rows):
    given = chunked(views, rows)
    model = clone_of(fitted).fit(given)
    assert isinstance(model.labels_, da.Array) and model.labels_.chunks[0] == given[0].chunks[0]
    assert model.labels_.dtype == fitted.labels_.dtype
    np.testing.assert_array_equal(model.labels_.compute(), fitted.labels_)
    predicted = model.predict(given)
    assert isinstance(predicted, da.Array)
    np.testing.assert_array_equal(predicted.compute(), fitted.predict(views))


def test_what_a_limit_of_memory_does_not_allow_is_refused_before_any_work(fitted, files):
    with pytest.raises(MemoryError, match="memory_limit=1 MiB .*120"):
        clone_of(fitted, memory_limit="1MiB").fit(files["memory map"])
    with pytest.raises(ValueError, match="memory_limit"):
        clone_of(fitted, memory_limit="much").fit(files["memory map"])


def test_bad_entries_are_named_in_fit_and_in_predict(views, fitted, tmp_path):
    broken = [views[0], views[1].copy()]
    broken[1][200, 4] = np.inf
    stored = [broken[0], memory_map(broken[1], tmp_path)]
    for given in (stored, chunked(broken, 150)):
        for method in (clone_of(fitted).fit, lambda X: np.asarray(fitted.predict(X))):
            with pytest.raises(ValueError, match="view 1 .*inf .*row 200, column 4"):
                method(given)


def test_a_view_with_negative_entries_outside_the_sample_is_no_count(views):
    counts = [np.hstack([np.abs(X), np.zeros((N, 81))]) for X in views]
    model = clone_of(LABELLER).fit(counts)
    outside = np.setdiff1d(np.arange(N), model.samples_)[0]
    counts[0][outside, 0] = -1e-9
    again = clone_of(model).fit(counts)
    roots, rows = (fields(one.predictor_.model.image)[1][0]["form"] for one in (model, again))
    assert (roots, rows) == (2, 1)  # MVSC_ROOTS_TO_UNIT, MVSC_ROWS_TO_UNIT


@pytest.mark.slow
def test_blocks_of_a_killed_worker_are_labelled_again(views, client, tmp_path):
    armed = tmp_path / "armed"

    def deadly(block):
        try:
            armed.unlink()
        except FileNotFoundError:
            return block
        os._exit(1)

    given = [X.map_blocks(deadly, dtype=X.dtype, meta=X._meta) for X in chunked(views, 60)]
    model = clone_of(LABELLER).fit(given)
    expected = model.predict(views)
    armed.touch()
    (found,) = dask.compute(model.predict(given))
    assert not armed.exists()
    np.testing.assert_array_equal(found, expected)
    (found,) = dask.compute(model.labels_)  # by what the workers have left
    np.testing.assert_array_equal(found, clone_of(LABELLER).fit(views).labels_)
