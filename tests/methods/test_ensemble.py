"""TLRR of co-associations on label tuples equals TLRR of all samples."""

import numpy as np
import pandas as pd
import pytest
import reference.dual as twin
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import consensus_labels
from mvsc_fast.spectral import spectral_labels


def labellings_near(y, share, count, seed):
    rng = np.random.default_rng(seed)
    k = y.max() + 1
    return [
        np.where(rng.uniform(size=len(y)) < share, rng.integers(k, size=len(y)), y)
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("n", "share", "seed"),
    [(60, 0.25, 0), (60, 0.25, 1), (150, 0.5, 2)],  # the last by its multiplicities
)
def test_equal_to_the_cut_of_all_samples(n, share, seed):
    y = np.arange(n) % 3
    labellings = labellings_near(y, share, 6, seed)
    result = consensus_labels(labellings, 3, random_state=0)
    assert 3 < result.n_tuples < n and 0 <= result.gap <= 1e-3
    agree = np.array([a[:, None] == a for a in labellings], dtype=float)
    L, _ = twin.tlrr(agree, 0.5, 9.0, 4.5 / (2 * np.sqrt(3)), iterations=30)
    S, S_W = L.sum(axis=0), agree.sum(axis=0)
    expected, _ = spectral_labels(S / S.sum() + 0.01 * S_W / S_W.sum(), 3, random_state=0)
    assert adjusted_rand_score(expected, result.labels) == 1


def test_rare_tuples_follow_those_they_share_most_labels_with():
    """Above 400 label tuples the most frequent ones are fused, and the rest follows."""
    y = np.arange(6000) % 4
    labellings = labellings_near(y, 0.3, 7, seed=0)
    result = consensus_labels(labellings, 4, random_state=0)
    assert result.n_tuples > 400 and len(np.unique(result.labels)) == 4
    best = max(adjusted_rand_score(y, labels) for labels in labellings)
    assert adjusted_rand_score(y, result.labels) > 0.95 > best + 0.2


@pytest.mark.parametrize(
    ("labellings", "c", "expected"),
    [
        ([[0, 0, 0, 1], [0, 1, 1, 0]], 3, [0, 1, 1, 2]),
        ([[0, 1, 2] * 9, list("bca") * 9], 3, [0, 1, 2] * 9),
    ],
    ids=["as many", "renamed"],
)
def test_with_no_more_tuples_than_clusters_nothing_is_solved(labellings, c, expected):
    result = consensus_labels(labellings, c, random_state=0)
    assert result.labels.tolist() == expected
    assert result.n_tuples == 3 and result.gap == 0


@pytest.mark.parametrize(
    ("labellings", "message"),
    [
        ([], "labellings is empty"),
        ([[0, 1], [0, 1, 1]], "labelling 1 has 3 labels, but the number of samples is 2"),
        ([[0, 1], [0.0, np.nan]], "labelling 1 has 1 NaN or None, the first for sample 1"),
        (pd.DataFrame({"a": [0, 0], "b": [1, 1]}), "DataFrame.*list"),
        ([[0]], "n_clusters=2 .*n_samples=1"),
        (np.zeros((5, 2)), r"\(5, 2\), .*labels\.T"),
        ([[-1, -1]] * 2, "-1"),
    ],
    ids=["none", "lengths", "NaN", "frame", "few", "columns", "unlabelled"],
)
def test_labellings_that_cannot_be_fused(labellings, message):
    with pytest.raises(ValueError, match=message):
        consensus_labels(labellings, 2)
    with pytest.raises(ValueError, match="n_clusters == 0"):
        consensus_labels([[0, 1]], 0)


def test_fewer_tuples_than_clusters_are_told():
    with pytest.warns(UserWarning, match="n_clusters=5.* 3 clusters"):
        result = consensus_labels([[0, 0, 1, 1, 2, 2]] * 3, 5)
    assert result.labels.tolist() == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("seed", range(3))
def test_a_labelling_says_nothing_of_a_sample_that_it_calls_minus_one(seed):
    rng, y = np.random.default_rng(seed), np.arange(120) % 4
    labellings = [np.where(rng.uniform(size=120) < 0.2, -1, rng.permutation(4)[y]) for _ in "abcde"]
    for labels in labellings:
        labels[7] = -1
    with pytest.warns(UserWarning, match="1 sample .* row 7"):
        labels = consensus_labels(labellings, 4, random_state=0).labels
    assert np.flatnonzero(labels < 0).tolist() == [7]
    assert adjusted_rand_score(np.delete(y, 7), np.delete(labels, 7)) == 1
    # A labelling without labels changes nothing.
    with pytest.warns(UserWarning, match="row 7"):
        again = consensus_labels([*labellings, np.full(120, -1)], 4, random_state=0).labels
    np.testing.assert_array_equal(again, labels)
    # Nor do other noises of HDBSCAN.
    labellings[0] = np.where(labellings[0] < 0, -3, labellings[0])
    with pytest.warns(UserWarning, match="row 7"):
        again = consensus_labels(labellings, 4, random_state=0).labels
    np.testing.assert_array_equal(again, labels)


def test_labellings_are_compared_by_their_index():
    series = pd.Series([0, 0, 1, 1], index=list("abcd"))
    assert (consensus_labels([[0, 0, 1, 1], series, series], 2).labels == [0, 0, 1, 1]).all()
    with pytest.raises(ValueError, match="labelling 2 .*'d' and 'c' in row 2"):
        consensus_labels([[0, 0, 1, 1], series, series.iloc[[0, 1, 3, 2]]], 2)
