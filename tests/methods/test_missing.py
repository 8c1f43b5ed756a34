"""Samples that lack views: rows of NaN in fit and predict."""

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast import TLRR, ConsensusTLRR, datasets, graphs, methods
from mvsc_fast._sparse._completed import CompletedTensor, spread_factors
from mvsc_fast._sparse._factors import view_maps
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.views._missing import imputed
from mvsc_fast.views._rows import presence


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
    given = [X[:150] for X in data[1]]
    models = {
        "dense": TLRR(4, random_state=0, size="dense"),
        "sparse": TLRR(4, random_state=0, size="sparse"),
        "consensus": ConsensusTLRR(4, random_state=0),
    }
    return {name: model.fit(given) for name, model in models.items()}


SIZES = ("dense", "sparse", "consensus")


@pytest.mark.parametrize("name", SIZES)
def test_samples_that_lack_views_are_clustered_and_predicted(name, data, fitted):
    _, views, y = data
    model = fitted[name]
    assert clustering_scores(y[:150], model.labels_)["acc"] >= 0.95
    found = model.predict([X[150:] for X in views])
    assert clustering_scores(y[150:], found)["acc"] >= 0.95
    again = model.predict([X[:150] for X in views])
    assert (again == model.labels_).mean() >= 0.95
    assert model.view_support_.shape == (3,) and model.view_support_.min() > 0.3


@pytest.mark.parametrize("name", SIZES)
def test_labels_do_not_depend_on_the_order_of_samples(name, data, fitted):
    views = [X[:150] for X in data[1]]
    order = np.random.RandomState(1).permutation(150)
    model = fitted[name]
    again = type(model)(**model.get_params()).fit([X[order] for X in views])
    np.testing.assert_array_equal(again.labels_, model.labels_[order])


@pytest.mark.parametrize("estimator", [TLRR, ConsensusTLRR])
def test_a_model_of_complete_views_predicts_samples_that_lack_some(estimator, data):
    complete, views, y = data
    model = estimator(4, random_state=0).fit([X[:150] for X in complete])
    found = model.predict([X[150:] for X in views])
    assert clustering_scores(y[150:], found)["acc"] >= 0.95
    (one,) = model.predict(
        [complete[0][150:151], *(np.full_like(X[:1], np.nan) for X in views[1:])]
    )
    assert one == model.predict([X[150:151] for X in complete])[0]


@pytest.mark.parametrize("estimator", [TLRR, ConsensusTLRR])
def test_the_rest_of_a_sample_may_lack_views(estimator, data):
    _, views, y = data
    size = {"size": "sample"} if estimator is TLRR else {}
    model = estimator(4, max_samples=120, random_state=0, **size).fit(views)
    assert len(model.samples_) == 120
    assert clustering_scores(y, model.labels_)["acc"] >= 0.93


def test_views_are_not_changed_and_sparse_ones_may_lack_rows(data):
    _, views, y = data
    before = [X.copy() for X in views]
    plain = TLRR(4, random_state=0).fit(views)
    for X, Y in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, Y)
    mixed = TLRR(4, random_state=0).fit([scipy.sparse.csr_array(views[0]), *views[1:]])
    np.testing.assert_array_equal(mixed.labels_, plain.labels_)


# ------------------------------------------------------------------ what is refused


def spoiled(views, i, rows, columns=slice(None)):
    out = [X.copy() for X in views]
    out[i][rows, columns] = np.nan
    return out


@pytest.mark.parametrize("estimator", [TLRR, ConsensusTLRR])
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
def test_what_cannot_be_completed_is_named(estimator, spoil, message, data):
    with pytest.raises(ValueError, match=message):
        estimator(4).fit(spoil(data[0]))


@pytest.mark.parametrize(
    "model", [methods.TSVDMSC(4), methods.LMSC(4), TLRR(4, graph="knn"), methods.TRPCA(4)]
)
def test_other_methods_say_which_take_missing_views(model, data):
    told = "view 1 contains NaN in all of 2 rows .the first is row 3.: ConsensusTLRR, and TLRR"
    with pytest.raises(ValueError, match=told):
        model.fit(spoiled(data[0], 1, [3, 8]))


# ------------------------------------------------------------------ the recipe


def completed_by_hand(views, present, k=5, cap=1.5, rank=10):
    """The recipe in dense matrices, one slice for each view."""
    v, n = present.shape
    W = np.zeros((v, n, n))
    for A, X, has in zip(W, views, present, strict=True):
        A[np.ix_(has, has)] = graphs.self_representation([X[has]], scales=[0.5])[0]
    S = W.sum(axis=0) / np.maximum(present.T.astype(float) @ present, 1)
    for A, has in zip(W, present, strict=True):
        if has.all():
            continue
        P = np.eye(n) * has
        for m in np.flatnonzero(~has):
            nearest = np.argsort(-np.where(has, S[m], 0), kind="stable")[:k]  # many tie at the cap
            P[m, nearest] = S[m, nearest] / S[m, nearest].sum()
        B = P @ A @ P.T
        np.fill_diagonal(B, 0)
        r = np.sqrt(np.sort(B, axis=1)[:, -rank])
        A[:] = np.minimum(B / r[:, None] / r, cap)
    return W


@pytest.mark.parametrize("complete_view", [False, True])
def test_completed_similarities_are_those_of_the_recipe(complete_view):
    views, _ = datasets.make_multiview_subspaces(60, 3, noise=0.3, random_state=0)
    given = lacking(views, 0.4)
    if complete_view:
        given[1] = views[1]
    present = presence(given)
    rows = [X[has] / np.linalg.norm(X[has], axis=1)[:, None]
            for X, has in zip(given, present, strict=True)]  # fmt: skip
    factors = [
        spread_factors(one.factors, has)
        for one, has in zip(view_maps(rows, [0.5]), present, strict=True)
    ]
    every = CompletedTensor(factors, present, n_candidates=59, n_longest=59, n_threads=1)
    expected = completed_by_hand(given, present)
    found = np.stack([A.toarray() for A in every.tensor.slices()])
    np.testing.assert_allclose(found, expected, atol=2e-4)
    # With few candidates, the entries on the pattern are about the same.
    few = CompletedTensor(factors, present, n_candidates=20, n_longest=15, n_threads=1)
    slices = np.stack([A.toarray() for A in few.tensor.slices()])
    kept = slices.any(axis=0)
    assert np.array_equal(kept, kept.T) and 15 <= kept.sum() / 60 <= 30
    assert np.corrcoef(slices[:, kept].ravel(), expected[:, kept].ravel())[0, 1] > 0.9


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
