"""The dual of the TLRR model on dense tensors, every norm by its SVD."""

import numpy as np

from .proximal import slice_clip, symmetric_clip, tube_shrink


def primal(P, Q, W, omega1, alpha, lam):
    """L(P, Q) = T_tau(W - (P + sym Q) / (2 lam))."""
    symmetric_Q = (Q + Q.transpose(0, 2, 1)) / 2
    return tube_shrink(W - (P + symmetric_Q) / (2 * lam), (1 - omega1) * alpha / (2 * lam))


def dual_value(P, Q, W, omega1, alpha, lam):
    L = primal(P, Q, W, omega1, alpha, lam)
    return lam * ((W**2).sum() - (L**2).sum())


def gap(P, Q, W, omega1, alpha, lam):
    L = primal(P, Q, W, omega1, alpha, lam)
    frontal = sum(np.linalg.norm(A, "nuc") for A in L)
    rows = sum(np.linalg.norm(L[:, j], "nuc") for j in range(L.shape[1]))
    return omega1 * frontal - (P * L).sum() + (1 - omega1) * rows - (Q * L).sum()


def tlrr(W, omega1=0.5, alpha=5.0, lam=15.0, iterations=100):
    """Accelerated projected gradient ascent with restarts; L and the gaps of all iterations."""
    omega2 = 1 - omega1
    P, Q = np.zeros_like(W), np.zeros_like(W)
    P_momentum, Q_momentum, t = P, Q, 1.0
    gaps = []
    for _ in range(iterations):
        L = primal(P_momentum, Q_momentum, W, omega1, alpha, lam)
        P_next = symmetric_clip(P_momentum + lam * L, omega1)
        Q_next = slice_clip(Q_momentum + lam * L, omega2)
        uphill = ((P_momentum - P_next) * (P_next - P)).sum()
        uphill += ((Q_momentum - Q_next) * (Q_next - Q)).sum()
        t = 1.0 if uphill > 0 else t
        t_next = (1 + np.sqrt(1 + 4 * t * t)) / 2
        P_momentum = P_next + (t - 1) / t_next * (P_next - P)
        Q_momentum = Q_next + (t - 1) / t_next * (Q_next - Q)
        P, Q, t = P_next, Q_next, t_next
        gaps.append(gap(P, Q, W, omega1, alpha, lam))
    return primal(P, Q, W, omega1, alpha, lam), np.array(gaps)


def row_terms(W, omega1, alpha, lam, steps):
    """Steps of Q alone, P = 0: L, and a bound of its duality gap, relative to the misfit."""
    omega2 = 1 - omega1
    zero = np.zeros_like(W)
    Q, Q_momentum, t = zero, zero, 1.0
    for _ in range(steps):
        L = primal(zero, Q_momentum, W, omega1, alpha, lam)
        Q_next = slice_clip(Q_momentum + 2 * lam * L, omega2)
        t = 1.0 if ((Q_momentum - Q_next) * (Q_next - Q)).sum() > 0 else t
        t_next = (1 + np.sqrt(1 + 4 * t * t)) / 2
        Q_momentum = Q_next + (t - 1) / t_next * (Q_next - Q)
        Q, t = Q_next, t_next
    L = primal(zero, Q, W, omega1, alpha, lam)
    rows = sum(np.linalg.norm(L[:, j], "nuc") for j in range(L.shape[1]))
    bound = omega1 * np.linalg.norm(L, axis=2).sum() + omega2 * rows - (Q * L).sum()
    return L, bound / (lam * (L**2).sum())
