"""Labels of new samples: the definition, the features of the fit, and what may not matter."""

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from reference.prediction import fields
from reference.prediction import scores as reference

from mvsc_fast import ConsensusTLRR, SavedPredictor, datasets
from mvsc_fast.judge._landmarks import LandmarkFeatures, Predictor
from mvsc_fast.judge._model_file import HEAD, RECORD, names_in, parts, with_names
from mvsc_fast.views._scaling import ColumnScaling
from mvsc_fast.views._view_rows import ViewRows

WIDTHS = (9, 150, 33)  # the second has more columns than samples


def problem(
    widths=WIDTHS,
    n=80,
    n_landmarks=40,
    n_clusters=4,
    nonnegative=False,
    seed=0,
    limits=None,
    scalings=None,
):
    """Views, features and the predictor of random coefficients."""
    rng = np.random.default_rng(seed)
    views = [rng.standard_normal((n, d)) for d in widths]
    views = [np.abs(X) for X in views] if nonnegative else views
    landmarks = np.linspace(0, n - 1, n_landmarks).astype(int)
    features = LandmarkFeatures([ViewRows(X) for X in views], landmarks)
    local = features.of_fitted()
    B = rng.standard_normal((local.shape[1], n_clusters)).astype(np.float32)
    used = range(len(features.rows))
    predictor = features.predictor(B, used, limits=limits, scalings=scalings)
    return views, landmarks, local @ B, predictor


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
    expected = reference(predictor.model.image, new)
    found = predictor.scores(new)
    np.testing.assert_allclose(found, expected, atol=2e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(predictor(new), found.argmax(axis=1))


@pytest.mark.parametrize("fitted", [np.asarray, scipy.sparse.csr_matrix])
@pytest.mark.parametrize("given", [np.asarray, scipy.sparse.csr_matrix])
def test_sparse_and_dense_rows_have_the_same_scores(fitted, given):
    rng = np.random.default_rng(0)
    views = [fitted(rng.poisson(0.5, (40, d)) + np.eye(40, d)) for d in (90, 12)]
    features = LandmarkFeatures([ViewRows(X) for X in views], np.arange(40))
    B = rng.standard_normal((features.of_fitted().shape[1], 3)).astype(np.float32)
    predictor = features.predictor(B, range(len(features.rows)))
    new = [rng.poisson(0.5, (70, d)) + np.eye(70, d) for d in (90, 12)]
    new[1][:5] = np.nan  # of a dense view
    found = predictor.scores([given(new[0]), new[1]])
    expected = reference(predictor.model.image, new)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    lacking = [np.full_like(new[0], np.nan), np.nan_to_num(new[1]) + 1]
    expected = reference(predictor.model.image, lacking)
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
    expected = reference(predictor.model.image, new)
    np.testing.assert_allclose(predictor.scores(new), expected, atol=1e-4)


def test_threads_and_other_rows_change_no_bit():
    *_, predictor = problem()
    rng = np.random.default_rng(1)
    new = [rng.standard_normal((300, d)) for d in WIDTHS]
    new[2][::5] = np.nan
    expected = predictor.scores(new)
    for n_threads in (2, 3):
        assert predictor.scores(new, n_threads).tobytes() == expected.tobytes()
    for first, last in ((0, 1), (95, 97), (7, 300), (256, 257), (3, 99), (1, 5)):
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
    B = np.ones((features.of_fitted().shape[1], 2), dtype=np.float32)
    assert np.isfinite(
        features.predictor(B, range(len(features.rows))).scores([np.ones((3, d)) for d in (3, 30)])
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


def test_dense_and_sparse_views_have_the_same_map():
    rng = np.random.default_rng(0)
    X = (rng.random((70, 900)) < 0.03) * rng.random((70, 900)) + np.eye(70, 900)
    predictors = []
    for fitted in (X, scipy.sparse.csr_matrix(X)):
        features = LandmarkFeatures([ViewRows(fitted)], np.arange(70))
        B = np.ones((features.of_fitted().shape[1], 2), dtype=np.float32)
        predictors.append(features.predictor(B, [0]))
    dense, sparse = predictors
    assert dense.model.image.nbytes == sparse.model.image.nbytes < 3 * 70 * 900
    np.testing.assert_allclose(dense.scores([X]), sparse.scores([X]), rtol=1e-3)


@pytest.mark.parametrize("fitted", [np.asarray, scipy.sparse.csr_matrix])
def test_missing_cells_are_filled_with_the_multiple_of_the_mean_row(fitted):
    """Also in a view that was sparse in the fit, and whose rows are mapped in Python."""
    rng = np.random.default_rng(0)
    views = [rng.poisson(3.0, (40, d)) + 1.0 for d in (12, 90)]
    features = LandmarkFeatures([ViewRows(fitted(X)) for X in views], np.arange(40))
    B = rng.standard_normal((features.of_fitted().shape[1], 3)).astype(np.float32)
    means = [X.mean(axis=0).astype(np.float32) / 7 for X in views]
    predictor = features.predictor(B, range(2), means)
    new = [rng.poisson(3.0, (70, d)) + 1.0 for d in (12, 90)]
    complete = [X.copy() for X in new]
    for X, Z, mean in zip(new, complete, means, strict=True):
        X[3, :5] = np.nan
        multiple = np.linalg.lstsq(mean[5:, None], X[3, 5:], rcond=None)[0]
        Z[3, :5] = multiple * mean[:5]
        X[4, : X.shape[1] // 2] = np.nan  # half of the cells are enough
        half = X.shape[1] // 2
        multiple = np.linalg.lstsq(mean[half:, None], X[4, half:], rcond=None)[0]
        Z[4, :half] = multiple * mean[:half]
    new[0][6, 1:], complete[0][6] = np.nan, np.nan  # counts as missing
    expected = predictor.scores(complete)
    np.testing.assert_allclose(predictor.scores(new), expected, atol=1e-4)


def model_and_rows():
    """A model whose second view has a map, and rows."""
    views, *_, predictor = problem((9, 150))
    return predictor.model, [np.ascontiguousarray(X[:70]) for X in views]


def test_rows_and_scores_of_another_shape_are_refused():
    model, rows = model_and_rows()
    wrong = {
        r"rows of view 1 must have shape \(70, 150\), got \(70, 149\)": rows[1][:, :149].copy(),
        r"rows of view 1 must have shape \(70, 150\), got \(69, 150\)": rows[1][:69],
        r"rows of view 1 must have shape \(70, 150\), got \(10500,\)": rows[1].ravel(),
        "rows of view 1 must be a C-contiguous array of .*float64": rows[1].astype(np.float32),
        "rows of view 1 must be a C-contiguous array": np.asfortranarray(rows[1]),
    }
    for message, X in wrong.items():
        with pytest.raises(ValueError, match=message):
            model.predict([rows[0], X])
    with pytest.raises(ValueError):
        model.predict(rows[:1])
    for shape in ((69, 4), (70, 3), (280,)):
        with pytest.raises(ValueError, match="scores must have shape"):
            model.predict(rows, np.empty(shape, np.float32))


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


def test_unlike_samples_are_counted_among_those_with_all_views():
    *_, known = problem()
    rng, roots = np.random.default_rng(1), np.array([1, 2, 3, 5], dtype=np.float32)
    new = [rng.standard_normal((30, d)) for d in WIDTHS]
    new[0][:6], new[2][3:9] = np.nan, np.nan
    scores = known.scores(new)
    right = np.eye(4)[scores.argmax(axis=1)]
    far = np.linalg.norm(scores * roots - right, axis=1)[9:]
    limit = np.sort(far)[12:14].mean()
    limits = np.full(4, limit, dtype=np.float32)
    *_, predictor = problem(limits=np.concatenate([roots, limits]))
    unlike = []
    np.testing.assert_array_equal(predictor(new, unlike=unlike), known(new))
    assert unlike == [[8, 21]]
    predictor([X[9:19] for X in new], unlike=unlike)
    assert unlike[1] == [(far[:10] > limit).sum(), 10]
    known(new, unlike=unlike)  # which has no limits
    assert len(unlike) == 2


def test_a_predictor_is_small_and_survives_pickling():
    views, *_, predictor = problem()
    again = pickle.loads(pickle.dumps(predictor))
    assert again.scores(views).tobytes() == predictor.scores(views).tobytes()


def test_a_file_has_the_arrays_of_a_model(tmp_path):
    views, y = datasets.make_multiview_subspaces(300, 4, n_features=(3, 400), random_state=0)
    views[0] += 5 * y[:, None]
    views.insert(1, np.ones((300, 3)))  # a constant view is not used
    with pytest.warns(UserWarning, match="all samples are equal"):
        model = ConsensusTLRR(4, random_state=0).fit(views)
    model.to_native(tmp_path / "model.mvsc")
    head, known = fields(np.fromfile(tmp_path / "model.mvsc", np.uint8))
    assert head["n_inputs"] == 3 and [view["input"] for view in known] == [0, 2]
    n, L, c = 300, head["n_landmarks"], 4
    assert head["n_clusters"] == c and head["scale_neighbors"] == 10
    for view, (width, d) in zip(known, ((3, 4), (400, n)), strict=True):
        shapes = {
            "mean": (d,),
            "landmarks": (L, d),
            "scales": (L,),
            "coefficients": (d, c),
            "fill": (L, d),
            "mean_row": (width,),
        }
        assert {name: view[name].shape for name in shapes} == shapes
        assert view["n_features"] == width and view["d"] == d
        squares = (view["landmarks"].astype(float) ** 2).sum(axis=1)
        np.testing.assert_allclose(view["squares"], squares, rtol=1e-5)
    assert known[0]["codes"] is None and known[0]["steps"] is None
    assert known[0]["lift"].shape == (4,) and known[1]["lift"] is None
    assert known[1]["codes"].shape == (400, n) and known[1]["steps"].shape == (400,)
    assert head["kernel_coefficients"].shape == (L, c)


def test_a_file_of_version_2_predicts_as_before():
    """Its views are not lifted, and one limit is for all clusters."""
    path = Path(__file__).parent / "data" / "version_2.mvsc"
    rng = np.random.default_rng(0)
    centres = [6 * rng.standard_normal((3, d)) for d in (5, 3)]
    for C in centres:  # of the fitted samples
        rng.standard_normal((24, C.shape[1]))
    y = np.arange(9) % 3
    new = [C[y] + rng.standard_normal((9, C.shape[1])) for C in centres]
    model = SavedPredictor(path)
    np.testing.assert_array_equal(model.predict(new), [0, 2, 1][:3] * 3)
    margin, unlike = model.predict_margin(new, return_unlike=True)
    expected = [0.9018, 1, 0.9609, 0.8842, 0.9457, 0.9826, 0.674, 0.9955, 0.9617]
    np.testing.assert_allclose(margin, expected, atol=1e-4)
    np.testing.assert_array_equal(np.flatnonzero(unlike), [0, 3, 4, 6])
    scores = reference(np.fromfile(path, np.uint8), new)
    np.testing.assert_allclose(model.predictor_.scores(new), scores, atol=1e-5)


@pytest.mark.parametrize("note", ["", '{"é": 1}'])
def test_names_and_scalings_are_kept_in_a_file(note):
    scalings = [ColumnScaling(np.arange(float(d)), np.arange(d) + 1.0) for d in WIDTHS]
    views, *_, plain = problem()
    *_, predictor = problem(scalings=scalings)
    names, widths = ["a", "é", 7], list(WIDTHS)
    columns = [[f"x{j}" for j in range(9)], None, ["", *"abc"] * 8 + [""]]
    image = with_names(predictor.model.image, names, columns, widths, note)
    assert names_in(image) == (["a", "é", "7"], columns, widths, note)
    records = HEAD.itemsize + 3 * RECORD.itemsize  # which arrays follow
    assert 0 <= parts(image)[0]["kernel_coefficients"] - records < 64
    for view, (means, deviations) in zip(fields(image)[1], scalings, strict=True):
        np.testing.assert_array_equal(view["centres"], means)
        np.testing.assert_array_equal(view["deviations"], deviations)
    unscaled = [X * deviation + mean for X, (mean, deviation) in zip(views, scalings, strict=True)]
    np.testing.assert_allclose(
        Predictor(image).scores(unscaled), plain.scores(views), rtol=1e-4, atol=1e-4
    )
    assert names_in(with_names(image, [*"abc"], [None] * 3, widths))[3] == ""
    with pytest.raises(ValueError, match="must not contain the character NUL"):
        with_names(image, ["a", "b\0", "c"], columns, widths)


def test_rows_and_models_may_have_any_address():
    views, *_, predictor = problem()
    expected = predictor.scores(views)

    def shifted(X):
        memory = np.empty(X.nbytes + 1, dtype=np.uint8)[1:]
        memory[:] = X.reshape(-1).view(np.uint8)
        return memory.view(X.dtype).reshape(X.shape)

    again = Predictor(shifted(predictor.model.image))
    assert again.scores([shifted(X) for X in views]).tobytes() == expected.tobytes()
