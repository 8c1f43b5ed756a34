import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

include = Path(os.environ["MVSC_INCLUDE"])
module = Extension("core_parts", ["core_parts.pyx"])
module.include_dirs = [str(include), str(include.parent / "core")]
module.extra_compile_args = ["-O0"]  # the core itself is compiled already
directives = {"language_level": 3, "freethreading_compatible": True}
setup(name="core-parts", ext_modules=cythonize([module], compiler_directives=directives))
