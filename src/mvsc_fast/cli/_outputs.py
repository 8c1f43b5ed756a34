"""Output files, which replace existing ones only after they have been written completely."""

import os
import shutil
import sys
from contextlib import contextmanager
from itertools import combinations, product
from pathlib import Path

STDOUT = "-"


@contextmanager
def replaced(name, mode="w"):
    """Open a stream for a file that is moved to its path after it has been written.

    None is the standard output, which like pipes and devices is written directly.
    """
    options = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    if name is None:
        yield sys.stdout
        sys.stdout.flush()
    elif _is_direct(name):
        with open(name, mode, **options) as stream:
            yield stream
    else:
        path = Path(os.path.realpath(name))  # the target of a link is replaced, not the link
        temporary = path.with_name(f".mvsc-fast-{os.getpid()}-{path.name}")
        try:
            with open(temporary, mode, **options) as stream:
                yield stream
            if path.exists():
                shutil.copymode(path, temporary)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


def _is_direct(name):
    """Whether a path is a pipe or a device, also one that leads to a file, as /dev/stdout."""
    path = Path(name)
    return path.exists() and not path.is_file() or path.parent == Path("/dev")


def check_outputs(names, inputs=()):
    """Create the folders of output files; raise an error if they are not writable.

    The files must differ from each other and from the input. None is the standard output.
    """
    if None in names and sys.stdout is None:
        raise ValueError("the standard output is closed: use --labels to write a file")
    names = [name for name in names if name is not None]
    # Folders are created and tested now, because an error after the fit would lose it.
    for name in names:
        path = Path(os.path.realpath(name))
        if Path(name).is_dir():
            raise ValueError(f"{name} is a folder: choose a file name")
        if path.is_symlink() or Path(name).is_symlink() and not path.parent.is_dir():
            raise ValueError(f"{name} is a link to a file that cannot exist: {path}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise ValueError(f"{name}: {error.filename} is not a folder") from error
        if not os.access(name if _is_direct(name) else path.parent, os.W_OK):
            raise ValueError(f"{name} cannot be written: no permission in its folder")
    # Links may lead two names to one file.
    for name, other in [*combinations(names, 2), *product(names, inputs)]:
        exist = os.path.exists(name) and os.path.exists(other)
        real_names = [os.path.realpath(path) for path in (name, other)]
        if os.path.samefile(name, other) if exist else real_names[0] == real_names[1]:
            alias = "" if str(name) == str(other) else f", as {other}"
            problem = "is an input file" if other in inputs else "would be written twice"
            raise ValueError(f"{name} {problem}{alias}: choose another")


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
