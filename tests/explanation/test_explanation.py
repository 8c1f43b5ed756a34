"""Explanations name what is weak: samples between clusters, noise, choices and what is unknown."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import changed, fitted_consensus
from sklearn.cluster import DBSCAN, KMeans
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import FunctionTransformer

import mvsc_fast
from mvsc_fast import TLRR, ConsensusTLRR, datasets, explain, label_predictability, similarity
from mvsc_fast.explanation import _bind, markers
from mvsc_fast.methods import LMSC

HALFWAY = 7


@pytest.fixture(scope="module")
def data():
    """Three clusters in two views, one sample halfway between the first two, and a noise view."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(210) % 3)
    views = []
    for d in (10, 25):
        centres = 3 * rng.standard_normal((3, d))
        X = centres[y] + rng.standard_normal((210, d))
        X[HALFWAY] = (centres[0] + centres[1]) / 2
        views.append(X)
    return [*views, rng.standard_normal((210, 30))], y


@pytest.fixture(scope="module")
def consensus(data):
    return fitted_consensus(data[0])


@pytest.fixture(scope="module")
def explanation(consensus, data):
    return explain(consensus, data[0])


def words(part):
    return " ".join(str(part).split())


def part(explanation, title):
    return next(part for part in explanation.parts if part.title.startswith(title))


def test_clusters_have_their_sizes_and_quality(explanation, consensus, data):
    clusters = explanation.clusters
    assert clusters["samples"].tolist() == np.bincount(consensus.labels_).tolist()
    np.testing.assert_allclose(clusters["share"].sum(), 1)
    assert (clusters["predictable"] > 0.9).all() and (clusters["silhouette"] > 0.5).all()
    expected = label_predictability(data[0][:2], consensus.labels_)
    assert explanation.predictability == pytest.approx(expected)


def test_a_sample_halfway_is_found(explanation, consensus, data):
    samples, labels = explanation.samples, consensus.labels_
    assert samples["margin"].argmin() == samples["certainty"].argmin() == HALFWAY
    pair = {labels[HALFWAY], samples["second"][HALFWAY]}
    assert pair == {np.bincount(labels[data[1] == k]).argmax() for k in (0, 1)}
    assert samples["margin"][HALFWAY] < 0.3 < 0.8 < np.median(samples["margin"])
    assert explanation.uncertain[0] == HALFWAY and len(explanation.uncertain) == 21


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_array])
def test_margins_of_similarities_are_the_votes_of_other_samples(make):
    W = np.array([[9.0, 1, 3, 0], [1, 0, 0, 0], [3, 0, 5, 1], [0, 0, 1, 2]])
    model = TLRR(2, affinity="precomputed", random_state=0).fit([W])
    model.labels_, model.affinity_matrix_ = np.array([0, 0, 1, 1]), make(W)
    samples = explain(model, [W]).samples
    # Scores of two clusters of one size are shares of the neighbours, without the diagonal.
    np.testing.assert_allclose(samples["margin"], [(1 - 3) / 3, 1, (1 - 3) / 3, 1], rtol=1e-6)
    assert samples["second"].tolist() == [1, 1, 0, 0]


def test_certainty_is_the_mean_of_margin_and_agreement_with_matched_candidates(consensus, data):
    model = pickle.loads(pickle.dumps(consensus))
    labels = model.labels_
    moved = (labels + 1) % 3  # the same clusters by other names
    joined = np.zeros_like(labels)
    model.candidates_["labels"] = np.array([labels, moved, joined])
    model.candidates_["fused"] = np.array([True, True, False])
    told = explain(model, data[0])
    margin, certainty = told.samples["margin"], told.samples["certainty"]
    largest = np.bincount(labels).argmax()
    same = np.where(labels == largest, 1, 2 / 3)
    np.testing.assert_allclose(certainty, (margin + same) / 2, atol=1e-6)


def test_wrong_labels_sit_nearer_to_another_cluster(data):
    views, y = data
    model = KMeans(3, n_init=1, random_state=0).fit(views[0])
    moved = np.array([10, *range(30, 210, 30)])
    model.labels_ = y.copy()
    model.labels_[moved] = (y[moved] + 1) % 3
    wrong = explain(model, [views[0]])
    assert (wrong.samples["margin"][moved] < 0).all()
    assert set(moved) <= set(wrong.uncertain.tolist()) and len(wrong.uncertain) == 21
    np.testing.assert_array_equal(wrong.samples["second"][moved], y[moved])
    assert [part.table["samples"].tolist() for part in wrong.parts[:1]] == [[71, 70, 69]]
    assert "Least certain samples: 21\n" in str(wrong) and "... 9 more rows" in str(wrong)


def test_noise_is_named_once(explanation, consensus):
    remarks = explanation.views["remark"].tolist()
    assert remarks[:2] == ["", ""] and remarks[2].startswith("excluded")
    support = explanation.views["support"]
    assert support[2] < 0.1 < support[:2].min()
    agreement = explanation.views["agreement"]
    np.testing.assert_array_equal(agreement, np.fmax.reduce(consensus.view_agreement_, axis=1))
    assert "agreement: the largest" in words(part(explanation, "Views"))
    assert words(explanation).count("excluded as noise") == len(consensus.warnings_) == 1


def test_warnings_of_the_fit_stand_first(consensus, data, explanation):
    with pytest.warns(UserWarning) as shown:
        again = ConsensusTLRR(3, random_state=0).fit(data[0])
    assert consensus.warnings_ == again.warnings_ == [str(w.message) for w in shown] != []
    title = "ConsensusTLRR: 210 samples in 3 clusters, 3 views Warnings of the fit "
    assert words(explanation).startswith(title + consensus.warnings_[0])
    assert again.fit(data[0][:2]).warnings_ == []
    assert "Warnings of the fit" not in str(explain(again, data[0][:2]))


def test_a_test_of_structure_and_a_suggestion_answer_open_questions(consensus, data, explanation):
    structure = mvsc_fast.structure_test(data[0], 3, n_rotations=2, max_samples=40, random_state=0)
    counts = mvsc_fast.suggest_n_clusters(data[0][:2], max_clusters=4, random_state=0)
    told = explain(consensus, data[0], structure=structure, counts=counts)
    assert told.parts[0].title == "Structure"
    assert told.parts[0].sentences[0] == structure.sentence
    assert words(part(told, "Numbers of clusters")).startswith(f"Numbers of clusters {counts}"[:40])
    assert "structure_test" in words(explanation) and "structure_test" not in words(told)


def test_all_excluded_views_have_a_remark(data):
    """Noise, a constant view, and one that a single sample has."""
    constant, rare = np.ones((210, 4)), np.full((210, 5), np.nan)
    rare[3] = 1.0
    views = [constant, *data[0], rare]
    told = explain(fitted_consensus(views), views)
    remarks = told.views["remark"].tolist()
    assert [remark.startswith("excluded") for remark in remarks] == [True, False, False, True, True]
    assert len(part(told, "Warnings").sentences) == 3


def test_texts_fit_a_terminal(data, explanation):
    tlrr = TLRR(3, n_neighbors=30, random_state=0).fit(data[0][:2])
    for text in (str(explain(tlrr, data[0][:2])), repr(explanation)):
        assert max(map(len, text.splitlines())) < 80
        assert not any(line != line.rstrip() for line in text.splitlines())


def test_few_samples_and_a_class_that_needs_its_parameters():
    class Named(ConsensusTLRR):
        def __init__(self, n_clusters, random_state):
            super().__init__(n_clusters, random_state=random_state)

    views = [np.array([[0, 1], [0.1, 1], [1, 0], [1, 0.1], [1, 0.8]])]
    told = explain(Named(2, 0).fit(views), views)
    assert len(told.uncertain) == 1
    assert told.title.startswith("Named: 5 samples in 2 clusters")


def test_samples_that_were_not_clustered_have_no_margin(data):
    views = [pd.DataFrame(X, index=[f"P{i}" for i in range(210)]) for X in data[0][:2]]
    model = ConsensusTLRR(3, max_samples=100, random_state=0).fit(views)
    told = explain(model, views)
    table = told.samples.to_frame()
    assert told.clusters["samples"].sum() == len(table) == 210
    assert list(table) == ["sample", "cluster", "second", "margin", "certainty"]
    assert table["sample"].tolist() == [f"P{i}" for i in range(210)]
    np.testing.assert_array_equal(table["cluster"], model.labels_)
    clustered = np.isin(np.arange(210), model.samples_)
    np.testing.assert_array_equal(table["margin"].notna(), clustered)
    np.testing.assert_array_equal(table["second"] != "", clustered)
    assert set(told.uncertain) <= set(model.samples_)


def test_other_estimators_are_explained(data):
    W = similarity.nearest_neighbors(data[0][:2])
    told = explain(TLRR(3, affinity="precomputed", random_state=0).fit(W), W)
    assert told.predictability > 0.9 and told.markers is None and told.views["support"].min() > 0
    views = [X[:60] for X in data[0][:2]]
    told = explain(LMSC(3, random_state=0).fit(views), views)
    assert "silhouette" in told.clusters
    bare = explain(KMeans(n_init=1, random_state=0).fit(views[0]), [views[0]])
    assert bare.views["support"].shape == (1,)
    assert "silhouette" not in bare.clusters
    bare = explain(fitted_consensus(data[0], store="labels"), data[0])  # which kept only labels
    assert "silhouette" not in bare.clusters and bare.clusters["predictable"].min() > 0.9
    model = KMeans(3, n_init=1, random_state=0).fit(views[0])
    model.embedding_ = np.ones((60, 2))  # all samples at one place
    assert (explain(model, views[:1]).clusters["silhouette"] == 0).all()


def test_the_first_of_many_clusters_are_shown(data):
    views = [X[:60] for X in data[0][:2]]
    model = KMeans(1).fit(views[0])
    model.labels_ = np.arange(60) // 4 - 1  # samples of noise have -1
    assert re.search(r"in 14 clusters(.|\n)*\.\.\. 2 more rows", str(explain(model, views[:1])))


# ------------------------------------------------------------------ samples that lack views


@pytest.fixture(scope="module")
def gappy():
    """Three clusters; some samples lack a view, and some cells are missing."""
    views, _ = datasets.make_multiview_subspaces(120, 3, n_features=(12, 8), random_state=0)
    views[0][:9], views[1][20:24], views[1][30:40, 3] = np.nan, np.nan, np.nan
    return views


@pytest.mark.parametrize("max_samples", ["auto", 60])
def test_samples_without_any_used_view_are_in_no_cluster(gappy, max_samples):
    """The first two have no view, and one has only the view that few samples have."""
    rare = np.full((120, 5), np.nan)
    rare[40] = 1.0
    given = {"shape": gappy[0].copy(), "colour": gappy[1].copy(), "rare": rare}
    given["shape"][40] = given["colour"][40] = np.nan
    given = {name: np.pad(X, ((2, 0), (0, 0)), constant_values=np.nan) for name, X in given.items()}
    model = fitted_consensus(given, max_samples=max_samples)
    told = explain(model, dict(reversed(given.items())))
    assert told.views["view"].tolist() == list(given)
    assert told.clusters["samples"].sum() == 119 and told.clusters["cluster"].tolist() == [0, 1, 2]
    if max_samples == "auto":
        assert told.views["samples without"].tolist() == [9, 4, 119]  # of the clustered ones
    assert told.views["remark"][2].startswith("excluded")
    clustered = np.flatnonzero(~np.isnan(told.samples["margin"]))
    np.testing.assert_array_equal(clustered, np.setdiff1d(model.samples_, [0, 1, 42]))
    assert set(told.uncertain) <= set(clustered)
    table = markers(model, given).to_frame()
    assert table["cluster"].unique().tolist() == [0, 1, 2]
    assert table[table["view"] == "rare"]["effect"].isna().any()


@pytest.mark.parametrize("question", [explain, markers])
@pytest.mark.parametrize("max_samples", ["auto", 60])
def test_samples_in_another_order_are_refused(gappy, question, max_samples):
    model = fitted_consensus(gappy, max_samples=max_samples)
    order = np.random.RandomState(1).permutation(120)
    with pytest.raises(ValueError, match=r"other labels for [567]\d %"):
        question(model, [X[order] for X in gappy])


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # by scikit-learn 1.7
@pytest.mark.parametrize("n, n_features, n_clusters", [(40, 1, 40), (40, 1, 3), (20, 2, 19)])
def test_the_views_of_fit_are_never_refused(n, n_features, n_clusters):
    views = [np.random.RandomState(0).random_sample((n, n_features))]
    assert explain(fitted_consensus(views, n_clusters), views).samples.n_rows == n


def test_a_model_that_cannot_predict_accepts_views_of_its_shape(gappy):
    model = fitted_consensus(gappy, store="labels")
    assert explain(model, [X[::-1] for X in gappy]).samples.n_rows == 120


def test_what_cannot_be_explained_is_refused(consensus, data):
    with pytest.raises(NotFittedError):
        explain(ConsensusTLRR(3), data[0])
    with pytest.raises(ValueError, match="209 samples, .* 210"):
        explain(consensus, [X[1:] for X in data[0]])
    with pytest.raises(ValueError, match=r"\[10, 25\] features, expected \[10, 25, 30\]"):
        explain(consensus, data[0][:2])
    infinite = [data[0][0], changed(data[0][1], (7, 2), np.inf), data[0][2]]
    with pytest.raises(ValueError, match="view 1 .*inf .*row 7, column 2"):
        explain(consensus, infinite)
    with pytest.raises(ValueError, match="FunctionTransformer has no labels_"):
        explain(FunctionTransformer().fit(data[0][0]), data[0])
    with pytest.raises(ValueError, match="or all are -1"):
        explain(DBSCAN(eps=1e-9).fit(data[0][0]), data[0][0])
    with pytest.raises(ValueError, match=r"ids has shape \(3,\), expected \(210,\)"):
        explain(consensus, data[0], ids=["a", "b", "c"])


def test_samples_have_their_ids_everywhere(consensus, data):
    ids = np.array([f"P{i:03d}" for i in range(210)])
    frames = [data[0][0], *(pd.DataFrame(X, index=ids) for X in data[0][1:])]
    for views, given in ((frames, None), (iter(frames), None), (data[0], ids)):
        told = explain(consensus, views, ids=given)
        assert told.samples["sample"].tolist() == ids.tolist()
        assert f"  P{HALFWAY:03d} " in str(told)
        assert not re.search(rf"^ +{HALFWAY} ", str(told), re.M)


@pytest.mark.filterwarnings("ignore:view 0 lacks")
def test_cells_are_filled_as_in_the_fit(data):
    views = [changed(data[0][2], (slice(0, None, 3), 0), np.nan) + 1, *data[0][:2]]
    model = fitted_consensus(views, max_samples=100, scale="standard", view_selection="all")
    filled = _bind.bind_views(model, views).lifted[0][np.isnan(views[0][model.samples_])]
    assert len(filled) > 20 and not filled.any()


def test_lifts_are_those_of_the_fit(monkeypatch):
    """Only the fit saw all samples: those that were clustered do not tell what it decided."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(300) % 3)
    views = [4 * np.eye(3, d)[y] * (1 + y[:, None]) + rng.standard_normal((300, d)) for d in (6, 3)]
    model = ConsensusTLRR(3, max_samples=200, random_state=0).fit(views)
    expected = explain(model, views).samples["margin"]

    def decide(X):
        raise AssertionError

    monkeypatch.setattr(_bind, "find_lift", decide)
    np.testing.assert_array_equal(explain(model, views).samples["margin"], expected)
