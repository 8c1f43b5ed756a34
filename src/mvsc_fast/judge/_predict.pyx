"""Python binding of mvsc_predict.h: labels of new rows."""

from cython.parallel cimport prange
from libc.stdint cimport int8_t, int64_t, uint64_t

from mvsc_fast._utils.memory cimport memory

import numpy as np

cdef extern from "mvsc_predict.h" nogil:
    int MVSC_MODEL_NOT_FINITE, MVSC_ROWS_FLOAT32, MVSC_ROWS_FLOAT64
    int MVSC_ROWS_TO_UNIT, MVSC_ROOTS_TO_UNIT, MVSC_ROWS_MAPPED
    ctypedef struct mvsc_model:
        Py_ssize_t n_inputs
        Py_ssize_t n_views
        Py_ssize_t n_clusters
    const char *mvsc_model_strerror(int status)
    int mvsc_model_load(mvsc_model *model, const void *memory, size_t size)
    uint64_t mvsc_model_checksum(const void *bytes, size_t size)
    Py_ssize_t mvsc_model_columns(const mvsc_model *model, Py_ssize_t i)
    int mvsc_model_uses(const mvsc_model *model, Py_ssize_t i)
    size_t mvsc_model_workspace(const mvsc_model *model, Py_ssize_t m)
    int mvsc_model_predict(const mvsc_model *model, Py_ssize_t m, const void *const *rows,
                           int dtype, void *workspace, size_t size, float *scores,
                           int64_t *labels)
    int mvsc_model_margins(const mvsc_model *model, Py_ssize_t m, const float *scores,
                           float *margins, int8_t *unlike)

ROWS_TO_UNIT, ROOTS_TO_UNIT, ROWS_MAPPED = (
    MVSC_ROWS_TO_UNIT, MVSC_ROOTS_TO_UNIT, MVSC_ROWS_MAPPED
)


def checksum(image):
    """The checksum of the bytes of a model, as a signed number."""
    return <int64_t> mvsc_model_checksum(memory(image, np.uint8), image.nbytes)


cdef class Model:
    """A model in memory, from which labels are predicted.

    Parameters
    ----------
    image : ndarray of uint8
        The bytes of a model file, which must not change.

    Raises
    ------
    ValueError
        If they are not a model, or damaged.
    """

    cdef mvsc_model model
    cdef readonly object image
    cdef readonly list used     # indices of the views that are used

    def __init__(self, image):
        cdef int status = mvsc_model_load(&self.model, memory(image, np.uint8), image.nbytes)
        if status != 0:
            raise ValueError(mvsc_model_strerror(status).decode())
        self.image = image
        self.used = [i for i in range(self.model.n_inputs) if mvsc_model_uses(&self.model, i)]

    @property
    def n_clusters(self):
        """Number of clusters."""
        return self.model.n_clusters

    def predict(self, rows, scores=None, int n_threads=1):
        """Labels of new rows, of shape (m,), int64; see `mvsc_model_predict`.

        Parameters
        ----------
        rows : list of ndarray of shape (m, n_features_i)
            float32 or float64, C-contiguous, those of the views that are used.
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
            If an array has not the required shape and type, or a row is not finite.
        """
        # Rows are divided among the threads, each with its part of the workspace.
        n_threads = max(n_threads, 1)
        cdef Py_ssize_t m = len(rows[0]), step = max(1, (m + n_threads - 1) // n_threads)
        cdef Py_ssize_t count = (m + step - 1) // step, part, last = self.model.n_inputs
        cdef size_t size = mvsc_model_workspace(&self.model, step), start
        cdef int dtype = MVSC_ROWS_FLOAT32
        kind = rows[0].dtype
        if kind != np.float32:
            dtype, kind = MVSC_ROWS_FLOAT64, np.dtype(np.float64)
        # The address of the first row of each view, for each thread; 0 for views that are not used.
        starts = np.zeros((max(count, 1), last), dtype=np.uintp)
        cdef size_t *addresses = <size_t *> memory(starts, np.uintp)
        for i, X in zip(self.used, rows, strict=True):
            width = mvsc_model_columns(&self.model, i)
            start = <size_t> memory(X, kind, (m, width), f"rows of view {i}")
            for part in range(count):
                addresses[part * last + <Py_ssize_t> i] = start
                start += <size_t> (step * width * kind.itemsize)
        labels = np.empty(m, dtype=np.int64)
        failed = np.zeros(max(count, 1), dtype=np.intc)
        workspace = np.empty(max(count, 1) * size, dtype=np.int8)
        cdef int64_t *out = <int64_t *> memory(labels, np.int64)
        cdef int *statuses = <int *> memory(failed, np.intc)
        cdef char *work = <char *> memory(workspace, np.int8)
        cdef float *score = NULL
        if scores is not None:
            score = <float *> memory(scores, np.float32, (m, self.model.n_clusters), "scores")
        for part in prange(count, num_threads=n_threads, schedule="static", nogil=True):
            statuses[part] = mvsc_model_predict(
                &self.model, min(step, m - part * step),
                <const void *const *> (addresses + part * last), dtype, work + part * size, size,
                NULL if score == NULL else score + part * step * self.model.n_clusters,
                out + part * step,
            )
        # The first row without a label tells which view is not finite.
        if failed.any():
            if failed.max() != MVSC_MODEL_NOT_FINITE:
                raise ValueError(mvsc_model_strerror(failed.max()).decode())
            row = int((labels < -1).argmax())
            i = -2 - labels[row]
            raise ValueError(
                f"view {i} is not finite in row {row}" if i < last else
                f"the scores of row {row} are not finite: the model has invalid entries"
            )
        return labels

    def margins(self, scores):
        """Margins of rows with these scores, and whether they are unlike the fitted samples.

        See `mvsc_model_margins`.

        Parameters
        ----------
        scores : ndarray of shape (m, n_clusters), float32

        Returns
        -------
        margins : ndarray of shape (m,), float32
        unlike : ndarray of shape (m,), int8
            -1 if it is unknown.
        """
        cdef Py_ssize_t m = len(scores)
        margins, unlike = np.empty(m, dtype=np.float32), np.empty(m, dtype=np.int8)
        cdef const float *values = <float *> memory(
            scores, np.float32, (m, self.model.n_clusters), "scores"
        )
        cdef int status = mvsc_model_margins(
            &self.model, m, values, <float *> memory(margins, np.float32),
            <int8_t *> memory(unlike, np.int8),
        )
        if status != 0:
            raise ValueError(mvsc_model_strerror(status).decode())
        return margins, unlike
