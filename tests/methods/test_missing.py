"""Samples that lack views: rows of NaN in fit and predict."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from mvsc_fast import ConsensusTLRR, datasets, methods
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.views._missing import imputed


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
        with pytest.raises(ValueError, match="every view is None or absent: pass at least one"):
            model.predict(nothing)
    with pytest.raises(ValueError, match="view 1 is None: leave it out"):
        model.fit([a, None, c])


# ------------------------------------------------------------------ what is refused


def spoiled(views, i, rows, columns=slice(None)):
    out = [X.copy() for X in views]
    out[i][rows, columns] = np.nan
    return out


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda views: spoiled(spoiled(views, 1, 7), 1, 9, 2),
            "view 1 contains 1 NaN and 0 infinity values, the first in row 9, column 2",
        ),
        (
            lambda views: spoiled(spoiled(spoiled(views, 0, 5), 1, 5), 2, 5),
            r"1 samples are missing in all views .rows 5.: remove them",
        ),
        (lambda views: spoiled(views, 2, slice(1, None)), "view 2 has only 1 rows that are not"),
        (
            lambda views: dict(zip("abc", spoiled(views, 2, slice(1, None)), strict=True)),
            "view 'c' has only 1 rows that are not",
        ),
    ],
)
def test_what_cannot_be_completed_is_named(spoil, message, data):
    with pytest.raises(ValueError, match=message):
        ConsensusTLRR(4).fit(spoil(data[0]))


@pytest.mark.parametrize(
    "model", [methods.TSVDMSC(4), methods.LMSC(4), methods.TLRR(4), methods.TRPCA(4)]
)
def test_other_methods_say_which_take_missing_views(model, data):
    told = "view 1 contains NaN in all of 2 rows .the first is row 3.: ConsensusTLRR takes"
    with pytest.raises(ValueError, match=told):
        model.fit(spoiled(data[0], 1, [3, 8]))


def test_imputed_rows_are_near_those_removed():
    rng = np.random.RandomState(0)
    latent = rng.standard_normal((200, 4)) + 1
    complete = [latent @ rng.standard_normal((4, d)) for d in (10, 20, 15)]
    given = lacking(complete, 0.3)
    for X, filled, Y in zip(complete, imputed(given), given, strict=True):
        X = X / np.linalg.norm(X, axis=1)[:, None]
        gone = np.isnan(Y[:, 0])
        np.testing.assert_allclose(filled[~gone], X[~gone], atol=1e-12)
        filled = filled[gone] / np.linalg.norm(filled[gone], axis=1)[:, None]
        mean = X[~gone].mean(axis=0)
        by_mean = X[gone] @ mean / np.linalg.norm(mean)
        assert (filled * X[gone]).sum(axis=1).mean() > by_mean.mean() + 0.1


def test_nonnegative_views_are_imputed_nonnegative(data):
    views = lacking([np.abs(X) for X in data[0]], 0.3)
    assert all(X.min() >= 0 for X in imputed(views))
