"""LAPACK by SciPy's Cython interface, whose integers and logicals have 32 or 64 bits."""

import re
import shutil
from pathlib import Path

import pytest
import scipy

import mvsc_fast

SCIPY = Path(scipy.__file__).parent / "linalg"
CORE = Path(mvsc_fast.__file__).parent / "core"
TYPES = {"LP64": ("int", "bint"), "ILP64": ("int64_t", "int64_t")}


@pytest.mark.skipif(not (CORE / "lapack.pxd").exists(), reason="no sources are installed")
@pytest.mark.parametrize("interface", TYPES)
def test_lapack_is_called_with_the_types_of_scipy(tmp_path, interface):
    """As SciPy declares them from 1.18 on; Cython refuses pointers to other types."""
    compiler = pytest.importorskip("Cython.Compiler.Main")
    integer, logical = TYPES[interface]
    declared = tmp_path / "scipy" / "linalg"
    declared.mkdir(parents=True)
    types = f"ctypedef {integer} blas_int\nctypedef {logical} blas_bint\n"
    used = set(re.findall(r"(?:blas|lapack)\.(\w+)", (CORE / "lapack.pxd").read_text()))
    for name in ("cython_blas", "cython_lapack"):
        lines = (SCIPY / f"{name}.pxd").read_text().splitlines()
        routine = re.compile(r"cdef .*?(\w+)\(.* nogil")
        found = [(line, routine.match(line)) for line in lines]  # all of them take seconds
        text = "\n".join(line for line, match in found if match is None or match[1] in used)
        text = re.sub(r"^ctypedef .* blas_b?int$", "", text, flags=re.MULTILINE)
        text = re.sub(r"(?<=[(, ])(int|bint) \*", r"blas_\1 *", text)
        text = f"from libc.stdint cimport int64_t\n{types}{text}"
        (declared / f"{name}.pxd").write_text(text)
    core = tmp_path / "mvsc_fast" / "core"
    core.mkdir(parents=True)
    shutil.copy(CORE / "lapack.pxd", core)
    for folder in (declared.parent, declared, core.parent, core):
        (folder / "__init__.pxd").touch()
    names = "from scipy.linalg.cython_blas cimport blas_bint, blas_int\n"
    (core / "blas_int.pxi").write_text(names)
    options = compiler.CompilationOptions(
        compiler.default_options, include_path=[str(tmp_path)], language_level=3
    )
    program = tmp_path / "program.pyx"
    program.write_text("from mvsc_fast.core cimport lapack\n")  # whose functions are inline
    result = compiler.compile(str(program), options)
    assert result.num_errors == 0
