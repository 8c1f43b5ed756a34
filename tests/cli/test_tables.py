"""Tables: what is read by the contract of docs/files.md, and what stops with its place."""

import os
from decimal import Decimal
from threading import Thread

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.cli import main

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NAMES = ["height", "width", "depth"]


def frame(ids=None, name="id", columns=NAMES, values=X, **more):
    index = None if ids is None else pd.Index(ids, name=name)
    return pd.DataFrame(values.copy(), index, list(columns)).assign(**more)


def assert_read(data, values=X, names=NAMES, ids=IDS):
    """Compare the only view, its columns and its ids."""
    (view,) = data.views.values()
    np.testing.assert_array_equal(view, values)
    assert list(view.columns) == list(names) and data.ids == ids


@pytest.fixture
def read_text(read, tmp_path):
    """A function that reads a text, or a data frame, as a file a.csv."""

    def read_text(content, **options):
        path = tmp_path / "a.csv"
        if isinstance(content, pd.DataFrame):
            content = content.to_csv(index=content.index.name is not None)
        path.write_text(content)
        return read(path, **options)

    return read_text


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".tsv", ".txt", ".parquet", ".xlsx"])
@pytest.mark.parametrize("ids", [IDS, range(5, 17), None])
def test_formats(tmp_path, read, suffix, ids):
    path, table, index = tmp_path / f"a{suffix}", frame(ids), ids is not None
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
        table.rename_axis("who" if index else None).to_parquet(path)
    elif suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        table.to_excel(path, index=index)
    else:
        table.to_csv(path, sep="," if "csv" in suffix else "\t", index=index)
    data = read(path)
    names = list(map(str, ids or ()))
    assert_read(data, ids=names or None)
    assert list(data.views) == ["a"]
    (note, _) = [*data.notes, ""][:2]
    name = "who" if suffix == ".parquet" else "id"
    told = f" (ids '{name}': {str(names[:3])[1:-1]}, ... (12 in all))" if index else ""
    assert note == f"{path}: 12 samples{told}, 3 features ('height', 'width', 'depth')"


@pytest.mark.parametrize(
    ("ids", "name", "is_id"),
    [
        (IDS, "who", True),
        (["x", *map(str, range(11))], "who", True),
        (range(12), "id", True),
        (range(12), "patient_id", True),
        (range(12), "Patient ID", True),
        (range(12), "", True),
        (range(12), "index", True),
        (range(12), "age", False),
        (range(12), "fluid", False),
        ([None, *[True] * 11], "smoker", False),
    ],
)
def test_the_first_column_has_the_ids_if_it_has_text_or_a_name_of_ids(read_text, ids, name, is_id):
    text = frame(list(ids), name or "id").to_csv()
    data = read_text(text if name else text.removeprefix("id"))
    assert (data.ids == list(map(str, ids))) == is_id
    assert data.views["a"].shape[1] == (3 if is_id else 4)
    assert data.id_name == ((name or "id") if is_id else "sample")


def test_ids_are_the_text_of_their_cells(read_text, tmp_path, read):
    ids = [*(f"{i:03d}" for i in range(11)), "NA"]
    assert_read(read_text(frame(ids)), ids=ids)
    pytest.importorskip("pyarrow")
    ids[-1] = "011"  # texts of digits are texts
    frame(ids, "who").reset_index().to_parquet(tmp_path / "a.parquet", index=False)
    assert_read(read(tmp_path / "a.parquet"), ids=ids)
    pd.DataFrame({"mass": map(Decimal, "12"), "b": 0}).to_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet").ids is None


def test_the_column_of_ids_is_selected(tmp_path, read, read_text):
    table = frame(key=range(100, 112), who=IDS)
    assert_read(read_text(table, id_column="who", columns="!key"))
    numbers = list(map(str, range(100, 112)))
    assert_read(read_text(table, id_column="key", columns="!who"), ids=numbers)
    for ids in (range(12), IDS):
        assert_read(read_text(frame(ids), id_column="none"), ids=None)
    assert_read(read_text(frame(range(12), "", who=IDS), id_column="who"))  # numbers of rows
    table.drop(columns="who").to_csv(tmp_path / "a.csv", index=False)
    frame(numbers[::-1], "other").to_csv(tmp_path / "b.csv")
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    data = read(*paths, id_column=["key", "other"])
    assert data.ids == numbers and data.id_name == "key"
    np.testing.assert_array_equal(data.views["b"], X[::-1])
    with pytest.raises(ValueError, match="b.csv: --id-column: 0 of the columns 'key' are there"):
        read(*paths, id_column="key")
    assert_read(read(paths[1], id_column=["other", "other"]), ids=numbers[::-1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1.5,2\n3,x\n5,6\n", "row 2 of column 'b' is 'x', not a number: .*--columns '!b'"),
        ("id,a\np,1\nq,x\n", "row 2 .'q'. of column 'a' is 'x'"),
        ('a,b\n1,2\n3,"2,5"\n', "row 2 of column 'b' is '2,5', .*--sep and --decimal,"),
        ("a;b\n1;2\n3;4\n", "row 1 of column 'a;b' is '1;2', .*--sep"),
        ("a;b\n1,5;2,5\n3;4\n", "row 1 below the header has 3 cells, .* 1: .*--sep"),
        ("id,a\np,1\nq,2\np,3\n", "the column of ids 'id' has 'p' .* in row 3"),
        ("id,a\np,1\n,2\n", "the column of ids 'id' is empty in row 2: .*--id-column"),
        ("a,a\n1,2\n", "the header has a name twice, 'a'"),
        ("a,b,\n1,2,\n", "column 3 has no name"),
        ("", "a.csv: No columns"),
        ("a,b\n", "no samples below a header"),
        ("1.5,2.5\n3,4\n5,6\n", "the first row has numbers .'1.5', '2.5'. in place of names"),
        ("0,1,0\n3,4,5\n", "the first row has numbers .'0', '1', '0'. in place of names"),
        ("p,1.5,2\nq,3,4\n", "the first row has numbers .'p', '1.5', '2'. in place of names"),
        ("a,b\ns1,1,2\ns2,3,4\n", "row 1 below the header has 3 cells, and the header has 2"),
        ("a,b,c\n1,2,3\n3,4\n", "row 2 below the header has 2 cells, and the header has 3"),
        ("id\np\nq\n", "row 1 of column 'id' is 'p', not a number: .*--sep"),
        ("a\n1\n\n3\n", "row 2 below the header is empty"),
        ("a,b\n1,2\n\xa0\n", "row 2 below the header is empty"),
        ("a,b,c\n1,x,y\n", "column 'b' is 'x', .*--columns '!b,!c'"),
    ],
)
def test_what_is_no_table_of_numbers_stops_with_its_place(read_text, text, message):
    with pytest.raises(ValueError, match=message) as error:
        read_text(text)
    assert str(error.value).count("a.csv") == 1


def test_texts_of_other_programs(tmp_path, read):
    path = tmp_path / "a.csv"
    frame(IDS).to_csv(path, sep=";", decimal=",", encoding="utf-8-sig")
    assert_read(read(path, sep=";", decimal=","))
    path.write_text("id;a\np;2,5\nq;1.000\n")  # a thousand
    with pytest.raises(ValueError, match="row 2 .'q'. of column 'a' is '1.000', not a number"):
        read(path, sep=";", decimal=",")
    path.write_text("0,5;1,5\n1;2,5\n")
    with pytest.raises(ValueError, match="the first row has numbers .'0,5', '1,5'."):
        read(path, sep=";", decimal=",")
    frame(IDS).to_csv(path.with_suffix(".txt"), sep=" ")
    assert_read(read(path.with_suffix(".txt"), sep=" "))
    frame(IDS).to_csv(path, sep="\t")
    assert_read(read(path, sep=r"\t"))
    frame(IDS, "Patiënt").to_csv(path, encoding="latin-1")
    with pytest.raises(ValueError, match="a.csv is not a text in UTF-8"):
        read(path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_tables_are_turned(tmp_path, read, suffix):
    pytest.importorskip({".parquet": "pyarrow", ".xlsx": "openpyxl"}.get(suffix, "pandas"))
    path, table = tmp_path / f"a{suffix}", frame(IDS).T.rename_axis("gene").reset_index()
    write = getattr(table, {".xlsx": "to_excel"}.get(suffix, f"to_{suffix[1:]}"))
    write(path, index=False)
    assert_read(read(path, transpose=None))
    assert_read(read(path, transpose=None, columns="!width"), X[:, [0, 2]], ["height", "depth"])
    table.assign(about="text").to_csv(path.with_suffix(".csv"), index=False)
    with pytest.raises(ValueError, match="row 1 .'height'. of column 'about' is 'text'.*remove"):
        read(path.with_suffix(".csv"), transpose=None)


def test_cells_with_texts_of_numbers(tmp_path, read):
    pytest.importorskip("openpyxl")
    path, texts = tmp_path / "a.xlsx", frame().astype(str)
    texts.to_excel(path, index=False)
    assert_read(read(path), ids=None)
    with pytest.raises(ValueError, match=r"column 'width' is '-?\d+\.\d+', not a number"):
        read(path, decimal=",")  # points are marks of thousands
    texts.apply(lambda column: column.str.replace(".", ",")).to_excel(path, index=False)
    assert_read(read(path, decimal=","), ids=None)
    frame([None, *IDS[1:]]).reset_index().to_excel(path, index=False, na_rep="#N/A")
    with pytest.raises(ValueError, match="the column of ids 'id' is empty in row 1"):
        read(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_pipe_is_read_once(tmp_path, read):
    os.mkfifo(tmp_path / "a.csv")
    writer = Thread(target=frame(IDS).to_csv, args=[tmp_path / "a.csv"])
    writer.start()
    assert_read(read(tmp_path / "a.csv"))
    writer.join()


def test_dates_are_no_numbers(tmp_path, read):
    pytest.importorskip("pyarrow")
    frame(IDS, day=pd.Timestamp("2026-01-01")).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="row 1 .* of column 'day' is '2026-01-01"):
        read(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="absent.parquet: No such file"):
        read(tmp_path / "absent.parquet")


def test_missing_cells_are_those_of_pandas(read_text):
    table, expected = frame(IDS).astype(object), X.copy()
    table.iloc[3, 1], table.iloc[5, 0], expected[3, 1], expected[5, 0] = "NA", "", np.nan, np.nan
    assert_read(read_text(table.to_csv() + "\n \n\r\n"), expected)
    assert_read(read_text('a\n1\n""\n3\n'), [[1], [np.nan], [3]], ["a"], None)


def test_other_files_are_refused(tmp_path, read):
    (tmp_path / "a.pdf").write_text("")
    with pytest.raises(ValueError, match=r"a.pdf: expected a .csv, .*.h5mu with all"):
        read(tmp_path / "a.pdf")
    np.save(tmp_path / "a.npy", X[0])
    with pytest.raises(ValueError, match=r"a.npy: expected a matrix of numbers, .* \(3,\)"):
        read(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(ValueError, match="--columns has no use for .*a.npy"):
        read(tmp_path / "a.npy", columns="a")


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("width", ["width"]),
        ("*th,height", ["width", "depth", "height"]),
        ("!width,!sex", ["height", "depth"]),
        ("*,!sex", NAMES),
        ("absent", "no column 'absent'; there are 'height', 'width', 'depth', ..."),
        ("*", "row 1 .'s00'. of column 'sex' is 'f', not a number"),
    ],
)
def test_columns_are_chosen_and_excluded(read_text, columns, expected):
    table = frame(IDS, sex="f")
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            read_text(table, columns=columns)
    else:
        assert_read(read_text(table, columns=columns), table[expected], expected)


def test_columns_of_several_tables(tmp_path, read):
    for name, columns in (("a", NAMES), ("b", ["width", "depth", "length"])):
        frame(IDS, columns=columns).to_csv(tmp_path / f"{name}.csv")
    paths = tmp_path / "a.csv", tmp_path / "b.csv"
    views = read(*paths, columns="!height").views
    assert [list(view) for view in views.values()] == [NAMES[1:], ["width", "depth", "length"]]
    with pytest.raises(ValueError, match="b.csv: there are no columns of features"):
        read(*paths, columns="height")


def test_one_table_gives_several_views(read_text):
    views = read_text(frame(IDS), columns=["h*", "size=width,depth"]).views
    assert {name: list(view) for name, view in views.items()} == {
        "h*": ["height"],
        "size": ["width", "depth"],
    }
    with pytest.raises(ValueError, match="two views have the same name"):
        read_text(frame(IDS), columns=["a=width", "a=depth"])


def test_rows_are_matched_by_id_or_by_position(tmp_path, read):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    order = RNG.permutation(12)
    frame(IDS, "who").to_csv(a)
    frame(IDS).iloc[order].to_csv(b)
    data = read(a, b)
    assert data.ids == IDS and data.id_name == "who"
    np.testing.assert_array_equal(data.views["a"], data.views["b"])
    assert "matched by position" in str(read(a, b, id_column="none").notes)
    frame(IDS).iloc[2:].to_csv(b)
    with pytest.raises(ValueError, match="different ids .only in a: 's00', 's01'.: --join inner"):
        read(a, b)
    assert read(a, b, join="inner").ids == IDS[2:]
    data = read(a, b, join="outer")
    assert data.ids == IDS and np.isnan(data.views["b"].iloc[:2]).all(axis=None)
    frame().to_csv(b, index=False)
    with pytest.raises(ValueError, match="'a' has ids and 'b' has none: .*--id-column none"):
        read(a, b)
    np.save(tmp_path / "c.npy", X)
    data = read(b, tmp_path / "c.npy")
    assert data.ids is None and list(data.views) == ["b", "c"]
    np.save(tmp_path / "c.npy", X[1:])
    with pytest.raises(ValueError, match="different numbers of samples: .*'b': 12, 'c': 11"):
        read(b, tmp_path / "c.npy")
    frame([f"x{i}" for i in range(12)]).to_csv(b)
    with pytest.raises(ValueError, match="shares no id"):
        read(a, b, join="outer")


@pytest.mark.parametrize(
    ("table", "outcome"),
    [
        (frame(IDS[::-1], kind=["x", "y"] * 6)[["kind"]], 12),
        (frame(IDS, kind=1)[["kind"]][:5], 5),
        (frame(IDS, cluster=1), 12),
        (frame(IDS), "one column, or called cluster or label: 'height'"),
        (
            frame([f"x{i}" for i in range(12)], kind=1)[["kind"]],
            "no id is one of the views, such as 's00'",
        ),
    ],
)
def test_labels_are_matched_by_id(tmp_path, read_text, table, outcome):
    table.to_csv(tmp_path / "known.csv")
    options = {"scores": tmp_path / "known.csv"}
    if isinstance(outcome, str):
        with pytest.raises(ValueError, match=outcome):
            read_text(frame(IDS), **options)
    else:
        assert f"{outcome} samples by cluster" in read_text(frame(IDS), **options).out


def test_labels_of_samples_without_ids_are_matched_by_position(tmp_path, read_text):
    pd.DataFrame({"kind": list("ab") * 6}).to_csv(tmp_path / "known.csv", index=False)
    data = read_text(frame(), scores=tmp_path / "known.csv")
    names, values, title, head, counts = data.out.splitlines()
    assert values.split()[:2] == ["awp", "0.500"] and title.startswith("12 samples by cluster")
    assert head.split() == ["a", "b"] and counts.split() == ["0", "6", "6"]
    with pytest.raises(ValueError, match="12 labels of 3 samples"):
        read_text(frame(values=X[:3]), scores=tmp_path / "known.csv")
    with pytest.raises(ValueError, match="only the views have ids: .*--id-column none"):
        read_text(frame(IDS), scores=tmp_path / "known.csv")
    both = {"scores": tmp_path / "known.csv", "id_column": "none"}
    assert read_text(frame(IDS), **both).out == data.out


def test_labels_are_a_column_of_the_only_table(read_text):
    """It is no feature, and has no ids if it is the first one."""
    kinds = pd.Series(list("ab") * 6, name="kind")
    data = read_text(pd.concat([kinds, frame()], axis=1), scores="kind")
    assert_read(data, ids=None)
    assert data.out.splitlines()[3].split() == ["a", "b"]
    with pytest.raises(ValueError, match="--scores: .*'kid'; the nearest name to 'kid' is 'kind'"):
        read_text(frame(IDS, kind=1), scores="kid")
    with pytest.raises(ValueError, match="--scores kind: no sample has a label"):
        read_text(frame(IDS, kind=np.nan), scores="kind")


@pytest.mark.filterwarnings("default")
def test_columns_that_are_no_features_are_warned_of(tmp_path, capsys):
    """By the fit, as in Python."""
    y = np.repeat([0, 1], 30)
    values = 6 * np.eye(2, 8)[y] + np.random.default_rng(0).standard_normal((60, 8))
    pd.DataFrame(values).add_prefix("f").assign(diagnosis=y).to_csv(tmp_path / "a.csv", index=False)
    assert main(["cluster", str(tmp_path / "a.csv"), "--clusters", "2"]) == 0
    assert "labels, outcomes or ids are used as features: 'diagnosis'" in capsys.readouterr().err
