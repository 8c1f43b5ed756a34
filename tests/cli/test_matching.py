"""Tables that do not have the same samples."""

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.cli import _scratch
from mvsc_fast.cli._readers import load_data

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]


def frame(ids, values=X):
    return pd.DataFrame(
        values, columns=["height", "width", "depth"], index=pd.Index(ids, name="id")
    )


@pytest.fixture
def two(tmp_path):
    """Two tables with ids, the second in another order."""
    frame(IDS).to_csv(tmp_path / "a.csv")
    frame(IDS, X + 1).iloc[RNG.permutation(12)].to_csv(tmp_path / "b.csv")
    return [tmp_path / "a.csv", tmp_path / "b.csv"]


@pytest.mark.parametrize("with_pandas", [True, False])
def test_other_ids_are_an_error_until_a_join_says_what_to_do(two, monkeypatch, with_pandas):
    table = pd.read_csv(two[1], index_col=0).drop(["s03", "s07"])
    table.loc["t1"] = 5.0
    table.to_csv(two[1])
    if not with_pandas:
        monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ValueError, match=r"only in .*b\.csv: 't1'; only in .*a\.csv: 's03'"):
        load_data(two)
    inner = load_data(two, join="inner")
    kept = [i for i in range(12) if i not in (3, 7)]
    np.testing.assert_allclose(np.asarray(inner.views["b"]), X[kept] + 1)
    np.testing.assert_allclose(np.asarray(inner.views["a"]), X[kept])
    assert inner.ids.tolist() == [IDS[i] for i in kept]
    assert "10 samples, 3 excluded because" in inner.notes[-1]
    outer = load_data(two, join="outer")
    assert outer.ids.tolist() == [*IDS, "t1"] and "3 of them without a view" in outer.notes[-1]
    missing = np.isnan(np.asarray(outer.views["b"])).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(missing), [3, 7])


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("columns", [None, [0, 1, 2], [1, 2], [2], [2, 0], [0, 2], [1, 1]])
@pytest.mark.parametrize("rows", [[0, 1, 2, 3, 4], [3, 0], [2, -1, 2, -1, 4, 0]])
def test_rows_and_columns_of_a_matrix(rows, columns, mapped, tmp_path, monkeypatch):
    monkeypatch.setattr(_scratch, "BLOCK", 2)
    A = np.arange(15.0).reshape(5, 3)
    np.save(tmp_path / "A.npy", A)
    given = np.load(tmp_path / "A.npy", mmap_mode="r") if mapped else A.copy()
    found = _scratch.taken(given, np.array(rows), columns)
    whole = np.vstack([A, np.full(3, np.nan)])[rows]
    np.testing.assert_array_equal(found, whole[:, columns or [0, 1, 2]])
    assert isinstance(found, np.memmap) == mapped
    np.testing.assert_array_equal(given, A)


def test_columns_that_repeat_numbers_are_not_ids_of_the_other_file(two, tmp_path):
    ages = frame(IDS, X).reset_index(drop=True)
    ages.insert(0, "age", [31, 45, 27, 31, 60, 52, 48, 39, 70, 23, 44, 58])
    ages.to_csv(tmp_path / "c.csv", index=False)
    data = load_data([two[0], tmp_path / "c.csv"])
    assert data.ids.tolist() == IDS and data.views["c"].shape == (12, 4)
    ages["age"] = [f"s{i:02d}" for i in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 11)]
    ages.to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(ValueError, match="ids in column 1 .'age'. occur more than once: 's09'"):
        load_data([two[0], tmp_path / "c.csv"])


def test_files_that_look_different_are_named_with_their_ids(tmp_path):
    frame(["p5", "p6", "p7", "p8"], X[:4]).rename_axis("one").to_csv(tmp_path / "a.csv")
    other = frame(["q1", "q2", "q3", "q4"], X[:4]).add_prefix("the_").rename_axis("two")
    other.to_csv(tmp_path / "b.csv")
    with pytest.raises(ValueError, match=r"look like ids \('p5', 'p6' and 'q1', 'q2'\), but have"):
        load_data([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_three_files_with_no_id_in_common(tmp_path, two):
    frame([f"s{i:02d}" for i in range(6)], X[:6]).to_csv(tmp_path / "a.csv")
    frame([f"s{i:02d}" for i in range(6, 12)], X[:6]).to_csv(tmp_path / "c.csv")
    with pytest.raises(ValueError, match="no id occurs in all of"):
        load_data([*two, tmp_path / "c.csv"], join="inner")


def test_files_without_ids_are_taken_in_order(two, tmp_path):
    np.save(tmp_path / "c.npy", X)
    data = load_data([two[0], tmp_path / "c.npy"])
    assert "c.npy has no ids" in data.notes[-1] and data.ids.tolist() == IDS
    with pytest.raises(ValueError, match="c.npy has no ids"):
        load_data([*two, tmp_path / "c.npy"])
    with pytest.raises(ValueError, match="--join matches several files by ids, but .*c.npy has no"):
        load_data([two[0], tmp_path / "c.npy"], join="inner")
    with pytest.raises(ValueError, match="by ids, but .*a.csv has no ids, or is the only file"):
        load_data(two[:1], join="outer")
    np.save(tmp_path / "c.npy", X[:5])
    with pytest.raises(ValueError, match="c.npy has 5 samples"):
        load_data([two[0], tmp_path / "c.npy"])
    assert load_data([tmp_path / "c.npy"]).notes == []
