"""Tables become views, by columns and by transformers of scikit-learn, inside pipelines."""

import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from mvsc_fast import ConsensusTLRR
from mvsc_fast.preprocessing import ViewSplitter
from mvsc_fast.views import missing

TABLE = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def frame():
    numbers = {"col_red": [1, 2, 3], "size": [4, 5, 6], "col_blue": [7, 8, 9]}
    return pd.DataFrame({"id": ["p", "q", "r"], **numbers})


SLICES = [(slice(1, 3), [1, 2]), (slice(None, None, -2), [3, 1])]
POSITIONS = [(np.array([3, 0]), [3, 0]), ([-4, np.int8(2)], [0, 2])]


@pytest.mark.parametrize(("columns", "expected"), SLICES + POSITIONS)
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.coo_array, da.from_array])
def test_columns_by_position(columns, expected, form):
    splitter = ViewSplitter([columns, [1]]).fit(form(TABLE))
    view = splitter.transform(form(TABLE))[0]
    view = view.toarray() if scipy.sparse.issparse(view) else view
    np.testing.assert_array_equal(view, TABLE[:, expected])
    assert splitter.get_feature_names_out()[1].tolist() == ["x1"]


def test_columns_by_name_and_by_the_beginning_of_the_name(frame):
    splitter = ViewSplitter({"colour": "col_", "all": ["size", "col_red"], "numbers": slice(1, 3)})
    views = splitter.fit_transform(frame)
    assert list(views["colour"]) == ["col_red", "col_blue"]
    assert splitter.get_feature_names_out()["all"].tolist() == ["size", "col_red"]
    other = frame[["col_blue", "size", "col_red"]].assign(more=0)
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    for table in (other, pl.from_pandas(other), pa.Table.from_pandas(other)):
        for name, view in splitter.transform(table).items():
            assert list(view.columns) == list(views[name])
            np.testing.assert_array_equal(view.to_numpy(), views[name].to_numpy())
    with pytest.raises(ValueError, match="view 'all': .*size"):
        splitter.transform(frame.drop(columns="size"))


def test_positions_of_numbered_columns_count_from_zero(frame):
    numbered = frame.set_axis([10, 20, 0, 5], axis=1)
    (view,) = ViewSplitter([[2, 1]]).fit_transform(numbered)
    assert list(view) == [0, 20]


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ([[7]], "view 0: index 7 is out of bounds"),
        ([[0], [3, 0, -1]], "view 1: .* more than once"),
        ({"a": slice(4, None)}, "view 'a': none of the 4 columns"),
        ({"a": "col_"}, "view 'a': none of the 4 columns"),
        ([["size"]], "view 0: "),
        ([[1.5]], "view 0: "),
        ([None], "view 0: "),
        ({}, "views must be a dict or list"),
        ("col_", "views must be a dict or list"),
        ([TfidfVectorizer()], "view 0: "),
    ],
)
def test_what_is_wrong_with_columns_is_said(views, message):
    with pytest.raises(ValueError, match=message):
        ViewSplitter(views).fit(TABLE)


def test_errors_of_transformers_name_the_view(frame):
    with pytest.raises(ValueError, match="view 'b': could not convert"):
        ViewSplitter({"b": StandardScaler()}).fit(np.array([["x"], ["y"]]))
    with pytest.raises(ValueError, match="view 'id': 3 samples, 2 rows.* ColumnTransformer"):
        ViewSplitter({"id": TfidfVectorizer()}).fit_transform(frame[["size", "id"]])


def test_another_table_is_refused(frame):
    with pytest.raises(ValueError, match="X has 5 features, .* expecting 4"):
        ViewSplitter([[3]]).fit(TABLE).transform(np.ones((3, 5)))
    with pytest.raises(ValueError, match="view 0: "):
        ViewSplitter([[1]]).fit(TABLE).transform(frame)
    splitter = ViewSplitter([[0], [4]]).fit(np.eye(6))
    with pytest.raises(ValueError, match="view 1"):
        splitter.fit(np.eye(3))
    assert splitter.transform(np.eye(6))[0].shape == (6, 1)
    with pytest.raises(NotFittedError):
        ViewSplitter([[0]]).transform(TABLE)
    with pytest.raises(ValueError, match="Expected 2D array"):
        ViewSplitter([[0]]).fit(TABLE[0])


def customers(n=80, seed=0):
    """Two groups of customers that differ in every column, and their groups."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    texts = np.array(["the shop was fast and good", "delivery was late and bad"])
    frame = pd.DataFrame(
        {
            "age": 30 + 30 * y + rng.normal(0, 3, n),
            "plan": np.array(["monthly", "yearly"])[y],
            "review": np.where(rng.random(n) < 0.2, "", texts[y]),
        },
        index=[f"c{i}" for i in range(n)],
    )
    frame.loc["c3", "age"] = np.nan
    return frame, y


def encoders():
    person = make_column_transformer(
        (StandardScaler(), ["age"]),
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["plan"]),
        verbose_feature_names_out=False,
    )
    words = make_column_transformer((TfidfVectorizer(), "review"), verbose_feature_names_out=False)
    step = FunctionTransformer(missing, feature_names_out="one-to-one")
    return ViewSplitter({"person": person, "review": make_pipeline(words, step), "raw": ["age"]})


def test_numbers_categories_and_texts_are_views_with_names():
    frame, _ = customers()
    splitter = encoders()
    views = splitter.fit_transform(frame)
    assert views["person"].shape == (80, 3) and views["raw"].shape == (80, 1)
    empty = (frame["review"] == "").to_numpy()
    np.testing.assert_array_equal(np.isnan(views["review"]).all(axis=1), empty)
    names = splitter.get_feature_names_out()
    assert names["person"].tolist() == ["age", "plan_monthly", "plan_yearly"]
    assert names["review"][:2].tolist() == ["and", "bad"] and names["raw"].tolist() == ["age"]


@pytest.mark.filterwarnings("ignore:view .* lacks")
def test_new_tables_are_encoded_as_those_of_the_fit():
    frame, y = customers()
    splitter = encoders()
    model = make_pipeline(splitter, ConsensusTLRR(2, random_state=0))
    labels = model.fit_predict(frame)
    assert adjusted_rand_score(y, labels) > 0.95
    assert not hasattr(splitter.views["person"], "transformers_")  # clones are fitted
    new, y = customers(seed=1)
    new.loc["c5", "plan"] = "unknown"
    predicted = pickle.loads(pickle.dumps(model)).predict(new[frame.columns[::-1]].assign(more=0))
    assert adjusted_rand_score(y, predicted) > 0.95
    with pytest.raises(ValueError, match="view 'person': .*plan"):
        model.predict(new.drop(columns="plan"))


def test_encoded_columns_with_names_of_labels_are_told():
    frame = customers()[0].rename(columns={"plan": "Class", "review": "case_id"})
    person = make_column_transformer(
        ("drop", ["case_id"]), (OneHotEncoder(), ["Class"]), (StandardScaler(), [0])
    )
    words = make_column_transformer((TfidfVectorizer(), "case_id"))
    with pytest.warns(UserWarning, match="'Class' of view 'a', 'case_id' of view 1"):
        ViewSplitter({"a": person, 1: words}).fit(frame)
    ViewSplitter({"a": ["Class"]}).fit(frame)  # the fit of an estimator sees these


def test_names_and_ids_are_kept_in_data_frames():
    frame, _ = customers()
    person = make_column_transformer((StandardScaler(), ["age"]), verbose_feature_names_out=False)
    splitter = ViewSplitter({"person": person, "age": ["age"]}).set_output(transform="pandas")
    for view in splitter.fit_transform(frame).values():
        assert view.index.equals(frame.index) and list(view) == ["age"]
    splitter.set_output(transform="default")
    assert isinstance(splitter.transform(frame)["person"], np.ndarray)
