"""Random fits, predictions, interrupts and failures side by side in one process, for an hour.

Usage: python bench/soak.py [--minutes 60] [--seed 0] [--callers 2]

Python threads fit all methods, predict, pickle and fail, while the main thread fits and is
interrupted. Equal calls must have equal labels, whatever runs beside them. After every minute all
stop: the threads of BLAS and OpenMP must be what they were, and memory what it was. Memory is what
the C library has given out; what it keeps for itself in the arenas of its threads is in "resident".
Prints a line per minute; exits with 1 if anything was wrong.
"""

import argparse
import collections
import ctypes
import faulthandler
import gc
import pickle
import random
import resource
import signal
import sys
import threading
import time
import traceback
import warnings

import numpy as np
import scipy.sparse
import threadpoolctl
from sklearn.base import clone

from mvsc_fast import ConsensusTLRR, datasets, methods

FLAT = 1.05  # memory of the last quarter of the time, as a multiple of that of the second
SIZES = 60, 130, 230  # below and above the size from which fits have threads
FEW = {"max_iter": 12, "tol": 1e3, "n_init": 3}


def views_of(n_samples):
    return datasets.make_multiview_subspaces(n_samples, 3, random_state=n_samples)[0]


class Soak:
    def __init__(self, seed):
        self.seed = seed
        self.views = {n: views_of(n) for n in SIZES}
        self.new = views_of(400)
        self.fitted = ConsensusTLRR(3, random_state=0).fit(self.views[SIZES[-1]])
        self.expected = {}  # labels of the first of equal calls
        self.counts = collections.Counter()
        self.wrong = collections.Counter()
        self.struck = []  # where the last interrupt did
        self.calls = [self.fit] * 4 + [
            self.predict,
            self.copy,
            self.fail,
            self.refuse,
            self.refit_in_a_callback,
            self.fit_in_a_callback,
        ]

    def compare(self, what, labels):
        if not np.array_equal(self.expected.setdefault(what, labels), labels):
            self.wrong[f"labels of {what}"] += 1

    def model(self, rng, **parameters):
        name, n = rng.choice([*methods.ESTIMATORS]), rng.choice(SIZES)
        model = methods.ESTIMATORS[name](
            3, random_state=0, n_threads=rng.choice([None, 1, 2, 3]), **parameters
        )
        known = model.get_params()
        model.set_params(**{key: value for key, value in FEW.items() if key in known})
        return (name, n), model

    # ------------------------------------------------------------------ calls

    def fit(self, rng):
        what, model = self.model(rng)
        self.compare(what, model.fit_predict(self.views[what[1]]))

    def predict(self, rng):
        """By one model in all threads, which saves its labels for the same rows."""
        first = rng.randrange(300)
        rows = slice(first, first + rng.choice([1, 7, 90]))
        self.compare(
            ("predict", rows.start, rows.stop), self.fitted.predict([X[rows] for X in self.new])
        )

    def copy(self, rng):
        copied = pickle.loads(pickle.dumps(rng.choice([self.fitted, clone(self.fitted)])))
        if hasattr(copied, "labels_"):
            self.compare(("predict", 0, 7), copied.predict([X[:7] for X in self.new]))

    def fail(self, rng):
        """A callback raises, and the same model is fitted again."""
        after = rng.randrange(1, 8)

        def callback(state):
            nonlocal after
            after -= 1
            if after == 0:
                raise RuntimeError("enough")

        what, model = self.model(rng, callback=callback)
        try:
            model.fit(self.views[what[1]])
        except RuntimeError:
            if hasattr(model, "labels_"):
                self.wrong[f"{what} learned from a fit that failed"] += 1
        model.set_params(callback=None)
        self.compare(what, model.fit_predict(self.views[what[1]]))

    def refuse(self, rng):
        what, model = self.model(rng)
        first, second = (X.copy() for X in self.views[what[1]][:2])
        kind = rng.randrange(3)
        if kind == 0:
            second[rng.randrange(len(second)), 0] = np.inf
        elif kind == 1:
            second = second[1:]
        else:
            second = scipy.sparse.csr_array(second)
            second.indices[5] = rng.choice([10**6, -3])
        try:
            model.fit([first, second])
        except ValueError:
            return
        self.wrong[f"{what} accepts invalid views"] += 1

    def refit_in_a_callback(self, rng):
        def callback(state):
            try:
                model.fit(self.views[SIZES[0]])
            except RuntimeError:
                return
            self.wrong["a fit inside its own callback"] += 1

        what, model = self.model(rng, callback=callback)
        self.compare(what, model.fit_predict(self.views[what[1]]))

    def fit_in_a_callback(self, rng):
        def callback(state):
            if state.iteration == 1:
                self.fit(rng)

        what, model = self.model(rng, callback=callback)
        self.compare(what, model.fit_predict(self.views[what[1]]))

    # ------------------------------------------------------------------ rounds

    def one_of_many(self, rng):
        call = rng.choice(self.calls)
        try:
            call(rng)
        except Exception:
            traceback.print_exc()
            self.wrong[f"{call.__name__} failed"] += 1
        self.counts[call.__name__] += 1

    def work(self, rng, until):
        while time.monotonic() < until:
            self.one_of_many(rng)

    def be_interrupted(self, rng, until):
        while time.monotonic() < until:
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-4, 1.0))
                while not self.struck:
                    self.one_of_many(rng)
                self.wrong[f"an interrupt had no effect at {self.struck.pop()}"] += 1
            except KeyboardInterrupt:
                self.counts["interrupts"] += 1
                self.struck.clear()

    def interrupt(self, number, frame):
        self.struck.append("".join(traceback.format_stack(frame)[-8:]))
        raise KeyboardInterrupt

    def round(self, number, callers, seconds):
        until = time.monotonic() + seconds
        seeds = [f"{self.seed} {number} {k}" for k in range(callers + 1)]
        threads = [
            threading.Thread(target=self.work, args=(random.Random(seed), until))
            for seed in seeds[1:]
        ]
        for thread in threads:
            thread.start()
        self.be_interrupted(random.Random(seeds[0]), until)
        for thread in threads:
            thread.join()


def settings():
    return [library["num_threads"] for library in threadpoolctl.threadpool_info()]


def resident():
    """Memory of the process in MiB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


class Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks "
        "keepcost".split()
    ]


def allocated():
    """MiB that glibc's malloc has given out, in all arenas and by mmap."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo
    found = mallinfo()
    return (found.uordblks + found.hblkhd) / 2**20


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--callers", type=int, default=2, help="threads besides the main one")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    faulthandler.register(signal.SIGUSR1)
    soak, memory = Soak(options.seed), []
    signal.signal(signal.SIGALRM, soak.interrupt)
    before = settings()
    print("minute  calls  interrupts  wrong  MiB  resident", flush=True)
    for number in range(1, options.minutes + 1):
        soak.round(number, options.callers, 60)
        if settings() != before:
            soak.wrong[f"threads {settings()}, before {before}"] += 1
        gc.collect()
        memory.append(allocated())
        interrupts = soak.counts["interrupts"]
        calls, wrong = soak.counts.total() - interrupts, soak.wrong.total()
        line = f"{number:6} {calls:6} {interrupts:11} {wrong:6} {memory[-1]:4.0f} {resident():9.0f}"
        print(line, flush=True)
    quarter = len(memory) // 4
    if quarter and np.mean(memory[-quarter:]) > FLAT * np.mean(memory[quarter : 2 * quarter]):
        soak.wrong["memory grows"] += 1
    print(", ".join(f"{count} {name}" for name, count in sorted(soak.counts.items())))
    print("; ".join(soak.wrong) or "nothing was wrong")
    sys.exit(bool(soak.wrong))


if __name__ == "__main__":
    main()
