"""The likelihood of Gaussian clusters, which counts in tables of few columns."""

import numpy as np
import pytest
from reference.mixture import likelihood, most_likely
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from mvsc_fast import ConsensusTLRR, datasets


def groups(sizes, widths, distance=4.0, seed=0):
    """Views of Gaussian groups, positive so that the views are not lifted."""
    rng, y = np.random.default_rng(seed), np.repeat(range(len(sizes)), sizes)
    centres = [12 + distance * rng.normal(size=(len(sizes), d)) for d in widths]
    return [np.abs(centre[y] + rng.normal(size=(len(y), len(centre[0])))) for centre in centres], y


@pytest.mark.parametrize("tails", [0, 1])
def test_likelihood_is_that_of_its_definition(tails):
    rng, (views, _) = np.random.default_rng(0), groups((150, 100, 50), (8, 12))
    views = [np.abs(X + tails * rng.standard_t(1.5, size=X.shape)) for X in views]
    table = ConsensusTLRR(3, view_selection="all", random_state=0).fit(views).candidates_
    points = np.hstack([normalize(X) for X in views])
    expected = [likelihood(points, labels) for labels in table["labels"]]
    np.testing.assert_allclose(table["likelihood"], expected, rtol=1e-4)
    assert table["algorithm"][-1] == "mixture" and (table["algorithm"] == "mixture").sum() == 1


def test_small_groups_beside_large_ones():
    rng, sizes = np.random.default_rng(10), (400, 250, 150, 100, 50, 30, 15, 8)
    y = np.repeat(range(8), sizes)
    latent = 2 * rng.normal(size=(8, 8))[y] + rng.normal(size=(len(y), 8))
    views = [latent @ rng.normal(size=(8, d)) + rng.normal(size=(len(y), d)) for d in (10, 12)]
    model = ConsensusTLRR(8, random_state=0).fit(views)
    table, truth = model.candidates_, adjusted_rand_score(y, model.labels_)
    # What maximises the likelihood is better than what it starts from.
    scores = [adjusted_rand_score(y, labels) for labels in table["labels"]]
    assert scores[-1] > max(scores[:-1]) and truth >= 0.85
    assert table["likelihood"][-1] == table["likelihood"].max()


def is_used(views, c):
    model = ConsensusTLRR(c, view_selection="all", random_state=0).fit(views)
    return "likelihood" in model.candidates_


def test_discrete_columns_many_columns_few_samples_and_one_cluster_are_no_mixture():
    views, y = groups((80, 80, 80), (4, 5))
    assert is_used(views, 3) and not is_used(views, 1)
    rng, discrete = np.random.default_rng(0), np.column_stack([views[1], np.arange(240) % 2])
    assert not is_used([views[0], discrete], 3)
    assert not is_used([views[0], discrete + 1e-9 * rng.normal(size=discrete.shape)], 3)
    assert not is_used(groups((80, 80, 80), (50, 51))[0], 3)
    assert not is_used(groups((12, 12, 11), (4, 5))[0], 3)


def test_subspaces_of_one_mean_are_no_mixture():
    shape = {"n_features": (8, 8, 8), "noise": 0.05}
    views, y = datasets.make_multiview_subspaces(300, 5, **shape, random_state=0)
    model = ConsensusTLRR(5, random_state=0).fit(views)
    assert "likelihood" not in model.candidates_
    assert adjusted_rand_score(y, model.labels_) >= 0.98


def test_the_labels_of_the_mixture_are_the_most_likely():
    views, _ = groups((100, 100, 60, 40), (6, 6), distance=1.5)
    table = ConsensusTLRR(4, random_state=0).fit(views).candidates_
    labels = table["labels"][table["algorithm"] == "mixture"][0]
    points = np.hstack([normalize(X) for X in views])
    np.testing.assert_array_equal(most_likely(points, labels), labels)
