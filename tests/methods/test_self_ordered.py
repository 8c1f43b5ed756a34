"""Self-ordering as a wrapper: labels that stand still, any order of the input, refusals."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ETLMSC, LTMSC, SNN, TLRR, TRPCA, TSVDMSC, SelfOrdered, datasets
from mvsc_fast.methods._self_ordered import MAX_ROUNDS
from mvsc_fast.metrics import clustering_scores

ESTIMATORS = {
    "tsvd-msc": TSVDMSC(3, random_state=0),
    "etlmsc": ETLMSC(3, random_state=0),
    "tlrr chain": TLRR(3, graph=TSVDMSC(3), n_init=3, random_state=0),
    "snn chain": SNN(3, graph=ETLMSC(3), tol=1e-4, random_state=0),
}


@pytest.fixture(scope="module")
def views():
    return datasets.make_multiview_subspaces(60, 3, quality=(1, 0.9, 0.6), random_state=1)[0]


@pytest.mark.filterwarnings("ignore:the tensor at")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_permuting_samples_permutes_labels(views, name):
    order = np.random.default_rng(0).permutation(60)
    model = SelfOrdered(ESTIMATORS[name])
    labels = model.fit_predict(views)
    permuted = model.fit_predict([X[order] for X in views])
    assert adjusted_rand_score(labels[order], permuted) == 1.0


def test_it_ends_at_labels_that_stand_still():
    views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    model = SelfOrdered(TSVDMSC(3, random_state=0)).fit(views)
    assert 1 <= model.n_rounds_ <= MAX_ROUNDS
    assert clustering_scores(y, model.labels_)["acc"] > 0.9
    order = np.lexsort((model.affinity_.sum(axis=1), model.labels_))
    again = TSVDMSC(3, sample_transform="dft", random_state=0)
    with pytest.warns(UserWarning, match="labels depend on their order"):
        labels = again.fit_predict([X[order] for X in views])
    assert adjusted_rand_score(labels, model.labels_[order]) == 1.0


@pytest.mark.filterwarnings("ignore:the tensor at")
def test_what_the_last_fit_learned_is_in_the_order_of_the_input(views):
    model = SelfOrdered(ESTIMATORS["tlrr chain"]).fit(views)
    assert model.n_features_in_ == [X.shape[1] for X in views]
    for name in ("labels_", "tensor_", "affinity_", "lam_", "n_iter_"):
        assert getattr(model, name) is getattr(model.estimator_, name)
    S = np.abs(model.similarity_).sum(axis=0)
    same = model.labels_[:, None] == model.labels_
    assert S[same].mean() > 2 * S[~same].mean()
    assert model.path_.labels.shape[1] == 60
    best = model.path_.labels[model.path_.best]
    assert adjusted_rand_score(best, model.labels_) > 0.8


def test_the_estimator_is_not_changed_and_may_be_a_graph(views):
    graph = SelfOrdered(TSVDMSC(3))
    before = clone(graph).get_params()["estimator__sample_transform"]
    one, other = (TRPCA(3, graph=graph, random_state=7).fit(views) for _ in range(2))
    np.testing.assert_array_equal(one.similarity_, other.similarity_)
    assert graph.estimator.sample_transform == before == "graph"
    assert not hasattr(graph, "labels_") and not hasattr(graph.estimator, "labels_")


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (TLRR(3), "needs a method that transforms along the samples"),
        (TLRR(3, graph="tsvd"), "needs a method that transforms along the samples"),
        (TLRR(3, graph=LTMSC(3)), r"needs a method that transforms.*got TLRR\(graph=LTMSC"),
        (TSVDMSC, "estimator must be an estimator"),
        (TSVDMSC(3, lam=-1.0), "lam == -1.0, must be > 0"),
        (TLRR(0, graph=TSVDMSC(3)), "n_clusters == 0, must be >= 1"),
        (TLRR(3, graph=TSVDMSC(3), size="sample"), "orders all samples, its estimator fits a"),
    ],
)
def test_what_cannot_be_ordered_is_refused_before_any_work(estimator, message):
    with pytest.raises(ValueError, match=message):
        SelfOrdered(estimator).fit(None)  # views are not looked at


def test_a_chain_orders_itself_by_its_final_labels(load_shared):
    views, y = load_shared("yaleb10", seed=0)
    model = TLRR(10, graph=TSVDMSC(10, lam=0.5), n_neighbors=8, random_state=0)
    for fitted in (model.fit(views), SelfOrdered(model).fit(views)):
        scores = clustering_scores(y, fitted.labels_)
        assert scores["acc"] >= 0.95 and scores["nmi"] >= 0.91
    np.testing.assert_allclose(fitted.tensor_, fitted.tensor_.transpose(0, 2, 1), atol=1e-12)


@pytest.mark.filterwarnings("ignore:the tensor at")
@pytest.mark.parametrize("size", ["dense", "sparse"])
def test_the_last_fit_predicts_the_labels(views, size):
    chain = TLRR(3, graph=TSVDMSC(3), n_neighbors=8, size=size, refine=False, random_state=0)
    model = SelfOrdered(chain).fit(views)
    assert np.mean(model.estimator_.predict(views) == model.labels_) > 0.9
