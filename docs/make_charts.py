"""The charts of the start page: accuracy and seconds beside other packages.

Usage: python docs/make_charts.py

Writes docs/_static/peers.png from the table of bench/peers.py in docs/measured.md.
"""

import sys
from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "bench"))

from tables import rows_of  # noqa: E402

PICTURE = DOCS / "_static" / "peers.png"
OURS, OTHERS = "#1f6f8b", "#b8bfc6"


def main():
    rows = rows_of("peers")[::-1]
    names = [row["method"] for row in rows]
    colors = [OURS if name == "ConsensusTLRR" else OTHERS for name in names]
    means, errors = zip(*(map(float, row["ACC"].split(" ± ")) for row in rows), strict=True)
    seconds = [float(row["CPU s"]) for row in rows]
    with rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(9.6, 2.9), layout="constrained")
        accuracy, time = figure.subplots(1, 2, sharey=True)
        bars = accuracy.barh(names, means, xerr=errors, color=colors, ecolor="#555555")
        labels = accuracy.bar_label(bars, [f"{mean:.2f}" for mean in means], label_type="center")
        labels[names.index("ConsensusTLRR")].set_color("white")
        accuracy.set(xlim=(0, 1), xlabel="ACC, mean of seven data sets and its standard error")
        bars = time.barh(names, seconds, color=colors, log=True)
        time.bar_label(bars, [f"{s:g}" for s in seconds], padding=3)
        time.set(xlabel="CPU seconds of a fit, mean of the seven, logarithmic scale")
        time.margins(x=0.1)
        time.tick_params(left=False)
        figure.savefig(PICTURE, dpi=90)


if __name__ == "__main__":
    main()
