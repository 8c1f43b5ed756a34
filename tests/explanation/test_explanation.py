"""Explanations name what is weak: samples between clusters, noise, choices and what is unknown."""

import pickle
import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mvsc_fast import (
    TLRR,
    ConsensusTLRR,
    explain,
    label_predictability,
    similarity,
    structure_test,
    suggest_n_clusters,
)
from mvsc_fast.explanation import Table
from mvsc_fast.explanation._explain import _by_cluster, _same_cluster
from mvsc_fast.explanation._fitted import ids_of, neighbor_votes
from mvsc_fast.explanation._paragraph import CITATION, _agreement, suggestion, versions
from mvsc_fast.explanation._text import counted
from mvsc_fast.judge._landmarks import Predictor, margins_of
from mvsc_fast.judge._support import MIN_Z, ViewGraphs
from mvsc_fast.methods import LMSC
from mvsc_fast.preprocessing import PerView, ViewSplitter
from mvsc_fast.views._lift import lifted

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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ConsensusTLRR(3, random_state=0).fit(data[0])


@pytest.fixture(scope="module")
def found(consensus, data):
    return explain(consensus, data[0])


@pytest.fixture(scope="module")
def tlrr(data):
    return TLRR(3, n_neighbors=30, random_state=0).fit(data[0][:2])


def test_clusters_have_their_sizes_and_quality(found, consensus, data):
    np.testing.assert_array_equal(found.sizes, np.bincount(consensus.labels_))
    assert (found.predictable_share > 0.9).all() and (found.silhouette > 0.5).all()
    expected = label_predictability(data[0][:2], consensus.labels_)
    assert found.predictability == pytest.approx(expected)


def test_a_sample_halfway_is_found(found, data):
    assert found.margin.argmin() == HALFWAY
    pair = {found.labels[HALFWAY], found.other[HALFWAY]}
    y, labels = data[1], found.labels
    assert pair == {np.bincount(labels[y == k]).argmax() for k in (0, 1)}
    assert found.margin[HALFWAY] < 0.3 < 0.8 < np.median(found.margin)
    assert found.certainty.argmin() == HALFWAY


def test_margins_say_how_near_the_other_cluster_is():
    scores = np.array([[1.0, 0.5, -1], [0.5, 1.0, 0], [0.3, 0, 0.3], [-1, -2, -1]])
    margin, other = margins_of(scores, np.array([0, 0, 2, 1]))
    np.testing.assert_allclose(margin, [0.5, -0.5, 0, 0])
    assert other.tolist()[:3] == [1, 1, 0]


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array, scipy.sparse.coo_array])
def test_neighbors_vote_without_the_sample_itself(make):
    A = np.array([[9.0, 1, 3, 0], [1, 0, 0, 0], [3, 0, 5, 0], [0, 0, 0, 2]])
    Y = np.array([[1.0, 0], [0, 1], [2, 2], [1, 1]])
    votes = neighbor_votes(make(A))(Y)
    np.testing.assert_allclose(votes, [[1.5, 1.75], [1, 0], [1, 0], [0, 0]])
    assert neighbor_votes(None) is None


def test_means_over_clusters():
    means = _by_cluster(np.array([1.0, 0, 5, 3, 7]), np.array([0, 0, 2, 2, 3]), 5)
    np.testing.assert_array_equal(means, [0.5, np.nan, 4, 7, np.nan])


def test_the_agreement_of_candidates_is_their_mutual_information_with_the_labels():
    labels = np.array([0, 0, 1, 1, 2, 2], dtype=np.int32)
    others = np.array(
        [[1, 1, 0, 0, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 1, 1], [3, 3, 1, 4, 2, 2]]
    )
    expected = [normalized_mutual_info_score(labels, one) for one in others]
    np.testing.assert_allclose(_agreement(others, labels), expected, atol=1e-12)


def test_certainty_is_the_mean_of_margin_and_agreement_with_matched_candidates():
    labels = np.array([0, 0, 1, 1, 2, 2])
    others = [[1, 1, 0, 0, 2, 2], [5, 5, 5, 1, 0, 0], [0, 0, 0, 0, 0, 0], labels]
    same = _same_cluster(np.array(others), labels)
    np.testing.assert_array_equal(same, [1, 1, 0.5, 0.75, 0.75, 0.75])


def test_samples_of_the_fit_are_not_judged_as_new_ones(consensus, data, monkeypatch):
    def judged(self, unlike, log):
        raise AssertionError

    monkeypatch.setattr(Predictor, "tell_unlike", judged)
    with pytest.raises(AssertionError):
        consensus.predict(data[0])
    assert explain(consensus, data[0]).n_samples == 210


def test_wrong_labels_sit_nearer_to_another_cluster(data):
    views, y = data
    model = KMeans(3, n_init=1, random_state=0).fit(views[0])
    moved = np.delete(np.arange(0, 210, 30), 0)
    model.labels_ = y.copy()
    model.labels_[moved] = (y[moved] + 1) % 3
    wrong = explain(model, [views[0]])
    assert (wrong.margin[moved] < 0).all()
    assert set(moved) <= set(wrong.uncertain.tolist()) and len(wrong.uncertain) == 21
    np.testing.assert_array_equal(wrong.other[moved], y[moved])
    assert "Least certain samples: 21 (10 %), the first 12" in str(wrong)


def test_noise_is_named_with_its_reason(found):
    assert list(found.excluded_views) == [2]
    assert "noise: z of its graph is" in found.excluded_views[2]
    assert found.view_support[2] < 0.1 < found.view_support[:2].min()


def test_warnings_of_the_fit_stand_first(consensus, data):
    copy = pickle.loads(pickle.dumps(consensus))
    with pytest.warns(UserWarning) as shown:
        again = ConsensusTLRR(3, random_state=0).fit(data[0])
    assert copy.warnings_ == again.warnings_ == [str(one.message) for one in shown] != []
    text = re.sub(r"\s+", " ", str(explain(copy)))
    start = "ConsensusTLRR: 210 samples in 3 clusters, 3 views Warnings of the fit "
    assert text.startswith(start + copy.warnings_[0])
    assert again.fit(data[0][:2]).warnings_ == []
    assert "Warnings of the fit" not in str(explain(again))


def test_a_test_of_structure_is_shown_first(consensus, data):
    structure = structure_test(data[0], 3, n_rotations=2, max_samples=40, random_state=0)
    found = explain(consensus, data[0], structure=structure)
    title, first = str(found).split("\n\n")[1].split("\n", 1)
    assert title == "Structure" and " ".join(first.split()).startswith(structure.sentence)
    assert structure.sentence in found.methods_paragraph


def test_the_text_fits_a_terminal(found, consensus, tlrr):
    for one in (found, explain(consensus), explain(tlrr)):
        lines = str(one).splitlines()
        assert max(map(len, lines)) < 80 and repr(one) == str(one)
        assert not any(line != line.rstrip() for line in lines)
    assert str(found).startswith("ConsensusTLRR: 210 samples in 3 clusters, 3 views\n")
    assert "View 2 was excluded" in str(found).replace("\n  ", " ")


def test_views_are_excluded_for_their_own_reason(data):
    """Noise has z below the bar, a constant view equal rows, a rare view too few samples."""
    constant, rare = np.ones((210, 4)), np.full((210, 5), np.nan)
    rare[3] = 1.0
    model = ConsensusTLRR(3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        views = [constant, *data[0], rare]
        told = explain(model.fit(views), views)
    assert list(told.excluded_views) == [0, 3, 4]
    assert told.excluded_views[0] == "all samples are equal"
    assert told.excluded_views[4] == "fewer than 2 of the clustered samples have it"
    pattern = r"noise: z of its graph is (\S+) with other views and (\S+) between halves of its col"
    across, own = map(float, re.match(pattern, told.excluded_views[3]).groups())
    views, lifts = lifted(data[0])
    graphs = ViewGraphs(views, lifts=lifts)
    expected = graphs.across([0, 1, 2])[2], graphs.own(2)
    assert (across, own) == pytest.approx(expected, abs=0.2) and max(across, own) < MIN_Z


def test_without_views_neighbors_tell(consensus):
    alone = explain(consensus)
    assert alone.predictable_share.min() > 0.9 and alone.margin.shape == (210,)
    assert any("explain(model, views)" in line for line in alone.unknown)
    assert "constant, or noise" in alone.excluded_views[2]


def test_the_choice_of_the_consensus_is_told(found, consensus):
    assert found.candidates is consensus.candidates_
    assert (
        found.agreement.shape == (31,) and 0 < found.agreement.min() <= found.agreement.max() <= 1
    )
    assert any("labellings with the labels is" in line for line in found.choices)
    assert "The 6 most predictable of 31 labellings" in str(found)


def test_the_certificate_of_tlrr_is_told(tlrr, data):
    told = explain(tlrr, data[0][:2])
    assert told.candidates is None and told.unknown == []
    assert told.choices == [
        f"{counted(tlrr.n_iter_, 'iteration')}.",
        f"The relative duality gap of the tensor is {tlrr.gap_:.2g}.",
    ]


def test_fitted_samples_are_told_apart(data):
    views = data[0][:2]
    model = ConsensusTLRR(3, max_samples=100, random_state=0).fit(views)
    told = explain(model, views)
    assert told.sizes.sum() == 210 and told.margin.shape == told.samples.shape == (100,)
    assert set(told.uncertain) <= set(model.samples_)
    assert (
        told.choices[0]
        == "100 of 210 samples were clustered; the labels of the others were predicted."
    )


def test_similarities_are_explained_by_neighbors(data):
    W = similarity.nearest_neighbors(data[0][:2])
    told = explain(TLRR(3, affinity="precomputed", random_state=0).fit(W), W)
    assert told.predictability > 0.9 and told.unknown == []


def test_other_estimators_say_what_they_cannot(data):
    views = [X[:60] for X in data[0][:2]]
    told = explain(LMSC(3, random_state=0).fit(views))
    assert told.silhouette is not None and "iterations" in told.choices[0]
    assert "LMSC has no candidate labellings to show." in told.unknown
    bare = explain(KMeans(3, n_init=1, random_state=0).fit(views[0]))
    assert bare.margin is None and bare.view_support is None and len(bare.unknown) == 4
    assert explain(KMeans(3, n_init=1).fit(views[0]), [views[0]]).view_support.shape == (1,)


def test_a_model_that_kept_only_labels_is_explained_by_views(consensus, data):
    bare = ConsensusTLRR(3)
    vars(bare).update(vars(consensus))
    del bare.affinity_matrix_
    told = explain(bare, data[0])
    assert told.silhouette is None and told.predictable_share.min() > 0.9
    assert explain(bare).predictable_share is None


def test_names_of_views_and_of_clusters_are_used(data):
    views = dict(zip(("shape", "colour"), data[0], strict=False))
    model = KMeans(3, n_init=1, random_state=0).fit(views["shape"])
    model.labels_, model.n_features_per_view_ = model.labels_ * 10, [10, 25]
    told = explain(model, views)
    assert told.view_names == ["shape", "colour"] and told.clusters.tolist() == [0, 10, 20]
    assert "  colour" in str(told) and told.labels.max() == 2


def test_samples_that_lack_views_are_explained(data):
    views = {"shape": data[0][0].copy(), "colour": data[0][1].copy()}
    views["shape"][:10], views["colour"][20:40] = np.nan, np.nan
    model = ConsensusTLRR(3, random_state=0).fit(views)
    told = explain(model, {"colour": views["colour"], "shape": views["shape"]})
    assert told.view_names == ["shape", "colour"] and told.predictable_share.min() > 0.9


def test_a_pipeline_is_explained_by_its_last_step(data):
    table = np.hstack(data[0][:2])
    columns = ViewSplitter([slice(10), slice(10, None)])
    model = make_pipeline(columns, PerView(StandardScaler()), ConsensusTLRR(3, random_state=0))
    told = explain(model.fit(table), table)
    assert told.method == "ConsensusTLRR" and told.predictable_share.min() > 0.9


def test_one_cluster_and_many_are_shown(data):
    views = [X[:60] for X in data[0][:2]]
    model = KMeans(1).fit(views[0])
    assert "There is only one cluster" in explain(model, [views[0]]).unknown[0]
    model.labels_ = np.arange(60) // 4
    told = explain(model, [views[0]])
    text = " ".join(str(told).split())
    assert "Clusters (12 of 15, the weakest first)" in text
    (weak,) = np.nonzero(told.predictable_share < 0.7)
    assert f"Not well separated from the others: {weak[0]}, " in text
    assert len(weak) > 12 and f" and {len(weak) - 12} more. predictable:" in text


def test_what_cannot_be_explained_is_refused(consensus, data):
    with pytest.raises(NotFittedError):
        explain(ConsensusTLRR(3), data[0])
    with pytest.raises(
        ValueError, match="the views have 209 samples, but the model was fitted on 210"
    ):
        explain(consensus, [X[1:] for X in data[0]])
    with pytest.raises(ValueError, match=r"\[10, 25\] features, expected \[10, 25, 30\]"):
        explain(consensus, data[0][:2])
    with pytest.raises(ValueError, match="has no labels_"):
        explain(FunctionTransformer().fit(data[0][0]))


def test_unknown_parts_are_not_drawn(data):
    bare = explain(KMeans(3, n_init=1, random_state=0).fit(data[0][0]))
    assert [ax.get_title() for ax in bare.plot()] == ["sizes"]


def test_the_first_view_with_names_names_the_samples():
    X, index = np.zeros((2, 1)), ["p", "q"]
    frame = pd.DataFrame(X, index=index)
    annotated = SimpleNamespace(X=X, obs_names=pd.Index(["r", "s"]))
    for views, expected in (
        ([X, frame, annotated], index),
        ({"a": X, "b": annotated, "c": frame}, ["r", "s"]),
        (frame, index),
        ((X, X), None),
        (None, None),
    ):
        found = ids_of(views)
        assert (found if found is None else found.tolist()) == expected


def test_samples_have_their_ids_everywhere(consensus, data):
    ids = np.array([f"P{i:03d}" for i in range(210)])
    frames = [pd.DataFrame(X, index=ids) for X in data[0]]
    for told in (explain(consensus, frames), explain(consensus, data[0], ids=ids)):
        assert told.ids.tolist() == ids.tolist()
        assert f"  P{HALFWAY:03d} " in str(told) and f"\n  {HALFWAY} " not in str(told)
    with pytest.raises(ValueError, match=r"ids has shape \(3,\), expected \(210,\)"):
        explain(consensus, ids=["a", "b", "c"])


def test_the_table_has_a_row_for_each_clustered_sample(data):
    views = [pd.DataFrame(X, index=[f"P{i}" for i in range(210)]) for X in data[0][:2]]
    model = ConsensusTLRR(3, max_samples=100, random_state=0).fit(views)
    told = explain(model, views)
    table = told.table().to_frame()
    assert table.columns.tolist() == ["sample", "cluster", "second", "margin", "certainty"]
    assert table["sample"].tolist() == [f"P{i}" for i in model.samples_]
    np.testing.assert_array_equal(table["cluster"], model.labels_[model.samples_])
    assert (table["second"] != table["cluster"]).all()
    some = told.table(told.uncertain)
    assert some["certainty"].tolist() == sorted(told.certainty)[: len(told.uncertain)]
    bare = explain(KMeans(3, n_init=1, random_state=0).fit(views[0]))
    assert list(bare.table()) == ["sample", "cluster"]


def test_clear_clusters_have_no_uncertain_samples():
    X = np.repeat(np.eye(3, 6), 20, axis=0)
    told = explain(KMeans(3, n_init=1, random_state=0).fit(X), [X])
    assert (told.margin == 1).all() and len(told.uncertain) == 0
    assert "No sample is near another cluster" in str(told)


def test_the_methods_paragraph_has_data_processing_parameters_and_versions(data):
    a, b = data[0][0].copy(), data[0][1]
    a[:10] = np.nan
    views = {"shape": a, "colour": b}
    model = make_pipeline(PerView(StandardScaler()), ConsensusTLRR(3, random_state=0)).fit(views)
    counts = suggest_n_clusters(views, random_state=0)
    told = explain(model, views, counts=counts)
    assert told.methods_paragraph == (
        "We clustered 210 samples described by 2 views: shape (10 features), colour (25 features). "
        "10 samples lacked at least one view. "
        "Processing: PerView(transformers=StandardScaler()). "
        "ConsensusTLRR found 3 clusters (n_clusters=3, random_state=0; other parameters at their "
        f"defaults). {suggestion(counts)}. Software: {versions(model)}. ConsensusTLRR uses the "
        f"method of {CITATION}."
    )
    lines = str(told).splitlines()
    assert " ".join(map(str.strip, lines[lines.index("Methods paragraph") + 1 :])) == (
        told.methods_paragraph
    )
    assert told.view_missing.tolist() == [10, 0] and told.n_incomplete == 10


def test_what_was_done_before_the_fit_is_in_the_paragraph(consensus, data):
    model = ConsensusTLRR(3)
    vars(model).update(vars(consensus), run_={"processing": "logarithms of counts"})
    told = explain(model, data[0])
    assert told.run == model.run_
    assert "Processing: logarithms of counts. " in told.methods_paragraph
    assert "Views excluded as uninformative: 2." in told.methods_paragraph
    assert "Processing" not in explain(consensus).methods_paragraph


def test_a_table_prints_names_to_the_left_and_small_numbers_with_digits():
    table = Table({"name": np.array(["a", "bcd"]), "p": np.array([1e-12, -0.001])})
    assert repr(table) == "  name         p\n  a      1.0e-12\n  bcd   -1.0e-03"
    assert repr(Table({"k": np.arange(20)})).endswith("\n  ... 8 more rows")


def test_the_citation_is_that_of_the_repository():
    path = Path(__file__).resolve().parents[2] / "CITATION.cff"
    if not path.exists():
        pytest.skip("not in a clone")
    text = path.read_text(encoding="utf-8")
    doi = re.search(r"doi: (\S+)", text)[1]
    title = re.search(r'    title: "(.*)"', text)[1]
    journal = re.search(r'    journal: "(.*)"', text)[1]
    for part in (doi.lower(), title.lower(), journal.lower()):
        assert part in CITATION.lower()
    for name in re.findall(r"family-names: (\w+)", text):
        assert name in CITATION
