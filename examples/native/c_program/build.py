"""Compiles label_rows.c against mvsc_fast and the Python that runs this.

Usage: python build.py
"""

import os
import shlex
import subprocess
import sysconfig
from pathlib import Path

import mvsc_fast


def python_library(config=sysconfig.get_config_var):
    """Arguments that link Python itself: its shared library, or its static one and all it needs."""
    name = "python" + config("LDVERSION")
    if config("Py_ENABLE_SHARED"):
        folder = config("LIBDIR")
        return [f"-L{folder}", f"-Wl,-rpath,{folder}", f"-l{name}"]
    needed = " ".join(config(key) or "" for key in ("LINKFORSHARED", "LIBS", "SYSLIBS"))
    return [str(Path(config("LIBPL"), f"lib{name}.a")), *shlex.split(needed)]


def main():
    folder = Path(__file__).resolve().parent
    compiler = shlex.split(sysconfig.get_config_var("CC"))
    flags = ["-std=c99", "-Wall", "-Wextra", *shlex.split(os.environ.get("CFLAGS", ""))]
    flags += [f"-I{mvsc_fast.get_include()}", f"-I{sysconfig.get_path('include')}"]
    program = folder / "label_rows"
    files = ["-o", str(program), str(folder / "label_rows.c")]
    subprocess.run([*compiler, *flags, *files, *python_library(), "-lm"], check=True)
    return program


if __name__ == "__main__":
    main()
