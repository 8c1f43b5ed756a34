"""One page of tables and pictures."""

import io
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from settings import (
    ABLATION,
    ABLATION_INPUT,
    ABLATION_SET,
    HEAT_MAPS,
    INITIAL,
    METHODS,
    PAPER,
    PAPER_ABLATION,
    SENSITIVITY,
)
from timing import markdown_table

SCORES = ("acc", "nmi", "ari", "f1", "precision", "recall", "purity")
SHOWN = SCORES[:3]
CLOSE = 0.005  # a difference of rounding and of the starts of k-means


class Entry(NamedTuple):
    """A row on a set in one order: mean and spread of every score over all runs, CPU seconds."""

    mean: dict
    spread: dict
    runs: int
    seconds: float


def entries(records):
    """{(data, row, order): Entry} of all finished cells."""
    groups = {}
    for record in records:
        if "scores" in record:
            key = record["data"], record["row"], record["order"]
            groups.setdefault(key, []).append(record)
    return {key: entry_of(group) for key, group in groups.items()}


def entry_of(group):
    runs = {name: np.concatenate([record["scores"][name] for record in group]) for name in SCORES}
    mean = {name: float(values.mean()) for name, values in runs.items()}
    spread = {name: float(values.std()) for name, values in runs.items()}
    seconds = np.median([record["seconds"] + record["input_seconds"] for record in group])
    return Entry(mean, spread, len(runs["acc"]), float(seconds))


def write_report(output, records, left_out=()):
    """Write ``report.md`` and its pictures from records of cells; returns its path."""
    finished = [record for record in records if "scores" in record]
    if not finished:
        raise SystemExit(f"no cell is finished, the first failed: {records[0]['error']}")
    # Only what belongs to the tables: parameters of TLRR are varied in rows of their own.
    tables = [record for record in finished if record["study"] == "tables"]
    table = entries(tables)
    other = entries([record for record in finished if record["study"] != "tables"])
    sets = list(dict.fromkeys(record["data"] for record in finished))
    rows = list(dict.fromkeys(row for _, row, _ in table))
    folder = Path(output) / "pictures"
    folder.mkdir(exist_ok=True)
    parts = [head(finished)]
    for data in sets:
        of_set = [record for record in tables if record["data"] == data and record["seed"] == 0]
        parts += [scores_of(data, rows, table), *pictures_of(folder, data, of_set)]
    parts += [ablation(other), initial(sets, table, other)]
    for data in sets:
        parts += sensitivity(folder, data, finished)
    parts += [parameters(sets, rows), notes(records, left_out)]
    path = Path(output) / "report.md"
    path.write_text("\n\n".join(filter(None, parts)) + "\n", encoding="utf-8")
    return path


def head(records):
    versions = {", ".join(f"{name} {x}" for name, x in r["versions"].items()) for r in records}
    seconds = sum(record["seconds"] + record["input_seconds"] for record in records)
    return (
        "# Multi-view spectral clustering: the paper's tables\n\n"
        "Jia, Liu, Hou, Kwong, Zhang: Multi-view spectral clustering tailored tensor low-rank "
        "representation, IEEE TCSVT 31(12), 2021, computed again by mvsc_fast; "
        f"{time.strftime('%d %B %Y')}. {len(records)} cells, {seconds / 60:.1f} CPU minutes. "
        f"{'; '.join(sorted(versions))}.\n\n"
        "**File order** is how such files come, sorted by class, and how the paper was computed: "
        "methods with a Fourier transform along the samples profit from it. **Shuffled** is what a "
        "user's own data are like. Values are means ± standard deviations over runs of k-means and "
        f"over shuffles. Beside the paper's numbers, ≈ is within {CLOSE}, ▲ above, ▼ below; – is "
        "not at hand. † is the value in file order of a method that does not depend on the order."
    )


def entry_at(table, data, row, order):
    """The entry, or for a method that is free of the order that in file order, with a mark."""
    entry = table.get((data, row, order))
    if entry is None and order == "shuffled" and METHODS[row].order_free:
        return table.get((data, row, "file")), "†"
    return entry, ""


def spread(entry, score, mark=""):
    if entry is None:
        return "–"
    error = f" ±{entry.spread[score]:.3f}" if entry.runs > 1 else ""
    return f"{entry.mean[score]:.3f}{error}{mark}"


def compared(entry, score, paper):
    """The paper's number and the difference from it."""
    if paper is None:
        return "–"
    if entry is None:
        return f"{paper:.3f}"
    value = round(entry.mean[score] - paper, 3) + 0.0  # no negative zero
    sign = "≈" if abs(value) <= CLOSE else "▲" if value > 0 else "▼"
    return f"{paper:.3f} {sign} {value:+.3f}"


def scores_of(data, rows, table):
    """All scores on a set."""
    header = ["method"]
    header += [text for score in SHOWN for text in (f"{score.upper()}, file order", "paper")]
    header += [*(f"{score.upper()}, shuffled" for score in SHOWN), "CPU s"]
    lines = []
    for row in rows:
        entry = table.get((data, row, "file"))
        shuffled, mark = entry_at(table, data, row, "shuffled")
        if entry is None and shuffled is None:
            continue
        line = [row]
        paper = dict(zip(SHOWN, PAPER.get((data, row), ()), strict=False))
        for score in SHOWN:
            line += [spread(entry, score), compared(entry, score, paper.get(score))]
        line += [spread(shuffled, score, mark) for score in SHOWN]
        lines.append([*line, f"{(entry or shuffled).seconds:.3g}"])
    return f"## {data}\n\n" + markdown_table(header, lines) if lines else ""


def ablation(other):
    lines = []
    for row in ABLATION:
        entry = other.get((ABLATION_SET, row, "file"))
        if entry is not None:
            paper = compared(entry, "acc", PAPER_ABLATION[row])
            lines.append([row, spread(entry, "acc"), paper, spread(entry, "nmi")])
    if not lines:
        return ""
    return (
        f"## Terms of TLRR left out, {ABLATION_SET}\n\n"
        f"In file order, on the tensor of {text_of(ABLATION_INPUT)}, which reproduces these "
        "numbers; that of the table reproduces TLRR itself better.\n\n"
        + markdown_table(["TLRR with", "ACC", "paper", "NMI"], lines)
    )


def initial(sets, table, other):
    methods = ("t-SVD-MSC", *INITIAL)
    after = dict.fromkeys(methods[:1], "TLRR") | {m: f"TLRR after {m}" for m in INITIAL}
    lines = []
    for data in sets:
        if any((data, after[method], "file") in other for method in INITIAL):
            line = [data]
            for method in methods:
                then = {**table, **other}.get((data, after[method], "file"))
                line += [spread(table.get((data, method, "file")), "acc"), spread(then, "acc")]
            lines.append(line)
    if not lines:
        return ""
    header = ["ACC", *(text for method in methods for text in (method, "then TLRR"))]
    return (
        "## TLRR after other methods\n\nIn file order. t-SVD-MSC alone has the lam at which it "
        "clusters best, TLRR's input another. Tensors of LT-MSC and ETLMSC have scales of their "
        "own, so TLRR, solved exactly, gets the lam at which as many similarities survive as of "
        "its published input.\n\n" + markdown_table(header, lines)
    )


def parameters(sets, rows):
    lines = []
    for row in rows:
        texts = {}
        for data in sets:
            texts.setdefault(text_of(METHODS[row].parameters_on(data)), []).append(data)
        text = "; ".join(f"{', '.join(names)}: {text}" for text, names in texts.items())
        lines.append([row, text, METHODS[row].reason])
    return "## Parameters\n\n" + markdown_table(["method", "parameters", "why"], lines)


def text_of(values):
    """Parameters in words, those of the input in parentheses."""
    values = dict(values)
    method, parts = values.pop("method", None), []
    for name, value in values.items():
        parts.append(f"{name}={text_of(value) if isinstance(value, dict) else value}")
    text = ", ".join(parts) or "defaults"
    return f"{method}({text})" if method else text


def notes(records, left_out):
    lines = [f"left out: {text}" for text in left_out]
    for record in records:
        row = f"{record['data']}, {record['row']}, {record['order']}"
        lines += [f"warning: {row}: {text}" for text in record.get("warnings", ())]
        if "error" in record:
            lines.append(f"failed: {row}: {record['error']}")
    if not lines:
        return ""
    return "## What is not in the tables\n\n" + "\n".join(f"* {line}" for line in lines)


# ------------------------------------------------------------------------------------ pictures


def line_of(folder, name, caption, image):
    """Write an image in PNG to the folder, and give the line of the page."""
    path = folder / f"{name}.png".replace(" ", "_")
    path.write_bytes(image)
    return f"![{caption}](pictures/{path.name})\n{caption}"


def drawn(draw):
    """The PNG image of what a function draws on axes."""
    stream, figure = io.BytesIO(), Figure(figsize=(4.4, 3.4), layout="constrained")
    draw(figure.subplots())
    figure.savefig(stream, format="png", dpi=100)
    return stream.getvalue()


def pictures_of(folder, data, records):
    """Residuals, and similarities in file order or else shuffled."""
    cells = {record["row"]: record for record in records}
    cells |= {record["row"]: record for record in records if record["order"] == "file"}

    def residuals(ax):
        for row, record in cells.items():
            if len(record["residual"]) > 1:
                ax.semilogy(np.array(record["residual"], dtype=float), label=row)
        ax.set(xlabel="iteration", ylabel="residual")
        ax.legend(fontsize="x-small", ncols=2)

    if any(len(record["residual"]) > 1 for record in cells.values()):
        caption = f"{data}: residual of each solver, by its own rule"
        yield line_of(folder, f"{data}-convergence", caption, drawn(residuals))
    for row, record in cells.items():
        if record["picture"] is not None:
            caption = f"{data}: similarities that {row} learned, classes side by side"
            yield line_of(folder, f"{data}-{row}", caption, record["picture"])


def sensitivity(folder, data, records):
    """Heat maps of ACC against two parameters of TLRR at a time, the table's choice in a frame."""
    points, table = {}, METHODS["TLRR exact"].parameters_on(data)
    for record in records:
        if record["data"] == data and record["study"] == "sensitivity":
            key = tuple(float(record["parameters"][name]) for name in SENSITIVITY)
            points[key] = float(np.mean(record["scores"]["acc"]))
    for across, up in HEAT_MAPS if points else ():
        columns, rows = SENSITIVITY[across], SENSITIVITY[up]
        keys = [[table | {across: a, up: b} for a in columns] for b in rows]
        scores = np.array(
            [
                [points.get(tuple(key[name] for name in SENSITIVITY), np.nan) for key in line]
                for line in keys
            ]
        )

        def heat_map(ax, scores=scores, across=across, up=up, columns=columns, rows=rows):
            ax.imshow(scores, vmin=0, vmax=1, origin="lower", aspect="auto")
            for (i, j), value in np.ndenumerate(scores):
                chosen = columns[j] == table[across] and rows[i] == table[up]
                text = f"[{value:.2f}]" if chosen else f"{value:.2f}"
                color = "white" if value < 0.45 else "black"
                ax.text(j, i, text, ha="center", va="center", color=color, fontsize="small")
            ax.set_xticks(range(len(columns)), [f"{value:g}" for value in columns])
            ax.set_yticks(range(len(rows)), [f"{value:g}" for value in rows])
            ax.set(xlabel=across, ylabel=up)

        caption = f"{data}: ACC of TLRR, solved exactly, against {across} and {up} in file order"
        yield line_of(folder, f"{data}-{across}-{up}", caption, drawn(heat_map))
