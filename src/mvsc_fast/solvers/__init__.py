"""One function for each method, which computes a tensor from views or similarities."""

from .._utils.progress import IterationState
from ._awp import awp
from ._dimsc import dimsc
from ._etlmsc import etlmsc
from ._lmsc import lmsc
from ._lt_msc import lt_msc
from ._mcles import mcles
from ._results import (
    LatentResult,
    RecoveryResult,
    RepresentationResult,
    RotationResult,
    TLRRResult,
)
from ._scmv_3dt import scmv_3dt
from ._snn import snn
from ._tlrr import tlrr
from ._trpca import trpca
from ._tsvd_msc import tsvd_msc
from ._ut_svd_msc import ut_svd_msc

__all__ = [
    "IterationState",
    "LatentResult",
    "RecoveryResult",
    "RepresentationResult",
    "RotationResult",
    "TLRRResult",
    "awp",
    "dimsc",
    "etlmsc",
    "lmsc",
    "lt_msc",
    "mcles",
    "scmv_3dt",
    "snn",
    "tlrr",
    "trpca",
    "tsvd_msc",
    "ut_svd_msc",
]
