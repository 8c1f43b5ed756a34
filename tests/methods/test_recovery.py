"""TRPCA and SNN against their twins, and the chaining of methods."""

import numpy as np
import pytest
import scipy.sparse
from conftest import random_similarities, recovered
from reference import recovery as twin

from mvsc_fast import TLRR, datasets
from mvsc_fast.methods import ESTIMATORS, ETLMSC, LMSC, LTMSC, SNN, TRPCA


@pytest.mark.parametrize(("v", "n"), [(1, 9), (2, 12), (3, 30), (4, 10), (5, 7), (3, 2)])
@pytest.mark.parametrize("lam", [0.02, 0.1, 0.4])
def test_trpca_equals_its_twin(v, n, lam):
    W = random_similarities(v, n)
    result = recovered(TRPCA, W, lam=lam)
    L, _, n_iter = twin.trpca(W, lam)
    assert result.n_iter_ == n_iter and result.converged_
    np.testing.assert_allclose(result.tensor_, (L + L.transpose(0, 2, 1)) / 2, atol=1e-8)


def test_trpca_with_other_bases_of_the_views():
    W = random_similarities(3, 20)
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    for transform, matrix in (("identity", np.eye(3)), (np.eye(3), np.eye(3)), (basis, basis)):
        L, _, n_iter = twin.trpca(W, 0.1, matrix)
        result = recovered(TRPCA, W, lam=0.1, view_transform=transform)
        assert result.n_iter_ == n_iter
        np.testing.assert_allclose(result.tensor_, (L + L.transpose(0, 2, 1)) / 2, atol=1e-8)


@pytest.mark.parametrize(("v", "n"), [(1, 9), (2, 33), (3, 40), (4, 10), (3, 2)])
@pytest.mark.parametrize("weights", [(0.5, 0.5), (2.0, 0.3), (1.0, 8.0), (3.0, 0.0)], ids=str)
def test_snn_equals_its_twin(v, n, weights):
    W = random_similarities(v, n)
    result = recovered(SNN, W, weights=weights)
    L, _, n_iter = twin.snn(W, (weights[0], *weights))
    assert result.n_iter_ == n_iter and result.converged_
    np.testing.assert_allclose(result.tensor_, (L + L.transpose(0, 2, 1)) / 2, atol=1e-8)


LEARNERS = [
    estimator
    for name, estimator in ESTIMATORS.items()
    if name not in ("tlrr", "awp", "consensus-tlrr")
]


@pytest.mark.parametrize(
    ("recovery", "graph"),
    [*((TLRR, learner) for learner in LEARNERS), (TRPCA, LTMSC), (SNN, ETLMSC)],
)
def test_any_tensor_into_any_recovery(recovery, graph):
    views, _ = datasets.make_multiview_subspaces(36, 3, n_features=(9, 12), random_state=0)
    graph = graph(3, random_state=0)
    model = recovery(3, affinity=graph, random_state=0).fit(views)
    assert len(np.unique(model.labels_)) == 3
    assert not hasattr(graph, "tensor_")  # a clone is fitted
    np.testing.assert_allclose(model.similarity_, graph.fit(views).tensor_, atol=1e-10)


def test_graph_estimator_inherits_seed_and_threads(subspaces, monkeypatch):
    views, _ = subspaces
    n_threads, fit = [], ETLMSC.fit
    monkeypatch.setattr(
        ETLMSC, "fit", lambda self, X, y=None: n_threads.append(self.n_threads) or fit(self, X)
    )
    TRPCA(3, affinity=ETLMSC(3), random_state=0, n_threads=1).fit(views)
    assert n_threads == [1]
    graph = LMSC(3)  # from a random start, and with one thread
    first, second, other = (
        TRPCA(3, affinity=graph, random_state=seed).fit(views) for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(first.similarity_, second.similarity_)
    assert (other.similarity_ != first.similarity_).any() and graph.random_state is None


@pytest.mark.parametrize("recovery", [TLRR, TRPCA])
def test_one_precomputed_matrix_is_one_slice(recovery):
    W = random_similarities(1, 30)
    model = recovery(3, affinity="precomputed", random_state=0)
    expected = model.fit(W).tensor_
    assert isinstance(expected, np.ndarray) and expected.shape == (1, 30, 30)
    forms = [W[0], [W[0]], W[0].tolist(), {"a": W[0]}, iter(W), [np.asfortranarray(W[0])]]
    forms += [scipy.sparse.csr_array(W[0])] if recovery is TRPCA else []  # which makes it dense
    for view in forms:
        np.testing.assert_array_equal(model.fit(view).tensor_, expected)
    two = TRPCA(2, affinity="precomputed").fit(np.ones((2, 2, 2)))
    assert sorted(two.labels_) == [0, 1]
    with pytest.raises(ValueError, match="1 sample"):
        model.fit([[[1.0]]])
