import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast.explanation import _plots as plots
from mvsc_fast.explanation import (
    plot_candidates,
    plot_convergence,
    plot_embedding,
    plot_similarity,
)
from mvsc_fast.explanation._plots import COLORS, new_figure

CANDIDATES = {
    "graph": np.array(["unit", "unit", "centred", "centred"]),
    "n_neighbors": np.array([8, 15, 8, 15]),
    "predictability": np.array([0.5, 0.9, 0.7, 0.8]),
    "fused": np.array([False, True, False, True]),
}
DRAW = {
    plot_similarity: (np.eye(4), [0, 0, 1, 1]),
    plot_convergence: ({"one": [1.0, 0.1, 0.0]},),
    plot_embedding: (np.eye(4), [0, 0, 1, 1]),
    plot_candidates: (CANDIDATES,),
}


@pytest.mark.parametrize("plot", DRAW, ids=lambda plot: plot.__name__)
def test_every_plot_draws_on_the_axes_it_is_given(plot, tmp_path):
    left, right = new_figure(columns=2)
    assert plot(*DRAW[plot], ax=right, title="a title") is right
    assert right.get_title() == "a title" and right.has_data() and not left.has_data()
    new = plot(*DRAW[plot])
    assert new.figure is not right.figure
    new.figure.savefig(tmp_path / "plot.png")


def test_samples_are_sorted_by_label():
    y = np.array([0, 1, 0, 1])
    ax = plot_similarity((y[:, None] == y).astype(float), y)
    np.testing.assert_array_equal(ax.images[0].get_array(), np.kron(np.eye(2), np.ones((2, 2))))


def test_ticks_stand_where_a_group_ends():
    labels = np.repeat(["cat", "dog", "owl"], [2, 3, 4])
    ax = plot_similarity(np.ones((9, 9)), labels, groups="true")
    for axis in (ax.xaxis, ax.yaxis):
        assert axis.get_ticklocs().tolist() == [1.5, 4.5]
        assert axis.get_ticklocs(minor=True).tolist() == [0.5, 3.0, 6.5]
        assert [t.get_text() for t in axis.get_ticklabels(minor=True)] == ["cat", "dog", "owl"]
        assert axis.get_label_text() == "samples by true group"


def test_long_names_of_groups_stand_upright():
    labels = np.repeat(["a rather long name", "another long name", "c"], 2)
    ax = plot_similarity(np.eye(6).tolist(), labels)
    assert {t.get_rotation() for t in ax.xaxis.get_ticklabels(minor=True)} == {90.0}
    assert {t.get_rotation() for t in ax.yaxis.get_ticklabels(minor=True)} == {0.0}


def test_labels_are_called_found_unless_they_are_said_to_be_true():
    assert "found" in plot_similarity(np.eye(2), [0, 1]).get_xlabel()
    assert "found" in plot_embedding(np.eye(2), [0, 1]).get_xlabel()
    assert "true" in plot_embedding(np.eye(2), [0, 1], groups="true").get_xlabel()


@pytest.mark.parametrize(("count", "named"), [(15, True), (16, False)])
def test_many_groups_have_no_names(count, named):
    ax = plot_similarity(np.eye(count), np.arange(count))
    assert len(ax.get_xticks()) == count - 1 and len(ax.lines) == 2 * (count - 1)
    assert (len(ax.get_xticks(minor=True)) == count) == named
    legend = plot_embedding(np.eye(count), np.arange(count)).get_legend()
    assert (legend is not None) == named


def test_names_are_small_if_there_are_more_than_ten_and_turned_if_they_are_long():
    def looks(names):
        ticks = plot_similarity(np.eye(len(names)), names).xaxis.get_minor_ticks()
        return {(t.label1.get_fontsize(), t.label1.get_rotation()) for t in ticks}

    assert looks([f"{k:03}" for k in range(10)]) == {(10.0, 0.0)}  # 30 letters
    ((size, turned),) = looks([f"{k:02}" for k in range(11)])
    assert size < 7 and turned == 0
    assert looks(["a" * 15, "b" * 16]) == {(10.0, 90.0)}


@pytest.mark.parametrize("n, shown", [(20, 20), (21, 11), (50, 17)])
def test_large_and_sparse_affinities_are_thinned(n, shown, monkeypatch):
    monkeypatch.setattr(plots, "PLOTTED_ROWS", 20)
    labels = np.arange(n) % 3
    A = scipy.sparse.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, n))
    order = np.argsort(labels, kind="stable")[:: -(-n // 20)]
    image = A.toarray()[order][:, order]
    np.testing.assert_array_equal(plot_similarity(A, labels).images[0].get_array(), image)
    assert image.shape == (shown, shown)


def test_neither_traces_nor_a_few_large_entries_hide_the_structure():
    y = np.repeat(np.arange(4), 10)
    blocks = (y[:, None] == y).astype(float)
    for S in (blocks, blocks + 1e-5, blocks + 100 * np.eye(40)[::-1] * (y[:, None] == 0)):
        assert 0.9 < plot_similarity(S, y).images[0].get_clim()[1] < 1.1
    few = np.roll(np.eye(40), 1, axis=1) * 0.3  # one neighbour each
    assert plot_similarity(few, y).images[0].get_clim()[1] == pytest.approx(0.3)
    assert plot_similarity(np.zeros((1, 1)), [0]).images[0].get_clim()[1] == 1.0


def test_the_fused_labellings_are_marked():
    ax = plot_candidates(CANDIDATES)
    (marked,) = [line for line in ax.lines if line.get_label() == "fused"]
    np.testing.assert_array_equal(marked.get_xydata(), [[15, 0.9], [15, 0.8]])
    assert marked.get_color() == COLORS[3]


def test_candidates_of_each_graph_have_their_own_look():
    ax = plot_candidates(CANDIDATES, title="a title")
    points = {line.get_label(): line.get_xydata().tolist() for line in ax.lines[:-1]}
    centred, unit = [[8, 0.7], [15, 0.8]], [[8, 0.5], [15, 0.9]]
    assert points == {"graphs of centred rows": centred, "graphs of unit rows": unit}
    assert len({(line.get_color(), line.get_marker()) for line in ax.lines[:-1]}) == 2
    assert [text.get_text() for text in ax.get_xticklabels()] == ["8", "15"]


def test_curves_differ_by_more_than_color():
    curves = {str(i): [1.0, 0.5] for i in range(80)}
    *lines, tol = plot_convergence(curves, tol=0.125).lines
    assert tol.get_color() == COLORS[-1] and lines[0].get_color() == COLORS[0]
    assert len(lines) == 80 and tol.get_label() == "tol 0.125" and tol.get_ydata()[0] == 0.125
    looks = {(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines}
    assert len(looks) == 80 and len({line.get_marker() for line in lines[:10]}) == 10
    assert len({line.get_color() for line in lines[:8]}) == 8
    assert [line.get_linestyle() for line in lines[7::8][:4]] == ["-", "--", "-.", "-"]


def test_residuals_are_drawn_at_their_iterations():
    ax = plot_convergence({"a": [1.0, 0.0, 0.25], "b": np.ones(24)}, title="a title")
    short, long = ax.lines
    np.testing.assert_array_equal(short.get_xydata(), [[1, 1], [2, np.nan], [3, 0.25]])
    assert long.get_xdata().tolist() == list(range(1, 25))
    assert (short.get_markevery(), long.get_markevery()) == (1, 3)
    assert ax.get_yscale() == "log" and ax.get_xlabel() == "iteration"


def test_an_embedding_is_drawn_in_its_widest_directions():
    wide = np.zeros((6, 3))
    wide[:, 2] = np.arange(6)
    wide[[0, 5], 0] = 0.5  # not correlated
    ax = plot_embedding(wide, np.arange(6) % 2)
    points = np.vstack([c.get_offsets() for c in ax.collections])
    assert np.ptp(points[:, 0]) == pytest.approx(5.0, abs=0.1)
    assert np.ptp(points[:, 1]) == pytest.approx(0.5, abs=0.1)
    assert len(plot_embedding(np.ones((3, 1)), [0, 1, 1]).collections) == 2  # one direction


def test_an_embedding_is_laid_out_by_umap(monkeypatch):
    class UMAP:
        def __init__(self, **parameters):
            assert parameters == {"random_state": 0, "n_jobs": 1}

        fit_transform = staticmethod(lambda X: 2 * X[:, :2])

    monkeypatch.setitem(sys.modules, "umap", SimpleNamespace(UMAP=UMAP))
    X = np.arange(12.0).reshape(4, 3)
    ax = plot_embedding(X, [0, 0, 1, 1], method="umap")
    np.testing.assert_array_equal(
        np.vstack([c.get_offsets() for c in ax.collections]), 2 * X[:, :2]
    )
    assert ax.get_ylabel() == "second UMAP coordinate"
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match='method="umap" needs umap: pip install umap-learn'):
        plot_embedding(X, [0, 0, 1, 1], method="umap")


def test_the_look_of_a_group_is_its_own():
    ax = plot_embedding(np.random.RandomState(0).standard_normal((60, 2)), np.arange(60) // 2)
    colors = [tuple(c.get_facecolor()[0]) for c in ax.collections]
    shapes = [c.get_paths()[0].vertices.tobytes() for c in ax.collections]
    assert len(set(colors)) == 8 and len(set(shapes)) == 10
    assert len(set(zip(colors, shapes, strict=True))) == 30
    assert [len(c.get_offsets()) for c in ax.collections] == [2] * 30


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"labels have shape \(3,\), expected \(4,\)"):
        plot_similarity(np.eye(4), [0, 1, 2])
    with pytest.raises(ValueError, match=r"S has shape \(4, 3\), expected"):
        plot_similarity(np.ones((4, 3)), [0, 1, 1, 2])
    for given in ([1.0, 0.1], {}):
        with pytest.raises(ValueError, match="residuals need names"):
            plot_convergence(given)
    with pytest.raises(ValueError, match="method must be one of 'principal', 'umap', got 'tsne'"):
        plot_embedding(np.eye(2), [0, 1], method="tsne")
    with pytest.raises(ValueError, match="embedding contains NaN"):
        plot_embedding([[0.0], [np.nan]], [0, 1])
    with pytest.raises(ValueError, match="p.XYZ: plots can be saved as .*png.*, not 'xyz'"):
        plots.check_picture("p.XYZ")
    with pytest.raises(ValueError, match="not ''"):
        plots.check_picture("png")
    assert plots.check_picture("folder.x/p.PNG") is None
