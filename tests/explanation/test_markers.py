"""Markers agree with SciPy's tests, profiles with means, feature by feature, and are drawn."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from matplotlib.figure import Figure
from scipy.stats import false_discovery_control, mannwhitneyu
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from mvsc_fast import TLRR, ConsensusTLRR, explain, similarity
from mvsc_fast.explanation import Table, markers, plot_markers
from mvsc_fast.preprocessing import FrameEncoder, PerView


@pytest.fixture(scope="module")
def data():
    """Counts with many ties in clusters 10 and 20, of which two features differ; a lacking row."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([10, 20, 30], [12, 20, 28]))
    counts = rng.poisson(2, (60, 5)).astype(float)
    counts[y == 10, 1] += 6
    counts[:, 4] = 7
    reals = rng.standard_normal((60, 3))
    reals[y == 20, 0] -= 4
    reals[7] = np.nan
    model = KMeans(3, n_init=1, random_state=0).fit(counts)
    model.labels_ = y
    index = [f"id{i}" for i in range(60)]
    frame = pd.DataFrame(reals, index=index, columns=["x", "y$", "z"])
    return model, {"counts": pd.DataFrame(counts, index=index), "reals": frame}


def test_every_row_agrees_with_scipy(data):
    model, views = data
    table = markers(model, views).to_frame()
    assert table.shape == (3 * 8, 7) and not table.isna().any(axis=None)
    for row in table.itertuples():
        X = views[row.view]
        x = X.iloc[:, row.feature] if row.view == "counts" else X[row.feature]
        own = x[model.labels_ == row.cluster].dropna()
        others = x[model.labels_ != row.cluster].dropna()
        if x.nunique() == 1:
            assert (row.effect, row.auc, row.p) == (0, 0.5, 1)
            continue
        test = mannwhitneyu(own, others, method="asymptotic")
        assert row.p == pytest.approx(test.pvalue)
        assert row.auc == pytest.approx(test.statistic / (len(own) * len(others)))
        squares = sum(part.var(ddof=0) * len(part) for part in (own, others))
        pooled = squares / (len(own) + len(others) - 2)
        assert row.effect == pytest.approx((own.mean() - others.mean()) / np.sqrt(pooled))
    np.testing.assert_allclose(table["q"], false_discovery_control(table["p"]))


@pytest.mark.parametrize("known", [True, False])
def test_a_pipeline_names_the_features_of_its_last_step(data, known):
    texts = [f"{'one word' if i < 20 else 'the other'} and more" for i in range(60)]
    views = {"counts": data[1]["counts"], "texts": texts}
    steps = {"counts": PCA(4) if known else FunctionTransformer(), "texts": TfidfVectorizer()}
    model = make_pipeline(PerView(steps), ConsensusTLRR(2, random_state=0)).fit(views)
    table = markers(model, views, n_top=None).to_frame()
    found = table[table["cluster"] == 0].groupby("view")["feature"].agg(sorted)
    words = ["and", "more", "one", "other", "the", "word"]
    assert found["texts"] == (words if known else list(range(6)))
    assert found["counts"] == ([f"pca{i}" for i in range(4)] if known else list(range(5)))


def test_features_that_set_clusters_apart_are_first(data):
    table = markers(*data)
    first = np.unique(table["cluster"], return_index=True)[1]
    assert table["cluster"][first].tolist() == [10, 20, 30]
    assert table["feature"][first[:2]].tolist() == [1, "x"]
    assert table["effect"][first[0]] > 2 and table["effect"][first[1]] < -2
    lines = repr(table).splitlines()
    assert lines[1 + 3 * 3] == "  ... 15 more rows"
    note = " ".join(map(str.strip, lines[2 + 3 * 3 :]))
    assert "not significance tests" in note and max(map(len, lines)) < 80


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
    assert "more rows" not in repr(markers(*data, n_top=1))
    with pytest.raises(ValueError, match="n_top"):
        markers(*data, n_top=0)


def test_blocks_and_sparse_views_change_nothing(data, monkeypatch):
    model, views = data
    whole = markers(model, views)
    monkeypatch.setattr("mvsc_fast.explanation._markers.MAX_RANKED_ENTRIES", 120)
    named = {"counts": scipy.sparse.csr_array(views["counts"].to_numpy()), "reals": views["reals"]}
    parts = markers(model, named)
    for name in ("effect", "auc", "p", "q"):
        np.testing.assert_allclose(parts[name], whole[name])


def test_a_cluster_without_a_view_is_unknown_there_and_missing_cells_are_filled(data):
    model, views = data
    X = views["reals"].copy()
    X[model.labels_ == 30] = np.nan
    table = markers(model, {"counts": views["counts"], "reals": X}).to_frame()
    unknown = table[(table["cluster"] == 30) & (table["view"] == "reals")]
    assert unknown[["effect", "auc", "p", "q"]].isna().all(axis=None)
    assert table["p"].notna().sum() == 24 - 3
    plot_markers(markers(model, {"counts": views["counts"], "reals": X}))
    filled = {**views, "counts": views["counts"].mask(np.eye(60, 5, dtype=bool))}
    assert not np.isnan(markers(model, filled)["effect"]).any()


@pytest.mark.parametrize("power", [-700, 700, 1000])
def test_no_result_depends_on_the_unit(data, power):
    model, views = data
    scaled = {name: X * 2.0**power for name, X in views.items()}
    table, expected = markers(model, scaled), markers(model, views)
    for name in ("feature", "effect", "auc", "p", "q"):
        np.testing.assert_array_equal(table[name], expected[name])


def test_small_values_are_ranked_beside_large_ones(data):
    model, views = data
    x = np.where(model.labels_ == 10, np.arange(60) * 1e-300, -1e300)
    x[0] = 1e300
    row = markers(model, [x[:, None]]).to_frame().iloc[0]
    own, others = x[model.labels_ == 10], x[model.labels_ != 10]
    assert row.p == pytest.approx(mannwhitneyu(own, others, method="asymptotic").pvalue)
    assert np.isfinite(row.effect)


def test_the_heat_map_has_the_rows_that_fit(data):
    def n_rows(table, **parameters):
        return len(plot_markers(table, **parameters).images[0].get_array())

    table = markers(*data)
    for n_top, most in ((0, 3), (2, 6), (99, 8)):
        assert n_rows(table, n_top=n_top) <= most
    small = Figure(figsize=(3, 1)).subplots()
    assert n_rows(table, ax=small) <= 1 / 0.15 < n_rows(table)
    heights = [plot_markers(table, n_top=n_top).figure.get_figheight() for n_top in (1, 5)]
    assert heights[0] < heights[1]
    y = np.arange(100) % 50
    X = 10.0 * np.eye(50)[y] + np.random.RandomState(0).standard_normal((100, 50))
    model = KMeans(2, n_init=1).fit(X)
    model.labels_ = y % 9
    assert n_rows(markers(model, [X]), n_top=9) <= 9 * (40 // 9)
    model.labels_ = y  # more than can be named
    ax = plot_markers(markers(model, [X]), n_top=9)
    assert len(ax.images[0].get_array()) == 50 and len(ax.get_yticks()) == 25


def test_effects_are_drawn_in_the_row_of_their_feature():
    columns = {"cluster": np.array([3, 3, 8, 8]), "view": np.zeros(4, dtype=int)}
    columns["feature"] = np.array(["a$", "b", "b", "a$"], dtype=object)
    table = Table({**columns, "effect": np.array([9.0, -0.5, 0.25, np.nan])})
    ax = plot_markers(table, n_top=2)
    np.testing.assert_array_equal(ax.images[0].get_array().filled(7), [[9, 7], [-0.5, 0.25]])
    for n_top in (1, 2):  # each is the first marker of a cluster
        names = plot_markers(table, n_top=n_top).get_yticklabels()
        assert [text.get_text() for text in names] == [r"a\$ (0)", "b (0)"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["3", "8"]
    assert ax.images[0].get_clim() == (-4, 4)
    small = Table({**table, "effect": table["effect"] / 10})
    assert plot_markers(small).images[0].get_clim() == (-0.9, 0.9)
    infinite = plot_markers(Table({**table, "effect": np.array([np.inf, -np.inf, 1, -1])}))
    infinite.figure.canvas.draw()
    np.testing.assert_array_equal(infinite.images[0].get_array(), [[1, -1], [-1, 1]])
    none = Table({**table, "effect": np.zeros(4)})
    assert plot_markers(none).images[0].get_clim() == (-1e-9, 1e-9)


def test_long_names_of_features_are_cut():
    features = np.array(["a" * 22, "b" * 23, "c" * 28, "d" * 29], dtype=object)
    columns = {"cluster": np.zeros(4), "view": np.full(4, "rna"), "effect": np.arange(4.0)}
    ax = plot_markers(Table({**columns, "feature": features}))
    texts = [text.get_text() for text in ax.get_yticklabels()]
    assert texts == ["a" * 22 + " (rna)", "b" * 23, "c" * 28, "d" * 25 + "..."]


def test_what_has_no_markers_is_refused(data):
    model, views = data
    W = similarity.nearest_neighbors([views["counts"]], n_neighbors=10)
    fitted = TLRR(2, affinity="precomputed", random_state=0).fit(W)
    with pytest.raises(ValueError, match="markers .*pass the views"):
        markers(fitted, W)
    with pytest.raises(ValueError, match="only one cluster"):
        markers(KMeans(1).fit(views["counts"]), [views["counts"]])


# ------------------------------------------------------------------ profiles


@pytest.fixture(scope="module")
def customers():
    """Tables as users have them, in a pipeline that scales and encodes them, and texts."""
    rng = np.random.default_rng(0)
    y, ids = rng.permutation(np.arange(120) % 3), [f"C{i:03d}" for i in range(120)]
    people = pd.DataFrame(
        {
            "age": 30.0 + 12 * y + rng.normal(0, 3, 120),
            "member": y == 1,
            "region": np.array(["west", "east", "shop"])[y],
            "name": ids,
            "since": pd.Timestamp("2026-01-01"),
        },
        index=ids,
    )
    people.loc[ids[4], ["age", "region"]] = [np.nan, None]
    visits = pd.DataFrame(rng.poisson(4 + 5 * np.eye(3)[y]), index=ids, columns=["a", "b", "c"])
    words = np.array(["price", "quality", "delivery"])
    texts = [" ".join(np.append(words[[k, k]], rng.choice(words, 3))) for k in y]
    views = {"people": people, "visits": visits, "texts": texts}
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "member"]),
        (OneHotEncoder(), ["region"]),
    )
    steps = {"people": columns, "visits": StandardScaler(), "texts": TfidfVectorizer()}
    return make_pipeline(PerView(steps), ConsensusTLRR(3, random_state=0)).fit(views), views, y


def test_profiles_are_means_and_shares_in_the_units_of_the_tables(customers):
    model, views, _ = customers
    profiles = explain(model, views).profiles.to_frame()
    kinds = profiles.groupby("feature")["measure"].first()
    assert kinds["age"] == "mean" and kinds["member"] == "share"
    assert kinds["texts has 'price'"] == "word"
    assert kinds["region = shop"] == "category" and "name" not in " ".join(kinds.index)
    table = views["people"]
    shop = (table["region"] == "shop").astype(float).mask(table["region"].isna())
    columns = {"age": table["age"], "member": table["member"], "region = shop": shop}
    columns["texts has 'price'"] = pd.Series(views["texts"], table.index).str.contains("price")
    labels = model[-1].labels_
    for feature, column in (columns | dict(views["visits"].items())).items():
        column = column.astype(float)
        for row in profiles[profiles["feature"] == feature].itertuples():
            inside, others = column[labels == row.cluster], column[labels != row.cluster]
            assert row.value == pytest.approx(inside.mean())
            assert row.overall == pytest.approx(column.mean())
            degrees = column.count() - 2
            squares = sum(part.var(ddof=0) * part.count() for part in (inside, others))
            if squares > 0:
                expected = (inside.mean() - others.mean()) / np.sqrt(squares / degrees)
                assert row.effect == pytest.approx(expected)


def test_profiles_in_words_name_what_is_typical(customers):
    model, views, y = customers
    told = explain(model, views)
    (part,) = [part for part in told.findings if part.title.startswith("Profiles")]
    of_cluster = dict(zip(part.table["cluster"], part.table["differs most in"], strict=True))
    shop = np.bincount(model[-1].labels_[y == 2]).argmax()
    assert re.search(r"region = shop 100 % \(3\d %", of_cluster[shop])
    assert not any("region = shop" in text for k, text in of_cluster.items() if k != shop)
    assert all(text.count("region = ") <= 1 for text in of_cluster.values())
    (draw,) = part.pictures.values()
    assert draw().images[0].get_array().shape[1] == 3
    assert re.search(r"member 100 % \(\d+ %, beyond \+10\)", str(told))


def test_profiles_of_a_table_have_the_words_of_its_texts(customers):
    _, views, _ = customers
    table = views["people"][["age"]].ffill().assign(review=views["texts"])
    table.loc[table.index[:9], "review"] = ""
    encoder = FrameEncoder({"person": ["age"], "text": ["review"]})
    model = make_pipeline(encoder, ConsensusTLRR(3, random_state=0)).fit(table)
    told = explain(model, table)
    profiles = told.profiles.to_frame()
    words = profiles[profiles["feature"] == "text has 'price'"].set_index("cluster")
    has_word = table["review"].str.contains("price")[table["review"] != ""]
    shares = has_word.groupby(pd.Series(model[-1].labels_, table.index)).mean()
    np.testing.assert_allclose(words["value"].sort_index(), shares)
    (part,) = [part for part in told.findings if part.title.startswith("Profiles")]
    texts = dict(zip(part.table["cluster"], part.table["differs most in"], strict=True))
    of_price = texts.pop(shares.idxmax())
    assert "text has 'price' 100 % (" in of_price and "age " in of_price
    assert not any("'price'" in text for text in texts.values())


def test_means_of_standardised_columns_are_zero():
    X = StandardScaler().fit_transform(np.random.RandomState(0).gamma(2, size=(90, 3)))
    profiles = explain(KMeans(3, n_init=1, random_state=0).fit(X), [X]).profiles
    assert abs(X.mean(axis=0)).max() > 0 and not profiles["overall"].any()


def test_sparse_views_and_missing_rows_have_profiles_of_the_samples_that_have_them(data):
    model, views = data
    table = explain(model, views).profiles.to_frame()
    sparse = {"counts": scipy.sparse.csr_array(views["counts"].to_numpy())}
    other = explain(model, {**sparse, "reals": views["reals"]}).profiles.to_frame()
    np.testing.assert_allclose(other["value"], table["value"])
    reals = views["reals"].assign(cluster=model.labels_).groupby("cluster")["x"].mean()
    rows = table[table["feature"] == "x"].set_index("cluster")["value"].sort_index()
    np.testing.assert_allclose(rows, reals)


def test_a_constant_column_differs_in_no_cluster():
    """0.1 is no short binary fraction, so that its mean is rounded."""
    y = np.repeat([0, 1, 2], 50)
    X = np.column_stack([y + np.random.RandomState(0).standard_normal(150), np.full(150, 0.1)])
    model = KMeans(3, n_init=1, random_state=0).fit(X)
    profiles = explain(model, [X]).profiles
    assert not np.nan_to_num(profiles["effect"][profiles["feature"] == 1]).any()


def test_tables_of_arrow_have_profiles_and_passed_steps_none(tmp_path):
    pytest.importorskip("pyarrow")
    y, rng = np.repeat([0, 1], 30), np.random.RandomState(0)
    table = pd.DataFrame(5 * y[:, None] + rng.standard_normal((60, 4)), columns=list("abcd"))
    arrow = table.astype("double[pyarrow]")
    pipeline = make_pipeline("passthrough", ConsensusTLRR(2, random_state=0)).fit(table)
    expected = explain(pipeline, table).profiles
    found = explain(pipeline, arrow).profiles
    assert set(found["feature"]) == set("abcd")
    np.testing.assert_allclose(found["effect"], expected["effect"])


def test_the_largest_effect_of_a_name_is_drawn():
    columns = {"cluster": np.zeros(2, int), "view": np.zeros(2, int)}
    columns["feature"] = np.array(["g", "g"], dtype=object)
    (image,) = plot_markers(Table({**columns, "effect": np.array([3.0, 0.1])})).images
    assert image.get_array()[0, 0] == 3
