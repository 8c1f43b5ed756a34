"""Signals at random moments: threads are restored."""

import sys

import joblib
import pytest
from conftest import FULL
from processes import run_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals differ")


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


@pytest.mark.skipif(joblib.cpu_count() == 1, reason="all settings are 1 anyway")
def test_an_interrupt_never_leaves_a_limit_in_place():
    """Random microseconds while limits begin and end: alone, nested and next to other threads'."""
    times = 20000 if FULL else 400
    interrupts, wrong = run_python(AIMED.replace("TIMES", str(times)), timeout=3600).split()
    assert int(interrupts) == times
    assert int(wrong) == 0
