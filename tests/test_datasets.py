from importlib.resources import files

import numpy as np
import pytest

from mvsc_fast import datasets

SUBSPACES = datasets.make_multiview_subspaces


def test_handwritten_digits():
    views, y = datasets.load_handwritten()
    assert [X.shape for X in views] == [(2000, d) for d in (216, 76, 64, 6, 240, 47)]
    np.testing.assert_array_equal(np.bincount(y), np.full(10, 200))
    assert (np.diff(y) >= 0).all()
    assert all(np.isfinite(X).all() and X.flags.c_contiguous for X in views)
    assert files("mvsc_fast").joinpath("datasets/data/handwritten.npz").stat().st_size < 2e6
    assert "CC BY 4.0" in files("mvsc_fast").joinpath("datasets/data/README.md").read_text()


def test_subspaces_have_the_rank_and_the_quality_asked_for():
    views, y = SUBSPACES(
        120, 4, n_features=(20, 30), subspace_dim=2, noise=0.0, quality=(1.0, 0.5), random_state=0
    )
    assert [X.shape for X in views] == [(120, 20), (120, 30)]
    np.testing.assert_array_equal(np.bincount(y), [30] * 4)
    for c in range(4):
        assert np.linalg.matrix_rank(views[0][y == c]) == 2
        assert np.linalg.matrix_rank(views[1][y == c]) > 2


def test_noise_is_relative_to_the_deviation_of_the_entries():
    (clean,), (noisy,) = (
        SUBSPACES(3000, 3, n_features=(40,), noise=noise, random_state=0)[0] for noise in (0.0, 0.5)
    )
    assert np.std(noisy - clean) / np.std(clean) == pytest.approx(0.5, rel=0.02)


def test_generator_is_seeded_and_sorted_on_request():
    first, y = SUBSPACES(30, 3, shuffle=False, random_state=1)
    second, _ = SUBSPACES(30, 3, shuffle=False, random_state=1)
    np.testing.assert_array_equal(first[0], second[0])
    assert (np.diff(y) >= 0).all()
