"""Simultaneous quadratic programs over the unit simplex."""

import numpy as np
import scipy.linalg

CHECK = 5  # steps between certificates, each of which costs as much as a step
CACHED = 2**16  # entries of the rows handled together, which stay in cache


def project_rows(V, tau=None):
    """Project the rows of V onto the unit simplex, exactly.

    The projections are ``max(V - top - tau, 0)``, where top is the largest entry of a row and tau
    in [-1, 0) the root of a convex piecewise linear function. Newton's method finds it in finitely
    many steps (Michelot 1986), and in one or two steps from a nearby tau. Returns them and tau.
    """
    V = V - V.max(axis=1, keepdims=True)
    if tau is None:
        tau = np.full(len(V), -1.0, dtype=V.dtype)
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
    height = max(1, CACHED // S.shape[1])
    blocks = [slice(first, first + height) for first in range(0, len(S), height)]
    for step in range(max_iter):
        for rows in blocks:
            point = ahead[rows] - gradient(ahead[rows], C[rows]) / scale
            point, tau[rows] = project_rows(point, tau[rows])
            np.subtract(point, S[rows], out=ahead[rows])
            ahead[rows] *= momentum
            ahead[rows] += point
            S[rows] = point
        if (step + 1) % CHECK == 0 or step + 1 == max_iter:
            gap = max(largest_gap(S[rows], C[rows]) for rows in blocks)
            if gap <= tol:
                break
    return S, float(gap)
