"""Every form of data, alone and mixed, gives the results and messages of plain arrays.

A cell is a form, a condition of the data, and a question. Its result equals that of the same data
in arrays (csr_array for sparse forms) to the last bit, or is the same error, with the same
warnings.
"""

import pickle
import re
import warnings
from dataclasses import dataclass, field, replace
from functools import cache, wraps
from itertools import product

import dask
import h5py
import numpy as np
import pytest
import scipy.sparse
import sklearn
from conftest import fitted as fitted_before
from forms import ALL, COLUMNS, IDS, MIXES, NAMED, SPARSE, WITH_IDS, converted, plain
from reference.prediction import fields
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mvsc_fast import (
    ConsensusTLRR,
    SavedPredictor,
    explain,
    explanation,
    label_predictability,
    suggest_n_clusters,
)
from mvsc_fast.cli import main
from mvsc_fast.judge import ClusterCounts, _n_clusters, _scores
from mvsc_fast.judge._scan import scan
from mvsc_fast.methods import _candidates, _consensus, _ensemble, _labeller
from mvsc_fast.views import _row_source
from mvsc_fast.views._view_rows import ViewRows

N, NEW, WIDTHS = 60, 20, (5, 4, 6)


def data(seed=0):
    """Three views of three clusters, with zeros, in numbers that float32 can represent."""
    rng = np.random.default_rng(seed)
    y = np.arange(N + NEW) % 3
    views = []
    for d in WIDTHS:
        X = rng.standard_normal((3, d))[y] * 2 + rng.standard_normal((N + NEW, d))
        X[np.abs(X) < 0.3] = 0.0
        views.append(X.astype(np.float32).astype(np.float64))
    views[0] = np.abs(views[0])
    return views


@dataclass
class Part:
    """Views and, for each, the numbers of its samples and columns."""

    views: list
    ids: list
    columns: list = field(default_factory=lambda: list(map(range, WIDTHS)))

    @classmethod
    def of(cls, views, rows):
        rows = np.asarray(rows)
        numbers = [range(len(rows))] * len(views)
        return cls([None if X is None else X[rows] for X in views], numbers)

    def with_reversed(self, i, what):
        """With the samples (``ids``) or columns of view i in the reverse order."""
        views, numbers = list(self.views), list(getattr(self, what))
        views[i] = views[i][::-1] if what == "ids" else views[i][:, ::-1]
        numbers[i] = numbers[i][::-1]
        return replace(self, **{"views": views, what: numbers})


@dataclass
class Case:
    """A condition of the data: what is fitted, and what is asked about it."""

    fitted: Part
    asked: Part  # for explanations and other questions about the fitted samples
    new: Part  # for predictions
    parameters: dict = field(default_factory=dict)
    counted: dict = field(default_factory=dict)  # parameters of suggest_n_clusters
    before: Part | None = None  # an earlier fit of the same model
    refit: bool = False  # whether "fit" is a fit to what is asked
    single: bool = False  # whether the first view is given alone


def case(views=None, **changes):
    views = data() if views is None else views
    fitted = Part.of(views, range(N))
    about = {"fitted": fitted, "asked": fitted, "new": Part.of(views, range(N, N + NEW))}
    return Case(**{**about, **changes})


def missing_rows():
    """Samples without one view, without two, and without any."""
    views = data()
    for i, rows in enumerate([[3, 17, 40, 64, 67], [5, 17, 40, 67], [17, 67]]):
        views[i][rows] = np.nan
    return case(views)


def missing_cells():
    """One row lacks more than half of its cells."""
    views = data()
    for i, cells in enumerate([[(2, 1), (9, 4), (62, 0)], [(4, 3)], [(61, 5), (30, 2)]]):
        views[i][tuple(zip(*cells, strict=True))] = np.nan
    views[2][50, :4] = np.nan
    return case(views)


def absent_view():
    views = data()
    without = [views[0], None, views[2]]
    return case(
        asked=Part.of(without, range(N)), new=Part.of(without, range(N, N + NEW)), refit=True
    )


def rare_view():
    views = data()
    views[2][np.arange(N + NEW) % 45 != 44] = np.nan
    return case(views, parameters={"max_samples": 30}, counted={"max_samples": 30})


def scaled_columns():
    """Columns of different units, with missing rows and cells, in standard units in all answers."""
    views = data()
    for X in views:
        X *= 2.0 ** np.arange(X.shape[1])
    views[1][[3, 17, 64]] = np.nan
    scale = {"scale": "standard"}
    return case(views, parameters=scale | {"max_samples": 40}, counted=scale)


def in_another_order(form, names):
    """The last view with ids or names has its samples or columns in the reverse order."""
    kinds = WITH_IDS if names == "ids" else NAMED
    last = max((i for i, kind in enumerate(ALL[form]) if kind in kinds), default=2)
    ordered = case(refit=names == "ids")
    asked, new = (part.with_reversed(last, names) for part in (ordered.asked, ordered.new))
    return replace(ordered, asked=asked, new=new)


CONDITIONS = {
    "plain": case,
    "subsample": lambda: case(parameters={"max_samples": 40}, counted={"max_samples": 40}),
    "missing rows": missing_rows,
    "missing cells": missing_cells,
    "absent view": absent_view,
    "rare view": rare_view,
    "scaled columns": scaled_columns,
    "one view in another order": lambda form: in_another_order(form, "ids"),
    "columns in another order": lambda form: in_another_order(form, "columns"),
    "second fit": lambda: case(
        before=Part.of([X[:, ::-1] * [[1.0]] for X in data(1)], range(7, 47))
    ),
    "one view alone": lambda: case(single=True),
}

OF_FORM = {"one view in another order", "columns in another order"}  # their cases depend on it

# ------------------------------------------------------------------ the questions


def attributes(model):
    """What a fit learned."""
    learned = {name: value for name, value in vars(model).items() if name.endswith("_")}
    head, views = fields(learned.pop("predictor_").model.image)
    for entry in (head, *views):  # places in the file depend on whether samples are sparse
        for name in ("size", "checksum", "widths"):
            entry.pop(name, None)
    return {**learned, "labels_": np.asarray(learned["labels_"]), "predictor_": [head, views]}


def explained(model, views, path):
    """All numbers and sentences of an explanation, and its page."""
    result = explain(model, views)
    result.write_report(path)
    tables = {name: getattr(result, name) for name in ("clusters", "samples", "views", "markers")}
    page = path.read_text("utf-8").replace(' class="text"', "")  # of ids that are text
    return {"text": " ".join(str(result).split()), "page": page, **tables}


def saved(model, new):
    check_is_fitted(model)
    if dask.is_dask_collection(model.labels_):
        with pytest.warns(UserWarning, match="labels_ .*Dask"):
            assert not hasattr(pickle.loads(pickle.dumps(model)), "labels_")
        model.labels_ = model.labels_.compute()
    copy = pickle.loads(pickle.dumps(model))
    return attributes(copy), np.asarray(copy.predict(new))


def from_file(model, new, path):
    """Labels of the predictor that the model writes; a view that is None is a row of NaN."""
    views = [
        np.full((NEW, d), np.nan) if X is None else X for X, d in zip(new, WIDTHS, strict=True)
    ]
    model.to_native(path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no column names, unlike in fit")
        return SavedPredictor(path).predict(views[: len(model.view_names_in_)])


WITH_MODEL = ("predict", "explain", "markers", "save and load", "native")
WITHOUT_MODEL = ("suggest_n_clusters", "label_predictability")
QUESTIONS = ("fit", *WITH_MODEL, *WITHOUT_MODEL)


def answers(problem, condition, kinds, folder, questions):
    """The outcome of each question for a case in the given forms of its views."""

    def views_of(part):
        views = converted(part.views, kinds, part.ids, part.columns, folder)
        return views[0] if problem.single else views

    fitted, new = views_of(problem.fitted), views_of(problem.new)
    asked = fitted if problem.asked is problem.fitted else views_of(problem.asked)
    model = ConsensusTLRR(3, random_state=0, n_threads=1, **problem.parameters)
    if problem.before is not None:
        fitted_before(model, views_of(problem.before))
    fit = outcome(lambda: attributes(model.fit(fitted)))
    if problem.refit:
        fit = outcome(lambda: attributes(clone(model).fit(asked)))
    asking = {
        "predict": lambda: np.asarray(model.predict(new)),
        "explain": lambda: explained(model, asked, folder / "report.html"),
        "markers": lambda: explanation.markers(model, asked),
        "suggest_n_clusters": lambda: suggest_n_clusters(
            asked, max_clusters=3, random_state=0, n_threads=1, **problem.counted
        ),
        "label_predictability": lambda: label_predictability(asked, np.arange(N) % 3),
        "native": lambda: from_file(model, problem.new.views, folder / "model.mvsc"),
        "save and load": lambda: saved(model, new),
    }
    return {name: fit if name == "fit" else outcome(asking[name]) for name in questions}


def once(function):
    """A pure function that is computed once for the same bits; its warnings are repeated."""
    results = {}

    @wraps(function)
    def call(*args, **parameters):
        key = repr(normal([args, {**parameters, "progress": None}]))
        if key not in results:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                results[key] = function(*args, **parameters), caught
        result, caught = results[key]
        for warning in caught:
            warnings.warn(warning.message, warning.category, stacklevel=2)
        return result

    return call


def outcome(ask):
    """The result or the error of a call, and the warnings, comparable by ``==``."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = normal(ask())
        except (ValueError, TypeError, MemoryError) as error:
            result = [type(error).__name__, normal(str(error))]
    shown = [[warning.category.__name__, normal(str(warning.message))] for warning in caught]
    return {"result": result, "warnings": shown}


def normal(value):
    """Bits of arrays; names of samples and columns as their positions."""
    if isinstance(value, str):
        value = re.sub(r"\w+\[(\d+)\]", r"\1", value)  # a column without a name
        return re.sub(rf"'?(?:{IDS}|{COLUMNS}\d_)(\d+)'?", r"\1", value)
    if isinstance(value, dict):
        kept = [key for key in value if key != "feature_names_in_"]
        return {key: _column(key, value[key]) for key in kept}
    if isinstance(value, (list, tuple)):
        return [normal(item) for item in value]
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU":
            return [normal(item) for item in value.tolist()]
        return [value.dtype.str, value.shape, value.tobytes()]
    if scipy.sparse.issparse(value):
        return [value.format, value.shape, *map(normal, (value.data, value.indices, value.indptr))]
    return normal(vars(value)) if isinstance(value, (ViewRows, ClusterCounts)) else repr(value)


def _column(name, value):
    """Positions and names of samples and features as text."""
    if name in ("ids", "feature", "sample"):
        return [normal(str(item)) for item in np.asarray(value).tolist()]
    return normal(value)


def difference(result, expected, where=""):
    """The first difference of two outcomes, or None."""
    if isinstance(result, dict) and isinstance(expected, dict) and set(result) == set(expected):
        parts = ((name, result[name], expected[name]) for name in result)
    elif isinstance(result, list) and isinstance(expected, list) and len(result) == len(expected):
        parts = ((i, *pair) for i, pair in enumerate(zip(result, expected, strict=True)))
    else:
        differ = f"{where}: {result!r:.300} instead of {expected!r:.300}"
        return None if result == expected else differ
    every = (difference(a, b, f"{where}/{name}") for name, a, b in parts)
    return next((text for text in every if text), None)


TWICE_WITH_IDS = {form for form in ALL if sum(kind in WITH_IDS for kind in ALL[form]) > 1}
SPARSE_FORMS = {form for form in ALL if SPARSE & set(ALL[form])}
NAMED_FORMS = {form for form in ALL if NAMED & set(ALL[form])}


def is_meaningful(form, question, condition):
    """Whether a cell asks something that others do not."""
    if condition == "one view alone":
        return form not in MIXES  # which have several views
    if condition == "one view in another order":  # that only ids can tell
        return form in TWICE_WITH_IDS and question not in ("native", "save and load")
    if condition == "columns in another order":  # the model is the plain one
        return question not in ("fit", "native", "save and load")
    if condition == "missing cells" and form in SPARSE_FORMS:
        return question not in WITH_MODEL  # whose fit is refused
    if condition == "second fit":  # the functions have no model
        return question not in ("suggest_n_clusters", "label_predictability")
    # label_predictability draws samples from 4096 on.
    return (question, condition) != ("label_predictability", "subsample")


def questions_of(form, condition):
    return [question for question in QUESTIONS if is_meaningful(form, question, condition)]


PAIRS = [pair for pair in product(ALL, CONDITIONS) if questions_of(*pair)]


def refusal(form, question, condition):
    """The message of a cell that only named views can refuse, or None."""
    if condition == "one view in another order":
        return r"the rows of view \d and view \d have different ids \(in another order"
    asked = question in {"predict", "explain", "markers"}
    if condition == "columns in another order" and form in NAMED_FORMS and asked:
        return r"the columns of view \d are not those of fit, in another order: pass frame"
    return None


@pytest.fixture(scope="module", autouse=True)
def small_problems():
    """Fits with few candidates, reports without plots, and tasks of Dask one after another."""
    with (
        pytest.MonkeyPatch.context() as patch,
        dask.config.set(scheduler="synchronous"),
        sklearn.config_context(skip_parameter_validation=True),
    ):
        patch.setattr(_consensus, "fit_labels", once(_labeller.fit_labels))
        patch.setattr(_n_clusters, "scan", once(lambda *given, **how: list(scan(*given, **how))))
        patch.setattr(_candidates, "SIZES", (8,))
        few = dict.fromkeys(_candidates.PARTITIONS, {"c": ("k-means",)})
        few["none"] = {"rows": (), "standard": ("Ward",)}
        patch.setattr(_candidates, "PARTITIONS", few)
        patch.setattr(_ensemble, "N_INIT", 1)
        patch.setattr(_scores, "MIN_AGREEMENT", -1)  # a cached fit would not warn again
        patch.setattr(_n_clusters, "SIZES", (8,))
        patch.setattr("mvsc_fast._utils.parts.svg_figure", lambda draw, caption: caption)
        yield


@pytest.fixture(scope="module")
def expected(small_problems, tmp_path_factory):
    """Outcomes of plain views, computed once for each of their types."""

    @cache
    def compute(kinds, form, condition):
        folder = tmp_path_factory.mktemp("plain")
        return answers(case_of(form, condition), condition, kinds, folder, QUESTIONS)

    return lambda form, condition: compute(
        plain(form), form if condition in OF_FORM else None, condition
    )


def case_of(form, condition):
    make = CONDITIONS[condition]
    return make(form) if condition in OF_FORM else make()


@pytest.mark.parametrize(("form", "condition"), PAIRS)
def test_a_form_has_the_results_of_plain_views(form, condition, expected, tmp_path, monkeypatch):
    questions = questions_of(form, condition)
    plain_answers = expected(form, condition)
    monkeypatch.setattr(_row_source, "BLOCK", 32)  # no result depends on it
    found = answers(case_of(form, condition), condition, ALL[form], tmp_path, questions)
    wrong = []
    for question in questions:
        message = refusal(form, question, condition)
        if message is not None:
            text = f"{found[question]['result']}"
            broken = None if re.match(rf"\['ValueError', [\"']{message}", text) else text
        else:
            if question in ("predict", "save and load") and "dask" in ALL[form]:
                # Rows of Dask arrays are read after `predict` has returned.
                found[question]["warnings"] = plain_answers[question]["warnings"]
            broken = difference(found[question], plain_answers[question])
        if broken is not None:
            wrong.append(f"{form} | {question} | {condition}: {broken}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("condition", sorted(set(CONDITIONS) - OF_FORM))
def test_plain_views_agree_with_each_other(condition, expected):
    """Sparse views have the labels of dense ones, and a file those of its model."""
    dense = expected("C array", condition)
    predicted = dense["predict"]["result"]
    assert dense["native"]["result"] == predicted
    if condition not in ("missing cells", "scaled columns"):  # sparse columns are not centred
        sparse = expected("csr", condition)
        for question in ("predict", "label_predictability"):
            assert sparse[question] == dense[question]
        for part in ("labels_", "samples_", "views_used_"):
            fits = [one["fit"].get("fit", one["fit"])["result"] for one in (sparse, dense)]
            assert condition == "absent view" or fits[0][part] == fits[1][part]


# ------------------------------------------------------------------ files

FILES = {
    "npy": ("npy", "npy", "npy"),
    "csv": ("csv", "csv", "csv"),
    "parquet": ("parquet", "parquet", "parquet"),
    "h5": ("h5",),
    "csv, parquet": ("csv", "parquet", "csv"),
    "npy, csv without ids": ("npy", "csv without ids", "npy"),
}
WITHOUT_NAMES = {"npy", "h5", "npy, csv without ids"}
FITTED = ["plain", "missing rows", "missing cells"]
NEW_ONLY = ["absent view", "one view in another order", "columns in another order"]
MEANINGLESS_FILES = {("h5", "absent view")}  # one file has all views
MEANINGLESS_FILES |= {(form, "one view in another order") for form in WITHOUT_NAMES}
WITH_FILES = sorted({*product(FILES, FITTED + NEW_ONLY)} - MEANINGLESS_FILES)


def written(given, kinds, folder):
    """Files of the views; a view that is None has none."""
    folder.mkdir()
    if kinds == ("h5",):
        with h5py.File(folder / "views.h5", "w") as file:
            for i, X in enumerate(given.views):
                file[f"view_{i}"] = X
        return [folder / "views.h5"]
    paths = []
    frames = converted(given.views, ["pandas"] * 3, given.ids, given.columns, folder)
    for i, (X, frame, kind) in enumerate(zip(given.views, frames, kinds, strict=True)):
        if X is None:
            continue
        paths.append(folder / f"view{i}.{kind.partition(' ')[0]}")
        if kind == "npy":
            np.save(paths[-1], X)
        elif kind == "parquet":
            pytest.importorskip("pyarrow")
            frame.rename_axis("id").reset_index().to_parquet(paths[-1], index=False)
        else:
            frame.to_csv(paths[-1], index="without" not in kind, index_label="id")
    return paths


def labels_in(answer):
    """Labels of the outcome of a fit or a prediction."""
    result = answer.get("fit", answer)["result"]
    dtype, _, data = result["labels_"] if isinstance(result, dict) else result
    return np.frombuffer(data, dtype)


def check_command(answer, command, *arguments, folder, capsys):
    """Compare the labels that a command writes, and its warnings, with those of Python."""
    out = folder / f"{command}.csv"
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main([command, *map(str, arguments), "--labels", str(out)]) == 0
    labels = np.loadtxt(out, delimiter=",", skiprows=1, usecols=1, dtype=np.int64)
    np.testing.assert_array_equal(labels, labels_in(answer))
    shown = re.sub(r"'view_?(\d)'", r"\1", capsys.readouterr().err)
    for _, text in answer.get("fit", answer)["warnings"]:
        assert text.partition("; predict_margin")[0] in shown  # which is advice for Python


@pytest.mark.parametrize(("form", "condition"), WITH_FILES)
def test_files_have_the_labels_of_arrays(form, condition, expected, tmp_path, capsys):
    given, model = case_of("C array", condition), tmp_path / "model.mvsc"
    fit = expected("C array", condition if condition in FITTED else "plain")["fit"]
    files = written(given.fitted, FILES[form], tmp_path / "fitted")
    options = [*files, "--clusters", 3, "--save", model]
    check_command(fit, "cluster", *options, folder=tmp_path, capsys=capsys)
    same = form in WITHOUT_NAMES or condition not in OF_FORM  # others are matched by name or id
    predicted = expected("C array", condition if same else "plain")["predict"]
    files = written(given.new, FILES[form], tmp_path / "new")
    named = [path if form == "h5" else f"{path.stem}={path}" for path in files]
    check_command(predicted, "predict", model, *named, folder=tmp_path, capsys=capsys)
