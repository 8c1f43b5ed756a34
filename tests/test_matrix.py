"""Every form of data, alone and mixed, gives the results and messages of plain arrays.

A cell is a form, a condition of the data, and a question. Its result equals that of the same data
in arrays (csr_array for sparse forms) to the last bit, or is the same error, with the same
warnings.
"""

import pickle
import re
import warnings
from dataclasses import dataclass, field
from functools import cache, partial

import dask
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from conftest import fitted_consensus
from forms import ALL, COLUMNS, FORMS, IDS, MIXES, NAMED, WITH_IDS, converted, plain
from sklearn.utils.validation import check_is_fitted

from mvsc_fast import ConsensusTLRR, explain, explanation, label_predictability, suggest_n_clusters
from mvsc_fast.judge import ClusterCounts, _n_clusters
from mvsc_fast.methods import _candidates, _ensemble
from mvsc_fast.views import _row_source

N, NEW, WIDTHS = 60, 20, (5, 4, 6)


def data():
    """Three views of three clusters, with zeros, in numbers that float32 can represent."""
    rng = np.random.default_rng(0)
    y = np.arange(N + NEW) % 3
    views = []
    for d in WIDTHS:
        X = rng.standard_normal((3, d))[y] * 2 + rng.standard_normal((N + NEW, d))
        X[np.abs(X) < 0.3] = 0.0
        views.append(X.astype(np.float32).astype(np.float64))
    views[0] = np.abs(views[0])
    return views


@dataclass
class Case:
    """A condition of the data: what is fitted, and what is asked about it."""

    fitted: list
    asked: list  # for explanations and other questions about the fitted samples
    new: list  # for predictions
    parameters: dict = field(default_factory=dict)
    single: bool = False  # whether the first view is given alone


def case(views=None, **changes):
    views = data() if views is None else views
    fitted, new = [X[:N] for X in views], [X[N:] for X in views]
    return Case(**{"fitted": fitted, "asked": fitted, "new": new, **changes})


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
    a, _, c = data()
    return case(asked=[a[:N], None, c[:N]], new=[a[N:], None, c[N:]])


def rare_view():
    views = data()
    views[2][np.arange(N + NEW) % 45 != 44] = np.nan
    return case(views, parameters={"max_samples": 30})


def scaled_columns():
    """Columns of different units, with missing rows and cells, in standard units in all answers."""
    views = data()
    for X in views:
        X *= 2.0 ** np.arange(X.shape[1])
    views[1][[3, 17, 64]] = np.nan
    return case(views, parameters={"scale": "standard", "max_samples": 40})


CONDITIONS = {
    "plain": case,
    "subsample": lambda: case(parameters={"max_samples": 40}),
    "missing rows": missing_rows,
    "missing cells": missing_cells,
    "absent view": absent_view,
    "rare view": rare_view,
    "scaled columns": scaled_columns,
    "one view alone": lambda: case(single=True),
}


def attributes(model):
    """What a fit learned, but for the predictor, whose margins are compared."""
    learned = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {**learned, "labels_": np.asarray(learned["labels_"]), "predictor_": None}


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


def answers(condition, kinds, folder):
    """The outcome of each question in a condition, in the given forms of the views."""
    problem = CONDITIONS[condition]()

    def in_forms(views):
        views = converted(views, kinds, folder)
        return views[0] if problem.single else views

    fitted, new = in_forms(problem.fitted), in_forms(problem.new)
    asked = fitted if problem.asked is problem.fitted else in_forms(problem.asked)
    model = ConsensusTLRR(3, random_state=0, n_threads=1, **problem.parameters)
    questions = {
        "fit": lambda: attributes(model.fit(fitted)),
        "predict": lambda: np.asarray(model.predict(new)),
        "margin": lambda: np.asarray(model.predict_margin(new)),
        "explain": lambda: explained(model, asked, folder / "report.html"),
        "markers": lambda: explanation.markers(model, asked),
        "suggest_n_clusters": lambda: suggest_n_clusters(
            asked, max_clusters=3, random_state=0, n_threads=1, **problem.parameters
        ),
        "label_predictability": lambda: label_predictability(asked, np.arange(N) % 3),
        "save and load": lambda: saved(model, new),
    }
    return {name: outcome(ask) for name, ask in questions.items()}


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
        value = {key: value[key] for key in value if key != "feature_names_in_"}
        for key in value.keys() & {"ids", "feature", "sample"}:  # as text
            value[key] = list(map(str, np.asarray(value[key]).tolist()))
        return {key: normal(value[key]) for key in value}
    if isinstance(value, (list, tuple)):
        return [normal(item) for item in value]
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU":
            return [normal(item) for item in value.tolist()]
        return [value.dtype.str, value.shape, value.tobytes()]
    if scipy.sparse.issparse(value):
        return [value.format, value.shape, *map(normal, (value.data, value.indices, value.indptr))]
    return normal(vars(value)) if isinstance(value, ClusterCounts) else repr(value)


@pytest.fixture(scope="module", autouse=True)
def small_problems():
    """Fits with few candidates, reports without plots, and tasks of Dask one after another."""
    with (
        pytest.MonkeyPatch.context() as patch,
        dask.config.set(scheduler="synchronous"),
        sklearn.config_context(skip_parameter_validation=True),
    ):
        patch.setattr(_candidates, "SIZES", (8,))
        few = dict.fromkeys(_candidates.PARTITIONS, {"c": ("k-means",)})
        few["none"] = {"rows": (), "standard": ("Ward",)}
        patch.setattr(_candidates, "PARTITIONS", few)
        patch.setattr(_ensemble, "N_INIT", 1)
        patch.setattr(_n_clusters, "SIZES", (8,))
        patch.setattr("mvsc_fast._utils.parts.svg_figure", lambda draw, caption: caption)
        yield


@pytest.fixture(scope="module")
def plain_answers(small_problems, tmp_path_factory):
    """The outcomes of plain views of some types in a condition, computed once."""
    return cache(lambda kinds, condition: answers(condition, kinds, tmp_path_factory.mktemp("a")))


# Mixed forms have several views.
PAIRS = [(a, b) for a in ALL for b in CONDITIONS if a not in MIXES or b != "one view alone"]


@pytest.mark.parametrize(("form", "condition"), PAIRS)
def test_a_form_has_the_results_of_plain_views(
    form, condition, plain_answers, tmp_path, monkeypatch
):
    expected = plain_answers(plain(form), condition)
    monkeypatch.setattr(_row_source, "BLOCK", 32)  # no result depends on it
    for question, answer in answers(condition, ALL[form], tmp_path).items():
        if question in ("predict", "margin", "save and load") and "dask" in ALL[form]:
            # Rows of Dask arrays are read after `predict` has returned.
            answer["warnings"] = expected[question]["warnings"]
        assert answer == expected[question], question


# Sparse views lack no single cells, and their columns are not centred.
@pytest.mark.parametrize("condition", sorted({*CONDITIONS} - {"missing cells", "scaled columns"}))
def test_sparse_views_have_the_results_of_dense_ones(condition, plain_answers):
    sparse, dense = (plain_answers((form,) * 3, condition) for form in ("csr", "C array"))
    for question in ("predict", "label_predictability"):
        assert sparse[question] == dense[question]
    for name in ("labels_", "samples_", "views_used_"):
        assert sparse["fit"]["result"][name] == dense["fit"]["result"][name]


@pytest.mark.parametrize("form", sorted(NAMED))
def test_columns_and_samples_in_another_order_are_refused(form, tmp_path):
    (X, *_), y = data(), np.arange(N) % 3
    names, ids = list("vwxyz"), pd.Index([f"s{i}" for i in range(N)])
    first = pd.DataFrame(X[:N], ids, names)
    model = fitted_consensus([first, FORMS[form](X[:N], names, ids, tmp_path)])
    about_model = model.predict, partial(explain, model), partial(explanation.markers, model)
    turned = FORMS[form](X[:N], names[::-1], ids, tmp_path)
    for ask in about_model:
        with pytest.raises(ValueError, match="columns of view 1 are not .*in another order"):
            ask([first, turned])
    turned = FORMS[form](X[:N], names, ids[::-1], tmp_path)
    others = model.fit, suggest_n_clusters, partial(label_predictability, labels=y)
    for ask in (*about_model, *others) if form in WITH_IDS else ():
        with pytest.raises(ValueError, match=r"view 1 and view 0 .*ids \(in another order"):
            ask([first, turned])
