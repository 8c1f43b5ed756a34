"""Three groups of 40 cells as AnnData."""

import numpy as np
import pytest

Y = np.repeat(np.arange(3), 40)
IDS = [f"AAAC{i}-1" for i in range(120)]


def modalities():
    """AnnData of two modalities, each with an embedding."""
    ad = pytest.importorskip("anndata", reason="pip install 'mvsc-fast[scverse]'")
    rng, data = np.random.default_rng(0), {}
    for name, width in (("rna", 30), ("prot", 12)):
        X = (5 * np.eye(3, width)[Y] + rng.standard_normal((120, width))).astype(np.float32)
        data[name] = ad.AnnData(X)
        data[name].obs_names, data[name].obsm["X_pca"] = IDS, X[:, :6]
        data[name].var_names = [f"{name}{j}" for j in range(width)]
    return data
