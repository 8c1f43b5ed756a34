import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    name="core-parts",
    version="1.0",
    ext_modules=cythonize(
        [
            Extension(
                "core_parts",
                ["core_parts.pyx"],
                include_dirs=[
                    os.environ["MVSC_INCLUDE"],
                    str(Path(os.environ["MVSC_INCLUDE"]).parent / "core"),
                ],
                extra_compile_args=["-O0"],  # the core itself is compiled already
            )
        ],
        compiler_directives={"language_level": 3, "freethreading_compatible": True},
    ),
)
