"""Penalty, residuals and stopping rule of an iteration."""

import time

import numpy as np

from .._utils.progress import IterationState


class Run:
    """One run of an iteration.

    ::

        for mu in run:
            ...
            run.record(norm(change), lambda: expensive_norm(change))

    It stops at a residual of at most ``tol``, after ``max_iter`` iterations, or if the callback
    returns True. The penalty starts at ``mu`` and grows by ``rho`` up to ``mu_max``; the defaults
    are those of `TRPCA` and `SNN`.
    """

    def __init__(self, tol, max_iter, callback, *, mu=1e-4, rho=1.1, mu_max=1e10):
        self.tol = tol
        self.mu = mu
        self.converged = False
        self._max_iter = max_iter
        self._callback = callback
        self._rho = rho
        self._mu_max = mu_max
        self._residuals = []
        self._seconds = []
        self._measures = {}
        self._stopped = False
        self._start = time.perf_counter()

    def __iter__(self):
        """Yield the penalty mu of each iteration until the run stops."""
        while self.n_iter < self._max_iter and not (self.converged or self._stopped):
            yield self.mu
            self.mu = self.next_mu

    @property
    def next_mu(self):
        """The penalty of the next iteration."""
        return min(self._rho * self.mu, self._mu_max)

    @property
    def growth(self):
        """Ratio of the next penalty to this one; divides multipliers that are scaled by it."""
        return self.next_mu / self.mu

    @property
    def n_iter(self):
        return len(self._residuals)

    def largest(self, *measures):
        """Largest of some numbers, some of which may be given as callables that compute them.

        A callable is not called if a previous number exceeds ``tol``, because the iteration cannot
        stop then.
        """
        value = max(measure for measure in measures if not callable(measure))
        for measure in filter(callable, measures):
            if value > self.tol:
                break
            value = max(value, measure())
        return value

    def record(self, *bounds, **measures):
        """End the iteration with the `largest` bound as its residual, and call the callback.

        ``measures`` are numbers for further entries of the history.
        """
        # Measures after the residual are optional, such as the objective of some methods.
        residual = float(self.largest(*bounds))
        self._residuals.append(residual)
        self._seconds.append(time.perf_counter() - self._start)
        for name, value in measures.items():
            self._measures.setdefault(name, []).append(value)
        self.converged = residual <= self.tol
        if self._callback is not None:
            state = IterationState(self.n_iter, residual, self._seconds[-1], total=self._max_iter)
            self._stopped = bool(self._callback(state))

    @property
    def history(self):
        """Residual, seconds and other measures after every iteration, a dict of arrays."""
        entries = {"residual": self._residuals, "seconds": self._seconds, **self._measures}
        return {name: np.array(values) for name, values in entries.items()}
