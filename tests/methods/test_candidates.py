"""The candidate labellings of ConsensusTLRR, and the graph of their refinement."""

import numpy as np
import pytest
from conftest import fitted
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import ConsensusTLRR, datasets


def test_affinity_is_the_sum_of_two_graphs_of_thirty_neighbours():
    views, _ = datasets.make_multiview_subspaces(240, 4, quality=(1, 0.9, 0.7), random_state=0)
    affinity = ConsensusTLRR(4, random_state=0).fit(views).affinity_matrix_
    sums = np.ravel(affinity.sum(axis=1))
    # Each graph has rows of sum 1, up to their symmetry.
    assert sums.mean() == pytest.approx(2, rel=0.1)
    # Neighbours that would have the same effect with equal weights: 9 at 15 neighbours.
    effective = sums**2 / np.ravel((affinity * affinity).sum(axis=1))
    assert 14 < effective.mean() < 30


@pytest.mark.parametrize("n_columns", [20, 60])
def test_joined_views_count_alike_however_many_columns_they_have(n_columns):
    """Three columns with classes beside a view of many, whose factors hide them otherwise."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 80)
    narrow = 4 * np.eye(3)[y] + rng.standard_normal((240, 3))
    wide = rng.standard_normal((240, 8)) @ rng.standard_normal((8, n_columns))
    wide += 0.3 * rng.standard_normal(wide.shape)
    candidates = fitted(ConsensusTLRR(3, random_state=0), [narrow, wide]).candidates_
    standard = candidates["embedding"] == "standard"
    scores = [adjusted_rand_score(y, labels) for labels in candidates["labels"][standard]]
    assert len(scores) >= 2 and min(scores) > 0.9
