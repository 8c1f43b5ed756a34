"""Functions from a similarity tensor to a low-rank one."""

from .._utils.progress import IterationState
from ._results import Result, TLRRResult
from ._snn import snn
from ._tlrr import tlrr
from ._trpca import trpca

__all__ = ["IterationState", "Result", "TLRRResult", "snn", "tlrr", "trpca"]
