"""Which columns are features, and what must not be among them."""

import re

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.cli._readers import load_data

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NAMES = ["height", "width", "depth"]


@pytest.fixture
def table():
    return pd.DataFrame(X, columns=NAMES, index=pd.Index(IDS, name="id"))


def read(folder, table, **options):
    table.to_csv(folder / "a.csv")
    return load_data([folder / "a.csv"], **options)


def columns_of(data):
    (view,) = data.views.values()
    return list(view.columns)


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        ("height,depth", ["height", "depth"]),
        ("2-4", NAMES),
        ("4,height", ["depth", "height"]),
        ("*th,height", ["width", "depth", "height"]),
        ("*", NAMES),
        ("!width", ["height", "depth"]),
        ("*,!d*", ["height", "width"]),
        ("!2-3", ["depth"]),
    ],
)
def test_columns_are_chosen_and_excluded(tmp_path, table, columns, chosen):
    data = read(tmp_path, table, columns=[columns])
    assert columns_of(data) == chosen and data.ids.tolist() == IDS
    np.testing.assert_array_equal(data.views["a"], table[chosen])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("weight", "no column 'weight'; the table has 'height'"),
        ("7", "no columns 7, it has 4"),
        ("!weight", "--columns !weight: there is no such column in .*a.csv"),
        ("4-2", "no columns 4-2"),
        ("id,height", "'id'. contains text"),
        ("!*", "no numeric columns except the ids"),
    ],
)
def test_columns_that_are_not_there(tmp_path, table, columns, message):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, table, columns=[columns])


def test_exclusions_hold_for_the_files_that_have_the_column(tmp_path, table):
    table.to_csv(tmp_path / "a.csv")
    table.assign(sex="f").to_csv(tmp_path / "b.csv")
    data = load_data([tmp_path / "a.csv", tmp_path / "b.csv"], columns=["!sex"])
    assert [view.shape for view in data.views.values()] == [(12, 3), (12, 3)]
    with pytest.raises(ValueError, match="3 times for 2 files"):
        load_data([tmp_path / "a.csv", tmp_path / "b.csv"], columns=["1", "2", "3"])


def test_one_table_gives_several_views(tmp_path, table):
    data = read(tmp_path, table, columns=["height", "width,depth"])
    assert [view.shape for view in data.views.values()] == [(12, 1), (12, 2)]
    assert list(data.views) == ["height", "width,depth"] and data.ids.tolist() == IDS


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("target", [0, 1]),
        ("tumor_class", ["a", "b"]),
        ("Label", [1.0, 2.0]),
        ("y", [1, 2]),
        ("OS.time", RNG.integers(1, 4000, 12)),
        ("vital_status", ["dead", "alive"]),
        ("histological_type_x", [0, 1]),
    ],
)
def test_labels_are_not_features_unless_they_are_chosen(tmp_path, table, name, values):
    table[name] = np.resize(values, 12)
    with pytest.raises(
        ValueError, match=rf"column 5 \('{name}'\) looks like a label .*'!{name}' excludes"
    ):
        read(tmp_path, table)
    assert columns_of(read(tmp_path, table, columns=[f"!{name}"])) == NAMES
    if table[name].dtype != object and not isinstance(values[0], str):
        assert columns_of(read(tmp_path, table, columns=["*"])) == [*NAMES, name]
    with pytest.raises(ValueError, match="remove the file, or use it with --scores .*a.csv"):
        read(tmp_path, table[[name]])


@pytest.mark.parametrize(
    ("n", "classes", "label"),
    [(120, 50, True), (120, 51, False), (12, 6, True), (12, 7, False), (3, 2, True), (3, 3, False)],
)
def test_labels_have_at_most_half_as_many_classes_as_rows(tmp_path, n, classes, label):
    table = pd.DataFrame({"x": RNG.standard_normal(n), "y": np.arange(n) % classes + 0.5})
    if not label:
        assert columns_of(read(tmp_path, table, columns=["x,y"])) == ["x", "y"]
        assert "y" in columns_of(read(tmp_path, table))
        return
    with pytest.raises(ValueError, match=r"\('y'\) looks like a label or an outcome, not like"):
        read(tmp_path, table)


def test_of_many_columns_some_are_named(tmp_path, table):
    kinds = {
        "label": np.arange(12) % 2,
        "text": np.resize(["f", "m"], 12),
    }
    told = {
        "label": "{first} (and 5 more) looks like a label or an outcome, not like a feature: "
        "--columns '{five}' excludes them, --columns '*' makes it a feature",
        "text": "{first} (and 5 more) contains text ('f' in line 2): --columns '{five}' excludes "
        "them; or encode text as numbers",
    }
    for kind, values in kinds.items():
        names = [f"{kind}_{k}" if kind == "text" else f"q{k}_label" for k in range(6)]
        wide = table.assign(**dict.fromkeys(names, values))
        five = ",".join(f"!{name}" for name in names[:5])
        message = told[kind].format(first=f"column 5 ({names[0]!r})", five=five)
        with pytest.raises(ValueError, match=f"{re.escape(message)}$"):
            read(tmp_path, wide)


def test_a_word_among_numbers_is_named_before_columns_of_text(tmp_path, table):
    table = table.astype(object).assign(sex="f")
    table.iloc[4, 1], table.iloc[2, 2] = "tall", "deep"
    message = r"line 4, column 4 \('depth'\) is 'deep', not a number: correct it.*'!depth'$"
    with pytest.raises(ValueError, match=message):
        read(tmp_path, table)


def test_cells_that_are_infinite_or_empty_are_counted(tmp_path, table):
    bad = table.copy()
    bad.iloc[3, 2] = np.inf
    where = r"the first in line 5, column 4 \('depth'\): replace them"
    with pytest.raises(ValueError, match=f"1 cell is infinite, {where}"):
        read(tmp_path, bad)
    bad.iloc[4, 0] = -np.inf
    with pytest.raises(ValueError, match=f"2 cells are infinite, {where}"):
        read(tmp_path, bad)
    empty = table.assign(void=np.nan, gone=np.nan)
    message = r"2 columns without any value: --columns '!void,!gone'$"
    with pytest.raises(ValueError, match=message):
        read(tmp_path, empty)
    lacking = table.copy()
    lacking.iloc[[2, 5]] = np.nan
    note = "a.csv: 2 of 12 samples have an empty row, which lacks this view"
    assert any(one.endswith(note) for one in read(tmp_path, lacking).notes)


def test_values_that_go_on_are_not_labels(tmp_path, table):
    table["y"] = RNG.standard_normal(12)
    assert columns_of(read(tmp_path, table)) == [*NAMES, "y"]


def test_a_second_column_of_ids(tmp_path, table):
    table["site_id"] = np.resize([1, 2, 3], 12)
    with pytest.raises(ValueError, match=r"'site_id'\) looks like ids, .*--id-column site_id"):
        read(tmp_path, table)
    assert columns_of(read(tmp_path, table, columns=["*"])) == [*NAMES, "site_id"]


def test_text_is_named(tmp_path, table):
    table.insert(0, "sex", np.resize(["f", "m"], 12))
    table["seen"] = "2015-03-02"
    message = r"\('sex'\) \(and 1 more\) contains text .'f' in line 2.* --columns '!sex,!seen'"
    with pytest.raises(ValueError, match=message):
        read(tmp_path, table)


def test_a_few_repetitions_of_a_code_are_chance(tmp_path, table):
    table.iloc[[1, 3], [0, 1]] = -999
    table.iloc[3, 0] = 0.5
    with pytest.raises(ValueError, match="3 cells are -999, far from .* of 2 columns"):
        read(tmp_path, table)
    table.iloc[3, 1] = 0.5
    assert read(tmp_path, table).views["a"].shape == (12, 3)


@pytest.mark.parametrize("code", [-999, -99, 9999, 1e30])
def test_codes_of_missing_values_are_named(tmp_path, table, code):
    table.iloc[[1, 3, 5], [0, 1, 1]] = code
    with pytest.raises(ValueError, match=r"6 cells are .* far from all other numbers .*line 3"):
        read(tmp_path, table.astype(float).mask(table == 0))
    ordinary = table.mask(table == code, 0.5)
    ordinary.iloc[0, 0] = code
    assert read(tmp_path, ordinary).views["a"].shape == (12, 3)  # once
    spread = table.copy()
    spread.iloc[:, :] = np.linspace(-1.5 * abs(code), 1.5 * abs(code), 36).reshape(12, 3)
    spread.iloc[[1, 3, 5], [0, 1, 1]] = code
    assert read(tmp_path, spread).views["a"].shape == (12, 3)  # not far off
