"""The text of an explanation, for terminals of 80 columns."""

from textwrap import fill

import numpy as np

WIDTH = 79
ROWS = 12  # of a list that may be long
FEW = 6  # candidates
WEAK_CLUSTER, WEAK_VIEW = 0.7, 0.1


def explained_text(found):
    """The text of an `Explanation`."""
    views = f", {counted(len(found.view_names), 'view')}" if found.view_names else ""
    clusters = counted(len(found.clusters), "cluster")
    parts = [f"{found.method}: {counted(found.n_samples, 'sample')} in {clusters}{views}"]
    parts.append(_clusters(found))
    if found.margin is not None:
        parts.append(_between(found))
    if found.view_support is not None or found.excluded_views:
        parts.append(_views(found))
    parts.append(_choice(found))
    if found.unknown:
        parts.append("Not told\n" + "\n".join(_wrapped(line) for line in found.unknown))
    return "\n\n".join(part for part in parts if part)


def _clusters(found):
    c = len(found.clusters)
    worth = found.predictability if found.predictability is not None else found.silhouette
    shown = np.arange(c)
    title = "Clusters"
    if c > ROWS:
        by = -found.sizes if worth is None else np.nan_to_num(worth, nan=-1)
        shown = np.argsort(by, kind="stable")[:ROWS]
        title += f" ({ROWS} of {c}, the {'largest' if worth is None else 'weakest'} first)"
    columns = {
        "cluster": [str(found.clusters[k]) for k in shown],
        "samples": [str(found.sizes[k]) for k in shown],
        "share": [f"{100 * found.sizes[k] / found.n_samples:.0f} %" for k in shown],
    }
    for name, values in (
        ("predictable", found.predictability),
        ("silhouette", found.silhouette),
    ):
        if values is not None:
            columns[name] = [_figure(values[k]) for k in shown]
    lines = [title, _table(columns)]
    if found.predictability is not None:
        weak = [str(found.clusters[k]) for k in np.flatnonzero(found.predictability < WEAK_CLUSTER)]
        if weak:
            more = f" and {len(weak) - ROWS} more" if len(weak) > ROWS else ""
            told = ", ".join(weak[:ROWS])
            lines.append(_wrapped(f"Not well separated from the others: {told}{more}."))
        lines.append(
            _wrapped(
                "predictable: fraction of the cluster whose labels are predicted from the other "
                f"samples; of all labels: {_figure(found.overall_predictability)}."
            )
        )
    if found.silhouette is not None:
        lines.append(_wrapped("silhouette: 1 far from other clusters, 0 or less between them."))
    return "\n".join(lines)


def _between(found):
    count = len(found.between)
    if count == 0:
        return "Samples between two clusters: none with a margin below .1."
    place = np.empty(found.n_samples, dtype=np.intp)
    place[found.samples] = np.arange(len(found.samples))
    shown = found.between[:ROWS]
    rows = place[shown]
    share = f"{100 * count / len(found.samples):.1f} % of them"
    more = f", the {ROWS} closest" if count > ROWS else ""
    table = _table(
        {
            "sample": [str(i) for i in shown],
            "cluster": [str(found.clusters[k]) for k in found.labels[rows]],
            "or": [str(found.clusters[k]) for k in found.other[rows]],
            "margin": [_figure(x) for x in found.margin[rows]],
        }
    )
    return "\n".join(
        [
            f"Samples between two clusters: {count} ({share}){more}",
            table,
            _wrapped(
                "margin: 1 clearly in its cluster, 0 halfway to the other, negative nearer to it."
            ),
        ]
    )


def _views(found):
    lines, columns = ["Views"], {"view": [], "support": [], "": []}
    for i, name in enumerate(found.view_names):
        support = None if found.view_support is None else found.view_support[i]
        remark = "excluded" if name in found.excluded_views else ""
        if not remark and support is not None and support < WEAK_VIEW:
            remark = "little support for these clusters"
        columns["view"].append(str(name))
        columns["support"].append("" if support is None else _figure(support))
        columns[""].append(remark)
    lines.append(_table(columns, left=("view", "")))
    lines += [
        _wrapped(f"{name} was excluded: {reason}." if isinstance(name, str) else
                 f"View {name} was excluded: {reason}.")
        for name, reason in found.excluded_views.items()
    ]  # fmt: skip
    if found.view_support is not None:
        lines.append(
            _wrapped(
                "support: agreement of the clusters with the view's own neighbors; about 0 for "
                "noise, .3 to 1 for views that carry the clusters."
            )
        )
    return "\n".join(lines)


def _choice(found):
    lines = [_wrapped(line) for line in found.choices]
    if found.candidates is not None:
        table = found.candidates
        shown = np.argsort(-table["predictability"], kind="stable")[:FEW]
        columns = {
            "graph": table["graph"][shown].tolist(),
            "neighbors": [str(d) for d in table["n_neighbors"][shown]],
            "components": [str(k) for k in table["n_components"][shown]],
            "predictability": [_figure(J) for J in table["predictability"][shown]],
        }
        if found.agreement is not None:
            columns["agreement"] = [_figure(x) for x in found.agreement[shown]]
        lines += [
            f"The {len(shown)} most predictable of {len(table['graph'])} labellings",
            _table(columns, left=("graph",)),
        ]
    return "\n".join(["How the labels were chosen", *lines]) if lines else ""


def counted(number, noun):
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _figure(value):
    return "" if np.isnan(value) else f"{round(float(value), 2) + 0:.2f}"  # no -0.00


def _wrapped(line):
    return fill(line, WIDTH, initial_indent="  ", subsequent_indent="  ")


def _table(columns, left=()):
    """Columns of strings under their names, each as wide as it must be."""
    lines = [""] * (1 + len(next(iter(columns.values()))))
    for name, cells in columns.items():
        cells = [name, *cells]
        width = max(map(len, cells))
        for k, cell in enumerate(cells):
            lines[k] += "  " + (cell.ljust(width) if name in left else cell.rjust(width))
    return "\n".join(line.rstrip() for line in lines)
