from Cython.Build import cythonize
from setuptools import Extension, setup

setup(
    name="native-cython",
    version="1.0",
    ext_modules=cythonize(
        [Extension("native_cython", ["native_cython.pyx"])],
        compiler_directives={"language_level": 3},
    ),
)
