"""Stable clusters stay, a cut through a cloud does not, and nothing depends on the workers."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvsc_fast import TLRR, ConsensusTLRR
from mvsc_fast.explanation import stability
from mvsc_fast.preprocessing import PerView


@pytest.fixture(scope="module")
def data():
    """One cluster far away (label 0 or so), and a cloud that k-means must cut into two."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 8))
    X[:30] += 12
    return X


def test_subsamples_are_shares_of_the_labelled_samples(data):
    views = [data.copy()]
    views[0][60:] = np.nan
    with pytest.warns(UserWarning, match="30 samples"):
        model = ConsensusTLRR(2, random_state=0).fit(views)
    result = stability(model, views, n_resamples=1, fraction=0.5, random_state=0)
    assert np.isfinite(result.sample_stability).sum() == 30


class Read(ClusterMixin, BaseEstimator):
    """Labels that are read from the first column, and changed for rows of some subsamples."""

    fits, seeds = [], []

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        labels, rows = X[:, 0].astype(int), X[:, 1].astype(int)
        if len(rows) < 30:
            labels = np.where(rows * rows.sum() % 7 < 3, (labels + 1) % 4, labels)
        self.fits.append((rows, labels))
        self.seeds.append(self.random_state)
        self.labels_ = labels
        return self


def defined(labels, fits):
    """Agreement, stability of clusters and of samples by their definitions, one by one."""
    jaccard, stays = np.full((len(fits), labels.max() + 1), np.nan), [[] for _ in labels]
    for r, (rows, own) in enumerate(fits):
        groups = {k: set(rows[own == k]) for k in set(own)}
        for k in set(labels[rows]):
            drawn = set(rows[labels[rows] == k])
            jaccard[r, k] = max(len(drawn & g) / len(drawn | g) for g in groups.values())
        best = max(
            permutations(range(5), 4),
            key=lambda names: sum(names[k] == j for k, j in zip(labels[rows], own, strict=True)),
        )
        for i, j in zip(rows, own, strict=True):
            stays[i].append(best[labels[i]] == j)
    agreement = [adjusted_rand_score(labels[rows], own) for rows, own in fits]
    return agreement, np.nanmean(jaccard, axis=0), [np.mean(s) if s else np.nan for s in stays]


def test_equal_to_the_definitions():
    labels = np.repeat([0, 1, 2, 3], [14, 9, 6, 1])
    X = np.column_stack([labels, np.arange(30)])
    Read.fits.clear()
    result = stability(Read(0), X, n_resamples=6, fraction=0.41, random_state=1)
    (_, whole), *fits = Read.fits
    np.testing.assert_array_equal(result.labels, labels)
    assert [len(rows) for rows, _ in fits] == [12] * 6 and (whole == labels).all()
    assert any(3 not in labels[rows] for rows, _ in fits)  # a cluster that a subsample lacks
    agreement, clusters, samples = defined(labels, fits)
    np.testing.assert_allclose(result.agreement, agreement)
    np.testing.assert_allclose(result.cluster_stability, clusters)
    np.testing.assert_allclose(result.sample_stability, samples)
    assert np.isnan(samples).any() and len(set(samples)) > 4
    mean, least = np.mean(agreement), min(agreement)
    title, head, *rows = str(result).splitlines()[:6]
    assert title == "Stability under 6 subsamples of 41 %" and "Jaccard" in head
    sizes = np.bincount(labels)
    assert rows == [f"  {k:7}  {sizes[k]:7}  {clusters[k]:7.2f}" for k in range(4)]
    words = " ".join(str(result).split())
    assert f"all samples: {mean:.2f} on average, {least:.2f} at least." in words
    assert "<td>" in result._repr_html_() and f"{least:.2f} at least" in result._repr_html_()


def test_seeds_replace_a_random_state_of_none_only():
    for seed, expected in ((None, 6), (3, 1)):
        model = Read(seed).fit(np.eye(10))
        Read.seeds.clear()
        stability(model, np.eye(10), n_resamples=6, random_state=0)
        assert len(Read.seeds) == 6 and len(set(Read.seeds)) == expected
        assert model.random_state is seed and set(map(type, Read.seeds)) == {int}
    Read.seeds.clear()
    stability(Read(), np.eye(10), n_resamples=6, random_state=0)  # also fitted on all samples
    assert len(set(Read.seeds)) == 7


def test_nothing_depends_on_the_number_of_workers(data):
    estimator = KMeans(3, n_init=1, init="random")
    parameters = {"n_resamples": 4, "random_state": 3}
    one, two = (stability(estimator, data, **parameters, n_jobs=n_jobs) for n_jobs in (1, 2))
    for name in ("labels", "agreement", "cluster_stability", "sample_stability"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert not hasattr(estimator, "labels_")


def test_frames_texts_pipelines_and_missing_views_pass_through(data):
    index = [f"id{i}" for i in range(90)]
    X = data.copy()
    X[:5, 4:] = np.nan
    views = {"a": pd.DataFrame(X[:, :4], index), "b": pd.DataFrame(X[:, 4:], index)}
    views["text"] = [f"{'far' if i < 30 else 'near'} away" for i in range(90)]
    steps = {"a": StandardScaler(), "b": StandardScaler(), "text": CountVectorizer()}
    model = make_pipeline(PerView(steps), ConsensusTLRR(2))
    result = stability(model, views, n_resamples=2, random_state=0)
    assert result.ids.tolist() == index and result.agreement.min() > 0.9
    table = result.table().to_frame()
    assert table.columns.tolist() == ["sample", "cluster", "stability"] and len(table) == 90


def test_a_plot_has_a_bar_for_each_cluster_and_a_point_for_each_sample(data):
    result = stability(KMeans(3, n_init=1, random_state=0), data, n_resamples=8, random_state=0)
    ax = result.plot()
    heights = [bar.get_height() for bar in ax.patches]
    np.testing.assert_allclose(heights, result.cluster_stability)
    x, y = ax.lines[0].get_xydata().T
    places = np.searchsorted(result.clusters, result.labels)
    assert (abs(x - places) <= 0.3).all() and len(set(x)) == 90  # points do not cover each other
    np.testing.assert_allclose(y, result.sample_stability, atol=0.3 * 0.05)
    assert ax.get_ylim() == (0, 1.05)


def test_bad_input_is_named(data):
    for fraction in (0, 1, "half"):
        with pytest.raises(ValueError, match="fraction"):
            stability(KMeans(2), data, fraction=fraction)
    with pytest.raises(ValueError, match="n_resamples"):
        stability(KMeans(2), data, n_resamples=0)
    with pytest.raises(ValueError, match="the estimator takes similarities"):
        stability(TLRR(2, affinity="precomputed"), np.ones((1, 90, 90)))
