"""Python's door to the proximal maps and to the fused passes on (v, m, n) tensors.

Tensors are C-contiguous, so that ``T[i]`` is the frontal slice of view i, ``T[:, j, :]`` the
v x n slice of row j, and ``T[:, j, k]`` a tube. All kernels work in place, release the GIL, take
float32 and float64, and write each output from one thread only, so that the thread count never
changes a result.
"""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    PyBuffer_Release,
    PyObject_GetBuffer,
)

from .core.gram cimport (
    COLUMNS,
    ROWS,
    Side,
    complex_bytes,
    complex_map,
    unfolding_bytes,
    unfolding_map,
)
from .core.platform cimport MVSC_OPENMP
from .core.recovery cimport SNN, snn_bytes, snn_sweep, trpca_bytes, trpca_sweep
from .core.rows cimport halfcomplex_lwork, halfcomplex_map

import sys

import numpy as np

NATIVE = b"<" if sys.byteorder == "little" else b">"  # dtypes of h5py name the order of bytes
HAS_OPENMP = bool(MVSC_OPENMP)
LARGEST_SLICE = MAX_SLICE


class KernelError(np.linalg.LinAlgError):
    """A LAPACK routine failed; the message names the slice."""


def check_status(status, what):
    """Raise KernelError for the first slice whose LAPACK status is not zero."""
    cdef Py_ssize_t index
    for index in range(len(status)):
        if status[index] < 0:
            raise KernelError(f"{what} {index}: LAPACK refused argument {-status[index]}; "
                              "please report this as a defect of mvsc_fast")
        if status[index] > 0:
            raise KernelError(f"{what} {index}: the eigensolver did not converge "
                              f"(LAPACK info = {status[index]}); are all entries finite?")


# ------------------------------------------------------------------ memory of arrays

cdef class Buffer:
    """The memory of a C-contiguous array, held for as long as a kernel works on it.

    Not a typed memoryview: of those every type and every number of axes is compiled apart.
    """

    cdef Py_buffer view
    cdef bint held

    def __cinit__(self, array, bint writable=True):
        PyObject_GetBuffer(array, &self.view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT
                           | (PyBUF_WRITABLE if writable else 0))
        self.held = True

    def __dealloc__(self):
        if self.held:
            PyBuffer_Release(&self.view)


cdef class Tensor(Buffer):
    """An array of v x m x n numbers, or of m x n: v is 1 then."""

    cdef void *data
    cdef bint single
    cdef Py_ssize_t v
    cdef Py_ssize_t m
    cdef Py_ssize_t n

    def __init__(self, array, bint writable=True):
        kind = self.view.format.lstrip(NATIVE)
        if kind not in (b"f", b"d") or self.view.ndim not in (2, 3):
            raise ValueError("kernels take arrays of float32 or float64 with two or three axes, "
                             f"got {self.view.ndim} axes of type {kind.decode()!r}")
        self.data = self.view.buf
        self.single = kind == b"f"
        self.v = self.view.shape[0] if self.view.ndim == 3 else 1
        self.m = self.view.shape[self.view.ndim - 2]
        self.n = self.view.shape[self.view.ndim - 1]

    cdef Tensor same(self, array):
        """Another tensor of this shape and type."""
        cdef Tensor other = Tensor(array)
        if (other.single, other.v, other.m, other.n) != (self.single, self.v, self.m, self.n):
            raise ValueError("all tensors of a pass must have one shape and one type")
        return other

    cdef object dtype(self):
        return np.float32 if self.single else np.float64


cdef void *address(Buffer buffer):
    return buffer.view.buf


# ------------------------------------------------------------------ tubes and slices of a row

def tube_shrink(T, double t, int n_threads=1):
    """Shrink the length of every tube ``T[:, j, k]`` by t, in place.

    The proximal map of ``t * sum_jk ||T[:, j, k]||_2``.

    Returns
    -------
    int
        Number of tubes that remain non-zero.
    """
    cdef Tensor x = Tensor(T)
    cdef Buffer work = Buffer(np.empty((n_threads, CHUNK), dtype=x.dtype()))
    cdef void *lengths = address(work)
    cdef Py_ssize_t kept
    if x.v * x.m * x.n == 0:
        return 0
    with nogil:
        if x.single:
            kept = tube_map(<float *> x.data, x.v, x.m, x.n, t, n_threads, <float *> lengths)
        else:
            kept = tube_map(<double *> x.data, x.v, x.m, x.n, t, n_threads, <double *> lengths)
    return kept


cdef _slice_map(Tensor T, double t, Spectral kind, int n_threads):
    ranks = np.zeros(T.m, dtype=np.intp)
    status = np.zeros(T.m, dtype=np.intc)
    if T.v * T.m * T.n == 0:
        return ranks
    cdef Buffer rank_memory = Buffer(ranks), status_memory = Buffer(status)
    cdef Buffer work = Buffer(np.empty((n_threads, slice_lwork(T.v, T.n))))
    cdef Py_ssize_t *rank = <Py_ssize_t *> address(rank_memory)
    cdef int *info = <int *> address(status_memory)
    cdef double *numbers = <double *> address(work)
    with nogil:
        if T.single:
            slice_map(<float *> T.data, T.v, T.m, T.n, t, kind, n_threads, numbers, rank, info)
        else:
            slice_map(<double *> T.data, T.v, T.m, T.n, t, kind, n_threads, numbers, rank, info)
    check_status(status, "row slice")
    return ranks


def slice_shrink(T, double t, int n_threads=1):
    """Shrink the singular values of every v x n slice ``T[:, j, :]`` by t, in place.

    The proximal map of ``t * sum_j ||T[:, j, :]||_*``, through the v x v Gram matrix, or LAPACK's
    SVD where t is too small for a Gram matrix to resolve.

    Returns
    -------
    ndarray of shape (m,)
        Number of singular values above t in every slice.
    """
    return _slice_map(Tensor(T), t, SHRINK, n_threads)


def slice_clip(T, double t, int n_threads=1):
    """Clip the singular values of every v x n slice ``T[:, j, :]`` at t, in place.

    The projection of every slice onto the spectral-norm ball of radius t. Returns the number of
    singular values above t in every slice.
    """
    return _slice_map(Tensor(T), t, CLIP, n_threads)


def halfcomplex_shrink(T, double t, int n_threads=1):
    """Shrink the singular values of the complex slices of a halfcomplex tensor, in place.

    The middle axis holds the orthonormal real form of a discrete Fourier transform of length m:
    row 0, then the real and the imaginary part (times sqrt 2) of every frequency, then, for even
    m, the highest frequency. With t the threshold divided by sqrt(m), this is the proximal map of
    the tensor nuclear norm (Xie et al. 2018, Eq. 18); a pair of rows is shrunk by sqrt(2) t.

    Returns
    -------
    ndarray of shape (m // 2 + 1,)
        Number of singular values above the threshold for every frequency.
    """
    cdef Tensor x = Tensor(T)
    ranks = np.zeros(x.m // 2 + 1, dtype=np.intp)
    status = np.zeros(x.m // 2 + 1, dtype=np.intc)
    if x.v * x.m * x.n == 0:
        return ranks
    cdef Buffer rank_memory = Buffer(ranks), status_memory = Buffer(status)
    cdef Buffer work = Buffer(np.empty((n_threads, halfcomplex_lwork(x.v, x.n))))
    cdef Py_ssize_t *rank = <Py_ssize_t *> address(rank_memory)
    cdef int *info = <int *> address(status_memory)
    cdef double *numbers = <double *> address(work)
    with nogil:
        if x.single:
            halfcomplex_map(<float *> x.data, x.v, x.m, x.n, t, n_threads, numbers, rank, info)
        else:
            halfcomplex_map(<double *> x.data, x.v, x.m, x.n, t, n_threads, numbers, rank, info)
    check_status(status, "frequency")
    return ranks


# ------------------------------------------------------------------ symmetric frontal slices

class SymmetricWorkspace:
    """Scratch memory of the symmetric maps: two n x n matrices for each slice worked on at once."""

    def __init__(self, n, slots, dtype):
        self.n = n
        self.slots = slots
        self.dtype = np.dtype(dtype)
        self.numbers = np.empty((slots, symmetric_lwork(n)), dtype=dtype)
        self.integers = np.empty((slots, symmetric_liwork(n)), dtype=np.longlong)


cdef _symmetric_map(Tensor T, double t, Spectral kind, work, int n_threads):
    cdef int threads = <int> max(1, min(<Py_ssize_t> n_threads, T.v))
    _check_square(T)
    if work is None:
        work = SymmetricWorkspace(T.n, threads, T.dtype())
    if work.n < T.n or work.slots < threads or work.dtype != T.dtype():
        raise ValueError(f"workspace for {work.slots} slices of size {work.n} in {work.dtype} is "
                         f"too small for {threads} of size {T.n} in {np.dtype(T.dtype())}")
    outside = np.zeros(T.v, dtype=np.intp)
    eigenvalues = np.zeros((T.v, T.n), dtype=T.dtype())
    status = np.zeros(T.v, dtype=np.intc)
    if T.v * T.n == 0:
        return outside, eigenvalues
    cdef Buffer outside_memory = Buffer(outside), status_memory = Buffer(status)
    cdef Buffer spectrum_memory = Buffer(eigenvalues)
    cdef Buffer number_memory = Buffer(work.numbers), integer_memory = Buffer(work.integers)
    cdef Py_ssize_t *rank = <Py_ssize_t *> address(outside_memory)
    cdef int *info = <int *> address(status_memory)
    cdef long long *integers = <long long *> address(integer_memory)
    cdef void *numbers = address(number_memory)
    cdef void *spectrum = address(spectrum_memory)
    with nogil:
        if T.single:
            symmetric_maps(<float *> T.data, T.v, T.n, t, kind, threads, <float *> numbers,
                           integers, <float *> spectrum, rank, info)
        else:
            symmetric_maps(<double *> T.data, T.v, T.n, t, kind, threads, <double *> numbers,
                           integers, <double *> spectrum, rank, info)
    check_status(status, "frontal slice of view")
    return outside, eigenvalues


cdef int _check_square(Tensor T) except -1:
    if T.m != T.n:
        raise ValueError(f"frontal slices must be square, got {T.m} x {T.n}")
    return 0


def symmetric_shrink(T, double t, work=None, int n_threads=1):
    """Shrink the eigenvalues of every symmetric slice ``T[i]`` towards zero by t, in place.

    The proximal map of ``t * sum_i ||T[i]||_*`` on symmetric slices; what is mapped is
    ``(T[i] + T[i].T) / 2``. Eigenvalues come first, then only the eigenvectors of the smaller part
    of the spectrum.

    Parameters
    ----------
    T : array of shape (v, n, n)
    t : float
        Threshold.
    work : SymmetricWorkspace, optional
        Scratch memory to reuse between calls.
    n_threads : int, default=1
        Slices worked on at once, each with the BLAS threads set outside.

    Returns
    -------
    outside : ndarray of shape (v,)
        Number of eigenvalues with absolute value above t.
    eigenvalues : ndarray of shape (v, n)
        Spectrum of the input, ascending.
    """
    return _symmetric_map(Tensor(T), t, SHRINK, work, n_threads)


def symmetric_clip(T, double t, work=None, int n_threads=1):
    """Clip the eigenvalues of every symmetric slice ``T[i]`` to [-t, t], in place.

    The projection onto symmetric matrices of spectral norm at most t. Parameters and returns as
    for `symmetric_shrink`.
    """
    return _symmetric_map(Tensor(T), t, CLIP, work, n_threads)


# ------------------------------------------------------------------ large slices and unfoldings

class UnfoldingWorkspace:
    """Scratch memory of the unfolding kernels: three matrices of the data's type, two real ones.

    With complex slices, room for one more, and for all of them complex.

    Parameters
    ----------
    n : int
        Columns of the slices.
    dtype : dtype
    complex_slices : bool, default=False
    rows : int, optional
        Of the slices, when singular values are shrunk by rows only; None is n, and enough for
        columns too.
    """

    def __init__(self, n, dtype, complex_slices=False, rows=None):
        single = np.dtype(dtype) == np.float32
        self.shape = n if rows is None else rows, n
        if complex_slices:
            size = complex_bytes(self.shape[0], n, single)
        else:
            size = unfolding_bytes(self.shape[0], n, ROWS, single)
        self.memory = np.empty(size, dtype=np.int8)


cdef Buffer _workspace(work, Tensor T, Side side=ROWS, bint complex_slices=False):
    """The memory of a workspace, or of a new one."""
    cdef size_t needed
    if complex_slices:
        needed = complex_bytes(T.m, T.n, T.single)
    else:
        needed = unfolding_bytes(T.m, T.n, side, T.single)
    if work is None:
        return Buffer(np.empty(needed, dtype=np.int8))
    if work.memory.nbytes < needed:
        raise ValueError(f"workspace for slices of {work.shape[0]} x {work.shape[1]} is too small "
                         f"for {T.m} x {T.n}")
    return Buffer(work.memory)


cdef _unfolding_map(Tensor T, Py_ssize_t group, double t, Side side, work):
    """Map groups of consecutive slices; the ranks of all groups."""
    cdef Py_ssize_t groups = T.v // group if group else 0, size = group * T.m * T.n, i
    ranks = np.zeros(groups, dtype=np.intp)
    if T.v * T.m * T.n == 0:
        return ranks
    status = np.zeros(groups, dtype=np.intc)
    cdef Buffer rank_memory = Buffer(ranks), status_memory = Buffer(status)
    cdef Buffer scratch = _workspace(work, T, side)
    cdef Py_ssize_t *rank = <Py_ssize_t *> address(rank_memory)
    cdef int *info = <int *> address(status_memory)
    cdef void *memory = address(scratch)
    with nogil:
        for i in range(groups):
            if T.single:
                info[i] = unfolding_map(<float *> T.data + i * size, group, T.m, T.n, t, side,
                                        memory, &rank[i])
            else:
                info[i] = unfolding_map(<double *> T.data + i * size, group, T.m, T.n, t, side,
                                        memory, &rank[i])
    check_status(status, "unfolding" if group > 1 else "frontal slice")
    return ranks


def mode_shrink(T, double t, int axis, work=None):
    """Shrink the singular values of an unfolding of T by t, in place.

    The proximal map of ``t * ||T_(axis)||_*`` for axis 1, the m x v n matrix ``[T[0], T[1], ...]``,
    or axis 2, the v m x n matrix ``[T[0]; T[1]; ...]``; `slice_shrink` of T as one slice
    v x 1 x m n does axis 0.

    Returns
    -------
    int
        Number of singular values above t.
    """
    cdef Tensor x = Tensor(T)
    if axis not in (1, 2):
        raise ValueError(f"axis must be 1 or 2, got {axis}")
    if axis == 2 and x.v * x.m <= x.n:      # the smaller Gram matrix is that of its rows
        x.m, x.v = x.v * x.m, 1
        axis = 1
    ranks = _unfolding_map(x, x.v, t, ROWS if axis == 1 else COLUMNS, work)
    return ranks[0] if len(ranks) else 0


def frontal_shrink(T, double t, work=None):
    """Shrink the singular values of every frontal slice ``T[i]`` by t, in place.

    The proximal map of ``t * sum_i ||T[i]||_*`` for slices that need not be symmetric. Slices with
    fewer rows than columns cost less.

    Returns
    -------
    ndarray of shape (v,)
        Number of singular values above t in every slice.
    """
    return _unfolding_map(Tensor(T), 1, t, ROWS, work)


def complex_shrink(real, imaginary, double t, work=None):
    """Shrink the singular values of the complex matrix ``real + 1j * imaginary`` by t, in place.

    Returns
    -------
    int
        Number of singular values above t.
    """
    cdef Tensor x = Tensor(real), y = Tensor(imaginary)
    cdef Py_ssize_t rank = 0
    cdef int info
    if x.v != 1 or y.v != 1 or x.m != y.m or x.n != y.n or x.single != y.single:
        raise ValueError("both parts must be of the same size and type")
    if x.m * x.n == 0:
        return 0
    cdef Buffer scratch = _workspace(work, x, ROWS, True)
    cdef void *memory = address(scratch)
    with nogil:
        if x.single:
            info = complex_map(<float *> x.data, <float *> y.data, x.m, x.n, t, memory, &rank)
        else:
            info = complex_map(<double *> x.data, <double *> y.data, x.m, x.n, t, memory, &rank)
    check_status([info], "complex slice")
    return rank


# ------------------------------------------------------------------ fused passes of TRPCA and SNN

def trpca_pass(
    W,
    L,
    S,
    Y,
    X,
    basis,
    *,
    double lam,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one TRPCA iteration but the shrinkage of L, in one sweep over memory.

    On entry X holds the coefficients of the new L along the views in the orthonormal ``basis``
    (v x v, columns); on exit those of ``W - S - Y / mu_next``. L, S and the multiplier Y change in
    place.

    Returns
    -------
    float
        Largest entry of ``|L + S - W|`` and of the changes of L and S.
    """
    cdef Tensor w = Tensor(W, False), B = Tensor(basis, False)
    cdef Tensor low = w.same(L), s = w.same(S), y = w.same(Y), x = w.same(X)
    cdef double change
    if B.single or B.m != w.v or B.n != w.v:
        raise ValueError(f"the basis must be {w.v} x {w.v} of float64")
    cdef Buffer work = Buffer(np.empty(trpca_bytes(w.v, w.view.itemsize, n_threads), np.int8))
    cdef void *memory = address(work)
    with nogil:
        if w.single:
            change = trpca_sweep(
                <const float *> w.data, <float *> low.data, <float *> s.data, <float *> y.data,
                <float *> x.data, <const double *> B.data, w.v, w.m, w.n, lam, mu, mu_next,
                n_threads, memory)
        else:
            change = trpca_sweep(
                <const double *> w.data, <double *> low.data, <double *> s.data, <double *> y.data,
                <double *> x.data, <const double *> B.data, w.v, w.m, w.n, lam, mu, mu_next,
                n_threads, memory)
    return change


def snn_pass(
    W,
    E,
    L1,
    Y1,
    X,
    L3,
    Y3,
    mapper,
    *,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one SNN iteration on symmetric slices but its shrinkages, in one sweep.

    On entry X holds the new L1, on exit its next argument ``W - E - Y1 / mu_next``. L3 is
    ``mapper @ (W - E - Y3 / mu)`` along the views. The block of the columns is the transpose of
    the block of the rows, and is not stored. All arrays but W change in place.

    Returns
    -------
    change : float
        Largest entry of the constraint residuals and of the changes of all blocks.
    gram : ndarray of shape (v, v)
        Gram matrix along the views of the next argument ``W - E - Y3 / mu_next``.
    """
    cdef Tensor w = Tensor(W, False), M = Tensor(mapper, False)
    cdef Tensor e = w.same(E), l1 = w.same(L1), y1 = w.same(Y1), x = w.same(X)
    cdef Tensor l3 = w.same(L3), y3 = w.same(Y3)
    cdef SNN snn
    cdef double change
    _check_square(w)
    if M.single or M.m != w.v or M.n != w.v:
        raise ValueError(f"the mapper must be {w.v} x {w.v} of float64")
    gram = np.empty((w.v, w.v))
    cdef Buffer gram_memory = Buffer(gram)
    cdef size_t needed = snn_bytes(w.v, w.n, sizeof(float) if w.single else sizeof(double),
                                   n_threads)
    cdef Buffer work = Buffer(np.empty(needed, np.int8))
    cdef double *products = <double *> address(gram_memory)
    cdef void *memory = address(work)
    snn.v, snn.n, snn.mu, snn.mu_next = w.v, w.n, mu, mu_next
    snn.mapper = <const double *> M.data
    with nogil:
        if w.single:
            change = snn_sweep(
                <const float *> w.data, <float *> e.data, <float *> l1.data, <float *> y1.data,
                <float *> x.data, <float *> l3.data, <float *> y3.data, &snn, products, n_threads,
                memory)
        else:
            change = snn_sweep(
                <const double *> w.data, <double *> e.data, <double *> l1.data,
                <double *> y1.data, <double *> x.data, <double *> l3.data, <double *> y3.data,
                &snn, products, n_threads, memory)
    return change, gram
