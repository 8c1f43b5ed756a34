"""``mvsc-fast predict``: labels of new samples from a saved model."""

import warnings
from pathlib import Path

import numpy as np

from .._utils.messages import counted, noted
from ..views._frames import shown
from ._cells import cells_kind, views_by_columns, with_columns
from ._cluster_command import note_user, write_labels
from ._matching import ANY
from ._outputs import check_outputs, check_printable, replaced
from ._readers import SUFFIXES, Fitted, load_data
from ._saved import load_model


def run(args):
    """Label the samples of the files of ``args`` and write the labels."""
    saved = load_model(args.model)
    names, columns = saved["views"], saved["columns"]
    paths = _file_of_each(args.files, names, saved["one_table"])
    check_outputs([args.labels], [args.model, *filter(None, paths)])
    given = [i for i, path in enumerate(paths) if path is not None]
    shared = len(set(paths)) == 1 < len(names)
    widths = dict(zip(names, saved.get("n_features", ()), strict=False))  # none in old models
    by_view = dict(zip(names, columns, strict=True))
    data = load_data(
        paths[:1] if shared else [paths[i] for i in given],
        fitted=Fitted(saved["id_name"], [names[i] for i in given], by_view, widths),
        id_column=args.id_column,
        join=ANY,
        transpose=args.transpose,
        samples=args.samples,
        header=args.header,
        decimal=args.decimal,
        thousands=args.thousands,
        use=args.use or _use(saved, [names[i] for i in given], paths[given[0]]),
        arrays=args.views,
    )
    for note in data.notes:
        note_user(note)
    found, path = data.views, paths[given[0]]
    # Views of one file correspond by name, others by position.
    if data.cells is not None and not isinstance(data.cells, dict):
        if not found.keys() <= set(names):
            found = _by_columns(found, [names[i] for i in given], [columns[i] for i in given], path)
        by_name = True
    else:
        by_name = Path(path).suffix.lower() in SUFFIXES and _are_known(found, names, path)
    if by_name:
        given = [i for i in given if names[i] in found]
        found = {names[i]: found[names[i]] for i in given}
    if len(found) != len(given):
        raise ValueError(
            f"{paths[0]} has {counted(len(found), 'view')}, but the model has {len(names)}"
        )
    views = dict(zip((names[i] for i in given), found.values(), strict=True))
    if data.cells is not None:
        views = {names[i]: with_columns(views[names[i]], columns[i], names[i]) for i in given}
    _check_widths(views, widths, {names[i]: paths[i] for i in given})
    if args.labels is None:
        check_printable([data.id_name, *(() if data.ids is None else data.ids)])
    for name in names:
        if name not in views:
            note_user(f"{name} is not given: its features are predicted from the other views")
    with warnings.catch_warnings():
        if None not in [*data.columns, *(columns[i] for i in given)]:  # they are matched by name
            warnings.filterwarnings("ignore", "no column names, unlike")
        with noted() as notes:
            labels = saved["model"].predict(views)
    for text in notes:
        note_user(text)
    more = _margins(saved["model"], views) if args.explain else {}
    with replaced(args.labels) as stream:
        write_labels(stream, {"cluster": labels, **more}, data.ids, data.id_name)
    parts = ", ".join(
        f"{size} in {label}" if label >= 0 else f"{size} without a label"
        for label, size in zip(*np.unique(labels, return_counts=True), strict=True)
    )
    note_user(f"{counted(len(labels), 'sample')} by cluster: {parts}")


def _check_widths(views, widths, paths):
    """Raise ValueError if a view does not have as many columns as in the fit."""
    for name, X in views.items():
        n = X.shape[1]
        if widths.get(name, n) == n:
            continue
        way = f"give the file of view {name!r}"
        for other, width in widths.items():
            if width == n:
                way = f"give files in the order {', '.join(widths)}, or as {other}={paths[name]}"
        raise ValueError(
            f"{paths[name]} has {counted(n, 'column')}, but view {name!r} of the model has "
            f"{widths[name]}: {way}"
        )


def _by_columns(views, names, columns, path):
    """The views of cells that have all columns of views of a model, by the names of those."""
    keys = views_by_columns(views, names, columns, path)
    note_user(f"views by columns: {shown(*keys.values())} as {shown(*keys)}")
    return {name: views[key] for name, key in keys.items()}


def _are_known(views, names, path):
    """Whether arrays have names of views of a model; raise ValueError if only some have."""
    unknown = [name for name in views if name not in names]
    if len(unknown) == len(views):
        if len(views) > 1:
            note_user(f"views by position: {shown(*views)} as {shown(*names)}")
        return False
    if unknown:
        raise ValueError(
            f"{path} has {shown(*unknown)}, but the model has the views {shown(*names)}: name its "
            "views with --views"
        )
    return True


def _use(saved, names, path):
    """The matrices of cells that the fit used, for the views that are given."""
    use = saved.get("use") if cells_kind(path) else None
    return [name for name in use if name in names] if isinstance(use, list) else use


def _margins(model, views):
    """Margin of each label, and 1 if the sample is unlike those of the fit, else 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of `predict`
        margin, unlike = model.predict_margin(views, return_unlike=True)
    shown = np.array([f"{one:.3f}" for one in margin.tolist()])
    return {"margin": shown, "unlike": unlike.astype(int)}


def _file_of_each(files, names, one_table):
    """The file of each view or None, given as ``view=file`` or in the order of fit."""
    pairs = [file.partition("=") for file in files]
    if all(equals and view in names for view, equals, _ in pairs):
        given = {view: file for view, _, file in pairs}
        if len(given) < len(pairs):
            raise ValueError(f"{' '.join(files)}: a view is given more than once")
        return [given.get(name) for name in names]
    whole = len(files) == 1 and (Path(files[0]).suffix.lower() in SUFFIXES or cells_kind(files[0]))
    if len(files) == 1 and one_table or whole and len(names) > 1:
        return files * len(names)
    if len(files) != len(names):
        raise ValueError(
            f"the model has the views {', '.join(names)}: give a file for each in this order, or "
            f"some of them as {names[0]}=FILE"
        )
    return files
