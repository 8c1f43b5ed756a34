"""Proximal maps of mvsc_fast by cimport, on a raw float32 file, without the GIL."""

from libc.stdlib cimport free, malloc

from mvsc_fast._kernels cimport CHUNK, SHRINK, slice_lwork, slice_map, tube_map

import array


def tube_shrink(path, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t, int n_threads):
    """The file's tensor with all tubes shrunk by t, and how many remain."""
    values = _read(path, v * m * n)
    cdef float[::1] T = values
    cdef float *lengths = <float *> malloc(n_threads * CHUNK * sizeof(float))
    cdef Py_ssize_t kept
    if lengths == NULL:
        raise MemoryError
    with nogil:
        kept = tube_map(&T[0], v, m, n, t, n_threads, lengths)
    free(lengths)
    return values.tobytes(), kept


def slice_shrink(path, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double t, int n_threads):
    """The file's tensor with the singular values of all row slices shrunk by t."""
    values = _read(path, v * m * n)
    cdef float[::1] T = values
    cdef double *work = <double *> malloc(n_threads * slice_lwork(v, n) * sizeof(double))
    cdef Py_ssize_t *rank = <Py_ssize_t *> malloc(m * sizeof(Py_ssize_t))
    cdef int *code = <int *> malloc(m * sizeof(int))
    if work == NULL or rank == NULL or code == NULL:
        free(work)
        free(rank)
        free(code)
        raise MemoryError
    with nogil:
        slice_map(&T[0], v, m, n, t, SHRINK, n_threads, work, rank, code)
    failed = any(code[j] != 0 for j in range(m))
    free(work)
    free(rank)
    free(code)
    if failed:
        raise ArithmeticError("LAPACK failed on a slice")
    return values.tobytes()


def _read(path, count):
    values = array.array("f")
    with open(path, "rb") as file:
        values.fromfile(file, count)
    return values
