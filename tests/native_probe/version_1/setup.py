from setuptools import Extension, setup

# Against the header beside it, which stays what it was.
setup(
    name="native-client",
    version="1.0",
    ext_modules=[
        Extension(
            "native_client",
            ["native_client.c"],
            include_dirs=["."],
            extra_compile_args=["-std=c99", "-Wall", "-Wextra", "-Werror"],
        )
    ],
)
