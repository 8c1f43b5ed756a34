import numpy as np
import pytest
from reference.proximal import svt, view_nuclear_shrink

from mvsc_fast.similarity import self_representation
from mvsc_fast.solvers._transforms import (
    Fourier,
    graph_basis,
    resolve_sample_transform,
    resolve_view_transform,
)


def test_fourier_rows_hold_the_frequencies_in_pairs():
    x = np.random.default_rng(0).standard_normal((6, 1))
    hat = np.fft.fft(x, axis=0, norm="ortho")[:, 0]
    expected = [
        hat[0].real,
        *np.sqrt(2) * np.array([hat[1].real, hat[1].imag, hat[2].real, hat[2].imag]),
        hat[3].real,
    ]
    np.testing.assert_allclose(Fourier().forward(x, 0)[:, 0], expected, atol=1e-14)


def test_the_identity_is_a_transform_too():
    T = np.random.default_rng(0).standard_normal((3, 6, 4))
    views = [np.ones((6, 2))]
    identity, basis = (resolve_sample_transform(kind, views) for kind in ("identity", np.eye(6)))
    for transform in (identity, basis):
        np.testing.assert_array_equal(transform.inverse(transform.forward(T, 1), 1), T)
    first, second = T.copy(), T.copy()
    identity.shrink(first, 0.7, 1)
    basis.shrink(second, 0.7, 1)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("v", [1, 2, 3, 4, 5])
def test_frontal_shrinkage_along_the_views_equals_its_definition(v):
    T = np.random.default_rng(v).standard_normal((v, 7, 7))
    for transform, expected in (
        (resolve_view_transform("dft", v, T.dtype), view_nuclear_shrink(T, 0.9)),
        (resolve_view_transform("identity", v, T.dtype), svt(T, 0.9 / np.sqrt(v))),
    ):
        hat = transform.forward(T, axis=0)
        transform.shrink_frontal(hat, 0.9)
        np.testing.assert_allclose(transform.inverse(hat, axis=0), expected, atol=1e-12)


def test_graph_basis_is_orthonormal_and_leads_with_the_constant_direction():
    W = self_representation(
        [np.random.default_rng(i).standard_normal((40, d)) for i, d in enumerate((6, 50))]
    )
    basis = graph_basis(W)
    np.testing.assert_allclose(basis.T @ basis, np.eye(40), atol=1e-12)
    degree = W.mean(axis=0).sum(axis=1)
    leading = np.sqrt(degree / degree.sum())
    np.testing.assert_allclose(np.abs(basis[:, 0]), leading, atol=1e-10)
