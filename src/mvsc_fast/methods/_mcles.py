"""MCLES: multi-view clustering in latent embedding space (Chen et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state, gen_batches

from .._utils.parameters import count, nonnegative, positive
from .._utils.types import FloatArray
from ..solvers._representation import Stack, sylvester
from ..spectral._cut import assign
from ..spectral._eigenvectors import largest_eigenpairs
from ._representation import RepresentationClusterer

QP_TOL = 1e-6  # duality gap, relative to a bound of the value of a program
GAP_STEPS = 5  # steps between certificates, each of which costs as much as a step
MAX_CACHED = 2**16  # entries of the rows handled together, which stay in cache
CODEBOOK_TOL = 1e-10  # mean squared change; with the released 1e-6 the objective oscillated


@dataclass(eq=False, repr=False, kw_only=True)
class MCLES(RepresentationClusterer):
    """Clustering by MCLES: k-means of an embedding that is learned with the similarities.

    Minimises ``||X - W H||_F^2 + alpha ||H - H S||_F^2 + beta ||S||_F^2 + gamma tr(F^T L_S F)``
    over W with columns in the unit ball, S with columns in the unit simplex and F with orthonormal
    columns (Chen et al. 2020), by alternating updates. X (D x n) stacks the views, H (d x n) is the
    latent representation, L_S the Laplacian of (S + S^T) / 2 and F (n x n_clusters) its
    eigenvectors with the smallest eigenvalues. The n quadratic programs for S share their Hessian
    and are solved together, with certified gaps. The model is not convex: the result depends on a
    random initialisation, but not on the order of the samples.

    Parameters
    ----------
    alpha : float, default=0.8
        Weight of the self-representation. The defaults of ``alpha``, ``beta``, ``gamma`` and
        ``n_components`` are those of the released demo (MSRC-v1), the only published ones.
    beta : float, default=0.4
        Weight of the squared length of S.
    gamma : float, default=0.004
        Weight of the embedding.
    n_components : int, default=70
        Dimension d of the latent representation.
    tol : float, default=1e-2
        Tolerance on the relative change of the objective.
    max_iter : int, default=30
        Maximum number of iterations; 5 to 15 are usually sufficient.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_clusters)
        F, the rows that are clustered: the eigenvectors of the Laplacian of ``affinity_matrix_``
        with the smallest eigenvalues.
    tensor_ : ndarray of shape (1, n_samples, n_samples)
        S + S^T; the views share one S.
    representation_ : ndarray of shape (1, n_samples, n_samples)
        S; column k, non-negative with sum 1, holds the coefficients of sample k.
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        S + S^T.
    history_ : dict of ndarray
        ``residual``, ``objective`` and ``seconds`` after every iteration.
    latent_ : ndarray of shape (n_samples, n_components)
        The latent representation, the transpose of H.

    References
    ----------
    Chen, Huang, Wang, Huang: Multi-view clustering in latent embedding space. AAAI 2020.

    Examples
    --------
    >>> from mvsc_fast.methods import MCLES
    >>> from mvsc_fast import datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> MCLES(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    alpha: float = 0.8
    beta: float = 0.4
    gamma: float = 0.004
    n_components: int = 70
    tol: float = 1e-2
    max_iter: int = 30

    latent_: FloatArray = field(init=False)

    _arrays = (0, 11)
    _checks = {
        **RepresentationClusterer._checks,
        "alpha": positive,
        "beta": positive,
        "gamma": nonnegative,
        "n_components": count,
    }

    def _represent(self, views, seed, n_threads, progress):
        run = self._begin(progress)
        weights = self.alpha, self.beta, self.gamma
        S, H, F = _latent_embedding(views, run, self.n_clusters, self.n_components, *weights, seed)
        return run, {"representation_": S, "latent_": H, "embedding_": F}

    def _cut(self, learned, seed):
        labels = assign(
            learned["embedding_"],
            self.n_clusters,
            order=learned["affinity_matrix_"].sum(axis=1),
            n_init=self.n_init,
            random_state=seed,
        )
        return {"labels_": labels}


def _latent_embedding(views, run, n_clusters, n_components, alpha, beta, gamma, seed):
    """S, the transpose of H, and F, by the iteration of `MCLES`."""
    # Starts are drawn in an order of the samples that their features determine.
    rng = check_random_state(seed)
    stack = Stack(views)
    X = stack.R
    n = X.shape[1]
    H, F = stack.draw(n_components, rng), stack.draw(n_clusters, rng).T
    W = np.zeros((len(X), n_components), dtype=X.dtype)
    enough = CODEBOOK_TOL * len(stack.U) * n_components
    S = np.full((n, n), 1.0 / n, dtype=X.dtype)  # row i is column i of the paper's S
    T = np.eye(n, dtype=X.dtype)  # I - S; the first step takes S = 0
    qp_tol = max(QP_TOL, 50 * np.finfo(X.dtype).eps)
    objective = np.nan
    for _ in run:
        # Codebook W, then the latent H by a Sylvester equation.
        W = _codebook(X, H, W, enough)
        a, Q = scipy.linalg.eigh(W.T @ W, check_finite=False)
        b, R = scipy.linalg.eigh(T @ T.T, driver="evd", overwrite_a=True, check_finite=False)
        H = sylvester((a, Q), (alpha * b, R), Q.T @ (W.T @ X))

        # Similarities S: one program for each sample on the simplex, up to a certified gap.
        K = H.T @ H
        gap_tol = qp_tol * (beta / alpha + K.max())
        K *= -2.0
        K += (gamma / (2.0 * alpha)) * euclidean_distances(F, squared=True)
        S, gap = simplex_programs(H, beta / alpha, K, S, gap_tol)
        # Embedding F: eigenvectors of the Laplacian of S.
        np.negative(S.T, out=T)
        T[np.diag_indices(n)] += 1.0

        minus_L = (S + S.T) / 2
        minus_L[np.diag_indices(n)] -= minus_L.sum(axis=0)
        _, F = largest_eigenpairs(minus_L, n_clusters)
        # A small change counts only if the programs have been solved.
        terms = _square(X - W @ H), _square(H @ T), _square(S), -np.vdot(F, minus_L @ F)
        former, objective = objective, float(np.dot((1.0, alpha, beta, gamma), terms))
        change = abs(objective - former) / abs(former) if run.n_iter > 0 else np.inf
        run.record(change if gap <= gap_tol else np.inf, objective=objective)
    return S.T.copy()[None], np.ascontiguousarray(H.T), F


def _codebook(X, H, W, enough):
    """Minimise ``||X - W H||_F^2`` over W with columns in the unit ball, by ADMM from W.

    Stops after 99 steps with growing penalty, or if the squared change is below ``enough``. As
    published, the result is the copy that fits X, whose columns may be slightly longer than 1.
    """
    h, Q = scipy.linalg.eigh(H @ H.T, check_finite=False)
    XH = X @ H.T
    short, y, r = W, np.zeros_like(W), 1.0
    for _ in range(99):
        former = W
        W = ((r * (short - y) + XH) @ Q / (r + h)) @ Q.T
        y = y + W
        short = y / np.maximum(1.0, np.linalg.norm(y, axis=0))
        y -= short
        r *= 1.2
        if _square(W - former) <= enough:
            break
    return W


def _square(A):
    return np.vdot(A, A)


def project_rows(V, tau):
    """Project the rows of V onto the unit simplex, exactly.

    The projections are ``max(V - top - tau, 0)``, where top is the largest entry of a row and tau
    in [-1, 0) the root of a convex piecewise linear function. From -1, Newton's method finds it in
    finitely many steps (Michelot 1986), from a nearby tau in one or two. Returns them and tau.
    """
    V = V - V.max(axis=1, keepdims=True)
    eps = np.finfo(V.dtype).eps
    for _ in range(V.shape[1] + 2):  # stops if rounding prevents convergence
        P = V - tau[:, None]
        np.maximum(P, 0.0, out=P)
        step = (P.sum(axis=1) - 1.0) / np.count_nonzero(P, axis=1).astype(V.dtype)
        if np.all(np.abs(step) <= 2.0 * eps):
            break
        tau = tau + step
    return P, tau


def simplex_programs(H, ridge, C, S, tol, max_iter=1000):
    """Minimise ``ridge |s_i|^2 + |H s_i|^2 + <c_i, s_i>`` over the unit simplex for every row.

    Uses the accelerated projected gradient method for strongly convex functions (Nesterov), with
    constant momentum, from the rows of S. On the simplex all s have the same sum, so H may be
    centred, which speeds up convergence. The largest eigenvalue of the centred H H^T determines the
    step size. Returns the rows, and their largest duality gap ``<grad, s> - min grad``, which
    bounds the distance to the minimum: at most ``tol`` unless ``max_iter`` steps were made.
    """
    # Shifting H changes a program by a constant only, and makes it better conditioned.
    mean = H.mean(axis=1, keepdims=True)
    H = H - mean
    C = C + 2.0 * (mean.T @ H)  # |H s|^2 = |(H - mean) s|^2 + 2 <mean, (H - mean) s> + constant
    # Nesterov's constant momentum for known strong convexity, the ridge.
    top = scipy.linalg.eigvalsh(H @ H.T, check_finite=False)[-1]
    scale = 2.0 * (ridge + max(top, 0.0))
    root = np.sqrt(2.0 * ridge / scale)
    momentum = (1.0 - root) / (1.0 + root)

    double_H = 2.0 * H

    def gradient(S, C):
        out = (S @ H.T) @ double_H
        out += (2.0 * ridge) * S
        out += C
        return out

    def largest_gap(S, C):
        slope = gradient(S, C)
        return np.max(np.einsum("mn,mn->m", slope, S) - slope.min(axis=1))

    # Blocks of rows stay in cache through all parts of a step.
    S, ahead, tau = S.copy(), S.copy(), np.full(len(S), -1.0, dtype=S.dtype)
    height = max(1, MAX_CACHED // S.shape[1])
    blocks = list(gen_batches(len(S), height))
    for step in range(max_iter):
        for rows in blocks:
            point = ahead[rows] - gradient(ahead[rows], C[rows]) / scale
            point, tau[rows] = project_rows(point, tau[rows])
            np.subtract(point, S[rows], out=ahead[rows])
            ahead[rows] *= momentum
            ahead[rows] += point
            S[rows] = point
        if (step + 1) % GAP_STEPS == 0 or step + 1 == max_iter:
            gap = max(largest_gap(S[rows], C[rows]) for rows in blocks)
            if gap <= tol:
                break
    return S, float(gap)
