"""Tables as files hold them: what is read, and what stops with its place in the file."""

import bz2
import gzip
import io
import sys

import numpy as np
import pandas as pd
import pytest

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NAMES = ["height", "width", "depth"]


def frame(ids=None, columns=NAMES, values=X):
    return pd.DataFrame(values.copy(), columns=columns, index=ids)


def assert_table(data, values=X, names=NAMES, ids=IDS):
    (view,) = data.views.values()
    np.testing.assert_array_equal(view, values)
    assert list(view.columns) == list(names) and data.ids == ids


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("index", [True, False])
def test_separators_and_decimal_commas(tmp_path, read, separator, decimal, index):
    path = tmp_path / "a.csv"
    frame(pd.Index(IDS, name="who") if index else None).to_csv(
        path, sep=separator, decimal=decimal, index=index
    )
    data = read(path, decimal=decimal)
    assert_table(data, ids=IDS if index else None)
    assert len(data.notes) == 1 and "id" in data.notes[0]
    if decimal == ",":
        with pytest.raises(ValueError, match="--decimal ,"):
            read(path)


@pytest.mark.parametrize(
    ("cells", "decimal", "expected"),
    [
        (["1,234", "12"], ".", [1234, 12]),
        (["1,234,567.5", "12"], ".", [1234567.5, 12]),
        (["1.234,5", "12"], ",", [1234.5, 12]),
        (["1 234", "1\u00a0235"], ".", [1234, 1235]),
        (["1 234,5", "12"], ",", [1234.5, 12]),
        (["1.234", "12"], ".", [1.234, 12]),
        (["1.234", "12"], ",", [1234, 12]),
        (["1,234", "2,5"], ",", [1.234, 2.5]),
        (["1.234", "0.5"], None, [1.234, 0.5]),
        (["1.234", "12"], None, "line 2, column 'b' is '1.234', .*--decimal . or --decimal ,"),
        (["1,234", "12"], None, "'1,234', .* --decimal . or --decimal ,"),
        (["12", "1 234 567"], None, "line 3, column 'b' .* --decimal"),
        (["1,5", "12"], ".", "line 2, column 'b' is '1,5', not a number"),
        (["1.5", "1,5"], ",", "line 2, column 'b' is '1.5', not a number"),
        (["12,34,567", "1,5"], ".", "line 2, column 'b' is '12,34,567', not a number"),
    ],
)
@pytest.mark.parametrize("n", [1, 30])
def test_marks_of_numbers_are_never_guessed(tmp_path, read, cells, decimal, expected, n):
    lines = [f"s{i};{cell};{i * i + 3}" for i, cell in enumerate(cells * n)]
    (tmp_path / "a.csv").write_text("\n".join(["id;b;c", *lines]), encoding="utf-8")
    options = {"decimal": decimal} if decimal else {}
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            read(tmp_path / "a.csv", **options)
    else:
        (view,) = read(tmp_path / "a.csv", **options).views.values()
        np.testing.assert_array_equal(view["b"], expected * n)


def test_the_mark_of_one_file_leaves_the_others_alone(tmp_path, read):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    frame(IDS).to_csv(paths[0], sep=";", decimal=",")
    frame(IDS).to_csv(paths[1])
    with pytest.raises(ValueError, match=f"a.csv: line 2, .*--decimal {paths[0]}:, tells"):
        read(*paths)
    with pytest.raises(ValueError, match="b.csv: line 2, .*not a number"):
        read(*paths, decimal=",")
    data = read(*paths, decimal=f"{paths[0]}:,")
    np.testing.assert_array_equal(data.views["a"], X)
    np.testing.assert_array_equal(data.views["b"], X)
    with pytest.raises(ValueError, match="--decimal ';'"):
        read(paths[0], decimal=";")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, read, encoding):
    names = ["höhe", "width", "größe"]
    frame(columns=names).to_csv(tmp_path / "a.csv", encoding=encoding, index=False)
    data = read(tmp_path / "a.csv")
    assert_table(data, names=names, ids=None)
    assert ("Windows-1252" in "".join(data.notes)) == (encoding == "cp1252")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_that_are_not_recognized(tmp_path, read, encoding):
    frame().to_csv(tmp_path / "a.csv", encoding=encoding)
    with pytest.raises(ValueError, match="a.csv .*UTF-8"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "suffix", [".csv.gz", ".csv.bz2", ".csv.xz", ".tsv", ".txt", ".parquet", ".xlsx"]
)
def test_formats_with_ids(tmp_path, read, suffix):
    path, table = tmp_path / f"a{suffix}", frame(pd.Index(IDS, name="who"))
    if suffix == ".parquet":
        table.to_parquet(path)
    elif suffix == ".xlsx":
        table.to_excel(path)
    else:
        table.to_csv(path, sep="\t" if suffix == ".tsv" else " ")
    data = read(path)
    assert_table(data)
    assert data.id_name == "who" and list(data.views) == ["a"]
    assert data.notes == [f"ids are column 'who' of {path}"]


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
def test_what_surrounds_a_table(tmp_path, read, text):
    (tmp_path / "a.csv").write_bytes(text.encode())
    data = read(tmp_path / "a.csv")
    assert_table(data, [[1.5, 2], [3, 4], [5, 6]], ["height, in m", "the\nwidth"], None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n\n1.5,2\n3,x\n5,6\n", "line 4, column 'b' is 'x', not a number"),
        ("a,b\n\n1,2\n3,\n5,6\n", "16.7 % of the cells .* line 4, column 'b'"),
        ("a,b\n1,2\n3,-inf\n5,1e999\n", "2 infinite cells, the first in line 3, column 'b'"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells, but the table has 2 columns"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cell, but the table has 2 columns"),
        ('a,b\n"1",2\n3\n', "line 3 has 1 cell"),
        ('"a\nb",c\n1,2\n3,?\n', "the first in line 4, column 'c'"),
        ("a,b\n1,red\n2,red\n3,blue\n", "column 'b' is 'red', .* --columns '!b' excludes"),
        ("a,b,c\n1,2\n3,4\n", "line 1 has 3 cells, the next row has 2"),
        ("Export of 2024\n\na,b,c\n1,2,3\n", "line 1 has 1 cell, the next row has 3.*a title"),
        ("a,b\n1,\n2,\n", "50 % .*--columns '!b' excludes empty columns"),
        ("", "is empty"),
        ("a,b\n", "no samples"),
        ("id\n1\n2\n", "no columns except the ids"),
        (",g,g\n,a,b\np,,\ns1,1,2\n", "line 2 has no id.*second row of names"),
        ("a,b,c\nc,c,d\n,,class\n1,2,red\n3,4,red\n5,6,red\n", "line 3 has no id.*second row"),
        ("a,b\nfloat,float\n1.5,2\n3,4\n5,6\n", "line 2, column 'a' is 'float'.*second row"),
        ('a,b\n1,"2\n3,4\n', "line 2 has 2|has a quotation|EOF inside string|1 cell"),
    ],
)
def test_errors_have_the_line_of_an_editor_and_the_column(tmp_path, read, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"a\.csv:? .*{message}") as error:
        read(tmp_path / "a.csv")
    assert str(error.value).count("a.csv") == 1


@pytest.mark.parametrize("cell", ["1_5", "\u0661\u0662", "12%", "0x1F", "(3.2)", "<0.5", "-", "."])
@pytest.mark.parametrize("row", [3, 40])
def test_cells_that_are_no_numbers_in_any_row(tmp_path, read, cell, row):
    table = pd.DataFrame(RNG.standard_normal((60, 3)), columns=NAMES).astype(object)
    table.iloc[row, 1] = cell
    table.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match=rf"line {row + 2}, column 'width' is '.*', not a num"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize("code", ["", "NA", "N/A", "nan", "NaN", "NULL", "null", "?", "na", "<NA>"])
@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_missing_cells(tmp_path, read, code, suffix):
    table = frame(pd.Index(IDS, name="id")).astype(object)
    table.iloc[4, 1] = code
    table.iloc[7] = ""
    path = tmp_path / f"a{suffix}"
    (table.to_csv if suffix == ".csv" else table.to_excel)(path)
    data = read(path)
    expected = X.copy()
    expected[4, 1] = expected[7] = np.nan
    assert_table(data, expected)
    where = "line 6" if suffix == ".csv" else "row 6"
    assert f"{path}: the first empty cell is in {where}, column 'width'" in data.notes


@pytest.mark.parametrize("code", [-999, -99, 9999, 1e30])
def test_codes_of_missing_values(tmp_path, read, code):
    table = frame(pd.Index(IDS, name="id"))
    table.iloc[[1, 3, 5], 0] = code
    table.to_csv(tmp_path / "a.csv")
    with pytest.raises(ValueError, match="3 cells .* line 3, column 'height'"):
        read(tmp_path / "a.csv")
    table.iloc[1, 0] = 0.5
    table.to_csv(tmp_path / "a.csv")
    assert_table(read(tmp_path / "a.csv"), table)  # twice is chance


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
def test_names_that_are_numbers_below_a_name_of_ids(tmp_path, read, header):
    frame(IDS, header[1:]).to_csv(tmp_path / "a.csv", index_label=header[0])
    options = {"id_column": "Probe"} if header[0] == "Probe" else {}
    assert_table(read(tmp_path / "a.csv", **options), names=header[1:])


@pytest.mark.parametrize(
    ("header", "is_read"),
    [
        ("?,NA,2.1", False),
        ("1.5,,", False),
        ("0,1,2", False),
        ("0,1,0", False),
        ("0.5,1.2,2.1", False),
        ("who,20,30", False),
        ("age,2020,2021", False),
        ("age,bmi,0", True),
        ("5.1,3.5,setosa", False),
    ],
)
def test_no_header_is_inferred_from_numbers(tmp_path, read, header, is_read):
    path, names = tmp_path / "a.csv", header.split(",")
    frame(columns=names).to_csv(path, index=False)
    if is_read:
        assert_table(read(path), names=names, ids=None)
    else:
        with pytest.raises(ValueError, match="line 1 .*may be a sample or names.* --no-header"):
            read(path)
    if names[0][0] in "?015" and names[-1] != "setosa":
        assert read(path, no_header=True).views["a"].shape == (13, 3)


@pytest.mark.parametrize("cells", ["1,234;2,3", "1.234.567;2.345", "1 234;5", "1,2;x"])
def test_numbers_of_any_notation_make_no_header(tmp_path, read, cells):
    path = tmp_path / "a.csv"
    path.write_text("\n".join(f"f{i};{cells}" for i in range(5)))
    with pytest.raises(ValueError, match="line 1 has numbers .* --no-header"):
        read(path)


def test_tables_without_names_of_all_columns(tmp_path, read):
    frame(IDS).to_csv(tmp_path / "a.csv", header=False)
    assert_table(read(tmp_path / "a.csv", no_header=True), names=["2", "3", "4"])
    # R writes no name above the names of rows.
    for separator in "\t;,| ":
        for columns in NAMES, NAMES[:1]:
            table = frame(IDS)[columns]
            (tmp_path / "a.tsv").write_text(table.to_csv(sep=separator).removeprefix(separator))
            assert_table(read(tmp_path / "a.tsv"), table.to_numpy(), columns)


def test_integers_above_decimals_have_no_separators_of_thousands(tmp_path, read):
    cells = [*["-11", "-16"] * 600, "14.66666667"]
    (tmp_path / "a.csv").write_text("\n".join(["temperature", *cells]))
    assert_table(read(tmp_path / "a.csv"), np.c_[list(map(float, cells))], ["temperature"], None)


# ------------------------------------------------------------------------------- Excel and Parquet


def test_excel_titles_sheets_and_cells(tmp_path, read):
    import openpyxl

    path = tmp_path / "a.xlsx"
    frame(pd.Index(IDS, name="id")).to_excel(path, startrow=3, startcol=1)
    book = openpyxl.load_workbook(path)
    book.active["B1"] = "Export of 2024"
    book.active["H9"].number_format = "0.00"
    book.create_sheet("empty")
    book.save(path)
    data = read(path)
    assert_table(data)
    assert f"{path}: the rows above row 4 are read as a title" in data.notes
    with pd.ExcelWriter(path) as sheets:
        frame().to_excel(sheets, index=False)
        frame().to_excel(sheets, sheet_name="other")
    with pytest.raises(ValueError, match=r"a.xlsx has 2 sheets .* \('Sheet1', 'other'\)"):
        read(path)
    cells = frame().astype(object)
    cells.iloc[4, 1] = "tall"
    cells.to_excel(path, index=False)
    with pytest.raises(ValueError, match="row 6, column 'width' is 'tall', not a number"):
        read(path)
    frame().astype(str).to_excel(path, index=False)
    assert_table(read(path), ids=None)


def test_columns_of_parquet_have_types(tmp_path, read):
    path, table = tmp_path / "a.parquet", frame(pd.Index(IDS, name="who"))
    table.assign(flag=True, whole=range(0, 24, 2), null=np.nan).iloc[::-1].to_parquet(path)
    with pytest.raises(ValueError, match="constants.*'!flag'"):
        read(path)
    (view,) = read(path, columns="!flag,!null").views.values()
    np.testing.assert_array_equal(view[::-1], np.column_stack([X, range(0, 24, 2)]))
    table.astype(np.float32).to_parquet(path)
    (view,) = read(path).views.values()
    assert set(view.dtypes) == {np.dtype(np.float32)}
    for name, cells in (
        ("sex", pd.Categorical(["f", "m"] * 6)),
        ("seen", pd.date_range("2024-01-01", periods=12)),
        ("vector", [list(range(500))] * 12),
    ):
        table.assign(**{name: cells}).to_parquet(path)
        with pytest.raises(ValueError, match=f"row 1, column '{name}' is .*'!{name}'") as error:
            read(path)
        assert len(str(error.value)) < 300
        assert_table(read(path, columns=f"!{name}"))


class Stdin:
    def __init__(self, content):
        self.buffer = io.BytesIO(content)


def test_tables_and_arrays_on_the_standard_input(monkeypatch, read):
    text, array = frame().to_csv(index=False).encode(), io.BytesIO()
    np.save(array, X)
    for content in (text, array.getvalue()):
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        (view,) = read("-").views.values()
        np.testing.assert_array_equal(view, X)
    for content, message in (
        (b"a,b\n1,x\n2.5,3\n4,5\n", "^standard input: line 2, column 'b' is 'x'"),
        (gzip.compress(text), "compressed"),
    ):
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        with pytest.raises(ValueError, match=message):
            read("-")
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="^standard input: it is closed"):
        read("-")


def test_long_and_wide_tables(tmp_path, read):
    names = [f"gene_{k:06d}" for k in range(60_000)]
    rows = [["id", *names], ["s1", *map(str, range(60_000))], ["s2", *["0.5"] * 60_000]]
    text = "\n".join(map("\t".join, rows)).encode()
    (tmp_path / "wide.tsv.bz2").write_bytes(bz2.compress(text, 1))
    (view,) = read(tmp_path / "wide.tsv.bz2", columns="*").views.values()
    np.testing.assert_array_equal(view.iloc[0], np.arange(60_000))
    # Words, missing cells and ids beyond the rows that are read at a time
    values = pd.DataFrame(RNG.standard_normal((30_000, 100)), [f"s{i}" for i in range(30_000)])
    values.iloc[25_000, 7] = np.nan
    values.columns = [f"f{j}" for j in range(100)]
    values.to_csv(tmp_path / "long.csv")
    (view,) = read(tmp_path / "long.csv").views.values()
    np.testing.assert_array_equal(view, values)
    values.astype(object).replace(values.iloc[-2, 3], "x").to_csv(tmp_path / "long.csv")
    with pytest.raises(ValueError, match="line 30000, column 'f3' is 'x'"):
        read(tmp_path / "long.csv")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_tables_need_pandas(tmp_path, monkeypatch, read, suffix):
    (tmp_path / f"a{suffix}").write_text("a,b\n1,2\n")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ValueError, match=r"needs pandas: pip install \"mvsc-fast\[files\]\""):
        read(tmp_path / f"a{suffix}")
