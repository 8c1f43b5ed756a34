"""Orthogonal transforms along samples or views, which define tensor nuclear norms.

A tensor of shape (v, m, n) is transformed along its middle axis (samples) and its row slices are
shrunk, or along its first axis (views) and its frontal slices are shrunk. Since all transforms are
orthonormal, solvers can iterate in transformed coordinates.
"""

from functools import partial
from typing import Literal, get_args

import numpy as np
import scipy.fft
import scipy.linalg

from .._kernels import frontal_shrink, halfcomplex_shrink, slice_shrink, symmetric_shrink
from .._utils.parameters import InvalidParameterError, check_option
from ..similarity._dense import ridge_similarities
from ..spectral._eigenvectors import component_indices, normalized


class Fourier:
    """The discrete Fourier transform in its orthonormal real (halfcomplex) form."""

    def forward(self, A, axis):
        """Coefficients of the real array A along ``axis``, of the same shape."""
        A = np.moveaxis(A, axis, 0)
        m = len(A)
        hat = scipy.fft.rfft(A, axis=0, norm="ortho")
        out = np.empty(A.shape, dtype=A.dtype)
        out[0] = hat[0].real
        pairs = (m - 1) // 2
        root = A.dtype.type(np.sqrt(2))
        out[1 : 2 * pairs + 1 : 2] = root * hat[1 : pairs + 1].real
        out[2 : 2 * pairs + 1 : 2] = root * hat[1 : pairs + 1].imag
        if m % 2 == 0:
            out[-1] = hat[-1].real
        return np.ascontiguousarray(np.moveaxis(out, 0, axis))

    def inverse(self, A, axis):
        """The array whose coefficients along ``axis`` are A."""
        A = np.moveaxis(A, axis, 0)
        m = len(A)
        hat = np.zeros((m // 2 + 1, *A.shape[1:]), dtype=np.result_type(A.dtype, np.complex64))
        hat[0] = A[0]
        pairs = (m - 1) // 2
        root = A.dtype.type(np.sqrt(0.5))
        hat[1 : pairs + 1].real = root * A[1 : 2 * pairs + 1 : 2]
        hat[1 : pairs + 1].imag = root * A[2 : 2 * pairs + 1 : 2]
        if m % 2 == 0:
            hat[-1] = A[-1]
        out = scipy.fft.irfft(hat, m, axis=0, norm="ortho")
        return np.ascontiguousarray(np.moveaxis(out, 0, axis))

    def shrink(self, T, t, n_threads):
        """Shrink, in place, by t the slices of the *unnormalised* DFT; T is the orthonormal DFT."""
        halfcomplex_shrink(T, t / np.sqrt(T.shape[1]), n_threads)

    def shrink_frontal(self, T, t, symmetric=False):
        """As `shrink`, for frontal slices and a DFT along the views, with the threads of BLAS.

        If all slices are ``symmetric``, real ones cost less.
        """
        v = len(T)
        t = t / np.sqrt(v)
        _real_shrink(T[:1], t, symmetric)
        pair = np.empty((1, *T.shape[1:]), dtype=np.result_type(T.dtype, np.complex64))
        for k in range(1, v - 1, 2):
            pair.real, pair.imag = T[k], T[k + 1]
            frontal_shrink(pair, np.sqrt(2) * t)
            T[k], T[k + 1] = pair[0].real, pair[0].imag
        if v % 2 == 0:
            _real_shrink(T[v - 1 :], t, symmetric)


class Basis:
    """An orthonormal basis, given as the columns of a matrix; None is the identity."""

    def __init__(self, matrix=None):
        self.matrix = matrix

    def forward(self, A, axis):
        return self._product(None if self.matrix is None else self.matrix.T, A, axis)

    def inverse(self, A, axis):
        return self._product(self.matrix, A, axis)

    @staticmethod
    def _product(matrix, A, axis):
        if matrix is None:
            return np.array(A, order="C")
        return np.ascontiguousarray(np.moveaxis(np.tensordot(matrix, A, (1, axis)), 0, axis))

    def shrink(self, T, t, n_threads):
        """Shrink, in place, the slices of sqrt(m) T by t."""
        slice_shrink(T, t / np.sqrt(T.shape[1]), n_threads)

    def shrink_frontal(self, T, t, symmetric=False):
        """Shrink, in place, the frontal slices of sqrt(v) T by t, with the threads of BLAS."""
        _real_shrink(T, t / np.sqrt(len(T)), symmetric)


def _real_shrink(T, t, symmetric):
    """Shrink the singular values of real slices, by eigenvalues if the slices are symmetric."""
    if not symmetric:
        frontal_shrink(T, t)
        return
    for A in T:
        # Bounds of the spectral norm: most early iterations need no eigenvalues.
        if min(np.linalg.norm(A), np.abs(A).sum(axis=1).max()) <= t:
            A[...] = 0
        else:
            symmetric_shrink(A[None], t)


SampleTransform = Literal["dft", "graph", "identity"]
ViewTransform = Literal["dft", "identity"]


def check_transform(value, name, words):
    """``value``, which must be a known name or a square matrix."""
    if isinstance(value, str) or np.ndim(value) != 2:
        return check_option(value, name, words)
    if np.shape(value)[0] != np.shape(value)[1]:
        raise InvalidParameterError(f"{name} must be a square matrix, got shape {np.shape(value)}")
    return value


check_sample_transform = partial(check_transform, words=get_args(SampleTransform))
check_view_transform = partial(check_transform, words=get_args(ViewTransform))


def resolve_sample_transform(transform, views):
    """The transform along the samples: "dft", "graph", "identity", or a matrix of basis columns.

    "graph" uses the eigenvectors of the normalised default similarity graph of the views, which
    do not depend on the order of the samples.
    """
    if isinstance(transform, str) and transform == "graph":
        return Basis(graph_basis(ridge_similarities(views)))
    n, dtype = views[0].shape[0], views[0].dtype
    return resolve_view_transform(transform, n, dtype, "sample_transform")


def resolve_view_transform(transform, n, dtype, name="view_transform"):
    """The transform along n views: "dft", "identity", or an n x n matrix of basis columns."""
    if isinstance(transform, str):
        return Fourier() if transform == "dft" else Basis()
    # A matrix of the user must be orthonormal, or shrinking would not be that of a norm.
    basis = np.ascontiguousarray(transform, dtype=dtype)
    if basis.shape != (n, n):
        raise ValueError(f"{name} has shape {basis.shape}, expected ({n}, {n})")
    error = np.abs(basis.T @ basis - np.eye(n)).max()
    if not error < 1e-3:
        raise ValueError(f"{name} is not orthonormal: max |B^T B - I| = {error:.2g}")
    return Basis(basis)


def graph_basis(W):
    """Orthonormal basis of the samples that does not depend on their order.

    Its columns are the eigenvectors of ``D^-1/2 A D^-1/2`` for A the mean slice of the non-negative
    similarities W, largest eigenvalue first.
    """
    A, _ = normalized(np.mean(W, axis=0))
    # Connected components share eigenvalues, and vectors of several have no order of their own.
    values, basis, last = np.empty(len(A), A.dtype), np.zeros_like(A), 0
    members = component_indices(A)
    for component in range(members.max() + 1):
        rows = np.flatnonzero(members == component)
        first, last = last, last + len(rows)
        values[first:last], basis[rows, first:last] = scipy.linalg.eigh(
            A[np.ix_(rows, rows)], overwrite_a=True, check_finite=False, driver="evd"
        )
    return np.ascontiguousarray(basis[:, np.argsort(values, kind="stable")[::-1]])
