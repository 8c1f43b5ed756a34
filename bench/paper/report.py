"""One self-contained HTML page of tables and pictures."""

import time
from html import escape

import figures
import numpy as np
from settings import (
    ABLATION,
    ABLATION_INPUT,
    ABLATION_SET,
    INITIAL,
    METHODS,
    PAPER_ABLATION,
    PAPER_ORDER_FREE,
)
from tables import CLOSE, entries, ordered, paper_value

from mvsc_fast._utils.parts import folded, gallery, html_lines, html_table, page, section

ORDERS = {"file": "file order", "shuffled": "shuffled"}
DEFAULTS = ("TLRR default", "ConsensusTLRR default")
SHOWN = ("acc", "nmi", "ari")
STYLE = """<style>
.above { color: light-dark(#00538a, #7cc4f5); font-weight: 600; }
.below { color: light-dark(#a34700, #f0a35e); font-weight: 600; }
.close, small { color: light-dark(#4d5661, #aab3bd); }
</style>"""
SAME = '<span title="does not depend on the order of the samples">†</span>'


def report(output, records, left_out=()):
    """Write ``report.html`` from records of cells; returns its path."""
    # Only what belongs to the tables: parameters of TLRR are varied in rows of their own.
    finished = [record for record in records if "scores" in record]
    table = entries([record for record in finished if record["study"] == "tables"])
    other = entries([record for record in finished if record["study"] != "tables"])
    sets = ordered(record["data"] for record in finished)
    rows = ordered(row for _, row, _ in table)
    parts = [STYLE, _head(records), _aims(sets, table), _overview(sets, rows, table)]
    for data in sets:
        parts.append(_set(output, data, rows, table, finished))
    parts += [_ablation(other), _initial(sets, table, other)]
    pictures = [one for data in sets for one in figures.sensitivity(data, finished)]
    if pictures:
        text = (
            "In file order; solved exactly. The published iteration takes 20 times as long or "
            "more; the tables above compare the two, at the values of the table alone."
        )
        parts.append(section("Sensitivity of TLRR", text, gallery(pictures)))
    parts += [_parameters(sets, rows), _notes(records, left_out)]
    path = output / "report.html"
    path.write_text(page("mvsc_fast: the paper reproduced", parts), encoding="utf-8")
    return path


def _head(records):
    done = [record for record in records if "scores" in record]
    versions = ordered(
        ", ".join(f"{name} {value}" for name, value in one["versions"].items()) for one in done
    )
    seconds = sum(record["seconds"] + record["input_seconds"] for record in done)
    return (
        "<h1>Multi-view spectral clustering: the paper's tables</h1>"
        "<p>Jia, Liu, Hou, Kwong, Zhang: <cite>Multi-view spectral clustering tailored tensor "
        "low-rank representation</cite>, IEEE TCSVT 31(12), 2021, computed again by mvsc_fast; "
        f"{time.strftime('%d %B %Y')}. {len(done)} cells, {seconds / 60:.1f} CPU minutes. "
        f"{escape('; '.join(versions))}.</p>"
        "<p><b>File order</b> is how such files come, sorted by class, and how the paper was "
        "computed: methods with a Fourier transform along the samples profit from it. "
        "<b>Shuffled</b> is what a user's own data are like. Values are means ± standard "
        "deviations over runs of k-means and over shuffles. Beside the paper's numbers, "
        f'<span class="close">≈</span> is within {CLOSE}, <span class="above">▲</span> above, '
        '<span class="below">▼</span> below; – is not at hand.</p>'
    )


def _aims(sets, table):
    """TLRR in file order and the defaults on shuffled samples, against the paper."""
    lines = []
    for data in sets:
        paper = paper_value(data, "TLRR", "acc")
        own = table.get((data, "TLRR", "file"))
        cells = [escape(data), _number(paper), _mean(own, "acc"), _difference(own, "acc", paper)]
        best = PAPER_ORDER_FREE.get(data)
        cells.append(_number(best))
        for row in DEFAULTS:
            entry = table.get((data, row, "shuffled"))
            cells += [_mean(entry, "acc"), _difference(entry, "acc", best)]
        lines.append(cells)
    head = [("data", 1), ("TLRR, file order", 3), ("free of the order, shuffled", 5)]
    names = [
        "",
        "paper",
        "here",
        "difference",
        "paper's best",
        *(part for row in DEFAULTS for part in (row.removesuffix(" default") + "()", "difference")),
    ]
    return section("In short", "ACC.", html_table(lines, [head, names]))


def _overview(sets, rows, table):
    lines = []
    for row in rows:
        line = [escape(row)]
        for data in sets:
            for order in ORDERS:
                entry, mark = _found(table, data, row, order)
                line.append(f"{_mean(entry, 'acc')}{mark}")
        lines.append(line)
    head = [("ACC", 1), *((data, len(ORDERS)) for data in sets)]
    names = ["method", *(name for _ in sets for name in ORDERS.values())]
    return section(
        "All methods",
        f"{SAME} is the value in file order, as the method does not depend on the order.",
        html_table(lines, [head, names]),
    )


def _found(table, data, row, order):
    """The entry, or for a method that is free of the order that in file order, with a mark."""
    entry = table.get((data, row, order))
    if entry is None and order == "shuffled" and METHODS[row].order_free:
        entry = table.get((data, row, "file"))
        return entry, "" if entry is None else SAME
    return entry, ""


def _set(output, data, rows, table, records):
    lines = []
    for row in rows:
        own = table.get((data, row, "file"))
        shuffled, mark = _found(table, data, row, "shuffled")
        if own is None and shuffled is None:
            continue
        line = [escape(row)]
        for score in SHOWN:
            paper = paper_value(data, row, score)
            line += [_spread(own, score), _number(paper), _difference(own, score, paper)]
        line += [f"{_spread(shuffled, score)}{mark}" for score in SHOWN]
        entry = own or shuffled
        peak = "–" if entry.peak_mib is None else f"{entry.peak_mib:.0f}"
        lines.append([*line, f"{entry.seconds:.3g}", peak])
    head = [
        ("", 1),
        *((f"{score.upper()}, file order", 3) for score in SHOWN),
        ("shuffled", len(SHOWN)),
        ("cost", 2),
    ]
    names = [
        "method",
        *(["here", "paper", "difference"] * len(SHOWN)),
        *(score.upper() for score in SHOWN),
        "CPU s",
        "MiB",
    ]
    sizes = next((one["n"], one["n_clusters"]) for one in records if one["data"] == data)
    pictures = figures.of_set(output, data, records) if lines else []
    text = f"{sizes[0]} samples in {sizes[1]} classes."
    return section(data, text, html_table(lines, [head, names]) + gallery(pictures))


def _ablation(other):
    lines = []
    for row in ABLATION:
        entry = other.get((ABLATION_SET, row, "file"))
        if entry is not None:
            paper = PAPER_ABLATION[row]
            lines.append(
                [
                    row,
                    _spread(entry, "acc"),
                    _number(paper),
                    _difference(entry, "acc", paper),
                    _spread(entry, "nmi"),
                ]
            )
    if not lines:
        return ""
    given = _text({"affinity": ABLATION_INPUT}).removeprefix("affinity=")
    text = (
        f"In file order, on the tensor of {given}, which reproduces these numbers; that of the "
        "table reproduces TLRR itself better."
    )
    names = ["TLRR with", "ACC", "paper", "difference", "NMI"]
    return section(
        f"Terms of TLRR left out, {ABLATION_SET}", escape(text), html_table(lines, [names])
    )


def _initial(sets, table, other):
    lines = []
    for data in sets:
        line = [
            data,
            *(_spread(table.get((data, row, "file")), "acc") for row in ("t-SVD-MSC", "TLRR")),
        ]
        for method in INITIAL:
            after = other.get((data, f"TLRR after {method}", "file"))
            line += [_spread(table.get((data, method, "file")), "acc"), _spread(after, "acc")]
        if any((data, f"TLRR after {method}", "file") in other for method in INITIAL):
            lines.append(line)
    if not lines:
        return ""
    head = [("", 1), *((method, 2) for method in ("t-SVD-MSC", *INITIAL))]
    names = ["ACC", *(["alone", "then TLRR"] * (1 + len(INITIAL)))]
    text = (
        "In file order. t-SVD-MSC alone has the lam at which it clusters best, TLRR's input "
        "another. Tensors of LT-MSC and ETLMSC have scales of their own, so TLRR, solved exactly, "
        "gets the lam at which as many similarities survive as of its published input."
    )
    return section("TLRR after other methods", text, html_table(lines, [head, names]))


def _parameters(sets, rows):
    lines = []
    for row in rows:
        method = METHODS[row]
        given = {}
        for data in sets:
            given.setdefault(_text(method.parameters_on(data)), []).append(data)
        text = "<br>".join(
            f"{escape(', '.join(names))}: {escape(text)}" for text, names in given.items()
        )
        lines.append([escape(row), text, escape(method.reason)])
    if not lines:
        return ""
    return section(
        "Parameters",
        "",
        html_table(lines, [["method", "parameters", "why"]], ("parameters", "why")),
    )


def _text(parameters):
    parts = []
    for name, value in parameters.items():
        if isinstance(value, dict):
            inner = {key: one for key, one in value.items() if key != "method"}
            value = f"{value['method']}({_text(inner)})"
        parts.append(f"{name}={value}")
    return ", ".join(parts) or "defaults"


def _notes(records, left_out):
    failed = [
        f"{one['data']}, {one['row']}, {ORDERS[one['order']]}: {one['error']}"
        for one in records
        if "error" in one
    ]
    said = ordered(
        f"{one['data']}, {one['row']}: {text}"
        for one in records
        for text in one.get("warnings", ())
    )
    parts = ("Left out", left_out), ("Failed", failed), ("Warnings", said)
    lists = (
        folded(f"{title} ({len(texts)})", html_lines("\n".join(texts) or "nothing"))
        for title, texts in parts
    )
    return section("What is not in the tables", "", "".join(lists))


# ---------------------------------------------------------------------------------------- pieces


def _number(value):
    return "–" if value is None or np.isnan(value) else f"{value:.3f}"


def _mean(entry, score):
    return _number(None if entry is None else entry.mean[score])


def _spread(entry, score):
    if entry is None:
        return "–"
    spread = f" <small>±{entry.spread[score]:.3f}</small>" if entry.runs > 1 else ""
    return f"{entry.mean[score]:.3f}{spread}"


def _difference(entry, score, paper):
    if entry is None or paper is None:
        return "–"
    value = round(entry.mean[score] - paper, 3) + 0.0  # no negative zero
    kind, sign = (
        ("close", "≈") if abs(value) <= CLOSE else (("above", "▲") if value > 0 else ("below", "▼"))
    )
    return f'<span class="{kind}">{sign}&nbsp;{value:+.3f}</span>'
