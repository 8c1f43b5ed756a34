"""Functions from a similarity tensor to a low-rank one."""

from .._utils.progress import IterationState
from ._splits import Result, snn, trpca
from ._tlrr import tlrr
from ._tlrr_core import TLRRResult

__all__ = ["IterationState", "Result", "TLRRResult", "snn", "tlrr", "trpca"]
