"""Samples that lack views, cells or values: rows of NaN and of zeros in fit and predict."""

import re
import warnings
from functools import partial

import dask.array as da
import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import mvsc_fast
from mvsc_fast import ConsensusTLRR, datasets, explain, label_predictability, methods
from mvsc_fast.explanation import markers
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.views import missing


def lacking(views, share, seed=0):
    """Views with rows of NaN, no sample without a view."""
    rng = np.random.RandomState(seed)
    gone = rng.uniform(size=(len(views), len(views[0]))) < share
    gone[rng.randint(len(views), size=len(views[0])), np.arange(len(views[0]))] = False
    return [np.where(rows[:, None], np.nan, X) for X, rows in zip(views, gone, strict=True)]


@pytest.fixture(scope="module")
def data():
    views, y = datasets.make_multiview_subspaces(200, 4, noise=0.3, random_state=0)
    return views, lacking(views, 0.3), y


def test_samples_that_lack_views_are_clustered_and_predicted(data):
    _, views, y = data
    fitted = ConsensusTLRR(4, random_state=0).fit([X[:150] for X in views])
    assert clustering_scores(y[:150], fitted.labels_)["acc"] >= 0.95
    predicted = fitted.predict([X[150:] for X in views])
    assert clustering_scores(y[150:], predicted)["acc"] >= 0.95
    again = fitted.predict([X[:150] for X in views])
    assert (again == fitted.labels_).mean() >= 0.95
    assert fitted.view_support_.shape == (3,) and fitted.view_support_.min() > 0.3


def test_a_model_of_complete_views_predicts_samples_that_lack_some(data):
    complete, views, y = data
    model = ConsensusTLRR(4, random_state=0).fit([X[:150] for X in complete])
    predicted = model.predict([X[150:] for X in views])
    assert clustering_scores(y[150:], predicted)["acc"] >= 0.95
    label = model.predict([complete[0][150:151], None, None])
    assert label == model.predict([X[150:151] for X in complete])


@pytest.mark.filterwarnings("ignore:without any of the views that are used")
def test_noise_with_gaps_is_still_excluded():
    views, _ = datasets.make_multiview_subspaces(700, 4, noise=0.3, random_state=0)
    views.append(np.random.RandomState(0).randn(700, 30))
    with pytest.warns(UserWarning, match="noise.*view 3"):
        model = ConsensusTLRR(4, random_state=0).fit(lacking(views, 0.5))
    assert model.views_used_ == [0, 1, 2]


def test_a_view_that_all_new_samples_lack_may_be_left_out(data):
    complete = dict(zip("abc", data[0], strict=True))
    model = ConsensusTLRR(4, random_state=0).fit(complete)
    expected = model.predict({**complete, "b": np.full_like(complete["b"], np.nan)})
    a, _, c = complete.values()
    for views in ({"a": a, "b": None, "c": c}, {"c": c, "a": a}, [a, None, c]):
        np.testing.assert_array_equal(model.predict(views), expected)
    assert (expected != model.predict({"a": a})).any()
    for nothing in ({"b": None}, [None, None, None], [None, None, 5]):
        with pytest.raises(ValueError, match="None"):
            model.predict(nothing)
    with pytest.raises(ValueError, match=r"view 1 has shape \(\)"):
        model.fit([a, None, c])


def with_gaps(views, share=0.05, seed=0):
    rng = np.random.RandomState(seed)
    return [np.where(rng.uniform(size=X.shape) < share, np.nan, X) for X in views]


GAPS = r"view 0 .*\d+ cells .* view 2 .*\d+ cells"


def test_missing_cells_are_filled_in_fit_and_predict(data):
    complete, _, y = data
    views = with_gaps(complete)
    views[0][[3, 160]] = views[1][4, :50] = np.nan
    with pytest.warns(UserWarning, match=GAPS) as caught:
        model = ConsensusTLRR(4, random_state=0).fit([X[:150] for X in views])
    assert len(caught) == 1 and caught[0].filename == __file__
    assert "1 of 150 samples, view 1" in str(caught[0].message)
    assert clustering_scores(y[:150], model.labels_)["acc"] >= 0.95
    with pytest.warns(UserWarning, match=GAPS):
        labels = model.predict([X[150:] for X in views])
    assert clustering_scores(y[150:], labels)["acc"] >= 0.95
    for row in range(150, 200):  # each sample alone
        with pytest.warns(UserWarning, match="cells"):
            assert model.predict([X[row : row + 1] for X in views]) == labels[row - 150]


@pytest.mark.filterwarnings("ignore:view 0 lacks")
@pytest.mark.parametrize("max_samples", ["auto", 120])
@pytest.mark.parametrize("make", [with_gaps, lacking], ids=["cells", "rows"])
def test_labels_do_not_depend_on_the_order_of_samples(data, make, max_samples):
    views = make(data[0], 0.05)
    order = np.random.RandomState(2).permutation(200)
    model = ConsensusTLRR(4, max_samples=max_samples, random_state=0)
    labels = model.fit(views).labels_
    np.testing.assert_array_equal(model.fit([X[order] for X in views]).labels_, labels[order])
    assert clustering_scores(data[2], labels)["acc"] >= 0.93


@pytest.mark.filterwarnings("ignore:view 0 lacks", "ignore:clusters of noise")
@pytest.mark.parametrize("scale", [None, "standard"])
def test_samples_of_noise_with_gaps_have_the_same_labels_and_scores_in_any_order(scale):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((220, 14))
    X[rng.random(X.shape) < 0.03] = np.nan
    order = rng.permutation(220)
    model = ConsensusTLRR(4, scale=scale, random_state=0)
    labels = model.fit_predict([X])
    np.testing.assert_array_equal(model.fit_predict([X[order]]), labels[order])
    score = label_predictability([X], labels, scale=scale)
    assert label_predictability([X[order]], labels[order], scale=scale) == score


def test_samples_without_any_view_are_too_few(data):
    views, y = data[0], np.arange(200) % 4
    gaps = [np.full_like(X, np.nan) for X in views]
    with pytest.raises(ValueError, match="any view: none of 200, .* 4 "):
        ConsensusTLRR(4).fit(gaps)
    with pytest.raises(ValueError, match="any view: none of 200, .* 2 "):
        label_predictability(gaps, y)
    with pytest.warns(UserWarning, match=r"fewer than 2 .*view 0$"):
        score = label_predictability([gaps[0], *views[1:]], y)
    assert score == label_predictability(views[1:], y)


def test_two_samples_need_a_view_in_common():
    views = np.array([[[1.0, 2.0], [np.nan, np.nan]], [[np.nan, np.nan], [3.0, 4.0]]])
    with pytest.warns(match="fewer than 2"), pytest.raises(ValueError, match="no view is left"):
        ConsensusTLRR(2).fit(list(views))


def test_constant_columns_of_sparse_views_with_gaps_are_constant():
    rng, y = np.random.RandomState(0), np.repeat([0, 1], [90, 30])
    X = np.abs(np.array([[5, 1, 1], [1.5, 1.5, 1.2]])[y] + 0.8 * rng.standard_normal((120, 3)))
    X, other = np.column_stack([X, np.ones(120)]), rng.standard_normal((120, 6)) + y[:, None]
    gone, model = rng.random_sample(120) < 0.1, ConsensusTLRR(2, random_state=0)
    labels = model.fit([missing(X, gone), other]).labels_
    sparse = missing(scipy.sparse.csr_array(X), gone)
    np.testing.assert_array_equal(model.fit([sparse, other]).labels_, labels)
    with pytest.warns(UserWarning, match="view 0: all samples are equal"):
        model.fit([missing(scipy.sparse.csr_array(X[:, 3:]), gone), other])


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize(
    "model", [methods.TSVDMSC(4), methods.LMSC(4), methods.TLRR(4), methods.TRPCA(4)], ids=repr
)
def test_other_methods_say_which_take_missing_views(model, data, wrap):
    gaps = data[0][1].copy()
    gaps[[3, 8]] = np.nan
    with pytest.raises(ValueError, match="view 1 .*2 rows .*row 3.*ConsensusTLRR"):
        model.fit([data[0][0], wrap(gaps)])


# ------------------------------------------------------------------ samples without a label


@pytest.mark.parametrize("max_samples", ["auto", 120])
def test_samples_without_any_view_have_no_label_and_change_no_other(data, max_samples):
    complete, rows = data[0], [5, 77, 180]
    model = ConsensusTLRR(4, max_samples=max_samples, random_state=0)
    lost = [np.insert(X, rows, np.nan, axis=0) for X in complete]
    expected = np.insert(model.fit(complete).labels_, rows, -1)
    expected_new = np.insert(model.predict(complete), rows, -1)
    with pytest.warns(UserWarning, match="3 samples .rows 5, 78, 182.*-1") as caught:
        np.testing.assert_array_equal(model.fit(lost).labels_, expected)
        assert not np.isin([5, 78, 182], model.samples_).any()
        np.testing.assert_array_equal(model.predict(lost), expected_new)
    assert len(caught) == 2


def test_samples_that_have_excluded_views_alone_have_no_label():
    views, _ = datasets.make_multiview_subspaces(300, 3, n_features=(20, 20), random_state=0)
    views.append(np.random.RandomState(0).randn(300, 30))
    views[0][[4, 250]] = views[1][[4, 250]] = np.nan
    for max_samples in (300, 250):
        model = ConsensusTLRR(3, max_samples=max_samples, random_state=0)
        with pytest.warns(UserWarning) as caught:
            labels = [model.fit(views).labels_, model.predict(views)]
        noise, *lost = [str(warning.message) for warning in caught]
        assert "excluded as noise" in noise and len(lost) == 2
        assert all(re.search(r"2 samples .rows 4, 250.*-1", text) for text in lost)
        for result in labels:
            np.testing.assert_array_equal(np.flatnonzero(result < 0), [4, 250])


@pytest.mark.parametrize("count", [0, 1, 5, 15])
def test_a_view_that_few_samples_have(data, count):
    """The first view, whose support is 0 at its place if no two clustered samples have it."""
    rare = [data[0][2].copy(), *data[0][:2]]
    rare[0][count:] = np.nan
    model = ConsensusTLRR(4, max_samples=60, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        labels = model.fit(rare).labels_
        predicted = model.predict(rare)
        counts = mvsc_fast.suggest_n_clusters(rare, max_samples=60, random_state=0)
    assert counts.n_samples == 60
    present = (model.samples_ < count).sum()
    excluded = [str(warning.message) for warning in caught if "excluded," in str(warning.message)]
    assert bool(excluded) == (present < 2)
    if present < 2:
        assert "of the 60 clustered samples have it: view 0" in excluded[0]
        assert model.views_used_ == [1, 2]
        assert model.view_support_[0] == 0 < model.view_support_[1:].min()
        assert clustering_scores(labels, predicted)["ari"] > 0.9


# ------------------------------------------------------------------ rows of zeros


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_samples_of_zeros_are_labelled_with_a_warning(data, wrap):
    views = [X.copy() for X in data[0]]
    for X in views:
        X[[5, 78]] = 0
    views[0][78] = np.nan  # zeros in the views that it has
    views[1][9] = 0  # not in all views
    views[2] = wrap(views[2])
    with pytest.warns(UserWarning, match=r"2 samples \(rows 5, 78\)") as caught:
        model = ConsensusTLRR(4, random_state=0).fit(views)
        assert model.labels_.min() == model.predict(views).min() == 0
    assert len(caught) == 2
    with pytest.warns(UserWarning, match=r"1 sample \(rows 5\)"):
        methods.AWP(4).fit([X[:70] for X in views[1:]])


@pytest.fixture(scope="module")
def counts():
    """Three views without negative entries, and their clusters."""
    rng = np.random.RandomState(0)
    y = rng.randint(4, size=300)
    centres = [1.2 * rng.randn(4, d) for d in (30, 40, 50)]
    return [np.maximum(C[y] + rng.randn(300, C.shape[1]), 0) for C in centres], y


@pytest.fixture(scope="module")
def gappy(counts):
    """The views, of which samples lack the last one, dense and sparse, and the clusters."""
    (a, b, c), y = counts
    mask = np.random.RandomState(1).uniform(size=300) < 0.4
    return a, b, missing(c, mask), missing(scipy.sparse.csr_array(c), mask), y


@pytest.mark.slow
def test_rows_of_zeros_are_counted_from_five_percent_on(counts):
    a, b, c = (X.copy() for X in counts[0])
    c[:14] = 0
    model = ConsensusTLRR(4, random_state=0)
    model.fit([a, b, c])  # without a warning
    c[14] = 0
    views = {"a": a, "b": b, "c": scipy.sparse.csr_array(c)}
    subsample = ConsensusTLRR(4, max_samples=200, random_state=0)
    for ask in (model.fit, subsample.fit, partial(mvsc_fast.suggest_n_clusters, random_state=0)):
        with pytest.warns(UserWarning, match=r"view 'c': 15 of 300.*views.missing\(X\)") as caught:
            ask(views)
        assert len(caught) == 1


def test_missing_rows_are_no_rows_of_zeros_and_do_not_dilute_them(counts):
    a, b, c = (X.copy() for X in counts[0])
    c[:200], c[200:206] = np.nan, 0
    with pytest.warns(UserWarning, match="view 2: 6 of 300") as caught:
        ConsensusTLRR(4, random_state=0).fit([a, b, c])
    assert len(caught) == 1


def test_sparse_chunks_of_dask_lack_rows_too(gappy):
    a, b, gaps, single, y = gappy
    expected = ConsensusTLRR(4, random_state=0).fit([a, b, gaps]).labels_
    assert adjusted_rand_score(y, expected) > 0.9
    blocks, empty = [single[:70], single[70:]], np.empty((0, 0))
    lazy = da.concatenate(
        [da.from_array(X, chunks=(-1, -1), name=False, asarray=False, meta=empty) for X in blocks]
    )
    dense = [da.from_array(X, chunks=((70, 230), -1)) for X in (a, b)]
    labels = ConsensusTLRR(4, random_state=0).fit([*dense, lazy]).labels_
    np.testing.assert_array_equal(labels.compute(), expected)


def test_explanations_of_sparse_views_that_lack_rows(gappy):
    a, b, gaps, single, y = gappy
    dense, sparse = [a, b, gaps], [a, b, single]
    model = ConsensusTLRR(4, random_state=0).fit(sparse)
    first, second = explain(model, dense), explain(model, sparse)
    np.testing.assert_array_equal(first.samples["margin"], second.samples["margin"])
    assert second.views["samples without"].tolist() == [0, 0, np.isnan(gaps[:, 0]).sum()]
    effects = [markers(model, views)["effect"] for views in (dense, sparse)]
    np.testing.assert_allclose(*effects, atol=1e-9)
    assert label_predictability(dense, y) == label_predictability(sparse, y)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_missing_row_is_no_row_of_zeros():
    rows = np.random.RandomState(0).randn(2, 100)
    second = np.repeat(np.vstack([rows, np.zeros((1, 100)), np.full((1, 100), np.nan)]), 5, axis=0)
    with pytest.warns(ConvergenceWarning, match="4 distinct values"):
        ConsensusTLRR(5, random_state=0).fit([np.tile(rows[0], (20, 1)), second])
