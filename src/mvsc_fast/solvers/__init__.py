"""Iterations on validated data, no estimator code; what they return, and what a callback sees."""

from ._dual import solve_dual
from ._ialm import solve_ialm
from ._results import IterationState, RecoveryResult, RepresentationResult, TLRRResult

__all__ = [
    "IterationState",
    "RecoveryResult",
    "RepresentationResult",
    "TLRRResult",
    "solve_dual",
    "solve_ialm",
]
