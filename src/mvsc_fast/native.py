"""For code that is compiled against mvsc_fast: where its C header is."""

from pathlib import Path


def get_include():
    """Directory of ``mvsc_fast.h``, the C interface.

    Cython code can also cimport the functions behind it, which check nothing: `core.tlrr`
    (solvers and screening), `_kernels` (proximal maps); it needs the directory for the types in
    `core.api`.

    Returns
    -------
    str
    """
    return str(Path(__file__).resolve().parent / "include")
