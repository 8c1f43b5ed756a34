"""TLRR of co-associations on label tuples equals TLRR of all samples; the generalised median."""

import numpy as np
import pytest
import reference.dual as twin
from sklearn.metrics import adjusted_rand_score

from mvsc_fast.methods import _ensemble as ensemble
from mvsc_fast.methods._ensemble import generalised_median, tlrr_consensus
from mvsc_fast.spectral import spectral_labels


def labellings_near(y, share, count, seed):
    rng = np.random.default_rng(seed)
    k = y.max() + 1
    return [np.where(rng.uniform(size=len(y)) < share, rng.integers(k, size=len(y)), y)
            for _ in range(count)]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_equal_to_the_cut_of_all_samples(seed):
    y = np.arange(60) % 3
    labellings = labellings_near(y, 0.25, 6, seed)
    found = tlrr_consensus(labellings, 3, seed=0, n_threads=1)
    assert 3 < found.n_tuples < 60 and 0 <= found.gap <= 1e-3
    agree = np.array([a[:, None] == a for a in labellings], dtype=float)
    L, _ = twin.tlrr(agree, 0.5, 9.0, 4.5 / (2 * np.sqrt(3)), iterations=30)
    S, S_W = L.sum(axis=0), agree.sum(axis=0)
    expected, _ = spectral_labels(S / S.sum() + 0.01 * S_W / S_W.sum(), 3, random_state=0)
    assert adjusted_rand_score(expected, found.labels) == 1


def test_a_majority_of_the_labellings_decides():
    y = np.arange(400) % 4
    labellings = labellings_near(y, 0.2, 6, seed=0)
    found = tlrr_consensus(labellings, 4, seed=0, n_threads=1)
    best = max(adjusted_rand_score(y, one) for one in labellings)
    assert adjusted_rand_score(y, found.labels) > best + 0.2


def test_rare_tuples_follow_those_they_share_most_labels_with(monkeypatch):
    y = np.arange(200) % 4
    labellings = labellings_near(y, 0.1, 6, seed=0)
    whole = tlrr_consensus(labellings, 4, seed=0, n_threads=1)
    monkeypatch.setattr(ensemble, "MAX_TUPLES", 12)
    part = tlrr_consensus(labellings, 4, seed=0, n_threads=1)
    assert part.n_tuples == whole.n_tuples > 12
    assert adjusted_rand_score(whole.labels, part.labels) > 0.95


def test_no_fewer_tuples_than_clusters_are_cut(monkeypatch):
    monkeypatch.setattr(ensemble, "MAX_TUPLES", 12)
    y = np.arange(400) % 20
    found = tlrr_consensus(labellings_near(y, 0.1, 6, seed=0), 20, seed=0, n_threads=1)
    assert found.n_tuples > 20 and len(np.unique(found.labels)) == 20


def test_with_no_more_tuples_than_clusters_nothing_is_solved():
    y = np.arange(30) % 3
    equal = tlrr_consensus([y, (y + 1) % 3, y], 3, seed=0, n_threads=1)
    assert equal.n_tuples == 3 and equal.gap == 0 and adjusted_rand_score(y, equal.labels) == 1
    fewer = tlrr_consensus([y, y], 4, seed=0, n_threads=1)
    np.testing.assert_array_equal(fewer.labels, y)


def test_the_median_agrees_best_with_the_weighty():
    y = np.arange(40) % 4
    near = labellings_near(y, 0.2, 3, seed=0)
    other = np.arange(40) // 10
    assert generalised_median([*near, y, other], [1, 1, 1, 1, 1], 4) == 3
    assert generalised_median([*near, y, other], [0, 0, 0, 0.1, 1], 4) == 4
    assert generalised_median([y, (y + 1) % 4], [1, 1], 4) == 0
