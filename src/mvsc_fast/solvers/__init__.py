"""The function from a similarity tensor to a low-rank one."""

from .._utils.progress import IterationState
from ._tlrr import tlrr
from ._tlrr_core import TLRRResult

__all__ = ["IterationState", "TLRRResult", "tlrr"]
