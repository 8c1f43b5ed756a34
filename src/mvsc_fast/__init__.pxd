# What native code may cimport from the package: `from mvsc_fast cimport tlrr_solve, tube_map`.
# Nothing here checks its arguments, allocates memory or needs the GIL.

# Types and codes of the C interface
from mvsc_fast.core.api cimport (
    MVSC_BAD_ARGUMENT,
    MVSC_BAD_SHAPE,
    MVSC_NO_CONVERGENCE,
    MVSC_NOT_FINITE,
    MVSC_NOT_SYMMETRIC,
    MVSC_OK,
    MVSC_OUT_OF_RANGE,
    MVSC_SMALL_WORKSPACE,
    MVSC_TLRR_DUAL,
    MVSC_TLRR_IALM,
    MVSC_TOO_LARGE,
    mvsc_progress,
    mvsc_tlrr_blocks,
    mvsc_tlrr_options,
    mvsc_tlrr_result,
    mvsc_tlrr_state,
)

# TLRR
from mvsc_fast.core.screening cimport Source
from mvsc_fast.core.tlrr cimport dense_source, tlrr_screen, tlrr_solve, tlrr_workspace

# Proximal maps of whole tensors, C-contiguous of shape (v, m, n)
from mvsc_fast.core.loops cimport CHUNK
from mvsc_fast.core.rows cimport CLIP, SHRINK, Spectral, slice_lwork, slice_map, tube_map
from mvsc_fast.core.symmetric cimport (
    MAX_SLICE,
    symmetric_liwork,
    symmetric_lwork,
    symmetric_maps,
)
