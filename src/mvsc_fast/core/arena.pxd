# Workspaces: one piece of memory of the caller, cut into aligned parts.
#
# A function that lays out a workspace takes an arena and is run twice: with base NULL it counts the
# bytes, with a base it hands them out. So a size query and a run cannot disagree.
from libc.stdint cimport SIZE_MAX, uintptr_t


cdef enum:
    ALIGNMENT = 64


cdef struct Arena:
    char *base
    size_t used
    bint overflow           # more than the address space holds


cdef inline Arena counting_arena() noexcept nogil:
    cdef Arena arena
    arena.base, arena.used, arena.overflow = NULL, 0, False
    return arena


cdef inline Arena arena_at(void *workspace) noexcept nogil:
    """An arena that begins at the first aligned address of a workspace."""
    cdef Arena arena
    arena.base = <char *> ((<uintptr_t> workspace + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT)
    arena.used, arena.overflow = 0, False
    return arena


cdef inline void *take(Arena *arena, double count, size_t itemsize) noexcept nogil:
    """Memory for ``count`` items, or NULL while counting."""
    cdef double bytes = count * itemsize
    cdef void *part = NULL
    if arena.overflow or <double> arena.used + bytes + 2 * ALIGNMENT > <double> (SIZE_MAX // 4):
        arena.overflow = True
        return NULL
    if arena.base != NULL:
        part = arena.base + arena.used
    arena.used += (<size_t> bytes + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    return part


cdef inline size_t workspace_bytes(const Arena *arena) noexcept nogil:
    """Bytes to request: the parts, and the loss by alignment of a workspace at any address."""
    return arena.used + ALIGNMENT
