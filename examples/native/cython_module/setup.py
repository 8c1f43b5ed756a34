from Cython.Build import cythonize
from setuptools import Extension, setup

import mvsc_fast

setup(
    name="native-cython",
    version="1.0",
    ext_modules=cythonize(
        [
            Extension(
                "native_cython",
                ["native_cython.pyx"],
                include_dirs=[mvsc_fast.get_include()],
            )
        ],
        compiler_directives={"language_level": 3},
    ),
)
