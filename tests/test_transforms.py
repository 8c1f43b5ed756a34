import numpy as np
import pytest

from mvsc_fast.transforms import Basis, Fourier, resolve_transform


@pytest.mark.parametrize("m", [1, 2, 5, 8])
@pytest.mark.parametrize("axis", [0, 1])
def test_fourier_is_orthonormal_and_inverted(m, axis):
    shape = (m, 3) if axis == 0 else (2, m, 3)
    T = np.random.default_rng(0).standard_normal(shape)
    hat = Fourier().forward(T, axis)
    assert np.linalg.norm(hat) == pytest.approx(np.linalg.norm(T))
    np.testing.assert_allclose(Fourier().inverse(hat, axis), T, atol=1e-14)


def test_fourier_rows_hold_the_frequencies_in_pairs():
    x = np.random.default_rng(0).standard_normal((6, 1))
    hat = np.fft.fft(x, axis=0, norm="ortho")[:, 0]
    expected = [hat[0].real, *np.sqrt(2) * np.array([hat[1].real, hat[1].imag, hat[2].real,
                hat[2].imag]), hat[3].real]  # fmt: skip
    np.testing.assert_allclose(Fourier().forward(x, 0)[:, 0], expected, atol=1e-14)


def test_basis_is_inverted():
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((7, 7)))[0]
    T = np.random.default_rng(1).standard_normal((2, 7, 4))
    basis = Basis(Q)
    np.testing.assert_allclose(basis.forward(T, 1)[1], Q.T @ T[1], atol=1e-14)
    np.testing.assert_allclose(basis.inverse(basis.forward(T, 1), 1), T, atol=1e-14)


def test_a_basis_of_the_wrong_shape_or_not_orthonormal_is_refused():
    views = [np.ones((4, 2))]
    with pytest.raises(ValueError, match=r"shape \(3, 3\), the data need \(4, 4\)"):
        resolve_transform(np.eye(3), views)
    with pytest.raises(ValueError, match="not orthonormal"):
        resolve_transform(np.ones((4, 4)), views)
    with pytest.raises(ValueError, match="'dft', 'graph', 'identity', got 'dct'"):
        resolve_transform("dct", views)
