"""Self-contained HTML pages of tables and figures, for small and large, light and dark screens."""

import io
import re
from html import escape
from importlib.resources import files

INK = "#010203"  # placeholder for the colour of the text, which depends on the reader's theme
DRAWN_SINGLY = 2000  # maximum number of points of a plot in vector form; more are drawn as pixels
STYLE = {
    **dict.fromkeys(
        ["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"], INK
    ),
    **dict.fromkeys(["axes.facecolor", "figure.facecolor", "savefig.facecolor"], "none"),
    "axes.titlesize": "medium",
    "legend.framealpha": 0.0,
    "font.size": 9,
}


def page(title, parts):
    """Assemble a page from parts in HTML."""
    style = files(__package__).joinpath("_page.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{style}</style></head><body><main>{''.join(parts)}</main></body></html>\n"
    )


def section(title, text, body):
    """A section of a page; ``text`` and ``body`` are HTML."""
    return f"<section><h2>{escape(title)}</h2><p>{text}</p>{body}</section>"


def gallery(pictures):
    """Figures side by side, if the screen is wide enough."""
    return f'<div class="gallery">{"".join(pictures)}</div>'


def details(title, texts):
    """A collapsible list, which is open at first."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts) or "<li>nothing</li>"
    return (
        f"<details open><summary>{escape(title)} ({len(texts)})</summary><ul>{items}</ul></details>"
    )


def html_table(lines, heads, kind="numbers"):
    """A table of HTML cells under rows of headings, each a name or (name, columns)."""
    if not lines:
        return ""
    top = ""
    for head in heads:
        names = (one if isinstance(one, tuple) else (one, 1) for one in head)
        top += "<tr>" + "".join(f'<th colspan="{n}">{escape(t)}</th>' for t, n in names) + "</tr>"
    body = "".join(
        f'<tr><th scope="row">{line[0]}</th>'
        + "".join(f"<td>{cell}</td>" for cell in line[1:])
        + "</tr>"
        for line in lines
    )
    return (
        f'<div class="scroll" tabindex="0"><table class="{kind}"><thead>{top}</thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def figure(draw, name, caption):
    """A figure as inline SVG in the colour of the text; ``draw()`` returns its axes."""
    import matplotlib

    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        drawn = draw().figure
        for artist in (one for ax in drawn.axes for one in (*ax.collections, *ax.lines)):
            points = artist.get_offsets() if hasattr(artist, "get_offsets") else artist.get_xdata()
            artist.set_rasterized(len(points) > DRAWN_SINGLY)
        drawn.draw_without_rendering()  # determines the ticks for the final layout
        buffer = io.StringIO()
        drawn.savefig(buffer, format="svg", dpi=100, metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # equal ids in every figure
    svg = svg.replace("<svg", f'<svg role="img" aria-label="{escape(caption)}"', 1)
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
