"""Labels of new samples: the definition, the features of the fit, and what may not matter."""

import pickle
import warnings

import numpy as np
import pytest
import reference.predictability as twin
import scipy.sparse
from scipy.spatial.distance import cdist

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast.judge import _predict
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
    with pytest.raises(ValueError, match=f"view {view} is not finite in row 66"):
        predictor(new)


def test_a_sample_that_lacks_all_views_has_the_label_minus_one():
    views, *_, predictor = problem()
    new = [X[:70].copy() for X in views]
    for X in new:
        X[[5, 66]] = np.nan
    expected = predictor([X[:70] for X in views])
    scores, labels = predictor.scores(new), predictor(new)
    lost = np.isin(np.arange(70), [5, 66])
    assert (labels[lost] == -1).all() and np.isnan(scores[lost]).all()
    np.testing.assert_array_equal(labels[~lost], expected[~lost])


@pytest.mark.parametrize("fitted", [np.asarray, scipy.sparse.csr_matrix])
def test_missing_cells_are_filled_with_the_multiple_of_the_mean_row(fitted):
    """Also in a view that was sparse in the fit, and whose rows are mapped in Python."""
    rng = np.random.default_rng(0)
    views = [rng.poisson(3.0, (40, d)) + 1.0 for d in (12, 90)]
    features = LandmarkFeatures([ViewRows(fitted(X)) for X in views], np.arange(40))
    B = rng.standard_normal((features.of_fitted(np.arange(40)).shape[1], 3)).astype(np.float32)
    means = [X.mean(axis=0).astype(np.float32) / 7 for X in views]
    predictor = Predictor(features, B, range(2), means)
    new = [rng.poisson(3.0, (70, d)) + 1.0 for d in (12, 90)]
    complete = [X.copy() for X in new]
    for X, Z, mean in zip(new, complete, means, strict=True):
        X[3, :5] = np.nan
        multiple = np.linalg.lstsq(mean[5:, None], X[3, 5:], rcond=None)[0]
        Z[3, :5] = multiple * mean[:5]
        X[4, : X.shape[1] // 2] = np.nan  # half of the cells are enough
        multiple = np.linalg.lstsq(mean[X.shape[1] // 2 :, None], X[4, X.shape[1] // 2 :])[0]
        Z[4, : X.shape[1] // 2] = multiple * mean[: X.shape[1] // 2]
    new[0][6, 1:], complete[0][6] = np.nan, np.nan  # counts as missing
    expected = predictor.scores(complete)
    np.testing.assert_allclose(predictor.scores(new), expected, atol=1e-4)


def native_and_rows():
    """Arguments of the binding: the second of two views has a map."""
    views, *_, predictor = problem((9, 150))
    native = predictor.to_native()
    native["mean_rows"] = [X.mean(axis=0).astype(np.float32) for X in views]
    return native, [np.ascontiguousarray(X[:70]) for X in views]


@pytest.mark.parametrize(
    "name",
    ["samples", "factors", "means", "landmarks", "scales", "coefficients", "fill", "mean_rows"],
)
def test_arrays_of_another_shape_are_refused_before_they_are_read(name):
    native, rows = native_and_rows()
    for axis in range(native[name][1].ndim):
        arrays = list(native[name])
        short = np.ascontiguousarray(np.delete(arrays[1], -1, axis=axis))
        for wrong in (short, short.astype(np.float16), arrays[1].T[..., None]):
            arrays[1] = wrong
            with pytest.raises(ValueError, match=f"{name} of view 1 must"):
                _predict.predict({**native, name: arrays}, rows)
    with pytest.raises((ValueError, TypeError)):
        _predict.predict({**native, name: native[name][:1]}, rows)
    if name not in ("samples", "fill", "mean_rows"):
        with pytest.raises((ValueError, TypeError)):
            _predict.predict({**native, name: None}, rows)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_features", np.array([9, 151]), r"samples of view 1 must have shape \(80, 151\)"),
        ("n_features", np.array([10, 150]), "view 0: rows of 10 features cannot have 9 columns"),
        ("n_features", np.array([9]), r"n_features must have shape \(2,\), got \(1,\)"),
        ("d", np.array([9, 81]), r"samples of view 1 must have shape \(81, 150\)"),
        ("d", np.array([9, -80]), "view 1: rows of 150 features cannot have -80 columns"),
        ("form", np.array([1]), "form must have shape"),
        ("least_scales", np.ones(1, np.float32), "least_scales must have shape"),
        ("least_scales", np.ones(2), "least_scales must be a C-contiguous array"),
        (
            "kernel_coefficients",
            np.ones((40, 3), np.float32),
            "kernel_coefficients must have shape",
        ),
        ("n_landmarks", 41, "must have shape"),
        ("n_clusters", 5, "must have shape"),
        ("n_clusters", 0, "at least one view, cluster"),
        ("scale_neighbors", 0, "at least one view, cluster"),
    ],
)
def test_numbers_that_contradict_the_arrays_are_refused(name, value, message):
    native, rows = native_and_rows()
    with pytest.raises(ValueError, match=message):
        _predict.predict({**native, name: value}, rows)


def test_rows_and_scores_of_another_shape_are_refused():
    native, rows = native_and_rows()
    wrong = {
        r"rows of view 1 must have shape \(70, 150\), got \(70, 149\)": rows[1][:, :149].copy(),
        r"rows of view 1 must have shape \(70, 150\), got \(69, 150\)": rows[1][:69],
        r"rows of view 1 must have shape \(70, 150\), got \(10500,\)": rows[1].ravel(),
        "rows of view 1 must be a C-contiguous array of .*float64": rows[1].astype(np.float32),
        "rows of view 1 must be a C-contiguous array": np.asfortranarray(rows[1]),
    }
    for message, X in wrong.items():
        with pytest.raises(ValueError, match=message):
            _predict.predict(native, [rows[0], X])
    with pytest.raises(ValueError):
        _predict.predict(native, rows[:1])
    for shape in ((69, 4), (70, 3), (280,)):
        with pytest.raises(ValueError, match="scores must have shape"):
            _predict.predict(native, rows, np.empty(shape, np.float32))


class Lying:
    """A view that declares more columns than its blocks have."""

    def __init__(self, X, d):
        self._X, self.shape, self.dtype, self.ndim = X, (len(X), d), X.dtype, 2

    def __getitem__(self, key):
        return self._X[key]


@pytest.mark.parametrize("d", [29, 15, 31])
def test_blocks_of_another_width_than_declared_are_refused(d):
    rng = np.random.default_rng(0)
    views = [rng.standard_normal((300, 30)) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ConsensusTLRR(4, random_state=0, n_threads=1).fit(views)
    wrong = [Lying(np.resize(X, (300, d)), 30) for X in views]
    with pytest.raises(ValueError, match=r"view\w* 0"):
        model.predict(wrong)


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
            "mean_rows": (width,),
        }
        for name, shape in shapes.items():
            array = native[name][i]
            assert array.shape == shape and array.dtype == np.float32 and array.flags.c_contiguous
        assert native["n_features"][i] == width and native["d"][i] == d
    assert native["samples"][0] is None and native["factors"][0] is None
    assert native["samples"][1].shape == (n, 400) and native["factors"][1].shape == (n, n)
    assert native["kernel_coefficients"].shape == (L, c)
