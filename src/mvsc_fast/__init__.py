"""Fast multi-view spectral clustering with low-rank tensors."""

__version__ = "0.1.0"

from . import datasets, graphs, metrics, spectral
from .methods import (
    ETLMSC,
    LTMSC,
    SCMV3DT,
    SNN,
    TLRR,
    TRPCA,
    TSVDMSC,
    ConsensusTLRR,
    SelfOrdered,
    UtSVDMSC,
    etlmsc,
    lt_msc,
    scmv_3dt,
    snn,
    tlrr,
    trpca,
    tsvd_msc,
    ut_svd_msc,
)
from .native import get_include
from .predictability import label_predictability
from .threads import show_config

__all__ = [
    "ConsensusTLRR",
    "ETLMSC",
    "LTMSC",
    "SCMV3DT",
    "SNN",
    "SelfOrdered",
    "TLRR",
    "TRPCA",
    "TSVDMSC",
    "UtSVDMSC",
    "datasets",
    "etlmsc",
    "get_include",
    "graphs",
    "label_predictability",
    "lt_msc",
    "metrics",
    "scmv_3dt",
    "show_config",
    "snn",
    "spectral",
    "tlrr",
    "trpca",
    "tsvd_msc",
    "ut_svd_msc",
]
