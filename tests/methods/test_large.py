"""Fits beyond max_samples, also by workers of Dask."""

import os
import warnings

import dask
import dask.array as da
import numpy as np
import pytest
from dask.distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.metrics import clustering_scores

N, M = 300, 120
LABELLER = ConsensusTLRR(3, max_samples=M, random_state=0)


@pytest.fixture(scope="module")
def subspaces():
    return datasets.make_multiview_subspaces(N, 3, n_features=(20, 15), random_state=0)


@pytest.fixture(scope="module")
def fitted(subspaces):
    return clone(LABELLER).fit(subspaces[0])


@pytest.fixture(scope="module")
def client():
    """Two worker processes."""
    options = {"processes": True, "n_workers": 2, "threads_per_worker": 1}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Creating scratch directories")  # slow on busy machines
        cluster = LocalCluster(**options, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        yield client


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
    whole = clone(fitted).set_params(max_samples=N).fit(views)
    assert adjusted_rand_score(whole.labels_, fitted.labels_) > 0.9


@pytest.mark.slow
def test_blocks_of_a_killed_worker_are_labelled_again(subspaces, fitted, client, tmp_path):
    """Two processes give the labels of arrays, also after one of them has died."""
    views, _ = subspaces
    armed = tmp_path / "armed"

    def deadly(block):
        try:
            armed.unlink()
        except FileNotFoundError:
            return block
        os._exit(1)

    chunks = [
        da.from_array(X, chunks=(60, -1)).map_blocks(deadly, dtype=X.dtype, meta=X[:0])
        for X in views
    ]
    model = clone(LABELLER).fit(chunks)
    assert isinstance(model.labels_, da.Array) and model.labels_.chunks[0] == chunks[0].chunks[0]
    expected = model.predict(views)
    armed.touch()
    (labels,) = dask.compute(model.predict(chunks))
    assert not armed.exists()
    np.testing.assert_array_equal(labels, expected)
    (labels,) = dask.compute(model.labels_)  # by what the workers have left
    np.testing.assert_array_equal(labels, fitted.labels_)
