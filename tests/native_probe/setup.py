import os

from setuptools import Extension, setup

module = Extension("native_probe", ["native_probe.c"], include_dirs=[os.environ["MVSC_INCLUDE"]])
module.extra_compile_args = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
setup(name="native-probe", ext_modules=[module])
