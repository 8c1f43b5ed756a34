"""What code that was compiled before relies on: layouts, signatures, defaults, the header."""

import ctypes
import inspect
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from extensions import build, c_compiler, run_setup
from native_calls import SOLVERS, TESTS, Api, Blocks, Options, Result, State, Tensor

import mvsc_fast
from mvsc_fast.solvers import tlrr


def test_the_binary_interface_is_what_it_was(probe):
    """Fields may be added at the end; none may move."""
    structs = {"tensor": Tensor, "tlrr_state": State, "tlrr_options": Options, "api": Api}
    structs |= {"tlrr_blocks": Blocks, "tlrr_result": Result}
    for place, number in probe.layout().items():
        struct, _, field = place.partition(".")
        kind = structs[struct]
        assert number == (getattr(kind, field).offset if field else ctypes.sizeof(kind)), place
    assert Api.from_address(probe.table()).version == 1


SETUP = """
import os
from Cython.Build import cythonize
from setuptools import Extension, setup
module = Extension("cimports", ["cimports.pyx"], include_dirs=[os.environ["MVSC_INCLUDE"]])
module.extra_compile_args = ["-O0"]
setup(name="cimports", ext_modules=cythonize([module], language_level=3))
"""


def test_every_public_name_can_be_cimported(tmp_path):
    """Against the installed package alone, from a module that knows nothing of its folders."""
    c_compiler()
    text = (Path(mvsc_fast.__file__).parent / "__init__.pxd").read_text()
    groups = re.findall(r"^from [\w.]+ cimport (\([^)]*\)|.*)", text, re.MULTILINE)
    names = re.findall(r"\w+", " ".join(groups))
    assert {"tlrr_solve", "tube_map", "mvsc_tlrr_options"} <= set(names)
    folder = tmp_path / "source" / "cimports"
    folder.mkdir(parents=True)
    (folder / "setup.py").write_text(SETUP)
    (folder / "cimports.pyx").write_text(
        "# cython: freethreading_compatible=True\n"
        f"from mvsc_fast cimport {', '.join(names)}\n"
        "def shrink(double value, double t):\n"
        "    cdef double length\n"
        "    kept = tube_map(&value, 1, 1, 1, t, 1, &length)\n"
        "    return value, kept, dense_source(2, 3).stride, symmetric_lwork(8) > 0\n"
    )
    module = build(folder, tmp_path)
    assert module.shrink(-3.0, 1.0) == (-2.0, 1, 9, True)


def test_the_defaults_are_those_of_python(probe):
    options = Options.from_buffer_copy(probe.defaults())
    defaults = {name: getattr(options, name) for name, *_ in Options._fields_}
    assert defaults.pop("size") == ctypes.sizeof(Options)
    assert not defaults.pop("progress") and defaults.pop("context") is None
    assert defaults.pop("n_threads") == 1
    python = {name: p.default for name, p in inspect.signature(tlrr).parameters.items()}
    assert SOLVERS[python["solver"]] == defaults.pop("solver")
    assert defaults.pop("lam") == 15.0  # in Python that follows from n_neighbors
    assert (defaults.pop("tol"), defaults.pop("max_iter")) == (1e-3, 100)  # of "dual"
    # The penalties of "ialm" are those that were published, and an option in C alone.
    penalty = {name: defaults.pop(name) for name in ("mu", "rho", "mu_max")}
    assert penalty == {"mu": 1e-4, "rho": 1.1, "mu_max": 1e10}
    assert defaults == {name: python[name] for name in defaults}


PROGRAM = """
#include <mvsc_fast.h>
#include <mvsc_predict.h>
mvsc_tlrr_options options = MVSC_TLRR_DEFAULTS;
int main(void)
{
    mvsc_model model;
    const void *rows[1] = {NULL};
    int status = mvsc_model_read(&model, "");
    status += mvsc_model_predict(&model, 1, rows, MVSC_ROWS_FLOAT64, NULL, 0, NULL, NULL);
    mvsc_model_free(&model);
    status -= MVSC_MODEL_NO_FILE + MVSC_MODEL_BAD_ARGUMENT;
    return options.solver != MVSC_TLRR_DUAL || status != 0;
}
"""


@pytest.mark.parametrize(
    ("compiler", "suffix"),
    [
        ("cc -std=c99 -O1", ".c"),
        ("cc -std=c99 -O1 -DMVSC_NO_CLONES", ".c"),
        ("clang -std=c99", ".c"),
        ("c++ -std=c++11", ".cpp"),
        ("clang++ -std=c++11", ".cpp"),
    ],
)
def test_the_headers_alone_are_plain_c_and_cpp(tmp_path, compiler, suffix):
    c_compiler()
    command = compiler.split()
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}")
    source = tmp_path / f"header{suffix}"
    source.write_text(PROGRAM)
    command += ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
    command += [f"-I{mvsc_fast.get_include()}", str(source), "-o", str(tmp_path / "header"), "-lm"]
    subprocess.run(command, check=True)
    subprocess.run([str(tmp_path / "header")], check=True)


# What CFLAGS says cannot change the arithmetic of the package.
MODULE = '''
cdef extern from *:
    """
    #if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)
    #error "the order of operations may change"
    #endif
    #if defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0 || defined(__NO_SIGNED_ZEROS__)
    #error "NaN may vanish"
    #endif
    """
'''


def test_the_build_undoes_flags_that_change_arithmetic(tmp_path, monkeypatch):
    """The package's own setup.py compiles a module that has no other arithmetic."""
    c_compiler()
    pytest.importorskip("setuptools")
    pytest.importorskip("Cython")
    setup = TESTS.parent / "setup.py"
    if not setup.is_file():
        pytest.skip("there is no setup.py")
    package = tmp_path / "src" / "mvsc_fast"
    (package / "core").mkdir(parents=True)
    (tmp_path / "mvsc_fast").mkdir()  # of the compiled module
    shutil.copy(setup, tmp_path)
    (package / "flags.pyx").write_text(MODULE)
    for name in ("MVSC_SANITIZERS", "MVSC_STABLE_ABI", "LDFLAGS"):
        monkeypatch.delenv(name, raising=False)
    run_setup(tmp_path, CFLAGS="-Ofast -ffast-math")
    assert [*tmp_path.rglob("flags.*.so")]
