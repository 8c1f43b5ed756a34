"""Progress of a fit: lines and a bar on standard error, and a callback."""

import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class IterationState:
    """State of an iteration, which is passed to the callback.

    If the callback returns True, the iterations stop. Callbacks of estimators are also called at
    the start of every stage.

    Attributes
    ----------
    iteration : int
        Number of this iteration, from 1; 0 at the start of a stage of an estimator.
    residual : float
        Residual, which is compared with ``tol``; NaN if there is none.
    seconds : float
        Time since the start of the solver or of the fit.
    block : int, default=0
        Number of the independent block of samples that is solved; 0 if there is only one.
    stage : str, default="solve"
        Name of the stage of an estimator; always "solve" for functions.
    total : int, optional
        Maximum number of iterations; None if the stage has no iterations.
    """

    iteration: int
    residual: float
    seconds: float
    block: int = 0
    stage: str = "solve"
    total: int | None = None


class Progress:
    """Report the stages of a fit to standard error and to a callback.

    Unless ``verbose`` is 0, there is a line with the prefix ``name`` for each stage and, on a
    terminal and if tqdm is installed, a bar for its iterations.
    The callback gets an `IterationState` at the start of every stage (iteration 0) and after each
    of its iterations; ``stopped`` is whether it ended those of this stage by returning True.
    """

    def __init__(self, name="", verbose=0, callback=None):
        self.stopped = False
        self._name, self._verbose, self._callback = name, verbose, callback
        self._start = time.perf_counter()
        self._stage = self._bar = None

    def log(self, message):
        """Print a line with the time since the start of the fit."""
        if self._verbose:
            line = f"[{self._name}] {message} ({time.perf_counter() - self._start:.1f} s)"
            write = print if self._bar is None else self._bar.write
            write(line, file=sys.stderr)

    def stage(self, name, total=None):
        """Begin a stage of at most ``total`` iterations, if the number is known."""
        self.close()
        self.stopped, self._stage = False, name
        self.log(name)
        if self._verbose and total and getattr(sys.stderr, "isatty", bool)():  # there may be none
            with suppress(ImportError):
                from tqdm import tqdm

                title = f"[{self._name}] {name}"
                self._bar = tqdm(total=total, desc=title, file=sys.stderr, leave=False)
        self._call(IterationState(0, float("nan"), 0.0, total=total))

    def iteration(self, state):
        """Report one iteration of a solver; return whether to stop."""
        if self._bar is not None:
            if state.residual == state.residual:  # only solvers measure their progress
                self._bar.set_postfix_str(f"residual {state.residual:.2g}", refresh=False)
            self._bar.update(state.iteration - self._bar.n)
        self._call(state)
        return self.stopped

    def close(self):
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def each(self, name, items, total):
        """Yield items as the ``total`` iterations of a stage, until the callback returns True."""
        self.stage(name, total)
        for i, item in enumerate(items, start=1):
            yield item
            if self.iteration(IterationState(i, float("nan"), 0.0, total=total)):
                return

    def _call(self, state):
        if self._callback is not None:
            seconds = time.perf_counter() - self._start
            state = replace(state, stage=self._stage, seconds=seconds)
            self.stopped = bool(self._callback(state)) or self.stopped
