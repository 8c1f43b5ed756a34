"""The proximal maps of the C interface, called with anything."""

import numpy as np
import pytest
from conftest import examples
from hypothesis import given
from hypothesis import strategies as st
from native_calls import (
    BAD_ARGUMENT,
    BAD_SHAPE,
    FLOAT32,
    FLOAT64,
    NOT_FINITE,
    OK,
    SLICE_SHRINK,
    SMALL_WORKSPACE,
    SYMMETRIC_CLIP,
    SYMMETRIC_SHRINK,
    TOO_LARGE,
    TUBE_SHRINK,
)

DATA = np.random.default_rng(0).standard_normal(3 * 4 * 4)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, OK),
        ({"map": 0}, BAD_ARGUMENT),
        ({"map": 99}, BAD_ARGUMENT),
        ({"size": 40}, BAD_ARGUMENT),
        ({"data": None}, BAD_ARGUMENT),
        ({"v": -1}, BAD_ARGUMENT),
        ({"dtype": 7}, BAD_ARGUMENT),
        ({"t": -1.0}, BAD_ARGUMENT),
        ({"t": np.nan}, BAD_ARGUMENT),
        ({"t": np.inf}, BAD_ARGUMENT),
        ({"n_threads": 0}, BAD_ARGUMENT),
        ({"n_threads": 10**6}, BAD_ARGUMENT),
        ({"map": SYMMETRIC_CLIP, "m": 2}, BAD_SHAPE),
        ({"map": SYMMETRIC_CLIP, "m": 10**5, "n": 10**5}, TOO_LARGE),
        ({"n": 2**62}, TOO_LARGE),
        ({"v": 2**40, "m": 2**40}, TOO_LARGE),
        ({"spare": -1}, SMALL_WORKSPACE),
        ({"spare": -(10**9)}, SMALL_WORKSPACE),
        ({"data": np.full(48, np.nan)}, NOT_FINITE),
        ({"data": np.full(48, -np.inf)}, NOT_FINITE),
        ({"v": 0, "data": None}, OK),
    ],
)
def test_every_misuse_of_a_map_has_its_status(probe, changes, status):
    arguments = {"map": SLICE_SHRINK, "size": 48, "data": DATA, "v": 3, "m": 4, "n": 4,
                 "dtype": FLOAT64, "t": 0.5, "n_threads": 2, "spare": 0, **changes}  # fmt: skip
    found, message, intact = probe.prox(*arguments.values())
    assert found == status, message
    assert intact and len(message) > 5


@examples(100)
@given(
    st.integers(TUBE_SHRINK, SYMMETRIC_CLIP),
    st.integers(0, 5), st.integers(0, 40), st.integers(0, 40),
    st.sampled_from([FLOAT32, FLOAT64]),
    st.sampled_from([0.0, 1e-300, 1e-3, 0.5, 5.0, 1e300]),
    st.integers(1, 4), st.integers(0, 200),
    st.sampled_from([1.0, 0.0, 1e-310, 1e30, 1e300]),
    st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_a_map_of_any_tensor_stays_within_its_memory(probe, map, v, m, n, dtype, t, threads,
                                                     spare, scale, seed):  # fmt: skip
    kind = np.float32 if dtype == FLOAT32 else np.float64
    with np.errstate(all="ignore"):
        data = (scale * np.random.default_rng(seed).standard_normal(v * m * n)).astype(kind)
    status, message, intact = probe.prox(map, 48, data, v, m, n, dtype, t, threads, spare)
    assert intact and message != "unknown status"
    if map in (SYMMETRIC_SHRINK, SYMMETRIC_CLIP) and m != n:
        assert status == BAD_SHAPE
    elif not np.isfinite(data).all():
        assert status == NOT_FINITE
    elif scale == 1.0:
        assert status == OK
