"""Results of the solvers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse

from .._utils.short_repr import ShortRepr
from .._utils.types import FloatArray, IntArray, Similarities, Tensor

Solver = Literal["dual", "ialm"]


@dataclass(repr=False, kw_only=True)
class Result(ShortRepr):
    """Base class of the results: the course of the iteration."""

    n_iter: int
    converged: bool
    history: dict[str, FloatArray]


@dataclass(repr=False)
class RepresentationResult(Result):
    """Self-representations, one for each view.

    Attributes
    ----------
    representation : ndarray of shape (v, n, n)
        Z: column k of slice i holds the coefficients of sample k in view i.
    n_iter : int
    converged : bool
    history : dict of ndarray
        ``residual``, which is compared with ``tol`` (or a cheaper lower bound, if that exceeds
        ``tol``), and ``seconds`` since the start, after every iteration.
    """

    representation: FloatArray

    @property
    def tensor(self) -> FloatArray:
        """W = ``|Z| + |Z|^T`` of every view, shape (v, n, n): the input of the recovery methods."""
        W = np.abs(self.representation)
        for A in W:
            A += A.T.copy()
        return W


@dataclass(repr=False)
class LatentResult(RepresentationResult):
    """Self-representation of a latent representation that all views share.

    Attributes
    ----------
    representation : ndarray of shape (1, n, n)
        Column k holds the coefficients of sample k.
    n_iter, converged, history
        As in `RepresentationResult`.
    latent : ndarray of shape (n, K)
        The latent representation, one row for every sample.
    embedding : ndarray of shape (n, n_clusters) or None
        Rows to be clustered, if the method computes an embedding.
    """

    latent: FloatArray
    embedding: FloatArray | None = None


@dataclass(repr=False)
class RotationResult(Result):
    """Clusters from the alignment of spectral embeddings by rotations.

    Attributes
    ----------
    labels : ndarray of shape (n,) of int
        Consecutive numbers from 0; there may be fewer clusters than requested.
    embedding : ndarray of shape (n, n_clusters)
        Weighted mean of the rotated embeddings; samples with the argmax of their rows in common
        share a label.
    embeddings : ndarray of shape (v, n, n_clusters)
        The spectral embeddings F_i, with orthonormal columns.
    rotations : ndarray of shape (v, n_clusters, n_clusters)
        The orthogonal matrices R_i.
    weights : ndarray of shape (v,)
        Weights of the views; they sum to 1.
    n_iter, converged, history
        As in `RepresentationResult`; ``history`` also contains the ``objective``.
    """

    labels: IntArray
    embedding: FloatArray
    embeddings: FloatArray
    rotations: FloatArray
    weights: FloatArray


@dataclass(repr=False)
class RecoveryResult(Result):
    """A similarity tensor split into a low-rank and a sparse part.

    Attributes
    ----------
    low_rank : ndarray of shape (v, n, n)
        L after the last iteration, symmetric up to the last residual.
    error : ndarray of shape (v, n, n)
        The sparse tensor, equal to W - L up to the last residual.
    n_iter, converged, history
        As in `RepresentationResult`.
    """

    low_rank: FloatArray
    error: FloatArray

    @property
    def tensor(self) -> FloatArray:
        """L averaged with its transpose, of shape (v, n, n)."""
        return (self.low_rank + self.low_rank.transpose(0, 2, 1)) / 2


@dataclass(repr=False)
class TLRRResult(Result):
    """Solution of a TLRR problem.

    Attributes
    ----------
    tensor : ndarray of shape (v, n, n), or list of v csr_arrays
        The low-rank tensor L, sparse if the input was sparse.
    n_iter : int
        Number of iterations, including fast-forwarded ones.
    converged : bool
        Whether the residual fell below ``tol``.
    solver : str
        "ialm" or "dual".
    parameters : dict
        omega1, alpha and lam, and ``sample_weight`` if it was given.
    history : dict of ndarray
        One entry per iteration: ``residual``, ``seconds`` since the start, and for "ialm" the
        penalty ``mu`` and the ``rank`` per view of the frontal block. The residual of "dual" is
        the relative gap. Since a gap costs an eigenproblem, it is not computed in every iteration;
        the others repeat the previous value.
    n_fast_forward : int
        Number of iterations that were scalar updates because all blocks were zero ("ialm" only).
    eigen_seconds : float
        Time spent in eigenproblems of frontal slices.
    gap : float or None
        Relative duality gap, certified ("dual" only): the objective is within
        ``gap * lam * ||L||_F^2`` of its minimum.
    error_bound : float or None
        Upper bound of ``||L - L*||_F``, where L* is the minimiser ("dual" only).
    blocks : ndarray of shape (n,) or None
        Number of the independent block of every sample ("dual" only).
    """

    tensor: Tensor
    solver: Solver
    parameters: dict[str, Any]
    n_fast_forward: int = 0
    eigen_seconds: float = 0.0
    gap: float | None = None
    error_bound: float | None = None
    blocks: IntArray | None = None

    @property
    def lam(self) -> float:
        """Weight of the misfit."""
        return self.parameters["lam"]

    def objective(self, W: Similarities) -> float:
        """TLRR objective (Jia et al., Eq. 7) of ``tensor`` for the input W of shape (v, n, n)."""
        return objective(self.tensor, W, **self.parameters)


def _dense(tensor):
    """An array of shape (v, n, n); slices may be sparse."""
    return np.stack([A.toarray() if scipy.sparse.issparse(A) else np.asarray(A) for A in tensor])


def objective(L, W, *, omega1, alpha, lam, sample_weight=None):
    """Value of the TLRR model at L: nuclear norms, tube lengths and the squared misfit to W.

    With sample weights, it is that of the tensors in which sample p is repeated sample_weight[p]
    times.
    """
    omega2 = 1.0 - omega1
    L, W = _dense(L).astype(np.float64, copy=False), _dense(W)
    root = np.ones(L.shape[1]) if sample_weight is None else np.sqrt(sample_weight)
    both = np.outer(root, root)
    L = L * both
    frontal = sum(scipy.linalg.svdvals(A).sum() for A in L)
    slices = np.linalg.svd(L.transpose(1, 0, 2), compute_uv=False).sum(axis=1) @ root
    tubes = np.sum(both * np.sqrt(np.einsum("ijk,ijk->jk", L, L)))
    misfit = sum(np.sum((both * A - B) ** 2) for A, B in zip(W, L, strict=True))
    return float(omega1 * frontal + omega2 * (slices + alpha * tubes) + lam * misfit)
