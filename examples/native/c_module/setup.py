from setuptools import Extension, setup

import mvsc_fast

setup(
    name="native-c",
    version="1.0",
    ext_modules=[
        Extension(
            "native_c",
            ["native_c.c"],
            include_dirs=[mvsc_fast.get_include()],
            extra_compile_args=["-std=c99", "-Wall", "-Wextra", "-pthread"],
            extra_link_args=["-pthread"],
        )
    ],
)
