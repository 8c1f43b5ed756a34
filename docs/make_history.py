"""The chart of speed over commits, from the results of asv in bench/results/asv.

Usage: python docs/make_history.py

Prints the CPU seconds of every timing of bench/history, and writes docs/_static/history.png.
"""

import datetime
import json
from pathlib import Path

from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "_static" / "history.png"


def results():
    """Commits with their dates, oldest first, and seconds by timing."""
    runs = []
    for path in (ROOT / "bench" / "results" / "asv").glob("*/*-*.json"):
        run = json.loads(path.read_text())
        seconds = {}
        for timing, values in run["results"].items():
            found = dict(zip(run["result_columns"], values, strict=False))
            name = timing.split(".")[0]
            for n, value in zip(*found["params"], found["result"] or [], strict=False):
                seconds[f"{name}, n = {n}"] = value
        runs.append((run["date"], run["commit_hash"][:7], seconds))
    return sorted(runs)


def main():
    dates, commits, seconds = zip(*results(), strict=True)
    names = sorted(seconds[-1], key=seconds[-1].get)
    print(f"| CPU seconds | {' | '.join(commits)} | first / last |")
    print("|---" * (len(commits) + 2) + "|")
    for name in names[::-1]:
        found = [run[name] for run in seconds]
        cells = " | ".join(f"{value:.2g}" for value in found)
        print(f"| {name} | {cells} | {found[0] / found[-1]:.1f} |")

    figure = Figure(figsize=(7.2, 3.8), layout="constrained")
    ax = figure.subplots()
    first, last = ([run[name] for name in names] for run in (seconds[0], seconds[-1]))
    ax.hlines(names, first, last, color="#d5dade")
    for shade, (date, commit, run) in enumerate(zip(dates, commits, seconds, strict=True), start=1):
        day = datetime.date.fromtimestamp(date / 1000).isoformat()
        color = str(0.85 * (1 - shade / len(commits))) if commit != commits[-1] else "#1f6f8b"
        ax.plot([run[name] for name in names], names, "o", color=color, label=f"{commit}, {day}")
    ax.set(xscale="log", xlabel="CPU seconds of a call, one thread, logarithmic scale")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    figure.savefig(PICTURE, dpi=90)


if __name__ == "__main__":
    main()
