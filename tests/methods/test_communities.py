"""ConsensusTLRR with a resolution: communities of the joint graph, predictable as clusters are."""

import pickle

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR, explain
from mvsc_fast.cli import main
from mvsc_fast.explanation import joint_graph

igraph = pytest.importorskip("igraph", reason="needs igraph: pip install 'mvsc-fast[leiden]'")


def blobs(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 6)
    means = [3 * np.random.default_rng(d).standard_normal((6, d)) for d in (8, 20)]
    return [mean[y] + rng.standard_normal((n, mean.shape[1])) for mean in means], y


@pytest.fixture(scope="module")
def labelled():
    return blobs()


@pytest.fixture(scope="module")
def model(labelled):
    return ConsensusTLRR(None, resolution=1.0, random_state=0).fit(labelled[0])


def test_communities_are_the_classes_and_new_samples_get_their_labels(labelled, model):
    views, y = labelled
    new, truth = blobs(seed=1)
    assert adjusted_rand_score(y, model.labels_) == 1
    predicted = model.predict(views)
    assert (predicted == model.labels_).mean() > 0.99
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(views), predicted)
    assert adjusted_rand_score(truth, model.predict(new)) > 0.98


@pytest.mark.parametrize("resolution", [0.5, 1, 4])
def test_no_move_or_merger_of_communities_has_a_larger_modularity(labelled, resolution):
    """Of the joint graph: affinities over the roots of the largest of both ends."""
    model = ConsensusTLRR(None, resolution=resolution, random_state=0).fit(labelled[0])
    A = model.affinity_matrix_.toarray().astype(float)
    top = np.sqrt(A.max(axis=0))
    weights = A / np.outer(top, top)
    joint = np.sort(joint_graph(model, labelled[0]).data)
    np.testing.assert_allclose(joint, np.sort(weights[weights > 0]), rtol=1e-5)
    degrees = weights.sum(axis=0)
    gain = weights - resolution * np.outer(degrees, degrees) / degrees.sum()
    Y = np.eye(model.labels_.max() + 1)[model.labels_]
    between = Y.T @ gain @ Y
    assert between[~np.eye(len(between), dtype=bool)].max(initial=-1) <= 1e-6  # mergers
    votes = gain @ Y - np.diag(gain)[:, None] * Y
    assert (votes.argmax(axis=1) == model.labels_).mean() > 0.95  # after refinement


def test_candidates_are_the_communities_of_each_graph(model):
    candidates = model.candidates_
    assert candidates["graph"].tolist() == ["unit"] * 3 + ["centred"] * 3 + ["joint"]
    assert candidates["fused"].tolist() == [False] * 6 + [True]
    assert (candidates["algorithm"] == "Leiden").all()
    assert adjusted_rand_score(candidates["labels"][-1], model.labels_) == 1
    assert model.n_tuples_ == 6 and model.gap_ == 0


@pytest.mark.parametrize(("resolution", "low", "high"), [(1e-3, 1, 6), (8, 30, 100)])
def test_any_number_of_communities_predicts(labelled, resolution, low, high):
    model = ConsensusTLRR(None, resolution=resolution, random_state=0).fit(labelled[0])
    c = len(np.unique(model.labels_))
    assert low <= c <= high and model.labels_.max() == c - 1
    assert c >= connected_components(model.affinity_matrix_)[0]
    assert model.predictor_.model.n_clusters == c
    assert np.isin(model.predict(labelled[0]), np.arange(c)).all()


def test_labels_do_not_depend_on_order_threads_or_the_global_generator(labelled, model):
    views, _ = labelled
    order = np.random.default_rng(2).permutation(300)
    permuted = clone(model).set_params(n_threads=2).fit([X[order] for X in views])
    np.testing.assert_array_equal(permuted.labels_, model.labels_[order])
    coarse = ConsensusTLRR(None, resolution=5, random_state=1)
    np.testing.assert_array_equal(coarse.fit_predict(views), coarse.fit_predict(views))


def test_a_sample_is_clustered_and_samples_may_lack_views(labelled):
    views, y = [X.copy() for X in labelled[0]], labelled[1]
    views[0][:40], views[1][30:60] = np.nan, np.nan
    model = ConsensusTLRR(None, resolution=0.7, random_state=0, max_samples=200)
    with pytest.warns(UserWarning, match="10 samples"):
        labels = model.fit_predict(views)
    assert len(model.samples_) == 200
    np.testing.assert_array_equal(np.flatnonzero(labels < 0), np.arange(30, 40))
    assert adjusted_rand_score(y[labels >= 0], labels[labels >= 0]) > 0.9


def test_explanation_and_report_name_communities(labelled, model, tmp_path):
    explanation = explain(model, labelled[0])
    for fact in ("Leiden", "Traag", "resolution=1.0", f"igraph {igraph.__version__}"):
        assert fact in explanation.methods_paragraph
    assert "Jia" not in explanation.methods_paragraph
    explanation.write_report(tmp_path / "report.html")


def test_equal_samples_have_one_label():
    views, _ = blobs(120)
    views = [np.concatenate([X, X[:20]]) for X in views]
    labels = ConsensusTLRR(None, resolution=4, random_state=0).fit_predict(views)
    np.testing.assert_array_equal(labels[:20], labels[120:])


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # scikit-learn 1.7
def test_samples_that_are_often_repeated_have_one_label_and_numbers_have_no_gaps():
    """Leiden parts equal samples here, and some of its communities have none of the labels."""
    rng = np.random.default_rng(0)
    of = rng.integers(0, 20, 60)
    X = rng.standard_normal((20, 3))[of]
    labels = ConsensusTLRR(None, resolution=10, random_state=0).fit_predict(X)
    np.testing.assert_array_equal(labels, labels[[of.tolist().index(k) for k in of]])
    np.testing.assert_array_equal(np.unique(labels), np.arange(labels.max() + 1))


def test_the_command_line_takes_a_resolution(labelled, tmp_path, capsys):
    path, labels = str(tmp_path / "views.npz"), str(tmp_path / "labels.csv")
    np.savez(path, view_0=labelled[0][0], view_1=labelled[0][1])
    main(["cluster", path, "--clusters", "resolution=1", "--labels", labels])
    clusters = np.loadtxt(labels, delimiter=",", skiprows=1, dtype=int)[:, 1]
    assert adjusted_rand_score(labelled[1], clusters) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--evidence"], "--evidence needs a number of --clusters"),
        (["--method", "tlrr"], "--clusters resolution=R would be ignored"),
    ],
    ids=["evidence", "method"],
)
def test_options_that_exclude_a_resolution_are_named_before_any_work(capsys, options, message):
    assert main(["cluster", "missing.npz", "--clusters", "resolution=1", *options]) == 2
    assert message in capsys.readouterr().err
