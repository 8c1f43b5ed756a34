"""Explanations name what is weak: samples between clusters, noise, choices and what is unknown."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import changed, fitted_consensus
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import mvsc_fast
from mvsc_fast import TLRR, ConsensusTLRR, explain, label_predictability, similarity
from mvsc_fast.explanation import _bind
from mvsc_fast.methods import LMSC
from mvsc_fast.preprocessing import PerView, ViewSplitter

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


@pytest.fixture(scope="module")
def tlrr(data):
    return TLRR(3, n_neighbors=30, random_state=0).fit(data[0][:2])


def words(part):
    return " ".join(str(part).split())


def part(explanation, title):
    parts = [*explanation.findings, *explanation.computation]
    return next(part for part in parts if part.title.startswith(title))


def unknown(explanation):
    return words(part(explanation, "Not known"))


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
    choice = part(told, "How the labels were chosen").sentences
    assert "The 2 best refined labellings of 3 were fused" in choice[0]


def test_wrong_labels_sit_nearer_to_another_cluster(data):
    views, y = data
    model = KMeans(3, n_init=1, random_state=0).fit(views[0])
    moved = np.delete(np.arange(0, 210, 30), 0)
    model.labels_ = y.copy()
    model.labels_[moved] = (y[moved] + 1) % 3
    wrong = explain(model, [views[0]])
    assert (wrong.samples["margin"][moved] < 0).all()
    assert set(moved) <= set(wrong.uncertain.tolist()) and len(wrong.uncertain) == 21
    np.testing.assert_array_equal(wrong.samples["second"][moved], y[moved])
    assert "Least certain samples: 21 (10 %)\n" in str(wrong) and "... 9 more rows" in str(wrong)


def test_noise_is_named_once(explanation, consensus):
    remarks = explanation.views["remark"].tolist()
    assert remarks[:2] == ["", ""] and remarks[2].startswith("excluded")
    support = explanation.views["support"]
    assert support[2] < 0.1 < support[:2].min()
    assert "excluded as uninformative: 2." in explanation.methods_paragraph
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
    assert told.findings[0].title == "Structure"
    assert told.findings[0].sentences[0] == structure.sentence
    assert structure.sentence in told.methods_paragraph
    assert f"suggested {counts.n_clusters} clusters" in told.methods_paragraph
    assert "samples were clustered" not in told.methods_paragraph  # all were
    table = part(told, "Numbers of clusters").table
    assert table["clusters"].tolist() == sorted({*counts.candidates, *counts.levels})
    for name in ("structure_test", "suggest_n_clusters"):
        assert name in unknown(explanation)
    assert "Not known" not in [part.title for part in told.findings]


def test_all_excluded_views_have_a_remark(data):
    """Noise, a constant view, and one that a single sample has."""
    constant, rare = np.ones((210, 4)), np.full((210, 5), np.nan)
    rare[3] = 1.0
    views = [constant, *data[0], rare]
    told = explain(fitted_consensus(views), views)
    remarks = told.views["remark"].tolist()
    assert [remark.startswith("excluded") for remark in remarks] == [True, False, False, True, True]
    assert len(part(told, "Warnings").sentences) == 3


def test_remarks_and_the_warning_name_the_same_group_of_views():
    """The labels follow the clearer views, which are not the first ones."""
    rng = np.random.default_rng(0)
    weak, clear = (rng.permutation(np.arange(300) % 3) for _ in range(2))
    clusters = {"a": (4, weak), "b": (4, weak), "c": (12, clear), "d": (12, clear)}
    views = {
        name: distance * np.eye(3, 12)[y] + rng.standard_normal((300, 12))
        for name, (distance, y) in clusters.items()
    }
    model = fitted_consensus(views)
    assert "The labels mostly follow views 'c', 'd'" in model.warnings_[-1]
    remarks = explain(model, views).views["remark"].tolist()
    others, followed = "group a, b, which shows other clusters", "group c, d, which the labels"
    assert [others in remark for remark in remarks] == [True, True, False, False]
    assert [followed in remark for remark in remarks] == [False, False, True, True]


@pytest.mark.parametrize(("share", "is_followed"), [(0.5, True), (0.2, False)])
def test_rows_of_zeros_have_a_remark_if_clusters_follow_them(share, is_followed):
    """The fit warns in both cases."""
    rng = np.random.default_rng(0)
    y, is_zero = rng.permutation(np.arange(300) % 3), rng.random(300) < share
    views = [5 * np.eye(3, 12)[y] + rng.standard_normal((300, 12)) for _ in range(2)]
    views[0][is_zero] = 0
    views[1][:20] = np.nan
    model = fitted_consensus(views)
    assert any("rows that are all zero" in warning for warning in model.warnings_)
    remarks = explain(model, views).views.get("remark", ["", ""])
    agreement = adjusted_mutual_info_score(is_zero, model.labels_)
    assert (agreement > 0.1) == is_followed
    told = f"clusters follow its rows of zeros (adjusted mutual information {agreement:.2f})"
    assert list(remarks) == [told * is_followed, ""]


def test_the_text_has_the_agreements_of_up_to_twelve_views(consensus, data):
    z = f"{consensus.view_agreement_[0, 1]:.1f}"
    text = str(explain(consensus, data[0]))
    assert re.search(rf"\nAgreement of the views\n +0 +1 +2\n +0 +{z} ", text)
    agreement = f"Rand index with the labels is {consensus.fused_agreement_:.2f}"
    assert agreement in " ".join(text.split())
    views = [data[0][i % 2] for i in range(13)]
    many = explain(fitted_consensus(views), views)
    assert part(many, "Agreement of the views").table is None
    assert "The table of 13 views is left out; the model has it: view_agreement_." in words(many)


def test_the_certificate_of_tlrr_is_told_and_texts_fit_a_terminal(tlrr, data, explanation):
    told = explain(tlrr, data[0][:2])
    assert part(told, "How the labels were chosen").sentences == [
        f"{tlrr.n_iter_} iterations.",
        f"The relative duality gap of the tensor is {tlrr.gap_:.2g}.",
    ]
    assert "TLRR is the method of Jia Y., Liu H." in told.methods_paragraph
    for text in (str(told), repr(explanation)):
        assert max(map(len, text.splitlines())) < 80
        assert not any(line != line.rstrip() for line in text.splitlines())


def test_few_samples_and_a_class_that_needs_its_parameters():
    class Named(ConsensusTLRR):
        def __init__(self, n_clusters, random_state):
            super().__init__(n_clusters, random_state=random_state)

    views = [np.array([[0, 1], [0.1, 1], [1, 0], [1, 0.1], [1, 0.8]])]
    told = explain(Named(2, 0).fit(views), views)
    assert len(told.uncertain) == 1
    assert "Named found 2 clusters (n_clusters=2, random_state=0" in told.methods_paragraph


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
    assert "100 of 210 samples were clustered" in told.methods_paragraph


def test_other_estimators_are_explained(data):
    W = similarity.nearest_neighbors(data[0][:2])
    told = explain(TLRR(3, affinity="precomputed", random_state=0).fit(W), W)
    assert told.predictability > 0.9 and told.profiles is None and told.views["support"].min() > 0
    views = [X[:60] for X in data[0][:2]]
    told = explain(LMSC(3, random_state=0).fit(views), views)
    assert "silhouette" in told.clusters
    assert "iterations" in part(told, "How the labels were chosen").sentences[0]
    bare = explain(KMeans(n_init=1, random_state=0).fit(views[0]), [views[0]])
    assert bare.views["support"].shape == (1,)
    assert "n_clusters=8" in bare.methods_paragraph  # although it is the default
    assert "KMeans has neither embedding_ nor affinity_matrix_" in unknown(bare)
    bare = explain(fitted_consensus(data[0], store="labels"), data[0])  # which kept only labels
    assert "silhouette" not in bare.clusters and bare.clusters["predictable"].min() > 0.9
    model = KMeans(3, n_init=1, random_state=0).fit(views[0])
    model.embedding_ = np.ones((60, 2))  # all samples at one place
    assert (explain(model, views[:1]).clusters["silhouette"] == 0).all()


def test_a_pipeline_is_explained_by_its_last_step(data):
    table = np.hstack(data[0][:2])
    columns = ViewSplitter([slice(10), slice(10, None)])
    model = make_pipeline(columns, PerView(StandardScaler()), ConsensusTLRR(3, random_state=0))
    told = explain(model.fit(table), table)
    assert told.title == "ConsensusTLRR: 210 samples in 3 clusters, 2 views"
    assert told.clusters["predictable"].min() > 0.9
    assert "Processing: ViewSplitter(" in told.methods_paragraph
    model[-1].run_ = {"processing": "columns were standardised"}
    told = explain(model, table)
    assert "Processing: columns were standardised." in told.methods_paragraph


def test_one_cluster_and_many_are_shown(data):
    views = [X[:60] for X in data[0][:2]]
    model = KMeans(1).fit(views[0])
    assert "There is only one cluster" in unknown(explain(model, [views[0]]))
    model.labels_ = np.arange(60) // 4
    told = explain(model, [views[0]])
    assert "... 3 more rows" in str(told)
    weak = np.flatnonzero(told.clusters["predictable"] < 0.7)
    assert f"Not well separated from the others: {weak[0]}, " in words(told)
    assert len(weak) > 12 and f" and {len(weak) - 12} more. predictable:" in words(told)


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


def test_lifts_are_those_of_the_fit(monkeypatch):
    """Only the fit saw all samples: those that were clustered do not tell what it decided."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(300) % 3)
    views = [4 * np.eye(3, d)[y] * (1 + y[:, None]) + rng.standard_normal((300, d)) for d in (6, 3)]
    whole = ConsensusTLRR(3, random_state=0).fit(views)
    expected = explain(whole, views).samples["margin"]
    with monkeypatch.context() as patch:
        lifts = [_bind.find_lift(X) for X in views]
        patch.setattr(_bind, "_lifts", lambda model, views: lifts)
        np.testing.assert_array_equal(explain(whole, views).samples["margin"], expected)
    model = ConsensusTLRR(3, max_samples=200, random_state=0).fit(views)
    expected = explain(model, views).samples["margin"]

    def decide(X):
        raise AssertionError

    monkeypatch.setattr(_bind, "find_lift", decide)
    np.testing.assert_array_equal(explain(model, views).samples["margin"], expected)
