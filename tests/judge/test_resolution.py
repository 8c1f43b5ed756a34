"""Resolutions: supported where graphs agree about predictable clusters."""

import sys

import numpy as np
import pytest

from mvsc_fast import ConsensusTLRR, label_predictability, suggest_resolution

pytest.importorskip("igraph", reason="needs igraph: pip install 'mvsc-fast[leiden]'")


@pytest.fixture(scope="module")
def nested():
    rng = np.random.default_rng(0)
    means = np.hstack([np.repeat(6 * np.eye(3), 3, axis=0), 3.5 * np.eye(9)])  # of 9 in 3 groups
    y = np.arange(360) % 9
    return [means[y] + rng.normal(0, 1, (360, 12)) for _ in range(2)]


@pytest.fixture(scope="module")
def found(nested):
    return suggest_resolution(nested, resolutions=[2, 0.05, 10, 0.3, 1], random_state=0)


def test_the_smallest_resolution_of_stable_clusters_is_supported(found):
    np.testing.assert_array_equal(found.resolutions, [0.05, 0.3, 1, 2, 10])
    assert found.n_clusters[1:4].tolist() == [9, 9, 9]
    (supported,) = found.supported  # by the version of igraph
    assert supported in (0.3, 1.0)
    assert found.stability[1] > 0.99 and found.predictability[1] > 0.99
    assert found.n_clusters[-1] > 20 and found.n_samples == 360


def test_the_smallest_cluster_of_each_resolution_is_printed(found):
    assert found.smallest[1:4].tolist() == [40, 40, 40]
    lines = str(found).splitlines()
    (supported,) = found.supported
    assert f"{supported:g}: 9 clusters, the smallest of 40, supported" in str(found)
    assert "supported" not in lines[0] and f"the smallest of {found.smallest[4]}" in lines[4]


def test_clusters_are_those_of_the_fit(found, nested):
    for r, c, predictability in zip(
        found.resolutions, found.n_clusters, found.predictability, strict=True
    ):
        labels = ConsensusTLRR(None, resolution=r, random_state=0).fit_predict(nested)
        assert labels.max() + 1 == c
        assert label_predictability(nested, labels) == pytest.approx(predictability, abs=1e-6)


def test_noise_supports_no_resolution_and_order_and_threads_change_nothing():
    noise = [np.random.default_rng(i).standard_normal((200, 6)) for i in range(2)]
    with pytest.warns(UserWarning, match="no view agrees"):
        found = suggest_resolution(noise, random_state=0)
    assert found.supported == () and repr(found).startswith("Resolutions(supported=()")
    order = np.random.default_rng(1).permutation(200)
    with pytest.warns(UserWarning, match="no view agrees"):
        again = suggest_resolution([X[order] for X in noise], random_state=0, n_threads=2)
    np.testing.assert_array_equal(again.stability, found.stability)
    np.testing.assert_array_equal(again.predictability, found.predictability)


def test_many_samples_are_drawn(nested):
    found = suggest_resolution(nested, resolutions=[0.3], max_samples=90, random_state=0)
    assert found.n_samples == 90 and found.n_clusters.tolist() == [3]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"resolutions": []}, r"one or more numbers in a list, got \[\]"),
        ({"resolutions": 1.0}, r"one or more numbers in a list, got 1\.0"),
        ({"resolutions": [1, 0]}, r"resolutions\[1\] == 0, must be > 0"),
        ({"max_samples": 1}, "max_samples == 1, must be >= 2"),
    ],
)
def test_bad_parameters(nested, given, message):
    with pytest.raises(ValueError, match=message):
        suggest_resolution(nested, **given)


def test_a_missing_package_is_named_before_any_work(nested, monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(ImportError, match=r"resolution needs igraph: .*'mvsc-fast\[leiden\]'"):
        suggest_resolution(nested)
