# The proximal maps for cimport: they know no Python, allocate nothing and run without the GIL.
from .core.loops cimport CHUNK
from .core.rows cimport (
    CLIP,
    SHRINK,
    Spectral,
    row_basis,
    row_lwork,
    row_operator,
    slice_lwork,
    slice_map,
    spectral_factor,
    tube_map,
)
from .core.symmetric cimport (
    MAX_SLICE,
    symmetric_liwork,
    symmetric_lwork,
    symmetric_map,
    symmetric_maps,
)
