"""Build of the compiled core: OpenMP is used where the compiler has it."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import scipy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Sanitizers, with bounds checks: "address,undefined" or "thread", set by tools/sanitize.py.
SANITIZERS = os.environ.get("MVSC_SANITIZERS")
PACKAGE = Path(__file__).resolve().parent / "src" / "mvsc_fast"
OPENMP_PROBE = """
#include <omp.h>
int main(void) { return omp_get_max_threads() > 0 ? 0 : 1; }
"""


def write_blas_int():
    """Name LAPACK's integer and logical as SciPy does, which older releases spell int and bint."""
    declarations = (Path(scipy.__file__).parent / "linalg" / "cython_blas.pxd").read_text()
    lines = [
        f"from scipy.linalg.cython_blas cimport {name}\n"
        if re.search(rf"\b{name}\b", declarations)
        else f"ctypedef {former} {name}\n"
        for name, former in (("blas_int", "int"), ("blas_bint", "bint"))
    ]
    target = PACKAGE / "core" / "blas_int.pxi"
    if not target.exists() or target.read_text() != "".join(lines):
        target.write_text("".join(lines))


class BuildExt(build_ext):
    def build_extensions(self):
        if self.compiler.compiler_type == "msvc":
            optimise, openmp_flags = ["/O2", "/std:c11"], (["/openmp"], [])
        else:
            optimise = ["-O3", "-fno-math-errno", "-fno-trapping-math"]
            openmp_flags = (["-fopenmp"], ["-fopenmp"])
            if sys.platform == "darwin":  # Apple's compiler has the pragmas, Homebrew the runtime
                openmp_flags = (["-Xpreprocessor", "-fopenmp"], ["-lomp"])
        self.parallel = self.parallel or os.cpu_count()
        has_openmp = self._compiles_with(*openmp_flags)
        if not has_openmp:
            print("mvsc_fast: no OpenMP found, building the serial core", file=sys.stderr)
        # Debug symbols of the C compiler flags that Python was built with are most of a wheel.
        link = ["-Wl,-s"] if sys.platform == "linux" else []
        if SANITIZERS:
            link = [f"-fsanitize={SANITIZERS}"]
            optimise = ["-O1", "-g", *link, "-fno-omit-frame-pointer",
                        "-fno-sanitize-recover=undefined", "-DMVSC_NO_CLONES"]  # fmt: skip
        for extension in self.extensions:
            extension.extra_compile_args += optimise
            extension.extra_link_args += link
            if has_openmp:
                extension.extra_compile_args += openmp_flags[0]
                extension.extra_link_args += openmp_flags[1]
        super().build_extensions()

    def _compiles_with(self, compile_args, link_args):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "probe.c"
            source.write_text(OPENMP_PROBE)
            try:
                objects = self.compiler.compile(
                    [str(source)], output_dir=folder, extra_postargs=compile_args
                )
                program = str(Path(folder) / "probe")
                self.compiler.link_executable(objects, program, extra_postargs=link_args)
                return subprocess.run([program], check=False, timeout=60).returncode == 0
            except Exception:
                return False


write_blas_int()
headers = [
    "src/mvsc_fast/core/factored_loops.h",
    "src/mvsc_fast/core/hermitian_loops.h",
    "src/mvsc_fast/core/loops.h",
    "src/mvsc_fast/core/loops_template.h",
    "src/mvsc_fast/core/predict_loops.h",
    "src/mvsc_fast/include/mvsc_fast.h",
]
extensions = [
    Extension(
        ".".join(source.relative_to("src").with_suffix("").parts),
        [source.as_posix()],
        include_dirs=["src/mvsc_fast/core", "src/mvsc_fast/include"],
        depends=headers,
    )
    for source in sorted(Path("src").rglob("*.pyx"))
]
setup(
    cmdclass={"build_ext": BuildExt},
    ext_modules=cythonize(
        extensions,
        include_path=["src", "src/mvsc_fast/core"],
        nthreads=os.cpu_count() or 1,
        build_dir="build/debug" if SANITIZERS else None,
        force=bool(SANITIZERS),
        compiler_directives={
            "language_level": 3,
            "boundscheck": bool(SANITIZERS),
            "wraparound": False,
            "initializedcheck": False,
            "cdivision": True,
            "freethreading_compatible": True,
        },
    ),
)
