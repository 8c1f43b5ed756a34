"""Proximal maps by their definitions."""

import numpy as np


def tube_shrink(T, t):
    length = np.sqrt((T**2).sum(axis=0))
    return T * (1 - t / np.maximum(length, t)) if np.any(t > 0) else T


def svt(M, t):
    """Of a matrix, or of every matrix of a stack."""
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    return (U * np.maximum(s - t, 0)[..., None, :]) @ Vt


def svclip(M, t):
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    return (U * np.minimum(s, t)[..., None, :]) @ Vt


def slice_shrink(T, t):
    return svt(T.transpose(1, 0, 2), t).transpose(1, 0, 2)


def slice_clip(T, t):
    return svclip(T.transpose(1, 0, 2), t).transpose(1, 0, 2)


def symmetric_shrink(T, t):
    return svt((T + T.transpose(0, 2, 1)) / 2, t)


def symmetric_clip(T, t):
    return svclip((T + T.transpose(0, 2, 1)) / 2, t)


def tensor_nuclear_shrink(T, t):
    """Full complex FFT along axis 1, every slice through its own SVD."""
    hat = np.fft.fft(T, axis=1)
    return np.fft.ifft(slice_shrink(hat, t), axis=1).real


def mode_shrink(T, t, axis):
    """Of the unfolding along an axis."""
    front = np.moveaxis(T, axis, 0)
    shrunk = svt(front.reshape(len(front), -1), t)
    return np.moveaxis(shrunk.reshape(front.shape), 0, axis)


def view_nuclear_shrink(T, t):
    """Full complex FFT along the views, every n x n slice through its own SVD."""
    return np.fft.ifft(svt(np.fft.fft(T, axis=0), t), axis=0).real


def soft(A, t):
    return np.sign(A) * np.maximum(np.abs(A) - t, 0)


def column_shrink(matrices, t):
    """l2,1 shrinkage of the columns of all matrices stacked."""
    length = np.sqrt(sum((A**2).sum(axis=0) for A in matrices))
    return [A * (1 - t / np.maximum(length, t)) for A in matrices]
