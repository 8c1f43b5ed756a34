"""``mvsc-fast predict``: labels of new samples from a saved model."""

import json
from pathlib import Path

import numpy as np

from .. import __version__
from .._utils.messages import counted
from ..datasets._arrays import SUFFIXES
from ..judge._predictor import alarm_of
from ..methods._prediction import check_limits, predicted_rows
from ._cells import cells_kind
from ._matching import ANY
from ._outputs import add_output, note_user, prepare_outputs, replaced, write_labels
from ._readers import SAMPLE_COLUMNS, add_input, read_files
from ._saved import load_model

EXAMPLES = """\
examples:
  mvsc-fast predict model.pkl new_rna.csv new_dna.csv --labels new.csv
      a file for each view, in the order of the fit
  mvsc-fast predict model.pkl rna=new_rna.csv > new.csv
      samples without the other views
  mvsc-fast predict model.pkl new.csv --labels labels.csv --summary week.json
      numbers for a regular run; exit code 3 warns of unlike samples
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
    parser.set_defaults(run=run, join=ANY)
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="file that --save wrote; a pickle, unlike .mvsc, can run any code: load only those "
        "that you trust",
    )
    add_input(
        parser,
        "a file for each view, in the order of the fit, or VIEW=FILE for some of the views; VIEW "
        "is its name in the fit: that of its file without suffix, modality or variable",
        f"{SAMPLE_COLUMNS}; FILE:NAMES for one file",
    )
    add = add_output(parser).add_argument
    add(
        "--certainty",
        action="store_true",
        help="also write how certain each label is, from 0 to 1 (-1 without a label), and whether "
        "the sample is unlike those of the fit",
    )
    add(
        "--summary",
        metavar="JSON",
        help="file for the numbers of samples, of samples unlike those of the fit and of missing "
        f"views, and for versions; the exit code is then {ALARM_CODE} if there is a warning of "
        "unlike samples",
    )


def run(args):
    """Label the samples of the files of ``args`` and write the labels; returns the exit code."""
    # The file of each view that is given; one file may have several views.
    saved = load_model(args.model)
    names, n_features = list(saved.columns), saved.n_features
    file_of_view = _file_of_each(args.files, names, saved.one_table)
    outputs = [args.labels, *([] if args.summary is None else [args.summary])]
    prepare_outputs(outputs, [args.model, *file_of_view.values()])
    files, present, use = list(file_of_view.values()), list(file_of_view), saved.use
    if saved.encoder and (len(present) < len(names) or len(set(files)) > 1):
        raise ValueError(
            f"{' '.join(args.files)}: all views are columns of one table, give its file"
        )
    if isinstance(use, list):
        use = [name for name in use if name in present]
    files = files[:1] if len(set(files)) == 1 else files
    data = read_files(args, files, saved=saved._replace(use=use), names=present)
    views = data.views
    for name, view in views.items():
        if view.shape[1] != n_features[name]:
            raise ValueError(
                f"{file_of_view[name]} has {counted(view.shape[1], 'feature')}, but view {name!r} "
                f"of the model has {n_features[name]}: give files in the order of the fit, or as "
                f"{name}=FILE"
            )

    # What would fail or be told after the work, then the labels.
    for name in names:
        if name not in views:
            note_user(f"{name} is not given: its features are predicted from the other views")
    model = saved.model
    if args.certainty or args.summary:
        check_limits(model)
    samples, facts = predicted_rows(model, views)
    model.predictor_.tell_unlike(samples, note_user)

    # Labels and the summary are computed before any of them is written.
    labels, summary = samples["label"], None
    table = {"cluster": labels}
    if args.certainty:
        table["margin"] = np.array([f"{value:.3f}" for value in samples["margin"].tolist()])
        table["unlike"] = np.maximum(samples["unlike"], 0)
    if args.summary:
        missing = {name: int(view.n_missing) for name, view in zip(names, facts, strict=True)}
        summary = _summary(saved, samples, missing)
    with replaced(args.labels) as stream:
        write_labels(stream, table, data.ids, data.id_name)
    if summary:
        with replaced(args.summary) as stream:
            stream.write(json.dumps(summary, indent=2) + "\n")
    parts = ", ".join(
        f"{size} in {label}" if label >= 0 else f"{size} without a label"
        for label, size in zip(*np.unique(labels, return_counts=True), strict=True)
    )
    note_user(f"{counted(len(labels), 'sample')} by cluster: {parts}")
    return ALARM_CODE if summary and summary["alarm"] else 0


def _summary(saved, samples, missing):
    """What a regular run keeps of a prediction, as a dict for JSON.

    Unlike samples are counted among those with all views that the model uses, as `predict` does.
    ``missing`` has the number of samples that lack each view.
    """
    total = _counts(samples)
    # Clusters of the fit without new samples are counted, too.
    clusters = [
        {"cluster": label, **_counts(samples[samples["label"] == label])}
        for label in range(saved.model.predictor_.model.n_clusters)
    ]
    return {
        **total,
        "alarm": alarm_of(total["unlike"], total["complete"]),
        "without_label": int(np.count_nonzero(samples["label"] < 0)),
        "clusters": clusters,
        "without_view": missing,
        "versions": {"mvsc_fast": __version__, "model": saved.version},
    }


def _counts(samples):
    """Numbers of samples, of those with all views, and of the unlike among these."""
    complete = samples[samples["complete"] == 1]
    n_unlike = int(np.count_nonzero(complete["unlike"]))
    return {
        "samples": len(samples),
        "complete": len(complete),
        "unlike": n_unlike,
        "unlike_share": round(n_unlike / len(complete), 4) if len(complete) else None,
    }


def _file_of_each(files, names, one_table):
    """The file of each view that is given, as ``view=file`` or in the order of the fit."""
    pairs = [file.partition("=") for file in files]
    by_view = {view: file for view, equals, file in pairs if equals and view in names}
    if by_view:
        if len(by_view) < len(pairs):
            raise ValueError(
                f"{' '.join(files)}: a view is given more than once, or is none of the model's: "
                f"{', '.join(names)}"
            )
        return {name: by_view[name] for name in names if name in by_view}
    whole = len(files) == 1 and (Path(files[0]).suffix.lower() in SUFFIXES or cells_kind(files[0]))
    if len(files) == 1 and one_table or whole and len(names) > 1:
        return dict.fromkeys(names, files[0])
    if len(files) != len(names):
        raise ValueError(
            f"the model has the views {', '.join(names)}: give a file for each in this order, or "
            f"some of them as {names[0]}=FILE"
        )
    if len(set(files)) < len(files):
        raise ValueError(f"{' '.join(files)}: a file is given more than once")
    return dict(zip(names, files, strict=True))
