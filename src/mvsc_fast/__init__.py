"""Fast multi-view spectral clustering with low-rank tensors."""

__version__ = "0.1.0"

from . import datasets, graphs, metrics, spectral
from .explanation import explain
from .methods import (
    AWP,
    ETLMSC,
    LMSC,
    LTMSC,
    MCLES,
    SCMV3DT,
    SNN,
    TLRR,
    TRPCA,
    TSVDMSC,
    ConsensusTLRR,
    DiMSC,
    UtSVDMSC,
    awp,
    consensus_labels,
    dimsc,
    etlmsc,
    lmsc,
    lt_msc,
    mcles,
    scmv_3dt,
    snn,
    tlrr,
    trpca,
    tsvd_msc,
    ut_svd_msc,
)
from .n_clusters import suggest_n_clusters
from .native import get_include
from .predictability import label_predictability
from .threads import show_config

__all__ = [
    "ConsensusTLRR",
    "AWP",
    "DiMSC",
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
    "datasets",
    "dimsc",
    "etlmsc",
    "explain",
    "get_include",
    "graphs",
    "label_predictability",
    "lmsc",
    "lt_msc",
    "mcles",
    "metrics",
    "scmv_3dt",
    "show_config",
    "snn",
    "spectral",
    "suggest_n_clusters",
    "tlrr",
    "trpca",
    "tsvd_msc",
    "ut_svd_msc",
]
