from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

# Bindings take the address of an array instead of a typed memoryview, because Cython compiles
# memoryview code again for every dtype, rank and module.


cdef inline void *memory(array, dtype, shape=None, name="array") except? NULL:
    """Address of the entries of a C-contiguous array, which the caller keeps alive.

    ``shape`` is that of the entries which the core reads or writes.
    """
    if shape is not None and getattr(array, "shape", None) != shape:
        raise ValueError(f"{name} must have shape {shape}, got {getattr(array, 'shape', array)}")
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise ValueError(f"{name} must be a C-contiguous array of {dtype!r}, got {array.dtype!r} "
                         f"with strides {array.strides}")
    cdef Py_buffer buffer  # whose address takes a tenth of the time of the array interface
    PyObject_GetBuffer(array, &buffer, PyBUF_SIMPLE)
    PyBuffer_Release(&buffer)
    return buffer.buf


cdef inline Py_ssize_t check_pattern(indptr, indices, Py_ssize_t first, Py_ssize_t last,
                                     Py_ssize_t n) except -1:
    """Check rows first .. last of an n x n sparse pattern; the number of their entries.

    Without ``indices`` only the starts of the rows are checked.
    """
    if indptr.shape != (n + 1,) or not 0 <= first <= last <= n:
        raise ValueError(f"indptr of {n} rows must have shape {(n + 1,)}, got {indptr.shape}, and "
                         f"contain the rows {first} to {last}")
    starts = indptr[first:last + 1]
    entries = starts if indices is None else indices[starts[0]:starts[-1]]
    if starts[0] < 0 or (starts[1:] < starts[:-1]).any():
        raise ValueError("indptr must ascend from 0")
    if indices is not None and (len(entries) < starts[-1] - starts[0] or len(entries) > 0 and not (
            0 <= entries.min() and entries.max() < n)):
        raise ValueError(f"indices must have {starts[-1]} entries from 0 to {n - 1}")
    return starts[-1] - starts[0]
