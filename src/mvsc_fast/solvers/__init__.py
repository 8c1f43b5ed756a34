"""Iterations that minimise the TLRR objective on a validated tensor; no estimator code."""

from .ialm import solve_ialm

__all__ = ["solve_ialm"]
