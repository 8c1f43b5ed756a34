"""Resolutions: supported where graphs agree about predictable clusters."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from mvsc_fast import ConsensusTLRR, label_predictability, suggest_resolution

pytest.importorskip("igraph", reason="needs igraph: pip install 'mvsc-fast[leiden]'")


@pytest.fixture(scope="module")
def nested():
    rng = np.random.default_rng(0)
    means = np.hstack([np.repeat(6 * np.eye(3), 3, axis=0), 3.5 * np.eye(9)])  # of 9 in 3 groups
    y = np.arange(360) % 9
    return [means[y] + rng.normal(0, 1, (360, 12)) for _ in range(2)]


@pytest.fixture(scope="module")
def result(nested):
    return suggest_resolution(nested, resolutions=[2, 0.05, 10, 0.3, 1], random_state=0)


def test_the_smallest_resolution_of_stable_clusters_is_supported(result):
    np.testing.assert_array_equal(result.resolutions, [0.05, 0.3, 1, 2, 10])
    assert result.n_clusters[1:4].tolist() == [9, 9, 9]
    assert result.supported == (0.3,)
    assert result.stability[1] > 0.99 and result.predictability[1] > 0.99
    assert result.n_clusters[-1] > 20 and result.n_samples == 360
    assert result.smallest[1:4].tolist() == [40, 40, 40]
    assert result.sizes.keys() == {0.3} and result.sizes[0.3].tolist() == [40] * 9
    lines = str(result).splitlines()
    assert "0.3: 9 clusters, the smallest of 40, supported" in str(result)
    assert "supported" not in lines[0] and f"the smallest of {result.smallest[4]}" in lines[4]


def test_of_equally_stable_resolutions_the_smallest_is_supported():
    rng = np.random.default_rng(0)
    views = [8 * np.eye(3, 6)[np.arange(90) % 3] + rng.standard_normal((90, 6)) for _ in range(2)]
    result = suggest_resolution(views, resolutions=[0.2, 0.3, 0.5, 20], random_state=0)
    assert result.stability[:3].tolist() == [1, 1, 1] and result.supported == (0.2,)


def test_a_group_within_a_cluster_is_named(views_with_small_group):
    views, small_group = views_with_small_group
    result = suggest_resolution(views, resolutions=[0.05], random_state=0)
    assert result.sizes[0.05].tolist() == [100, 100]
    (samples,) = result.hidden[0.05].values()
    np.testing.assert_array_equal(samples, small_group)
    last = str(result).splitlines()[-1]
    assert "0.05: A cluster of 100 samples" in last and "12 of these samples" in last


def test_clusters_are_those_of_the_fit(result, nested):
    for i, resolution in enumerate(result.resolutions):
        labels = ConsensusTLRR(None, resolution=resolution, random_state=0).fit_predict(nested)
        assert labels.max() + 1 == result.n_clusters[i]
        predictability = label_predictability(nested, labels)
        assert predictability == pytest.approx(result.predictability[i], abs=1e-6)


def test_clusters_that_overlap_are_refined_as_in_the_fit():
    rng = np.random.default_rng(0)
    centres = 2.1 * np.eye(4, 8)
    views = [centres[np.arange(150) % 4] + rng.standard_normal((150, 8)) for _ in range(2)]
    result = suggest_resolution(views, resolutions=[2], random_state=0)
    labels = ConsensusTLRR(None, resolution=2, random_state=0).fit_predict(views)
    predictability = label_predictability(views, labels)
    assert predictability == pytest.approx(result.predictability[0], abs=1e-6)


def test_noise_supports_no_resolution_and_order_and_threads_change_nothing():
    noise = [np.random.default_rng(i).standard_normal((200, 6)) for i in range(2)]
    with pytest.warns(UserWarning, match="no view agrees"):
        result = suggest_resolution(noise, random_state=0)
    assert result.supported == () and repr(result).startswith("Resolutions(supported=()")
    order = np.random.default_rng(1).permutation(200)
    with pytest.warns(UserWarning, match="no view agrees"):
        again = suggest_resolution([X[order] for X in noise], random_state=0, n_threads=2)
    np.testing.assert_array_equal(again.stability, result.stability)
    np.testing.assert_array_equal(again.predictability, result.predictability)


def test_many_samples_are_drawn(nested):
    result = suggest_resolution(nested, resolutions=[0.3], max_samples=90, random_state=0)
    assert result.n_samples == 90 and result.n_clusters.tolist() == [3]


def test_columns_are_scaled(nested):
    views = [nested[0] * 10.0 ** np.arange(12), nested[1]]
    parameters = {"resolutions": [0.3, 1], "random_state": 0}
    result = suggest_resolution(views, scale="standard", **parameters)
    expected = suggest_resolution([StandardScaler().fit_transform(X) for X in views], **parameters)
    # Means are rounded otherwise, which may move a sample between clusters.
    np.testing.assert_allclose(result.stability, expected.stability, rtol=0.03)
    with pytest.raises(ValueError, match="scale must be one of 'standard', got 'minmax'"):
        suggest_resolution(views, scale="minmax", **parameters)
