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
    """Addresses of one array for each view, NULL if its shape is None or if all shapes are."""

    cdef object arrays, table
    cdef const void *const *addresses

    def __init__(self, native, name, dtype, shapes):
        self.arrays, self.addresses = native[name], NULL
        if shapes[name].count(None) == len(shapes[name]):
            return
        self.table = np.array(
            [
                0 if shape is None else <size_t> memory(array, dtype, shape, f"{name} of view {i}")
                for array, shape, i in zip(self.arrays, shapes[name], native["views"], strict=True)
            ],
            dtype=np.uintp,
        )
        self.addresses = <const void *const *> memory(self.table, np.uintp)


def predict(native, rows, scores=None, int n_threads=1):
    """Labels of new rows, of shape (m,); see `mvsc_predictor` in mvsc_fast.h.

    Parameters
    ----------
    native : dict
        ``views``, the indices of the views, and the fields of the struct; a field that exists for
        every view is a list of arrays.
    rows : list of ndarray of shape (m, n_features_i)
        float32 or float64, C-contiguous.
    scores : ndarray of shape (m, n_clusters), float32, optional
        Receives the scores.
    n_threads : int, default=1

    Returns
    -------
    ndarray of shape (m,), int64
        -1 for samples that lack all views.

    Raises
    ------
    ValueError
        If an array has not the shape and type that the struct requires, or a row is not finite.
    """
    cdef mvsc_predictor predictor
    views, (v,) = native["views"], np.shape(native["views"])
    m, c, L = len(rows[0]), native["n_clusters"], native["n_landmarks"]
    cdef Py_ssize_t n_rows = m
    cdef int status
    predictor.size = sizeof(predictor)
    predictor.v, predictor.n_clusters, predictor.n_landmarks = v, c, L
    predictor.scale_neighbors = native["scale_neighbors"]
    if min(v, c, L, predictor.scale_neighbors, n_threads) < 1:
        raise ValueError("expected at least one view, cluster, landmark, neighbor and thread")
    predictor.n_features = <Py_ssize_t *> memory(native["n_features"], np.intp, (v,), "n_features")
    predictor.d = <Py_ssize_t *> memory(native["d"], np.intp, (v,), "d")
    predictor.form = <Py_ssize_t *> memory(native["form"], np.intp, (v,), "form")
    predictor.least_scales = <float *> memory(native["least_scales"], np.float32, (v,),
                                              "least_scales")
    predictor.kernel_coefficients = <float *> memory(native["kernel_coefficients"], np.float32,
                                                     (L, c), "kernel_coefficients")
    widths, columns = native["n_features"].tolist(), native["d"].tolist()
    pairs = list(zip(columns, widths))
    has_map = [factor is not None for factor in native["factors"]]
    for i, (d, width), known in zip(views, pairs, has_map, strict=True):
        if d < 1 or (d != width and not known):
            raise ValueError(f"view {i}: rows of {width} features cannot have {d} columns")
    shapes = {
        "samples": [pair if known else None for pair, known in zip(pairs, has_map)],
        "factors": [(d, d) if known else None for d, known in zip(columns, has_map)],
        "means": [(d,) for d in columns],
        "landmarks": [(L, d) for d in columns],
        "scales": [(L,)] * v,
        "coefficients": [(d, c) for d in columns],
        "fill": [None if native["fill"] is None else (L, d) for d in columns],
        "mean_rows": [None if mean is None else (width,)
                      for mean, width in zip(native["mean_rows"] or [None] * v, widths)],
        "rows": [(m, width) for width in widths],
    }
    cdef bint single = rows[0].dtype == np.float32
    cdef Arrays samples = Arrays(native, "samples", np.float64, shapes)
    cdef Arrays factors = Arrays(native, "factors", np.float64, shapes)
    cdef Arrays means = Arrays(native, "means", np.float32, shapes)
    cdef Arrays landmarks = Arrays(native, "landmarks", np.float32, shapes)
    cdef Arrays scales = Arrays(native, "scales", np.float32, shapes)
    cdef Arrays coefficients = Arrays(native, "coefficients", np.float32, shapes)
    cdef Arrays fill = Arrays(native, "fill", np.float32, shapes)
    cdef Arrays mean_rows = Arrays(native, "mean_rows", np.float32, shapes)
    cdef Arrays given = Arrays({**native, "rows": rows}, "rows",
                               np.float32 if single else np.float64, shapes)
    predictor.samples = <const double *const *> samples.addresses
    predictor.factors = <const double *const *> factors.addresses
    predictor.means = <const float *const *> means.addresses
    predictor.landmarks = <const float *const *> landmarks.addresses
    predictor.scales = <const float *const *> scales.addresses
    predictor.coefficients = <const float *const *> coefficients.addresses
    predictor.fill = <const float *const *> fill.addresses
    predictor.mean_rows = <const float *const *> mean_rows.addresses
    out = np.empty(m, dtype=np.intp)
    cdef float *row_scores = NULL
    if scores is not None:
        row_scores = <float *> memory(scores, np.float32, (m, c), "scores")
    cdef Py_ssize_t *labels = <Py_ssize_t *> memory(out, np.intp)
    cdef Arena arena = counting_arena()
    core.predict(&predictor, 0, <const double *const *> NULL, n_threads, &arena, NULL, NULL)
    if arena.overflow:
        raise MemoryError("more memory is needed than can be addressed")
    workspace = np.empty(workspace_bytes(&arena), dtype=np.int8)
    arena = arena_at(memory(workspace, np.int8))
    with nogil:
        if single:
            status = core.predict(&predictor, n_rows, <const float *const *> given.addresses,
                                  n_threads, &arena, row_scores, labels)
        else:
            status = core.predict(&predictor, n_rows, <const double *const *> given.addresses,
                                  n_threads, &arena, row_scores, labels)
    if status == MVSC_NOT_FINITE:
        row = int((out < -1).argmax())
        i = -2 - out[row]
        raise ValueError(f"view {views[i]} is not finite in row {row}" if i < v else
                         f"the scores of row {row} are not finite: the model has invalid entries")
    return out.astype(np.int64, copy=False)
