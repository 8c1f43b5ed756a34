"""Plots show the numbers, what they hide is bounded, and every name is readable."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse

from mvsc_fast.explanation import plot_embedding, plot_similarity
from mvsc_fast.judge import ClusterCounts

COUNTS = ClusterCounts(
    n_clusters=3,
    candidates=(3, 5, 2),
    confidence="low",
    levels=(3, 6),
    counts=np.arange(2, 7),
    criterion=np.array([0.3, 0.9, 0.1, 0.8, 0.2]),
    stability=np.array([0.5, 0.9, 0.7, 0.6, 0.95]),
    predictability=np.array([0.99, 0.98, 0.7, 0.6, 0.9]),
    n_samples=12,
    smallest=np.array([5, 4, 2, 1, 1]),
    sizes=np.array([4, 4, 4]),
)
DRAW = {
    plot_similarity: (np.eye(4), [0, 0, 1, 1]),
    plot_embedding: (np.eye(4), [0, 0, 1, 1]),
    ClusterCounts.plot: (COUNTS,),
}


def texts(artists):
    return [artist.get_text() for artist in artists]


@pytest.mark.parametrize("plot", DRAW, ids=lambda plot: plot.__name__)
def test_every_plot_draws_on_the_axes_it_is_given(plot):
    """Jupyter shows a new picture by itself, as axes or figure, and those of pyplot by pyplot."""
    left, right = plt.subplots(1, 2)[1]
    assert plot(*DRAW[plot], ax=right) is right and not hasattr(right, "_repr_png_")
    assert right.has_data() and not left.has_data()
    plt.close()
    new = plot(*DRAW[plot])
    for shown in (new, new.figure):
        assert shown._repr_png_().startswith(b"\x89PNG")
    assert plt.get_fignums() == []


def test_samples_are_sorted_by_label():
    y = np.array([0, 1, 0, 1])
    ax = plot_similarity((y[:, None] == y).astype(float), y)
    np.testing.assert_array_equal(ax.images[0].get_array(), np.kron(np.eye(2), np.ones((2, 2))))


def test_groups_have_names_and_borders():
    labels = np.repeat(["cat", "dog", "owl"], [2, 3, 4])
    ax = plot_similarity(np.ones((9, 9)), labels)
    for axis in (ax.xaxis, ax.yaxis):
        assert axis.get_ticklocs().tolist() == [0.5, 3.0, 6.5]
        assert texts(axis.get_ticklabels()) == ["cat", "dog", "owl"]
    assert [line.get_xdata()[0] for line in ax.lines[1::2]] == [1.5, 4.5]
    assert texts(plot_similarity(np.eye(16), np.arange(16)).get_xticklabels())[:2] == ["0", "2"]


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_large_affinities_are_means_over_blocks(make):
    rng, labels = np.random.default_rng(0), np.repeat([0, 1, 2], [480, 60, 60])
    A = rng.uniform(size=(600, 600)) * (labels[:, None] == labels)
    order = rng.permutation(600)
    image = plot_similarity(make(A[np.ix_(order, order)]), labels[order]).images[0].get_array()
    assert image.shape == (120, 120)
    np.testing.assert_allclose(image[:96, :96].mean(), A[:480, :480].mean())
    assert not image[:96, 96:].any()
    assert plot_similarity(np.zeros((1, 1)), [0]).images[0].get_clim()[1] == 1.0


def test_a_map_of_two_columns_is_drawn_as_it_is():
    X = np.random.default_rng(0).standard_normal((12, 2))
    ax = plot_embedding(X, np.arange(12) % 3)
    points = np.vstack([points.get_offsets() for points in ax.collections])
    np.testing.assert_array_equal(points, X[np.argsort(np.arange(12) % 3, kind="stable")])
    assert texts(ax.texts) == ["0", "1", "2"]


def test_a_map_shows_more_groups_than_two_directions_can():
    y = np.arange(180) % 9
    embedding = np.eye(9)[y] + 0.02 * np.random.default_rng(0).standard_normal((180, 9))
    ax = plot_embedding(embedding, y)
    points = [np.asarray(group.get_offsets()) for group in ax.collections]
    centres = np.array([group.mean(axis=0) for group in points])
    widths = [np.linalg.norm(group - group.mean(axis=0), axis=1).max() for group in points]
    distances = np.linalg.norm(centres[:, None] - centres, axis=2) + 1e9 * np.eye(9)
    assert distances.min() > 2 * max(widths)
    again = plot_embedding(embedding, y).collections[0].get_offsets()
    np.testing.assert_array_equal(again, points[0])


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_few_samples_and_one_direction_have_a_map(n):
    X = np.random.default_rng(0).standard_normal((n, 3))
    for points in (X[:, :1], X, X * 1e-300, np.ones((n, 3))):
        assert len(plot_embedding(points, np.arange(n)).collections) == n


@pytest.mark.slow
def test_a_map_has_at_most_a_thousand_samples_and_forty_names():
    labels = np.arange(1200) % 41
    X = np.random.default_rng(0).standard_normal((1200, 2))
    assert len(plot_embedding(X, labels).texts) == 0
    assert len(plot_embedding(X, labels % 40).texts) == 40
    ax = plot_embedding(np.column_stack([X, X])[:1001], np.arange(1001) % 2)
    assert [len(group.get_offsets()) for group in ax.collections] == [251, 250]


def test_the_look_of_a_group_is_its_own():
    ax = plot_embedding(np.random.RandomState(0).standard_normal((60, 2)), np.arange(60) // 2)
    colors = [tuple(group.get_facecolor()[0]) for group in ax.collections]
    shapes = [group.get_paths()[0].vertices.tobytes() for group in ax.collections]
    assert len(set(colors)) == 8 and len(set(shapes)) == 10
    assert len(set(zip(colors, shapes, strict=True))) == 30


def test_candidates_and_supported_numbers_of_clusters_are_marked():
    counts = COUNTS.counts.tolist()
    lines = COUNTS.plot().lines
    assert {line.get_label(): line.get_xydata().T.tolist() for line in lines} == {
        "stability": [counts, COUNTS.stability.tolist()],
        "supported: 3, 6": [[3, 6], [0.9, 0.95]],
        "criterion (divided by 2)": [counts, (COUNTS.criterion / 2).tolist()],
        "candidates: 3, 5, 2": [[3, 5, 2], [0.45, 0.4, 0.15]],
        "predictability": [counts, COUNTS.predictability.tolist()],
    }


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"\[3, 4\]"):
        plot_similarity(np.eye(4), [0, 1, 2])
    with pytest.raises(ValueError, match=r"S has shape \(4, 3\), expected"):
        plot_similarity(np.ones((4, 3)), [0, 1, 1, 2])
    with pytest.raises(ValueError, match="embedding contains NaN"):
        plot_embedding([[0.0], [np.nan]], [0, 1])
