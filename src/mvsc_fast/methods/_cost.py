"""What a fit needs, told before any work: memory, and time by the speed of this machine."""

import functools
import time
from typing import NamedTuple

import numpy as np
import scipy.linalg

from .._warnings import warn_user
from ..threads import blas_threads
from ..validation import available_memory

LONG = 3600.0  # seconds, beyond which a fit is not begun without a warning
SMALL_WORK = 1e12  # operations that no machine takes an hour for: its speed is not measured


class Cost(NamedTuple):
    """Estimates for one fit on one thread.

    Attributes
    ----------
    memory : float
        Bytes at most beside the views given.
    eigen : float
        Sum of n^3 over symmetric n x n eigenproblems with all eigenvectors.
    products : float
        Floating-point operations in products of matrices.
    passes : float
        Entries of arrays that are written.
    """

    memory: float
    eigen: float = 0.0
    products: float = 0.0
    passes: float = 0.0

    @property
    def seconds(self):
        """Time of one free CPU by the `speeds` of this machine, to a factor of about three.

        Iterations are those that a method takes as a rule.
        """
        work = (self.eigen, self.products, self.passes)
        return sum(amount / speed for amount, speed in zip(work, speeds(), strict=True))

    def check(self, what, way_out):
        """MemoryError where it does not fit, a warning where it takes more than an hour.

        Parameters
        ----------
        what : str
            The fit, in the messages.
        way_out : str
            What to do instead.
        """
        available = available_memory()
        if self.memory > available:
            time_too = f" and {_duration(self.seconds)}" if self._may_be_long() else ""
            raise MemoryError(
                f"{what} needs about {_size(self.memory)}{time_too}, {_size(available)} are "
                f"available: {way_out}"
            )
        if self._may_be_long():
            warn_user(f"{what} will take about {_duration(self.seconds)}: {way_out}")

    def told(self):
        """Memory and time in words."""
        return f"about {_size(self.memory)} at most and {_duration(self.seconds)}"

    def _may_be_long(self):
        return 10 * self.eigen + self.products + self.passes > SMALL_WORK and self.seconds > LONG


@functools.lru_cache(maxsize=1)
def speeds():
    """(n^3 of eigenproblems, operations of products, entries written) in a CPU second.

    Measured once in a process, on problems of 256 rows; takes about .1 s.
    """
    n = 256
    A = np.cos(np.arange(n * n, dtype=np.float64)).reshape(n, n)
    S, B = A + A.T, np.ones(2**20)
    with blas_threads(1):
        eigen = _seconds(lambda: scipy.linalg.eigh(S, driver="evd", check_finite=False), 4)
        product = _seconds(lambda: A @ A, 16)
        entries = _seconds(lambda: B + 1.0, 16)
    return n**3 / eigen, 2 * n**3 / product, len(B) / entries


def _seconds(work, repeats):
    """CPU seconds of some work, which others do not slow down; one more run loads it."""
    work()
    start = time.thread_time()
    for _ in range(repeats):
        work()
    return max(time.thread_time() - start, 1e-6) / repeats


def _size(n_bytes):
    return f"{n_bytes / 2**30:.3g} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.3g} MiB"


def _duration(seconds):
    for unit, length in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.2g} {unit}"
    return f"{seconds:.2g} s"
