"""TLRR of the C interface, called with anything, in the memory it asks for and no other."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy
from conftest import examples, random_similarities
from extensions import c_compiler
from hypothesis import given
from hypothesis import strategies as st
from native_calls import FILL, MISTAKES, OVERLAPS, SIZES, SOLVERS, TESTS, Options, Status, call_tlrr
from threadpoolctl import threadpool_limits

from mvsc_fast.solvers import tlrr

# Problems are drawn at random, and some thresholds exceed every tube.
pytestmark = pytest.mark.filterwarnings("ignore:the tensor is zero")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("screened", [0, 1])
def test_the_solver_in_exactly_the_memory_it_asks_for(probe, solver, dtype, screened):
    W = random_similarities(3, 60, dtype=dtype)
    expected = tlrr(W, lam=2.0, tol=1e-4, solver=solver, n_threads=1)
    answer = call_tlrr(probe, W, solver=SOLVERS[solver], screened=screened)
    assert answer["status"] == Status.OK and answer["intact"]
    assert answer["L"] == expected.tensor.tobytes()
    assert answer["n_iter"] == expected.n_iter == answer["calls"]
    assert answer["n_fast_forward"] == expected.n_fast_forward
    assert answer["converged"] and not answer["stopped"]
    if solver == "dual":
        assert (answer["gap"], answer["error_bound"]) == (expected.gap, expected.error_bound)
        assert answer["labels"] == expected.blocks.tobytes()
        assert answer["n_blocks"] == 1


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n", [256, 257, 1000, 1001])
def test_all_of_the_workspace_is_used_and_nothing_beyond(probe, solver, n):
    """Also where the layout may change: blocks of 256 samples, slices of 1000."""
    W = random_similarities(1, n, dtype=np.float32)
    problem = {"solver": SOLVERS[solver], "max_iter": 1, "mu": 1.0}
    answer = call_tlrr(probe, W, **problem)
    assert answer["status"] == Status.OK and answer["intact"]
    unused = answer["asked"] - answer["touched"]
    assert 0 <= unused <= 128  # before the first part and after the last, aligned to 64 bytes
    short = call_tlrr(probe, W, spare=-1, **problem)
    assert short["status"] == Status.SMALL_WORKSPACE and short["intact"]
    worst = call_tlrr(probe, W, screened=0, n_threads=2, **problem)
    assert worst["status"] == Status.OK and worst["intact"]
    assert worst["asked"] >= answer["asked"]


def test_blocks_need_less_memory_than_the_worst_data(probe):
    block = random_similarities(2, 20)
    W = np.zeros((2, 400, 400))
    for k in range(0, 400, 20):
        W[:, k : k + 20, k : k + 20] = block
    for n_threads in (1, 2):
        screened = call_tlrr(probe, W, n_threads=n_threads)
        worst = call_tlrr(probe, W, n_threads=n_threads, screened=0)
        assert screened["asked"] < worst["asked"] / 20
        assert screened["n_blocks"] == 20
        assert screened["L"] == worst["L"] == tlrr(W, lam=2.0, tol=1e-4).tensor.tobytes()
        assert screened["intact"] and worst["intact"]


def test_blocks_at_the_edge_of_the_layout(probe):
    """One block and two: up to 256 samples side by side, above on all threads; any data fits."""
    for n in (255, 256, 257):
        W = random_similarities(1, n, dtype=np.float32)
        pair = np.zeros((1, n + 3, n + 3), dtype=np.float32)
        pair[:, :n, :n], pair[:, n:, n:] = W, W[:, :3, :3]
        for T in (W, pair):
            expected = tlrr(T, lam=2.0, tol=1e-4, max_iter=2, n_threads=1)
            for screened, n_threads in product((0, 1), (1, 2)):
                answer = call_tlrr(probe, T, max_iter=2, screened=screened, n_threads=n_threads)
                assert answer["status"] == Status.OK and answer["intact"]
                assert answer["L"] == expected.tensor.tobytes()
                assert answer["error_bound"] == expected.error_bound


@pytest.mark.parametrize("n_threads", [1, 3])
def test_no_data_need_more_than_what_is_asked_for_any(probe, n_threads):
    """The size for blocks of every kind is at most the size without them."""
    for n in (255, 256, 257, 513, 999, 1000, 1001):
        W = np.zeros((1, n, n), dtype=np.float32)
        for largest in {1, n // 2, *(k for k in (255, 256, 257) if k < n), n - 1, n}:
            W[...] = np.eye(n)
            W[:, :largest, :largest] = 1
            rest = n - largest
            if rest > 1:
                W[:, largest:, largest:] = 1 if rest <= largest else np.eye(rest)
            one, any_data = (
                call_tlrr(probe, W, screened=screened, n_threads=n_threads, spare=-(10**9))
                for screened in (1, 0)
            )
            assert one["status"] == any_data["status"] == Status.SMALL_WORKSPACE
            assert 0 < one["asked"] <= any_data["asked"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_callback_stops_a_run(probe, solver):
    W = random_similarities(3, 40)
    answer = call_tlrr(probe, W, solver=SOLVERS[solver], stop_after=2, tol=0.0)
    assert answer["status"] == Status.OK and answer["stopped"] and not answer["converged"]
    assert answer["n_iter"] == answer["calls"] == 2


SYMMETRIC = np.arange(32.0).reshape(2, 4, 4) + np.arange(32.0).reshape(2, 4, 4).transpose(0, 2, 1)
WITHOUT_WEIGHTS = Options.sample_weight.offset  # bytes of the first options that there were
ASYMMETRIC = SYMMETRIC + np.eye(4, k=1) * 1e-9
INFINITE = SYMMETRIC + np.diag([0, np.inf, 0, 0])


@pytest.mark.parametrize(
    ("W", "changes", "status"),
    [
        *[
            (SYMMETRIC, {"mistake": name}, Status.BAD_ARGUMENT)
            for name in SIZES + OVERLAPS + MISTAKES
        ],
        *[
            (SYMMETRIC, {"options_size": size, "weights": np.ones(4)}, Status.BAD_ARGUMENT)
            for size in range(WITHOUT_WEIGHTS + 1, WITHOUT_WEIGHTS + 8)
        ],
        (SYMMETRIC, {"weights": np.ones(4)}, Status.OK),
        (SYMMETRIC, {"weights": np.ones(4), "solver": 2}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"weights": np.array([1, 1, 1, 0.0])}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"weights": np.array([1, np.nan, 1, 1])}, Status.BAD_ARGUMENT),
        (None, {"weights": np.ones(4)}, Status.BAD_ARGUMENT),
        (None, {"m": 10, "n": 2**30, "weights": np.ones(4)}, Status.BAD_SHAPE),
        (None, {"m": 2**40, "n": 2**40, "weights": np.ones(4)}, Status.TOO_LARGE),
        (SYMMETRIC, {"solver": 0}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"solver": 3}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"n_threads": 0}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"omega1": 1.5}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"omega1": np.nan}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"alpha": -1.0}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"lam": 0.0}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"lam": np.inf}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"tol": -1.0}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"max_iter": -1}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"mu": 0.0, "solver": 2}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"rho": 0.9, "solver": 2}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"mu_max": np.nan, "solver": 2}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"mu": 0.0}, Status.OK),
        (SYMMETRIC, {"v": 0}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"n": 0, "m": 0}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"m": 3}, Status.BAD_SHAPE),
        (SYMMETRIC, {"dtype": 5}, Status.BAD_ARGUMENT),
        (SYMMETRIC, {"lam": 1e200}, Status.OUT_OF_RANGE),
        (SYMMETRIC, {"lam": 1e200, "solver": 2}, Status.OUT_OF_RANGE),
        (SYMMETRIC * 1e153, {}, Status.OUT_OF_RANGE),
        (ASYMMETRIC, {}, Status.NOT_SYMMETRIC),
        (INFINITE, {}, Status.NOT_FINITE),
        (SYMMETRIC * np.nan, {"solver": 2}, Status.NOT_FINITE),
        (None, {}, Status.BAD_ARGUMENT),
        (None, {"n": 2**40, "m": 2**40}, Status.TOO_LARGE),
        (None, {"n": 10**6, "m": 10**6, "solver": 2}, Status.TOO_LARGE),
    ],
)
def test_every_misuse_of_the_solver_has_its_status(probe, W, changes, status):
    answer = call_tlrr(probe, W, **changes)
    found = answer["screen_status" if changes.get("mistake") == "blocks" else "status"]
    if status == Status.TOO_LARGE or (W is None and status == Status.BAD_SHAPE):
        found = answer["size_status"]
    assert found == status, answer["message"]
    if changes.get("mistake") in ("W", "options") or "options_size" in changes:  # read by all
        assert answer["size_status"] == answer["screen_status"] == status
    assert answer["intact"] and len(answer["message"]) > 5
    assert answer["status"] == Status.OK or set(answer["L"]) <= {FILL}  # unchanged


def test_options_without_their_optional_fields_are_served(probe):
    """As those of code that was compiled before these fields were."""
    W = random_similarities(2, 30)
    whole, shorter = call_tlrr(probe, W), call_tlrr(probe, W, options_size=WITHOUT_WEIGHTS)
    assert shorter["status"] == Status.OK and shorter["intact"]
    assert shorter["L"] == whole["L"] and shorter["gap"] == whole["gap"]


def test_calls_in_several_threads_are_independent(probe):
    W = random_similarities(2, 120, dtype=np.float32)
    expected = tlrr(W, lam=2.0, tol=1e-4, n_threads=1)
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(3) as pool:
        calls = [pool.submit(call_tlrr, probe, W, n_threads=k) for k in (1, 2, 1, 2)]
        for call in calls:
            assert call.result()["L"] == expected.tensor.tobytes()


ANY_PROBLEM = st.fixed_dictionaries(
    {
        "solver": st.sampled_from([1, 2]),
        "n_threads": st.integers(1, 3),
        "omega1": st.floats(0, 1),
        "alpha": st.floats(0, 9),
        "lam": st.sampled_from([1e-250, 1e-3, 1.0, 15.0, 1e5, 1e250]),
        "max_iter": st.integers(0, 20),
        "stop_after": st.sampled_from([-1, -1, 1, 3]),
        "screened": st.integers(0, 1),
        "spare": st.sampled_from([0, 0, 0, 100, -1, -1000]),
        "mu": st.just(0.1),
    }
)


@examples(100)
@given(
    shape=st.tuples(st.integers(0, 4), st.integers(0, 20)),
    dtype=st.sampled_from([np.float32, np.float64]),
    options=ANY_PROBLEM,
    scale=st.sampled_from([1.0, 1.0, 0.0, 1e-310, 1e-30, 1e30, 1e140]),
    density=st.floats(0, 1),
    symmetric=st.integers(0, 9),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_problem_of_any_kind_stays_within_its_memory(
    probe, shape, dtype, options, scale, density, symmetric, seed
):
    rng, (v, n) = np.random.default_rng(seed), shape
    W = scale * rng.standard_normal((v, n, n)) * (rng.random((n, n)) < density)
    with np.errstate(all="ignore"):
        W = (W + W.transpose(0, 2, 1) if symmetric else W).astype(dtype)
    answer = call_tlrr(probe, W, **options)
    assert answer["intact"] and answer["message"] != "unknown status"
    assert answer["status"] not in (Status.BAD_SHAPE, Status.TOO_LARGE, Status.NO_CONVERGENCE)
    L = np.frombuffer(answer["L"], dtype=W.dtype)
    if answer["status"] == Status.OK:
        assert np.isfinite(L).all() and answer["error_bound"] >= 0
    moderate = scale == 1.0 and 1e-100 < options["lam"] < 1e100
    if W.size and moderate and symmetric and options["spare"] >= 0:
        assert answer["status"] == Status.OK


@pytest.mark.skipif(sys.platform != "linux", reason="interposes glibc's malloc")
@pytest.mark.skipif(scipy.__version__ < "1.15", reason="its BLAS takes memory in every call")
def test_nothing_is_allocated_inside(probe, tmp_path):
    """All memory of the C library is counted: only OpenMP takes some for its teams of threads."""
    library = tmp_path / "count_malloc.so"
    source = TESTS / "native_probe" / "count_malloc.c"
    subprocess.run([c_compiler(), "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    code = f"""
import itertools, sys
sys.path[:0] = [{str(TESTS)!r}, {str(Path(probe.__file__).parent)!r}]
import native_probe, numpy as np
import native_calls as t
W = np.random.default_rng(0).random((3, 300, 300))
W += W.transpose(0, 2, 1).copy()
split = np.kron(np.eye(10), np.ones((30, 30))) * W
for T, solver, n_threads in itertools.product((W, split), (1, 2), (1, 2)):
    options = {{"solver": solver, "n_threads": n_threads, "max_iter": 5, "mu": 1.0}}
    answers = [t.call_tlrr(native_probe, T, watched=False, **options) for _ in range(3)]
    assert all(answer["status"] == t.Status.OK for answer in answers)
    # The least: a BLAS takes memory of its own when first called from so many threads.
    print(answers[0]["asked"], min(answer["inside"] for answer in answers))
"""
    out = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "LD_PRELOAD": str(library)},
        capture_output=True,
        text=True,
    )
    assert out.returncode == 0, out.stderr
    for line in out.stdout.splitlines():
        asked, inside = map(int, line.split())
        assert inside < 20_000 < asked, out.stdout
