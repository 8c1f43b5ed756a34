"""Tables in files: how they are written, which column has ids, and whose rows are whose."""

import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.readers import load_data, load_views

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NAMES = ["height", "width", "depth"]


def frame(ids=None, columns=NAMES, values=X):
    return pd.DataFrame(values, columns=columns, index=ids)


def read(path, **options):
    data = load_data([path], **options)
    (view,) = data.views.values()
    return np.asarray(view), data


def written(path, separator=",", decimal=".", encoding="utf-8", index=False, **options):
    frame(**options).to_csv(path, sep=separator, decimal=decimal, encoding=encoding, index=index)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("decimal", [".", ","])
def test_separators_and_decimal_commas(tmp_path, separator, decimal):
    if separator == decimal:
        pytest.skip("no program writes such a file without quotes")
    found, data = read(written(tmp_path / "a.csv", separator, decimal))
    np.testing.assert_allclose(found, X)
    assert list(data.views["a.csv"].columns) == NAMES
    assert data.ids is None and (data.notes != []) == (decimal == ",")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding):
    path = written(tmp_path / "a.csv", encoding=encoding, columns=["höhe", "width", "größe"])
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert list(data.views["a.csv"].columns) == ["höhe", "width", "größe"]
    assert ("Windows-1252" in "".join(data.notes)) == (encoding == "cp1252")


@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv", ".tsv.gz", ".txt", ".parquet", ".xlsx"])
def test_formats_with_ids(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    table = frame(pd.Index(IDS, name="who"))
    if suffix == ".parquet":
        table.to_parquet(path)
    elif suffix == ".xlsx":
        table.to_excel(path)
    else:
        table.to_csv(path, sep="\t" if "tsv" in suffix else " ")
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert data.ids.tolist() == IDS and data.id_name == "who"
    assert len(data.notes) == 1 and "ids" in data.notes[0]


def test_quotes_blank_lines_and_a_separator_at_the_end(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"height, in m","the\nwidth",\n\n"1.5",2,\n3,4,\n\n5,6,\n')
    found, data = read(path)
    np.testing.assert_array_equal(found, [[1.5, 2], [3, 4], [5, 6]])
    assert list(data.views["a.csv"].columns) == ["height, in m", "the\nwidth"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n\n1,2\n3,x\n5,6\n", "line 4, column 2 \\('b'\\) is 'x', no number"),
        ("a,b\n\n1,2\n3,\n5,6\n", "1 cells are empty, the first in line 4, column 2 \\('b'\\)"),
        ("\n1,2\n3,4,5\n", "line 3 has 3 cells, the first sample has 2"),
        ("a,b\n1,2\n3\n", "the first in line 3, which has 1 cells instead of 2"),
        ('"a\nb",c\n1,2\n3,?\n', "the first in line 4, column 2 \\('c'\\)"),
        ("a,b\n1,red\n2,red\n3,blue\n", "column 2 \\('b'\\) holds text .* --columns"),
        ("a,b,c\n1,2\n3,4\n", "the header has 3 names, the samples have 2 cells"),
        ("site_id,b\n1,2.5\n1,3.5\n2,4.5\n", "has the name of ids, but not a different one"),
    ],
)
def test_errors_point_to_the_line_of_an_editor(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"a\.csv: .*{message}"):
        load_data([path])


def test_comments_above_a_table(tmp_path):
    path = tmp_path / "a.csv"
    np.savetxt(path, X, delimiter=",", header='measured in "Rome\nheight,width,depth')
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert list(data.views["a.csv"].columns) == NAMES and data.notes == []
    path.write_text("# of 2024\n\n1,2\n3,x\n")
    with pytest.raises(ValueError, match="line 4, column 2 is 'x'"):
        load_data([path])


def test_labels_among_the_features_are_said(tmp_path):
    path = written(tmp_path / "a.csv", columns=["height", "width", "class"])
    assert "column 3 ('class') is taken as a feature" in read(path)[1].notes[0]
    assert read(path, columns="height,width")[1].notes == []


def test_old_ends_of_lines_and_ids_alone(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\r1,2.5\r2,3\r")
    np.testing.assert_array_equal(read(path)[0], [[1, 2.5], [2, 3]])
    path.write_text("id\n1\n2\n")
    with pytest.raises(ValueError, match="no numbers found beside the ids"):
        load_data([path])


def test_excel_errors_point_to_the_row_and_sheets_are_said(tmp_path):
    path = tmp_path / "a.xlsx"
    with pd.ExcelWriter(path) as book:
        frame().to_excel(book, index=False)
        frame().to_excel(book, sheet_name="other")
    (note,) = read(path)[1].notes
    assert "first of 2 sheets is read, 'Sheet1': save another one that is a view" in note
    cells = frame().astype(object)
    cells.iloc[4, 1] = "tall"
    cells.to_excel(path, index=False)
    with pytest.raises(ValueError, match=r"row 6, column 2 \('width'\) is 'tall', no number"):
        load_data([path])


@pytest.mark.parametrize(
    ("ids", "name", "reason"),
    [
        (range(12), None, "no name"),
        (range(100, 112), "id", "name"),
        ([5 * i * i for i in range(12)][::-1], "sample_id", "name"),
        (IDS, "title", "texts"),
        (range(1, 13), "count", "consecutive"),
        (RNG.permutation(12), "count", "another order"),
        ([i * i for i in range(12)], "count", "ascending"),
    ],
)
def test_ids_are_no_feature(tmp_path, ids, name, reason):
    path = tmp_path / "a.csv"
    frame(pd.Index(ids, name=name)).to_csv(path)
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert data.ids.tolist() == list(ids)
    (note,) = data.notes
    assert "taken as ids" in note and reason in note and "--id-column none" in note
    with pytest.warns(UserWarning, match="taken as ids"):
        views, _ = load_views([path])
    np.testing.assert_allclose(views[0], X)


def test_ids_where_files_have_no_header(tmp_path):
    path = tmp_path / "a.csv"
    frame(IDS).to_csv(path, header=False)
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert data.ids.tolist() == IDS
    frame(IDS, columns=range(3)).to_csv(path)  # the header is ",0,1,2"
    np.testing.assert_allclose(read(path)[0], X)
    path.write_text("height width\ns1 1.5 2\ns2 3 4\n")  # as R writes row names
    found, data = read(path)
    np.testing.assert_array_equal(found, [[1.5, 2], [3, 4]])
    assert data.ids.tolist() == ["s1", "s2"]


def test_ids_that_are_written_with_zeros_stay_so(tmp_path):
    path = tmp_path / "a.csv"
    frame(pd.Index([f"{i:03d}" for i in range(12)], name="id")).to_csv(path)
    assert read(path)[1].ids.tolist()[:2] == ["000", "001"]
    np.savetxt(path, np.column_stack([np.arange(12), X]), delimiter=",")
    assert read(path)[1].ids.tolist() == list(range(12))  # written as 0.000e+00


def test_integer_features_are_no_ids(tmp_path):
    path = tmp_path / "a.csv"
    counts = np.column_stack([[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], np.arange(12)])
    frame(columns=["legs", "eyes"], values=counts).to_csv(path, index=False)
    found, data = read(path)
    np.testing.assert_array_equal(found, counts)
    assert data.ids is None and data.notes == []


def test_the_column_of_ids_and_the_features_are_named(tmp_path):
    path = tmp_path / "a.csv"
    table = frame(pd.Index(range(12), name="id")).reset_index()
    table["plate"] = IDS
    table.to_csv(path, index=False)
    found, data = read(path, id_column="plate", columns="height,depth")
    np.testing.assert_allclose(found, X[:, [0, 2]])
    assert data.ids.tolist() == IDS and data.notes == []
    for columns in ("2-4", "*th,height", "height,2,width,depth"):
        assert read(path, id_column="5", columns=columns)[0].shape[1] == 3
    assert read(path, id_column="none", columns="1-4")[0].shape[1] == 4
    for columns, message in (("weight", "no column 'weight' .its columns are id, height"),
                             ("7", "no columns 7, it has 5"),
                             ("plate", "holds text")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            load_data([path], columns=columns, id_column="id")
    table.loc[3, "id"] = 2
    table.to_csv(path, index=False)
    with pytest.raises(ValueError, match="the id 2 occurs again in line 5, column 1"):
        load_data([path], id_column="id", columns="height")


def test_one_table_gives_several_views(tmp_path):
    path = written(tmp_path / "a.csv", index=True, ids=pd.Index(IDS, name="id"))
    data = load_data([path], columns=["height", "width,depth"])
    assert [view.shape for view in data.views.values()] == [(12, 1), (12, 2)]
    assert list(data.views) == ["height", "width,depth"] and data.ids.tolist() == IDS


@pytest.fixture
def two(tmp_path):
    """Two tables with ids, the second in another order."""
    order = RNG.permutation(12)
    frame(pd.Index(IDS, name="id")).to_csv(tmp_path / "a.csv")
    frame(pd.Index(IDS, name="id"), values=X + 1).iloc[order].to_csv(tmp_path / "b.csv")
    return [tmp_path / "a.csv", tmp_path / "b.csv"]


def test_rows_are_matched_by_ids(two):
    data = load_data(two)
    np.testing.assert_allclose(np.asarray(data.views["b.csv"]), X + 1)
    assert data.ids.tolist() == IDS
    assert any("another order" in note and "matched by id" in note for note in data.notes)


def test_other_ids_are_an_error_until_a_join_says_what_to_do(two, tmp_path):
    table = pd.read_csv(two[1], index_col=0)
    table = table.drop(["s03", "s07"])
    table.loc["t1"] = 5.0
    table.to_csv(two[1])
    with pytest.raises(ValueError, match=r"1 only in .*b\.csv: 't1'; 2 only in .*a\.csv: 's03'"):
        load_data(two)
    inner = load_data(two, join="inner")
    kept = [i for i in range(12) if i not in (3, 7)]
    np.testing.assert_allclose(np.asarray(inner.views["b.csv"]), X[kept] + 1)
    assert inner.ids.tolist() == [IDS[i] for i in kept]
    assert "10 samples, 3 left out" in inner.notes[-1]
    outer = load_data(two, join="outer")
    assert outer.ids.tolist() == [*IDS, "t1"] and "3 of which lack a view" in outer.notes[-1]
    missing = np.isnan(np.asarray(outer.views["b.csv"])).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(missing), [3, 7])
    np.save(tmp_path / "c.npy", X)
    with pytest.raises(ValueError, match="--join matches files by ids: .*c.npy has none"):
        load_data([two[0], tmp_path / "c.npy"], join="inner")


def test_files_without_ids_are_taken_in_order(two, tmp_path):
    np.save(tmp_path / "c.npy", X)
    data = load_data([two[0], tmp_path / "c.npy"])
    assert "c.npy has no ids" in data.notes[-1] and data.ids.tolist() == IDS
    with pytest.raises(ValueError, match="c.npy has none: no order fits"):
        load_data([*two, tmp_path / "c.npy"])
    np.save(tmp_path / "c.npy", X[:5])
    with pytest.raises(ValueError, match="c.npy has 5 samples"):
        load_data([two[0], tmp_path / "c.npy"])


def test_options_that_would_be_ignored(two, tmp_path):
    np.savez(tmp_path / "a.npz", view_0=X)
    for options, message in (({"id_column": "id"}, "--id-column is for tables"),
                             ({"columns": "a"}, "--columns is for tables"),
                             ({"join": "inner"}, "--join matches files by ids")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            load_data([tmp_path / "a.npz"], **options)
    with pytest.raises(ValueError, match="3 times for 2 files"):
        load_data(two, columns=["1", "2", "3"])


class Stdin:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def test_standard_input(tmp_path, monkeypatch):
    text = frame().to_csv(index=False).encode()
    array = io.BytesIO()
    np.save(array, X)
    for content in (text, gzip.compress(text), array.getvalue()):
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        np.testing.assert_allclose(read("-")[0], X)
    monkeypatch.setattr(sys, "stdin", Stdin(text))
    assert len(load_data(["-"], columns=["height", "width,depth"]).views) == 2
    monkeypatch.setattr(sys, "stdin", Stdin(b"a,b\n1,x\n2,3\n4,5\n"))
    with pytest.raises(ValueError, match="^standard input: line 2, column 2 .'b'. is 'x'"):
        load_data(["-"])


def test_arrays_on_the_disk_stay_there(tmp_path):
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    np.save(tmp_path / "a.npy", X)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["view_0"], file["y"] = X, np.arange(12)
    zarr.save(str(tmp_path / "a.zarr"), view_0=X)
    for name in ("a.npy", "a.h5", "a.zarr"):
        (view,) = load_data([tmp_path / name], lazy=True).views.values()
        assert isinstance(view, np.memmap) or not isinstance(view, np.ndarray)
        np.testing.assert_array_equal(view[:], X)
        found, data = read(tmp_path / name)
        np.testing.assert_array_equal(found, X)
        assert (data.y is not None) == (name == "a.h5")


def test_without_pandas_plain_numbers_are_read(two, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    path = tmp_path / "n.csv"
    path.write_text("id;a;b\n" + "".join(f"{i};{i / 4};{-i}\n" for i in range(5)))
    found, data = read(path)
    np.testing.assert_array_equal(found, [[i / 4, -i] for i in range(5)])
    assert data.ids.tolist() == list(range(5)) and "taken as ids" in data.notes[0]
    path.write_text("a\tb\n1\t2\n\n3\tx\n")
    with pytest.raises(ValueError, match="line 4, column 2 .'b'. is 'x'"):
        load_data([path])
    for name, text in (("c.csv", "a;b\n1,5;2,5\n3;4\n"), ("d.parquet", "")):
        (tmp_path / name).write_text(text)
        with pytest.raises(ImportError, match=r"pip install mvsc_fast\[files\]"):
            load_data([tmp_path / name])
    with pytest.raises(ImportError, match=r"needs pandas: pip install mvsc_fast\[files\]"):
        load_data(two)
