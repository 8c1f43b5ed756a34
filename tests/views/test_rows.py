"""Rows as users see them: ties, extreme scales, missing rows, and what a fit draws and refuses."""

import dask
import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import fitted_consensus, random_sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR, datasets, similarity
from mvsc_fast.views import check_views

NAN = np.nan


@pytest.fixture
def views():
    return datasets.make_multiview_subspaces(90, 3, random_state=0)[0]


def fitted(views, n_clusters=3, **parameters):
    return ConsensusTLRR(n_clusters, random_state=0, **parameters).fit(views)


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize(("dtype", "exponent"), [("f8", -1000), ("f8", 900), ("f4", 100)])
def test_powers_of_two_change_no_label(views, wrap, dtype, exponent):
    """Squares of these entries overflow or underflow."""
    views = [X.astype(dtype) for X in views]
    huge = [wrap(np.ldexp(X, exponent)) for X in views]
    model = fitted([wrap(X) for X in views])
    np.testing.assert_array_equal(fitted(huge).labels_, model.labels_)
    np.testing.assert_array_equal(model.predict(huge), model.predict(views))


def test_rounding_errors_change_no_label(views):
    rng = np.random.default_rng(0)
    noisy = [X * (1 + 1e-13 * rng.standard_normal(X.shape)) for X in views]
    np.testing.assert_array_equal(fitted(noisy).labels_, fitted(views).labels_)


@pytest.mark.filterwarnings("ignore:the labels agree little")
@pytest.mark.parametrize("max_samples", ["auto", 40])
@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_ties_have_one_label_in_any_order(views, wrap, max_samples):
    """Equal rows have equal keys and hashes; -0.0 is 0.0, and zeros at the end mean nothing."""
    views = [np.vstack([X[:60], X[:30]]) for X in views]
    views[0][:, 2] = 0.0
    rng = np.random.default_rng(1)
    order, signed = rng.permutation(90), views[0].copy()
    signed[::2, 2] = -0.0
    model = fitted([wrap(X) for X in views], max_samples=max_samples)
    np.testing.assert_array_equal(model.labels_[60:], model.labels_[:30])
    others = [wrap(X[order]) for X in (signed, *views[1:])]
    again = fitted(others, max_samples=max_samples)
    np.testing.assert_array_equal(again.labels_, model.labels_[order])
    if max_samples == "auto":
        wide = [wrap(np.hstack([X, np.zeros((90, 3))])) for X in views]
        assert adjusted_rand_score(fitted_consensus(wide).labels_, model.labels_) == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_rows_whose_keys_are_equal_have_one_label_in_any_order():
    """Rows of equal direction, with gaps as well, and of equal cosines with the mean direction."""
    rng = np.random.default_rng(0)
    levels, offset = np.eye(4)[rng.permutation(150) % 4], np.full((150, 1), 1e18)
    ties = [rng.lognormal(size=(150, 1))], [levels, rng.integers(1, 6, (150, 2))]
    gaps = rng.lognormal(size=(150, 2))
    gaps[rng.permutation(150)[:20], 1] = NAN
    for views in (*ties, [gaps], [np.hstack([rng.uniform(size=(150, 5)), offset])]):
        order = rng.permutation(150)
        for count in (50, "auto"):
            again = fitted([X[order] for X in views], max_samples=count).labels_
            np.testing.assert_array_equal(again, fitted(views, max_samples=count).labels_[order])


@pytest.mark.filterwarnings("ignore:view 0 lacks")
def test_a_row_is_missing_if_it_lacks_more_than_half_of_its_cells(views):
    views[0] = views[0][:, :4]
    model = fitted_consensus(views)
    new = [X[:2].copy() for X in views]
    new[0][:] = NAN
    missing = model.predict_margin(new)
    new[0][:, 0] = views[0][:2, 0]
    np.testing.assert_array_equal(model.predict_margin(new), missing)
    new[0][:, 1] = views[0][:2, 1]
    assert (model.predict_margin(new) != missing).all()


@pytest.mark.parametrize(
    "wrap", [np.asarray, scipy.sparse.csr_array, lambda X: da.from_array(X, chunks=(7, -1))]
)
def test_the_first_entry_that_cannot_be_used_is_named(views, wrap):
    views[1][11, 3], views[1][12, 0] = -np.inf, np.inf
    views[2][5, 5] = 1e308
    with pytest.raises(ValueError, match="view 1 has -inf in row 11, column 3"):
        fitted([wrap(X) for X in views])
    model = fitted_consensus([X[:11] for X in views], 2)
    with pytest.raises(ValueError, match="view 1 has -inf in row 11, column 3"):
        np.asarray(model.predict([wrap(X) for X in views]))


@pytest.mark.parametrize(
    ("cells", "values", "wrap", "message"),
    [
        ((4, 1), NAN, scipy.sparse.csr_array, "nan in row 4, column 1"),
        ((4, slice(2, None)), NAN, scipy.sparse.csr_array, "nan in row 4, column 2"),
        ((7, [0, 1]), [np.inf, -np.inf], np.asarray, "inf in row 7, column 0"),
    ],
)
def test_cells_that_cannot_be_filled_are_refused(views, cells, values, wrap, message):
    views[0][cells] = values
    with pytest.raises(ValueError, match=f"view 0 has {message}"):
        fitted([wrap(X) for X in views])


@pytest.mark.filterwarnings("ignore:without any", "ignore:the labels agree little")
def test_a_subsample_depends_on_the_seed(views):
    for X in views:
        X[3] = NAN
    model = ConsensusTLRR(3, max_samples=30)
    first, second = (clone(model).set_params(random_state=seed).fit(views) for seed in (0, 1))
    assert len(first.samples_) == 30 and 3 not in first.samples_ and first.labels_[3] == -1
    assert set(first.samples_) != set(second.samples_)


def test_rows_that_vanish_beside_their_view_are_zeros(views):
    tiny, zero = views[1].copy(), views[1].copy()
    tiny[2], zero[2] = 1e-200, 0
    np.testing.assert_array_equal(*map(similarity.self_representation, ([tiny], [zero])))


def test_wide_rows_have_the_clusters_of_their_components():
    """More columns than samples: a map of at most 3.5 million codes, of a byte each."""
    rng = np.random.default_rng(0)
    views, y = datasets.make_multiview_subspaces(90, 3, n_features=(40, 30), random_state=0)
    basis = [np.linalg.qr(rng.standard_normal((3000, X.shape[1])))[0] for X in views]
    wide = [X @ Q.T for X, Q in zip(views, basis, strict=True)]
    for wrap in (np.asarray, scipy.sparse.csr_array):
        model = fitted([wrap(X) for X in wide])
        assert adjusted_rand_score(y, model.labels_) > 0.95
        np.testing.assert_array_equal(model.predict(wide), model.labels_)
    broad = [random_sparse((300, 60_000), 0.01, rng)]
    model = fitted_consensus(broad, 2)
    assert model.predictor_.model.image.nbytes < 8e6


def test_many_samples_of_a_sparse_view_have_the_order_of_a_dense_one():
    X = np.random.default_rng(0).poisson(0.7, (2100, 5)) * np.linspace(1, 4, 2100)[:, None]
    X[:1050] = X[:1050, ::-1] ** 2
    a, b = (fitted_consensus([V], 3, max_samples=60) for V in (X, scipy.sparse.csr_array(X)))
    np.testing.assert_array_equal(a.samples_, b.samples_)


def test_a_negative_value_outside_the_sample_is_a_value_of_the_fit():
    X = np.random.default_rng(0).poisson(1.0, (200, 90)).astype(float)  # not lifted
    model = fitted_consensus([X], 3, max_samples=60)
    (*_, outside) = np.setdiff1d(np.flatnonzero(X[:, 0] == 0), model.samples_)
    X[outside, 0] = -1e-9
    again = fitted_consensus([da.from_array(X, chunks=(50, -1))], 3, max_samples=60)
    np.testing.assert_array_equal(again.samples_, model.samples_)
    with pytest.warns(UserWarning, match="negative values in view 0"):
        model.predict([X])
    again.predict([X])  # without a warning


# Rows wherever views are kept: draws, labels, blocks, and what is refused.


@pytest.fixture(scope="module")
def uneven():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((500, d)) * 10.0 ** rng.integers(-3, 4, (500, 1)) for d in (7, 30)]


def test_draws_and_labels_depend_on_values_alone(uneven):
    """Not on the order of samples, views and columns, on blocks, and on columns of zeros."""
    rng = np.random.default_rng(1)
    order, model = rng.permutation(500), fitted_consensus(uneven, max_samples=100)
    chunked = [da.from_array(X[order], chunks=(64, -1)) for X in uneven]
    permuted = fitted_consensus(chunked, max_samples=100)
    np.testing.assert_array_equal(np.sort(order[permuted.samples_]), model.samples_)
    np.testing.assert_array_equal(permuted.labels_, model.labels_[order])
    wide = [np.hstack([np.zeros((500, 2)), X])[:, rng.permutation(X.shape[1] + 2)] for X in uneven]
    first = scipy.sparse.csr_array(uneven[0])
    first.resize(500, 33_000)  # read in blocks of 128 rows
    for other in (wide, uneven[::-1], [Declared(first, first.shape), uneven[1]]):
        samples = fitted_consensus(other, max_samples=100).samples_
        np.testing.assert_array_equal(samples, model.samples_)


def test_dask_arrays_must_be_chunked_by_rows_alike(uneven):
    X, Y = (da.from_array(X, chunks=(100, -1)) for X in uneven)
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
def test_rows_that_are_not_as_declared(uneven, shape, lazy):
    told = rf"view 1, rows 0 to {shape[0] - 1}: .*\(500, 30\), .*\({shape[0]}, {shape[1]}\)"
    first, second = np.resize(uneven[0], (shape[0], 7)), Declared(uneven[1], shape)
    if lazy:
        block = dask.delayed(lambda: uneven[1])()
        second = da.from_delayed(block, shape=shape, dtype=np.float64)
    for use in (check_views, ConsensusTLRR(3, max_samples=9).fit):
        with pytest.raises(ValueError, match=told):
            use([first, second])
    with pytest.raises(ValueError, match="view 0, rows 0 to 499 is a masked array"):
        check_views([Declared(np.ma.masked_less(uneven[1], 0), (500, 30))])


def test_a_data_frame_may_have_a_column_of_any_name(uneven):
    frame = pd.DataFrame(uneven[0][:, :2], columns=["__dask_graph__", "__dataframe__"])
    model = fitted_consensus([frame, uneven[1]])
    assert model.n_features_per_view_ == [2, 30] and model.predict([frame, None]).shape == (500,)
