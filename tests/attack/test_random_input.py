"""Hostile input: every call ends in a finite result or a ValueError, and leaves its input alone.

MVSC_STRESS=full draws as many cases as a release demands, without a fixed seed.
"""

import warnings

import numpy as np
from conftest import examples, published_tlrr, recovered
from hypothesis import given
from hypothesis import strategies as st

from mvsc_fast import similarity
from mvsc_fast.methods import SNN, TRPCA, TSVDMSC
from mvsc_fast.views import check_views

SIZES = [0.0, 1.0, 1e300, 1e-300, 5e-324, 1e38, 1e19, 1e-40, np.inf]
SPECIAL = [np.nan, *SIZES, *(-size for size in SIZES)]
DTYPES = ["f8", "f4", "f2", "i4", "u1", "i8", "?", ">f8", "c16", "O", "U3", "g"]


@st.composite
def hostile_arrays(draw, ndim, square=False):
    """Arrays of odd shapes, types, orders and strides, with a few special values."""
    shape = [draw(st.integers(0, 4)) if ndim == 3 else draw(st.integers(0, 9))]
    shape += [draw(st.integers(0, 9)) for _ in range(ndim - 1)]
    if square and draw(st.integers(0, 9)):
        shape[-1] = shape[-2]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    A = rng.standard_normal(shape) * draw(st.sampled_from([1.0, 1.0, 1e-3, 1e150, 1e-200, 0.0]))
    for _ in range(draw(st.integers(0, 2))):
        if A.size:
            A.flat[rng.integers(A.size)] = draw(st.sampled_from(SPECIAL))
    if square and A.ndim == 3 and A.shape[1] == A.shape[2] and draw(st.booleans()):
        with np.errstate(all="ignore"):
            A = A + A.transpose(0, 2, 1)
    dtype = draw(st.sampled_from(["f8"] * 6 + DTYPES))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        A = A.astype(dtype)
    layout = draw(st.sampled_from("CCCFSRW"))
    if layout == "F":
        A = np.asfortranarray(A)
    elif layout == "S":
        A = np.repeat(A, 2, axis=-1)[..., ::2]
    elif layout == "R":
        A = A[::-1]
    elif layout == "W":
        A.flags.writeable = False
    return A


def survives(call, *arrays):
    """The result of a call, or None after a ValueError that says something."""
    before = [A.copy() for A in arrays]  # of objects, the same objects
    result = None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = call()
    except (ValueError, TypeError) as error:
        assert len(str(error)) > 10
    for A, copy in zip(arrays, before, strict=True):
        assert A.tobytes() == copy.tobytes()
    return result


PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "omega1": st.sampled_from([0.0, 0.5, 1.0, -1.0, np.nan, "a"]),
        "alpha": st.sampled_from([0.0, 5.0, 1e300, 1e-300, np.inf]),
        "lam": st.sampled_from([1e-300, 1.0, 1e6, 1e300, 0.0, -1.0]),
        "tol": st.sampled_from([0.0, 1e-3, 1e300]),
        "max_iter": st.sampled_from([0, 1, 7, 3.0, True]),
        "n_threads": st.sampled_from([1, 2, 0, None]),
    },
)


@examples(100)
@given(hostile_arrays(3, square=True), PARAMETERS, st.sampled_from(["dual", "ialm"]))
def test_tlrr(W, parameters, solver):
    parameters = {"max_iter": 12, **parameters}
    result = survives(lambda: published_tlrr(W, solver=solver, **parameters), W)
    if result is not None:
        assert result.tensor.shape == W.shape
        assert np.isfinite(result.tensor).all()


@examples(40)
@given(hostile_arrays(3, square=True), st.sampled_from([TRPCA, SNN]))
def test_recovery(W, method):
    model = survives(lambda: recovered(method, W, max_iter=8), W)
    if model is not None:
        assert np.isfinite(model.tensor_).all()


@examples(60)
@given(st.lists(hostile_arrays(2), max_size=3), st.booleans())
def test_views(arrays, same_samples):
    if same_samples and arrays:
        n = min(len(A) for A in arrays)
        arrays = [A[:n] for A in arrays]
    views = survives(lambda: check_views(arrays), *arrays)
    if views is None:
        return
    for make in (similarity.self_representation, similarity.nearest_neighbors, similarity.rbf):
        W = survives(lambda make=make: make(views))
        assert W is None or np.isfinite(W).all()
    model = survives(lambda: TSVDMSC(1, max_iter=4).fit(views))
    assert model is None or np.isfinite(model.representation_).all()
