"""Iterations on validated data, no estimator code; what they return, and what a callback sees."""

from ._dual import solve_dual
from ._ialm import solve_ialm
from ._results import (
    IterationState,
    LatentResult,
    RecoveryResult,
    RepresentationResult,
    RotationResult,
    TLRRResult,
)

__all__ = [
    "IterationState",
    "LatentResult",
    "RecoveryResult",
    "RepresentationResult",
    "RotationResult",
    "TLRRResult",
    "solve_dual",
    "solve_ialm",
]
