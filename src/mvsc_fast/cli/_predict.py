"""``mvsc-fast predict``: labels of new samples from a saved model."""

import json

import numpy as np

from .. import __version__
from .._utils.messages import counted
from ..judge._predictor import alarm_of
from ..methods._prediction import SavedPredictor, check_limits, predicted_rows
from ..views._columns import fitted_columns
from ._cluster import add_input
from ._output import note_user, prepare_outputs, replaced, rounded, tell_sizes, write_labels
from ._read import CELLS, WHOLE, check_options, read
from ._tables import kind_of

EXAMPLES = """\
examples:
  mvsc-fast predict model.mvsc new_rna.csv new_dna.csv --labels new.csv
  mvsc-fast predict model.mvsc rna=new_rna.csv > new.csv
  mvsc-fast predict model.mvsc new.csv --labels labels.csv --summary week.json
"""
ALARM_CODE = 3


def add_parser(commands):
    """Add the command to the parser of all commands."""
    parser = commands.add_parser(
        "predict",
        help="label new samples with a saved model",
        usage="%(prog)s MODEL FILE [FILE ...] [OPTION ...]",
        description="Label new samples with a model of mvsc-fast cluster --save. Columns are "
        "matched\nby name, rows by id; a sample may lack views.",
        epilog=EXAMPLES,
    )
    parser.set_defaults(run=run, join=None, columns=None)
    parser.add_argument("model", metavar="MODEL", help="file that --save wrote")
    add_input(parser)
    add = parser.add_argument
    add("--labels", metavar="CSV", help="file for labels, by default the standard output")
    margins = "also write margins, and whether samples are unlike those of the fit"
    add("--certainty", action="store_true", help=margins)
    counts = f"write counts as JSON; exit code {ALARM_CODE} if too many samples are unlike"
    add("--summary", metavar="JSON", help=counts)


def run(args):
    """Label the samples of the files of ``args`` and write the labels; returns the exit code."""
    model = SavedPredictor(args.model)
    names = list(map(str, model.view_names_in_))
    known = zip(names, fitted_columns(model), strict=True)
    columns = {name: None if titles is None else list(titles) for name, titles in known}
    files = _files_of_views(args.files, columns)
    check_options(list(files.values()), args)
    # Ids, and the matrices of cells, are those of the fit unless the user names others.
    note = model.note_
    has_cells = any(kind_of(path) in CELLS for path in files.values())
    name, kind = ("views", str) if has_cells else ("id_column", list)
    if getattr(args, name) is None and isinstance(note.get(name), kind):  # it may have anything
        setattr(args, name, note[name])
    prepare_outputs([args.labels, args.summary], [args.model, *files.values()])
    data = read(files, args, note_user, columns=columns)
    for name in set(names).difference(data.views):
        note_user(f"{name} is not given: its features are predicted from the other views")

    # Labels and the summary are computed before any of them is written.
    if args.certainty or args.summary:
        check_limits(model)
    samples = predicted_rows(model, data.views)
    model.predictor_.tell_unlike(samples, note_user)
    table = {"cluster": samples["label"]}
    if args.certainty:
        table |= {"margin": rounded(samples["margin"]), "unlike": np.maximum(samples["unlike"], 0)}
    summary = _summary(samples, model.n_clusters_)
    with replaced(args.labels) as stream:
        write_labels(stream, table, data.ids)
    if args.summary:
        with replaced(args.summary) as stream:
            stream.write(json.dumps(summary, indent=2) + "\n")
    tell_sizes(samples["label"])
    return ALARM_CODE if args.summary and summary["alarm"] else 0


def _summary(samples, n_clusters):
    """What a regular run keeps of a prediction: unlike samples are counted among complete ones."""
    complete = samples[samples["complete"] == 1]
    n_unlike, labels = int(np.count_nonzero(complete["unlike"])), samples["label"]
    return {
        "samples": len(samples),
        "complete": len(complete),
        "unlike": n_unlike,
        "alarm": alarm_of(n_unlike, len(complete)),
        "without_label": int(np.count_nonzero(labels < 0)),
        "clusters": np.bincount(labels[labels >= 0], minlength=n_clusters).tolist(),
        "version": __version__,
    }


def _files_of_views(files, columns):
    """The file of each view, as ``view=file`` or in the order of the fit, or one for all views.

    A table has all views only if its columns tell them apart.
    """
    by_view = dict(text.split("=", 1) for text in files if "=" in text)
    if by_view.keys() <= columns.keys() and len(by_view) == len(files):
        return {name: by_view[name] for name in columns if name in by_view}
    titles = [title for known in columns.values() for title in known or ()]
    has_all = kind_of(files[0]) in WHOLE or len(set(titles)) == len(titles) > 0
    if len(files) == 1 and has_all:
        return dict.fromkeys(columns, files[0])
    if len(files) != len(columns):
        raise ValueError(
            f"the model has {counted(len(columns), 'view')}, {', '.join(columns)}: give a file for "
            "each in this order, or some of them as VIEW=FILE"
        )
    return dict(zip(columns, files, strict=True))
