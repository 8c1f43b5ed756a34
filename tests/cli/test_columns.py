"""What the columns of tables are, how rows are matched, and what must not be a feature."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NUMBERS = RNG.choice(np.arange(1_000_000, 9_999_999), 12, replace=False).tolist()
ORDER = RNG.permutation(12)
NAMES = ["height", "width", "depth"]


def frame(ids=None, name="id", columns=NAMES, values=X):
    index = None if ids is None else pd.Index(ids, name=name)
    return pd.DataFrame(values, columns=list(columns), index=index)


def write(path, table):
    has_ids = table.index.name is not None or not isinstance(table.index, pd.RangeIndex)
    table.to_csv(path, index=has_ids)
    return path


@pytest.fixture
def read_table(read, tmp_path):
    """A function that reads a data frame as a file."""
    return lambda table, **options: read(write(tmp_path / "a.csv", table), **options)


@pytest.fixture
def read_pair(read, tmp_path):
    """A function that reads two files of the same samples, the second in another order."""

    def read_pair(first, second, **options):
        paths = [write(tmp_path / "a.csv", first), tmp_path / "b.csv"]
        return read(*paths[:1], write(paths[1], (second + 1).iloc[ORDER]), **options)

    return read_pair


def columns_of(data):
    (view,) = data.views.values()
    return list(view.columns)


def advice(error):
    """The value of --columns that an error advises, as a shell reads it."""
    text = re.search("--columns (.*?) excludes", str(error.value))[1]
    return shlex.split(text)[0]


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
        *((NUMBERS, name) for name in ("id", "MRN", "PatNr", "Sample No.", "cell", "PatientID")),
        *((NUMBERS, name) for name in ("USUBJID", "subject#", "customer_id", "case", "Barcode")),
        (range(100, 112), "id"),
        (ORDER, ""),
    ],
)
def test_ids_are_the_first_column_by_its_values_or_name(read_pair, ids, name):
    data = read_pair(frame(ids, name), frame(ids, name))
    np.testing.assert_array_equal(data.views["b"], X + 1)
    assert data.ids == list(map(str, ids))
    assert "matched by id" in data.notes[-1] and sum("ids are" in note for note in data.notes) == 2


@pytest.mark.parametrize(
    ("first", "note"), [(NUMBERS, None), ([1.5, *range(11)], None), (range(12), "counts the rows")]
)
def test_numbers_of_another_name_are_no_ids(read_table, first, note):
    data = read_table(frame(first, "size"))
    assert data.ids is None and "a.csv without ids" in data.notes[-1]
    assert columns_of(data) == ([] if note else ["size"]) + NAMES
    assert (note or "") in data.notes[0]


def test_a_word_among_decimals_is_an_error_and_no_id(read_table):
    with pytest.raises(ValueError, match="line 5, column 'size' is 'tall', not a number"):
        read_table(frame([0.5, 1.5, 2.5, "tall", *np.arange(8) / 2], "size"))


def test_ids_that_nobody_names_stop_a_match_by_position(tmp_path, read):
    paths = [write(tmp_path / "a.csv", frame(NUMBERS, "lot")), tmp_path / "b.csv"]
    write(paths[1], frame(NUMBERS[::-1], "id"))
    with pytest.raises(ValueError, match="a.csv has no ids, but .*b.csv has: --id-column"):
        read(*paths)
    assert read(*paths, id_column=f"{paths[0]}:lot").ids == list(map(str, NUMBERS))
    write(paths[1], frame(NUMBERS[::-1], "charge"))
    with pytest.raises(ValueError, match="b.csv have the same numbers .*'charge'.*--id-column"):
        read(*paths)


@pytest.mark.parametrize("name", ["X", "Unnamed: 0", "", "...1", "No.", "V1", "row"])
def test_counters_are_no_features(read_table, name):
    ids = frame(IDS, "patient").reset_index()
    for start, place in ((0, 0), (1, 0), (1, 4)):
        table = ids.copy()
        table.insert(place, name, range(start, start + 12))
        if place == 0 and name in ("No.", "V1", "row"):
            continue  # the first column of numbers of such a name hides the ids, which stops
        data = read_table(table)
        assert data.ids == IDS and columns_of(data) == NAMES
        assert "counts the rows or repeats the ids, and is ignored" in data.notes[1]
    for values in (NUMBERS, IDS):
        copy = frame(values, "patient").assign(again=values)
        assert columns_of(read_table(copy)) == NAMES


def test_repeated_and_missing_ids(read_table):
    repeated = pd.concat([frame(IDS), frame(IDS).iloc[2:4]])
    with pytest.raises(ValueError, match="a.csv: line 14 has the id 's02' of line 4 again"):
        read_table(repeated)
    with pytest.raises(ValueError, match="line 7 has no id in column 'id'"):
        read_table(frame([*IDS[:5], None, *IDS[6:]]))


def test_the_column_of_ids_is_selected(tmp_path, read_table):
    table = frame(range(12)).assign(plate=IDS)
    for option in ("plate", "a.csv:plate", f"{tmp_path / 'a.csv'}:plate"):
        data = read_table(table, id_column=option, columns="height,width")
        assert data.ids == IDS and data.id_name == "plate"
    with pytest.raises(ValueError, match="a.csv: there is no column 'who'; the table has 'id'"):
        read_table(table, id_column="who")
    with pytest.raises(ValueError, match="--id-column is given twice for .*a.csv: 'id', 'plate'"):
        read_table(table, id_column=["id", "plate"])
    with pytest.raises(ValueError, match="look like ids, .*: 'id'; .*'!id'"):
        read_table(frame(NUMBERS), id_column="none")
    data = read_table(frame(NUMBERS), id_column="none", columns="!id")
    assert data.ids is None and columns_of(data) == NAMES


# ---------------------------------------------------------------------------------------- matching


@pytest.mark.parametrize("change", [str.upper, lambda text: f"{text}-01A"])
def test_ids_are_matched_exactly(read_pair, change):
    ids = [f"p-{i:03d}-\u00e9x" for i in range(1, 13)]
    for join in ({}, {"join": "inner"}):
        with pytest.raises(ValueError, match=r"0 ids in common \(only in .*'p-001.*exactly"):
            read_pair(frame(ids), frame(list(map(change, ids))), **join)


@pytest.mark.parametrize(
    ("ids", "others"), [(["5.0"], ["5"]), (["041"], ["41"]), (["1E2"], ["100"])]
)
def test_an_id_is_the_text_of_its_cell(read_pair, ids, others):
    ids, others = [*map(str, NUMBERS[1:]), *ids], [*map(str, NUMBERS[1:]), *others]
    with pytest.raises(ValueError, match=f"only in .*'{others[-1]}'; only in .*'{ids[-1]}'"):
        read_pair(frame(ids), frame(others))
    assert read_pair(frame(ids), frame(ids)).ids == ids


def test_other_ids_need_a_join(tmp_path, read):
    other = (frame(IDS) + 1).drop(["s03", "s07"])
    other.loc["t1"] = 5.0
    paths = [write(tmp_path / "a.csv", frame(IDS)), write(tmp_path / "b.csv", other.iloc[::-1])]
    with pytest.raises(
        ValueError, match=r"only in .*b\.csv: 't1'; only in .*a\.csv: 's03'.*--join"
    ):
        read(*paths)
    kept = [i for i in range(12) if i not in (3, 7)]
    inner, outer = read(*paths, join="inner"), read(*paths, join="outer")
    np.testing.assert_array_equal(inner.views["b"], X[kept] + 1)
    np.testing.assert_array_equal(inner.views["a"], X[kept])
    assert inner.ids == [IDS[i] for i in kept] and "3 not in every file" in inner.notes[-1]
    assert outer.ids == [*IDS, "t1"] and "3 of them without a view" in outer.notes[-1]
    missing = np.isnan(np.asarray(outer.views["b"])).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(missing), [3, 7])


def test_files_without_ids_are_matched_by_position_which_is_said(tmp_path, read):
    paths = [write(tmp_path / f"{name}.csv", frame()) for name in "ab"]
    assert "12 rows are matched by position" in read(*paths).notes[-1]
    with pytest.raises(ValueError, match="--join needs two files .* with ids: .*a.csv"):
        read(*paths, join="inner")
    write(paths[1], frame().iloc[1:].reset_index(drop=True))
    with pytest.raises(ValueError, match="b.csv has 11 samples, .*a.csv has 12"):
        read(*paths)
    # Arrays have no ids, which a note says.
    np.save(tmp_path / "c.npy", X)
    data = read(write(paths[0], frame(IDS)), tmp_path / "c.npy")
    assert data.ids == IDS and "c.npy without ids: 12 rows" in data.notes[-1]


# --------------------------------------------------------------------------------------- selection


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        (["height,depth"], ["height", "depth"]),
        (["depth,height"], ["depth", "height"]),
        (["*th,height"], ["width", "depth", "height"]),
        (["*"], NAMES),
        (["!width"], ["height", "depth"]),
        (["*,!d*"], ["height", "width"]),
        (["!width", "!depth"], ["height"]),
        (["a.csv:!width"], ["height", "depth"]),
        (["*", "a.csv:!width"], ["height", "depth"]),
    ],
)
def test_columns_are_chosen_and_excluded(read_table, columns, chosen):
    data = read_table(frame(IDS), columns=columns)
    assert columns_of(data) == chosen and data.ids == IDS
    np.testing.assert_array_equal(data.views["a"], frame(IDS)[chosen])


@pytest.mark.parametrize("columns", ["weight", "7", "!weight", "a.csv:!weight"])
def test_columns_that_are_not_there(read_table, columns):
    with pytest.raises(ValueError, match="there is no column '(weight|7)'; the table has '"):
        read_table(frame(IDS), columns=columns)


def test_options_for_one_file_leave_the_others_alone(tmp_path, read):
    paths = [write(tmp_path / f"{name}.csv", frame(IDS).assign(sex="f")) for name in "ab"]
    with pytest.raises(ValueError, match="a.csv: .*'sex'") as error:
        read(*paths)
    columns = [advice(error)]
    with pytest.raises(ValueError, match="b.csv: .*'sex'") as error:
        read(*paths, columns=columns)
    data = read(*paths, columns=[*columns, advice(error)])
    assert [view.shape for view in data.views.values()] == [(12, 3), (12, 3)]
    assert read(*paths, columns="!sex").views["b"].shape == (12, 3)
    write(paths[1], frame(IDS))
    assert read(*paths, columns="!sex").views["b"].shape == (12, 3)


@pytest.mark.parametrize("name", ["sex, at birth", "it's*", "!a", "[b]", " c", "", "12"])
@pytest.mark.parametrize("several", [True, False])
def test_advice_can_be_pasted_and_does_only_what_it_says(tmp_path, read, name, several):
    table = frame(IDS, columns=["sexy", "its", "!ab"])
    table.insert(1, name, "f")
    paths = [write(tmp_path / "a.csv", table), write(tmp_path / "b.csv", frame(IDS))][: 1 + several]
    with pytest.raises(ValueError, match="a.csv: line 2, column ") as error:
        read(*paths)
    data = read(*paths, columns=advice(error))
    assert list(data.views["a"].columns) == ["sexy", "its", "!ab"]
    assert not several or list(data.views["b"].columns) == NAMES


def test_a_column_of_another_file_is_not_excluded(read, tmp_path):
    paths = [write(tmp_path / "a.csv", frame(IDS)), tmp_path / "b.csv", tmp_path / "c.npy"]
    write(paths[1], frame(IDS, columns=["red", "green", "blue"]))
    np.save(paths[2], X)
    with pytest.raises(ValueError, match=r"^\S*a\.csv: there is no column 'red'.*'height'"):
        read(*paths[:2], columns="a.csv:!red")
    with pytest.raises(ValueError, match=r"c\.npy:height: this file is not a table"):
        read(paths[0], paths[2], columns="c.npy:height", id_column="none")


def test_one_table_gives_several_views(read_table):
    data = read_table(frame(IDS), columns=["height", "width,depth", "!depth"])
    assert [list(view.columns) for view in data.views.values()] == [["height"], ["width"]]
    assert data.ids == IDS


# ------------------------------------------------------------------------------ what is no feature


BINARY, DAYS = np.resize([0, 1], 12), RNG.integers(1, 4000, 12)


@pytest.mark.parametrize(
    "columns",
    [
        *({name: BINARY} for name in ("target", "tumor_class", "Label", "y", "leiden_1.0")),
        *({name: BINARY} for name in ("seurat_clusters", "cell_type", "PAM50", "group", "OS")),
        *({name: BINARY} for name in ("DEATH_EVENT", "event", "status", "Churn", "Survived")),
        *({name: DAYS} for name in ("OS.time", "OS_MONTHS", "days_to_death", "futime")),
        {"time": DAYS, "status": BINARY},
        {"T": DAYS, "E": BINARY},
        {"days": DAYS, "death": np.resize([0, 1, 2], 12)},
        {"followup": DAYS, "vital_status": np.resize(["Dead", "Alive"], 12)},
        {"tenure": DAYS, "relapse": BINARY},
        {"time": DAYS, "tumor": BINARY},
        {"duration": DAYS, "cens": BINARY},
    ],
)
def test_labels_and_outcomes_are_not_features(read_table, columns):
    table = frame(IDS).assign(**columns)
    with pytest.raises(
        ValueError, match="look like labels or outcomes, not like features"
    ) as error:
        read_table(table)
    assert columns_of(read_table(table, columns=advice(error))) == NAMES
    if not any(map(pd.api.types.is_string_dtype, table.dtypes)):
        assert columns_of(read_table(table, columns="*")) == [*NAMES, *columns]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *(("y", X[:, 0]), ("time", DAYS), ("status", DAYS), ("age_group", BINARY)),
        *(("days", BINARY + 1), ("age_at_diagnosis", BINARY), ("year_of_diagnosis", BINARY)),
    ],
)
def test_columns_that_are_features_in_spite_of_their_names(read_table, name, values):
    assert columns_of(read_table(frame(IDS).assign(**{name: values}))) == [*NAMES, name]


@pytest.mark.parametrize(
    ("n", "classes", "label"),
    [(120, 50, True), (120, 51, False), (12, 6, True), (12, 7, False), (3, 2, True), (3, 3, False)],
)
def test_labels_have_at_most_half_as_many_classes_as_rows(read_table, n, classes, label):
    table = pd.DataFrame({"x": RNG.standard_normal(n), "y": np.arange(n)[::-1] % classes + 0.5})
    if label:
        with pytest.raises(ValueError, match="look like labels or outcomes, .*: 'y';"):
            read_table(table)
    else:
        assert columns_of(read_table(table)) == ["x", "y"]


def test_further_ids_and_constants(read_table):
    for name, values in (
        ("site_id", np.resize([1, 2, 3], 12)),
        ("schoolid", np.resize([1, 2, 3], 12)),
        ("PTNUM", np.resize([101, 102, 103], 12)),
        ("sample", NUMBERS),
        ("barcode", [f"x{i % 5}" for i in range(12)]),
    ):
        with pytest.raises(ValueError, match=f"look like ids, .*: '{name}'; .*'!{name}'"):
            read_table(frame(IDS).assign(**{name: values}))
    with pytest.raises(ValueError, match="look like constants, .*: 'plate'; .*'!plate'"):
        read_table(frame(IDS).assign(plate=[np.nan, *[7] * 11]))
    assert columns_of(read_table(frame(IDS).assign(gene=0))) == [*NAMES, "gene"]


def test_a_word_among_numbers_is_named_before_columns_of_text(read_table):
    table = frame(IDS).astype(object).assign(sex="f", seen="2015-03-02")
    with pytest.raises(ValueError, match="line 2, column 'sex' is 'f'.*'!sex,!seen'"):
        read_table(table)
    table.iloc[4, 1], table.iloc[2, 2] = "tall", "deep"
    with pytest.raises(ValueError, match="line 4, column 'depth' is 'deep', not a number"):
        read_table(table)


# ----------------------------------------------------------------------------------- transposition

GENES = ["TP53", "EGFR", "KRAS"]


def genes(samples=IDS, name="sample", index=GENES, **annotation):
    table = pd.DataFrame(X.T, index=pd.Index(index, name=name), columns=list(samples))
    for column, values in reversed(annotation.items()):
        table.insert(0, column, values)
    return table


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (genes(), GENES),
        (genes(name="Hugo_Symbol", Entrez_Gene_Id=[7157, 1956, 3845]), GENES),
        (genes(name="Entrez_Gene_Id", index=[7157, 1956, 3845]), ["7157", "1956", "3845"]),
        (
            genes(name="Geneid", Chr=[1, 2, 3], Start=[5, 6, 7], End=[8, 9, 10], Length=[3, 3, 3]),
            GENES,
        ),
        (genes(name="Gene", Description=["a", "b", "c"], strand=["+", "-", "+"]), GENES),
        (genes(samples=range(1001, 1013), name="id"), GENES),
        (genes(name="ID", index=["TP53", "", "KRAS"]), ["TP53", "3", "KRAS"]),
    ],
)
def test_genes_as_rows(read_table, table, names):
    data = read_table(table, transpose=True)
    np.testing.assert_array_equal(data.views["a"], X)
    assert data.ids == list(map(str, table.columns[-12:])) and columns_of(data) == names
    ignored = [note for note in data.notes if "no samples are ignored" in note]
    assert len(ignored) == (table.shape[1] > 12)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Score", [0.5, 0.25, 0.1]),
        ("Coord1", [10**6, 3 * 10**7, 10**8]),
        ("q1", [3, 7, 9]),
        ("log2FoldChange", [1.5, -2.25, 0.5]),
        ("Mean", X.mean(axis=0).round(6)),
    ],
)
def test_columns_that_differ_in_kind_from_samples(tmp_path, read, name, values):
    table = genes(**{name: values})
    path, other = write(tmp_path / "a.csv", table), tmp_path / "b.csv"
    with pytest.raises(ValueError, match=f"a.csv .*other 12 in kind: '{name}'") as error:
        read(path, transpose=True)
    for columns in (advice(error), "s*"):
        data = read(path, transpose=True, columns=columns)
        np.testing.assert_array_equal(data.views["a"], X)
        assert data.ids == IDS and f"ignored: '{name}'" in "".join(data.notes)
    assert read(path, transpose=True, columns="*").views["a"].shape == (13, 3)
    # Another file tells which columns are samples, unless it has the same column.
    write(other, frame(IDS).iloc[ORDER])
    data = read(path, other, transpose=str(path))
    np.testing.assert_array_equal(data.views["a"], X)
    write(other, table)
    with pytest.raises(ValueError, match=f"a.csv .*other 12 in kind: '{name}'"):
        read(path, other, transpose=True)


def test_decimal_commas_of_transposed_tables(tmp_path, read):
    path, table = tmp_path / "a.csv", genes(Entrez_Gene_Id=[7157, 1956, 3845])
    table.to_csv(path, sep=";", decimal=",")
    with pytest.raises(ValueError, match="line 2, column 's00' is .*--decimal ,"):
        read(path, transpose=True)
    np.testing.assert_array_equal(read(path, transpose=True, decimal=",").views["a"], X)


def test_samples_of_some_files_need_a_join_with_transpose_too(tmp_path, read):
    paths = [write(tmp_path / "a.csv", genes()), write(tmp_path / "b.csv", genes().iloc[:, 2:])]
    with pytest.raises(ValueError, match="only in .*a.csv: 's00', 's01'.*--join inner"):
        read(*paths, transpose=True)
    assert read(*paths, transpose=True, join="outer").ids == IDS


def test_a_series_matrix_of_geo(tmp_path, read):
    table = genes([f"GSM{1000 + i}" for i in range(12)], "ID_REF").to_csv(sep="\t")
    above = '!Series_title\t"A study"\n\n!series_matrix_table_begin\n'
    (tmp_path / "a.txt").write_text(f"{above}{table}!series_matrix_table_end\n")
    np.testing.assert_array_equal(read(tmp_path / "a.txt", transpose=True).views["a"], X)
    with pytest.raises(ValueError, match="'ID_REF' has names of features: use --transpose"):
        read(tmp_path / "a.txt")


def test_places_and_orientation_of_transposed_tables(read_table):
    table = genes().astype(object)
    table.iloc[1, 4] = np.inf
    with pytest.raises(ValueError, match="the first in column s04, line 'EGFR'"):
        read_table(table, transpose=True)
    table.iloc[1, 4] = "low"
    with pytest.raises(ValueError, match="line 3, column 's04' is 'low'"):
        read_table(table, transpose=True)
    with pytest.raises(ValueError, match="'Hugo_Symbol' has names of features: use --transpose"):
        read_table(genes(name="Hugo_Symbol"))
    data = read_table(genes(name="Hugo_Symbol"), id_column="Hugo_Symbol")
    assert data.ids == GENES
    samples = [f"TCGA-AB-{i:04d}" for i in range(12)]
    with pytest.raises(ValueError, match="look like samples: use --transpose"):
        read_table(genes(samples))
    with pytest.raises(ValueError, match="rows look like samples: read it without --transpose"):
        read_table(frame(samples), transpose=True)
    with pytest.raises(ValueError, match="--transpose c.csv: this is not one of .* after"):
        read_table(genes(), transpose="c.csv")


# ---------------------------------------------------------------------------------- similarities


@pytest.mark.parametrize("transpose", [{}, {"transpose": True}])
def test_similarities_are_matched_by_the_ids_of_rows_and_columns(tmp_path, read, transpose):
    S = RNG.random((12, 12)).round(6)
    S = pd.DataFrame(S + S.T, pd.Index(IDS, name="id"), IDS)
    paths = [write(tmp_path / "a.csv", S), tmp_path / "b.csv"]
    write(paths[1], S.iloc[ORDER, ORDER[::-1]])
    options = {"precomputed": True, "method": "snn", **transpose}
    with pytest.MonkeyPatch.context() as patch:
        from mvsc_fast.methods import AWP, SNN

        patch.setattr(SNN, "fit", AWP.fit)  # which the fixture has replaced
        data = read(*paths, **options)
        np.testing.assert_array_equal(data.views["a"], S)
        np.testing.assert_array_equal(data.views["b"], S)
        write(paths[1], S.rename(columns={"s03": "t1"}))
        with pytest.raises(ValueError, match="do not have the same ids .*'s03', 't1'"):
            read(*paths, **options)
        write(paths[1], pd.DataFrame(np.abs(np.subtract.outer(X[:, 0], X[:, 0])), S.index, IDS))
        with pytest.raises(ValueError, match="b.csv looks like distances"):
            read(*paths, **options)


@pytest.mark.filterwarnings("default")
def test_symmetric_features_are_reported(tmp_path, read):
    S = RNG.random((12, 12)).round(6)
    path = write(tmp_path / "a.csv", pd.DataFrame(S + S.T, pd.Index(IDS, name="id"), IDS))
    assert any("'a'" in note and "--precomputed" in note for note in read(path).notes)
    path = write(path, pd.DataFrame(S, pd.Index(IDS, name="id"), IDS))
    assert not any("--precomputed" in note for note in read(path).notes)
