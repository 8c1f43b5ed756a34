"""One file per method: its function on arrays and its estimator."""

from .tlrr import TLRR, tlrr
from .tsvd_msc import TSVDMSC, tsvd_msc

__all__ = ["TLRR", "TSVDMSC", "tlrr", "tsvd_msc"]
