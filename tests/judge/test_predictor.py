"""Labels of new samples: the definition, and what may not matter."""

import pickle
from functools import cache

import numpy as np
import pytest
import scipy.sparse
from conftest import fitted
from reference.prediction import scores as reference

from mvsc_fast import ConsensusTLRR, datasets

WIDTHS = (9, 150, 33)  # the second has more columns than samples


@cache
def problem(widths=WIDTHS, nonnegative=False, sparse=False):
    """Views of four clusters, the predictor of a fit to them, and the bytes of its model."""
    rng = np.random.default_rng(0)
    y = np.arange(80) % 4
    views = [2 * rng.standard_normal((4, d))[y] + rng.standard_normal((80, d)) for d in widths]
    views = [np.abs(X) for X in views] if nonnegative else views
    given = [scipy.sparse.csr_matrix(X) for X in views] if sparse else views
    model = fitted(ConsensusTLRR(4, random_state=0, n_threads=1), given)
    return views, model.predictor_, model.predictor_.model.image


def new_rows(n, widths=WIDTHS, nonnegative=False):
    rng = np.random.default_rng(1)
    rows = [rng.standard_normal((n, d)) for d in widths]
    return [np.abs(X) for X in rows] if nonnegative else rows


@pytest.mark.parametrize("widths", [(9,), (150,), WIDTHS], ids=str)
@pytest.mark.parametrize("nonnegative", [False, True])
def test_equal_to_its_definition(widths, nonnegative):
    _, predictor, image = problem(widths, nonnegative)
    new = new_rows(70, widths)
    if len(widths) > 1:
        new[0][::3] = np.nan
        new[1][::9] = np.nan
    expected = reference(image, new)
    scores = predictor.scores(new)
    np.testing.assert_allclose(scores, expected, atol=2e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(predictor(new), scores.argmax(axis=1))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("container", [np.asarray, scipy.sparse.csr_matrix])
def test_sparse_and_dense_rows_have_the_same_scores(sparse, container):
    _, predictor, image = problem((90, 12), True, sparse)
    new = new_rows(70, (90, 12), nonnegative=True)
    new[1][:5] = np.nan  # of a dense view
    scores = predictor.scores([container(new[0]), new[1]])
    np.testing.assert_allclose(scores, reference(image, new), atol=1e-4)
    lacking = [np.full_like(new[0], np.nan), np.nan_to_num(new[1]) + 1]
    np.testing.assert_allclose(predictor.scores(lacking), reference(image, lacking), atol=1e-4)


@pytest.mark.parametrize("spread", [1e-3, 1e-5, 1e-7])
def test_rows_that_are_near_to_landmarks_have_precise_distances(spread):
    views, predictor, image = problem((30, 20))
    noise = new_rows(40, (30, 20))
    new = [X[:40] + spread * Z for X, Z in zip(views, noise, strict=True)]
    np.testing.assert_allclose(predictor.scores(new), reference(image, new), atol=1e-4)


def test_threads_and_other_rows_change_no_bit():
    _, predictor, _ = problem()
    new = new_rows(300)
    new[2][::5] = np.nan
    expected = predictor.scores(new)
    for n_threads in (2, 3):
        assert predictor.scores(new, n_threads).tobytes() == expected.tobytes()
    for first, last in ((0, 1), (95, 97), (7, 300), (256, 257), (3, 99), (1, 5)):
        some = predictor.scores([X[first:last] for X in new])
        assert some.tobytes() == expected[first:last].tobytes()


@pytest.mark.parametrize("nonnegative", [False, True])
def test_every_row_has_a_scale_of_its_own(nonnegative):
    """Views of more columns are not lifted: directions count alone."""
    widths = (90, 150, 133)
    _, predictor, _ = problem(widths, nonnegative)
    new = new_rows(130, widths, nonnegative=True)
    expected = predictor.scores(new)
    exponents = np.random.default_rng(2).integers(-490, 505, (130, 1)) * 2  # roots are powers too
    scores = predictor.scores([np.ldexp(X, exponents) for X in new])
    assert scores.tobytes() == expected.tobytes()
    tiny = predictor.scores([np.ldexp(X, -1060) for X in new])  # subnormal, of few bits
    np.testing.assert_allclose(tiny, expected, atol=0.02)
    single = predictor.scores([np.ldexp(X, exponents // 10).astype(np.float32) for X in new])
    np.testing.assert_allclose(single, expected, atol=1e-4)
    assert np.isfinite(predictor.scores([0 * X for X in new])).all()


def test_rows_and_scores_of_another_shape_are_refused():
    model, rows = problem((9, 150))[1].model, new_rows(70, (9, 150))
    wrong = {
        r"view 1 .*\(70, 150\), got \(70, 149\)": rows[1][:, :149].copy(),
        r"view 1 .*\(70, 150\), got \(69, 150\)": rows[1][:69],
        r"view 1 .*\(70, 150\), got \(10500,\)": rows[1].ravel(),
        "view 1 .*float64": rows[1].astype(np.float32),
        "view 1 .*C-contiguous": np.asfortranarray(rows[1]),
    }
    for message, X in wrong.items():
        with pytest.raises(ValueError, match=message):
            model.predict([rows[0], X])
    with pytest.raises(ValueError):
        model.predict(rows[:1])
    for shape in ((69, 4), (70, 3), (280,)):
        with pytest.raises(ValueError, match="scores"):
            model.predict(rows, np.empty(shape, np.float32))


def shifted(X):
    """The array at an address that is no multiple of its item size."""
    memory = np.empty(X.nbytes + 1, dtype=np.uint8)[1:]
    memory[:] = X.reshape(-1).view(np.uint8)
    return memory.view(X.dtype).reshape(X.shape)


def test_a_predictor_survives_pickling_and_reads_rows_at_any_address():
    views, predictor, _ = problem()
    expected = predictor.scores(views)
    again = pickle.loads(pickle.dumps(predictor))
    assert again.scores([shifted(X) for X in views]).tobytes() == expected.tobytes()


def test_names_without_an_end_are_refused(tmp_path):
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    model = ConsensusTLRR(3, random_state=0).fit({"a": views[0], "b\0": views[1]})
    with pytest.raises(ValueError, match="NUL"):
        model.to_native(tmp_path / "model.mvsc")
