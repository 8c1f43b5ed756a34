"""The public surface: adding to it is free, taking from it or renaming is a decision."""

import importlib
import inspect
import pkgutil

import pytest

import mvsc_fast

PUBLIC = {
    "mvsc_fast": [
        "AWP",
        "DiMSC",
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
        "datasets",
        "dimsc",
        "etlmsc",
        "explain",
        "get_include",
        "graphs",
        "lmsc",
        "label_predictability",
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
    ],
    "mvsc_fast.cli": ["main"],
    "mvsc_fast.datasets": ["load_handwritten", "make_multiview_subspaces"],
    "mvsc_fast.explanation": ["Explanation", "explain"],
    "mvsc_fast.similarity._dense": [
        "gaussian",
        "graph_basis",
        "knn",
        "self_representation",
        "sparse_knn",
        "sparse_self_representation",
    ],
    "mvsc_fast.methods": [
        "AWP",
        "DiMSC",
        "ConsensusTLRR",
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
    ],
    "mvsc_fast.metrics": ["clustering_scores"],
    "mvsc_fast.judge._n_clusters": ["ClusterCounts", "suggest_n_clusters"],
    "mvsc_fast.native": ["get_include"],
    "mvsc_fast.neighbors": [
        "NeighborsPath",
        "count_neighbors",
        "scan_neighbors",
        "tube_lengths",
        "tube_thresholds",
    ],
    "mvsc_fast.explanation._plots": [
        "check_picture",
        "new_figure",
        "plot_convergence",
        "plot_embedding",
        "plot_explanation",
        "plot_n_clusters",
        "plot_neighbors_path",
        "plot_sensitivity",
        "plot_similarity",
    ],
    "mvsc_fast.judge._predictability": ["label_predictability"],
    "mvsc_fast.preprocessing": ["PerView", "ViewSplitter"],
    "mvsc_fast.explanation._report": ["write_report"],
    "mvsc_fast.solvers": [
        "IterationState",
        "LatentResult",
        "RecoveryResult",
        "RepresentationResult",
        "RotationResult",
        "TLRRResult",
        "solve_dual",
        "solve_ialm",
    ],
    "mvsc_fast.spectral": [
        "fuse",
        "spectral_embedding",
        "spectral_labels",
    ],
    "mvsc_fast._utils.threads": [
        "blas_threads",
        "limit_threads",
        "resolve_threads",
        "show_config",
        "use_threads",
        "useful_threads",
    ],
    "mvsc_fast.solvers._transforms": [
        "Basis",
        "Fourier",
        "check_sample_transform",
        "check_transform",
        "check_view_transform",
        "resolve_sample_transform",
        "resolve_view_transform",
    ],
    "mvsc_fast._utils.validation": [
        "available_memory",
        "check_clusters",
        "check_finite",
        "check_integer",
        "check_memory",
        "check_number",
        "check_numbers",
        "check_option",
        "check_sample_weight",
        "check_similarities",
        "check_slice_size",
        "check_sparse_similarities",
        "check_squarable",
        "in_range",
        "largest_squarable",
    ],
    "mvsc_fast.views": ["NamedViews", "align", "check_views", "named_views"],
}


def test_every_module_is_on_the_list_or_has_an_underscore():
    found = pkgutil.walk_packages(mvsc_fast.__path__, "mvsc_fast.")
    # The public side of the core is its header and the table of the C interface.
    names = [m.name for m in found if "._" not in m.name and ".core" not in m.name]
    assert {"mvsc_fast", *names} == set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names(name):
    module = importlib.import_module(name)
    assert sorted(module.__all__) == sorted(PUBLIC[name])
    for public in module.__all__:
        assert inspect.getdoc(getattr(module, public))
