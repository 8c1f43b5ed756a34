import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from mvsc_fast.metrics import clustering_scores

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
    precision = both / together_pred.sum() if together_pred.any() else 0.0
    recall = both / together_true.sum() if together_true.any() else 0.0
    purity = sum(np.bincount(y_true[y_pred == c]).max() for c in set(y_pred)) / len(y_true)
    return {"acc": acc, "precision": precision, "recall": recall, "purity": purity}


@given(labels, labels)
def test_equal_to_the_definitions(y_true, y_pred):
    scores = clustering_scores(y_true, y_pred)
    for name, value in brute_force(y_true, y_pred).items():
        assert scores[name] == pytest.approx(value), name
    precision, recall = scores["precision"], scores["recall"]
    expected = 2 * precision * recall / (precision + recall) if precision + recall else 0
    assert scores["f1"] == pytest.approx(expected)


def test_nmi_is_normalised_by_the_mean_entropy():
    y_true, y_pred = [0, 0, 1, 1], [0, 0, 0, 1]
    h = lambda *p: -sum(q * np.log(q) for q in p)  # noqa: E731
    joint = h(0.5, 0.25, 0.25)
    mutual = h(0.5, 0.5) + h(0.75, 0.25) - joint
    expected = 2 * mutual / (h(0.5, 0.5) + h(0.75, 0.25))
    assert clustering_scores(y_true, y_pred)["nmi"] == pytest.approx(expected)


@given(labels)
def test_renaming_clusters_changes_nothing(y):
    renamed = np.array(["d", "b", "a", "c"])[y]
    scores = clustering_scores(y, renamed)
    assert scores["acc"] == scores["purity"] == 1
    assert scores["ari"] == pytest.approx(1)


def test_bad_labels():
    with pytest.raises(ValueError, match="y_pred has 3 labels, but .* is 2 in y_true"):
        clustering_scores([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match=r"y_true has shape \(0,\)"):
        clustering_scores([], [])
    with pytest.raises(ValueError, match=r"y_pred has shape \(2, 1\)"):
        clustering_scores([0, 1], [[0], [1]])
    with pytest.raises(ValueError, match="y_true has 1 NaN or None, the first for sample 1"):
        clustering_scores(["a", np.nan], [0, 1])


def test_series_are_compared_by_their_index():
    y = pd.Series([0, 0, 1, 2], index=list("abcd"))
    assert clustering_scores(y, y.rename("found"))["acc"] == 1
    assert clustering_scores(y, y[::-1].to_numpy())["acc"] < 1
    with pytest.raises(ValueError, match="y_pred and y_true have different indexes, 'd' and"):
        clustering_scores(y, y[::-1])


@pytest.mark.parametrize("shape", [(1, 4), (4, 1)])
def test_vectors_of_matlab_are_read_with_a_warning(shape):
    y = np.array([0, 0, 1, 1])
    with pytest.warns(DataConversionWarning, match=f"y_true.*{shape[0]}, {shape[1]}"):
        assert clustering_scores(y.reshape(shape), y)["acc"] == 1
