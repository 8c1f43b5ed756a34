# Labels of new rows by ridge regression on their features.
from cython cimport floating

from .api cimport mvsc_predictor
from .arena cimport Arena


cdef inline bint has_factor(const mvsc_predictor *p, Py_ssize_t i) noexcept nogil:
    """Whether the rows of view i are mapped by a Cholesky factor."""
    return p.factors != NULL and p.factors[i] != NULL


cdef int predict(
    const mvsc_predictor *predictor,
    Py_ssize_t m,
    const floating *const *rows,
    int n_threads,
    Arena *arena,
    float *scores,
    Py_ssize_t *labels,
) noexcept nogil
