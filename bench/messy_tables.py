"""Counts the variations of a table that the command line reads right, refuses, or reads otherwise.

Each variation draws a header, ids, a separator, a notation of numbers, a code of missing values, an
orientation, further columns and an order of the rows, and knows the matrix that they stand for. A
second file has the same samples in another order.

    python bench/messy_tables.py [--variations 300] [--show 10]
"""

import csv
import io
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from timing import run

from mvsc_fast.cli._readers import load_data

N_SAMPLES, N_FEATURES = 40, 9
HEADERS = (*["words"] * 6, "counted", "repeated", "entrez", "years", "wavelengths", "mixed", "none")
IDS = (
    *("text", "text", "tcga", "tcga", "padded", "numbers", "index", "counter"),
    *("beside a counter", "none", "unknown name", "last column"),
)
SEPARATORS = ",,,;\t\t| "
NOTATIONS = (*["point"] * 6, "comma", "thousands", "german", "integers", "three decimals")
MISSING = (*["none"] * 6, "NA", "", "?", "-999", ".", "null")
EXTRAS = (
    *["nothing"] * 6,
    *("text", "target", "survival", "constant", "counter", "trailing"),
    *("ids again", "chromosome"),
)
KEYS = ("header", "ids", "separator", "notation", "missing", "extra", "transposed", "shuffled")


def draw_variation(seed):
    """The description of a variation, its rows of cells, and the matrix that it stands for."""
    rng = np.random.default_rng(seed)
    kind = {
        "header": rng.choice(HEADERS),
        "ids": rng.choice(IDS),
        "separator": rng.choice(list(SEPARATORS)),
        "notation": rng.choice(NOTATIONS),
        "missing": rng.choice(MISSING),
        "extra": rng.choice(EXTRAS),
        "transposed": rng.random() < 0.25,
        "shuffled": rng.random() < 0.5,
        "told": rng.random() < 0.7,  # whether the options that the contract needs are given
    }
    X = draw_values(kind["notation"], rng)
    cells = [[write_number(x, kind["notation"]) for x in row] for row in X.tolist()]
    if kind["missing"] != "none":
        for i in rng.choice(N_SAMPLES, 6, replace=False):
            j = rng.integers(N_FEATURES)
            cells[i][j], X[i, j] = kind["missing"], np.nan
    names = draw_header(kind["header"], rng)
    id_names, ids = draw_ids(kind["ids"], rng)
    extra_names, extras = draw_extras(kind, ids, rng)
    rows = [[*names, *extra_names]]
    rows += [[*row, *more] for row, more in zip(cells, extras, strict=True)]
    if kind["ids"] == "last column":
        rows = [[*row, *cells] for row, cells in zip(rows, [id_names, *ids], strict=True)]
    else:
        rows = [[*cells, *row] for row, cells in zip(rows, [id_names, *ids], strict=True)]
    if kind["header"] == "none":
        rows = rows[1:]
    if kind["transposed"]:
        rows = [list(row) for row in zip(*rows, strict=True)]
        rows = with_annotation(kind["extra"], rows, rng)
    return kind, rows, X, [cells[-1] for cells in ids] if ids[0] else None


def draw_values(notation, rng):
    X = rng.normal(20, 6, (N_SAMPLES, N_FEATURES)).round(2)
    if notation in ("thousands", "german"):
        return (X * 1000).round(1 if rng.random() < 0.5 else 0)
    if notation == "integers":
        return rng.integers(0, 500, X.shape).astype(float)
    return rng.uniform(1, 99, X.shape).round(3) if notation == "three decimals" else X


def write_number(x, notation):
    if notation == "integers" or notation in ("thousands", "german") and x == round(x):
        text = f"{x:,.0f}" if notation != "integers" else f"{x:.0f}"
    elif notation in ("thousands", "german"):
        text = f"{x:,.1f}"
    else:
        text = f"{x:.3f}" if notation == "three decimals" else repr(x)
    if notation == "comma":
        return text.replace(".", ",")
    return text.translate(str.maketrans(",.", ".,")) if notation == "german" else text


def draw_header(kind, rng):
    d = N_FEATURES
    if kind == "counted":
        return [str(j) for j in range(d)]
    if kind == "repeated":
        return [str(j % (d // 2)) for j in range(d)]
    if kind == "entrez":
        return rng.choice([7157, 1956, 3845, 672, 675, 5290, 207], d).astype(str).tolist()
    if kind == "years":
        return [str(2020 - j) for j in range(d)]
    if kind == "wavelengths":
        return [f"{650 + 4.5 * j:.2f}" for j in range(d)][:: rng.choice([-1, 1])]
    if kind == "mixed":
        return [("age", "bmi", "0", "1")[j % 4] if j < 4 else str(j) for j in range(d)]
    return [f"f{j}" for j in range(d)]


def draw_ids(kind, rng):
    """The names of the columns of ids, and their cells in each row."""
    n = N_SAMPLES
    text = [f"P{i:03d}" for i in rng.permutation(n)]
    numbers = rng.choice(np.arange(10_000, 99_999), n, replace=False).astype(str).tolist()
    name = str(rng.choice(["patient", "id", "sample_id", "PatNr", "cell"]))
    return {
        "text": ([name], [[text_id] for text_id in text]),
        "tcga": ([""], [[f"TCGA-{i:02d}-A{i:03d}"] for i in rng.permutation(n)]),
        "padded": (["who"], [[f"{i:04d}"] for i in rng.permutation(n)]),
        "numbers": ([name], [[number] for number in numbers]),
        "index": ([""], [[str(i)] for i in rng.permutation(n)]),
        "counter": ([""], [[str(i)] for i in range(n)]),
        "beside a counter": (["X", name], [[str(i + 1), text[i]] for i in range(n)]),
        "none": ([], [[] for _ in range(n)]),
        "unknown name": (["lot"], [[number] for number in numbers]),
        "last column": ([name], [[text_id] for text_id in text]),
    }[kind]


def draw_extras(kind, ids, rng):
    """The names and cells of columns that are no features."""
    n, extra = N_SAMPLES, "nothing" if kind["transposed"] else kind["extra"]
    if extra == "text":
        return ["sex"], rng.choice(["f", "m"], (n, 1)).tolist()
    if extra == "target":
        name = str(rng.choice(["target", "Class", "cluster", "leiden", "PAM50", "y"]))
        return [name], rng.integers(0, 3, (n, 1)).astype(str).tolist()
    if extra == "survival":
        pairs = [("time", "DEATH_EVENT"), ("days", "status"), ("OS.time", "OS")]
        pairs.append(("futime", "fustat"))
        values = np.column_stack([rng.integers(1, 2000, n), rng.integers(0, 2, n)])
        return list(pairs[rng.integers(4)]), values.astype(str).tolist()
    if extra == "constant":
        return ["plate"], [["7"]] * n
    if extra == "counter":
        return [str(rng.choice(["No.", "Unnamed: 0.1", "row", "V1"]))], [[str(i)] for i in range(n)]
    if extra == "trailing":
        return ["", ""], [["", ""]] * n
    if extra == "ids again" and ids[0]:
        return ["sample"], [[cells[-1]] for cells in ids]
    if extra == "chromosome":
        return ["patient_id"], rng.choice(10**6, (n, 1), replace=False).astype(str).tolist()
    return [], [[] for _ in range(n)]


def with_annotation(extra, rows, rng):
    """A table of genes with a column that describes them."""
    name, values = {
        "text": ("Description", list("abcdefghi")),
        "target": ("Entrez_Gene_Id", list(range(7001, 7010))),
        "chromosome": ("Chromosome", rng.integers(1, 22, N_FEATURES).tolist()),
        "survival": ("Coordinate", rng.integers(10**6, 10**8, N_FEATURES).tolist()),
        "constant": ("Score", rng.random(N_FEATURES).round(3).tolist()),
    }.get(extra, (None, None))
    if name is None:
        return rows
    n_above = len(rows) - N_FEATURES  # without ids there is no header
    return [
        [row[0], str(values[i - n_above]) if i >= n_above else name, *row[1:]]
        for i, row in enumerate(rows)
    ]


def options_of(kind, file):
    """The options that the contract asks for."""
    options = {"transpose": ["*"]} if kind["transposed"] else {}
    notation = {"comma": {"decimal": [f"{file}:,"]}, "thousands": {"decimal": [f"{file}:."]}}
    notation["german"] = {"decimal": [f"{file}:,"]}
    notation["three decimals"] = {"decimal": ["."]}
    if kind["told"]:
        options |= notation.get(kind["notation"], {})
        options |= {"header": False} if kind["header"] == "none" else {}
        if kind["ids"] in ("last column", "unknown name") and kind["header"] != "none":
            options |= {"id_column": "ask"}
    return options


def write_table(path, rows, separator):
    stream = io.StringIO()
    csv.writer(stream, delimiter=separator, lineterminator="\n").writerows(rows)
    path.write_text(stream.getvalue())


def judge_variation(seed, folder):
    """ "right", "refused" or what differs, and the description."""
    kind, rows, X, ids = draw_variation(seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(N_SAMPLES) if kind["shuffled"] and ids else np.arange(N_SAMPLES)
    write_table(folder / "a.csv", rows, kind["separator"])
    places = np.arange(N_SAMPLES) + 0.25
    second = [["id", "place", "square", "sine"]] if ids else [["place", "square", "sine"]]
    for i in order.tolist():
        values = [places[i], places[i] ** 2, np.sin(i) + 0.1]
        second.append([*([ids[i]] if ids else []), *map(repr, map(float, values))])
    write_table(folder / "b.csv", second, ",")
    options = options_of(kind, folder / "a.csv")
    if "id_column" in options:
        name = rows[0][-1] if kind["ids"] == "last column" else "lot"
        options["id_column"] = [f"{folder / 'a.csv'}:{name}"]
        if kind["transposed"]:
            del options["id_column"]
    if options.get("transpose"):
        options["transpose"] = [str(folder / "a.csv")]
    try:
        data = load_data([folder / "a.csv", folder / "b.csv"], **options)
    except (ValueError, ImportError) as error:
        return "refused", kind, str(error)
    a, b = (np.asarray(view, dtype=float) for view in data.views.values())
    if len(a) != N_SAMPLES:
        return f"{len(a)} samples", kind, data.notes
    if a.shape[1] != N_FEATURES:
        return f"{a.shape[1]} features", kind, data.notes
    expected = X[(b[:, 0] - 0.25).round().astype(int)]
    if not np.array_equal(a, expected, equal_nan=True):
        return "other rows or numbers", kind, data.notes
    return "right", kind, data.notes


def main(variations, show):
    outcomes, reasons = Counter(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(variations):
            outcome, kind, told = judge_variation(seed, Path(folder))
            what = outcome if outcome in ("right", "refused") else "different, in silence"
            outcomes[what] += 1
            if outcome == "refused":
                message = re.sub(r"'[^']*'|\d+|\S*\.csv", "_", told.replace(str(folder), ""))
                reasons[message[:90]] += 1
            elif outcome != "right" and show > 0:
                show -= 1
                print(seed, outcome, {key: str(kind[key]) for key in KEYS}, told)
    for what, count in outcomes.most_common():
        print(f"{count:5d} of {variations} {what}")
    for message, count in reasons.most_common(25):
        print(f"      {count:4d} {message}")


if __name__ == "__main__":
    run(main, __doc__, variations=300, show=0)
