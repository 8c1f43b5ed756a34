"""Fast multi-view spectral clustering with low-rank tensors."""

__version__ = "0.1.0"

from . import datasets, graphs, metrics, spectral
from .methods import TLRR, TSVDMSC, tlrr, tsvd_msc
from .threads import show_config

__all__ = [
    "TLRR",
    "TSVDMSC",
    "datasets",
    "graphs",
    "metrics",
    "show_config",
    "spectral",
    "tlrr",
    "tsvd_msc",
]
