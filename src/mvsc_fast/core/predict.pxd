# Labels of new rows by ridge regression on their features.
from cython cimport floating

from .api cimport mvsc_predictor
from .arena cimport Arena

cdef int predict(
    const mvsc_predictor *predictor,
    Py_ssize_t m,
    const floating *const *rows,
    int n_threads,
    Arena *arena,
    float *scores,
    Py_ssize_t *labels,
) noexcept nogil
