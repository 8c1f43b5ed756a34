"""What a fit tells: lines or a bar on standard error, and a callback."""

import sys
import time
from typing import NamedTuple

EVERY = 3.0  # seconds between two lines of one stage


class IterationState(NamedTuple):
    """What ``callback(state)`` receives after every iteration; returning True stops the run.

    The callback of an estimator gets one at the beginning of every stage, too.
    """

    iteration: int
    """Number of this iteration, from 1; 0 at the beginning of an estimator's stage."""
    residual: float
    """What is compared with ``tol``; NaN where nothing is."""
    seconds: float
    """Time since the solver, or the fit of an estimator, started."""
    block: int = 0
    """Independent block of samples whose iteration this is; 0 where there is only one."""
    stage: str = "solve"
    """What an estimator is doing; a function only solves."""
    total: int | None = None
    """Iterations that there are at most, None where the stage has none."""


class Progress:
    """The stages of one fit, reported to a reader and to a callback.

    Parameters
    ----------
    name : str
        What lines begin with.
    verbose : int
        0 is silent. Else a line for each stage, and one every few seconds for its iterations;
        a bar instead where standard error is a terminal and tqdm is installed.
    callback : callable, optional
        ``callback(IterationState)``, at the beginning of every stage as iteration 0, and after
        each of its iterations.

    Attributes
    ----------
    stopped : bool
        Whether the callback ended the iterations of this stage by returning True.
    """

    def __init__(self, name="", verbose=0, callback=None):
        self.stopped = False
        self._name, self._verbose, self._callback = name, verbose, callback
        self._start = self._began = self._told = time.perf_counter()
        self._stage = self._bar = None
        self._bars = _bars() if verbose and sys.stderr.isatty() else None

    def log(self, message):
        """A line with the time since the fit began."""
        if not self._verbose:
            return
        line = f"[{self._name}] {message} ({time.perf_counter() - self._start:.1f} s)"
        if self._bar is not None:
            self._bar.write(line, file=sys.stderr)
        else:
            print(line, file=sys.stderr, flush=True)

    def stage(self, name, total=None):
        """Begin a stage of ``total`` iterations at most, if that is known."""
        self.close()
        self.stopped, self._stage = False, name
        self._began = self._told = time.perf_counter()
        self.log(name)
        if self._bars is not None and total:
            self._bar = self._bars(
                total=total, desc=f"[{self._name}] {name}", file=sys.stderr, leave=False
            )
        self._call(IterationState(0, float("nan"), 0.0, total=total))

    def iteration(self, state):
        """The callback of solvers: report one iteration; whether the run is to stop."""
        now = time.perf_counter()
        # Only solvers measure how far they are.
        residual = f"residual {state.residual:.2g}" if state.residual == state.residual else ""
        if self._bar is not None:
            self._bar.set_postfix_str(residual, refresh=False)
            self._bar.update(state.iteration - self._bar.n)
        elif self._verbose and now - self._told >= EVERY:
            self._told = now
            left = (state.total - state.iteration) * (now - self._began) / state.iteration
            self.log(
                f"{self._stage}: iteration {state.iteration} of at most {state.total}, "
                f"{residual}{', ' if residual else ''}at most {left:.0f} s left"
            )
        self._call(state)
        return self.stopped

    def each(self, name, items, total):
        """Items as the ``total`` iterations of a stage, until the callback returns True."""
        self.stage(name, total)
        for i, item in enumerate(items, start=1):
            yield item
            if self.iteration(IterationState(i, float("nan"), 0.0, total=total)):
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _call(self, state):
        if self._callback is not None:
            seconds = time.perf_counter() - self._start
            state = state._replace(stage=self._stage, seconds=seconds)
            self.stopped = bool(self._callback(state)) or self.stopped


def _bars():
    """tqdm, which is optional: without it there are lines."""
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    return tqdm
