import os

from setuptools import Extension, setup

setup(
    name="native-probe",
    version="1.0",
    ext_modules=[
        Extension(
            "native_probe",
            ["native_probe.c"],
            include_dirs=[os.environ["MVSC_INCLUDE"]],
            extra_compile_args=["-std=c99", "-Wall", "-Wextra", "-Werror"],
        )
    ],
)
