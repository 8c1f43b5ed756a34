"""Tables that do not have the same samples."""

import numpy as np
import pandas as pd
import pytest

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
    np.save(tmp_path / "c.npy", X[:5])
    with pytest.raises(ValueError, match="c.npy has 5 samples"):
        load_data([two[0], tmp_path / "c.npy"])
    assert load_data([tmp_path / "c.npy"]).notes == []
