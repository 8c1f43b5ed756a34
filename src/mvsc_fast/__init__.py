"""Fast multi-view spectral clustering with low-rank tensors."""

__version__ = "0.1.0"

from pathlib import Path

from . import datasets, methods, metrics, preprocessing, similarity, solvers, spectral, views
from ._utils.threads import show_config
from .explanation._annotate import annotate
from .explanation._explain import explain
from .judge._n_clusters import suggest_n_clusters
from .judge._predictability import label_predictability
from .judge._structure import structure_test
from .methods import TLRR, ConsensusTLRR
from .methods._ensemble import consensus_labels
from .methods._prediction import SavedPredictor

__all__ = [
    "ConsensusTLRR",
    "SavedPredictor",
    "TLRR",
    "annotate",
    "consensus_labels",
    "datasets",
    "explain",
    "get_include",
    "label_predictability",
    "methods",
    "metrics",
    "preprocessing",
    "show_config",
    "similarity",
    "solvers",
    "spectral",
    "structure_test",
    "suggest_n_clusters",
    "views",
]


def get_include() -> str:
    """Directory to compile C and Cython code with: that of ``mvsc_fast.h`` and ``mvsc_predict.h``.

    Cython code can instead cimport the functions behind the interface, which check nothing::

        from mvsc_fast cimport tlrr_solve, tube_map

    ``__init__.pxd`` lists all of them; their types are in ``mvsc_fast.h``.

    Returns
    -------
    str
    """
    return str(Path(__file__).resolve().parent / "include")
