"""Modules and libraries of native code, built once."""

import ctypes
import os
import subprocess

import pytest
from extensions import build, c_compiler
from native_calls import TESTS

import mvsc_fast


@pytest.fixture(scope="session")
def probe(compiled):
    return build(TESTS / "native_probe", compiled)


@pytest.fixture(scope="session")
def predict_library(tmp_path_factory):
    """The functions of mvsc_predict.h, compiled as a program would."""
    folder = tmp_path_factory.mktemp("predict")
    source = folder / "predict.c"
    source.write_text("#define MVSC_PREDICT_API\n#include <mvsc_predict.h>\n")
    command = [c_compiler(), "-std=c99", "-O2", "-shared", "-fPIC", f"-I{mvsc_fast.get_include()}"]
    command += os.environ.get("CFLAGS", "").split()
    subprocess.run([*command, source, "-o", folder / "predict.so", "-lm"], check=True)
    library = ctypes.CDLL(str(folder / "predict.so"))
    size, ssize, pointer = ctypes.c_size_t, ctypes.c_ssize_t, ctypes.c_void_p
    library.mvsc_model_workspace.restype, library.mvsc_model_workspace.argtypes = (
        size,
        [pointer, ssize],
    )
    library.mvsc_model_load.argtypes = [pointer, pointer, size]
    library.mvsc_model_strerror.restype = library.mvsc_model_name.restype = ctypes.c_char_p
    library.mvsc_model_name.argtypes = [pointer, ssize, ssize]
    library.mvsc_model_columns.restype, library.mvsc_model_columns.argtypes = (
        ssize,
        [pointer, ssize],
    )
    library.mvsc_model_predict.argtypes = [
        *(pointer, ssize, pointer, ctypes.c_int, pointer, size, pointer, pointer),
    ]
    library.mvsc_model_margins.argtypes = [pointer, ssize, pointer, pointer, pointer]
    return library
