"""What a fit tells while it runs: its stages on standard error and to the callback."""

import io
import re
import sys
import time

import numpy as np
import pytest
import scipy.sparse
from conftest import published_tlrr, random_similarities
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline

from mvsc_fast import TLRR, ConsensusTLRR, methods
from mvsc_fast.methods import TRPCA

ESTIMATORS = [
    estimator(3, random_state=0)
    for name, estimator in methods.ESTIMATORS.items()
    if name != "awp"  # which is fast, and reports nothing
]


@pytest.fixture
def views(subspaces):
    return subspaces[0]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_every_estimator_reports_its_stages_and_learns_the_same(estimator, views, capsys):
    seen, start = [], time.perf_counter()
    model = clone(estimator).set_params(callback=seen.append, verbose=1).fit(views)
    name = type(estimator).__name__
    told = re.findall(rf"^\[{name}\] (\w+) \(\d+\.\d s\)$", capsys.readouterr().err, re.M)
    assert told == [state.stage for state in seen if state.iteration == 0]
    if name != "ConsensusTLRR":  # which has other stages
        assert told == ["graph", "solve", "cut", "support"]
    seconds = [0, *(state.seconds for state in seen), time.perf_counter() - start]
    assert np.all(np.diff(seconds) >= 0)
    assert len(seen) > len(told) and all(s.iteration <= s.total for s in seen if s.iteration)
    np.testing.assert_array_equal(model.labels_, clone(estimator).fit(views).labels_)


@pytest.mark.parametrize("stage", ["labellings", "consensus", "refinement", "prediction"])
def test_an_interrupt_leaves_the_estimator_as_it_was(views, stage):
    def interrupt(state):
        if state.stage == stage:
            raise KeyboardInterrupt

    model = ConsensusTLRR(3, max_samples=40, random_state=0, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(views)
    with pytest.raises(NotFittedError):
        model.predict(views)
    model.set_params(callback=None).fit(views)
    labels = model.predict(views)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(callback=interrupt).fit([X[::-1][:50] for X in views])
    np.testing.assert_array_equal(model.predict(views), labels)
    assert len(model.labels_) == 60


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("installed", [True, False])
def test_a_bar_where_tqdm_is_installed(monkeypatch, installed, views):
    if installed:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    TRPCA(3, random_state=0, verbose=1).fit(views)
    text = screen.getvalue()
    assert "[TRPCA] cut (" in text and ("%|" in text) == installed


@pytest.mark.parametrize(("solver", "sparse"), [("dual", False), ("dual", True), ("ialm", False)])
def test_a_tensor_of_zeros_is_said_with_a_lam_that_keeps_some(solver, sparse):
    W = random_similarities(3, 20) / 100
    given = [scipy.sparse.csr_array(A) for A in W] if sparse else W
    with pytest.warns(UserWarning, match="zero: lam=1") as told:
        result = published_tlrr(given, lam=1.0, solver=solver)
    assert told[0].filename == __file__  # the user's line
    assert not np.any([abs(A).max() for A in result.tensor])
    longest = np.sqrt((W**2).sum(axis=0)).max()
    assert f"longest tube of W is {longest:.3g}" in str(told[0].message)
    lam = float(re.search(r"lam above ([\d.]+)", str(told[0].message)).group(1))
    assert max(abs(A).max() for A in published_tlrr(given, lam=1.001 * lam, tol=1e-6).tensor) > 0


def test_zeros_give_zeros_without_a_word():
    for W in (np.zeros((2, 8, 8)), [scipy.sparse.csr_array((8, 8))] * 2):
        result = published_tlrr(W)
        assert result.converged and result.gap == 0
        assert not any(abs(A).max() for A in result.tensor)


@pytest.mark.parametrize("cluster", [TLRR, ConsensusTLRR])
@pytest.mark.parametrize("call", ["fit", "fit_predict", "pipeline"])
def test_warnings_are_about_the_users_line(views, cluster, call):
    model, same = cluster(4, random_state=0), [X[np.arange(80) % 3] for X in views]
    with pytest.warns(ConvergenceWarning, match="3 distinct") as told:
        if call == "pipeline":
            make_pipeline("passthrough", model).fit(same)
        else:
            getattr(model, call)(same)
    assert {one.filename for one in told} == {__file__}


def test_a_bar_is_removed_when_a_fit_fails(monkeypatch, views):
    pytest.importorskip("tqdm")
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)

    def fail(state):
        if state.iteration == 2:
            raise RuntimeError

    with pytest.raises(RuntimeError) as failure:  # its frames hold the bar
        TRPCA(3, verbose=1, callback=fail).fit(views)
    assert failure.tb is not None and "%|" in screen.getvalue()
    assert screen.getvalue().endswith(" \r")


def test_a_process_without_a_console_is_silent(views, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert TLRR(3, verbose=1, max_iter=1, tol=10.0, random_state=0).fit(views).n_iter_ == 1
