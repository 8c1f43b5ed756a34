"""Python binding of core/predict: labels of new rows."""

cimport mvsc_fast.core.predict as core
from mvsc_fast._utils.memory cimport memory
from mvsc_fast.core.api cimport (
    MVSC_NOT_FINITE,
    MVSC_ROOTS_TO_UNIT,
    MVSC_ROWS_MAPPED,
    MVSC_ROWS_TO_UNIT,
    mvsc_predictor,
)
from mvsc_fast.core.arena cimport Arena, arena_at, counting_arena, workspace_bytes

import numpy as np

ROWS_TO_UNIT, ROOTS_TO_UNIT, ROWS_MAPPED = (
    MVSC_ROWS_TO_UNIT, MVSC_ROOTS_TO_UNIT, MVSC_ROWS_MAPPED
)


cdef class Arrays:
    """Addresses of one array for each view; each may be None, and so may all."""

    cdef object arrays, table
    cdef const void *const *addresses

    def __init__(self, arrays, dtype):
        self.arrays, self.addresses = arrays, NULL
        if arrays is None:
            return
        self.table = np.array(
            [0 if array is None else <size_t> memory(array, dtype) for array in arrays],
            dtype=np.uintp,
        )
        self.addresses = <const void *const *> memory(self.table, np.uintp)


def predict(native, rows, scores=None, int n_threads=1):
    """Labels of new rows, of shape (m,); see `mvsc_predictor` in mvsc_fast.h.

    Parameters
    ----------
    native : dict
        Fields of the struct; a field that exists for every view is a list of arrays.
    rows : list of ndarray of shape (m, n_features_i)
        float32 or float64, C-contiguous.
    scores : ndarray of shape (m, n_clusters), float32, optional
        Receives the scores.
    n_threads : int, default=1

    Returns
    -------
    ndarray of shape (m,), int64
    """
    cdef mvsc_predictor predictor
    cdef Py_ssize_t m = len(rows[0])
    cdef int status
    cdef Arrays samples = Arrays(native["samples"], np.float64)
    cdef Arrays factors = Arrays(native["factors"], np.float64)
    cdef Arrays means = Arrays(native["means"], np.float32)
    cdef Arrays landmarks = Arrays(native["landmarks"], np.float32)
    cdef Arrays scales = Arrays(native["scales"], np.float32)
    cdef Arrays coefficients = Arrays(native["coefficients"], np.float32)
    cdef Arrays fill = Arrays(native["fill"], np.float32)
    cdef bint single = rows[0].dtype == np.float32
    cdef Arrays given = Arrays(rows, np.float32 if single else np.float64)
    out = np.empty(m, dtype=np.intp)
    predictor.size = sizeof(predictor)
    predictor.v, predictor.n_clusters = len(native["d"]), native["n_clusters"]
    predictor.n_landmarks = native["n_landmarks"]
    predictor.scale_neighbors = native["scale_neighbors"]
    predictor.n_features = <Py_ssize_t *> memory(native["n_features"], np.intp)
    predictor.d = <Py_ssize_t *> memory(native["d"], np.intp)
    predictor.form = <Py_ssize_t *> memory(native["form"], np.intp)
    predictor.samples = <const double *const *> samples.addresses
    predictor.factors = <const double *const *> factors.addresses
    predictor.means = <const float *const *> means.addresses
    predictor.landmarks = <const float *const *> landmarks.addresses
    predictor.scales = <const float *const *> scales.addresses
    predictor.least_scales = <float *> memory(native["least_scales"], np.float32)
    predictor.coefficients = <const float *const *> coefficients.addresses
    predictor.kernel_coefficients = <float *> memory(native["kernel_coefficients"], np.float32)
    predictor.fill = <const float *const *> fill.addresses
    cdef float *row_scores = NULL if scores is None else <float *> memory(scores, np.float32)
    cdef Py_ssize_t *labels = <Py_ssize_t *> memory(out, np.intp)
    cdef Arena arena = counting_arena()
    core.predict(&predictor, m, <const double *const *> given.addresses, n_threads, &arena, NULL,
                 NULL)
    if arena.overflow:
        raise MemoryError("more memory is needed than can be addressed")
    workspace = np.empty(workspace_bytes(&arena), dtype=np.int8)
    arena = arena_at(memory(workspace, np.int8))
    with nogil:
        if single:
            status = core.predict(&predictor, m, <const float *const *> given.addresses,
                                  n_threads, &arena, row_scores, labels)
        else:
            status = core.predict(&predictor, m, <const double *const *> given.addresses,
                                  n_threads, &arena, row_scores, labels)
    if status == MVSC_NOT_FINITE:
        raise ValueError("new samples have rows that are not finite, or lack all views that the "
                         "model uses")
    return out.astype(np.int64, copy=False)
