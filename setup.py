"""Build of the compiled core: OpenMP is used where the compiler has it."""

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import scipy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Sanitizers: "address,undefined" or "thread", set by tools/sanitize.py.
SANITIZERS = os.environ.get("MVSC_SANITIZERS")
# For wheels that are released: one for Python 3.11 and later. Free-threaded Pythons have none.
STABLE_ABI = (
    bool(os.environ.get("MVSC_STABLE_ABI"))
    and sys.version_info >= (3, 11)
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
)
PACKAGE = Path(__file__).resolve().parent / "src" / "mvsc_fast"
# NaN, the order of sums and numbers below 1e-308 are kept whatever CFLAGS says: these follow it,
# for the linker too, where GCC before 13 adds code that sets small numbers of the process to 0.
EXACT = ["-fno-fast-math", "-fno-unsafe-math-optimizations", "-fno-finite-math-only"]
EXACT += ["-fno-associative-math", "-fno-reciprocal-math", "-fsigned-zeros"]
EMPTY_PROBE = "int main(void) { return 0; }"
NO_COMPILER = (
    "mvsc_fast: there is no working C compiler. Install a wheel, which needs none: "
    "pip install --only-binary mvsc-fast mvsc-fast. Or install a compiler: "
    "apt install build-essential python3-dev, xcode-select --install, or Visual Studio Build Tools"
)
OPENMP_PROBE = """
#include <omp.h>
int main(void) { return omp_get_max_threads() > 0 ? 0 : 1; }
"""


def write_declarations():
    """Declare what the core uses of SciPy's BLAS and LAPACK.

    Cython would read all 1500 declarations for each module, which is most of its time, and again
    in each new build environment, where they are newer than the modules.
    """
    folder = Path("build") / "declarations" / "scipy"
    sources = [*PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.pxd")]
    used = set(re.findall(r"\b(?:blas|lapack)\.(\w+)\(", "".join(map(Path.read_text, sources))))
    declarations = {}
    for library in ("cython_blas.pxd", "cython_lapack.pxd"):
        lines = (Path(scipy.__file__).parent / "linalg" / library).read_text().splitlines(True)
        functions = [re.match(r"cdef .*?(\w+)\(", line) for line in lines]
        declarations[library] = "".join(
            line
            for line, function in zip(lines, functions, strict=True)
            if not function or function[1] in used
        )
        write(folder / "linalg" / library, declarations[library])
    for package in (folder, folder / "linalg"):
        write(package / "__init__.pxd", "")
    # LAPACK's integer and logical, which older releases of SciPy spell int and bint
    names = [
        f"from scipy.linalg.cython_blas cimport {name}\n"
        if re.search(rf"\b{name}\b", declarations["cython_blas.pxd"])
        else f"ctypedef {former} {name}\n"
        for name, former in (("blas_int", "int"), ("blas_bint", "bint"))
    ]
    write(PACKAGE / "core" / "blas_int.pxi", "".join(names))
    return folder.parent.as_posix()


def write(target, text):
    """A file, left alone if it is current: modules that depend on it are compiled again."""
    if not target.exists() or target.read_text() != text:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


class BuildExt(build_ext):
    def build_extensions(self):
        if self.compiler.compiler_type == "msvc":
            optimise, openmp_flags = ["/O2", "/std:c11", "/fp:precise"], (["/openmp"], [])
        else:
            optimise = ["-O3", "-g0", *EXACT, "-fno-math-errno", "-fno-trapping-math"]
            openmp_flags = (["-fopenmp"], ["-fopenmp"])
            if sys.platform == "darwin":  # Apple's compiler has the pragmas, Homebrew the runtime
                openmp_flags = (["-Xpreprocessor", "-fopenmp"], ["-lomp"])
        self.parallel = self.parallel or os.cpu_count()
        if not self._compiles(EMPTY_PROBE):
            raise SystemExit(NO_COMPILER)
        has_openmp = self._compiles(OPENMP_PROBE, *openmp_flags)
        if not has_openmp:
            print("mvsc_fast: no OpenMP found, building the serial core", file=sys.stderr)
        # -g0 saves a fifth of the time; what is left of symbols is most of a wheel.
        link = ["-Wl,-s", "-O3", *EXACT] if sys.platform == "linux" else []
        if SANITIZERS:
            link = [f"-fsanitize={SANITIZERS}"]
            optimise = [
                "-O1",
                "-g",
                *link,
                "-fno-omit-frame-pointer",
                "-fno-sanitize-recover=undefined",
                "-DMVSC_NO_CLONES",
            ]
        for extension in self.extensions:
            extension.extra_compile_args += optimise
            extension.extra_link_args += link
            if has_openmp:
                extension.extra_compile_args += openmp_flags[0]
                extension.extra_link_args += openmp_flags[1]
        super().build_extensions()

    def _compiles(self, program_text, compile_args=(), link_args=()):
        """Whether a program can be compiled and linked, and ends without an error."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "probe.c"
            source.write_text(program_text)
            try:
                objects = self.compiler.compile(
                    [str(source)], output_dir=folder, extra_postargs=list(compile_args)
                )
                program = str(Path(folder) / "probe")
                self.compiler.link_executable(objects, program, extra_postargs=list(link_args))
                if os.environ.get("CONDA_BUILD_CROSS_COMPILATION") == "1":
                    return True  # a program for another machine cannot run here
                return subprocess.run([program], check=False, timeout=60).returncode == 0
            except Exception:
                return False


headers = [
    "src/mvsc_fast/core/filter_loops.h",
    "src/mvsc_fast/core/factored_loops.h",
    "src/mvsc_fast/core/loops.h",
    "src/mvsc_fast/core/loops_template.h",
    "src/mvsc_fast/include/mvsc_fast.h",
]
PREDICT = ("src/mvsc_fast/judge/_predict.pyx", ["src/mvsc_fast/include/mvsc_predict.h"])
extensions = [
    Extension(
        ".".join(source.relative_to("src").with_suffix("").parts),
        [source.as_posix()],
        include_dirs=["src/mvsc_fast/core", "src/mvsc_fast/include"],
        define_macros=[("Py_LIMITED_API", "0x030b0000")] if STABLE_ABI else [],
        py_limited_api=STABLE_ABI,
        depends=PREDICT[1] if source.as_posix() == PREDICT[0] else headers,
    )
    for source in sorted(Path("src").rglob("*.pyx"))
]
setup(
    cmdclass={"build_ext": BuildExt},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE_ABI else {},
    ext_modules=cythonize(
        extensions,
        include_path=[write_declarations(), "src", "src/mvsc_fast/core"],
        nthreads=os.cpu_count() or 1,
        build_dir="build/debug" if SANITIZERS else None,
        force=bool(SANITIZERS),
        compiler_directives={
            "language_level": 3,
            "cdivision": True,
            "freethreading_compatible": True,
        },
    ),
)
