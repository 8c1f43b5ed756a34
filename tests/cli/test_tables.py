"""Tables as files hold them: what is read, and what stops with its place in the file."""

import bz2
import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.cli._readers import load_data

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NAMES = ["height", "width", "depth"]


def frame(ids=None, columns=NAMES, values=X):
    return pd.DataFrame(values.copy(), columns=columns, index=ids)


def read(path, **options):
    data = load_data([path], **options)
    (view,) = data.views.values()
    return np.asarray(view), data


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("index", [True, False])
def test_separators_and_decimal_commas(tmp_path, separator, decimal, index):
    path = tmp_path / "a.csv"
    ids = pd.Index(IDS, name="who") if index else None
    frame(ids).to_csv(path, sep=separator, decimal=decimal, index=index)
    values, data = read(path, decimal=[decimal])
    np.testing.assert_array_equal(values, X)
    assert list(data.views["a"].columns) == NAMES and (data.ids is not None) == index
    assert len(data.notes) == 1  # on ids
    if decimal == ",":
        with pytest.raises(ValueError, match="--decimal ,"):
            read(path)


@pytest.mark.parametrize(
    ("cells", "options", "expected"),
    [
        (["1,234", "12"], {"thousands": [","]}, [1234, 12]),
        (["1,234,567.5", "12"], {"thousands": [","]}, [1234567.5, 12]),
        (["1.234,5", "12"], {"thousands": ["."]}, [1234.5, 12]),
        (["1 234", "1\u00a0235"], {"thousands": [" "]}, [1234, 1235]),
        (["1.234", "12"], {"decimal": ["."]}, [1.234, 12]),
        (["1,234", "2,5"], {"decimal": [","]}, [1.234, 2.5]),
        (["1.234", "0.5"], {}, [1.234, 0.5]),
        (["1.234", "12"], {}, "line 2, column 2 .* '1.234', .* --decimal . or --thousands ."),
        (["1,234", "12"], {}, "'1,234', .* --decimal , or --thousands ,"),
        (["12", "1 234 567"], {}, "line 3, column 2 .* --thousands ' '"),
        (["1,5", "12"], {"thousands": [","]}, "line 2, column 2 .'b'. is '1,5', not a number"),
        (["1.5", "1,5"], {"decimal": [","]}, "line 2, column 2 .'b'. is '1.5', not a number"),
    ],
)
@pytest.mark.parametrize("n", [1, 30])
def test_separators_of_thousands_are_never_guessed(tmp_path, cells, options, expected, n):
    lines = [f"s{i};{cell};{i * i + 3}" for i, cell in enumerate(cells * n)]
    (tmp_path / "a.csv").write_text("\n".join(["id;b;c", *lines]), encoding="utf-8")
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            read(tmp_path / "a.csv", **options)
        return
    np.testing.assert_array_equal(read(tmp_path / "a.csv", **options)[0][:, 0], expected * n)


def test_marks_of_one_file_leave_the_others_alone(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    frame(IDS).to_csv(paths[0], sep=";", decimal=",")
    frame(IDS).to_csv(paths[1])
    with pytest.raises(ValueError, match=f"a.csv: line 2, .*--decimal {paths[0]}:, if"):
        load_data(paths)
    with pytest.raises(ValueError, match=f"b.csv: line 2, .*--decimal {paths[1]}:. if"):
        load_data(paths, decimal=[","])
    data = load_data(paths, decimal=[f"{paths[0]}:,"])
    np.testing.assert_array_equal(data.views["a"], X)
    np.testing.assert_array_equal(data.views["b"], X)


@pytest.mark.parametrize("options", [{"decimal": [";"]}, {"thousands": ["x"]}, {"decimal": [","]}])
def test_marks_that_are_none(tmp_path, options):
    with pytest.raises(ValueError, match="--(decimal|thousands) '.'"):
        read(tmp_path / "a.csv", **{"thousands": [","], **options})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding):
    frame(columns=["höhe", "width", "größe"]).to_csv(
        tmp_path / "a.csv", encoding=encoding, index=False
    )
    values, data = read(tmp_path / "a.csv")
    np.testing.assert_array_equal(values, X)
    assert list(data.views["a"].columns) == ["höhe", "width", "größe"]
    assert ("Windows-1252" in "".join(data.notes)) == (encoding == "cp1252")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_that_are_not_recognized(tmp_path, encoding):
    frame().to_csv(tmp_path / "a.csv", encoding=encoding)
    with pytest.raises(ValueError, match="a.csv has NUL characters"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "suffix", [".csv.gz", ".csv.bz2", ".csv.xz", ".tsv", ".txt", ".parquet", ".xlsx"]
)
def test_formats_with_ids(tmp_path, suffix):
    path, table = tmp_path / f"a{suffix}", frame(pd.Index(IDS, name="who"))
    if suffix == ".parquet":
        table.to_parquet(path)
    elif suffix == ".xlsx":
        table.to_excel(path)
    else:
        table.to_csv(path, sep="\t" if suffix == ".tsv" else " ")
    values, data = read(path)
    np.testing.assert_array_equal(values, X)
    assert data.ids.tolist() == IDS and data.id_name == "who" and list(data.views) == ["a"]
    assert data.notes == [f"ids are column 1 ('who') of {path}"]


@pytest.mark.parametrize(
    "text",
    [
        '"height, in m","the\nwidth"\n\n"1.5",2\n3,4\n\n5,6\n',
        '"height, in m","the\nwidth",\n1.5,2,\n3,4,\n5,6,\n',
        '"height, in m","the\nwidth"\n1.5,2,\n3,4,\n5,6,\n',
        '"height, in m","the\nwidth",,\n1.5,2,,\n3,4,,\n5,6,,\n,,,\n',
        'sep=,\n"height, in m","the\nwidth"\n1.5,2\n3,4\n5,6\n',
        '# made in "Rome\n! 2024\n"height, in m","the\nwidth"\n1.5,2\n3,4\n5,6\n',
        'sep=;\n"height, in m";"the\nwidth"\r\n1.5;2\r\n3;4\r\n5;6\r\n',
    ],
)
def test_what_surrounds_a_table(tmp_path, text):
    (tmp_path / "a.csv").write_bytes(text.encode())
    values, data = read(tmp_path / "a.csv")
    np.testing.assert_array_equal(values, [[1.5, 2], [3, 4], [5, 6]])
    assert list(data.views["a"].columns) == ["height, in m", "the\nwidth"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n\n1.5,2\n3,x\n5,6\n", r"line 4, column 2 \('b'\) is 'x', not a number"),
        ("a,b\n\n1,2\n3,\n5,6\n", r"16.7 % of the cells .* line 4, column 2 \('b'\)"),
        ("a,b\n1,2\n3,-inf\n5,1e999\n", "2 infinite cells, the first in line 3, column 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells, but the table has 2 columns"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cell, but the table has 2 columns"),
        ('a,b\n"1",2\n3\n', "line 3 has 1 cell"),
        ('"a\nb",c\n1,2\n3,?\n', r"the first in line 4, column 2 \('c'\)"),
        ("a,b\n1,red\n2,red\n3,blue\n", r"column 2 \('b'\) is 'red', .* --columns '!b' excludes"),
        ("a,b,c\n1,2\n3,4\n", "line 1 has 3 cells, the next row has 2"),
        ("Export of 2024\n\na,b,c\n1,2,3\n", "line 1 has 1 cell, the next row has 3.*a title"),
        ("a,b\n1,\n2,\n", "50 % .*--columns '!b' excludes empty columns"),
        ("", "is empty"),
        ("a,b\n", "no samples"),
        ("id\n1\n2\n", "no columns except the ids"),
        (",g,g\n,a,b\np,,\ns1,1,2\n", "line 2, column 1 is empty.*second row of names"),
        ('a,b\n1,"2\n3,4\n', "line 2 has 2|has a quotation|EOF inside string|1 cell"),
    ],
)
def test_errors_have_the_line_and_column_of_an_editor(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"a\.csv:? .*{message}") as caught:
        read(tmp_path / "a.csv")
    assert str(caught.value).count("a.csv") == 1


@pytest.mark.parametrize("cell", ["1_5", "\u0661\u0662", "12%", "0x1F", "(3.2)", "<0.5", "-", "."])
@pytest.mark.parametrize("row", [3, 40])
def test_cells_that_are_no_numbers_in_any_row(tmp_path, cell, row):
    table = pd.DataFrame(RNG.standard_normal((60, 3)), columns=NAMES).astype(object)
    table.iloc[row, 1] = cell
    table.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match=rf"line {row + 2}, column 2 .'width'. is '.*', not a num"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize("code", ["", "NA", "N/A", "nan", "NaN", "NULL", "null", "?", "na", "<NA>"])
@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_missing_cells(tmp_path, code, suffix):
    table = frame(pd.Index(IDS, name="id")).astype(object)
    table.iloc[4, 1] = code
    table.iloc[7] = ""
    path = tmp_path / f"a{suffix}"
    (table.to_csv if suffix == ".csv" else table.to_excel)(path)
    values, data = read(path)
    expected = X.copy()
    expected[4, 1] = expected[7] = np.nan
    np.testing.assert_array_equal(values, expected)
    where = "line 6" if suffix == ".csv" else "row 6"
    assert f"{path}: the first empty cell is in {where}, column 3 ('width')" in data.notes


@pytest.mark.parametrize("code", [-999, -99, 9999, 1e30])
def test_codes_of_missing_values(tmp_path, code):
    table = frame(pd.Index(IDS, name="id"))
    table.iloc[[1, 3, 5], 0] = code
    table.to_csv(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="3 cells .*unlike all other numbers .* line 3, column 2"):
        read(tmp_path / "a.csv")
    table.iloc[1, 0] = 0.5
    table.to_csv(tmp_path / "a.csv")
    assert len(read(tmp_path / "a.csv")[0]) == 12  # twice is chance


# ----------------------------------------------------------------------------------------- headers


@pytest.mark.parametrize(
    "header",
    [
        ["id", "7157", "1956", "7157"],
        ["patient", "0", "1", "0"],
        ["cell", "0", "1", "0.1"],
        ["", "0", "1", "0"],
        ["Probe", "650.5", "640.25", "630"],
    ],
)
def test_names_that_are_numbers_below_a_name_of_ids(tmp_path, header):
    frame(IDS, header[1:]).to_csv(tmp_path / "a.csv", index_label=header[0])
    option = [header[0]] if header[0] == "Probe" else None
    values, data = read(tmp_path / "a.csv", id_column=option)
    np.testing.assert_array_equal(values, X)
    assert data.ids.tolist() == IDS and list(data.views["a"].columns) == header[1:]


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("0,1,2", None),
        ("1,2,3", None),
        ("0,1,0", "may be a sample or names"),
        ("0.5,1.2,2.1", "may be a sample or names"),
        ("10,20,30", "may be a sample or names"),
        ("who,20,30", "may be a sample or names"),
        ("age,2020,2021", "may be a sample or names"),
        ("age,bmi,0", None),
        ("5.1,3.5,setosa", "may be a sample or names"),
    ],
)
def test_no_header_is_inferred_from_numbers(tmp_path, header, message):
    path = tmp_path / "a.csv"
    frame(columns=header.split(",")).to_csv(path, index=False)
    if message:
        with pytest.raises(ValueError, match=f"line 1 .*{message}.* --no-header"):
            read(path)
    else:
        values, data = read(path)
        np.testing.assert_array_equal(values, X)
        assert list(data.views["a"].columns) == header.split(",")
        assert ("--no-header" in "".join(data.notes)) == header.replace(",", "").isdecimal()
    if "a" not in header and "o" not in header:
        assert read(path, header=False)[0].shape == (13, 3)


@pytest.mark.parametrize("cells", ["1,234;2,3", "1.234.567;2.345", "1 234;5", "1,2;x"])
def test_numbers_of_any_notation_make_no_header(tmp_path, cells):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(f"f{i};{cells}" for i in range(5)))
    with pytest.raises(ValueError, match="line 1 has numbers .* --no-header"):
        read(path)


def test_a_table_without_header(tmp_path):
    path = tmp_path / "a.csv"
    frame(IDS).to_csv(path, header=False)
    values, data = read(path, header=False)
    np.testing.assert_array_equal(values, X)
    assert data.ids.tolist() == IDS and list(data.views["a"].columns) == ["2", "3", "4"]


@pytest.mark.parametrize("mark", ["#", "# ", "##"])
@pytest.mark.parametrize("above", ["", "# made by a program, 2024\n\n"])
def test_a_header_that_begins_with_a_comment_sign(tmp_path, mark, above):
    path = tmp_path / "a.csv"
    path.write_text(above + mark + frame(pd.Index(IDS, name="OTU ID")).to_csv())
    values, data = read(path)
    np.testing.assert_array_equal(values, X)
    assert list(data.views["a"].columns) == NAMES and data.id_name == "OTU ID"
    assert ("skipped" in "".join(data.notes)) == bool(above)


def test_r_writes_no_name_above_row_names(tmp_path):
    text = frame(IDS).to_csv(sep="\t").removeprefix("\t")
    (tmp_path / "a.tsv").write_text(text)
    values, data = read(tmp_path / "a.tsv")
    np.testing.assert_array_equal(values, X)
    assert data.ids.tolist() == IDS


# ------------------------------------------------------------------------------- Excel and Parquet


def test_excel_titles_sheets_and_cells(tmp_path):
    path = tmp_path / "a.xlsx"
    frame(pd.Index(IDS, name="id")).to_excel(path, startrow=3, startcol=1)
    import openpyxl

    book = openpyxl.load_workbook(path)
    book.active["B1"] = "Export of 2024"
    book.active["H9"].number_format = "0.00"
    book.create_sheet("empty")
    book.save(path)
    values, data = read(path)
    np.testing.assert_array_equal(values, X)
    assert f"{path}: the rows above row 4 are read as a title" in data.notes
    with pd.ExcelWriter(path) as sheets:
        frame().to_excel(sheets, index=False)
        frame().to_excel(sheets, sheet_name="other")
    with pytest.raises(ValueError, match=r"a.xlsx has 2 sheets .* \('Sheet1', 'other'\)"):
        read(path)
    cells = frame().astype(object)
    cells.iloc[4, 1] = "tall"
    cells.to_excel(path, index=False)
    with pytest.raises(ValueError, match=r"row 6, column 2 \('width'\) is 'tall', not a number"):
        read(path)
    frame().astype(str).to_excel(path, index=False)
    np.testing.assert_array_equal(read(path)[0], X)


def test_columns_of_parquet_have_types(tmp_path):
    path, table = tmp_path / "a.parquet", frame(pd.Index(IDS, name="who"))
    table.assign(flag=True, whole=range(0, 24, 2), null=np.nan).iloc[::-1].to_parquet(path)
    with pytest.raises(ValueError, match="constants.*'!flag'"):
        read(path)
    values, data = read(path, columns=["!flag,!null"])
    np.testing.assert_array_equal(values[::-1], np.column_stack([X, range(0, 24, 2)]))
    table.astype(np.float32).to_parquet(path)
    assert read(path)[0].dtype == np.float32
    for name, cells in (
        ("sex", pd.Categorical(["f", "m"] * 6)),
        ("seen", pd.date_range("2024-01-01", periods=12)),
        ("vector", [list(range(500))] * 12),
    ):
        table.assign(**{name: cells}).to_parquet(path)
        with pytest.raises(ValueError, match=rf"row 1, column 5 \('{name}'\) is .*'!{name}'") as e:
            read(path)
        assert len(str(e.value)) < 300
        np.testing.assert_array_equal(read(path, columns=[f"!{name}"])[0], X)


class Stdin:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def test_tables_and_arrays_on_the_standard_input(monkeypatch):
    text, array = frame().to_csv(index=False).encode(), io.BytesIO()
    np.save(array, X)
    for content in (text, array.getvalue()):
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        np.testing.assert_array_equal(read("-")[0], X)
    for content, message in (
        (b"a,b\n1,x\n2.5,3\n4,5\n", "^standard input: line 2, column 2 .'b'. is 'x'"),
        (gzip.compress(text), "compressed"),
    ):
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        with pytest.raises(ValueError, match=message):
            read("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="^standard input: it is closed"):
        read("-")


def test_tables_of_60000_columns(tmp_path):
    names = [f"gene_{k:06d}" for k in range(60_000)]
    rows = [["id", *names], ["s1", *map(str, range(60_000))], ["s2", *["0.5"] * 60_000]]
    text = "\n".join(map("\t".join, rows)).encode()
    (tmp_path / "wide.tsv.bz2").write_bytes(bz2.compress(text, 1))
    values, data = read(tmp_path / "wide.tsv.bz2")
    np.testing.assert_array_equal(values[0], np.arange(60_000))
    assert data.ids.tolist() == ["s1", "s2"] and list(data.views["wide"].columns) == names


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_tables_need_pandas(tmp_path, monkeypatch, suffix):
    (tmp_path / f"a{suffix}").write_text("a,b\n1,2\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas: pip install \"mvsc-fast\[files\]\""):
        read(tmp_path / f"a{suffix}")
