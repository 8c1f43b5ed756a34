"""Clustering estimators, one for each method."""

from ._awp import AWP
from ._consensus import ConsensusTLRR
from ._dimsc import DiMSC
from ._etlmsc import ETLMSC
from ._lmsc import LMSC
from ._lt_msc import LTMSC
from ._mcles import MCLES
from ._scmv_3dt import SCMV3DT
from ._snn import SNN
from ._tlrr import TLRR
from ._trpca import TRPCA
from ._tsvd_msc import TSVDMSC, UtSVDMSC

# Keys are the names on the command line.
ESTIMATORS = {
    "consensus-tlrr": ConsensusTLRR,
    "tlrr": TLRR,
    "tsvd-msc": TSVDMSC,
    "ut-svd-msc": UtSVDMSC,
    "lt-msc": LTMSC,
    "etlmsc": ETLMSC,
    "scmv-3dt": SCMV3DT,
    "trpca": TRPCA,
    "snn": SNN,
    "l-msc": LMSC,
    "dimsc": DiMSC,
    "mcles": MCLES,
    "awp": AWP,
}

__all__ = [
    "AWP",
    "ConsensusTLRR",
    "DiMSC",
    "ESTIMATORS",
    "ETLMSC",
    "LMSC",
    "LTMSC",
    "MCLES",
    "SCMV3DT",
    "SNN",
    "TLRR",
    "TRPCA",
    "TSVDMSC",
    "UtSVDMSC",
]
