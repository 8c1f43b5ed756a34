"""Figures that Jupyter and pages show, and what all plots share; they need matplotlib.

The eight colours are those of Okabe & Ito, which colour-blind readers can distinguish.
"""

import io
import re
import threading
from functools import partial
from html import escape

import numpy as np

from .messages import import_extra

_style_lock = threading.Lock()  # the style is one for the process
MAX_NAMES = 15  # along an axis or in a legend, beyond which they overlap
COLORS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#9a8700", "#808080")
MARKERS = "osD^vpX*<>"
INK = "#010203"  # placeholder for the colour of the text, which depends on the reader's theme
MAX_VECTOR_POINTS = 2000  # points of a plot in vector form; more are drawn as pixels
THEME_COLORS = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
STYLE = {
    **dict.fromkeys(THEME_COLORS, INK),
    **dict.fromkeys(("axes.facecolor", "figure.facecolor", "savefig.facecolor"), "none"),
    "axes.titlesize": "medium",
    "legend.framealpha": 0.0,
    "font.size": 9,
}


def new_figure(width=4.4, height=3.4, *, rows=1, columns=1):
    """Axes, or an array of them, of a figure that is not registered with pyplot.

    Jupyter shows the figure and its axes as a picture, although pyplot does not know them.
    """
    import_extra("matplotlib", "a picture")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    all_axes = figure.subplots(rows, columns)
    for item in (figure, *figure.axes):
        item._repr_png_ = partial(_png, figure)
    return all_axes


def _png(figure):
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100, facecolor="white")
    return buffer.getvalue()


def group_names(names):
    """Names of groups as texts for a picture: 1 for 1.0, on one line, and no mathematics."""
    texts = [f"{name:g}" if isinstance(name, float) else str(name) for name in names]
    return [" ".join(text.splitlines()).replace("$", r"\$") for text in texts]


def name_ticks(axis, names, max_names=MAX_NAMES, places=None):
    """Write names along an axis, every k-th if there are many."""
    step = -(-len(names) // max(1, max_names))
    places = np.arange(len(names)) if places is None else places
    axis.set_ticks(places[::step], group_names(names)[::step], fontsize="small")


def legend_below(ax):
    """Name curves below the axes, where nothing is hidden."""
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.25)}
    ax.legend(**place, ncols=2, fontsize="small", frameon=False, markerscale=0.8)


def add_scale(ax, image, **options):
    """Add a colour bar, without seams between its colours in vector graphics."""
    bar = ax.figure.colorbar(image, ax=ax, **options)
    bar.solids.set_edgecolor("face")
    return bar


def svg_figure(draw, caption):
    """A figure as inline SVG in the colour of the text; ``draw()`` returns its axes."""
    matplotlib = import_extra("matplotlib", "a picture")
    with _style_lock, matplotlib.rc_context({**STYLE, "svg.hashsalt": caption}):
        canvas = draw().figure
        for ax in canvas.axes:
            for artist in (*ax.collections, *ax.lines):
                is_cloud = hasattr(artist, "get_offsets")
                points = artist.get_offsets() if is_cloud else artist.get_xdata()
                artist.set_rasterized(len(points) > MAX_VECTOR_POINTS)
        canvas.draw_without_rendering()  # determines the ticks for the final layout
        buffer = io.StringIO()
        canvas.savefig(buffer, format="svg", dpi=100, metadata={"Date": None})
    # The text takes the colour of the page, and nothing depends on the time or repeats an id.
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # equal ids in every figure
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
