"""scikit-learn's own checks of every estimator, early checks of parameters, documentation."""

import inspect
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import mvsc_fast
from mvsc_fast import datasets, methods
from mvsc_fast.solvers import tlrr

CLASSES = list(methods.ESTIMATORS.values())
ESTIMATORS = [estimator(n_clusters=3) for estimator in CLASSES]


def quick(estimator):
    """The estimator with less work, as its accuracy does not matter."""
    easy = {"n_init": 2, "tol": 1e-3, "n_components": 10}
    known = estimator.get_params(deep=False)
    return clone(estimator).set_params(**{key: easy[key] for key in easy if key in known})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:fewer than 4 features")
@pytest.mark.filterwarnings("ignore:view 0. all samples are equal")
@pytest.mark.filterwarnings("ignore:only zeros in all views")
@pytest.mark.filterwarnings("ignore:rows that are all zero")
@pytest.mark.filterwarnings("ignore:the labels agree little")
@parametrize_with_checks([*map(quick, ESTIMATORS)])
@pytest.mark.slow
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def defaults_of(function):
    parameters = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


@pytest.mark.parametrize("estimator", CLASSES)
def test_defaults_are_those_of_the_function_and_of_all_methods(estimator):
    common = {"n_clusters": 8, "n_init": 20, "random_state": None, "n_threads": None, "verbose": 0}
    if estimator is methods.TLRR:
        common = defaults_of(tlrr) | common
    for name, default in defaults_of(estimator).items():
        assert default == common.get(name, default), name


def test_a_model_saved_by_another_version_warns():
    model = methods.TLRR(3, random_state=0).fit(datasets.make_multiview_subspaces(30, 3)[0])
    saved = pickle.dumps(model)
    np.testing.assert_array_equal(pickle.loads(saved).labels_, model.labels_)
    version = mvsc_fast.__version__
    other = "9" * len(version)
    with pytest.warns(UserWarning, match=f"mvsc_fast {other}.*{version}"):
        again = pickle.loads(saved.replace(version.encode(), other.encode()))
    assert vars(again).keys() == vars(model).keys()


def test_results_are_shown_by_shapes_and_figures():
    views, _ = datasets.make_multiview_subspaces(30, 3, random_state=0)
    result = tlrr(mvsc_fast.similarity.nearest_neighbors(views), max_iter=3)
    text = repr(result)
    assert text.startswith(f"{type(result).__name__}(") and f"n_iter={result.n_iter}" in text
    assert re.search(r"<float64 \(\d+, 30, \d+\)>", text)
    assert "array" not in text and len(text) < 250
    W = mvsc_fast.similarity.self_representation(views, sparse=True)
    assert f"<{len(W)} x csr_" in repr(tlrr(W, max_iter=3))
