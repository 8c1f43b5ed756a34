"""Rows wherever views are kept: draws, labels, blocks, and what is refused."""

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
from conftest import fitted_consensus

from mvsc_fast import ConsensusTLRR
from mvsc_fast.views import check_views


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


def test_dask_arrays_must_be_chunked_by_rows_alike(views):
    X, Y = (da.from_array(X, chunks=(100, -1)) for X in views)
    for other in (Y.rechunk({1: 10}), Y.rechunk({0: 250})):
        with pytest.raises(ValueError, match="equal chunks of rows.*rechunk"):
            check_views([X, other])
    with pytest.raises(ValueError, match=r"unknown size.*compute_chunk_sizes\(\)"):
        check_views([X, Y[Y[:, 0] > 0]])


class Declared:
    """A stored array of a declared shape and type."""

    ndim = 2

    def __init__(self, X, shape, dtype=np.float64):
        self.X, self.shape, self.dtype = X, shape, np.dtype(dtype)

    def __getitem__(self, rows):
        return self.X[rows]


@pytest.mark.parametrize("shape", [(500, 31), (500, 29), (510, 30)], ids=str)
@pytest.mark.parametrize("lazy", [False, True], ids=["stored", "dask"])
def test_rows_that_are_not_as_declared(views, shape, lazy):
    told = rf"view 1, rows 0 to {shape[0] - 1}: .*\(500, 30\), .*\({shape[0]}, {shape[1]}\)"
    first, second = np.resize(views[0], (shape[0], 7)), Declared(views[1], shape)
    if lazy:
        block = dask.delayed(lambda: views[1])()
        second = da.from_delayed(block, shape=shape, dtype=np.float64)
    for use in (check_views, ConsensusTLRR(3, max_samples=9).fit):
        with pytest.raises(ValueError, match=told):
            use([first, second])


def test_masked_rows_of_a_file_are_refused(views):
    masked = np.ma.masked_less(views[1], 0)
    with pytest.raises(ValueError, match="view 0, rows 0 to 499 is a masked array"):
        check_views([Declared(masked, (500, 30))])


def test_a_data_frame_may_have_a_column_of_any_name(views):
    frame = pd.DataFrame(views[0][:, :2], columns=["__dask_graph__", "__dataframe__"])
    model = fitted_consensus([frame, views[1]])
    assert model.n_features_per_view_ == [2, 30] and model.predict([frame, None]).shape == (500,)
