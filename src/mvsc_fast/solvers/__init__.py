"""Iterations that minimise the TLRR objective on a validated tensor; no estimator code."""

from .dual import solve_dual
from .ialm import solve_ialm

__all__ = ["solve_dual", "solve_ialm"]
