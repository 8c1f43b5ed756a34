# How the doors reach the entries of arrays. Not by typed memoryviews: of those every type and every
# number of axes is compiled apart, in every module anew.


cdef inline void *memory(array, dtype) except? NULL:
    """Address of the entries of a C-contiguous array, which the caller keeps alive."""
    if array.dtype != dtype or not array.flags.c_contiguous:
        raise ValueError(f"a C-contiguous array of {dtype!r} is wanted, got one of "
                         f"{array.dtype!r} with strides {array.strides}")
    return <void *> <size_t> array.__array_interface__["data"][0]
