"""Fits that do not fit into memory are refused before any work, and estimates bound the peak."""

import re
import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone

from mvsc_fast import ConsensusTLRR, datasets, methods
from mvsc_fast.similarity import rbf

AVAILABLE = "mvsc_fast._utils.validation.available_memory"
ESTIMATORS = [
    estimator(3, random_state=0)
    for name, estimator in methods.ESTIMATORS.items()
    if name not in ("awp", "consensus-tlrr")  # whose memory is linear in the samples
]


@pytest.fixture
def views(subspaces):
    return subspaces[0]


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(AVAILABLE, lambda: 2**20)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_what_does_not_fit_is_refused_before_any_work(estimator, views, little_memory):
    stages = []
    model = clone(estimator).set_params(callback=lambda state: stages.append(state.stage))
    name = type(estimator).__name__
    with pytest.raises(MemoryError, match=f"{name} .*60 .* 1 MiB.*ConsensusTLRR clusters a sub"):
        model.fit(views)
    assert stages == []


def test_similarities_with_one_slice_need_the_memory_of_one(views, little_memory):
    needs = []
    for affinity, X in (("rbf", views), ("precomputed", rbf(views))):
        with pytest.raises(MemoryError) as refused:
            methods.TLRR(3, affinity=affinity).fit(X)
        needs.append(str(refused.value))
    assert needs[0] == needs[1]


def peak(function, *arguments):
    """Bytes of all arrays that a call has at a time; those of memory maps do not count."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore:LTMSC did not converge")
@pytest.mark.slow
def test_estimates_bound_the_peak_with_a_quarter_to_spare(monkeypatch):
    """Views, workspaces of LAPACK and fragments, which are not counted, need that much."""
    views, _ = datasets.make_multiview_subspaces(400, 5, n_features=(100, 150), random_state=0)
    model = methods.LTMSC(3, max_iter=3, random_state=0)
    with monkeypatch.context() as patch:
        patch.setattr(AVAILABLE, lambda: 0)
        with pytest.raises(MemoryError) as refused:
            model.fit(views)
    size, unit = re.search(r"about ([\d.e+]+) ([MG])iB", str(refused.value)).groups()
    estimate = float(size) * 2 ** {"M": 20, "G": 30}[unit]
    assert 0.3 < peak(model.fit, views) / estimate < 0.75


PLANS = [  # clusters, max_samples, samples that are clustered of 100 000
    (5, "auto", 4000),
    (5, 100, 100),
    (5, 5, 5),
    (50, "auto", 15_000),  # 300 of each of many clusters
    (80, "auto", 20_000),
    (600, "auto", 24_000),  # 40 of each, if that is more than 20 000
]


@pytest.mark.parametrize(("c", "max_samples", "n_clustered"), PLANS)
def test_the_number_of_clustered_samples(c, max_samples, n_clustered, capsys):
    def interrupt(state):
        raise KeyboardInterrupt

    view = np.random.default_rng(0).uniform(size=(10**5, 4))
    model = ConsensusTLRR(c, max_samples=max_samples, verbose=1, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(view)
    assert f"{n_clustered} samples" in capsys.readouterr().err
