"""Stable clusters stay, a cut through a cloud does not, and nothing depends on the workers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvsc_fast import TLRR, ConsensusTLRR
from mvsc_fast.explanation import plot_stability, stability
from mvsc_fast.preprocessing import PerView


@pytest.fixture(scope="module")
def data():
    """One cluster far away (label 0 or so), and a cloud that k-means must cut into two."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 8))
    X[:30] += 12
    return X


@pytest.fixture(scope="module")
def found(data):
    model = KMeans(3, n_init=1, random_state=0).fit(data)
    return stability(model, data, n_resamples=8, random_state=0), model


def test_the_far_cluster_is_stable_and_the_cut_cloud_is_not(found):
    result, model = found
    far = int(np.flatnonzero(result.clusters == model.labels_[0])[0])
    assert result.cluster_stability[far] == 1 and (result.sample_stability[:30] == 1).all()
    cut = np.delete(result.cluster_stability, far)
    assert (cut < 0.9).all() and np.nanmean(result.sample_stability[30:]) < 0.95
    assert result.agreement.shape == (8,) and result.agreement.max() < 1
    np.testing.assert_array_equal(result.labels, model.labels_)
    assert str(result).startswith("Stability under 8 subsamples of 80 %\n")


def test_the_same_labels_are_fully_stable():
    X = np.repeat(np.eye(3), 10, axis=0)
    result = stability(KMeans(3, n_init=5), X, n_resamples=3, fraction=0.5, random_state=0)
    assert (result.agreement == 1).all() and (result.cluster_stability == 1).all()
    drawn = ~np.isnan(result.sample_stability)
    assert drawn.sum() < 30 and (result.sample_stability[drawn] == 1).all()


def test_nothing_depends_on_the_number_of_workers(data):
    estimator = KMeans(3, n_init=1, init="random")
    one, two = (
        stability(estimator, data, n_resamples=4, random_state=3, n_jobs=n_jobs)
        for n_jobs in (1, 2)
    )
    for name in ("labels", "agreement", "cluster_stability", "sample_stability"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert not hasattr(estimator, "labels_")


def test_frames_pipelines_and_missing_views_pass_through(data):
    index = [f"id{i}" for i in range(90)]
    views = {"a": pd.DataFrame(data[:, :4], index=index), "b": pd.DataFrame(data[:, 4:], index)}
    views["b"].iloc[:5] = np.nan
    model = make_pipeline(PerView(StandardScaler()), ConsensusTLRR(2))
    result = stability(model, views, n_resamples=2, random_state=0)
    assert result.ids.tolist() == index and result.agreement.min() > 0.9
    table = result.table().to_frame()
    assert table.columns.tolist() == ["sample", "cluster", "stability"] and len(table) == 90


def test_a_plot_has_a_bar_for_each_cluster_and_a_point_for_each_sample(found):
    ax = plot_stability(found[0], title="a title")
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights, found[0].cluster_stability)
    assert len(ax.lines[0].get_xdata()) == 90 and ax.get_title() == "a title"


def test_bad_input_is_named(data):
    for fraction in (0, 1, "half"):
        with pytest.raises(ValueError, match="fraction must be between 0 and 1"):
            stability(KMeans(2), data, fraction=fraction)
    with pytest.raises(ValueError, match="n_resamples"):
        stability(KMeans(2), data, n_resamples=0)
    with pytest.raises(ValueError, match="the estimator takes similarities"):
        stability(TLRR(2, affinity="precomputed"), np.ones((1, 90, 90)))
