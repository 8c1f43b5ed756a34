"""Tables: what is read by the contract of docs/files.md, and what stops with its place."""

import bz2
import re
import shlex
import sys

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.cli import main

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NUMBERS = RNG.choice(np.arange(1_000_000, 9_999_999), 12, replace=False).tolist()
ORDER = RNG.permutation(12)
NAMES = ["height", "width", "depth"]
BINARY, DAYS = np.resize([0, 1], 12), RNG.integers(1, 4000, 12)
TCGA = [f"TCGA-AB-{i:04d}" for i in range(12)]


def frame(ids=None, name="id", columns=NAMES, values=X, **more):
    index = None if ids is None else pd.Index(ids, name=name)
    return pd.DataFrame(values.copy(), index, list(columns)).assign(**more)


def write(path, table):
    has_ids = table.index.name is not None or not isinstance(table.index, pd.RangeIndex)
    table.to_csv(path, index=has_ids)
    return path


def assert_read(data, values=X, names=NAMES, ids=IDS):
    """Compare the only view, its columns and its ids."""
    (view,) = data.views.values()
    np.testing.assert_array_equal(view, values)
    assert list(view.columns) == list(names) and data.ids == ids
    assert any("samples are" in note for note in data.notes)


def assert_stops(message, read, *paths, **options):
    with pytest.raises(ValueError, match=message) as error:
        read(*paths, **options)
    assert len(str(error.value)) < 700
    return str(error.value)


def advice(message):
    """The value of --columns in a message, as a shell reads it."""
    return shlex.split(re.search("--columns (.*?) excludes", message)[1])[0]


@pytest.fixture
def read_text(read, tmp_path):
    """A function that reads a text, or a data frame, as a file a.csv."""

    def read_text(content, **options):
        path = tmp_path / "a.csv"
        if isinstance(content, pd.DataFrame):
            return read(write(path, content), **options)
        path.write_bytes(content.encode())
        return read(path, **options)

    return read_text


# ------------------------------------------------------------------------------------------- text


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("ids", [IDS, None])
def test_separators_and_decimal_commas(tmp_path, read, separator, decimal, ids):
    path = tmp_path / "a.csv"
    frame(ids).to_csv(path, sep=separator, decimal=decimal, index=ids is not None)
    assert_read(read(path, decimal=decimal), ids=ids)
    if decimal == ",":
        assert_stops("--decimal ,", read, path)


@pytest.mark.parametrize(
    ("cells", "decimal", "expected"),
    [
        (["1,234", "12"], ".", [1234, 12]),
        (["1,234,567.5", "12"], ".", [1234567.5, 12]),
        (["1.234,5", "12"], ",", [1234.5, 12]),
        (["1 234", "1\u00a0235"], ".", [1234, 1235]),
        (["1.234", "12"], ".", [1.234, 12]),
        (["1.234", "12"], ",", [1234, 12]),
        (["1,234", "2,5"], ",", [1.234, 2.5]),
        (["1.234", "0.5"], None, [1.234, 0.5]),
        (["-11", "14.66666667"], None, [-11, 14.66666667]),
        (["1.234", "12"], None, "line 2, column 'b' is '1.234', .*--decimal . or --decimal ,"),
        (["1,234", "12"], None, "'1,234', .* --decimal . or --decimal ,"),
        (["12", "1 234 567"], None, "line 3, column 'b' .* --decimal"),
        (["1,5", "12"], ".", "line 2, column 'b' is '1,5'"),
        (["1.5", "1,5"], ",", "line 2, column 'b' is '1.5'"),
        (["12,34,567", "1,5"], ".", "line 2, column 'b' is '12,34,567'"),
        *(([cell, "1.5"], None, "line 2, column 'b'") for cell in ("1_5", "\u0661", "12%", "0x1F")),
        *(([cell, "1.5"], None, "line 2, column 'b'") for cell in ("(3.2)", "<0.5", "-", ".")),
    ],
)
@pytest.mark.parametrize("n", [1, 30])
def test_marks_of_numbers_are_never_guessed(read_text, cells, decimal, expected, n):
    lines = [f"s{i};{cell};{i * i + 3}" for i, cell in enumerate(cells * n)]
    options = {"decimal": decimal} if decimal else {}
    text = "\n".join(["id;b;c", *lines])
    if isinstance(expected, str):
        assert_stops(expected, read_text, text, **options)
    else:
        np.testing.assert_array_equal(read_text(text, **options).views["a"]["b"], expected * n)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_encodings(tmp_path, read, encoding):
    names, path = ["höhe", "width", "größe"], tmp_path / "a.csv"
    frame(columns=names).to_csv(path, encoding=encoding, index=False)
    if encoding not in ("utf-8", "utf-8-sig"):
        assert_stops("a.csv .*UTF-8", read, path)
    else:
        assert_read(read(path), names=names, ids=None)


@pytest.mark.parametrize(
    "suffix", [".csv.gz", ".csv.bz2", ".csv.xz", ".tsv", ".txt", ".parquet", ".xlsx"]
)
def test_formats(tmp_path, monkeypatch, read, suffix):
    path, table = tmp_path / f"a{suffix}", frame(IDS, "who")
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
        table.to_parquet(path)
    elif suffix == ".xlsx":
        table.to_excel(path)
    else:
        table.to_csv(path, sep="\t" if suffix == ".tsv" else " ")
    data = read(path)
    assert_read(data)
    assert data.id_name == "who" and list(data.views) == ["a"] and len(data.notes) == 1
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert_stops(r"needs pandas: pip install \"mvsc-fast\[files\]\"", read, path)


@pytest.mark.parametrize(
    "text",
    [
        '"height, in m","the\nwidth"\n\n"1.5",2\n3,4\n\n5,6\n',
        '"height, in m","the\nwidth",\n1.5,2,\n3,4,\n5,6,\n',
        '"height, in m","the\nwidth",,\n1.5,2,,\n3,4,,\n5,6,,\n,,,\n',
        'sep=,\n"height, in m","the\nwidth"\n1.5,2\n3,4\n5,6\n',
        '# made in "Rome\n! 2024\n"height, in m","the\nwidth"\n1.5,2\n3,4\n5,6\n',
        'sep=;\n"height, in m";"the\nwidth"\r\n1.5;2\r\n3;4\r\n5;6\r\n',
    ],
)
def test_what_surrounds_a_table(read_text, text):
    names = ["height, in m", "the\nwidth"]
    assert_read(read_text(text), [[1.5, 2], [3, 4], [5, 6]], names, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n\n1.5,2\n3,x\n5,6\n", "line 4, column 'b' is 'x', not a number"),
        ('"a\nb",c\n1,2\n3,x\n4,5\n', "line 4, column 'c'"),
        ("id,a,b\np,1,2\n\nq,3,-inf\nr,inf,4\n", "line 4, column 'b' is -inf"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 cells, but the table has 2 columns"),
        ('a,b\n"1",2\n3\n', "line 3 has 1 cell, but the table has 2 columns"),
        ("a,b\n1.5,red\n2,red\n3,blue\n", "column 'b' is 'red', .* --columns '!b' excludes"),
        ("a,b\n1,2,\n3,4,\n5,6,\n", "line 2 has 3 cells, but the table has 2 columns"),
        ("a,b,c\n1,2\n3,4\n", "line 2 has 2 cells, but the table has 3 columns"),
        ("Export of 2024\n\na,b,c\n1,2,3\n", "line 3 has 3 cells, .* 1 column: .*a title"),
        ("Export of 2024\na\tb\tc\n1\t2\t3\n", "line 2 has 3 cells, .* 1 column: .*a title"),
        ("# n\n#id\tb\ns1\t2\ns2\t3\n", "line 3, below lines with # .* has numbers"),
        ("a\tb\nx\t \ny\tz\n", "line 3, column 'b' is 'z'"),
        ('id,rfm\ns1,"1,1,5"\n', "'1,1,5', not a number: --columns '!rfm'"),
        ("", "is empty"),
        ("a,b\n", "no samples"),
        ("id\n1\n2\n", "no columns except the ids"),
        ("id,a,b\n1,2,3\n,4,5\n", "line 3 has no id in column 'id'"),
        ("id\ta\tb\nq\t2\t3\n \t4\t5\n", "line 3 has no id in column 'id'"),
        ("who,a,b\np,2,3\nq,4,5\np,6,7\n", "line 4 has the id 'p' of line 2 again"),
        (",g,g\n,a,b\np,,\ns1,1,2\n", "line 2 has no id"),  # two rows of names
        ('a,b\n1,"2\n3,4\n', "line 2 has 2|has a quotation|EOF inside string|1 cell"),
        ("\x00\x01", "UTF-8"),
    ],
)
def test_errors_have_the_line_of_an_editor_and_the_column(read_text, text, message):
    assert assert_stops(rf"a\.csv:? .*{message}", read_text, text).count("a.csv") == 1


WRITERS = {".csv": pd.DataFrame.to_csv, ".xlsx": pd.DataFrame.to_excel}
WRITERS[".parquet"] = lambda table, path: table.astype(str).to_parquet(path)


@pytest.mark.parametrize("code", ["", "NA", "N/A", "nan", "NULL", "null", "?", "na ", " none"])
@pytest.mark.parametrize("suffix", WRITERS)
def test_missing_cells(tmp_path, read, code, suffix):
    """Also padded, and not of names: NA is a region, or Namibia."""
    ids, names = ["NA", *IDS[1:]], ["NA", "width", "None"]
    table, expected = frame(ids, columns=names).astype(object), X.copy()
    table.iloc[4, 1], table.iloc[7] = code, ""
    expected[4, 1] = expected[7] = np.nan
    table = pd.concat([table, pd.DataFrame(code, [code], names)])  # its end is no sample
    path = tmp_path / f"a{suffix}"
    pytest.importorskip({".parquet": "pyarrow", ".xlsx": "openpyxl"}.get(suffix, "pandas"))
    WRITERS[suffix](table, path)
    assert_read(read(path), expected, names, ids)


@pytest.mark.parametrize("code", [-999, -99, -9, 9999, 1e30])
def test_codes_of_missing_values(read_text, code):
    table = frame(IDS)
    table.iloc[[1, 3, 5], 0] = code
    assert_stops("3 cells .* 'height'", read_text, table)
    assert_read(read_text(table, columns="*"), table)
    table.iloc[1, 0] = 0.5
    assert_read(read_text(table), table)  # twice is chance


# ----------------------------------------------------------------------------------------- headers


@pytest.mark.parametrize(
    ("header", "outcome"),
    [
        ("id,7157,1956,7157", "header"),
        ("patient,0,1,0", "header"),
        ("cell,0,1,0.1", "header"),
        (",0,1,0", "header"),
        ("Probe,650.5,640.25,630", "names of features"),
        ("who,20,30,40", "may be a sample"),
        ("id_7,0.5,1.5,2.5", "may be a sample"),
        ("gene_7,0.5,1.5,2.5", "may be a sample"),
        ("?,NA,2.1", "may be a sample"),
        ("1.5,,", "may be a sample"),
        ("0,1,2", "may be a sample"),
        ("0,1,0", "may be a sample"),
        ("0.5,1.2,2.1", "may be a sample"),
        ("age,2020,2021", "may be a sample"),
        ("5.1,3.5,setosa", "may be a sample"),
        ("1.234.567,2.5,3", "may be a sample"),
        ("1 234,5,x", "may be a sample"),
        ("age,bmi,0", "may be a sample"),
    ],
)
def test_no_header_is_inferred_from_numbers(read_text, header, outcome):
    ids = IDS if header.count(",") == 3 else None
    text = frame(ids).to_csv(header=False, index=ids is not None)
    if outcome == "header":
        assert_read(read_text(f"{header}\n{text}"), names=header.split(",")[-3:], ids=ids)
    else:
        assert_stops(outcome, read_text, f"{header}\n{text}")
    assert_read(read_text(text, no_header=True), names="123" if ids is None else "234", ids=ids)
    if outcome == "may be a sample" and header.count(",") == 2 and "?" not in header:
        data = read_text(f"{header}\n{text}", id_column="none", columns="*")
        assert list(data.views["a"].columns) == [
            name or str(j) for j, name in enumerate(header.split(","), 1)
        ]


def test_no_header_is_doubted_if_line_1_alone_has_text(read_text):
    message = "line 1, column '2' is 'height', not a number"
    assert_stops(message, read_text, frame(IDS).to_csv(), no_header=True)
    message, text = "column '2' is '1.234', .*--decimal", "a,1.234\nb,12\nc,13\n"
    assert_stops(message, read_text, text, no_header=True)


def test_a_column_of_decimal_commas_has_no_ids(read_text):
    lines = [f"{100 + i},{i}" for i in range(9)]
    assert_stops("column 'a' is '100,0', .*--decimal ,", read_text, "\n".join(["a", *lines]))
    (view,) = read_text("\n".join(["a", *lines]), decimal=",").views.values()
    assert view["a"].tolist() == [float(line.replace(",", ".")) for line in lines]


def test_r_writes_no_name_above_the_names_of_rows(read_text):
    for separator in "\t;,| ":
        for columns in NAMES, NAMES[:1]:
            table = frame(IDS)[columns]
            data = read_text(table.to_csv(sep=separator).removeprefix(separator))
            assert_read(data, table.to_numpy(), columns)


# ------------------------------------------------------------------------------- Excel and Parquet


def test_excel(tmp_path, read):
    import openpyxl

    path = tmp_path / "a.xlsx"
    frame(IDS).to_excel(path, startrow=3, startcol=1)
    book = openpyxl.load_workbook(path)
    book.active["H9"].number_format = "0.00"
    book.create_sheet("empty")
    book.save(path)
    assert_read(read(path))
    book.active["F4"], book.active["F5"] = "sum", "=C5"  # never calculated
    book.save(path)
    assert_stops("--columns '!sum'", read, path)
    book.active["B1"] = "Export of 2024"
    book.save(path)
    assert_stops("row 1 names 1 .*, 'Export of 2024': .* without a title", read, path)
    with pd.ExcelWriter(path) as sheets:
        frame().to_excel(sheets, index=False)
        frame().to_excel(sheets, sheet_name="other")
    assert_stops(r"a.xlsx has 2 sheets .*Sheet1, other", read, path)
    openpyxl.Workbook().save(path)
    assert_stops("a.xlsx is empty", read, path)
    cells = frame(values=X.round(3)).astype(object)
    cells.iloc[4, 1] = "tall"
    cells.to_excel(path, index=False)
    assert_stops("row 6, column 'width' is 'tall', not a number", read, path)
    frame().astype(str).to_excel(path, index=False)
    assert_read(read(path), ids=None)
    table = frame(IDS).astype({"depth": str})
    table["depth"] = table["depth"].str.replace(".", ",")
    table.to_excel(path)
    assert_stops("'depth' is .*--decimal ,", read, path)
    assert_read(read(path, decimal=","))


def test_columns_of_parquet_have_types(tmp_path, read):
    pytest.importorskip("pyarrow")
    path, table = tmp_path / "a.parquet", frame(IDS, "who")
    table.assign(flag=True, whole=range(0, 24, 2), null=np.nan).iloc[::-1].to_parquet(path)
    columns = advice(assert_stops("constants", read, path))
    (view,) = read(path, columns=columns).views.values()
    np.testing.assert_array_equal(view[::-1], np.column_stack([X, range(0, 24, 2)]))
    table.astype(np.float32).set_axis(pd.Index(map(str.encode, IDS), name="who")).to_parquet(path)
    assert read(path).ids == IDS
    assert_stops("--no-header is for text", read, path, no_header=True)
    (view,) = read(path).views.values()
    assert set(view.dtypes) == {np.dtype(np.float32)}
    for name, cells in (
        ("sex", pd.Categorical(["f", "m"] * 6)),
        ("seen", pd.date_range("2024-01-01", periods=12)),
        ("vector", [list(range(500))] * 12),
    ):
        table.assign(**{name: cells}).to_parquet(path)
        columns = advice(assert_stops(f"row 1, column '{name}' is ", read, path))
        assert_read(read(path, columns=columns))


def test_long_and_wide_tables(tmp_path, read):
    names = [f"gene_{k:06d}" for k in range(6_000)]
    rows = [["id", *names], ["s1", *map(str, range(6_000))], ["s2", *["0.5"] * 6_000]]
    text = "\n".join(map("\t".join, rows)).encode()
    (tmp_path / "wide.tsv.bz2").write_bytes(bz2.compress(text, 1))
    (view,) = read(tmp_path / "wide.tsv.bz2", columns="*").views.values()
    np.testing.assert_array_equal(view.iloc[0], np.arange(6_000))
    # Words, missing cells and ids beyond the rows that are read at a time
    # (pandas reads 8192 rows of 65 columns)
    values = pd.DataFrame(
        np.random.default_rng(0).standard_normal((9_000, 64)), [f"s{i}" for i in range(9_000)]
    )
    values = values.add_prefix("f")
    values.iloc[8_500, 7] = np.nan
    path = write(tmp_path / "long.csv", values)
    np.testing.assert_array_equal(read(path).views["long"], values)
    values = values.astype(object)
    values.iloc[-2, 3] = "x"
    write(path, values)
    assert_stops("line 9000, column 'f3' is 'x'", read, path)


@pytest.mark.parametrize("first", [7, 1.234], ids=["whole numbers", "points"])
def test_later_rows_tell_what_points_mean(read_text, first):
    cells = frame(values=np.resize([[first, 12, 5.125], [first, 3, 0.5]], (3_000, 3)))
    cells["height"] = cells["height"].map("{:g}".format)
    cells.iloc[-2, 0] = "1.234"
    row = 2 if first == 1.234 else 3000
    assert_stops(f"line {row}, column 'height' is '1.234', .*--decimal", read_text, cells)
    cells.iloc[-1, 0] = "0.25"
    np.testing.assert_array_equal(read_text(cells).views["a"], cells.astype(float))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("trap.npy", "Python objects"),
        ("letters.npy", r"expected a matrix .* <U1 of shape \(2,\)"),
        ("text.npy", "magic string"),
        ("empty.npy", ""),
        ("text.xlsx", "no Excel file"),
        ("notes.doc", "unknown file type"),
        ("nowhere.csv", "No such file"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, read, name, message):
    np.save(tmp_path / "good.npy", X)
    np.save(tmp_path / "trap.npy", np.array([print], dtype=object), allow_pickle=True)
    np.save(tmp_path / "letters.npy", np.array(["a", "b"]))
    (tmp_path / "text.npy").write_bytes(b"1,2\n3,4\n")
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "text.xlsx").write_text("a,b\n1,2\n")
    (tmp_path / "notes.doc").write_text("1,2")
    assert_stops(rf"^\S*{name}:? .*{message}", read, tmp_path / "good.npy", tmp_path / name)


def test_names_of_views(tmp_path, read):
    paths = [write(tmp_path / "a.csv", frame()), tmp_path / "b.npy", tmp_path / "other" / "b.npy"]
    (tmp_path / "other").mkdir()
    for path in paths[1:]:
        np.save(path, X)
    assert list(read(*paths[:2]).views) == ["a", "b"]
    assert list(read(*paths).views) == list(map(str, paths))
    (tmp_path / "soft.npy").symlink_to("b.npy")
    assert_stops("a file is given more than once", read, paths[1], tmp_path / "soft.npy")


def test_a_name_that_is_no_text(tmp_path, read):
    try:
        write(tmp_path / "a\udcff.csv", frame())
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes text alone")
    assert list(read(tmp_path / "a\udcff.csv").views) == ["a\ufffd"]


# --------------------------------------------------------------------------------------------- ids


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        (IDS, "who"),
        ([f"{i:04d}" for i in range(12)], "q"),
        ([str(2**60 + i) for i in range(12)], "q"),
        ([*NUMBERS[:11], "H12"], "q"),
        (NUMBERS, None),
        (NUMBERS, "X"),
        *((NUMBERS, name) for name in ("id", "MRN", "PatNr", "Sample No.", "account", "PatientID")),
        *((NUMBERS, name) for name in ("USUBJID", "subject#", "customer_id", "case", "Barcode")),
        (range(100, 112), "id"),
        (ORDER, ""),
        ([*NUMBERS[:9], "5.0", "041", "1E2"], "id"),
    ],
)
def test_ids_are_the_first_column_by_its_values_or_name(tmp_path, read, ids, name):
    paths = [write(tmp_path / "a.csv", frame(ids, name)), tmp_path / "b.csv"]
    data = read(*paths[:1], write(paths[1], (frame(ids, name) + 1).iloc[ORDER]))
    np.testing.assert_array_equal(data.views["b"], X + 1)
    assert data.ids == list(map(str, ids)) and "matched by id" in data.notes[-1]


@pytest.mark.parametrize(
    ("first", "name", "features"),
    [
        (NUMBERS, "size", ["size", *NAMES]),
        ([1.5, *range(11)], "size", ["size", *NAMES]),
        (range(12), "size", "count the rows .*'size'"),
        (["tall", *np.arange(11) / 2], "size", "line 2, column 'size' is 'tall'"),
    ],
)
def test_numbers_of_another_name_are_no_ids(read_text, first, name, features):
    if isinstance(features, str):
        assert_stops(features, read_text, frame(first, name))
    else:
        data = read_text(frame(first, name))
        assert data.ids is None and list(data.views["a"].columns) == features


def test_a_column_that_may_have_ids_of_another_name_stops(read_text):
    rng = np.random.default_rng(0)
    numbers = rng.choice(10**6, 30, replace=False)
    table = frame(values=rng.random((30, 3)).round(6), columns=NAMES)
    table.insert(0, "Kunde", numbers)
    message = assert_stops("'Kunde'.*--id-column selects ids", read_text, table)
    assert list(read_text(table, columns=advice(message)).views["a"].columns) == NAMES
    assert read_text(table, id_column="Kunde").ids == list(map(str, numbers))
    assert read_text(table, id_column="none").ids is None
    # Several such columns, repeated numbers, and those of few samples are features.
    repeated = table.assign(Kunde=np.append(numbers[:-1], numbers[0]))
    for features in (table.assign(depth=numbers[::-1]), repeated, table[:12]):
        assert "Kunde" in read_text(features).views["a"]


@pytest.mark.parametrize("name", ["X", "Unnamed: 0.1", "...1", "No.", "V1", "row"])
def test_counters_are_no_features(read_text, name):
    table = frame(IDS, "patient").reset_index()
    for start in (0, 1, 1001):
        table.insert(4, name, range(start, start + 12))
        message = assert_stops("count the rows|look like ids", read_text, table)
        assert_read(read_text(table, columns=advice(message)))
        del table[name]
    for values in (NUMBERS, IDS):
        table = frame(values, "patient", again=values)
        message = assert_stops("repeat the ids|'again' is 's00'", read_text, table)
        assert_read(read_text(table, columns=advice(message)), ids=list(map(str, values)))
    # Ids beside a counter in the first column
    table = frame(IDS, "patient").reset_index()
    table.insert(0, "X", range(12))
    assert_stops("'patient'.*--id-column selects", read_text, table)
    columns = ",".join(NAMES)
    assert_read(read_text(table, id_column="patient", columns=columns))


def test_the_column_of_ids_is_selected(tmp_path, read_text):
    table = frame(range(12), plate=IDS)
    for option in ("plate", ["id", "plate"], ["id", f"{tmp_path / 'a.csv'}:plate"]):
        data = read_text(table, id_column=option, columns=",".join(NAMES))
        assert_read(data)
        assert data.id_name == "plate"
    assert_stops("there is no column 'who'; the table has 'id'", read_text, table, id_column="who")
    columns = advice(assert_stops("look like ids", read_text, frame(NUMBERS), id_column="none"))
    assert_read(read_text(frame(NUMBERS), id_column="none", columns=columns), ids=None)


# ---------------------------------------------------------------------------------------- matching

OTHER = (frame(IDS) + 1).drop(["s03", "s07"])
OTHER.loc["t1"] = 5.0
ALIQUOTS = [f"{text}-01A-36R" for text in TCGA], [f"{text}-01A-17D" for text in TCGA]


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        (frame(IDS), frame([text.upper() for text in IDS]), {}, "0 ids in common .*'S00'.*exactly"),
        (frame(ALIQUOTS[0]), frame(ALIQUOTS[1]), {"join": "inner"}, "0 ids in common .*exactly"),
        (frame(["5.0", *IDS[1:]]), frame(["5", *IDS[1:]]), {}, "only in .*'5'; only in .*'5.0'"),
        (frame(["041", *IDS[1:]]), frame(["41", *IDS[1:]]), {}, "only in .*'41'; only in .*'041'"),
        (frame(IDS), OTHER, {}, r"only in .*b\.csv: 't1'; only in .*a\.csv: 's03'.*--join"),
        (frame(), frame(), {"join": "inner"}, "--join .* ids, but .*a.csv has none"),
        (frame(), frame(values=X[1:]), {}, "b.csv has 11 samples, .*a.csv.* 12"),
        (frame(NUMBERS, "lot"), frame(NUMBERS[::-1]), {}, "a.csv has no ids, .*--id-column"),
    ],
)
def test_files_that_do_not_match(tmp_path, read, first, second, options, message):
    paths = [write(tmp_path / "a.csv", first), write(tmp_path / "b.csv", second)]
    assert_stops(message, read, *paths, **options)


@pytest.mark.filterwarnings("default")
def test_ids_that_may_be_the_same_are_named(tmp_path, read):
    first = write(tmp_path / "a.csv", frame(IDS[:9] + ["x-1", "X.2", "7"], values=X))
    others = [id.upper().replace("S0", "s") for id in IDS[:9]] + ["x_1", "x2", "8"]
    second = write(tmp_path / "b.csv", frame(others))
    assert_stops("11 pairs such as 's0' and 's00'", read, first, second)
    write(second, frame(["s00", *others[1:]]))
    assert_stops("10 pairs .*: write these alike, or use --join", read, first, second)
    data = read(first, second, join="outer")
    assert len(data.ids) == 23 and "10 pairs" in " ".join(data.notes)


def test_joins_and_positions(tmp_path, read):
    paths = [write(tmp_path / "a.csv", frame(IDS)), write(tmp_path / "b.csv", OTHER.iloc[::-1])]
    kept = [i for i in range(12) if i not in (3, 7)]
    inner, outer = read(*paths, join="inner"), read(*paths, join="outer")
    np.testing.assert_array_equal(inner.views["b"], X[kept] + 1)
    np.testing.assert_array_equal(inner.views["a"], X[kept])
    assert inner.ids == [IDS[i] for i in kept] and outer.ids == [*IDS, "t1"]
    assert "10 of 13 samples in every file" in outer.notes[-1]
    missing = np.isnan(np.asarray(outer.views["b"])).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(missing), [3, 7])
    # Without ids, rows are matched by position, which is said.
    arrays = [tmp_path / "c.npy", tmp_path / "d.npy"]
    for path in arrays:
        np.save(path, X)
    data = read(paths[0], arrays[0])
    assert data.ids == IDS and "c.npy without ids: 12 rows" in data.notes[-1]
    assert "d.npy without ids: 12 rows" in read(*arrays).notes[-1]
    np.save(arrays[1], X.T)
    np.testing.assert_array_equal(read(*arrays, transpose=arrays[1]).views["d"], X)
    write(paths[0], frame(NUMBERS, "lot"))
    write(paths[1], frame(NUMBERS[::-1]))
    data = read(*paths, id_column=f"{paths[0]}:lot")  # ids of another name in the second
    assert data.ids == list(map(str, NUMBERS)) and data.id_name == "lot"
    np.testing.assert_array_equal(data.views["b"], X[::-1])


# --------------------------------------------------------------------------------------- selection


@pytest.mark.parametrize(
    ("columns", "outcome"),
    [
        (["height,depth"], ["height", "depth"]),
        (["depth,height"], ["depth", "height"]),
        (["*th,height"], ["width", "depth", "height"]),
        (["*"], NAMES),
        (["!width"], ["height", "depth"]),
        (["*,!d*"], ["height", "width"]),
        (["!width", "!depth"], ["height"]),
        (["{}:!width"], ["height", "depth"]),
        (["*", "{}:!width"], ["height", "depth"]),
        (["weight"], "there is no column 'weight'; the table has 'height'"),
        (["2-3"], "there is no column '2-3'"),
        (["!weight"], "there is no column 'weight'"),
        (["{}:!weight"], "there is no column 'weight'"),
        (["c.npy:height"], "no column 'c.npy:height'"),
    ],
)
def test_columns_are_chosen_and_excluded(tmp_path, read_text, columns, outcome):
    columns = [text.format(tmp_path / "a.csv") for text in columns]
    if isinstance(outcome, str):
        assert_stops(outcome, read_text, frame(IDS), columns=columns)
    else:
        data = read_text(frame(IDS), columns=columns)
        assert_read(data, frame(IDS)[outcome], outcome)


@pytest.mark.parametrize(
    "name", ["sex, at birth", "GO:1", "it's*", "!a", "[b]", " c", "", "12", "a=b"]
)
@pytest.mark.parametrize("several", [True, False])
def test_advice_can_be_pasted_and_does_only_what_it_says(tmp_path, read, name, several):
    table = frame(IDS, columns=["sexy", "its", "!ab"])
    table.insert(1, name, "f")
    second = frame(IDS, sex="m") if name == "12" else frame(IDS)
    paths = [write(tmp_path / "a.csv", table), write(tmp_path / "b.csv", second)][: 1 + several]
    columns = [advice(assert_stops("a.csv: line 2, column ", read, *paths))]
    if several and name == "12":
        columns.append(advice(assert_stops("b.csv: .*'sex'", read, *paths, columns=columns)))
    data = read(*paths, columns=columns)
    assert list(data.views["a"].columns) == ["sexy", "its", "!ab"]
    assert not several or list(data.views["b"].columns) == NAMES
    message, wrong = "a.csv: there is no column 'height'", f"{paths[0]}:!height"
    assert_stops(message, read, *paths, columns=[*columns, wrong])


def test_one_table_gives_several_views(read_text):
    data = read_text(frame(IDS), columns=["height", "width,depth", "!depth"])
    assert [list(view.columns) for view in data.views.values()] == [["height"], ["width"]]
    assert data.ids == IDS


# ------------------------------------------------------------------------------ what is no feature


@pytest.mark.parametrize(
    "columns",
    [
        *({name: BINARY} for name in ("target", "tumor_class", "Label", "y", "leiden_1.0")),
        *({name: BINARY} for name in ("seurat_clusters", "cell_type", "PAM50", "group", "OS")),
        *({name: BINARY} for name in ("DEATH_EVENT", "event", "status", "Churn", "Survived")),
        *({name: DAYS} for name in ("OS.time", "OS_MONTHS", "days_to_death", "futime")),
        {"time": DAYS, "DEATH_EVENT": BINARY},
        {"T": DAYS, "E": BINARY},
        {"days": DAYS, "death": np.resize([0, 1, 2], 12)},
        {"followup": DAYS, "vital_status": np.resize(["Dead", "Alive"], 12)},
        {"tenure": DAYS, "relapse": BINARY},
        {"duration": DAYS, "cens": BINARY},
        *({name: np.resize([101, 102, 103], 12)} for name in ("site_id", "schoolid", "PTNUM")),
        {"sample": NUMBERS},
        {"barcode": [f"x{i % 5}" for i in range(12)]},
        {"plate": [np.nan, *[7] * 11]},
        {"empty": [np.nan] * 12},
    ],
)
def test_labels_outcomes_ids_and_constants_are_not_features(read_text, columns):
    table = frame(IDS, **columns)
    message = assert_stops("look like (labels or outcomes|ids|constants),", read_text, table)
    assert_read(read_text(table, columns=advice(message)))
    if not any(map(pd.api.types.is_string_dtype, table.dtypes)):
        assert read_text(table, columns="*").views["a"].shape == table.shape


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *(("y", X[:, 0]), ("time", DAYS), ("status", DAYS), ("age_group", BINARY)),
        *(("status quo", BINARY), ("status", np.resize([0, 1, 2], 12)), ("no", X[:, 0])),
        *(("days", BINARY + 1), ("age_at_diagnosis", BINARY), ("gene", np.zeros(12))),
        ("y", np.arange(12) % 7 + 0.5),  # more classes than half of the rows
    ],
)
def test_columns_that_are_features_in_spite_of_their_names(read_text, name, values):
    names = ["gene_1", "feature_2", "depth"]
    assert_read(read_text(frame(columns=names)), names=names, ids=None)
    table = frame(IDS, **{name: values})
    assert_read(read_text(table), table, [*NAMES, name])


def test_a_word_among_numbers_is_named_before_columns_of_text(read_text):
    table = frame(IDS, sex="f", seen="2015-03-02").astype(object)
    assert_stops("line 2, column 'sex' is 'f'.*'!sex,!seen'", read_text, table)
    table.iloc[4, 1], table.iloc[2, 2] = "tall", "deep"
    message = "line 4, column 'depth' is 'deep', not a number: .* empty .*'!width,!depth'"
    assert_stops(message, read_text, table)


def test_advice_does_not_exclude_columns_of_another_notation(read_text):
    table = frame(IDS, sex="f", mass="1,5")
    assert advice(assert_stops("'sex' is 'f'", read_text, table)) == "!sex"
    message = assert_stops("'mass' is '1,5'.*--decimal", read_text, table, columns="!sex")
    assert " --columns" not in message
    for options in ({}, {"decimal": "."}):
        message = assert_stops("decimal mark is ',': ", read_text, table, columns="!sex", **options)
        assert message.endswith("--decimal , tells it")
    assert_stops("'mass'.* in doubt", read_text, frame(IDS, mass=["1,5", *"2" * 11]))


def test_advice_excludes_all_columns_of_text(read_text):
    table = frame(IDS, **{f"text {k}": "low" for k in range(9)})
    message = assert_stops("'text 0' is 'low'.*NAME=COLUMNS", read_text, table)
    assert_read(read_text(table, columns=advice(message)))


# --------------------------------------------------------------------------------- orientation

GENES = ["TP53", "EGFR", "KRAS"]


def genes(samples=IDS, name="sample", index=GENES, **annotation):
    table = pd.DataFrame(X.T, pd.Index(index, name=name), list(samples))
    for column, values in reversed(annotation.items()):
        table.insert(0, column, values)
    return table


@pytest.mark.parametrize(
    ("table", "names", "odd"),
    [
        (genes(), GENES, ""),
        (genes(name="Entrez_Gene_Id", index=[7157, 1956, 3845]), ["7157", "1956", "3845"], ""),
        (genes(samples=range(1001, 1013), name="id"), GENES, ""),
        (genes(samples=TCGA[:6] + [f"TCGA-A{i}-A0SB" for i in range(6)]), GENES, ""),
        (genes(name="ID", index=["TP53", "", "KRAS"]), ["TP53", "3", "KRAS"], ""),
        (genes(name="Hugo_Symbol", Entrez_Gene_Id=[7157, 1956, 3845]), GENES, "'Entrez_Gene_Id'"),
        (genes(Chr=[1, 2, 3], Start=[5, 6, 7], End=[8, 9, 10], Length=[3, 3, 3]), GENES, "'Chr'"),
        (genes(Chromosome=["1", "X", "2"], Coordinate=[7, 8, 9]), GENES, "'Chromosome'"),
        (genes(name="Gene", Description=["a", "b", "c"], strand=["+", "-", "+"]), GENES, "'Desc"),
        (genes(Score=[0.5, 0.25, 0.1]), GENES, "'Score'"),
        (genes(Coord1=[10**6, 3 * 10**7, 10**8]), GENES, "'Coord1'"),
        (genes(q1=[3, 7, 9]), GENES, "'q1'"),
        (genes(log2FoldChange=[1.5, -2.25, 0.5]), GENES, "'log2FoldChange'"),
        (genes(Mean=X.mean(axis=0).round(6)), GENES, "'Mean'"),
    ],
)
def test_columns_are_samples_unless_they_differ_in_kind(tmp_path, read, table, names, odd):
    path, other = write(tmp_path / "a.csv", table), tmp_path / "b.csv"
    ids = list(map(str, table.columns[-12:]))
    choices = [{}]
    if odd:
        message = assert_stops(f"{odd}", read, path, transpose=True)
        choices = [{"columns": advice(message)}, {"columns": "s??"}]
        # Another file of the same kind does not tell that they are samples.
        write(other, table)
        assert_stops(f"{odd}", read, path, other, transpose=True)
    for options in choices:
        data = read(path, transpose=True, **options)
        assert_read(data, names=names, ids=ids)
        assert "samples are columns" in data.notes[-1]
    # The ids of a file with samples in rows are samples.
    write(other, frame(ids).iloc[ORDER])
    options = {} if not odd else {"columns": f"{path}:{advice(message)}"}
    data = read(path, other, transpose=str(path), **options)
    np.testing.assert_array_equal(data.views["a"], data.views["b"])


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (genes(name="Hugo_Symbol"), {}, "'Hugo_Symbol' has names of features: use --transpose"),
        (genes(name="dataMatrix"), {}, "'dataMatrix' has names of features: use --transpose"),
        (genes(TCGA), {}, "look like samples: use --transpose"),
        (frame(TCGA), {"transpose": True}, "rows look like samples: read it without --transpose"),
        (genes(), {"transpose": "c.csv"}, "--transpose c.csv: this is not one of .* after"),
        (genes().replace(X[4, 1], "low"), {"transpose": True}, "line 3, column 's04' is 'low'"),
        (genes().replace(X[4, 1], np.inf), {"transpose": True}, "line 3, column 's04' is inf"),
        (genes()[[]], {"transpose": True}, "no columns except the ids"),
        (genes([*IDS[:11], "s00"]), {"transpose": True}, "several columns are called 's00'"),
        (genes(index=["TP53", "OS.time", "KRAS"]), {"transpose": True}, "outcomes.*: 'OS.time'"),
        (genes().replace(X[1:4, 1], -99), {"transpose": True}, "rows .* 3 cells of -99.*'EGFR'"),
    ],
)
def test_orientations_that_stop(read_text, table, options, message):
    assert_stops(message, read_text, table, **options)


def test_what_was_taken_for_samples_is_always_said(tmp_path, read):
    # Nothing tells that these rows are metabolites, and the columns samples.
    samples, rows = [f"HU_neg_{i:03d}" for i in (11, 14, 15, 17)], ["Taurine", "Uric acid"]
    table = pd.DataFrame(
        np.random.default_rng(0).random((2, 4)), pd.Index(rows, name="row"), samples
    )
    path = write(tmp_path / "a.csv", table)
    (note,) = read(path).notes
    assert "samples are rows" in note and "'row' ('Taurine', 'Uric acid')" in note
    assert "(4 in all)" in note and "--transpose" in note
    (note,) = read(path, transpose=True).notes
    assert "samples are columns ('HU_neg_011'" in note and "--transpose" not in note
    assert read(write(path, genes(name="gene")), id_column="gene").ids == GENES
    np.save(tmp_path / "b.npy", X)
    (note,) = read(tmp_path / "b.npy").notes
    assert "b.npy: 12 samples in rows, 3 features" in note and "--transpose" in note
    (note,) = read(tmp_path / "b.npy", transpose=True).notes
    assert "3 samples in columns, 12 features" in note and "--transpose" not in note


def test_a_series_matrix_of_geo_and_decimal_commas(tmp_path, read_text):
    table = genes([f"GSM{1000 + i}" for i in range(12)], "ID_REF").to_csv(sep="\t")
    above = '!Series_title\t"A study"\n\n!series_matrix_table_begin\n'
    text = f"{above}{table}!series_matrix_table_end\n"
    np.testing.assert_array_equal(read_text(text, transpose=True).views["a"], X)
    assert_stops("'ID_REF' has names of features: use --transpose", read_text, text)
    text = genes(Entrez_Gene_Id=[7157, 1956, 3845]).to_csv(sep=";", decimal=",")
    assert_stops("line 2, column 's00' is .*--decimal ,", read_text, text, transpose=True)
    options = {"decimal": ",", "columns": "!Entrez_Gene_Id"}
    assert_read(read_text(text, transpose=True, **options), names=GENES)


def test_options_of_one_file_leave_the_others_alone(tmp_path, read):
    paths = [write(tmp_path / "a.csv", genes()), write(tmp_path / "b.csv", genes().iloc[:, 2:])]
    assert_stops("only in .*a.csv: 's00', 's01'.*--join", read, *paths, transpose=True)
    assert read(*paths, transpose=True, join="outer").ids == IDS
    write(paths[1], frame(IDS))
    frame(IDS).to_csv(paths[0], sep=";", decimal=",")
    assert_stops(rf"a.csv: line 2, .*--decimal {re.escape(str(paths[0]))}:, tells", read, *paths)
    assert_stops(r"b.csv: line 2, .* mark is '\.': .*b.csv:\. tells", read, *paths, decimal=",")
    for path in (str(paths[0]), f"{tmp_path}//./a.csv"):
        data = read(path, paths[1], decimal=f"{path}:,")
        np.testing.assert_array_equal(data.views["a"], X)
    assert_stops("--decimal ';'", read, paths[1], decimal=";")
    assert_stops("'a.csv:,': .* FILE:MARK", read, *paths, decimal="a.csv:,")


def test_advice_for_one_of_several_files_leaves_the_others_alone(tmp_path, read):
    paths = [write(tmp_path / "a.csv", genes(name="gene")), write(tmp_path / "b.csv", frame(IDS))]
    message = assert_stops("'gene' has names of features", read, *paths)
    (file,) = shlex.split(re.search("use --transpose (.*?) to", message)[1])
    np.testing.assert_array_equal(read(*paths, transpose=file).views["a"], X)
    (column,) = shlex.split(re.search("--id-column (.*) to", message)[1])
    assert_stops("have 0 ids in common", read, *paths, id_column=column)
    message = assert_stops("b.csv: .* no column 'gene'", read, *paths, id_column="gene")
    assert "--id-column FILE:NAME" in message
    options = {"transpose": file, "columns": "!height"}
    assert "--columns FILE:NAMES" in assert_stops("a.csv: .*'height'", read, *paths, **options)
    write(paths[0], genes(TCGA))
    assert_stops(f"look like samples: use --transpose {re.escape(str(paths[0]))}", read, *paths)


# ---------------------------------------------------------------------------------- similarities


@pytest.mark.parametrize("options", [[], ["--transpose"]])
def test_similarities_are_matched_by_the_ids_of_rows_and_columns(tmp_path, refused, options):
    S = np.random.default_rng(0).random((12, 12)).round(6)
    S = pd.DataFrame(S + S.T + 2 * np.eye(12), pd.Index(IDS, name="id"), IDS)
    paths, labels = [write(tmp_path / "S.csv", S), tmp_path / "b.csv"], tmp_path / "labels.csv"
    arguments = ["cluster", *paths, "--clusters", 3, "--precomputed", "--method", "tlrr", *options]
    tables = []
    for other in (S, S.iloc[ORDER, ORDER[::-1]]):
        write(paths[1], other)
        assert main([*map(str, arguments), "--labels", str(labels)]) == 0
        tables.append(pd.read_csv(labels))
    pd.testing.assert_frame_equal(*tables)
    write(paths[1], S.iloc[1:, 1:])
    assert "'s00'" in refused(*arguments)
    for option in (["--join", "inner"], ["--columns", "s*"]):
        assert option[0] in refused(*arguments, *option)


@pytest.mark.filterwarnings("default")
def test_symmetric_features_are_reported(read_text):
    S = np.random.default_rng(0).random((12, 12)).round(6)
    for matrix, is_told in ((S + S.T, True), (S, False)):
        notes = read_text(pd.DataFrame(matrix, pd.Index(IDS, name="id"), IDS)).notes
        assert is_told == any("'a'" in note and "--precomputed" in note for note in notes)


# ------------------------------------------------------------------------- labels to compare with


@pytest.mark.parametrize(
    ("text", "ids", "outcome"),
    [
        ("who,kind\nr,a\np,b\nz,b\n", "pqr", {"a": "1", "b": "1"}),
        ("who,age,label\nr,30,1\np,40,\nq,50,2\n", "pqr", {"1": "1", "2": "1"}),
        ("MRN,y\n9,1\n7,1\n8,3\n", "789", {"1": "2", "3": "1"}),
        ("y\n1\n1\n2\n", None, {"1": "2", "2": "1"}),
        ("kind\na\na\nb\n", None, {"a": "2", "b": "1"}),
        ("sample,cluster\n2,5\n0,6\n", None, {"5": "1", "6": "1"}),
        ("id,y\n1,4\n2,4\n3,5\n", None, {"4": "2", "5": "1"}),  # as R numbers rows
        ("id,y\np,4\nq,4\nr,5\n", None, {"4": "2", "5": "1"}),
        ("cell_type\nB cell\nB cell\nNA\n", None, {"B cell": "2"}),
        ("kind\na\nb\nNA \n", None, {"a": "1", "b": "1"}),
        ('"x"\n"1" "a"\n"2" "b"\n', None, {"a": "1", "b": "1"}),  # 0 is the first sample
        ("kind\np a\nr b\n", "pqr", {"a": "1", "b": "1"}),  # as R writes a column
        ("x\np NA\nr 1.5\nq 2\n", "pqr", {"1.5": "1", "2": "1"}),
        ("who,kind\nx,a\ny,b\nz,b\n", "pqr", "no column of ids such as 'p', 'q'"),
        ("id,kind\n7.0,a\n8.0,b\n9.0,b\n", "789", "such as '7', '8', but '7.0', '8.0'"),
        ("who,kind,age\np,a,3\nq,b,3\nr,b,4\n", "pqr", "one column of labels"),
        ("who\np\nq\nr\n", "pqr", "one column of labels"),
        ("y\n1\n2\n", None, "2 labels for 3 samples"),
        ("id,kind\np,a\nq,b\np,b\n", "pqr", "line 4 has the id 'p' of line 2 again"),
        ("id,kind\np,\nq,\nz,b\n", "pqr", "no label of these samples"),
        ("p,a\nq,b\nr,b\n", "pqr", "needs a header, but 'p' is a sample"),
        (",who,y\n0,p,1\n1,q,2\n2,r,2\n", "pqr", "the ids in column 'who'"),
        ("kind\na\nb\nb\n", "pqr", "only 'kind', taken for ids"),
    ],
)
def test_labels_are_matched_by_id_or_by_position(tmp_path, read_text, text, ids, outcome):
    table = pd.DataFrame({"a": [0.5, 1.5, 2.5], "b": [0.25, 1, 4]})
    if ids:
        table.index = pd.Index(list(ids), name="id")
    (tmp_path / "known.csv").write_text(text)
    options = {"scores": tmp_path / "known.csv"}
    if isinstance(outcome, str):
        assert_stops(f"known.csv.*{re.escape(outcome)}", read_text, table, **options)
        return
    data = read_text(table, **options)
    names, counts = [re.split("  +", line.strip()) for line in data.out.splitlines()[-2:]]
    assert dict(zip(names, counts[1:], strict=True)) == outcome
    by_number = ids is None and text.startswith(("sample", '"x"'))
    way = "by number, that of the first sample is 0" if by_number else "by position"
    assert any(f"labels are matched {way}" in note for note in data.notes) == (ids is None)
