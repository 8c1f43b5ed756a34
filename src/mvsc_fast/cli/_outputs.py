"""Output files, which replace existing ones only after they have been written completely."""

import os
import platform
import re
import secrets
import stat
import sys
import time
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path

STDOUT = "-"
BESIDE = ".mvsc-fast-"  # names of temporary files: this, a machine, a process and random letters
OLD = 24 * 3600  # seconds after which a temporary file belongs to no run


def output(name):
    """The path of an output file, or None for the standard output."""
    return None if name == STDOUT else name


def _check_output(name):
    path = Path(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ValueError(f"{name} cannot be written: {error.filename} is not a folder") from error
    if path.is_dir():
        raise ValueError(f"{name} is a folder: choose a file name")
    if path.is_symlink():
        path = Path(os.path.realpath(name))
        if path.is_symlink() or not path.parent.is_dir():
            raise ValueError(
                f"{name} cannot be written: it is a link to {path}, which cannot exist"
            )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{name} cannot be written: no permission")


def check_outputs(names, inputs=()):
    """Create the folders of output files; raise an error if they are not writable.

    The files must differ from each other and from the input. None is the standard output.
    """
    if None in names and sys.stdout is None:
        raise ValueError("the standard output is closed: use --labels to write a file")
    names = [name for name in names if name is not None]
    for name in names:
        _check_output(name)
        for other in inputs:
            if _are_same(name, other):
                raise ValueError(f"{name} is an input file{_also(name, other)}: choose another")
    for name, other in combinations(names, 2):
        if _are_same(name, other):
            raise ValueError(f"{name} would be written twice{_also(name, other)}")


def check_printable(texts):
    """Raise ValueError if the standard output cannot show some texts."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    for text in texts:
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            raise ValueError(
                f"the standard output cannot show {ascii(text)}, because its encoding is "
                f"{encoding}: set the environment variable PYTHONUTF8=1 or, for the labels of "
                "samples, use --labels FILE"
            ) from None


def _also(name, other):
    return "" if str(name) == str(other) else f", as {other}"


def _are_same(name, other):
    if os.path.exists(name) and os.path.exists(other):
        return os.path.samefile(name, other)
    return os.path.realpath(name) == os.path.realpath(other)


@contextmanager
def replaced(name, mode="w"):
    """Open a stream for a file that is moved to its path after it has been written.

    None is the standard output, which like all paths that are no regular files is written directly.
    """
    if name is None:
        yield sys.stdout
        sys.stdout.flush()
        return
    options = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    if not _is_replaceable(name):
        with open(name, mode, **options) as stream:
            yield stream
        return
    path = Path(os.path.realpath(name))  # the target of a link is replaced, not the link
    _remove_left(path.parent)
    beside = path.with_name(f"{BESIDE}{platform.node()}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with open(beside, mode.replace("w", "x"), **options) as stream:
            os.chmod(beside, (path if path.exists() else beside).stat().st_mode & 0o7777)
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and BESIDE in str(error.filename):
            raise OSError(error.errno, error.strerror, os.fspath(name)) from error
        raise


def _remove_left(folder):
    """Remove temporary files of runs that were killed: their process is gone, or they are old."""
    for beside in folder.glob(f"{BESIDE}*"):
        process = re.fullmatch(rf"{BESIDE}{re.escape(platform.node())}-(\d+)-\w+", beside.name)
        with suppress(OSError):
            old = time.time() - beside.stat().st_mtime > OLD
            if old or process and not _runs(int(process[1])):
                beside.unlink()


def _runs(process):
    """Whether a process of this machine may still run."""
    if sys.platform == "win32":  # where the call below ends the process
        return True
    try:
        os.kill(process, 0)
    except OSError as error:  # a process of another user runs as well
        return not isinstance(error, ProcessLookupError)
    return True


def _is_replaceable(name):
    """Whether a file can be replaced by another one."""
    if not os.path.exists(name):
        return True
    there = os.stat(name)
    if not stat.S_ISREG(there.st_mode) or not os.access(Path(name).resolve().parent, os.W_OK):
        return False
    for stream in (sys.__stdout__, sys.__stderr__):
        try:
            if os.path.samestat(there, os.fstat(stream.fileno())):
                return False
        except (AttributeError, OSError, ValueError):  # closed
            continue
    return True
