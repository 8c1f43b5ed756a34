"""Proximal maps by their definitions."""

import numpy as np


def tube_shrink(T, t):
    length = np.sqrt((T**2).sum(axis=0))
    return T * (1 - t / np.maximum(length, t)) if t > 0 else T


def svt(M, t):
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    return (U * np.maximum(s - t, 0)) @ Vt


def svclip(M, t):
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    return (U * np.minimum(s, t)) @ Vt


def slice_shrink(T, t):
    return np.stack([svt(T[:, j], t) for j in range(T.shape[1])], axis=1)


def slice_clip(T, t):
    return np.stack([svclip(T[:, j], t) for j in range(T.shape[1])], axis=1)


def symmetric_shrink(T, t):
    return np.stack([svt((A + A.T) / 2, t) for A in T])


def symmetric_clip(T, t):
    return np.stack([svclip((A + A.T) / 2, t) for A in T])


def tensor_nuclear_shrink(T, t):
    """Full complex FFT along axis 1, every slice through its own SVD."""
    hat = np.fft.fft(T, axis=1)
    return np.fft.ifft(slice_shrink(hat, t), axis=1).real
