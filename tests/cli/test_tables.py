"""Tables as files hold them: separators, decimals, encodings, headers, and where cells are."""

import gzip
import io
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.cli import _scratch, _tables, _text, main
from mvsc_fast.cli._readers import load_data

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NAMES = ["height", "width", "depth"]


def frame(ids=None, columns=NAMES, values=X):
    return pd.DataFrame(values.copy(), columns=columns, index=ids)  # pandas 2 would share memory


def read(path, **options):
    data = load_data([path], **options)
    (view,) = data.views.values()
    return np.asarray(view), data


def written(path, separator=",", decimal=".", encoding="utf-8", index=False, **options):
    frame(**options).to_csv(path, sep=separator, decimal=decimal, encoding=encoding, index=index)
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize("index", [True, False])
def test_separators_and_decimal_commas(tmp_path, separator, decimal, index):
    ids = pd.Index(IDS, name="who") if index else None
    path = written(tmp_path / "a.csv", separator, decimal, index=index, ids=ids)
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert list(data.views["a"].columns) == NAMES
    assert (data.ids is not None) == index and len(data.notes) == index + (decimal == ",")


@pytest.mark.parametrize(
    ("lines", "separator"),
    [
        (["id;x,y", "a;b;1,5", "c;d;2,5"], ";"),  # without a name for the ids
        (["id;x,y", "a;b;c;d,1", "a;b;c;d,2"], ","),
        (["x;y,z", "1,5", "2,5"], ","),
        (["a|b,c", "d|e,f", "g|h|i,j"], "|"),
        (["a b", "c d"], " "),
        (["a,b c"], ","),
        (["abc", "def"], ","),
        (["", "a;b"], ";"),
    ],
)
def test_the_separator_is_equally_frequent_in_the_first_rows(lines, separator):
    assert _text._separator([f"{line}\n" for line in lines]) == separator


def test_decimal_commas_are_not_marks_of_thousands(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a;b\n"1,234";"2,345"\n"3,456";7\n')
    with pytest.raises(ValueError, match="a.csv: '1,234' may have a decimal comma or a thousands"):
        load_data([path])
    path.write_text("a;b\n1,5;1.234\n2,5;3\n")
    with pytest.raises(ValueError, match="'1,5' has a comma and '1.234' has a decimal point"):
        load_data([path])
    path.write_text("a;b\n1,5;3\n" * 1 + "2,5;4\n" * 30 + "2,5;1.234\n")
    with pytest.raises(ValueError, match=r"line 33, column 2 \('b'\) is '1.234', not a number"):
        load_data([path])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding):
    path = written(tmp_path / "a.csv", encoding=encoding, columns=["höhe", "width", "größe"])
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert list(data.views["a"].columns) == ["höhe", "width", "größe"]
    assert ("Windows-1252" in "".join(data.notes)) == (encoding == "cp1252")


@pytest.mark.parametrize("suffix", [".csv.gz", ".tsv", ".tsv.gz", ".txt", ".parquet", ".xlsx"])
def test_formats_with_ids(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    table = frame(pd.Index(IDS, name="who"))
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
        table.to_parquet(path)
    elif suffix == ".xlsx":
        table.to_excel(path)
    else:
        table.to_csv(path, sep="\t" if "tsv" in suffix else " ")
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert data.ids.tolist() == IDS and data.id_name == "who"
    assert data.notes == [f"ids are column 1 ('who') of {path} (to change this, use --id-column)"]


def test_quotes_blank_lines_and_a_separator_at_the_end(tmp_path):
    path = tmp_path / "a.csv"
    for end in ("", ","):
        path.write_text(f'"height, in m","the\nwidth"{end}\n\n"1.5",2,\n3,4,\n\n5,6,\n')
        found, data = read(path)
        np.testing.assert_array_equal(found, [[1.5, 2], [3, 4], [5, 6]])
        assert list(data.views["a"].columns) == ["height, in m", "the\nwidth"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n\n1,2\n3,x\n5,6\n", r"line 4, column 2 \('b'\) is 'x', not a number"),
        (
            "a,b\n\n1,2\n3,\n5,6\n",
            r"16.7 % of the cells .* line 4, column 2 \('b'\)",
        ),
        ("a,b\n1,2\n3,-inf\n5,1e999\n", r"2 cells are infinite, the first in line 3, column 2"),
        ("\n1,2\n3,4,5\n", "line 3 has 3 cells, the first sample has 2"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cell, the first sample has 2"),
        ('"a\nb",c\n1,2\n3,?\n', r"the first in line 4, column 2 \('c'\)"),
        (
            "a,b\n1,red\n2,red\n3,blue\n",
            r"column 2 \('b'\) contains text .* --columns '!b' excludes it",
        ),
        ("a,b,c\n1,2\n3,4\n", "line 1 has 3 cells, line 2 has 2"),
        ("Export of 2024\n\na,b\n1,2\n", "line 1 has 3 cells, line 3 has 1: .* a title"),
        ("x,2\n3,4\n5,6.5\n", "line 1 has both numbers and text .field 1 is 'x'"),
        ("p1,2,3\np2,4,5\n", "line 1 may contain names or a sample"),
        (
            "a,b\n1,\n2,\n",
            r"50 % of the cells .* 1 column without any value: --columns '!b'",
        ),
        ("", "is empty"),
        ("a,b\n", "has names of columns, but no samples"),
        ("id\n1\n2\n", "no numeric columns except the ids"),
    ],
)
def test_errors_point_to_the_line_of_an_editor(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"a\.csv:? .*{message}") as caught:
        load_data([path])
    assert str(caught.value).count("a.csv") == 1


def test_empty_rows_below_a_table_are_not_samples(tmp_path):
    path = tmp_path / "a.csv"
    for below in ("\n\n", ",,,\n", ",\n\n", ",,,\n,,,\n"):
        path.write_text(frame(pd.Index(IDS, name="id")).to_csv() + below)
        found, data = read(path)
        np.testing.assert_allclose(found, X)
        assert data.ids.tolist() == IDS


def test_rows_that_are_empty_but_for_their_id_lack_a_view(tmp_path):
    path = tmp_path / "a.csv"
    values = X.copy()
    values[[3, 7]] = np.nan
    frame(pd.Index(IDS, name="id"), values=values).to_csv(path)
    found, data = read(path)
    np.testing.assert_array_equal(found, values)
    assert f"{path}: 2 of 12 samples have an empty row, which lacks this view" in data.notes


def test_comments_above_a_table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('# measured in "Rome\n\n# of 2024\n' + frame().to_csv(index=False))
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert list(data.views["a"].columns) == NAMES
    assert data.notes == [f"{path}: 2 lines above the table skipped as comments"]
    path.write_text("# of 2024\n\n1,2\n3,x\n4,5\n")
    with pytest.raises(ValueError, match="line 4, column 2 is 'x'"):
        load_data([path])


@pytest.mark.parametrize("mark", ["#", "# ", "##"])
@pytest.mark.parametrize("above", ["", "# made by a program, 2024\n\n"])
def test_a_header_that_begins_with_a_comment_sign(tmp_path, mark, above):
    path = tmp_path / "a.csv"
    text = frame(pd.Index(IDS, name="OTU ID")).to_csv()
    path.write_text(above + mark + text)
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert list(data.views["a"].columns) == NAMES and data.id_name == "OTU ID"
    assert ("skipped" in "".join(data.notes)) == bool(above)
    pd.DataFrame({"f": X[:, 0], "target": np.resize([0, 1], 12)}, pd.Index(IDS, name="id")).to_csv(
        path
    )
    path.write_text(mark + path.read_text())
    with pytest.raises(ValueError, match="'target'. looks like a label"):
        read(path)


def test_comments_that_are_no_header(tmp_path):
    path = tmp_path / "a.csv"
    for text, columns in (
        ("#x,y\na,b\n1,2.5\n3,4\n", ["a", "b"]),
        ("#x\n1,2.5\n3,4\n", ["1", "2"]),
    ):
        path.write_text(text)
        found, data = read(path)
        assert data.notes == [f"{path}: 1 line above the table skipped as comments"]
        assert list(data.views["a"].columns) == columns
        np.testing.assert_array_equal(found, [[1, 2.5], [3, 4]])
    path.write_text("#s1,2,5\ns2,3.5,4\ns3,4.5,3\n")
    with pytest.raises(ValueError, match="line 1 may contain names or a sample"):
        read(path)


def test_a_row_that_begins_with_an_exclamation_mark_is_a_sample(tmp_path):
    path = tmp_path / "a.csv"
    ids = [*IDS[:5], "!s5", *IDS[6:10], "#s10", "!s11"]
    path.write_text("!made in 2024\n" + frame(pd.Index(ids, name="id")).to_csv())
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert data.ids.tolist() == ids


@pytest.mark.parametrize("cell", ["1_5", "\u0661\u0662", "12%", "0x1F", "(3.2)"])
@pytest.mark.parametrize("row", [3, 40])
def test_cells_that_are_no_numbers_in_any_row(tmp_path, cell, row):
    path = tmp_path / "a.csv"
    table = pd.DataFrame(RNG.standard_normal((60, 3)), columns=NAMES).astype(object)
    table.iloc[row, 1] = cell
    table.to_csv(path, index=False)
    with pytest.raises(
        ValueError, match=rf"line {row + 2}, column 2 \('width'\) is '.*', not a num"
    ):
        read(path)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
def test_encodings_that_are_not_recognized(tmp_path, encoding):
    path = written(tmp_path / "a.csv", encoding=encoding)
    with pytest.raises(ValueError, match="a.csv has NUL characters, .*: save it as UTF-8"):
        read(path)


def test_old_ends_of_lines(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\r1.5,2.5\r2,3\r")
    np.testing.assert_array_equal(read(path)[0], [[1.5, 2.5], [2, 3]])


@pytest.mark.parametrize("words", [("True", "False"), ("TRUE", "FALSE")])
def test_true_and_false_are_1_and_0(tmp_path, words):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n0.5,{}\n1.5,{}\n2.5,{}\n".format(*words, words[0]))
    np.testing.assert_array_equal(read(path)[0], [[0.5, 1], [1.5, 0], [2.5, 1]])


def test_names_that_are_numbers(tmp_path):
    path = tmp_path / "a.csv"
    for columns, index in (([0, 1, 2], None), ([7, 10, 300], "id"), ([0, 1, 2], "")):
        frame(None if index is None else pd.Index(IDS, name=index), columns).to_csv(
            path, index=index is not None
        )
        found, data = read(path)
        np.testing.assert_allclose(found, X)
        assert list(data.views["a"].columns) == list(map(str, columns))
    for row in ("10,20,30", "0,1,3", "0,1", "0"):  # samples, as they do not count up to 2 or more
        path.write_text("\n".join([row, *(row.replace(",", ".5,") for _ in range(2))]))
        assert len(read(path, id_column="none")[0]) == 3
    spectra = pd.DataFrame(
        RNG.standard_normal((12, 40)), pd.Index(IDS, name="probe of a run"), np.arange(40) + 400.5
    )
    spectra.to_csv(path)
    assert read(path, id_column="1")[0].shape == (12, 40)


def test_excel_titles_sheets_and_rows(tmp_path):
    path = tmp_path / "a.xlsx"
    frame(pd.Index(IDS, name="id")).to_excel(path, startrow=3)
    import openpyxl

    book = openpyxl.load_workbook(path)
    book.active["A1"] = "Export of 2024"
    book.create_sheet("empty")
    book.save(path)
    found, data = read(path)
    np.testing.assert_allclose(found, X)
    assert f"{path}: the rows above row 4 are read as a title" in data.notes
    with pd.ExcelWriter(path) as sheets:
        frame().to_excel(sheets, index=False)
        frame().to_excel(sheets, sheet_name="other")
    with pytest.raises(ValueError, match=r"a.xlsx has 2 sheets .* \('Sheet1', 'other'\)"):
        load_data([path])
    cells = frame().astype(object)
    cells.iloc[4, 1] = "tall"
    cells.to_excel(path, index=False)
    with pytest.raises(ValueError, match=r"row 6, column 2 \('width'\) is 'tall', not a number"):
        load_data([path])


# ---------------------------------------------------------------------------------------- Parquet


@pytest.mark.parametrize("lazy", [False, True])
def test_columns_of_parquet_have_types(tmp_path, lazy):
    pytest.importorskip("pyarrow")
    table = frame().assign(
        whole=np.arange(12) // 2,
        flag=np.arange(12) % 3 == 0,
        null=pd.array([None, *[5] * 11], "Int64"),
    )
    table["big"] = np.arange(12, dtype="uint64") // 2 + 2**49
    table["price"] = [Decimal(i // 2) / 4 for i in range(12)]
    table.insert(0, "who", [2**53 + i for i in range(12)])
    table.to_parquet(tmp_path / "a.parquet", index=False)
    order = RNG.permutation(12)
    table.iloc[order].set_index("who").to_parquet(tmp_path / "b.parquet")
    (tmp_path / "c.csv").write_text(table.iloc[order].to_csv(index=False))
    paths = [tmp_path / name for name in ("a.parquet", "b.parquet", "c.csv")]
    data = load_data(paths, id_column="who", lazy=lazy)
    assert data.ids.tolist() == [str(2**53 + i) for i in range(12)]
    expected = table.drop(columns="who").to_numpy(float, na_value=np.nan)
    for view, names in zip(data.views.values(), data.columns, strict=True):
        assert isinstance(view, np.memmap) is lazy and names == list(table.columns[1:])
        np.testing.assert_array_equal(np.asarray(view), expected)
    auto = load_data(paths[:2], lazy=lazy)
    assert auto.ids.tolist() == data.ids.tolist()


def test_floats_of_parquet_stay_single(tmp_path):
    pytest.importorskip("pyarrow")
    frame(pd.Index(IDS, name="who"), values=X.astype(np.float32)).to_parquet(tmp_path / "a.parquet")
    for lazy in (False, True):
        (view,) = load_data([tmp_path / "a.parquet"], lazy=lazy).views.values()
        assert np.asarray(view).dtype == np.float32
        np.testing.assert_array_equal(view, X.astype(np.float32))


def test_text_and_dates_of_parquet_are_no_features(tmp_path):
    pytest.importorskip("pyarrow")
    for name, values in (
        ("sex", pd.Categorical(["f", "m"] * 6)),
        ("seen", pd.date_range("2024-01-01", periods=12)),
        ("count", [str(i % 5) for i in range(12)]),
        ("tags", [["a"]] * 12),
    ):
        table = frame(pd.Index(IDS, name="who"))
        table[name] = values
        table.to_parquet(tmp_path / "a.parquet")
        with pytest.raises(ValueError, match=rf"column 5 \('{name}'\) contains text .* in row 1"):
            load_data([tmp_path / "a.parquet"])
        data = load_data([tmp_path / "a.parquet"], columns=[f"!{name}"])
        np.testing.assert_array_equal(data.views["a"], X)
        assert data.ids.tolist() == IDS


def test_cells_of_parquet_have_their_rows(tmp_path):
    pytest.importorskip("pyarrow")
    table = frame(pd.Index(IDS, name="who"))
    table.iloc[6, 1] = np.inf
    table.to_parquet(tmp_path / "a.parquet", row_group_size=4)
    with pytest.raises(ValueError, match=r"infinite, the first in row 7, column 3 \('width'\)"):
        load_data([tmp_path / "a.parquet"])
    frame().iloc[:0].to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="names of columns, but no samples"):
        load_data([tmp_path / "a.parquet"])


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".xlsx"])
def test_tables_are_read_in_blocks_within_a_limit(tmp_path, monkeypatch, suffix):
    """Ids in any order, some of the columns, and samples that one file lacks."""
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    monkeypatch.setattr(_scratch, "BLOCK", 5)
    monkeypatch.setattr(_tables, "CELLS", 16)
    order, paths = RNG.permutation(12)[:10], [tmp_path / f"{name}{suffix}" for name in "ab"]
    tables = frame(pd.Index(IDS, name="id")), frame(pd.Index(IDS, name="id"), values=X + 1)
    tables[0].insert(1, "sex", ["f", "m"] * 6)
    for table, path in zip((tables[0], tables[1].iloc[order]), paths, strict=True):
        {".csv": table.to_csv, ".parquet": table.to_parquet, ".xlsx": table.to_excel}[suffix](path)
    for join in ("inner", "outer"):
        whole, lazy = (
            load_data(paths, columns=["!sex", "*"], join=join, lazy=lazy) for lazy in (False, True)
        )
        assert lazy.ids.tolist() == whole.ids.tolist() and lazy.columns == whole.columns
        for name, view in lazy.views.items():
            assert isinstance(view, np.memmap)
            np.testing.assert_array_equal(view, whole.views[name])
        assert len(lazy.ids) == (10 if join == "inner" else 12)


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
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="^standard input: it is closed"):
        load_data(["-"])


@pytest.mark.parametrize("suffix", [".csv", ".tsv.gz"])
def test_tables_of_60000_columns(tmp_path, suffix):
    path = tmp_path / f"wide{suffix}"
    separator = "\t" if "tsv" in suffix else ","
    names = [f"gene_{k:06d}" for k in range(60_000)]
    rows = [["id", *names], *(["s1", *map(str, range(60_000))], ["s2", *["0.5"] * 60_000])]
    text = "\n".join(map(separator.join, rows)).encode()
    path.write_bytes(gzip.compress(text, 1) if suffix.endswith("gz") else text)
    found, data = read(path)
    np.testing.assert_array_equal(found[0], np.arange(60_000))
    assert data.ids.tolist() == ["s1", "s2"]
    assert list(data.views["wide"].columns) == names


def test_text_tables_need_no_pandas(tmp_path, monkeypatch):
    order = RNG.permutation(12)
    frame(pd.Index(IDS, name="id")).to_csv(tmp_path / "a.csv")
    frame(pd.Index(IDS, name="id"), values=X + 1).iloc[order].to_csv(tmp_path / "b.tsv", sep="\t")
    monkeypatch.setitem(sys.modules, "pandas", None)
    data = load_data([tmp_path / "a.csv", tmp_path / "b.tsv"])
    np.testing.assert_allclose(data.views["b"], X + 1)
    assert data.ids.tolist() == IDS
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "c.parquet").write_text("")
    with pytest.raises(ImportError, match="Parquet needs pyarrow: pip install pyarrow$"):
        load_data([tmp_path / "c.parquet"])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "c.xlsx").write_text("")
    with pytest.raises(ImportError, match="Excel needs openpyxl: pip install openpyxl$"):
        load_data([tmp_path / "c.xlsx"])


# ---------------------------------------------------------------------------------- transposition


GENES = ["TP53", "EGFR", "KRAS"]
LAYOUTS = {
    "xena": pd.DataFrame(X.T, index=pd.Index(GENES, name="sample"), columns=IDS),
    "cbioportal": pd.DataFrame(X.T, index=pd.Index(GENES, name="Hugo_Symbol"), columns=IDS),
    "entrez": pd.DataFrame(
        X.T, index=pd.Index([7157, 1956, 3845], name="Entrez_Gene_Id"), columns=IDS
    ),
    "numbered": pd.DataFrame(X.T, index=GENES, columns=range(1001, 1013)),
}
LAYOUTS["cbioportal"].insert(0, "Entrez_Gene_Id", [7157, 1956, 3845])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_genes_as_rows(tmp_path, layout):
    path = tmp_path / "a.txt"
    LAYOUTS[layout].to_csv(path, sep="\t")
    found, data = read(path, transpose=["*"])
    np.testing.assert_allclose(found, X)
    assert data.ids.tolist() == [str(one) for one in LAYOUTS[layout].columns[-12:]]
    names = ["7157", "1956", "3845"] if layout == "entrez" else GENES
    assert list(data.views["a"].columns) == names
    assert data.notes == [f"ids are the header of {path}"]


def test_names_of_transposed_rows_may_lack_or_be_numbers(tmp_path):
    path = tmp_path / "a.csv"
    np.savetxt(path, X.T, delimiter=",")
    found, data = read(path, transpose=["*"])
    np.testing.assert_allclose(found, X)
    assert data.ids is None and list(data.views["a"].columns) == ["1", "2", "3"]
    pd.DataFrame(X.T, ["TP53", "7157", "KRAS"], IDS).to_csv(path)
    found, data = read(path, transpose=["*"])
    np.testing.assert_allclose(found, X)
    assert list(data.views["a"].columns) == ["TP53", "7157", "KRAS"]
    table = LAYOUTS["cbioportal"].rename(index={"EGFR": ""})
    table.to_csv(path)
    found, data = read(path, transpose=["*"])
    assert list(data.views["a"].columns) == ["TP53", "1956", "KRAS"] and data.ids.tolist() == IDS


def test_a_series_matrix_of_geo(tmp_path):
    path = tmp_path / "series_matrix.txt"
    rows = "\n".join(
        f'"{gene}"\t' + "\t".join(map(str, x)) for gene, x in zip(GENES, X.T, strict=True)
    )
    header = "\t".join(f'"GSM{1000 + i}"' for i in range(12))
    path.write_text(
        f'!Series_title\t"A study"\n!Series_type\t"x"\n\n!series_matrix_table_begin\n'
        f'"ID_REF"\t{header}\n{rows}\n!series_matrix_table_end\n'
    )
    found, data = read(path, transpose=[str(path)])
    np.testing.assert_allclose(found, X)
    assert data.ids.tolist()[:2] == ["GSM1000", "GSM1001"]
    with pytest.raises(ValueError, match="its columns .'GSM1000'.* look like samples.*--transpose"):
        load_data([path])


def test_errors_of_transposed_tables_have_the_places_of_the_file(tmp_path):
    path = tmp_path / "a.txt"
    for cell, message in (
        ("inf", "1 cell is infinite, the first in column 6, line 3 .*: replace"),
        ("low", "line 3, column 6 .'s04'. is 'low', not a number"),
    ):
        table = LAYOUTS["xena"].astype(object)
        table.iloc[1, 4] = cell
        table.to_csv(path, sep="\t")
        with pytest.raises(ValueError, match=message):
            load_data([path], transpose=["*"])
    pd.DataFrame({"gene": GENES, "site": list("abc")}).to_csv(path, index=False)
    message = r"line 2, column 2 .'site'. is 'a', not .* all columns from column 2 .'site'. on as"
    with pytest.raises(ValueError, match=message):
        load_data([path], transpose=["*"])


@pytest.mark.filterwarnings("default")
def test_a_few_empty_cells_are_noted_and_filled_by_the_fit(tmp_path, capsys):
    table = LAYOUTS["xena"].astype(object)
    table.iloc[1, 4] = ""
    path = tmp_path / "a.txt"
    table.to_csv(path, sep="\t")
    found, data = read(path, transpose=[str(path)])
    assert np.isnan(found).sum() == 1
    (note,) = [note for note in data.notes if "empty cell" in note]
    assert "the first empty cell is in column 6, line 3" in note
    assert main(["cluster", str(path), "--transpose", "--clusters", "2"]) == 0
    told = capsys.readouterr().err
    assert "the first empty cell" in told and told.count("1 cell (") == 1


def test_what_cannot_be_transposed(tmp_path):
    np.save(tmp_path / "a.npy", X)
    written(tmp_path / "b.csv")
    with pytest.raises(ValueError, match="--transpose is for tables, but .*a.npy"):
        load_data([tmp_path / "a.npy"], transpose=["*"])
    with pytest.raises(ValueError, match="--transpose c.csv: this is not one of .* after"):
        load_data([tmp_path / "b.csv"], transpose=["c.csv"])
