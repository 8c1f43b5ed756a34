"""What the columns of tables are, how rows are matched, and what must not be a feature."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.cli._readers import load_data

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NUMBERS = RNG.choice(np.arange(1_000_000, 9_999_999), 12, replace=False).tolist()
ORDER = RNG.permutation(12)
NAMES = ["height", "width", "depth"]


def frame(ids=None, name="id", columns=NAMES, values=X):
    index = None if ids is None else pd.Index(ids, name=name)
    return pd.DataFrame(values, columns=list(columns), index=index)


def write(path, table, index=True):
    table.to_csv(path, index=index)
    return path


def read(folder, table, index=True, **options):
    return load_data([write(folder / "a.csv", table, index)], **options)


def read_pair(folder, first, second, **options):
    """Two files of the same samples, the second in another order."""
    paths = [write(folder / "a.csv", first), write(folder / "b.csv", (second + 1).iloc[ORDER])]
    return load_data(paths, **options)


def columns_of(data):
    (view,) = data.views.values()
    return list(view.columns)


def paste(error, name, paths=()):
    """The value of an option that an error advises, as a shell reads it."""
    words = shlex.split(re.search(rf"{name} .*", str(error.value))[0].partition(" excludes")[0])
    return [words[1]]


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
        *((NUMBERS, name) for name in ("USUBJID", "subject#")),
        *((NUMBERS, name) for name in ("customer_id", "case", "id_of_user", "Barcode")),
        (range(12), "id"),
        (ORDER, ""),
    ],
)
def test_ids_are_the_first_column_by_its_values_or_name(tmp_path, ids, name):
    data = read_pair(tmp_path, frame(ids, name), frame(ids, name))
    np.testing.assert_array_equal(data.views["b"], X + 1)
    assert data.ids.tolist() == list(map(str, ids))
    assert data.notes[-1] == "files have the ids in different orders: rows are matched by id"
    assert sum("ids are" in note for note in data.notes) == 1


@pytest.mark.parametrize(
    ("first", "told"), [(NUMBERS, None), ([1.5, *range(11)], None), (range(12), "counts the rows")]
)
def test_numbers_of_another_name_are_no_ids(tmp_path, first, told):
    data = read(tmp_path, frame(first, "size"))
    assert data.ids is None and "a.csv has no ids" in data.notes[-1]
    assert columns_of(data) == ([] if told else ["size"]) + NAMES
    assert (told or "") in data.notes[0]


def test_a_word_among_decimals_is_an_error_and_no_id(tmp_path):
    with pytest.raises(ValueError, match="line 5, column 1 .'size'. is 'tall', not a number"):
        read(tmp_path, frame([0.5, 1.5, 2.5, "tall", *np.arange(8) / 2], "size"))


@pytest.mark.parametrize("second", [NUMBERS, NUMBERS[::-1]])
def test_ids_that_nobody_names_stop_a_match_by_position(tmp_path, second):
    paths = [write(tmp_path / "a.csv", frame(NUMBERS, "lot")), tmp_path / "b.csv"]
    write(paths[1], frame(second, "id"))
    option = f"--id-column {paths[0]}:lot"
    with pytest.raises(ValueError, match=f"a.csv: column 1 .'lot'. has the ids of .*{option}"):
        load_data(paths)
    data = load_data(paths, id_column=[f"{paths[0]}:lot"])
    assert data.ids.tolist() == list(map(str, NUMBERS))
    write(paths[1], frame(NUMBERS[::-1], "charge"))
    with pytest.raises(ValueError, match="b.csv: column 1 .'charge'. has the ids of .*a.csv"):
        load_data(paths)


@pytest.mark.parametrize("name", ["X", "Unnamed: 0", "", "...1", "No.", "V1", "row"])
def test_counters_are_no_features(tmp_path, name):
    ids = frame(IDS, "patient").reset_index()
    for start, place in ((0, 0), (1, 0), (1, 4)):
        table = ids.copy()
        table.insert(place, name, range(start, start + 12))
        if place == 0 and name in ("No.", "V1", "row"):
            continue  # the first column of numbers of such a name hides the ids, which stops
        data = read(tmp_path, table, index=False)
        assert data.ids.tolist() == IDS and columns_of(data) == NAMES
        assert "counts the rows or repeats the ids, and is ignored" in data.notes[1]
    copy = frame(NUMBERS, "patient").assign(again=NUMBERS)
    assert columns_of(read(tmp_path, copy)) == NAMES


def test_repeated_and_missing_ids(tmp_path):
    twice = pd.concat([frame(IDS), frame(IDS).iloc[2:4]])
    where = "'s02' in line 4 and line 14 .2 ids in all"
    with pytest.raises(
        ValueError, match=f"a.csv: ids in column 1 .'id'. .*more than once: {where}"
    ):
        read(tmp_path, twice)
    with pytest.raises(ValueError, match=r"line 7, column 1 \('id'\) is empty"):
        read(tmp_path, frame([*IDS[:5], None, *IDS[6:]]))


def test_the_column_of_ids_is_selected(tmp_path):
    table = frame(range(12)).assign(plate=IDS)
    for option in ("plate", "5", "a.csv:plate", f"{tmp_path / 'a.csv'}:5"):
        data = read(tmp_path, table, id_column=[option], columns=["height,width"])
        assert data.ids.tolist() == IDS and data.id_name == "plate"
    with pytest.raises(ValueError, match="a.csv: there is no column 'who'; the table has 'id'"):
        read(tmp_path, table, id_column=["who"])
    with pytest.raises(ValueError, match="--id-column is given twice for .*a.csv: 'id', 'plate'"):
        read(tmp_path, table, id_column=["id", "plate"])
    with pytest.raises(ValueError, match="look like ids, .*: 'id'; use --id-column id .*'!id'"):
        read(tmp_path, frame(NUMBERS), id_column=["none"])
    data = read(tmp_path, frame(NUMBERS), id_column=["none"], columns=["!id"])
    assert data.ids is None and columns_of(data) == NAMES


# ---------------------------------------------------------------------------------------- matching


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (str.upper, "case, blanks, punctuation or zeros, as 'p-001-.x' and 'P-001-.X'"),
        (lambda one: f"{one} ", "case, blanks"),
        (lambda one: one.replace("-", "."), "case, blanks, punctuation"),
        (lambda one: one.replace("-0", "-"), "zeros"),
        (lambda one: f"{one}-01A", "what follows the first 8 characters"),
    ],
)
def test_ids_that_are_written_in_two_ways_are_named(tmp_path, change, what):
    ids = [f"p-{i:03d}-\u00e9x" for i in range(1, 13)]
    for join in (None, "inner"):
        with pytest.raises(ValueError, match=f"a.csv and .*b.csv differ in .*{what}.*write them"):
            read_pair(tmp_path, frame(ids), frame(list(map(change, ids))), join=join)


def test_aliquots_agree_in_their_first_characters(tmp_path):
    ids = [f"TCGA-2K-A{i:03d}-01A" for i in range(12)]
    tables = frame([f"{one}-36R-A084-13" for one in ids]), frame([f"{one}-17D-A161" for one in ids])
    with pytest.raises(ValueError, match="what follows the first 17 characters"):
        read_pair(tmp_path, *tables)


@pytest.mark.parametrize(
    ("ids", "others"), [(["5.0"], ["5"]), (["041"], ["41"]), (["1E2"], ["100"])]
)
def test_an_id_is_the_text_of_its_cell(tmp_path, ids, others):
    ids, others = [*map(str, NUMBERS[1:]), *ids], [*map(str, NUMBERS[1:]), *others]
    with pytest.raises(ValueError, match="differ in|do not have the same ids"):
        read_pair(tmp_path, frame(ids), frame(others))
    assert read_pair(tmp_path, frame(ids), frame(ids)).ids.tolist() == ids


def test_other_ids_need_a_join(tmp_path):
    other = (frame(IDS) + 1).drop(["s03", "s07"])
    other.loc["t1"] = 5.0
    paths = [write(tmp_path / "a.csv", frame(IDS)), write(tmp_path / "b.csv", other.iloc[::-1])]
    with pytest.raises(
        ValueError, match=r"only in .*b\.csv: 't1'; only in .*a\.csv: 's03'.*--join"
    ):
        load_data(paths)
    kept = [i for i in range(12) if i not in (3, 7)]
    inner, outer = load_data(paths, join="inner"), load_data(paths, join="outer")
    np.testing.assert_array_equal(inner.views["b"], X[kept] + 1)
    np.testing.assert_array_equal(inner.views["a"], X[kept])
    assert inner.ids.tolist() == [IDS[i] for i in kept] and "3 excluded" in inner.notes[-1]
    assert outer.ids.tolist() == [*IDS, "t1"] and "3 of them without a view" in outer.notes[-1]
    missing = np.isnan(np.asarray(outer.views["b"])).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(missing), [3, 7])
    write(paths[1], frame([f"t{i}" for i in range(12)], columns=["a", "b", "c"]))
    with pytest.raises(ValueError, match="have no id in common .*--id-column"):
        load_data(paths)
    write(paths[1], frame([f"t{i}" for i in range(12)]))
    with pytest.raises(ValueError, match="columns have the same names: use --transpose"):
        load_data(paths)


def test_files_without_ids_are_matched_by_position_which_is_said(tmp_path):
    paths = [write(tmp_path / f"{name}.csv", frame(), False) for name in "ab"]
    assert "rows are matched by position, 12 in each file" in load_data(paths).notes[-1]
    write(paths[0], frame(IDS))
    data = load_data(paths)
    assert data.ids.tolist() == IDS and "b.csv has no ids: its 12 rows" in data.notes[-1]
    with pytest.raises(ValueError, match="--join matches several files by ids, but .*b.csv has no"):
        load_data(paths, join="inner")
    write(tmp_path / "c.csv", frame(IDS).iloc[::-1])
    with pytest.raises(ValueError, match="b.csv has no ids, so its rows cannot be matched"):
        load_data([*paths, tmp_path / "c.csv"])
    write(paths[1], frame().iloc[1:], False)
    with pytest.raises(ValueError, match="b.csv has 11 samples, .*a.csv has 12"):
        load_data(paths)


# --------------------------------------------------------------------------------------- selection


@pytest.mark.parametrize(
    ("columns", "chosen"),
    [
        (["height,depth"], ["height", "depth"]),
        (["2-4"], NAMES),
        (["4,height"], ["depth", "height"]),
        (["*th,height"], ["width", "depth", "height"]),
        (["*"], NAMES),
        (["!width"], ["height", "depth"]),
        (["*,!d*"], ["height", "width"]),
        (["!2-3"], ["depth"]),
        (["!width", "!depth"], ["height"]),
        (["a.csv:!width"], ["height", "depth"]),
        (["*", "a.csv:!width"], ["height", "depth"]),
    ],
)
def test_columns_are_chosen_and_excluded(tmp_path, columns, chosen):
    data = read(tmp_path, frame(IDS), columns=columns)
    assert columns_of(data) == chosen and data.ids.tolist() == IDS
    np.testing.assert_array_equal(data.views["a"], frame(IDS)[chosen])


@pytest.mark.parametrize("columns", ["weight", "7", "!weight", "4-2", "!7", "a.csv:!weight"])
def test_columns_that_are_not_there(tmp_path, columns):
    with pytest.raises(ValueError, match="there is no column '(weight|7|4-2)'; the table has '"):
        read(tmp_path, frame(IDS), columns=[columns])


@pytest.mark.parametrize(
    ("columns", "chosen"), [("2-4", ["2", "4"]), ("4", ["4"]), ("!4", ["2", "9"])]
)
def test_numbers_are_names_if_columns_have_such(tmp_path, columns, chosen):
    data = read(tmp_path, frame(IDS, columns=["2", "4", "9"]), columns=[columns])
    assert columns_of(data) == chosen


def test_options_for_one_file_leave_the_others_alone(tmp_path):
    paths = [write(tmp_path / f"{name}.csv", frame(IDS).assign(sex="f")) for name in "ab"]
    with pytest.raises(ValueError, match="a.csv: .*'sex'") as error:
        load_data(paths)
    columns = paste(error, "--columns")
    with pytest.raises(ValueError, match="b.csv: .*'sex'") as error:
        load_data(paths, columns=columns)
    data = load_data(paths, columns=columns + paste(error, "--columns"))
    assert [view.shape for view in data.views.values()] == [(12, 3), (12, 3)]
    assert load_data(paths, columns=["!sex"]).views["b"].shape == (12, 3)
    write(paths[1], frame(IDS))
    assert load_data(paths, columns=["!sex"]).views["b"].shape == (12, 3)


@pytest.mark.parametrize("name", ["sex, at birth", "it's*", "!a", "[b]", " c", "", "12"])
@pytest.mark.parametrize("several", [True, False])
def test_advice_can_be_pasted_and_does_only_what_it_says(tmp_path, name, several):
    table = frame(IDS, columns=["sexy", "its", "!ab"])
    table.insert(1, name, "f")
    paths = [write(tmp_path / "a.csv", table), write(tmp_path / "b.csv", frame(IDS))][: 1 + several]
    with pytest.raises(ValueError, match="a.csv: line 2, column 3 ") as error:
        load_data(paths)
    data = load_data(paths, columns=paste(error, "--columns"))
    assert list(data.views["a"].columns) == ["sexy", "its", "!ab"]
    assert not several or list(data.views["b"].columns) == NAMES


def test_one_table_gives_several_views(tmp_path):
    data = read(tmp_path, frame(IDS), columns=["height", "width,depth", "!depth"])
    assert [list(view.columns) for view in data.views.values()] == [["height"], ["width"]]
    assert data.one_table and data.ids.tolist() == IDS


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
    ],
)
def test_labels_and_outcomes_are_not_features(tmp_path, columns):
    table = frame(IDS).assign(**columns)
    with pytest.raises(
        ValueError, match="look like labels or outcomes, not like features"
    ) as error:
        read(tmp_path, table)
    assert columns_of(read(tmp_path, table, columns=paste(error, "--columns"))) == NAMES
    if not any(map(pd.api.types.is_string_dtype, table.dtypes)):
        assert columns_of(read(tmp_path, table, columns=["*"])) == [*NAMES, *columns]
    with pytest.raises(ValueError, match="use it as --scores .*a.csv"):
        read(tmp_path, table[list(columns)])


@pytest.mark.parametrize(
    ("name", "values"),
    [("y", X[:, 0]), ("time", DAYS), ("status", DAYS), ("age_group", BINARY), ("days", BINARY + 1)],
)
def test_columns_that_are_features_in_spite_of_their_names(tmp_path, name, values):
    assert columns_of(read(tmp_path, frame(IDS).assign(**{name: values}))) == [*NAMES, name]


@pytest.mark.parametrize(
    ("n", "classes", "label"),
    [(120, 50, True), (120, 51, False), (12, 6, True), (12, 7, False), (3, 2, True), (3, 3, False)],
)
def test_labels_have_at_most_half_as_many_classes_as_rows(tmp_path, n, classes, label):
    table = pd.DataFrame({"x": RNG.standard_normal(n), "y": np.arange(n)[::-1] % classes + 0.5})
    if label:
        with pytest.raises(ValueError, match="look like labels or outcomes, .*: 'y';"):
            read(tmp_path, table, index=False)
    else:
        assert columns_of(read(tmp_path, table, index=False)) == ["x", "y"]


def test_further_ids_and_constants(tmp_path):
    for name, values in (
        ("site_id", np.resize([1, 2, 3], 12)),
        ("sample", NUMBERS),
        ("barcode", [f"x{i % 5}" for i in range(12)]),
    ):
        with pytest.raises(ValueError, match=f"look like ids, .*: '{name}'; .*'!{name}'"):
            read(tmp_path, frame(IDS).assign(**{name: values}))
    with pytest.raises(ValueError, match="look like constants, .*: 'plate'; .*'!plate'"):
        read(tmp_path, frame(IDS).assign(plate=7))
    assert columns_of(read(tmp_path, frame(IDS).assign(gene=0))) == [*NAMES, "gene"]


def test_a_word_among_numbers_is_named_before_columns_of_text(tmp_path):
    table = frame(IDS).astype(object).assign(sex="f", seen="2015-03-02")
    with pytest.raises(ValueError, match=r"line 2, column 5 .'sex'. is 'f'.*'!sex,!seen'"):
        read(tmp_path, table)
    table.iloc[4, 1], table.iloc[2, 2] = "tall", "deep"
    with pytest.raises(ValueError, match=r"line 4, column 4 .'depth'. is 'deep', not a number"):
        read(tmp_path, table)


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
def test_genes_as_rows(tmp_path, table, names):
    data = read(tmp_path, table, transpose=["*"])
    np.testing.assert_array_equal(data.views["a"], X)
    assert data.ids.tolist() == list(map(str, table.columns[-12:])) and columns_of(data) == names
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
def test_columns_that_differ_in_kind_from_samples(tmp_path, name, values):
    table = genes(**{name: values})
    with pytest.raises(ValueError, match=f"a.csv .*other 12 in kind: '{name}'; --samples") as error:
        read(tmp_path, table, transpose=["*"])
    pasted = re.search("--samples '(.*?)' excludes", str(error.value))[1]
    for samples in (pasted, "s*"):
        data = read(tmp_path, table, transpose=["*"], samples=samples)
        np.testing.assert_array_equal(data.views["a"], X)
        assert data.ids.tolist() == IDS and f"ignored: '{name}'" in "".join(data.notes)
    assert read(tmp_path, table, transpose=["*"], samples="*").views["a"].shape == (13, 3)
    other = write(tmp_path / "b.csv", frame(IDS).iloc[ORDER])
    data = load_data([tmp_path / "a.csv", other], transpose=[str(tmp_path / "a.csv")])
    np.testing.assert_array_equal(data.views["a"], X)
    write(other, table)
    with pytest.raises(ValueError, match=f"a.csv .*other 12 in kind: '{name}'"):
        load_data([tmp_path / "a.csv", other], transpose=["*"])


def test_decimal_commas_of_transposed_tables(tmp_path):
    path, table = tmp_path / "a.csv", genes(Entrez_Gene_Id=[7157, 1956, 3845])
    table.to_csv(path, sep=";", decimal=",")
    with pytest.raises(ValueError, match="line 2, column 3 .'s00'. is .*--decimal ,"):
        load_data([path], transpose=["*"])
    data = load_data([path], transpose=["*"], decimal=",")
    np.testing.assert_array_equal(data.views["a"], X)


def test_samples_of_some_files_need_a_join_with_transpose_too(tmp_path):
    write(tmp_path / "a.csv", genes())
    write(tmp_path / "b.csv", genes().iloc[:, 2:])
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    with pytest.raises(ValueError, match="only in .*a.csv: 's00', 's01'.*--join inner"):
        load_data(paths, transpose=["*"])
    assert load_data(paths, transpose=["*"], join="outer").ids.tolist() == IDS


def test_a_series_matrix_of_geo(tmp_path):
    table = genes([f"GSM{1000 + i}" for i in range(12)], "ID_REF").to_csv(sep="\t")
    above = '!Series_title\t"A study"\n\n!series_matrix_table_begin\n'
    (tmp_path / "a.txt").write_text(f"{above}{table}!series_matrix_table_end\n")
    data = load_data([tmp_path / "a.txt"], transpose=["*"])
    np.testing.assert_array_equal(data.views["a"], X)
    with pytest.raises(ValueError, match="'GSM1000'.* look like samples: use --transpose"):
        load_data([tmp_path / "a.txt"])


def test_places_and_orientation_of_transposed_tables(tmp_path):
    table = genes().astype(object)
    table.iloc[1, 4] = np.inf
    with pytest.raises(ValueError, match="the first in column 6, line 3 .'EGFR'"):
        read(tmp_path, table, transpose=["*"])
    table.iloc[1, 4] = "low"
    with pytest.raises(ValueError, match="column 6, line 3|line 3, column 6 .'s04'. is 'low'"):
        read(tmp_path, table, transpose=["*"], samples="s*")
    with pytest.raises(ValueError, match="look like samples: use --transpose"):
        read(tmp_path, genes(name="Hugo_Symbol"))
    kept = read(tmp_path, genes(name="Hugo_Symbol"), id_column=["Hugo_Symbol"])
    assert kept.ids.tolist() == GENES
    samples = [f"TCGA-AB-{i:04d}" for i in range(12)]
    with pytest.raises(ValueError, match="look like samples: read it without --transpose"):
        read(tmp_path, frame(samples), transpose=["*"])
    with pytest.raises(ValueError, match="--transpose c.csv: this is not one of .* after"):
        read(tmp_path, genes(), transpose=["c.csv"])
    with pytest.raises(ValueError, match="--samples .* needs --transpose"):
        read(tmp_path, genes(), samples="s*")
