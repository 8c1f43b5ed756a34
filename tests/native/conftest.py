"""Modules of native code, built once."""

import numpy as np
import pytest
from conftest import random_similarities
from extensions import build
from native_calls import TESTS, example


@pytest.fixture(scope="session")
def native_c(tmp_path_factory):
    return build(example("c_module"), tmp_path_factory.mktemp("c"))


@pytest.fixture(scope="session")
def native_cython(tmp_path_factory):
    return build(example("cython_module"), tmp_path_factory.mktemp("cython"))


@pytest.fixture(scope="session")
def probe(tmp_path_factory):
    return build(TESTS / "native_probe", tmp_path_factory.mktemp("probe"))


@pytest.fixture(scope="session")
def raw_file(tmp_path_factory):
    W = random_similarities(3, 50, dtype=np.float32)
    path = tmp_path_factory.mktemp("raw") / "similarities.f32"
    W.tofile(path)
    return W, str(path)
