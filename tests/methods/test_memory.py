"""Fits that do not fit into memory are refused before any work, and estimates bound the peak."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from mvsc_fast import ConsensusTLRR, datasets, methods
from mvsc_fast._utils import validation
from mvsc_fast.methods._consensus import fit_bytes

ESTIMATORS = [estimator(3, random_state=0) for estimator in methods.ESTIMATORS.values()]


@pytest.fixture(scope="module")
def views():
    return datasets.make_multiview_subspaces(60, 3, random_state=0)[0]


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(validation, "available_memory", lambda: 2**20)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_what_does_not_fit_is_refused_before_any_work(estimator, views, little_memory):
    stages = []
    model = clone(estimator).set_params(callback=lambda state: stages.append(state.stage))
    name = type(estimator).__name__
    with pytest.raises(MemoryError, match=f"{name} with 60 samples needs about .* 1 MiB is") as e:
        model.fit(views)
    assert stages == []
    assert ("ConsensusTLRR clusters a subsample" in str(e.value)) == (name != "ConsensusTLRR")


def test_sparse_similarities_are_not_counted_as_dense_ones(little_memory):
    n = 3000
    W = [scipy.sparse.eye_array(n, format="csr") + scipy.sparse.eye_array(n, k=1, format="csr")]
    with pytest.raises(MemoryError, match="TRPCA with 3000 samples"):
        methods.TRPCA(3, affinity="precomputed").fit(np.zeros((1, n, n)))
    methods.TLRR(3, affinity="precomputed")._check_memory([(A + A.T) / 2 for A in W])


def test_a_sample_costs_what_it_is_and_not_what_it_is_from():
    few, many = (fit_bytes(10**6, m, [50] * 3, 3) for m in (5000, 50_000))
    assert few < many and few < 200 * 2**20 + 8 * 5 * 10**6


@pytest.mark.parametrize(("n", "d"), [(4000, 40), (700, 1000)])
def test_estimates_bound_the_peak(n, d):
    views, _ = datasets.make_multiview_subspaces(n, 5, n_features=(d, d), random_state=0)
    tracemalloc.start()
    try:
        ConsensusTLRR(5, random_state=0, n_threads=1).fit(views)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 0.2 < peak / fit_bytes(n, n, [d] * 2, 5) < 1


def test_a_limit_is_kept_to(views):
    with pytest.raises(
        MemoryError, match=r"memory_limit=1 MiB is too small: clustering 60 samples needs"
    ):
        ConsensusTLRR(3, memory_limit="1MiB").fit(views)
