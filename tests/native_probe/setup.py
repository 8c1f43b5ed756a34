from setuptools import Extension, setup

import mvsc_fast

setup(
    name="native-probe",
    version="1.0",
    ext_modules=[
        Extension(
            "native_probe",
            ["native_probe.c"],
            include_dirs=[mvsc_fast.get_include()],
            extra_compile_args=["-std=c99", "-Wall", "-Wextra", "-Werror"],
        )
    ],
)
