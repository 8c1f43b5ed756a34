from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

import mvsc_fast

setup(
    name="core-parts",
    version="1.0",
    ext_modules=cythonize(
        [
            Extension(
                "core_parts",
                ["core_parts.pyx"],
                include_dirs=[
                    mvsc_fast.get_include(),
                    str(Path(mvsc_fast.__file__).parent / "core"),
                ],
                extra_compile_args=["-O0"],  # the core itself is compiled already
            )
        ],
        compiler_directives={
            "language_level": 3,
            "wraparound": False,
            "initializedcheck": False,
            "freethreading_compatible": True,
        },
    ),
)
