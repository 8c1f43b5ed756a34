"""Limits on the threads of BLAS and OpenMP that no interrupt can leave in place.

Python runs signal handlers between bytecodes, so an interrupt can stop a context manager written
in Python between any two of noting a setting, changing it and restoring it. Here entering is one
call of C, leaving is another, and an object that is dropped without leaving leaves.

The limits in force form a stack. Each notes the settings that it displaced, and restores them when
it leaves, unless another caller has changed a setting since. Concurrent calls leave in any
order: a limit that is not on top passes the displaced setting to the one above it.
"""

cimport cython
from cpython.pythread cimport PyThread_get_thread_ident
from libc.stdlib cimport calloc, free, realloc

ctypedef int (*Getter)() noexcept nogil
ctypedef void (*Setter)(Py_ssize_t) noexcept nogil  # BLIS reads a word, all others an int

cdef struct Library:
    Getter get
    Setter set
    bint is_blas        # or OpenMP
    bint per_thread     # every thread has a separate setting

cdef struct Change:
    int former          # 0 if the limit changed nothing
    int now

cdef struct Request:
    Request *below
    Request *above
    unsigned long thread
    bint is_fit         # and no other request of this thread below it is
    bint in_force
    Py_ssize_t n_changes
    Change *changes     # of the first libraries; later ones were not known

cdef cython.pymutex lock  # guards everything below; no Python code runs while it is held
cdef Library *libraries = NULL
cdef Py_ssize_t n_libraries = 0
cdef Request *top = NULL


cdef Request *enter(int blas, int openmp, bint is_fit) noexcept:
    """Limit BLAS and OpenMP (0: not at all). NULL, with nothing changed, if memory is exhausted."""
    cdef Request *request
    cdef Request *other
    cdef Library *library
    cdef Py_ssize_t i
    cdef int former, limit
    with lock:
        request = <Request *> calloc(1, sizeof(Request) + n_libraries * sizeof(Change))
        if request == NULL:
            return NULL
        request.changes = <Change *> (request + 1)
        request.n_changes = n_libraries
        request.thread = PyThread_get_thread_ident()
        request.is_fit = is_fit
        request.in_force = True
        other = top
        while other != NULL:
            if other.is_fit and other.thread == request.thread:
                request.is_fit = False
            other = other.below
        push(request)
        for i in range(n_libraries):
            library = &libraries[i]
            limit = blas if library.is_blas else openmp
            former = library.get()
            if 0 < limit < former:
                library.set(limit)
                request.changes[i].former = former
                request.changes[i].now = limit
    return request


cdef void leave(Request *request) noexcept:
    with lock:
        if request.in_force:
            restore(request)
    free(request)


cdef void restore(Request *request) noexcept:
    """Remove a request from the stack; restore its settings, or pass them to the one above."""
    cdef Request *above
    cdef Library *library
    cdef Change *change
    cdef Py_ssize_t i
    for i in range(request.n_changes):
        change, library = &request.changes[i], &libraries[i]
        if change.former == 0:
            continue
        above = request.above
        while above != NULL and library.per_thread and above.thread != request.thread:
            above = above.above
        if above != NULL:
            if above.changes[i].former == 0:
                above.changes[i] = change[0]
            elif above.changes[i].former == change.now:
                above.changes[i].former = change.former
        elif library.per_thread and request.thread != PyThread_get_thread_ident():
            continue  # out of reach
        elif library.get() == change.now:
            library.set(change.former)
    remove(request)


cdef void push(Request *request) noexcept:
    global top
    request.below = top
    if top != NULL:
        top.above = request
    top = request


cdef void remove(Request *request) noexcept:
    global top
    if request.below != NULL:
        request.below.above = request.above
    if request.above != NULL:
        request.above.below = request.below
    else:
        top = request.below
    request.in_force = False


cdef class Limit:
    """Context that limits the threads of libraries; returns ``n_threads``.

    Parameters
    ----------
    blas : int
        Limit on BLAS.
    openmp : int, default=0
        Limit on OpenMP, in this thread. 0 is none.
    n_threads : int, default=0
        Threads that a fit gives to the compiled core; 0 outside a fit.
    """

    cdef Request *request
    cdef int blas, openmp, n_threads

    def __cinit__(self, int blas, int openmp=0, int n_threads=0):
        self.blas, self.openmp, self.n_threads = blas, openmp, n_threads

    def __enter__(self):
        if self.request != NULL:
            raise RuntimeError("this limit is in force; make another one")
        self.request = enter(self.blas, self.openmp, self.n_threads > 0)
        if self.request == NULL:
            raise MemoryError("no memory for the limit on threads")
        return self.n_threads

    def __exit__(self, kind, error, trace):
        self._leave()

    def __dealloc__(self):
        self._leave()

    cdef void _leave(self) noexcept:
        cdef Request *request = self.request
        self.request = NULL
        if request != NULL:
            leave(request)


def add_library(size_t get, size_t set, bint is_blas, bint per_thread):
    """Have limits include a library, given by the addresses of two functions, if it is new."""
    global libraries, n_libraries
    cdef Library *grown
    cdef Py_ssize_t i
    with lock:
        for i in range(n_libraries):
            if libraries[i].set == <Setter> set and libraries[i].is_blas == is_blas:
                return
        grown = <Library *> realloc(libraries, (n_libraries + 1) * sizeof(Library))
        if grown == NULL:
            raise MemoryError("no memory for the limits on threads")
        libraries = grown
        libraries[n_libraries] = Library(<Getter> get, <Setter> set, is_blas, per_thread)
        n_libraries += 1


def fits_elsewhere():
    """Number of Python threads other than this one that are in a fit."""
    cdef unsigned long me = PyThread_get_thread_ident()
    cdef Py_ssize_t count = 0
    cdef Request *request
    with lock:
        request = top
        while request != NULL:
            count += request.is_fit and request.thread != me
            request = request.below
    return count


def leave_for_other_threads():
    """In a forked child, which has no other threads: remove their limits."""
    cdef unsigned long me = PyThread_get_thread_ident()
    cdef Request *request
    cdef Request *below
    with lock:
        request = top
        while request != NULL:
            below = request.below
            if request.thread != me:
                restore(request)
            request = below
