"""Modules and libraries of native code, built once."""

import ctypes
import os
import shutil
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
    command = [c_compiler(), "-std=c99", "-O2", *os.environ.get("CFLAGS", "").split()]
    return build_predict(tmp_path_factory.mktemp("predict"), command)


@pytest.fixture
def predict_with(tmp_path):
    """A function that compiles them by another command, or skips if there is no such compiler."""

    def compiled_by(command, before=""):
        c_compiler()
        if shutil.which(command.split()[0]) is None:
            pytest.skip(f"no {command.split()[0]}")
        return build_predict(tmp_path, command.split(), before)

    return compiled_by


def build_predict(folder, command, before=""):
    """A library of the functions of mvsc_predict.h, with lines of C before it."""
    source = folder / "predict.c"
    source.write_text(f"#define MVSC_PREDICT_API\n{before}#include <mvsc_predict.h>\n")
    # Linked without the flags: with some, GCC turns off subnormal numbers of the process.
    compiled, linked = folder / "predict.o", folder / "predict.so"
    options = ["-c", "-fPIC", f"-I{mvsc_fast.get_include()}"]
    subprocess.run([*command, *options, source, "-o", compiled], check=True)
    subprocess.run([command[0], "-shared", compiled, "-o", linked, "-lm"], check=True)
    library = ctypes.CDLL(str(linked))
    size, ssize, integer = ctypes.c_size_t, ctypes.c_ssize_t, ctypes.c_int
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    predicted = ssize, pointer, integer, pointer, size, pointer, pointer
    for name, result, arguments in (
        ("workspace", size, (pointer, ssize)),
        ("load", integer, (pointer, pointer, size)),
        ("read", integer, (pointer, text)),
        ("free", None, (pointer,)),
        ("strerror", text, (integer,)),
        ("name", text, (pointer, ssize, ssize)),
        ("columns", ssize, (pointer, ssize)),
        ("predict", integer, (pointer, *predicted)),
        ("margins", integer, (pointer, ssize, pointer, pointer, pointer)),
    ):
        function = getattr(library, f"mvsc_model_{name}")
        function.restype, function.argtypes = result, arguments
    return library
