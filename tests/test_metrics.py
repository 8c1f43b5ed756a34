import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.pipeline import make_pipeline

from mvsc_fast import ConsensusTLRR
from mvsc_fast.methods import AWP, LTMSC, TLRR, TSVDMSC
from mvsc_fast.metrics import clustering_scores, compare

labels = st.lists(st.integers(0, 3), min_size=8, max_size=8)


def brute_force(y_true, y_pred):
    """Definitions over all matchings and all pairs."""
    y_true, y_pred = np.asarray(y_true), np.asarray(y_pred)
    matchings = itertools.permutations(range(4))
    acc = max((np.array(p)[y_pred] == y_true).mean() for p in matchings)
    pairs = list(itertools.combinations(range(len(y_true)), 2))
    together_true = np.array([y_true[i] == y_true[j] for i, j in pairs])
    together_pred = np.array([y_pred[i] == y_pred[j] for i, j in pairs])
    both = (together_true & together_pred).sum()
    precision = both / together_pred.sum() if together_pred.any() else 1 - together_true.any()
    recall = both / together_true.sum() if together_true.any() else 1 - together_pred.any()
    purity = sum(np.bincount(y_true[y_pred == c]).max() for c in set(y_pred)) / len(y_true)
    chance = together_true.sum() * together_pred.sum() / len(pairs)
    possible = (together_true.sum() + together_pred.sum()) / 2 - chance
    ari = (both - chance) / possible if possible else 1.0
    return {"acc": acc, "ari": ari, "precision": precision, "recall": recall, "purity": purity}


@given(labels, labels)
@example([0, 1, 2, 3], [0, 0, 1, 1])  # no pair is in a class, and then in a cluster
@example([0, 0, 1, 1], [0, 1, 2, 3])
@example([0, 1, 2, 3], [3, 1, 0, 2])  # no pair at all, and nothing wrong
@example([0, 0, 0, 0], [0, 0, 0, 1])  # half of the pairs of a class are in a cluster
@example([0, 0, 0, 1], [0, 0, 0, 0])
def test_equal_to_the_definitions(y_true, y_pred):
    scores = clustering_scores(y_true, y_pred)
    for name, value in brute_force(y_true, y_pred).items():
        assert scores[name] == pytest.approx(value), name
    precision, recall = scores["precision"], scores["recall"]
    expected = 2 * precision * recall / (precision + recall) if precision + recall else 0
    assert scores["f1"] == pytest.approx(expected)


def test_nmi_is_normalised_by_the_mean_entropy():
    """The entropies are 1 bit, 2 - 3 / 4 log2(3) bits, and together 1.5 bits."""
    entropy = 2 - 0.75 * np.log2(3)
    expected = 2 * (1 + entropy - 1.5) / (1 + entropy)
    assert clustering_scores([0, 0, 1, 1], [0, 0, 0, 1])["nmi"] == pytest.approx(expected)


@pytest.mark.parametrize("shape", [(1, 4), (4, 1)])
def test_vectors_of_matlab_are_read_with_a_warning(shape):
    y = np.array([0, 0, 1, 1])
    with pytest.warns(DataConversionWarning, match=f"y_true.*{shape[0]}, {shape[1]}"):
        assert clustering_scores(y.reshape(shape), y)["acc"] == 1
    series = pd.Series(y, index=list("abcd"))
    with pytest.warns(DataConversionWarning), pytest.raises(ValueError, match="'d' and 'a'"):
        clustering_scores(series, series.to_frame()[::-1])


class Random(BaseEstimator):
    """Estimator whose embedding has no clusters, with few starts of k-means."""

    fits = 0

    def __init__(self, n_clusters=4, n_init=1):
        self.n_clusters = n_clusters
        self.n_init = n_init

    def fit(self, X):
        type(self).fits += 1
        self.embedding_ = np.random.default_rng(0).standard_normal((len(X[0]), 5))
        self.labels_ = np.zeros(len(X[0]), dtype=int)
        return self


def test_methods_are_compared_over_runs_of_kmeans(subspaces):
    views, y = subspaces
    methods = {
        "tlrr": TLRR(3, random_state=0),
        "scaled": make_pipeline("passthrough", LTMSC(3, random_state=0)),
        "awp": AWP(3, random_state=0),
        "consensus": ConsensusTLRR(3, random_state=0),
    }
    found = compare(methods, iter(views), y, n_runs=4)
    assert found["method"].tolist() == list(methods)
    assert found["n_runs"].tolist() == [4, 4, 1, 1]
    for i, estimator in enumerate(methods.values()):
        assert not hasattr(estimator, "n_features_in_")  # clones are fitted
        scores = clustering_scores(y, estimator.fit_predict(views))
        assert {name: found[name][i] for name in scores} == pytest.approx(scores)
    assert np.isnan(found["acc_std"]).tolist() == [False, False, True, True]
    assert found["ari_std"][:2] == pytest.approx(0)


def test_runs_differ_on_one_fit(subspaces):
    views, y = subspaces
    Random.fits = 0
    found = compare({"random": Random()}, views, y, n_runs=6)
    assert Random.fits == 1
    assert found["acc_std"][0] > 0.005 and 0.3 < found["acc"][0] < 0.6
    pd.testing.assert_frame_equal(
        found.to_frame(), compare({"random": Random()}, views, y, n_runs=6).to_frame()
    )


def test_a_comparison_is_printed_and_written_for_latex(subspaces):
    views, y = subspaces
    sweep = compare({lam: TSVDMSC(3, lam=lam, random_state=0) for lam in (0.2, 0.5)}, views, y)
    assert sweep["method"].tolist() == [0.2, 0.5] and sweep["n_runs"].tolist() == [20, 20]
    found = compare({"a_b & 50 %": AWP(3, random_state=0), "random": Random()}, views, y)
    best, spread = found["acc"][0], f"{found['acc'][1]:.3f} ± {found['acc_std'][1]:.3f}"
    assert best > found["acc"][1]
    text, page, latex = repr(found), found._repr_html_(), found.to_latex()
    for form in (text, page):
        assert spread in form and f"{best:.3f}" in form
    lines = latex.splitlines()
    assert rf"a\_b \& 50 \% & \textbf{{{best:.3f}}} & " in latex
    assert f"random & {spread.replace('±', '$' + chr(92) + 'pm$')} & " in latex
    assert {line.count(" & ") for line in lines if "&" in line} == {7}
    assert lines[0] == r"\begin{tabular}{lccccccc}" and lines[-1] == r"\end{tabular}"
    table = compare({("a<5", 1): AWP(3.0)}, views, y)
    assert table.to_frame()["method"].tolist() == [("a<5", 1)]
    assert r"a\textless{}5" in table.to_latex()


def test_bad_comparisons(subspaces):
    views, y = subspaces
    with pytest.raises(ValueError, match="methods is empty"):
        compare({}, views, y)
    with pytest.raises(ValueError, match="y has 1 NaN"):
        compare({"a": TLRR(3)}, views, [np.nan, *y[1:]])
    with pytest.raises(ValueError, match="60 labels.* 59"):
        compare({"a": Random(3)}, views, y[1:])
    frame, labels = pd.DataFrame(views[0]), pd.Series(y)
    assert compare({"a": Random(3)}, [frame], labels)["n_runs"] == [20]
    with pytest.raises(ValueError, match="y and the views have different indexes, 59 and 0"):
        compare({"a": Random(3)}, [frame], labels[::-1])
