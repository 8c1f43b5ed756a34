"""Output files, which are written when all of their content is there."""

import os
import shutil
import tempfile
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path


def check_output(name):
    """Create the folder of an output file; raise OSError or ValueError if it is not writable."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise ValueError(f"{name} is a folder: name a file to write")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{name} cannot be written: no permission")


def check_outputs(names, inputs=()):
    """`check_output` of several files, which must differ from each other and from the input."""
    for name in names:
        check_output(name)
        for other in inputs:
            if _are_same(name, other):
                raise ValueError(f"{name} is read{_also(name, other)}: name another file to write")
    for name, other in combinations(names, 2):
        if _are_same(name, other):
            raise ValueError(f"{name} would be written twice{_also(name, other)}")


def _also(name, other):
    return "" if str(name) == str(other) else f", as {other}"


def _are_same(name, other):
    if os.path.exists(name) and os.path.exists(other):
        return os.path.samefile(name, other)
    return os.path.realpath(name) == os.path.realpath(other)


@contextmanager
def replaced(name, mode="w"):
    """Open a stream whose content goes to a file after it has been written completely."""
    options = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    with tempfile.SpooledTemporaryFile(2**24, f"{mode}+", **options) as stream:
        yield stream
        stream.seek(0)
        with open(name, mode, **options) as file:
            shutil.copyfileobj(stream, file)
