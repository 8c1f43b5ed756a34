"""Samples that lack views: rows of NaN in fit and predict."""

import re
import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import memory_map
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR, datasets, explain, methods, suggest_n_clusters
from mvsc_fast.metrics import clustering_scores


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


@pytest.fixture(scope="module")
def fitted(data):
    return ConsensusTLRR(4, random_state=0).fit([X[:150] for X in data[1]])


def test_samples_that_lack_views_are_clustered_and_predicted(data, fitted):
    _, views, y = data
    assert clustering_scores(y[:150], fitted.labels_)["acc"] >= 0.95
    found = fitted.predict([X[150:] for X in views])
    assert clustering_scores(y[150:], found)["acc"] >= 0.95
    again = fitted.predict([X[:150] for X in views])
    assert (again == fitted.labels_).mean() >= 0.95
    assert fitted.view_support_.shape == (3,) and fitted.view_support_.min() > 0.3


def test_labels_do_not_depend_on_the_order_of_samples(data, fitted):
    views = [X[:150] for X in data[1]]
    order = np.random.RandomState(1).permutation(150)
    again = ConsensusTLRR(4, random_state=0).fit([X[order] for X in views])
    np.testing.assert_array_equal(again.labels_, fitted.labels_[order])


def test_a_model_of_complete_views_predicts_samples_that_lack_some(data):
    complete, views, y = data
    model = ConsensusTLRR(4, random_state=0).fit([X[:150] for X in complete])
    found = model.predict([X[150:] for X in views])
    assert clustering_scores(y[150:], found)["acc"] >= 0.95
    (one,) = model.predict(
        [complete[0][150:151], *(np.full_like(X[:1], np.nan) for X in views[1:])]
    )
    assert one == model.predict([X[150:151] for X in complete])[0]


def test_the_rest_of_a_sample_may_lack_views(data):
    _, views, y = data
    model = ConsensusTLRR(4, max_samples=120, random_state=0).fit(views)
    assert len(model.samples_) == 120
    assert clustering_scores(y, model.labels_)["acc"] >= 0.93


@pytest.mark.filterwarnings("ignore:without any of the views that are used")
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_noise_with_gaps_is_still_excluded(share):
    views, _ = datasets.make_multiview_subspaces(700, 4, noise=0.3, random_state=0)
    views.append(np.random.RandomState(0).randn(700, 30))
    with pytest.warns(UserWarning, match="noise.*view 3"):
        model = ConsensusTLRR(4, random_state=0).fit(lacking(views, share))
    assert model.views_used_ == [0, 1, 2]


def test_views_are_not_changed_and_sparse_ones_may_lack_rows(data):
    _, views, y = data
    before = [X.copy() for X in views]
    plain = ConsensusTLRR(4, random_state=0).fit(views)
    for X, Y in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, Y)
    mixed = ConsensusTLRR(4, random_state=0).fit([scipy.sparse.csr_array(views[0]), *views[1:]])
    np.testing.assert_array_equal(mixed.labels_, plain.labels_)


def test_a_view_that_all_new_samples_lack_may_be_left_out(data):
    complete = dict(zip("abc", data[0], strict=True))
    model = ConsensusTLRR(4, random_state=0).fit(complete)
    frames = {name: pd.DataFrame(X) for name, X in complete.items()}
    expected = model.predict({**frames, "b": frames["b"] * np.nan})
    a, b, c = complete.values()
    for given in (
        {"a": a, "b": None, "c": c},
        {"c": c, "a": a},
        {"a": frames["a"], "c": frames["c"]},
        [a, None, c],
        (a.tolist(), None, c.astype(np.float32)),
        [scipy.sparse.csr_array(a), None, c],
        [da.from_array(X, chunks=(60, -1)) if X is not None else None for X in (a, None, c)],
    ):
        np.testing.assert_array_equal(model.predict(given), expected)
    assert (expected != model.predict({"a": a})).any()
    for nothing in ({"b": None}, [None, None, None]):
        with pytest.raises(ValueError, match="None"):
            model.predict(nothing)
    with pytest.raises(ValueError, match="view 1 .*None"):
        model.fit([a, None, c])


# ------------------------------------------------------------------ missing cells


def with_gaps(views, share=0.05, seed=0):
    rng = np.random.RandomState(seed)
    return [np.where(rng.uniform(size=X.shape) < share, np.nan, X) for X in views]


TOLD = r"view 0 .*\d+ cells .5.* view 2 .*\d+ cells .5"


def test_missing_cells_are_filled_in_fit_and_predict(data):
    complete, _, y = data
    views = with_gaps(complete)
    views[0][[3, 160]] = views[1][4, :50] = np.nan
    before = [X.copy() for X in views]
    with pytest.warns(UserWarning, match=TOLD) as told:
        model = ConsensusTLRR(4, random_state=0).fit([X[:150] for X in views])
    assert len(told) == 1 and told[0].filename == __file__
    assert "1 of 150 samples, view 1" in str(told[0].message)
    assert clustering_scores(y[:150], model.labels_)["acc"] >= 0.95
    with pytest.warns(UserWarning, match=TOLD):
        found = model.predict([X[150:] for X in views])
    assert clustering_scores(y[150:], found)["acc"] >= 0.95
    for row in range(150, 200):  # each sample alone
        with pytest.warns(UserWarning, match="cells"):
            assert model.predict([X[row : row + 1] for X in views]) == found[row - 150]
    for X, Y in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, Y)


def test_a_row_that_lacks_most_cells_lacks_the_view(data):
    complete, _, _ = data
    most, all_of_it = spoiled(complete, 1, 9, slice(31)), spoiled(complete, 1, 9)
    expected = ConsensusTLRR(4, random_state=0).fit(all_of_it)
    told = "view 1 .*1 of 200"
    with pytest.warns(UserWarning, match=told):
        model = ConsensusTLRR(4, random_state=0).fit(most)
    np.testing.assert_allclose(
        model.affinity_matrix_.toarray(), expected.affinity_matrix_.toarray(), atol=1e-6
    )
    half = spoiled(complete, 1, 9, slice(30))
    with pytest.warns(UserWarning, match="view 1 .*30 .*0.25 %"):
        model.fit(half)
    assert (model.affinity_matrix_ != expected.affinity_matrix_).nnz


@pytest.mark.filterwarnings("ignore:view 0 lacks")
def test_missing_cells_wherever_views_are_kept_and_in_any_order(data, tmp_path):
    views = with_gaps(data[0])
    model = ConsensusTLRR(4, max_samples=120, random_state=0)
    labels = model.fit(views).labels_
    predicted = model.predict(views)
    order = np.random.RandomState(2).permutation(200)
    np.testing.assert_array_equal(model.fit([X[order] for X in views]).labels_, labels[order])
    stored = [memory_map(X, tmp_path) for X in views]
    for given in (stored, [da.from_array(X, chunks=(70, -1)) for X in views]):
        np.testing.assert_array_equal(model.fit(given).labels_, labels)
        np.testing.assert_array_equal(model.predict(given), predicted)


@pytest.mark.filterwarnings("ignore:view .* lacks")
def test_the_unit_of_a_view_changes_no_filled_cell():
    rng = np.random.RandomState(0)
    y = np.arange(90) % 3
    X = rng.uniform(1, 2, (90, 1)) * (np.eye(3, 12)[y] + 1 + 0.2 * rng.uniform(size=(90, 12)))
    views = with_gaps([X], 0.05)
    labels = [
        ConsensusTLRR(3, random_state=0).fit_predict([views[0] * unit])
        for unit in (1, 2.0**-900, 2.0**500)
    ]
    np.testing.assert_array_equal(labels[1:], labels[:1] * 2)
    assert adjusted_rand_score(y, labels[0]) > 0.9


@pytest.mark.filterwarnings("ignore:view .* lacks")
def test_numbers_of_clusters_and_explanations_of_views_with_missing_cells(data):
    views = with_gaps(data[0])
    assert suggest_n_clusters(views, random_state=0).n_clusters == 4
    model = ConsensusTLRR(4, random_state=0).fit(views)
    assert explain(model, views).samples["margin"].min() > -1


# ------------------------------------------------------------------ what is refused


def spoiled(views, i, rows, columns=slice(None)):
    out = [X.copy() for X in views]
    out[i][rows, columns] = np.nan
    return out


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda views: spoiled(views, 1, slice(0, 120), slice(0, 12)),
            "view 1 .*12 % .*10 %",
        ),
        (
            lambda views: {"a": pd.DataFrame(spoiled(views, 1, slice(None), 7)[1]).add_prefix("x")},
            "view 'a' .*'x7'",
        ),
        (lambda views: [X * np.nan for X in views], "n_clusters=4 .*n_samples=0"),
    ],
)
def test_what_cannot_be_completed_is_named(spoil, message, data):
    with pytest.raises(ValueError, match=message):
        ConsensusTLRR(4).fit(spoil(data[0]))


@pytest.mark.parametrize("max_samples", ["auto", 120])
def test_samples_without_any_view_have_no_label_and_change_no_other(data, tmp_path, max_samples):
    complete, _, _ = data
    model = ConsensusTLRR(4, max_samples=max_samples, random_state=0)
    rows = [5, 77, 180]
    lost = [np.insert(X, rows, np.nan, axis=0) for X in complete]
    numbers = np.flatnonzero(np.isnan(lost[0]).any(axis=1))
    expected = np.insert(model.fit(complete).labels_, rows, -1)
    expected_new = np.insert(model.predict(complete), rows, -1)
    stored = [memory_map(X, tmp_path) for X in lost]
    told = "3 samples .rows 5, 78, 182.*-1"
    for given in (lost, stored):
        with pytest.warns(UserWarning, match=told) as warned:
            model.fit(given)
        assert len(warned) == 1
        np.testing.assert_array_equal(model.labels_, expected)
        assert not np.isin(numbers, model.samples_).any()
        with pytest.warns(UserWarning, match=told) as warned:
            np.testing.assert_array_equal(model.predict(given), expected_new)
        assert len(warned) == 1
    lazy = [da.from_array(X, chunks=(70, -1)) for X in lost]
    with pytest.warns(UserWarning, match=told):
        np.testing.assert_array_equal(model.fit(lazy).labels_, expected)
    np.testing.assert_array_equal(model.predict(lazy), expected_new)


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_samples_of_zeros_are_labelled_with_a_warning(data, wrap):
    views = [X.copy() for X in data[0]]
    for X in views:
        X[[5, 78]] = 0
    views[0][78] = np.nan  # zeros in the views that it has
    views[1][9] = 0  # not in all views
    told = r"2 samples \(rows 5, 78\)"
    given = [*views[:-1], wrap(views[-1])]
    with pytest.warns(UserWarning, match=told) as warned:
        model = ConsensusTLRR(4, random_state=0).fit(given)
    assert len(warned) == 1 and model.labels_.min() == 0
    with pytest.warns(UserWarning, match=told) as warned:
        labels = model.predict(given)
    assert len(warned) == 1 and labels.min() == 0
    chunks = [da.from_array(X, chunks=(60, -1)) for X in views]
    with pytest.warns(UserWarning, match=told):
        lazy = ConsensusTLRR(4, random_state=0).fit(chunks)
    with pytest.warns(UserWarning, match=told):
        dense = ConsensusTLRR(4, random_state=0).fit(views)
    np.testing.assert_array_equal(lazy.labels_.compute(), dense.labels_)
    with pytest.warns(UserWarning, match=r"1 sample \(rows 5\)"):
        methods.AWP(4).fit([X[:70] for X in views[1:]])


def test_samples_that_have_excluded_views_alone_have_no_label():
    views, _ = datasets.make_multiview_subspaces(300, 3, n_features=(20, 20), random_state=0)
    views.append(np.random.RandomState(0).randn(300, 30))
    views[0][[4, 250]] = views[1][[4, 250]] = np.nan
    told = r"2 samples .rows 4, 250.*-1"
    for max_samples in (300, 250):
        model = ConsensusTLRR(3, max_samples=max_samples, random_state=0)
        with pytest.warns(UserWarning) as warned:
            labels = model.fit(views).labels_
        assert "excluded as noise" in str(warned[0].message)
        assert re.search(told, str(warned[1].message)) and len(warned) == 2
        with pytest.warns(UserWarning, match=told):
            predicted = model.predict(views)
        for found in (labels, predicted):
            np.testing.assert_array_equal(np.flatnonzero(found < 0), [4, 250])


def test_a_missing_row_is_no_row_of_zeros():
    rows = np.random.RandomState(0).randn(2, 100)
    second = np.repeat(np.vstack([rows, np.zeros((1, 100)), np.full((1, 100), np.nan)]), 5, axis=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        ConsensusTLRR(5, random_state=0).fit([np.tile(rows[0], (20, 1)), second])
    assert any("4 distinct values" in str(warning.message) for warning in told)


@pytest.mark.parametrize("count", [0, 1, 5, 15])
def test_a_view_that_few_samples_have(data, count):
    complete, _, _ = data
    rare = [X.copy() for X in complete]
    rare[2][count:] = np.nan
    model = ConsensusTLRR(4, max_samples=60, random_state=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(rare)
        labels = model.labels_
        predicted = model.predict(rare)
        counts = suggest_n_clusters(rare, max_samples=60, random_state=0)
    assert counts.n_samples == 60
    present = (model.samples_ < count).sum()
    excluded = [str(one.message) for one in told if "excluded, because" in str(one.message)]
    assert bool(excluded) == (present < 2)
    if present < 2:
        assert f"of the 60 clustered samples have it: view 2 ({present})" in excluded[0]
        assert model.views_used_ == [0, 1] and model.view_support_[2] == 0
        assert clustering_scores(labels, predicted)["ari"] > 0.9


def test_the_support_of_an_excluded_view_is_at_its_place(data):
    views = [data[0][2].copy(), *data[0][:2]]
    views[0][1:] = np.nan
    with pytest.warns(UserWarning, match=r"view 0 \(1\)"):
        model = ConsensusTLRR(4, random_state=0).fit(views)
    assert model.views_used_ == [1, 2]
    assert model.view_support_[0] == 0 < model.view_support_[1:].min()


def test_a_view_that_two_of_many_samples_have():
    views, y = datasets.make_multiview_subspaces(1100, 3, n_features=(8, 9, 5), random_state=0)
    views[2][2:] = np.nan
    model = ConsensusTLRR(3, random_state=0).fit(views)
    assert clustering_scores(y, model.labels_)["acc"] > 0.9
    assert model.view_support_[2] == 0 < model.view_support_[:2].min()


@pytest.mark.parametrize(
    "model", [methods.TSVDMSC(4), methods.LMSC(4), methods.TLRR(4), methods.TRPCA(4)]
)
def test_other_methods_say_which_take_missing_views(model, data):
    told = "view 1 .*2 rows .*row 3.*ConsensusTLRR"
    with pytest.raises(ValueError, match=told):
        model.fit(spoiled(data[0], 1, [3, 8]))
