"""What fits are said to need, and that those that need too much are refused before any work."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from mvsc_fast import TLRR, TRPCA, TSVDMSC, ConsensusTLRR, datasets, methods
from mvsc_fast.methods import _base, _cost
from mvsc_fast.methods._cost import Cost

ESTIMATORS = [estimator(3, random_state=0) for estimator in methods.ESTIMATORS.values()]


@pytest.fixture(scope="module")
def views():
    return datasets.make_multiview_subspaces(60, 3, random_state=0)[0]


@pytest.fixture
def little_memory(monkeypatch):
    for module in (_base, _cost):
        monkeypatch.setattr(module, "available_memory", lambda: 2**20)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_what_does_not_fit_is_refused_before_any_work(estimator, views, little_memory):
    stages = []
    model = clone(estimator).set_params(callback=lambda state: stages.append(state.stage))
    name = type(estimator).__name__
    with pytest.raises(MemoryError, match=f"{name} with 60 samples needs about .* 1 MiB are") as e:
        model.fit(views)
    assert stages == []
    assert "max_samples" in str(e.value)


def test_the_message_names_what_would_fit(views, little_memory):
    with pytest.raises(MemoryError, match=r"about (\d+) samples would fit; ConsensusTLRR"):
        TSVDMSC(3).fit(views)
    with pytest.raises(MemoryError, match='size="sample" fits max_samples'):
        TLRR(3, size="dense").fit(views)
    with pytest.raises(MemoryError, match="a smaller max_samples"):
        ConsensusTLRR(3).fit(views)


class Shape:
    """A view of which only the size is looked at."""

    dtype = np.dtype(np.float64)

    def __init__(self, *shape):
        self.shape = shape


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_costs_grow_with_the_samples(estimator):
    small, large = (estimator._cost([Shape(n, 50)] * 3) for n in (1000, 8000))
    assert large.memory > small.memory
    assert all(b >= a for a, b in zip(small, large, strict=True))
    assert large.seconds > small.seconds > 0


def test_a_sample_costs_what_it_is_and_not_what_it_is_from():
    views = [Shape(10**6, 50)] * 3
    for estimator in (TLRR(3), ConsensusTLRR(3)):
        sample = estimator.set_params(max_samples=5000)._cost(views)
        assert sample.memory < estimator.set_params(max_samples=50_000)._cost(views).memory
    assert TLRR(3, size="dense")._cost(views).memory > 1e13


def test_a_graph_that_is_a_method_costs_what_that_costs():
    views = [Shape(1000, 50)] * 3
    plain, tsvd = (TRPCA(3, graph=graph)._cost(views) for graph in ("knn", "tsvd"))
    assert tsvd.products > plain.products and tsvd.memory >= plain.memory


@pytest.mark.parametrize("sparse", [False, True])
def test_given_similarities_have_no_features(sparse):
    n = 3000
    W = [scipy.sparse.eye_array(n, format="csr")] * 2 if sparse else np.zeros((2, n, n))
    assert TRPCA(3, graph="precomputed")._cost(np.zeros((2, n, n))).memory < 28 * 8 * n * n
    cost = TLRR(3, graph="precomputed", size="sparse")._cost(W)
    assert cost.memory < (100 * 2**20 if sparse else 5 * 8 * n * n)


def test_more_than_an_hour_is_a_warning(monkeypatch):
    monkeypatch.setattr(_cost, "speeds", lambda: (1e9, 1e10, 1e9))
    hours = Cost(memory=0, products=2 * 3600 * 1e10)
    assert hours.seconds == 7200
    with pytest.warns(UserWarning, match="SNN with 9 samples will take about 2 h: buy a computer"):
        hours.check("SNN with 9 samples", "buy a computer")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Cost(memory=0, products=1800 * 1e10).check("SNN", "")
    with pytest.raises(MemoryError, match=r"GiB and 2 h, .* are available: buy"):
        hours._replace(memory=2.0**80).check("SNN", "buy")


def test_verbose_tells_the_estimate(views, capsys):
    TSVDMSC(3, verbose=1, random_state=0).fit(views)
    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith("[TSVDMSC] 60 samples, about ") and "MiB at most and" in first


def test_speeds_are_measured_once():
    assert _cost.speeds() is _cost.speeds() and min(_cost.speeds()) > 1e6
