"""Tables become views, and views are transformed each by its own, inside pipelines."""

import pickle
import re

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import memory_map
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, PowerTransformer, StandardScaler

from mvsc_fast import ConsensusTLRR, metrics
from mvsc_fast.preprocessing import PerView, ViewSplitter

TABLE = np.arange(12.0).reshape(3, 4)
TEXTS = ["red or green", "green", "blue", "red and blue"]


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture
def frame():
    numbers = {"col_red": [1, 2, 3], "size": [4, 5, 6], "col_blue": [7, 8, 9]}
    return pd.DataFrame({"id": ["p", "q", "r"], **numbers})


def joined():
    """Two views of columns in standard units, and three clusters."""
    return make_pipeline(
        ViewSplitter([slice(6), slice(6, 13)]),
        PerView([StandardScaler(), PCA(n_components=4, whiten=True)]),
        ConsensusTLRR(3, random_state=0),
    )


# ------------------------------------------------------------------ splitting a table


SLICES = [(slice(1, 3), [1, 2]), (slice(None, None, -2), [3, 1])]
POSITIONS = [(np.array([3, 0]), [3, 0]), (-1, [3]), ([-4, np.int8(2)], [0, 2])]


@pytest.mark.parametrize(("columns", "expected"), SLICES + POSITIONS)
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.coo_array, da.from_array])
def test_columns_by_position(columns, expected, form):
    splitter = ViewSplitter([columns, [1]]).fit(form(TABLE))
    view = splitter.transform(form(TABLE))[0]
    view = view.toarray() if scipy.sparse.issparse(view) else view
    np.testing.assert_array_equal(view, TABLE[:, expected])
    assert splitter.columns_[0].tolist() == expected
    assert splitter.unused_.tolist() == sorted({0, 2, 3} - set(expected))
    assert splitter.get_feature_names_out()[0].tolist() == [f"x{j}" for j in expected]


def test_columns_by_name_and_by_the_beginning_of_the_name(frame):
    splitter = ViewSplitter({"colour": "col_", "all": ["size", "col_red"]})
    views = splitter.fit_transform(frame)
    assert list(views["colour"]) == ["col_red", "col_blue"]
    assert splitter.get_feature_names_out()["all"].tolist() == ["size", "col_red"]
    assert splitter.unused_.tolist() == [0]
    other = frame[["col_blue", "size", "col_red"]].assign(more=0)
    for name, view in splitter.transform(other).items():
        assert view.equals(views[name])
    pa = pytest.importorskip("pyarrow")
    for name, view in splitter.transform(pa.Table.from_pandas(frame)).items():
        assert view.equals(views[name])
    with pytest.raises(ValueError, match="X: there is no column 'size'"):
        splitter.transform(frame.drop(columns="size"))


@pytest.mark.parametrize(
    "views, message",
    [
        ([[-5]], r"view 0: there is no column -5, the table has 4"),
        ([[3, 0, -1]], "view 0 has column 3 twice"),
        ([[True, 2]], "view 0: a column must .*, got True"),
        ({"a": slice(4, None)}, "view 'a' has none of the 4 columns"),
        ({"a": slice("n", "m")}, "view 'a': .*'n'.* is not a slice of positions"),
        ([[1.5]], "view 0: a column must .*, got 1.5"),
        ([["size"]], "view 0: .*'size'"),
        ({}, "views must be a dict or a list"),
        ("col_", "views must be a dict or a list"),
    ],
)
def test_what_is_wrong_with_columns_is_said(views, message):
    with pytest.raises(ValueError, match=message):
        ViewSplitter(views).fit(TABLE)


def test_unknown_names_are_compared_with_those_there(frame):
    for views, message in (
        ({"shape": ["sise"]}, "view 'shape': there is no column 'sise'; the table has 'size', ..."),
        ({"c": "col_r_"}, "no column begins with 'col_r_'; the table has 'col_red', ..."),
        ({"t": "tx_"}, "begins with 'tx_'; the table has 'id', 'col_red', 'size', ..."),
    ):
        with pytest.raises(ValueError, match=f"{re.escape(message)}$"):
            ViewSplitter(views).fit(frame)
    twice = frame.set_axis(["a", "b", "b", "c"], axis=1)
    with pytest.raises(ValueError, match="view 0: 2 columns are called 'b'"):
        ViewSplitter([["a", "b"]]).fit(twice)


def test_names_that_are_not_text_are_no_names(frame):
    with pytest.raises(ValueError, match="no names: pass positions, not 'a'"):
        ViewSplitter([["a"]]).fit(frame.set_axis(["a", "b", 7, "c"], axis=1))
    numbered = frame.set_axis(range(4), axis=1)
    splitter = ViewSplitter([[2, 1]]).fit(numbered)
    assert splitter.transform(numbered)[0].to_numpy().tolist() == [[4, 1], [5, 2], [6, 3]]
    with pytest.warns(UserWarning, match="ViewSplitter was fitted without feature names"):
        assert list(splitter.transform(frame)[0]) == ["size", "col_red"]


def test_another_table_is_refused():
    with pytest.raises(ValueError, match="4 features"):
        ViewSplitter([[0]]).fit(TABLE).transform(TABLE[:, :3])
    with pytest.raises(NotFittedError):
        ViewSplitter([[0]]).transform(TABLE)
    with pytest.raises(ValueError, match=r"X has shape \(4,\)"):
        ViewSplitter([[0]]).fit(TABLE[0])
    with pytest.raises(ValueError, match="list of views.*single table"):
        ViewSplitter([[0], [1]]).fit([TABLE, TABLE[:, :1]])


# ------------------------------------------------------------------ transforming views


def test_every_view_has_its_transformer():
    views = {"a": TABLE, "b": TABLE + 1, "c": ["some text", "more text", "text"]}
    steps = {"c": TfidfVectorizer(), "a": StandardScaler(), "b": None}
    per_view = PerView(steps)
    outputs = per_view.fit_transform(views)
    np.testing.assert_allclose(outputs["a"].std(axis=0), 1)
    assert outputs["b"] is views["b"] and outputs["c"].shape == (3, 3)
    assert not hasattr(steps["a"], "mean_")
    names = per_view.get_feature_names_out({"a": None, "b": list("wxyz"), "c": None})
    assert names["b"][1] == "x" and names["c"].tolist() == ["more", "some", "text"]


def test_stored_views_are_read(tmp_path):
    for view in (memory_map(TABLE, tmp_path), da.from_array(TABLE, chunks=2)):
        (scaled,) = PerView(StandardScaler()).fit_transform([view])
        np.testing.assert_array_equal(scaled, StandardScaler().fit_transform(TABLE))
        assert PerView(None).fit_transform([view])[0] is view


def test_targets_are_passed_to_every_transformer():
    step = PerView(SelectKBest(k=1)).fit([TABLE, TABLE[:, :2]], [0, 1, 0])
    assert [fitted.n_features_in_ for fitted in step.transformers_] == [4, 2]


@pytest.mark.parametrize(
    "transformers, views, message",
    [
        ([None], [TABLE, TABLE], "transformers for the views 0, but the views are 0, 1"),
        ({}, [], "X has no views"),
        ({"a": None}, {"a": TABLE, "b": TABLE}, "for the views 'a', but the views are 'a', 'b'"),
        ("drop", [TABLE], "view 0: .*'drop'"),
        (None, TABLE, "ndarray: split one table by ViewSplitter"),
        (StandardScaler(), {"a": None, "b": TABLE}, "view 'a': "),
        (PowerTransformer(), ["abc"], "view 0: "),
        ([None, TfidfVectorizer()], [TABLE, TABLE], "view 1: "),
    ],
)
def test_what_is_wrong_with_views_is_said(transformers, views, message):
    with pytest.raises(ValueError, match=message):
        PerView(transformers).fit(views)


def test_errors_of_transformers_name_the_view():
    model = PerView({"a": MaxAbsScaler(), "b": PCA(1)}).fit({"a": TABLE, "b": TABLE})
    with pytest.raises(ValueError, match="view 'b': Input X contains NaN"):
        model.transform({"a": TABLE, "b": TABLE + np.nan})


def test_other_views_than_those_of_fit_are_refused():
    per_view = PerView(None).fit({"a": TABLE, "b": TABLE})
    with pytest.raises(ValueError, match="X has the views 'b', 'a', fit had 'a', 'b'"):
        per_view.transform({"b": TABLE, "a": TABLE})
    with pytest.raises(ValueError, match="X has the views 0, fit had 0, 1"):
        PerView(None).fit([TABLE, TABLE]).transform([TABLE])


def test_new_samples_may_lack_a_view(wine):
    views = {"a": wine[0][:, :6], "b": wine[0][:, 6:]}
    model = make_pipeline(PerView(StandardScaler()), ConsensusTLRR(3, random_state=0)).fit(views)
    without = model.predict({"b": views["b"]})
    np.testing.assert_array_equal(model.predict({"a": None, "b": views["b"]}), without)
    assert (without == model[-1].labels_).mean() > 0.7
    assert model[0].transform({"b": views["b"]}).keys() == {"b"}
    assert PerView(None).fit([TABLE, TABLE]).transform([TABLE, None])[1] is None


# ------------------------------------------------------------------ texts and containers


def test_a_table_of_texts_is_refused_by_the_transformer():
    views = ViewSplitter({"words": "text"}).fit_transform(pd.DataFrame({"text": TEXTS}))
    with pytest.raises(ValueError, match="'words': TfidfVectorizer returned 1 rows for 4 samples"):
        PerView(TfidfVectorizer()).fit_transform(views)
    assert PerView(OneHotEncoder()).fit_transform(views)["words"].shape == (4, 4)


def test_data_frames_of_texts_keep_their_names():
    columns = {"text": TEXTS * 5, "size": np.arange(20.0), "age": np.arange(20.0) ** 2}
    table = pd.DataFrame(columns, index=list("abcdefghijklmnopqrst"))
    views = {"words": table["text"], "numbers": table[["size", "age"]]}
    step = PerView({"words": TfidfVectorizer(), "numbers": StandardScaler()})
    outputs = step.set_output(transform="pandas").fit_transform(views)
    assert list(outputs["words"]) == ["and", "blue", "green", "or", "red"]
    assert list(outputs["numbers"]) == ["size", "age"]
    assert all((view.index == table.index).all() for view in outputs.values())
    same = TfidfVectorizer().fit_transform(table["text"])
    np.testing.assert_array_equal(outputs["words"].sparse.to_coo().toarray(), same.toarray())
    again = clone(step).fit_transform(views)
    assert all(again[name].equals(view) for name, view in outputs.items())
    plain = step.set_output(transform="default").transform(views)
    assert isinstance(plain["numbers"], np.ndarray) and scipy.sparse.issparse(plain["words"])
    texts = PerView(TfidfVectorizer()).set_output(transform="pandas").fit_transform([TEXTS])
    assert list(texts[0].index) == [0, 1, 2, 3]
    untouched = PerView(None).fit([TABLE]).set_output(transform="pandas")
    assert untouched.transform([TABLE])[0] is TABLE


# ------------------------------------------------------------------ pipelines


def test_parameters_have_names_by_view():
    model = joined()
    copy = clone(model).set_params(perview__0__with_mean=False, perview__1=StandardScaler())
    assert copy.get_params()["perview__0__with_mean"] is False
    assert isinstance(copy[1].transformers[1], StandardScaler)
    assert model[1].transformers[0].with_mean and isinstance(model[1].transformers[1], PCA)
    assert set(model[1].get_params(deep=False)) == {"transformers"}
    by_name = clone(PerView({"a": StandardScaler()})).set_params(a__with_std=False)
    assert not by_name.transformers["a"].with_std
    alone = PerView(StandardScaler()).set_params(transformers__with_std=False)
    assert not alone.transformers.with_std


def test_a_table_is_clustered_in_a_pipeline(wine):
    X, y = wine
    model = joined().set_params(perview__1=StandardScaler()).fit(X)
    labels = model[-1].labels_
    assert metrics.clustering_scores(y, labels)["acc"] > 0.94
    assert (model.predict(X) == labels).mean() > 0.95
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X[:20]), model.predict(X[:20]))
