"""Accuracies that papers or the documentation report, on data in file order."""

import numpy as np
import pytest
from conftest import FULL, fitted, recovered

from mvsc_fast.methods import ETLMSC, SNN, TSVDMSC
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.solvers import tlrr
from mvsc_fast.spectral import fuse, spectral_labels

pytestmark = pytest.mark.skipif(not FULL, reason="slow reproductions: MVSC_STRESS=full")


@pytest.fixture(scope="module")
def yaleb(load_shared):
    return load_shared("yaleb10")


def learned(model, views):
    """The tensor of a model; the published transform warns of the order of the samples."""
    return fitted(model, views).tensor_


def mean_scores(S, y, repetitions=1):
    labellings = [spectral_labels(S, 10, random_state=seed)[0] for seed in range(repetitions)]
    scores = [clustering_scores(y, labels) for labels in labellings]
    return {name: np.mean([score[name] for score in scores]) for name in scores[0]}


@pytest.mark.parametrize(("lam", "low", "high"), [(0.05, 0.66, 0.68), (0.5, 0.59, 0.61)])
def test_tsvd_msc(yaleb, lam, low, high):
    views, y = yaleb
    S = fuse(learned(TSVDMSC(10, lam=lam, sample_transform="dft"), views), keep_diagonal=True)
    assert low <= mean_scores(S, y, 5)["acc"] <= high


def test_tsvd_msc_chained_into_tlrr(yaleb):
    views, y = yaleb
    W = learned(TSVDMSC(10, lam=0.5, sample_transform="dft"), views)
    L = tlrr(W, omega1=0.4, alpha=9, lam=15, solver="ialm").tensor
    scores = mean_scores(fuse(L), y, 10)
    assert scores["acc"] >= 0.95 and scores["nmi"] >= 0.905 and scores["ari"] >= 0.89


def test_tsvd_msc_chained_into_snn(yaleb):
    views, y = yaleb
    W = learned(TSVDMSC(10, lam=0.05, sample_transform="dft"), views)
    S = fuse(recovered(SNN, W, max_iter=150).tensor_)  # labels do not change long before the 197th
    assert 0.64 <= mean_scores(S, y, 5)["acc"] <= 0.70


def test_etlmsc(load_shared):
    views, y = load_shared("uci_digit")
    tensor = learned(ETLMSC(10, lam=0.0055, sample_transform="dft", axis=1), views)
    scores = mean_scores(fuse(tensor, keep_diagonal=True), y)
    assert scores["acc"] >= 0.94 and scores["nmi"] >= 0.96
