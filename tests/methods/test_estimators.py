"""scikit-learn's own checks of every estimator; none is expected to fail."""

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from mvsc_fast import methods

ESTIMATORS = [estimator(n_clusters=3) for estimator in methods.ESTIMATORS.values()]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_survive_cloning(estimator):
    assert clone(estimator).get_params() == estimator.get_params()
