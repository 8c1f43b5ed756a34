"""The dual of the TLRR model on dense tensors, every norm by its SVD.

With sample weights m all of it is in ``M = D^1/2 L D^1/2`` and ``D^1/2 W D^1/2``, D = diag(m).
"""

import numpy as np

from .proximal import slice_clip, symmetric_clip, tube_shrink


def primal(P, Q, W, omega1, alpha, lam, m=None):
    """L(P, Q) = T_tau(W - (P + sym Q) / (2 lam)); with weights, M."""
    both = 1.0 if m is None else np.sqrt(np.outer(m, m))
    tau = (1 - omega1) * alpha / (2 * lam) * both
    symmetric_Q = (Q + Q.transpose(0, 2, 1)) / 2
    return tube_shrink(both * W - (P + symmetric_Q) / (2 * lam), tau)


def gap(P, Q, W, omega1, alpha, lam, m=None):
    L = primal(P, Q, W, omega1, alpha, lam, m)
    root = np.ones(len(W[0])) if m is None else np.sqrt(m)
    frontal = np.linalg.norm(L, "nuc", axis=(1, 2)).sum()
    rows = root @ np.linalg.norm(L, "nuc", axis=(0, 2))
    return omega1 * frontal - (P * L).sum() + (1 - omega1) * rows - (Q * L).sum()


def tlrr(W, omega1=0.5, alpha=5.0, lam=15.0, m=None, iterations=100):
    """Accelerated projected gradient ascent with restarts; L and the gaps of all iterations."""
    root = np.ones(len(W[0])) if m is None else np.sqrt(m)
    arguments = W, omega1, alpha, lam, m
    P, Q = np.zeros_like(W), np.zeros_like(W)
    P_momentum, Q_momentum, t = P, Q, 1.0
    gaps = []
    for _ in range(iterations):
        M = primal(P_momentum, Q_momentum, *arguments)
        P_next = symmetric_clip(P_momentum + lam * M, omega1)
        Q_next = slice_clip(Q_momentum + lam * M, (1 - omega1) * root[:, None])
        uphill = ((P_momentum - P_next) * (P_next - P)).sum()
        uphill += ((Q_momentum - Q_next) * (Q_next - Q)).sum()
        t = 1.0 if uphill > 0 else t
        t_next = (1 + np.sqrt(1 + 4 * t * t)) / 2
        P_momentum = P_next + (t - 1) / t_next * (P_next - P)
        Q_momentum = Q_next + (t - 1) / t_next * (Q_next - Q)
        P, Q, t = P_next, Q_next, t_next
        gaps.append(gap(P, Q, *arguments))
    return primal(P, Q, *arguments) / np.outer(root, root), np.array(gaps)
