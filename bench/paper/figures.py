"""Pictures of the report."""

import numpy as np
from cells import arrays_path
from matplotlib.patches import Rectangle
from settings import HEAT_MAPS, METHODS, SENSITIVITY
from tables import entries

from mvsc_fast._utils.figures import COLORS, add_scale, new_figure, styles, svg_figure
from mvsc_fast.explanation import plot_embedding, plot_similarity

EMBEDDED = ("TLRR", "TLRR default")  # rows of the paper whose embedding is drawn


def plot_sensitivity(scores, values, second=None, *, names=("parameter", ""), chosen=None):
    """Plot ACC against one parameter as a curve, or against two as a heat map; mark the chosen."""
    scores, values, ax = np.asarray(scores, dtype=float), np.asarray(values), new_figure()
    if second is None:
        ax.plot(values, scores, "o-", color=COLORS[0])
        if chosen is not None:
            ax.axvline(chosen, color=COLORS[3], linestyle="--", label=f"table: {chosen:g}")
            ax.legend(fontsize="small")
        ax.set(xlabel=names[0], ylabel="ACC", ylim=(0, 1.03))
        return ax
    shown = ax.imshow(scores, cmap="viridis", vmin=0, vmax=1, origin="lower", aspect="auto")
    for (row, column), value in np.ndenumerate(scores):
        if np.isfinite(value):
            color = "white" if value < 0.45 else "black"
            text = f"{value:.2f}".removeprefix("0")
            ax.text(column, row, text, ha="center", va="center", color=color, fontsize="small")
    if chosen is not None:
        place = [
            np.flatnonzero(np.isclose(v, c)) for v, c in zip((values, second), chosen, strict=True)
        ]
        if all(len(one) for one in place):
            corner = (place[0][0] - 0.5, place[1][0] - 0.5)
            ax.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor=COLORS[3], linewidth=2.5))
    ax.set_xticks(np.arange(len(values)), [f"{value:g}" for value in values])
    ax.set_yticks(np.arange(len(second)), [f"{value:g}" for value in second])
    ax.set(xlabel=names[0], ylabel=names[1])
    add_scale(ax, shown, label="ACC")
    return ax


def of_set(output, data, records):
    """Pictures of one data set, from its cells of the tables in file order, or else shuffled."""
    cells = {}
    for record in records:
        if record["data"] == data and record["study"] == "tables" and record["seed"] == 0:
            if record["order"] == "file" or record["row"] not in cells:
                cells[record["row"]] = record
    times = {
        row: entry.seconds
        for (where, row, order), entry in entries(records).items()
        if where == data and row in cells and order == cells[row]["order"]
    }
    pictures = [
        svg_figure(
            lambda: _bars(times),
            f"{data}: CPU seconds of one fit, with those of its input",
        )
    ]
    curves = {row: one["residual"] for row, one in cells.items() if len(one["residual"]) > 1}
    if curves:
        pictures.append(
            svg_figure(
                lambda: _convergence(curves),
                f"{data}: residual of each solver, by its own rule",
            )
        )
    for row, record in cells.items():
        path = arrays_path(output, record["key"])
        if path.exists():
            with np.load(path, allow_pickle=False) as file:
                pictures += _of_arrays(data, row, dict(file))
    return pictures


def _of_arrays(data, row, arrays):
    def similarity():
        return plot_similarity(
            arrays["affinity"].astype(float),
            arrays["affinity_labels"],
            ax=new_figure(3.7, 3.2),
            title=row,
            groups="true",
        )

    if "affinity" in arrays:
        caption = f"{data}: similarities that {row} learned, classes side by side"
        yield svg_figure(similarity, caption)
    if "embedding" in arrays and row in EMBEDDED:
        yield svg_figure(
            lambda: plot_embedding(arrays["embedding"], arrays["labels"], title=row, groups="true"),
            f"{data}: map of the spectral embedding of {row}",
        )


def _bars(seconds):
    rows = sorted(seconds, key=seconds.get, reverse=True)
    values = [max(seconds[row], 1e-3) for row in rows]
    ax = new_figure(4.4, 0.9 + 0.22 * len(rows))
    ax.barh(np.arange(len(rows)), values, color=COLORS[0])
    ax.set_yticks(np.arange(len(rows)), rows)
    ax.set_xscale("log")
    ends = 10.0 ** np.array(
        [np.floor(np.log10(min(values) / 2)), np.ceil(np.log10(max(values) * 2))]
    )
    ax.minorticks_off()
    ax.set(xlabel="CPU seconds", xlim=ends)
    for place, value in enumerate(values):
        ax.text(value * 1.1, place, f"{value:.3g}", va="center", fontsize="small")
    return ax


def _convergence(curves):
    ax = new_figure(4.4, 4.2)
    for (name, residual), style in zip(curves.items(), styles(), strict=False):
        steps = np.arange(1, len(residual) + 1)
        ax.semilogy(steps, residual, label=name, markevery=max(1, len(steps) // 8), **style)
    ax.set(xlabel="iteration", ylabel="residual")
    ax.figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    return ax


def sensitivity(data, records):
    """Curves and heat maps of ACC against the parameters of TLRR."""
    points, table = {}, METHODS["TLRR exact"].parameters_on(data)
    for record in records:
        if record["data"] == data and record["study"] == "sensitivity" and "scores" in record:
            key = tuple(float(record["parameters"][name]) for name in SENSITIVITY)
            points[key] = float(np.mean(record["scores"]["acc"]))
    if not points:
        return []

    def score(**change):
        return points.get(tuple({**table, **change}[name] for name in SENSITIVITY), np.nan)

    pictures = []
    for name, values in SENSITIVITY.items():
        scores = [score(**{name: value}) for value in values]
        pictures.append(
            svg_figure(
                lambda s=scores, v=values, n=name: plot_sensitivity(
                    s, v, names=(n, ""), chosen=table[n]
                ),
                f"{data}: ACC of TLRR against {name}, the others as in the table",
            )
        )
    for across, up in HEAT_MAPS:
        scores = [
            [score(**{across: a, up: b}) for a in SENSITIVITY[across]] for b in SENSITIVITY[up]
        ]
        pictures.append(
            svg_figure(
                lambda s=scores, a=across, u=up: plot_sensitivity(
                    s, SENSITIVITY[a], SENSITIVITY[u], names=(a, u), chosen=(table[a], table[u])
                ),
                f"{data}: ACC of TLRR against {across} and {up}; a frame is "
                "around the table's choice",
            )
        )
    return pictures
