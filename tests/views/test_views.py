import datetime

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import fitted
from sklearn import datasets as known
from sklearn.preprocessing import scale

from mvsc_fast import TLRR, ConsensusTLRR, datasets, explain
from mvsc_fast.views import align, check_views

X = np.arange(12.0).reshape(6, 2)


def test_lists_single_matrices_and_sparse_views():
    assert [A.shape for A in check_views([X, X[:, :1]])] == [(6, 2), (6, 1)]
    assert [A.shape for A in check_views((X.tolist(), X))] == [(6, 2), (6, 2)]
    assert len(check_views(X)) == len(check_views(X.tolist())) == 1
    mixed = check_views([scipy.sparse.csc_array(X), X])
    assert scipy.sparse.issparse(mixed[0]) and mixed[0].format == "csr"


def test_dicts_name_their_views_and_generators_are_lists():
    for some in ((A for A in (X, X)), iter([X, X]), {"a": X, "b": X}.values()):
        assert len(check_views(some)) == 2
    with pytest.raises(ValueError, match="view 'image' has 5 samples, view 'text' has 6"):
        check_views({"text": X, "image": X[1:]})


@pytest.mark.parametrize("form", ["row", "column", "vector", "sparse", "equal shapes"])
def test_cells_of_matlab_are_lists(form):
    sizes = (2, 2, 2) if form == "equal shapes" else (2, 1, 2)
    cells = np.empty(3, dtype=object)
    for i, size in enumerate(sizes):
        cells[i] = scipy.sparse.csc_array(X[:, :size]) if form == "sparse" else X[:, :size]
    given = cells.reshape({"row": (1, 3), "column": (3, 1), "sparse": (3, 1)}.get(form, 3))
    for A, size in zip(check_views(given), sizes, strict=True):
        np.testing.assert_array_equal(A.toarray() if form == "sparse" else A, X[:, :size])


def test_vectors_of_a_series_are_rows_with_ids():
    vectors = pd.Series(list(X), index=list("abcdef"))
    for views in (vectors, [vectors], {"a": vectors, "b": X}, vectors.to_numpy()):
        np.testing.assert_array_equal(check_views(views)[0], X)
    with pytest.raises(ValueError, match="view 1 and view 0 .*another order"):
        check_views([pd.DataFrame(X, index=vectors.index), vectors[::-1]])
    with pytest.raises(ValueError, match="view 'a': "):
        check_views({"a": pd.Series([[1, 2], [3]])})


def test_views_with_samples_in_columns_are_recognised():
    with pytest.raises(ValueError, match=r"view 1 has 4 samples, view 0 has 2.* rows"):
        check_views([X.T, np.vstack([X.T, X.T])])


def test_types_are_kept_native():
    single, double = np.ones((3, 2), dtype=np.float32), np.ones((3, 2))
    assert check_views([single, single])[0].dtype == np.float32
    assert {A.dtype for A in check_views([single, double])} == {np.dtype(np.float64)}
    assert check_views([np.ones((3, 2), dtype=np.uint8)])[0].dtype == np.float64
    assert check_views([double])[0] is double
    sparse = scipy.sparse.csr_array(X)
    sparse.data = sparse.data.astype(">f8")
    np.testing.assert_array_equal(check_views([sparse])[0].toarray(), X)


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ([], "list of views is empty"),
        ({}, "dict of views is empty"),
        (np.ones((2, 3, 3)), r"X has shape \(2, 3, 3\): pass a list"),
        ([np.ones((4, 2)), np.ones(4)], r"view 1 has shape \(4,\)"),
        ([scipy.sparse.coo_array(np.ones(5)), X], r"view 0 .*shape \(5,\)"),
        ([np.ones((4, 2)), None], r"view 1 has shape \(\)"),
        ([np.ones((4, 2)), "b.csv"], "view 1: .*strings"),
        ({"a": ["some text", "more"], "b": X[:2]}, "view 'a': .*strings"),
        ("b.csv", "X: .*strings"),
        ([np.ones((4, 2)), np.array([["a", "b"]] * 4)], "view 1, column 0: .*strings"),
        ([X, np.array([[1, "a"]] * 6, dtype=object)], "view 1, column 1: .*'a'"),
        (X + 1j, "X, column 0: Complex data not supported"),
        ([X, np.ones((6, 2), dtype="M8[D]")], "view 1 has dtype datetime64"),
        ([np.ones((4, 2)), np.ones((4, 0))], r"view 1: .*0 feature\(s\)"),
        ([np.ones((1, 2))], "minimum of 2"),
        ([X, da.ones((6, 2, 1))], r'view 1 has shape .6, 2, 1.: .*affinity="precomputed"'),
        ([np.ones((2, 2)), [[1, 2], [3]]], "view 1: .*inhomogeneous"),
    ],
)
def test_bad_views(views, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        check_views(views)


def test_non_finite_entries_are_counted_by_view_and_found():
    A = np.ones((4, 3))
    A[0, 2] = A[1, 0] = np.nan
    A[2, 2] = -np.inf
    told = "contains 2 NaN values and 1 infinite value, the first in row 0, column 2: impute"
    with pytest.raises(ValueError, match=f"view 1 {told}"):
        check_views([np.ones((4, 2)), A])
    for make in (scipy.sparse.csr_array, scipy.sparse.csc_array):
        with pytest.raises(ValueError, match=f"view 0 {told}"):
            check_views([make(A)])
    with pytest.raises(ValueError, match="view 'a' contains .* row 0, column 'age'"):
        check_views({"a": pd.DataFrame(A, columns=["weight", "height", "age"])})


# ------------------------------------------------------------------ data frames


@pytest.fixture
def frames():
    views, _ = datasets.make_multiview_subspaces(40, 3, n_features=(6, 5), random_state=0)
    ids = [f"id{i}" for i in range(40)]
    return {
        name: pd.DataFrame(A, index=ids, columns=[f"{name}{j}" for j in range(A.shape[1])])
        for name, A in zip("ab", views, strict=True)
    }


def test_names_of_frames_are_learned_and_compared(frames):
    model = fitted(ConsensusTLRR(3, random_state=0), frames)
    assert model.view_names_in_ == ["a", "b"] and model.n_features_per_view_ == [6, 5]
    assert model.n_features_in_ == 11
    assert [list(names) for names in model.feature_names_in_] == [list(frames[k]) for k in "ab"]
    turned = {"b": frames["b"], "a": frames["a"]}
    np.testing.assert_array_equal(model.predict(turned), model.predict(frames))
    with pytest.raises(ValueError, match="dict has the views 'a', 'c', but fit had 'a', 'b'"):
        model.predict({"a": frames["a"], "c": frames["b"]})
    with pytest.raises(ValueError, match="view 'b' .*only in view 'b': 'c'; only in fit: 'b0'"):
        model.predict({**frames, "b": frames["b"].rename(columns={"b0": "c"})})
    unnamed = {"a": frames["a"].set_axis(range(6), axis=1), "b": frames["b"].to_numpy()}
    for given, told in ((unnamed, "view 'a', view 'b'"), ({"b": unnamed["b"]}, "view 'b'")):
        with pytest.warns(UserWarning, match=f"no column names, unlike in fit: {told}. Columns"):
            model.predict(given)
    with pytest.warns(UserWarning, match="no column names, unlike in fit: view 'a'. Columns"):
        explain(model, {**frames, "a": unnamed["a"]})
    model = fitted(model, [A.to_numpy() for A in frames.values()])
    assert model.view_names_in_ == [0, 1] and not hasattr(model, "feature_names_in_")
    for single in (frames["a"].to_numpy(), np.ones((3, 11))):
        with pytest.raises(ValueError, match=r"expected \[6, 5\] as in fit"):
            model.predict(single)
    alone = TLRR(3, n_neighbors=10, max_iter=0, random_state=0).fit(frames["a"])
    assert list(alone.feature_names_in_) == list(frames["a"])
    # A list of a single view, and the view itself, are the same new samples.
    model = fitted(ConsensusTLRR(3, random_state=0), [frames["a"]])
    np.testing.assert_array_equal(model.predict(frames["a"]), model.predict([frames["a"]]))


def test_rows_of_frames_must_be_the_same_samples(frames):
    a, b = frames.values()
    with pytest.raises(ValueError, match="view 'b' and view 'a' .*in another order"):
        check_views({"a": a, "b": b.iloc[::-1]})
    with pytest.raises(ValueError, match=r"\(only in view 1: 'new'; only in view 0: 'id0'\)"):
        check_views([a, b.rename(index={"id0": "new"})])
    with pytest.raises(ValueError, match=r"view 0: 'id4', 'id5', 'id6', \.\.\. \(36 in all\)"):
        check_views([a, b[:4]])
    with pytest.raises(ValueError, match="ids .* more than once"):
        check_views([a, b.iloc[[*range(40), 3]]])
    assert len(check_views([a, b.loc[a.index].to_numpy(), b])) == 3
    # Types of ids do not matter.
    numbers = pd.DataFrame({"x": [1.0, 2.0]}, pd.Index([1, 2], dtype="Int64"))
    assert len(check_views([numbers, numbers.set_axis([1, 2])])) == 2
    kinds = [pd.CategoricalIndex(["s", "t"], categories=list(names)) for names in ("st", "stu")]
    first, second = (numbers.set_axis(index) for index in kinds)
    assert len(check_views([first, second])) == 2
    with pytest.raises(ValueError, match="view 1 and view 0 .*in another order"):
        check_views([first, second[::-1]])


def test_columns_that_are_no_numbers_are_refused(frames):
    pa = pytest.importorskip("pyarrow")
    for values in (
        pd.Categorical(["x", "y"] * 20),
        pd.array([[1.0, 2.0]] * 40, pd.ArrowDtype(pa.list_(pa.float64()))),
        pd.date_range("2020", periods=40),
        ["x"] * 40,
    ):
        with pytest.raises((TypeError, ValueError), match="view 'a'"):
            check_views({**frames, "a": frames["a"].assign(new=values)})
    dates = pytest.importorskip("polars").DataFrame({"z": [datetime.date(2024, 1, 1)] * 3})
    dates = dates.with_columns(x=1.5)  # beside which polars takes days for numbers
    for table in (pa.table({"x": [1, 2, 3], "z": ["a", "b", "c"]}), dates):
        with pytest.raises((TypeError, ValueError), match="view 0"):
            check_views([table])
    with pytest.raises(ValueError, match=r"view 1 has shape \(40,\)"):
        check_views([frames["a"], frames["b"]["b0"]])


def test_kinds_of_numbers_in_frames():
    frame = pd.DataFrame({"i": [1, 2], "b": [True, False], "o": np.array([1, "2"], dtype=object)})
    frame["n"] = pd.array([1, 3], dtype="Int64")
    np.testing.assert_array_equal(check_views(frame)[0], [[1, 1, 1, 1], [2, 0, 2, 3]])
    frame["n"] = pd.array([1, None], dtype="Int64")
    with pytest.raises(ValueError, match="1 NaN .* row 1, column 'n'"):
        check_views(frame)
    sparse = pd.DataFrame.sparse.from_spmatrix(scipy.sparse.eye(3, format="csc"))
    assert scipy.sparse.issparse(check_views(sparse)[0])
    assert check_views(pd.DataFrame(np.ones((2, 2), dtype=np.float32)))[0].dtype == np.float32


def test_align(frames):
    a, b = frames["a"][:30], frames["b"][20:].iloc[::-1]
    inner = align({"a": a, "b": b}, join="inner")
    assert list(inner) == ["a", "b"] and list(inner["b"].index) == list(a.index[20:])
    check_views(inner)
    outer = align([a, b])
    assert list(outer[0].index) == [*a.index, *b.index[:10]]
    assert outer[0].isna().all(axis=1).sum() == 10 and outer[1].isna().all(axis=1).sum() == 20
    arrays = check_views(outer, missing=True)
    np.testing.assert_array_equal(arrays[1][20:30], frames["b"][20:30])
    pairs = pd.MultiIndex.from_product([[1, 2], ["a", "b"]])
    both = align([pd.DataFrame(X[:4], pairs), pd.DataFrame(X[:3], pairs[:3])], join="inner")
    assert list(both[0].index) == list(pairs[:3])
    turned = pd.DataFrame(X)[::-1]  # whose index pandas sorts in operations on sets
    assert list(align([turned, turned[::-1][2:]], join="inner")[0].index) == [5, 4, 3, 2]
    large = [
        pd.DataFrame({"x": [0.0]}, pd.Index([2**60 + i], dtype=f"{'u' * i}int64")) for i in (0, 1)
    ]
    with pytest.raises(ValueError, match="shares no id"):  # as floats these are equal
        align(large)
    with pytest.raises(ValueError, match="view 1 .* more than once: 'id39'"):
        align([a, b.iloc[[0, 0]]])
    with pytest.raises(ValueError, match="shares no id"):
        align([a, b.reset_index(drop=True)])
    for other in (X, b["b0"]):
        with pytest.raises(ValueError, match="view 1 is neither a pandas DataFrame nor AnnData"):
            align([a, other])
    with pytest.raises(ValueError, match="view 0 .*ids are missing"):
        align([a.rename(index={"id0": None}), b])
    with pytest.raises(ValueError, match="join .*'outer', 'inner', got 'left'"):
        align([a, b], join="left")


WINE = known.load_wine, "'magnesium' of .* 'proline'", 4
CANCER = known.load_breast_cancer, "'mean area' of .* 'worst area'", 3


@pytest.mark.parametrize(("load", "columns", "number"), [WINE, CANCER])
def test_columns_that_outweigh_all_others_are_named(load, columns, number):
    table = pd.DataFrame(load().data, columns=load().feature_names)[:60]
    middle, model = table.shape[1] // 2, TLRR(3, max_iter=0, random_state=0)
    views = {"first": table.iloc[:, :middle], "second": table.iloc[:, middle:]}
    with pytest.warns(UserWarning, match=f'few columns make up .*{columns}.*scale="standard"'):
        model.fit(views)
    with pytest.warns(UserWarning, match=rf": {number} of view 'first' \(9"):
        model.fit({name: X.to_numpy() for name, X in views.items()})
    scaled = list(map(scale, views.values()))
    with pytest.warns(UserWarning, match="of view 0 "):  # in half of the views
        model.fit([views["first"], scaled[1]])
    with pytest.warns(UserWarning, match="all samples are equal"):  # and no other warning
        model.fit([scaled[0], np.ones_like(scaled[0]) * [9, *[1] * (middle - 1)]])
    model.fit(scaled)
    model.fit([views["first"], *scaled])


@pytest.mark.parametrize(("number", "columns"), [(3, "[0-2], [0-2], [0-2]"), (5, ".*5 in all")])
def test_equally_large_columns_among_many_are_named(number, columns):
    X = np.random.default_rng(0).uniform(1, 2, (60, 60))
    X[:, :number] *= 40
    with pytest.warns(UserWarning, match=rf"of rows: {columns}.* of view 0 \(9"):
        TLRR(3, max_iter=0, random_state=0).fit([X, X])
    few = X[:, 6:12]
    few[:, 0] *= 2  # which is passed over
    TLRR(3, max_iter=0, random_state=0).fit([few, few])


def test_views_of_few_features_are_named_where_fit_is_called():
    views, _ = datasets.make_multiview_subspaces(60, 3, n_features=(8, 3), random_state=0)
    told = r"fewer than 4 features: view 'b' \(3\)"
    with pytest.warns(UserWarning, match=told) as caught:
        TLRR(3, max_iter=0, random_state=0).fit(dict(zip("ab", views, strict=True)))
    assert all(one.filename == __file__ for one in caught)
    ConsensusTLRR(3, random_state=0).fit(views)  # which lifts narrow views


def test_a_column_that_outweighs_all_others_is_named_in_lifted_views_too():
    rng, y = np.random.default_rng(0), np.arange(150) % 3
    X = rng.standard_normal((150, 6))
    X[:, 1] = 30 * (y + 0.3 * rng.standard_normal(150))
    with pytest.warns(UserWarning, match=r"squared length of rows: 1 of view 0 \(9[6-9]"):
        ConsensusTLRR(3, random_state=0).fit([X])
