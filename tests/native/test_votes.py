"""Factors of rows and votes of the C interface: those of Python, and called with anything."""

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
    SMALL_WORKSPACE,
    TOO_LARGE,
)
from sklearn.preprocessing import normalize

from mvsc_fast import TLRR, datasets
from mvsc_fast._sparse._factors import Factors, ridge_maps
from mvsc_fast._sparse._votes import vote_scores
from mvsc_fast.threads import blas_threads

MEMBER, NEW = 1, 2


@pytest.fixture(scope="module")
def fitted():
    """A model of 200 samples, and 140 new ones: two blocks."""
    views, _ = datasets.make_multiview_subspaces(340, 4, n_features=(20, 35), random_state=0)
    views[1][:, 3] = 0
    views[1][220:, 3] = 1
    model = TLRR(4, size="sparse", random_state=0).fit([X[:200] for X in views])
    return model, [X[200:] for X in views]


def call_factor(probe, X, lower, columns, /, **changes):
    arguments = {
        "d": len(lower), "lower": lower, "columns": columns, "X": X, "m": X.shape[0],
        "n": X.shape[1], "dtype": FLOAT32 if X.dtype == np.float32 else FLOAT64, "kind": NEW,
        "n_threads": 1, "which": 0, "spare": 0,
    }  # fmt: skip
    assert set(changes) <= set(arguments)
    return probe.factor(*(arguments | changes).values())


def call_vote(probe, fitted, scales, labels, new, /, **changes):
    arguments = {
        "n": len(labels), "n_clusters": 4, "d": np.array([u.shape[1] for u, _ in fitted]),
        "u": b"".join(u.tobytes() for u, _ in fitted),
        "h": b"".join(h.tobytes() for _, h in fitted), "scales": scales, "labels": labels,
        "m": len(new[0][1]), "new_u": b"".join(u.tobytes() for u, _ in new),
        "new_h": b"".join(h.tobytes() for _, h in new), "n_votes": 20, "scale_neighbors": 10,
        "n_listed": len(fitted), "n_candidates": 64, "cap": 1.5, "n_threads": 1, "which": 0,
        "spare": 0,
    }  # fmt: skip
    assert set(changes) <= set(arguments)
    return probe.vote(*(arguments | changes).values())


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_native_pipeline_labels_new_rows_as_python_does(probe, fitted, n_threads):
    model, views = fitted
    arrays = model.voters()
    assert [len(columns) for columns in arrays["columns"]] == [20, 34, 20, 34]
    new = []
    for view, columns, lower, u in zip(
        arrays["view"], arrays["columns"], arrays["lower"], arrays["u"], strict=True
    ):
        with blas_threads(1):
            status, intact, u, h = call_factor(
                probe, normalize(views[view]), lower, columns, n_threads=n_threads
            )
        assert status == OK and intact
        u, h = (np.frombuffer(part, np.float32) for part in (u, h))
        new.append(Factors(u.reshape(140, -1), h))
    pairs = [Factors(*pair) for pair in zip(arrays["u"], arrays["h"], strict=True)]
    counts = "n_votes", "scale_neighbors", "n_listed", "n_candidates", "cap"
    with blas_threads(1):
        status, _, intact, lengths, scores, labels = call_vote(
            probe, pairs, arrays["scales"], arrays["labels"], new, n_threads=n_threads,
            **{name: arrays[name] for name in counts},
        )  # fmt: skip
    assert status == OK and intact
    np.testing.assert_array_equal(np.frombuffer(labels, np.intp), model.predict(views))
    expected = model._voters.scores(views, arrays["labels"], 4, 1)
    assert scores == expected.tobytes()
    longest = -np.sort(-np.frombuffer(lengths, np.float32).reshape(140, 200), axis=1)[:, :41]
    votes = (longest - longest[:, 40:]).sum(axis=1)
    full = vote_scores(new, pairs, arrays["scales"], arrays["labels"], 4)
    np.testing.assert_allclose(full.sum(axis=1), votes, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_factors_of_members_equal_python_to_the_last_bit(probe, dtype):
    X = normalize(np.random.default_rng(0).standard_normal((90, 12))).astype(dtype)
    (one,) = ridge_maps(X, [0.4])
    with blas_threads(1):
        status, intact, u, h = call_factor(probe, X, one.lower, None, kind=MEMBER)
    assert status == OK and intact
    assert (u, h) == (one.factors.u.tobytes(), one.factors.h.tobytes())


SQUARE = np.eye(4)
ROWS = np.ones((3, 6)) / np.sqrt(6)
COLUMNS = np.array([0, 2, 3, 5])


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, OK),
        ({"which": 1}, BAD_ARGUMENT),
        ({"which": 2}, BAD_ARGUMENT),
        ({"which": 3}, BAD_ARGUMENT),
        ({"lower": None}, BAD_ARGUMENT),
        ({"lower": -SQUARE}, BAD_ARGUMENT),
        ({"lower": SQUARE * np.nan}, BAD_ARGUMENT),
        ({"d": 0}, BAD_ARGUMENT),
        ({"d": 2**40}, TOO_LARGE),
        ({"kind": 0}, BAD_ARGUMENT),
        ({"kind": 3}, BAD_ARGUMENT),
        ({"n_threads": 0}, BAD_ARGUMENT),
        ({"dtype": 9}, BAD_ARGUMENT),
        ({"m": -1}, BAD_ARGUMENT),
        ({"m": 0, "X": None}, OK),
        ({"X": None}, BAD_ARGUMENT),
        ({"columns": None}, BAD_SHAPE),
        ({"columns": COLUMNS + 1}, BAD_ARGUMENT),
        ({"columns": COLUMNS - 1}, BAD_ARGUMENT),
        ({"X": ROWS * np.inf}, NOT_FINITE),
        ({"spare": -1}, SMALL_WORKSPACE),
    ],
)
def test_every_misuse_of_the_factors_has_its_status(probe, changes, status):
    found, intact, *_ = call_factor(probe, ROWS, SQUARE, COLUMNS, **changes)
    assert found == status and intact


def small_problem(m=5, n=30, d=(3, 1), seed=0):
    rng = np.random.default_rng(seed)

    def factors(count):
        return [
            (
                rng.standard_normal((count, k)).astype(np.float32),
                1 + rng.random(count).astype(np.float32),
            )
            for k in d
        ]

    scales = (0.1 + rng.random((len(d), n))).astype(np.float32)
    return factors(n), scales, rng.integers(0, 4, n), factors(m)


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, OK),
        ({"which": 1}, BAD_ARGUMENT),
        ({"which": 2}, BAD_ARGUMENT),
        ({"which": 3}, BAD_ARGUMENT),
        ({"which": 4}, BAD_ARGUMENT),
        ({"which": 5}, BAD_ARGUMENT),
        ({"d": np.array([3, 0])}, BAD_ARGUMENT),
        ({"d": np.array([2**40, 1])}, TOO_LARGE),
        ({"n": 2**40}, TOO_LARGE),
        ({"n_clusters": 0}, BAD_ARGUMENT),
        ({"labels": np.full(30, 4)}, BAD_ARGUMENT),
        ({"labels": np.full(30, -1)}, BAD_ARGUMENT),
        ({"scales": np.zeros((2, 30), np.float32)}, BAD_ARGUMENT),
        ({"scales": np.full((2, 30), np.nan, np.float32)}, BAD_ARGUMENT),
        ({"n_votes": 0}, BAD_ARGUMENT),
        ({"scale_neighbors": 0}, BAD_ARGUMENT),
        ({"n_listed": 0}, BAD_ARGUMENT),
        ({"n_listed": 3}, BAD_ARGUMENT),
        ({"n_candidates": 20}, BAD_ARGUMENT),
        ({"cap": 0.0}, BAD_ARGUMENT),
        ({"cap": np.nan}, BAD_ARGUMENT),
        ({"n_threads": 0}, BAD_ARGUMENT),
        ({"n_threads": 10**6}, BAD_ARGUMENT),
        ({"u": np.full(120, np.nan, np.float32).tobytes()}, NOT_FINITE),
        ({"new_h": np.full(10, np.inf, np.float32).tobytes()}, NOT_FINITE),
        ({"spare": -1}, SMALL_WORKSPACE),
    ],
)
def test_every_misuse_of_the_votes_has_its_status(probe, changes, status):
    changes = {"m": 0, **changes} if changes.get("n") == 2**40 else changes
    found, message, intact, *_ = call_vote(probe, *small_problem(), **changes)
    assert found == status, message
    assert intact and message != "unknown status"


@examples(60)
@given(
    st.integers(0, 260), st.integers(1, 600), st.lists(st.integers(1, 70), min_size=1, max_size=3),
    st.integers(1, 200), st.integers(1, 200), st.integers(1, 3), st.integers(1, 100),
    st.integers(1, 3), st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_votes_of_any_problem_stay_within_their_memory(
    probe, m, n, d, n_votes, rank, n_listed, more, threads, seed
):
    fitted, scales, labels, new = small_problem(m, n, d, seed)
    votes = {"n_votes": n_votes, "scale_neighbors": rank, "n_listed": min(n_listed, len(d))}
    votes["n_candidates"] = n_votes + more
    with blas_threads(1):
        status, message, intact, _, scores, found = call_vote(
            probe, fitted, scales, labels, new, n_threads=threads, **votes
        )  # fmt: skip
    assert status == OK and intact, message
    new, fitted = ([Factors(*pair) for pair in pairs] for pairs in (new, fitted))
    expected = vote_scores(new, fitted, scales, labels, 4, **votes)
    assert scores == expected.tobytes()
    np.testing.assert_array_equal(np.frombuffer(found, np.intp), expected.argmax(axis=1))
