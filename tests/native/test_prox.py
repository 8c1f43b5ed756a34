"""The proximal maps of the C interface, called with anything."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import examples, random_similarities
from hypothesis import given
from hypothesis import strategies as st
from native_calls import FLOAT32, FLOAT64, Map, Status, call_prox
from threadpoolctl import threadpool_limits

from mvsc_fast import _kernels as kernels

DATA = np.random.default_rng(0).standard_normal(3 * 4 * 4)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, Status.OK),
        ({"map": 0}, Status.BAD_ARGUMENT),
        ({"map": len(Map) + 1}, Status.BAD_ARGUMENT),
        ({"size": 40}, Status.BAD_ARGUMENT),
        ({"data": None}, Status.BAD_ARGUMENT),
        ({"v": -1}, Status.BAD_ARGUMENT),
        ({"dtype": 7}, Status.BAD_ARGUMENT),
        ({"t": -1.0}, Status.BAD_ARGUMENT),
        ({"t": np.nan}, Status.BAD_ARGUMENT),
        ({"t": np.inf}, Status.BAD_ARGUMENT),
        ({"n_threads": 0}, Status.BAD_ARGUMENT),
        ({"n_threads": 10**6}, Status.BAD_ARGUMENT),
        ({"map": Map.SYMMETRIC_CLIP, "m": 2}, Status.BAD_SHAPE),
        ({"map": Map.SYMMETRIC_CLIP, "m": 10**5, "n": 10**5}, Status.TOO_LARGE),
        ({"n": 2**62}, Status.TOO_LARGE),
        ({"v": 2**40, "m": 2**40}, Status.TOO_LARGE),
        ({"spare": -1}, Status.SMALL_WORKSPACE),
        ({"data": np.full(48, np.nan)}, Status.NOT_FINITE),
        ({"data": np.full(48, -np.inf)}, Status.NOT_FINITE),
        ({"v": 0, "m": 2**40, "data": None}, Status.OK),  # and no counts are written
        ({"n": 0, "m": 2**40, "data": None}, Status.OK),
        ({"overlap": "workspace"}, Status.BAD_ARGUMENT),
        ({"overlap": "counts"}, Status.BAD_ARGUMENT),
    ],
)
def test_every_misuse_of_a_map_has_its_status(probe, changes, status):
    arguments = {"data": DATA, "map": Map.SLICE_SHRINK, "v": 3, "m": 4, "n": 4, "t": 0.5}
    arguments |= {"n_threads": 2, **changes}
    found, message, intact, data, counts = call_prox(probe, **arguments)
    assert found == status, message
    assert intact and len(message) > 5
    if status != Status.OK or not data:
        assert data == (b"" if arguments["data"] is None else arguments["data"].tobytes())
        assert not counts


@pytest.mark.parametrize("code", Map)
def test_maps_in_several_threads_equal_python_to_the_last_bit(probe, code):
    W = random_similarities(3, 50, dtype=np.float32)
    expected = W.copy()
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(3) as pool:
        getattr(kernels, code.name.lower())(expected, 1.5)
        problem = {"v": 3, "m": 50, "n": 50, "dtype": FLOAT32, "map": code, "t": 1.5}
        calls = [
            pool.submit(call_prox, probe, W, n_threads=n_threads, **problem)
            for n_threads in (1, 2, 1, 2, 1, 2)
        ]
        for call in calls:
            status, _, intact, data, _ = call.result()
            assert status == Status.OK and intact and data == expected.tobytes()


@examples(100)
@given(
    st.integers(Map.TUBE_SHRINK, Map.SYMMETRIC_CLIP),
    st.integers(0, 5),
    st.integers(0, 40),
    st.integers(0, 40),
    st.sampled_from([FLOAT32, FLOAT64]),
    st.sampled_from([0.0, 1e-300, 1e-3, 0.5, 5.0, 1e300]),
    st.integers(1, 4),
    st.integers(0, 200),
    st.sampled_from([1.0, 0.0, 1e-310, 1e30, 1e300]),
    st.integers(0, 2**32 - 1),
)
def test_a_map_of_any_tensor_stays_within_its_memory(
    probe, map, v, m, n, dtype, t, threads, spare, scale, seed
):
    kind = np.float32 if dtype == FLOAT32 else np.float64
    with np.errstate(all="ignore"):
        data = (scale * np.random.default_rng(seed).standard_normal(v * m * n)).astype(kind)
    shape = {"v": v, "m": m, "n": n, "dtype": dtype}
    status, message, intact, _, counts = call_prox(
        probe, data, map=map, t=t, n_threads=threads, spare=spare, **shape
    )
    assert intact and message != "unknown status"
    if map in (Map.SYMMETRIC_SHRINK, Map.SYMMETRIC_CLIP) and m != n:
        assert status == Status.BAD_SHAPE
    elif not np.isfinite(data).all():
        assert status == Status.NOT_FINITE
    elif scale == 1.0:
        assert status == Status.OK
        length = {Map.TUBE_SHRINK: 1, Map.SLICE_SHRINK: m, Map.SLICE_CLIP: m}.get(map, v)
        assert len(counts) == (8 * length if data.size else 0)
