"""One process, many fits: in threads, in callbacks, in children and while a model is read."""

import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from conftest import FULL, thread_settings
from processes import run_python
from sklearn.base import clone

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.methods import ESTIMATORS

VIEWS, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)


@pytest.mark.filterwarnings("ignore:.* did not converge", "ignore:.* have no neighbour")
def test_fits_of_all_methods_in_threads_beside_callbacks_that_raise(threads_at_any_size):
    before = thread_settings()

    def fail(state):
        if state.iteration == 1:
            raise RuntimeError("enough")

    def labels(method, callback=None):
        model = ESTIMATORS[method](3, random_state=0)
        few = {"max_iter": 30, "n_init": 3, "n_threads": 2, "callback": callback}
        model.set_params(**{key: few[key] for key in few if key in model.get_params()})
        try:
            return model.fit_predict(VIEWS)
        except RuntimeError as error:
            assert str(error) == "enough" and not hasattr(model, "labels_")

    expected = {method: labels(method) for method in ESTIMATORS}
    calls = [(method, callback) for method in ESTIMATORS for callback in (None, fail, None)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda call: labels(*call), calls))
    for (method, callback), ours in zip(calls, found, strict=True):
        if callback is None:
            np.testing.assert_array_equal(ours, expected[method], err_msg=method)
    assert sum(ours is None for ours in found) > len(ESTIMATORS) / 2
    assert thread_settings() == before


def test_one_model_predicts_in_eight_threads():
    model = ConsensusTLRR(3, random_state=0).fit([X[:40] for X in VIEWS])
    expected = model.predict(VIEWS)
    with ThreadPoolExecutor(8) as pool:
        for labels in pool.map(lambda _: model.predict(VIEWS), range(24)):
            np.testing.assert_array_equal(labels, expected)
        rows = pool.map(lambda i: model.predict([X[i : i + 1] for X in VIEWS])[0], range(60))
        assert list(rows) == expected.tolist()


def test_one_model_is_fitted_copied_and_read_in_threads():
    """What is copied is one of the two states, never something between them."""
    parts = [X[:40] for X in VIEWS], VIEWS
    fits = [ConsensusTLRR(3, random_state=0).fit(part) for part in parts]
    states = {(fit.labels_.tobytes(), fit.samples_.tobytes()) for fit in fits}
    model, copies, done = clone(fits[0]).fit(parts[0]), set(), threading.Event()

    def read():
        while not done.is_set():
            copied = pickle.loads(pickle.dumps(model))
            copies.add((copied.labels_.tobytes(), copied.samples_.tobytes()))
            assert len(copied.predict(VIEWS)) == 60 and "n_clusters" in repr(model)

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for fit in [pool.submit(model.fit, parts[k % 2]) for k in range(12)]:
            fit.result()
        done.set()
        for reader in readers:
            reader.result()
    assert copies and copies <= states


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_children_of_a_process_that_fits_fit_too():
    """Also while another thread is in a fit; the limits of that thread are not theirs."""
    out = run_python("""
        import os, threading, warnings
        import numpy as np
        import threadpoolctl
        from mvsc_fast import ConsensusTLRR, datasets
        from mvsc_fast._utils import threads
        warnings.simplefilter("ignore")  # of fork
        views, _ = datasets.make_multiview_subspaces(230, 3, random_state=0)

        def labels():
            return ConsensusTLRR(3, random_state=0, n_threads=2).fit_predict(views)

        def settings():
            return [x["num_threads"] for x in threadpoolctl.threadpool_info()]

        def fit_on():
            with threads.use_threads(2, 1000):
                entered.set()
                while not done.is_set():
                    labels()

        expected, before = labels(), settings()
        entered, done = threading.Event(), threading.Event()
        thread = threading.Thread(target=fit_on)
        for beside in range(2):
            if beside:
                thread.start()
                entered.wait()
            for _ in range(2):
                with threads.limit_threads():
                    child = os.fork()
                if child == 0:
                    right = np.array_equal(labels(), expected) and settings() == before
                    os._exit(0 if right else 1)
                assert os.waitpid(child, 0)[1] == 0
        done.set()
        thread.join()
        assert settings() == before
        print("right")
    """)
    assert out.split() == ["right"]


# Signals at random moments: threads are restored.

AIMED = """
import random, signal, sys, threading, time
import threadpoolctl
from mvsc_fast._utils import threads
from mvsc_fast._utils._threads import Limit, fits_elsewhere

def interrupt(number, frame):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
libraries = threadpoolctl.ThreadpoolController().lib_controllers

def settings():
    return [library.get_num_threads() for library in libraries]

def bare():
    with Limit(1, openmp=1, n_threads=1):
        pass

def fit():
    with threads.use_threads(1, 500):
        pass

def nested():
    with threads.use_threads(1, 500), threads.blas_threads(1):
        with threads.limit_threads():
            pass
        with threads.blas_threads(1):
            pass

def in_background():
    while not done.is_set():
        nested()

def fits_seen_by_another_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(fits_elsewhere()))
    thread.start()
    thread.join()
    return found

random.seed(0)
before, wrong, interrupts = settings(), 0, 0
assert max(before) > 1
for k in range(TIMES):
    body = (bare, fit, nested)[k % 3]
    done = threading.Event()
    others = [threading.Thread(target=in_background) for _ in range(2 if k % 5 == 4 else 0)]
    for other in others:
        other.start()
    try:
        # Python drops what a handler raises while C calls Python: then another interrupt comes.
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 1e-4), 2)
        while True:
            body()
    except KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, 0)
        interrupts += 1
    done.set()
    for other in others:
        other.join()
    wrong += settings() != before or fits_seen_by_another_thread() != [0]
print(interrupts, wrong)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.skipif(joblib.cpu_count() == 1, reason="all settings are 1 anyway")
def test_an_interrupt_never_leaves_a_limit_in_place():
    """Random microseconds while limits begin and end: alone, nested and next to other threads'."""
    times = 20000 if FULL else 400
    interrupts, wrong = run_python(AIMED.replace("TIMES", str(times)), timeout=3600).split()
    assert int(interrupts) == times
    assert int(wrong) == 0
