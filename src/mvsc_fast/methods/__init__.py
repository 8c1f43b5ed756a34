"""One file per method: its function on arrays and its estimator."""

from ._awp import AWP, awp
from ._consensus import ConsensusTLRR
from ._dimsc import DiMSC, dimsc
from ._ensemble import consensus_labels
from ._etlmsc import ETLMSC, etlmsc
from ._lmsc import LMSC, lmsc
from ._lt_msc import LTMSC, lt_msc
from ._mcles import MCLES, mcles
from ._scmv_3dt import SCMV3DT, scmv_3dt
from ._snn import SNN, snn
from ._tlrr import TLRR, tlrr
from ._trpca import TRPCA, trpca
from ._tsvd_msc import TSVDMSC, tsvd_msc
from ._ut_svd_msc import UtSVDMSC, ut_svd_msc

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
    "DiMSC",
    "ESTIMATORS",
    "ConsensusTLRR",
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
    "awp",
    "consensus_labels",
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
