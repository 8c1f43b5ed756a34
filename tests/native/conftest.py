"""Modules of native code, built once."""

import pytest
from extensions import build
from native_calls import TESTS


@pytest.fixture(scope="session")
def probe(tmp_path_factory):
    return build(TESTS / "native_probe", tmp_path_factory.mktemp("probe"))
