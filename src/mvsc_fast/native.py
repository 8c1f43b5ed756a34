"""For code that is compiled against mvsc_fast: where its headers are."""

from pathlib import Path

__all__ = ["get_include"]


def get_include():
    """Directory to compile C and Cython code with: that of ``mvsc_fast.h``, the C interface.

    Cython code can instead cimport the functions behind the interface, which check nothing::

        from mvsc_fast cimport tlrr_solve, tube_map

    ``__init__.pxd`` lists all of them; their types are in ``mvsc_fast.h``.

    Returns
    -------
    str
    """
    return str(Path(__file__).resolve().parent / "include")
