"""Warnings that point to the user's line."""

import sys
import warnings

PACKAGE = __name__.partition(".")[0]


def warn_user(message, category=UserWarning):
    """Warn at the line outside of the package that led here, however deep that is."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == PACKAGE:
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=depth)
