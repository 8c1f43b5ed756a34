"""Prediction by the C interface: Python's labels, and calls with anything."""

import ctypes

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
    INTEGERS,
    NOT_FINITE,
    OK,
    POINTERS,
    SINGLE,
    SMALL_WORKSPACE,
    TOO_LARGE,
    Predictor,
    predictor_of,
    table_of,
)

from mvsc_fast import ConsensusTLRR, _capi, datasets
from mvsc_fast._utils.threads import blas_threads
from mvsc_fast.views._missing import filled

GUARD = 64  # numbers before and after what a call may write


@pytest.fixture(scope="module")
def api():
    """mvsc_predict_workspace_size and mvsc_predict of the table."""
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = address(_capi._C_API, b"mvsc_fast._capi._C_API")
    ssize, pointer, size_t = ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t
    size = ctypes.CFUNCTYPE(ctypes.c_int, pointer, ctypes.c_int, ctypes.POINTER(size_t))
    predict = ctypes.CFUNCTYPE(
        ctypes.c_int,
        pointer,
        ssize,
        pointer,
        ssize,
        ctypes.c_int,
        pointer,
        size_t,
        pointer,
        pointer,
    )
    return [
        kind(ctypes.cast(table + offset, ctypes.POINTER(pointer))[0])
        for kind, offset in ((size, 80), (predict, 88))
    ]


def guarded(count, dtype):
    """Memory and the part of it that a call may write."""
    memory = np.full(count + 2 * GUARD, 77, dtype=dtype)
    return memory, memory[GUARD : GUARD + count]


def is_intact(memory):
    return (memory[:GUARD] == 77).all() and (memory[len(memory) - GUARD :] == 77).all()


def call(api, native, rows, /, *, n_threads=1, spare=0, struct=None, **changes):
    """Status, scores and labels; ``struct`` are fields of the struct to overwrite."""
    predictor, kept = predictor_of(native)
    for name, value in (struct or {}).items():
        setattr(predictor, name, value)
    size, predict = api
    bytes_ = ctypes.c_size_t(0)
    size_status = size(ctypes.byref(predictor), n_threads, ctypes.byref(bytes_))
    m, c = len(rows[0]), native["n_clusters"]
    all_scores, scores = guarded(m * c, np.float32)
    all_labels, labels = guarded(m, np.intp)
    workspace, work = guarded(max(0, bytes_.value + spare), np.int8)
    table = table_of(rows)
    arguments = {
        "predictor": ctypes.addressof(predictor),
        "m": m,
        "rows": ctypes.addressof(table),
        "dtype": FLOAT32 if rows[0].dtype == np.float32 else FLOAT64,
        "n_threads": n_threads,
        "workspace": work.ctypes.data,
        "bytes": len(work),
        "scores": scores.ctypes.data,
        "labels": labels.ctypes.data,
    }
    assert set(changes) <= set(arguments)
    before = [X.tobytes() for X in rows]
    with blas_threads(1):
        status = predict(*(arguments | changes).values())
    assert is_intact(all_scores) and is_intact(all_labels) and is_intact(workspace)
    assert [X.tobytes() for X in rows] == before and kept
    if size_status != OK:
        assert status == size_status and bytes_.value == 0
    return status, scores.reshape(m, c).copy(), labels.copy()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_thousand_rows_have_the_labels_of_python(api, dtype, n_threads):
    """A view of more columns than samples, one of counts, and rows that lack some views."""
    views, _ = datasets.make_multiview_subspaces(1300, 4, n_features=(20, 400), random_state=0)
    views.append(np.exp(views[0][:, :9]))
    model = ConsensusTLRR(4, random_state=0).fit([X[:300] for X in views])
    native = model.to_native()
    new = [X[300:].astype(dtype) for X in views]
    status, scores, labels = call(api, native, new, n_threads=n_threads)
    assert status == OK and len(np.unique(labels)) == 4
    np.testing.assert_array_equal(labels, model.predict(new))
    np.testing.assert_array_equal(labels, scores.argmax(axis=1))
    new[0][::3], new[2][::9] = np.nan, np.nan
    status, _, labels = call(api, native, new, n_threads=n_threads)
    assert status == OK
    np.testing.assert_array_equal(labels, model.predict(new))


def native_problem(rng, v=2, n_clusters=3, n_landmarks=7, d=(4, 5), factor=False, fill=True):
    """A predictor of random numbers; with ``factor`` the first view has 6 columns more than d."""
    width = [d[i] + 6 * (factor and i == 0) for i in range(v)]

    def normal(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    return {
        "n_clusters": n_clusters,
        "n_landmarks": n_landmarks,
        "scale_neighbors": 10,
        "n_features": np.array(width),
        "d": np.array(d[:v]),
        "form": np.array([1, 2, 1][:v]),
        "samples": [
            rng.standard_normal((d[i], width[i])) if width[i] > d[i] else None for i in range(v)
        ],
        "factors": [np.eye(d[i]) if width[i] > d[i] else None for i in range(v)],
        "means": [normal(k) for k in d[:v]],
        "landmarks": [normal(n_landmarks, k) for k in d[:v]],
        "scales": [np.abs(normal(n_landmarks)) + 0.1 for _ in range(v)],
        "least_scales": np.full(v, 1e-3, np.float32),
        "coefficients": [normal(k, n_clusters) for k in d[:v]],
        "kernel_coefficients": normal(n_landmarks, n_clusters),
        "fill": [normal(n_landmarks, k) for k in d[:v]] if fill and v > 1 else None,
        "mean_rows": [normal(k) for k in width],
    }


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    native = native_problem(rng, factor=True)
    return native, [rng.standard_normal((5, d)) for d in native["n_features"]]


@pytest.mark.parametrize(
    ("struct", "status"),
    [
        ({}, OK),
        ({"size": 128}, OK),  # without the last fields, which are optional
        ({"size": 136}, OK),
        *[({"size": size}, BAD_ARGUMENT) for size in (120, 127, *range(129, 136), 140, 143)],
        ({"size": 152}, BAD_ARGUMENT),
        *[({name: 0}, BAD_ARGUMENT) for name in INTEGERS],
        *[({name: -1}, BAD_ARGUMENT) for name in INTEGERS],
        *[({name: None}, BAD_ARGUMENT) for name, _ in Predictor._fields_[5:-2]],
        ({"fill": None}, OK),
        ({"mean_rows": None}, OK),
        ({"scale_neighbors": 2**60}, OK),
        ({"v": 2**40}, TOO_LARGE),
        ({"n_clusters": 2**40}, TOO_LARGE),
        ({"n_landmarks": 2**40}, TOO_LARGE),
        ({"samples": None, "factors": None}, BAD_SHAPE),
    ],
)
def test_every_misuse_of_the_struct_has_its_status(api, small, struct, status):
    assert call(api, *small, struct=struct)[0] == status


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("n_features", [10, 0], BAD_ARGUMENT),
        ("n_features", [10, 6], BAD_SHAPE),
        ("n_features", [10, 2**40], TOO_LARGE),
        ("d", [-4, 5], BAD_ARGUMENT),
        ("d", [2**40, 5], TOO_LARGE),
        ("form", [0, 2], BAD_ARGUMENT),
        ("form", [1, 4], BAD_ARGUMENT),
        ("form", [3, 2], BAD_ARGUMENT),  # mapped rows have no factor
        ("form", [2, 3], OK),
        ("least_scales", [0.0, 1.0], BAD_ARGUMENT),
        ("least_scales", [np.nan, 1.0], BAD_ARGUMENT),
        ("scales", [0.0, 1.0], BAD_ARGUMENT),
        ("scales", [1.0, np.inf], BAD_ARGUMENT),
        ("coefficients", [np.nan, 1.0], NOT_FINITE),
        ("factors", [0.0], NOT_FINITE),
    ],
)
def test_every_misuse_of_the_arrays_has_its_status(api, small, name, value, status):
    native, rows = small
    if name in SINGLE:
        native[name] = np.array(value, dtype=native[name].dtype)
    else:
        for array, number in zip(native[name], value, strict=False):
            array.flat[-1] = number
    assert call(api, native, rows)[0] == status


@pytest.mark.parametrize(
    "name", ["samples", "factors", "means", "landmarks", "scales", "coefficients", "fill"]
)
def test_null_pointers_in_tables_are_seen(api, small, name):
    native, rows = small
    native[name][0] = None
    assert call(api, native, rows)[0] == BAD_ARGUMENT


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"predictor": None}, BAD_ARGUMENT),
        ({"m": -1}, BAD_ARGUMENT),
        ({"m": 0, "rows": None}, OK),
        ({"m": 2**60}, TOO_LARGE),
        ({"rows": None}, BAD_ARGUMENT),
        ({"dtype": 3}, BAD_ARGUMENT),
        ({"n_threads": 0}, BAD_ARGUMENT),
        ({"n_threads": 10**6}, BAD_ARGUMENT),
        ({"workspace": None}, BAD_ARGUMENT),
        ({"spare": -1}, SMALL_WORKSPACE),
        ({"spare": 100}, OK),
        ({"scores": None}, OK),
        ({"labels": None}, OK),
        ({"scores": None, "labels": None}, BAD_ARGUMENT),
    ],
)
def test_every_misuse_of_the_call_has_its_status(api, small, changes, status):
    assert call(api, *small, **changes)[0] == status


@pytest.mark.parametrize("written", ["workspace", "scores", "labels"])
@pytest.mark.parametrize(
    "read",
    [
        "rows",
        "samples",
        "factors",
        "means",
        "landmarks",
        "scales",
        "coefficients",
        "kernel_coefficients",
        "fill",
        "mean_rows",
        "n_features",
        "d",
        "form",
        "least_scales",
    ],
)
def test_outputs_may_not_overlap_what_is_read(api, small, written, read):
    native, rows = small
    arrays = rows if read == "rows" else native[read]
    array = arrays if read in SINGLE else arrays[0]
    for address in (array.ctypes.data - 4, array.ctypes.data + array.nbytes - 1):
        assert call(api, native, rows, **{written: address})[0] == BAD_ARGUMENT


@pytest.mark.parametrize("written", ["workspace", "scores", "labels"])
@pytest.mark.parametrize("read", ["rows", *(name for name in POINTERS if name not in SINGLE)])
def test_outputs_may_not_overlap_tables_of_pointers(api, small, written, read):
    native, rows = small
    table = table_of(rows if read == "rows" else native[read])
    at = ctypes.addressof(table)
    given = {"rows": at} if read == "rows" else {"struct": {read: at}}
    assert call(api, native, rows, **given)[0] == OK
    for address in (at - 4, at + ctypes.sizeof(table) - 1):
        assert call(api, native, rows, **given, **{written: address})[0] == BAD_ARGUMENT


def test_outputs_may_not_overlap_each_other(api, small):
    memory = np.zeros(10**6, dtype=np.int8)
    at = memory.ctypes.data
    for first, second in (("scores", "labels"), ("labels", "workspace"), ("workspace", "scores")):
        assert call(api, *small, **{first: at, second: at + 3})[0] == BAD_ARGUMENT


def test_every_row_without_a_label_is_reported(api):
    """All other rows keep their scores and labels, to the last bit."""
    rng = np.random.default_rng(0)
    native = native_problem(rng)
    rows = [rng.standard_normal((300, d)) for d in native["d"]]
    rows[0][7] = np.nan
    _, scores, labels = call(api, native, rows)
    expected = {3: -1, 70: -3, 140: -2, 141: -2, 299: -1}
    for row, label in expected.items():
        if label == -1:
            rows[0][row], rows[1][row] = np.nan, np.nan
        else:
            rows[-2 - label][row, -1] = np.inf
    rows[1][140] = np.nan
    rows[0][141], rows[0][141, 0] = np.nan, -np.inf
    status, found_scores, found = call(api, native, rows, n_threads=2)
    assert status == NOT_FINITE
    lost = np.array(list(expected))
    assert np.isnan(found_scores[lost]).all()
    np.testing.assert_array_equal(found[lost], list(expected.values()))
    np.testing.assert_array_equal(np.delete(found, lost), np.delete(labels, lost))
    assert np.delete(found_scores, lost, axis=0).tobytes() == np.delete(scores, lost, 0).tobytes()
    native["kernel_coefficients"][0, 0] = np.nan
    status, _, found = call(api, native, rows)
    assert status == NOT_FINITE and set(found) == {-1, -2, -3, -4}


def test_rows_that_lack_all_views_have_the_label_minus_one(api):
    rng = np.random.default_rng(0)
    native = native_problem(rng)
    rows = [rng.standard_normal((5, d)) for d in native["d"]]
    for fill in (native["fill"], None):
        native["fill"] = fill
        rows[0][2], rows[1][2] = np.nan, np.nan
        rows[1][2, 0] = 1.0  # lacks more than half of its cells
        status, scores, labels = call(api, native, rows)
        assert status == OK and labels[2] == -1 and np.isnan(scores[2]).all()
        assert (np.delete(labels, 2) >= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_cells_are_filled_as_in_fit(api, dtype):
    views, _ = datasets.make_multiview_subspaces(900, 4, n_features=(20, 400), random_state=0)
    views = [*views, np.exp(views[0][:, :9])]
    model = ConsensusTLRR(4, random_state=0).fit([X[:300] for X in views])
    native = model.to_native()
    rng = np.random.default_rng(0)
    new = [np.where(rng.random(X.shape) < 0.3, np.nan, X)[300:].astype(dtype) for X in views]
    new[0][::5, 3:] = np.nan  # more than half of the cells
    new[2][::50] = np.nan
    status, scores, labels = call(api, native, new)
    assert status == OK
    with pytest.warns(UserWarning, match="cells are filled"):
        np.testing.assert_array_equal(labels, model.predict(new))
    complete = [
        filled(X.astype(np.float64), mean) for X, mean in zip(new, native["mean_rows"], strict=True)
    ]
    status, expected, _ = call(api, native, complete)
    assert status == OK
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    assert call(api, native, new, struct={"size": 136})[0] == NOT_FINITE


@pytest.mark.parametrize("fill", [False, True])
def test_rows_of_nan_are_missing_where_they_can_be_filled(api, fill):
    rng = np.random.default_rng(0)
    native = native_problem(rng, fill=fill)
    rows = [rng.standard_normal((130, d)) for d in native["d"]]
    rows[1][70] = np.nan
    status, _, labels = call(api, native, rows)
    assert (status, labels[70] < 0) == ((OK, False) if fill else (NOT_FINITE, True))
    status, _, labels = call(api, native, rows, struct={"size": 128})
    assert status == NOT_FINITE and labels[70] == -3 and (np.delete(labels, 70) >= 0).all()
    rows[1][70, 0] = 0
    status, _, labels = call(api, native, rows, struct={"mean_rows": None})
    assert status == NOT_FINITE and labels[70] == -3


@examples(60)
@given(
    st.integers(0, 200),
    st.integers(1, 3),
    st.integers(1, 40),
    st.integers(1, 130),
    st.lists(st.integers(1, 90), min_size=3, max_size=3),
    st.booleans(),
    st.booleans(),
    st.integers(1, 3),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_any_problem_stays_within_its_memory(
    api, m, v, n_clusters, n_landmarks, d, factor, single, threads, lacking, seed
):
    rng = np.random.default_rng(seed)
    native = native_problem(rng, v, n_clusters, n_landmarks, d, factor)
    rows = [rng.standard_normal((m, width)) for width in native["n_features"]]
    rows = [X.astype(np.float32) if single else X for X in rows]
    if lacking and v > 1:
        rows[rng.integers(v)][rng.random(m) < 0.3] = np.nan
    status, scores, labels = call(api, native, rows, n_threads=threads)
    assert status == OK
    np.testing.assert_array_equal(labels, scores.argmax(axis=1) if m else [])
    short, *_ = call(api, native, rows, n_threads=threads, spare=-1)
    assert short == (SMALL_WORKSPACE if m else OK)
