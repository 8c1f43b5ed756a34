"""The column of ids is found over all tables, and nothing is matched that does not correspond."""

from functools import partial
from types import SimpleNamespace
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.cli._ids import Column, _plain, differ_by
from mvsc_fast.cli._readers import load_data

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 3)).round(6)
IDS = [f"s{i:02d}" for i in range(12)]
NUMBERS = RNG.choice(np.arange(1_000_000, 9_999_999), 12, replace=False).tolist()
ORDER = RNG.permutation(12)


def frame(ids=None, columns=("height", "width", "depth"), values=X):
    return pd.DataFrame(values, columns=list(columns), index=ids)


def write(path, table, index=True):
    table.to_csv(path, index=index)
    return path


def pair(folder, first, second, shift=1):
    """Two files of the same samples, the second in another order."""
    a = write(folder / "a.csv", first)
    return [a, write(folder / "b.csv", (second + shift).iloc[ORDER])]


@pytest.mark.parametrize("values", [IDS, NUMBERS], ids=["text", "numbers"])
@pytest.mark.parametrize("names", [("MRN", "MRN"), ("patient", "PatNr"), (None, "nr"), ("q", None)])
def test_rows_are_matched_by_ids_of_any_name_and_kind(tmp_path, values, names):
    tables = [frame(pd.Index(values, name=name)) for name in names]
    data = load_data(pair(tmp_path, *tables))
    np.testing.assert_allclose(data.views["b"], X + 1)
    assert data.ids.tolist() == list(map(str, values))
    assert "files have the ids in different orders: rows are matched by id" in data.notes
    assert sum("ids are" in note for note in data.notes) == 1


@pytest.mark.parametrize("place", [1, 3])
def test_ids_may_be_in_any_column(tmp_path, place):
    tables = [frame(), frame()]
    tables[0].insert(place, "first", NUMBERS)
    tables[1].insert(0, "second", NUMBERS)
    tables[1] = tables[1].iloc[ORDER]
    paths = [write(tmp_path / f"{i}.csv", table, False) for i, table in enumerate(tables)]
    data = load_data(paths)
    np.testing.assert_allclose(data.views["1"], X)
    assert data.ids.tolist() == list(map(str, NUMBERS)) and data.id_name == "first"


def test_one_file_sorted_by_its_ids_does_not_hide_them_in_the_other(tmp_path):
    table = frame(pd.Index(NUMBERS, name="patient"))
    paths = write(tmp_path / "a.csv", table.sort_index()), write(tmp_path / "b.csv", table)
    data = load_data(paths)
    np.testing.assert_array_equal(data.views["a"], data.views["b"])


def test_a_shared_name_decides_between_several_columns(tmp_path):
    first, second = frame(pd.Index(NUMBERS, name="MRN")), frame(pd.Index(NUMBERS, name="MRN"))
    first.insert(0, "visit", NUMBERS[::-1])
    paths = pair(tmp_path, first, second)
    with pytest.raises(ValueError, match=r"a.csv: column 2 \('visit'\) looks like ids.*'!visit'"):
        load_data(paths)
    data = load_data(paths, columns=["!visit", "*"])
    np.testing.assert_allclose(data.views["b"], X + 1)
    assert data.id_name == "MRN" and data.views["a"].shape == (12, 3)


def test_numbers_of_rows_are_not_the_ids(tmp_path):
    tables = [frame(pd.Index(IDS, name="patient")), frame(pd.Index(IDS, name="patient"))]
    tables = tables[0].reset_index(), tables[1].iloc[ORDER].reset_index()
    paths = [write(tmp_path / f"{i}.csv", table) for i, table in enumerate(tables)]
    data = load_data(paths)
    np.testing.assert_allclose(data.views["1"], X)
    assert data.ids.tolist() == IDS
    assert f"{paths[0]}: column 1 has no name and contains row numbers: it is ignored" in data.notes


@pytest.mark.parametrize(
    ("ids", "name"),
    [
        (range(12), None),
        (range(100, 112), "id"),
        (NUMBERS, "sample_id"),
        (IDS, "title"),
        (range(1, 13), "count"),
        (NUMBERS, "nr"),
    ],
)
def test_ids_of_a_single_file(tmp_path, ids, name):
    path = write(tmp_path / "a.csv", frame(pd.Index(ids, name=name)))
    data = load_data([path])
    np.testing.assert_allclose(data.views["a"], X)
    assert data.ids.tolist() == list(map(str, ids)) and len(data.notes) == 1
    if name != "title":
        with pytest.raises(
            ValueError, match="column 1.* looks like ids, .*--columns '\\*' makes it"
        ):
            load_data([path], id_column="none")
        whole = load_data([path], id_column="none", columns=["*"])
        assert whole.ids is None and whole.views["a"].shape == (12, 4)


def test_integer_features_are_not_ids(tmp_path):
    counts = np.column_stack([[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8], NUMBERS])
    path = write(tmp_path / "a.csv", frame(None, ["legs", "eyes"], counts), False)
    data = load_data([path])
    np.testing.assert_array_equal(data.views["a"], counts)
    assert data.ids is None and data.notes == []


@pytest.mark.parametrize(
    ("ids", "values", "found"),
    [
        (NUMBERS[:10], X[:10], True),
        (NUMBERS[:9], X[:9], False),  # too few to be sure
        (range(7, 10), X[:3], True),
        (range(7, 9), X[:2], False),
        (NUMBERS[:10], np.floor(X[:10]), False),  # all columns are integers
        (NUMBERS[:10], np.column_stack([np.floor(X[:10, 0]), X[:10, 1:]]), True),
        (NUMBERS[:10], np.column_stack([np.floor(X[:10, :2]), X[:10, 2]]), False),
    ],
)
def test_integers_in_front_are_ids_if_they_count_or_stand_out(tmp_path, ids, values, found):
    path = write(tmp_path / "a.csv", frame(pd.Index(ids, name="nr"), values=values))
    data = load_data([path])
    assert (data.ids is not None) == found
    assert data.views["a"].shape == (len(values), 3 if found else 4)
    frame(ids, values=values).to_csv(path, header=False)
    counts = found and list(ids) == list(range(7, 10))
    assert (load_data([path]).ids is not None) == counts  # columns without names


@pytest.mark.parametrize(("place", "found"), [(19, True), (20, False), (49, False), (50, True)])
def test_integers_are_ids_near_the_ends_of_a_table(tmp_path, place, found):
    wide = frame(None, [f"c{j}" for j in range(69)], RNG.standard_normal((12, 69)).round(6))
    wide.insert(place, "first", NUMBERS)
    paths = [write(tmp_path / "a.csv", wide, False)]
    paths.append(write(tmp_path / "b.csv", frame(pd.Index(NUMBERS, name="nr"))))
    if not found:
        assert load_data(paths).views["a"].shape == (12, 70)
        return
    data = load_data(paths)
    assert data.ids.tolist() == list(map(str, NUMBERS)) and data.views["a"].shape == (12, 69)


def test_files_without_ids_are_matched_by_position_which_is_said(tmp_path):
    paths = [write(tmp_path / f"{i}.csv", frame(), False) for i in "ab"]
    assert load_data(paths).notes == [
        "no ids were found: rows are matched by position, 12 in each file"
    ]
    write(paths[0], frame(pd.Index(IDS, name="id")))
    data = load_data(paths)
    assert data.ids.tolist() == IDS
    assert "b.csv has no ids: its 12 rows are read in the order of" in data.notes[-1]


@pytest.mark.parametrize("other", [[f"t{i}" for i in range(12)], [one + 1 for one in NUMBERS]])
def test_files_with_ids_that_have_nothing_in_common_are_never_matched(tmp_path, other):
    names = pd.Index(IDS, name="patient"), pd.Index(other, name="MRN")
    other = frame(names[1], ["age", "sex", "size"])
    paths = pair(tmp_path, frame(names[0]), other)
    message = r"column 1 \('patient'\) of .*a.csv and column 1 \('MRN'\) of .*b.csv look like ids"
    with pytest.raises(ValueError, match=message):
        load_data(paths)
    found = load_data(paths, id_column="none", columns=["!patient", "!MRN"])
    assert found.ids is None and "matched by position" in found.notes[-1]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (str.upper, "upper and lower case"),
        (lambda one: one + " ", "blanks"),
        (lambda one: one.replace("-", "."), "punctuation"),
        (lambda one: f"{one}-01A", "endings"),
        (lambda one: f"{one}\u200b", "Unicode normalization or invisible"),
        (partial(normalize, "NFD"), "Unicode normalization or invisible"),
        (lambda one: one.replace("p-", "P.").replace(".0", "."), "case, blanks, punctuation and"),
    ],
)
def test_ids_that_are_written_in_two_ways(tmp_path, change, what):
    ids = [f"p-{i:03d}-\u00e9x" for i in range(12)]
    for other in (change, lambda one: change(one) if one > "p-003" else one):
        paths = pair(tmp_path, frame(ids), frame(list(map(other, ids))))
        for join in (None, "inner"):
            with pytest.raises(ValueError, match=f"differ only in .*{what}.*use the same notation"):
                load_data(paths, join=join)


@pytest.mark.parametrize("n", [30, 12])
@pytest.mark.parametrize(
    ("ids", "others", "message"),
    [
        (["9_99"], ["999"], "only in .*'999'; only in .*'9_99'"),
        (["041"], ["41"], "differ only in leading zeros, such as '041' and '41'"),
        (["5.0"], ["5"], "differ only in the notation of numbers .*, such as '5.0' and '5'"),
        (["1E2"], ["100"], "differ only in the notation of numbers .*, such as '1E2' and '100'"),
        (["1E2", "10E1"], ["10E1", "1E2"], None),
        (["30_1", "301"], ["301", "30_1"], None),
        (["0025", "x"], ["x", "0025"], None),
        (["\u0663"], ["3"], "do not have the same ids"),
        (["2.50"], ["2.50"], None),
    ],
)
def test_an_id_is_the_text_of_its_cell_in_every_row(tmp_path, n, ids, others, message):
    """Also below many rows of integers, on which nothing is decided."""
    numbers = [str(1000 + i) for i in range(n)]
    paths = []
    for name, last in (("a", ids), ("b", others)):
        values = RNG.standard_normal((n + len(last), 3)).round(6)
        values[n:, 0] = [7 + (sorted(ids).index(one) if not message else 0) for one in last]
        table = frame(pd.Index([*numbers, *last], name="id"), values=values)
        paths.append(write(tmp_path / f"{name}.csv", table))
    if message:
        with pytest.raises(ValueError, match=message):
            load_data(paths)
        return
    data = load_data(paths)
    assert data.ids.tolist() == [*numbers, *ids]
    rows = [n + ids.index(one) for one in sorted(ids)]
    for view in data.views.values():
        np.testing.assert_array_equal(np.asarray(view)[rows, 0], 7 + np.arange(len(ids)))


def test_columns_of_ids_that_differ_in_notation_are_not_matched_by_position(tmp_path):
    for other in (float, "{:.6e}".format, "{:09d}".format):
        paths = pair(
            tmp_path, frame(pd.Index(NUMBERS, name="x")), frame(pd.Index(map(other, NUMBERS)))
        )
        with pytest.raises(ValueError, match="differ only in (leading zeros|the notation of num)"):
            load_data(paths)


def test_leading_zeros_make_other_ids(tmp_path):
    paths = pair(tmp_path, frame([f"{i:03d}" for i in range(12)]), frame(range(12)))
    with pytest.raises(ValueError, match="differ only in leading zeros, such as '000' and '0'"):
        load_data(paths)


SIX, ONE = ("a-1", "b", "c", "d", "e", "f"), ("b", "u", "v", "w", "x", "y")
COUNTS = SimpleNamespace(numbers=np.arange(4.0)[:, None], filled=np.arange(4), names=["", "x"])


@pytest.mark.parametrize(
    ("other", "given", "score"),
    [
        (SIX, {}, 8 + 2 + 1),
        (SIX, {"name": "x"}, 8 + 4 + 2 + 1),
        (SIX, {"text": False}, 8 + 1),
        (("a.1", "b", "c", "d", "x", "y"), {}, 2 + 0.5),  # half is enough, so cells are compared
        (("a.1", "b", "c", "d", "x", "y"), {"text": False}, 0.5),
        (("a.1", "b", "c", "x", "y", "z"), {}, 2 + 0.5),  # else cells in one notation
        (("A.1", "B", "C", "D", "E", "F", "g"), {}, 2 + 1),
        (ONE, {}, 2 + 1 / 6),
        (ONE, {"text": False}, 0),
        (ONE, {"text": False, "name": "x"}, 0),
        (ONE, {"text": False, "name": "x", "named": True}, 4 + 1 / 6),
        (("u", "v", "w", "x", "y", "z"), {"name": "x", "named": True}, 0),
        (SIX, {"k": 0, "table": COUNTS}, (8 + 2 + 1) / 16),
    ],
)
def test_columns_agree_by_their_ids_and_names(other, given, score):
    def column(ids, text=True, **given):
        known = {"set": set(ids), "plain": set(map(_plain, ids)), "name": "", "named": False}
        return SimpleNamespace(**{**known, "k": 1, "text": text, **given})

    first = column(SIX, **{**given, "text": True})
    assert Column.agreement(first, column(other, **given)) == score


def test_ids_that_differ_are_not_alike():
    assert differ_by(["TCGA-A-01", "TCGA-A-11"], ["TCGA-B-01", "TCGA-B-11"]) is None
    assert differ_by(["a"], []) is None


@pytest.mark.parametrize("both", [True, False])
def test_ids_that_occur_more_than_once_are_named(tmp_path, both):
    twice = pd.concat([frame(IDS), frame(IDS).iloc[2:4]])
    paths = [write(tmp_path / "a.csv", twice if both else frame(IDS))]
    paths.append(write(tmp_path / "b.csv", twice))
    message = "ids in column 1 occur more than once: 's02' in line 4 and line 14, 's03' in line 5"
    for given in (paths, paths[1:]):
        name = "a" if both and given is paths else "b"
        with pytest.raises(ValueError, match=rf"{name}.csv: {message}"):
            load_data(given)
    with pytest.raises(ValueError, match=message):
        load_data(paths, id_column="1")


def test_samples_without_an_id(tmp_path):
    ids = [*IDS[:5], None, *IDS[6:]]
    path = write(tmp_path / "a.csv", frame(pd.Index(ids, name="id")))
    with pytest.raises(ValueError, match=r"line 7, column 1 \('id'\) is '', which is not an id"):
        load_data([path])


def test_the_column_of_ids_is_named(tmp_path):
    table = frame(pd.Index(range(12), name="id"))
    table["plate"] = IDS
    table["weight"] = X[:, 0]
    path = write(tmp_path / "a.csv", table)
    for wanted in ("plate", "5"):
        data = load_data([path], id_column=wanted, columns=["height,weight"])
        assert data.ids.tolist() == IDS and data.notes == []
    with pytest.raises(ValueError, match="no column 'who'; the table has 'id', 'height'"):
        load_data([path], id_column="who")
    with pytest.raises(ValueError, match="is '0.1.*which is not an id"):
        load_data([path], id_column="height")


# ------------------------------------------------------------------------------------ orientation


SAMPLES = [f"TCGA-AB-{i:04d}" for i in range(12)]


def genes(letter, columns=tuple(SAMPLES), name="sample"):
    rows = pd.Index([f"{letter}{k}x" for k in range(8)], name=name)
    return pd.DataFrame(RNG.standard_normal((8, len(columns))), rows, list(columns))


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (genes("A"), genes("B"), "have the same names .*their rows .* do not: use --transpose"),
        (genes("A", IDS), genes("B", IDS[::-1]), "their rows .* do not: use --transpose"),
        (genes("A", NUMBERS), genes("B", NUMBERS), "their rows .* do not: use --transpose"),
        (genes("A", IDS[:9]), genes("B", IDS[3:]), "their rows .* do not: use --transpose"),
        (genes("A"), genes("A"), "look like samples and its rows like features: use --transpose"),
        (genes("A", IDS, "Hugo_Symbol"), genes("A", IDS, "Hugo_Symbol"), "rows like features"),
        (
            frame(IDS),
            genes("B", IDS),
            "the rows of .*a.csv are the columns of .*b.csv: use --",
        ),
        (
            genes("B", IDS),
            frame(IDS),
            "the rows of .*b.csv are the columns of .*a.csv: use --",
        ),
    ],
)
def test_genes_are_never_taken_as_samples(tmp_path, first, second, message):
    paths = write(tmp_path / "a.csv", first), write(tmp_path / "b.csv", second)
    with pytest.raises(ValueError, match=message):
        load_data(paths)


def test_genes_that_occur_twice_do_not_hide_the_orientation(tmp_path):
    tables = [genes(letter).rename(index={f"{letter}1x": f"{letter}0x"}) for letter in "AB"]
    paths = [write(tmp_path / f"{i}.csv", table) for i, table in enumerate(tables)]
    with pytest.raises(ValueError, match="use --transpose if the columns are the samples"):
        load_data(paths)
    data = load_data(paths, transpose=["*"])
    assert data.ids.tolist() == SAMPLES
    assert f"{paths[0]}: 1 column with the name of another" in data.notes


def test_one_file_of_several_is_transposed(tmp_path):
    paths = [
        write(tmp_path / "a.csv", frame(IDS)),
        write(tmp_path / "b.csv", genes("B", IDS[::-1])),
    ]
    data = load_data(paths, transpose=[str(paths[1])])
    assert data.ids.tolist() == IDS and data.views["b"].shape == (12, 8)
    with pytest.raises(ValueError, match="use --join inner to keep"):
        load_data(
            [paths[0], write(tmp_path / "c.csv", genes("C", IDS[2:]))],
            transpose=[str(tmp_path / "c.csv")],
        )
    with pytest.raises(ValueError, match="features are 'TCGA.* read it without --transpose"):
        load_data([write(tmp_path / "d.csv", genes("D").T)], transpose=["*"])


def test_samples_that_share_their_features_are_samples(tmp_path):
    data = load_data(pair(tmp_path, frame(IDS), frame(IDS)))
    assert data.ids.tolist() == IDS
    assert any("the columns of all files have the same names" in note for note in data.notes)
    for name in "ab":
        frame(IDS).to_csv(tmp_path / f"{name}.csv", header=False)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert len(load_data(paths).notes) == 1  # no names, nothing to say of them
    for path in paths:
        write(path, genes("A"))
    data = load_data([tmp_path / "a.csv", tmp_path / "b.csv"], id_column="sample")
    assert data.views["a"].shape == (8, 12)


# ---------------------------------------------------------------------------------- random tables


NAME = [None, "id", "MRN", "patient", "nr", "PatNr", "sample", "who", "case_id", "age_days"]
KINDS = {
    "text": lambda rng, n: [f"P-{i:03d}" for i in rng.permutation(500)[:n]],
    "integers": lambda rng, n: list(map(str, rng.choice(10**6, n, replace=False))),
    "floats": lambda rng, n: [f"{i}.0" for i in rng.choice(10**6, n, replace=False)],
    "counted": lambda rng, n: list(map(str, range(1, n + 1))),
    "padded": lambda rng, n: [f"{i:05d}" for i in rng.permutation(2000)[:n]],
    "ascending": lambda rng, n: list(map(str, np.sort(rng.choice(10**6, n, replace=False)))),
}


def random_table(rng, ids, number):
    """Lines of a table whose first feature is the true number of the sample, in random order."""
    n = len(ids)
    values = rng.standard_normal((n, rng.integers(2, 6))).round(5)
    if rng.random() < 0.3:
        values = rng.integers(0, 50, values.shape).astype(float)
    values[:, 0] = np.arange(n) + 0.25
    columns = [list(map(repr, column)) for column in values.T.tolist()]
    names = [f"f{number}_{k}" for k in range(len(columns))]
    order = np.arange(n) if rng.random() < 0.4 else rng.permutation(n)
    if rng.random() < 0.2:
        order = order[: -rng.integers(1, 4)]
    place = 0 if rng.random() < 0.7 else len(columns)
    columns.insert(place, ids)
    names.insert(place, rng.choice(NAME) or "" if rng.random() < 0.6 else "patient")
    if rng.random() < 0.15:
        columns.append(list(map(str, rng.choice(10**5, n, replace=False))))
        names.append("weight_g")
    rows = [[column[i] for column in columns] for i in order]
    if rng.random() < 0.15:
        names, rows = ["", *names], [[str(row), *cells] for row, cells in enumerate(rows)]
    separator = rng.choice([",", ";", "\t"])
    return "\n".join(map(separator.join, [names, *rows])) + "\n"


@pytest.mark.parametrize("kind", KINDS)
def test_rows_correspond_wherever_all_files_have_the_ids(tmp_path, kind):
    rng = np.random.default_rng(list(KINDS).index(kind))
    matched = 0
    for _ in range(40):
        ids = KINDS[kind](rng, rng.integers(11, 40))
        paths = [tmp_path / f"{i}.csv" for i in range(rng.integers(2, 4))]
        for number, path in enumerate(paths):
            path.write_text(random_table(rng, ids, number))
        try:
            data = load_data(paths, join=rng.choice(np.array([None, "inner"])))
        except ValueError as error:
            assert "do not have the same ids" in str(error) or "looks like ids" in str(error)
            continue
        first, *others = (view.filter(regex="f._0").to_numpy() for view in data.views.values())
        for other in others:
            np.testing.assert_array_equal(other, first)
        matched += 1
    assert matched > 15
