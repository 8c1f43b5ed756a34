"""Markers agree with means and pooled deviations, feature by feature, and are drawn."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mvsc_fast import TLRR, ConsensusTLRR, explain, similarity
from mvsc_fast.explanation import Table, markers, plot_markers
from mvsc_fast.preprocessing import ViewSplitter


@pytest.fixture(scope="module")
def data():
    """Counts in three clusters, two of which differ in a feature; a row and cells are missing."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([10, 20, 30], [12, 20, 28]))
    counts = rng.poisson(2, (60, 5)).astype(float)
    counts[y == 10, 1] += 6
    counts[:, 4] = 0.1  # the mean of which is rounded
    reals = rng.standard_normal((60, 3))
    reals[y == 20, 0] -= 4
    reals[7] = reals[:9, 2] = np.nan
    model = KMeans(3, n_init=1, random_state=0).fit(counts)
    model.labels_ = y
    index = [f"id{i}" for i in range(60)]
    frame = pd.DataFrame(reals, index=index, columns=["x", "y$", "z"])
    return model, {"counts": pd.DataFrame(counts, index=index), "reals": frame}


def test_every_row_agrees_with_its_definition(data):
    model, views = data
    table = markers(model, views).to_frame()
    assert table.shape == (3 * 8, 6) and not table.isna().any(axis=None)
    for row in table.itertuples():
        X = views[row.view]
        x = X.iloc[:, row.feature] if row.view == "counts" else X[row.feature]
        own = x[model.labels_ == row.cluster].dropna()
        others = x[model.labels_ != row.cluster].dropna()
        assert row.mean == pytest.approx(own.mean()) and row.overall == pytest.approx(x.mean())
        if x.nunique() == 1:
            assert row.effect == 0
            continue
        squares = sum(part.var(ddof=0) * len(part) for part in (own, others))
        pooled = squares / (len(own) + len(others) - 2)
        assert row.effect == pytest.approx((own.mean() - others.mean()) / np.sqrt(pooled))


@pytest.mark.filterwarnings("ignore:the labels agree little")
def test_a_pipeline_names_the_features_of_its_last_step(data):
    texts = [f"{'one word' if i < 20 else 'the other'} and more" for i in range(60)]
    frame = data[1]["counts"].add_prefix("f").assign(text=texts)
    numbers = make_column_transformer((StandardScaler(), [f"f{j}" for j in range(5)]))
    words = make_column_transformer((TfidfVectorizer(), "text"), verbose_feature_names_out=False)
    steps = ViewSplitter({"counts": numbers, "texts": words})
    model = make_pipeline(steps, ConsensusTLRR(2, random_state=0)).fit(frame)
    assert explain(model, frame).title == "ConsensusTLRR: 60 samples in 2 clusters, 2 views"
    table = markers(model, frame, n_top=None).to_frame()
    found = table[table["cluster"] == 0].groupby("view")["feature"].agg(sorted)
    assert found["texts"] == ["and", "more", "one", "other", "the", "word"]
    assert found["counts"] == [f"standardscaler__f{j}" for j in range(5)]


def test_features_that_set_clusters_apart_are_first(data):
    table = markers(*data)
    first = np.unique(table["cluster"], return_index=True)[1]
    assert table["cluster"][first].tolist() == [10, 20, 30]
    assert table["feature"][first[:2]].tolist() == [1, "x"]
    assert table["effect"][first[0]] > 2 and table["effect"][first[1]] < -2


def test_a_feature_that_is_a_cluster_differs_without_bounds(data):
    table = markers(data[0], [np.c_[data[0].labels_ == 20, np.arange(60)]])
    assert table.to_frame().query("effect > 9")[["cluster", "effect"]].values.tolist() == [
        [20, np.inf]
    ]
    assert np.count_nonzero(table["mean"]) == 6 - 2
    plot_markers(table)


def test_only_the_best_features_of_each_view_are_kept(data):
    whole, best = (markers(*data, n_top=n_top).to_frame() for n_top in (None, 1))
    assert len(whole) == 3 * 8
    first = whole.groupby(["cluster", "view"]).head(1)
    chosen = set(zip(first["view"], first["feature"], strict=True))
    assert 2 <= len(chosen) <= 3 * 2 and len(best) == 3 * len(chosen)
    kept = [pair in chosen for pair in zip(whole["view"], whole["feature"], strict=True)]
    pd.testing.assert_frame_equal(best, whole[kept].reset_index(drop=True))
    plots = [plot_markers(markers(*data, n_top=n_top), n_top=1) for n_top in (None, 1)]
    np.testing.assert_array_equal(*[ax.images[0].get_array() for ax in plots])
    with pytest.raises(ValueError, match="n_top"):
        markers(*data, n_top=0)


def test_blocks_and_sparse_views_change_nothing(data, monkeypatch):
    model, views = data
    whole = markers(model, views)
    monkeypatch.setattr("mvsc_fast.explanation._markers.MAX_ENTRIES", 120)
    named = {"counts": scipy.sparse.csr_array(views["counts"].to_numpy()), "reals": views["reals"]}
    parts = markers(model, named)
    for name in ("mean", "overall", "effect"):
        np.testing.assert_allclose(parts[name], whole[name], atol=1e-12)


def test_a_cluster_without_a_view_is_unknown_there(data):
    model, views = data
    X = views["reals"].copy()
    X[model.labels_ == 30] = np.nan
    table = markers(model, {"counts": views["counts"], "reals": X}).to_frame()
    unknown = table[(table["cluster"] == 30) & (table["view"] == "reals")]
    assert unknown["effect"].isna().all() and table["effect"].notna().sum() == 24 - 3
    plot_markers(markers(model, {"counts": views["counts"], "reals": X}))


@pytest.mark.parametrize("power", [-700, 700, 1000])
def test_no_result_depends_on_the_unit(data, power):
    model, views = data
    scaled = {name: X * 2.0**power for name, X in views.items()}
    np.testing.assert_allclose(markers(model, scaled)["effect"], markers(model, views)["effect"])


def test_effects_are_drawn_in_the_row_of_their_feature():
    columns = {"cluster": np.array([3, 3, 8, 8]), "view": np.zeros(4, dtype=int)}
    columns["feature"] = np.array(["a$", "b", "b", "a$"], dtype=object)
    table = Table({**columns, "effect": np.array([9.0, -0.5, 0.25, np.nan])})
    ax = plot_markers(table, n_top=2)
    np.testing.assert_array_equal(ax.images[0].get_array().filled(7), [[4, 7], [-0.5, 0.25]])
    names = plot_markers(table, n_top=1).get_yticklabels()
    assert [text.get_text() for text in names] == [r"a\$ (0)", "b (0)"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["3", "8"]


def test_what_has_no_markers_is_refused(data):
    model, views = data
    W = similarity.nearest_neighbors([views["counts"]], n_neighbors=10)
    fitted = TLRR(2, affinity="precomputed", random_state=0).fit(W)
    with pytest.raises(ValueError, match="markers .*pass the views"):
        markers(fitted, W)
    with pytest.raises(ValueError, match="only one cluster"):
        markers(KMeans(1).fit(views["counts"]), [views["counts"]])
