"""Labels of new samples: the definition, the features of the fit, and what may not matter."""

import pickle

import numpy as np
import pytest
import reference.predictability as twin
import scipy.sparse
from scipy.spatial.distance import cdist

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.judge._landmarks import LandmarkFeatures, Predictor
from mvsc_fast.views._rows import ViewRows

WIDTHS = (9, 150, 33)  # the second has more columns than samples


def problem(widths=WIDTHS, n=80, n_landmarks=40, n_clusters=4, nonnegative=False, seed=0):
    """Views, features and the predictor of random coefficients."""
    rng = np.random.default_rng(seed)
    views = [rng.standard_normal((n, d)) for d in widths]
    views = [np.abs(X) for X in views] if nonnegative else views
    landmarks = np.linspace(0, n - 1, n_landmarks).astype(int)
    features = LandmarkFeatures([ViewRows(X) for X in views], landmarks)
    local = features.of_fitted(landmarks)
    B = rng.standard_normal((local.shape[1], n_clusters)).astype(np.float32)
    return views, landmarks, local @ B, Predictor(features, B, range(len(features.rows)))


def reference(native, views):
    """The scores in float64, one row after the other."""
    v, L = len(native["d"]), native["n_landmarks"]
    scores = []
    for j in range(len(views[0])):
        centred = []
        for i, X in enumerate(views):
            x = X[j].astype(np.float64)
            if np.isnan(x).all():
                centred.append(np.zeros(native["d"][i]))
                continue
            z = twin.unit((np.sqrt(np.maximum(x, 0)) if native["form"][i] == 2 else x)[None])[0]
            if native["factors"][i] is not None:
                z = np.linalg.solve(np.tril(native["factors"][i]), native["samples"][i] @ z)
            centred.append(z - native["means"][i])
        beside = np.concatenate(centred)
        beside /= np.linalg.norm(beside)
        cuts = np.cumsum(native["d"])[:-1]
        inner = sum(A @ a for A, a in zip(native["landmarks"], np.split(beside, cuts), strict=True))
        score, kernel = np.zeros(native["n_clusters"]), np.zeros(L)
        for i in range(v):
            a = centred[i]
            if np.isnan(views[i][j]).all():
                z = twin.unit((inner @ native["fill"][i] + native["means"][i])[None])[0]
                a = z - native["means"][i]
            distance = cdist(a[None], native["landmarks"][i])[0]
            t = max(np.sort(distance)[:10][-1], native["least_scales"][i])
            kernel += np.exp(-(distance**2) / (t * native["scales"][i]))
            score += a / np.linalg.norm(a) @ native["coefficients"][i]
        scores.append(score + kernel @ native["kernel_coefficients"])
    return np.array(scores)


@pytest.mark.parametrize("widths", [(9,), (150,), WIDTHS])
@pytest.mark.parametrize("n_landmarks", [6, 40])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_equal_to_its_definition(widths, n_landmarks, nonnegative):
    *_, predictor = problem(widths, n_landmarks=n_landmarks, nonnegative=nonnegative)
    rng = np.random.default_rng(1)
    new = [rng.standard_normal((70, d)) for d in widths]
    if len(widths) > 1:
        new[0][::3] = np.nan
        new[1][::9] = np.nan
    expected = reference(predictor.to_native(), new)
    found = predictor.scores(new)
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(predictor(new), found.argmax(axis=1))


@pytest.mark.parametrize("fitted", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("given", [np.asarray, scipy.sparse.csr_matrix])
def test_sparse_and_dense_rows_have_the_same_scores(fitted, given):
    rng = np.random.default_rng(0)
    views = [fitted(rng.poisson(0.5, (40, d)) + np.eye(40, d)) for d in (90, 12)]
    features = LandmarkFeatures([ViewRows(X) for X in views], np.arange(40))
    B = rng.standard_normal((features.of_fitted(np.arange(40)).shape[1], 3)).astype(np.float32)
    predictor = Predictor(features, B, range(len(features.rows)))
    new = [rng.poisson(0.5, (70, d)) + np.eye(70, d) for d in (90, 12)]
    new[1][:5] = np.nan  # of a dense view
    found = predictor.scores([given(new[0]), new[1]])
    expected = reference(predictor.to_native(), new)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    lacking = [np.full_like(new[0], np.nan), np.nan_to_num(new[1]) + 1]
    expected = reference(predictor.to_native(), lacking)
    np.testing.assert_allclose(predictor.scores(lacking), expected, atol=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("nonnegative", [False, True])
def test_samples_that_are_no_landmarks_have_the_scores_they_had_in_the_fit(sparse, nonnegative):
    views, landmarks, expected, predictor = problem(nonnegative=nonnegative)
    ordinary = np.setdiff1d(np.arange(80), landmarks)
    views = [scipy.sparse.csr_matrix(X) if sparse else X for X in views]
    found = predictor.scores([X[ordinary] for X in views])
    np.testing.assert_allclose(found, expected[ordinary], atol=2e-4)


@pytest.mark.parametrize("spread", [1e-3, 1e-5, 1e-7])
def test_rows_that_are_near_to_landmarks_have_precise_distances(spread):
    views, *_, predictor = problem((30, 20))
    rng = np.random.default_rng(1)
    new = [X[:40] + spread * rng.standard_normal((40, X.shape[1])) for X in views]
    expected = reference(predictor.to_native(), new)
    np.testing.assert_allclose(predictor.scores(new), expected, atol=1e-4)


def test_threads_and_other_rows_change_no_bit():
    *_, predictor = problem()
    rng = np.random.default_rng(1)
    new = [rng.standard_normal((300, d)) for d in WIDTHS]
    new[2][::5] = np.nan
    expected = predictor.scores(new)
    for n_threads in (2, 3):
        assert predictor.scores(new, n_threads).tobytes() == expected.tobytes()
    for first, last in ((0, 1), (128, 300), (256, 257), (128, 200)):  # the place modulo 128 is kept
        some = predictor.scores([X[first:last] for X in new])
        assert some.tobytes() == expected[first:last].tobytes()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_every_row_has_a_scale_of_its_own(nonnegative):
    *_, predictor = problem(nonnegative=nonnegative)
    rng = np.random.default_rng(1)
    new = [np.abs(rng.standard_normal((130, d))) for d in WIDTHS]
    expected = predictor.scores(new)
    exponents = rng.integers(-490, 505, (130, 1)) * 2  # even: roots are powers of 2 too
    found = predictor.scores([np.ldexp(X, exponents) for X in new])
    assert found.tobytes() == expected.tobytes()
    tiny = predictor.scores([np.ldexp(X, -1060) for X in new])  # subnormal, of few bits
    np.testing.assert_allclose(tiny, expected, atol=0.02)
    single = predictor.scores([np.ldexp(X, exponents // 10).astype(np.float32) for X in new])
    np.testing.assert_allclose(single, expected, atol=1e-4)


def test_rows_of_zeros_and_rows_that_equal_the_mean_have_finite_scores():
    views, *_, predictor = problem((5, 4))
    zeros = [np.zeros((3, X.shape[1])) for X in views]
    assert np.isfinite(predictor.scores(zeros)).all()
    alike = [ViewRows(np.ones((20, d))) for d in (3, 30)]
    features = LandmarkFeatures(alike, np.arange(20))
    B = np.ones((features.of_fitted(np.arange(20)).shape[1], 2), dtype=np.float32)
    assert np.isfinite(
        Predictor(features, B, range(len(features.rows))).scores([np.ones((3, d)) for d in (3, 30)])
    ).all()


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("view", [0, 1])
def test_what_is_not_finite_is_refused(bad, view):
    views, *_, predictor = problem()
    new = [X[:70].copy() for X in views]
    new[view][66, -1] = bad
    with pytest.raises(ValueError, match="not finite"):
        predictor(new)
    for X in new:
        X[66] = np.nan
    with pytest.raises(ValueError, match="lack all views"):
        predictor(new)


def test_a_predictor_is_small_and_survives_pickling():
    views, *_, predictor = problem()
    again = pickle.loads(pickle.dumps(predictor))
    assert again.scores(views).tobytes() == predictor.scores(views).tobytes()


def test_a_model_gives_its_arrays_in_the_layout_of_the_header():
    views, _ = datasets.make_multiview_subspaces(300, 4, n_features=(20, 400), random_state=0)
    views.insert(1, np.ones((300, 3)))  # a constant view is not used
    with pytest.warns(UserWarning, match="all samples are equal"):
        model = ConsensusTLRR(4, random_state=0).fit(views)
    native = model.to_native()
    assert native["views"] == [0, 2]
    n, L, c = 300, native["n_landmarks"], 4
    assert native["n_clusters"] == c and native["scale_neighbors"] == 10
    for i, (width, d) in enumerate(((20, 20), (400, n))):
        shapes = {
            "means": (d,),
            "landmarks": (L, d),
            "scales": (L,),
            "coefficients": (d, c),
            "fill": (L, d),
        }
        for name, shape in shapes.items():
            array = native[name][i]
            assert array.shape == shape and array.dtype == np.float32 and array.flags.c_contiguous
        assert native["n_features"][i] == width and native["d"][i] == d
    assert native["samples"][0] is None and native["factors"][0] is None
    assert native["samples"][1].shape == (n, 400) and native["factors"][1].shape == (n, n)
    assert native["kernel_coefficients"].shape == (L, c)
