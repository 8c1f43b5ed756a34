"""Warnings that point to the user's line, and advice on packages that are not installed."""

import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module

INNER = (__name__.partition(".")[0], "sklearn")  # packages whose lines are skipped
_recorded: ContextVar[tuple[list[str], ...]] = ContextVar("recorded", default=())


@contextmanager
def recorded():
    """A list that receives the text of each warning of `warn_user` in this context, once."""
    texts: list[str] = []
    token = _recorded.set((*_recorded.get(), texts))
    try:
        yield texts
    finally:
        _recorded.reset(token)


def warn_user(message, category=UserWarning):
    """Warn at the line of the user's code that called the package, directly or in a pipeline."""
    for texts in _recorded.get():
        if message not in texts:
            texts.append(message)
    frame, depth = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in INNER:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=depth)


def counted(number, noun):
    """A number and its noun, in the singular for 1."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def import_extra(package, what, install=None):
    """Import an optional package, or raise ImportError with its purpose and how to install it."""
    try:
        return import_module(package)
    except ImportError as error:
        raise ImportError(f"{what} needs {package}: pip install {install or package}") from error
