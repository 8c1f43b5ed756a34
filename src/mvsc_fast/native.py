"""For code that is compiled against mvsc_fast: where its C header is."""

from pathlib import Path


def get_include():
    """Directory of ``mvsc_fast.h``, the C interface; Cython code can cimport `_kernels` instead.

    Returns
    -------
    str
    """
    return str(Path(__file__).resolve().parent / "include")
