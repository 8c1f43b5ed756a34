"""Similarities, affinities, tensors, labels and weights, through what takes them."""

import datetime
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import changed, memory_map, published_tlrr, random_similarities, recovered

from mvsc_fast.methods import TRPCA
from mvsc_fast.metrics import clustering_scores
from mvsc_fast.solvers import tlrr
from mvsc_fast.spectral import spectral_labels

VALIDATION = "mvsc_fast._utils.validation"


def solved(W):
    """The tensor after a few iterations."""
    return published_tlrr(W, lam=1.0, max_iter=2, solver="ialm").tensor


def test_layouts_have_one_result_and_are_not_changed(tmp_path):
    W = random_similarities(2, 5)
    expected, before = solved(W), W.copy()
    W.flags.writeable = False
    layouts = {
        "read-only": W,
        "list": list(W),
        "nested lists": W.tolist(),
        "Fortran": np.asfortranarray(W),
        "strided": np.repeat(W, 2, axis=2)[:, :, ::2],
        "big-endian": W.astype(">f8"),
        "memory map": memory_map(W, tmp_path),
    }
    for name, other in layouts.items():
        np.testing.assert_array_equal(solved(other), expected, err_msg=name)
    np.testing.assert_array_equal(W, before)


def test_types_of_tensors():
    for dtype, result in ((np.float32,) * 2, (np.float16, np.float32), (np.int8, np.float64)):
        assert solved(np.ones((2, 5, 5), dtype=dtype)).dtype == result
    if np.dtype(np.longdouble).itemsize > 8:  # elsewhere it is a float64
        with pytest.raises(ValueError, match="float64"):
            tlrr(np.ones((1, 2, 2), dtype=np.longdouble))


SPARSE = scipy.sparse.csr_matrix(np.ones((6, 6), dtype=np.float32))


@pytest.mark.parametrize(
    ("W", "facts"),
    [
        ([], "empty"),
        (np.ones((3, 3)), r"\(v, n, n\), .*\(3, 3\)"),
        (np.ones((2, 0, 0)), "no samples"),
        (np.ones((4, 4, 3)), r"slice 0 .*\(4, 3\), .*numpy.moveaxis\(A, 2, 0\)"),
        ([np.ones((3, 3)), np.ones((4, 4))], "slice 1 .*4 .*slice 0 .*3"),
        (np.ones((1, 3, 3), dtype=complex), "Complex"),
        (np.full((1, 2, 2), "a", dtype=object), "object"),
        (changed(np.ones((2, 3, 3)), (1, 0), np.nan), "slice 1 .*3 NaN"),
        (changed(np.ones((2, 3, 3)), (1, 0, 0), -1e200), r"slice 1 .*1e\+200"),
        ([np.ones((3, 3)), np.ones(3)], r"slice 1 .*\(3,\)"),
        ([np.ones((3, 3)), np.ma.array(np.ones((3, 3)), mask=np.eye(3))], "slice 1 .*3 masked"),
        ([SPARSE * np.float32(1e24)], r"slice 0 .*1e\+24"),
        ([SPARSE, SPARSE[:5, :5]], "slice 1 .*5 .*slice 0 .*6"),
    ],
)
def test_bad_tensors(W, facts):
    with pytest.raises(ValueError, match=facts):
        tlrr(W)


@pytest.mark.skipif(sys.maxsize < 2**32, reason="no array of 32 bits is as large")
def test_too_many_samples_for_lapack_are_refused_before_allocating():
    A = np.broadcast_to(np.float32(1), (32_767,) * 2)
    with pytest.raises(ValueError, match="32767 .*32766"):
        recovered(TRPCA, [A])


@pytest.mark.parametrize("place", [(0, 299), (299, 0), (255, 256), (258, 257)])
def test_asymmetry_is_reported_and_averaged_in_a_copy(place):
    W = changed(np.ones((2, 300, 300)), (1, *place), 0.5)
    before = W.copy()
    with pytest.warns(UserWarning, match="slice 1 .*0.5"):
        tensor = tlrr(W, max_iter=0).tensor
    np.testing.assert_array_equal(tensor, tlrr((W + W.transpose(0, 2, 1)) / 2, max_iter=0).tensor)
    np.testing.assert_array_equal(W, before)


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array])
def test_asymmetry_is_relative_to_the_largest_entry(make):
    A = np.diag([1.0, 1, 1, 8])
    A[0, 1] = 790 * np.finfo(float).eps  # of rounding: without a word
    spectral_labels(make(A), 2, random_state=0)
    for difference, ratio in ((810 * np.finfo(float).eps, "2.2e-14"), (2, "0.25")):
        A[0, 1] = difference
        with pytest.warns(UserWarning, match=f"{ratio} of"):
            _, embedding = spectral_labels(make(A), 2, random_state=0)
        _, expected = spectral_labels(make((A + A.T) / 2), 2, random_state=0)
        np.testing.assert_array_equal(embedding, expected)


def test_memory_for_cached_files_is_available(tmp_path, monkeypatch):
    """The limit of a container less what it uses, of which cached files are given back."""
    names = "memory.max", "memory.current", "inactive_file"
    folder, meminfo = tmp_path / "cgroup", tmp_path / "meminfo"
    folder.mkdir()
    monkeypatch.setattr(f"{VALIDATION}.CGROUP", (folder, *names))
    fake = {"/proc/meminfo": meminfo}
    paths = lambda first, *rest: Path(fake.get(first, first), *rest)  # noqa: E731
    monkeypatch.setattr(f"{VALIDATION}.Path", paths)
    huge = np.broadcast_to(np.float32(0), (5000, 5000))

    def available():
        with pytest.raises(MemoryError) as refused:
            recovered(TRPCA, [huge])
        assert "needs about 1.78 GiB" in str(refused.value)
        return str(refused.value)

    assert published_tlrr(np.ones((1, 2, 2)), max_iter=1).n_iter == 1  # nothing is known
    meminfo.write_text("MemTotal:  9000 kB\nMemAvailable:   8000 kB\nSwap: 1 kB\n")
    assert " 7.81 MiB" in available()
    (folder / names[0]).write_text("8000000\n")
    (folder / names[1]).write_text("7999000\n")
    (folder / "memory.stat").write_text(f"anon 1000000\n{names[2]} 5000000\nfile 6000000\n")
    assert " 4.77 MiB" in available()
    (folder / names[0]).write_text("max\n")
    assert " 7.81 MiB" in available()


@pytest.mark.parametrize("solver", ["dual", "ialm"])
@pytest.mark.parametrize(("size", "lam"), [(1e149, 1e300), (1.0, 1e299), (1e100, 1e200)])
def test_a_weight_out_of_range_is_refused(solver, size, lam):
    with pytest.raises(ValueError, match="rescale W or change lam"):
        published_tlrr(size * np.ones((1, 2, 2)), lam=lam, solver=solver)


def test_similarities_of_solvers_may_be_negative():
    W = random_similarities(2, 5) - 0.5
    assert W.min() < 0
    np.testing.assert_allclose(solved(-W), -solved(W), atol=1e-12)


# Labels and weights.


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b", "d"],
        np.array([2, 1, 2, 9], dtype=np.uint8),
        np.array(["b", "a", "b", "d"], dtype=object),
        pd.Series(["b", "a", "b", "d"], dtype="category"),
        pd.Series([2, 1, 2, 9], dtype="Int64"),
        [np.bool_(True), False, True, 2],
    ],
)
def test_labels_of_any_kind(labels):
    assert clustering_scores(labels, [1, 0, 1, 2])["acc"] == 1


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0.0, np.nan, None], "2 NaN or None.* 1"),
        (np.array(["2020-01-01", "NaT", "NaT"], dtype="M8[D]"), "2 NaN or None.* 1"),
        (pd.Series([1, pd.NA, None], dtype="Int64"), "2 NaN or None.* 1"),
        ([1, "1", 2], "int.*str"),
        ([datetime.date(2020, 1, 1), "a", "b"], "date"),
        ([[0, 1], [0], [1]], "list"),
        ([[0, 1, 2], [0, 1, 2]], r"\(2, 3\)"),
        ([], r"\(0,\)"),
        (3, r"\(\)"),
        (np.ma.array([1, 2, 3], mask=[True, False, False]), "1 masked"),
        ([0, 1], " 2 .* 3|3 .* 2"),
    ],
)
def test_labels_that_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        clustering_scores(labels, [0, 1, 1])


def test_labels_of_other_samples_are_refused_with_the_first_that_differs():
    first, second = (pd.Series([0, 1, 1], index=list(ids)) for ids in ("abc", "axz"))
    with pytest.raises(ValueError, match="y_pred and y_true .*'x' and 'b' in row 1"):
        clustering_scores(first, second)


def test_weights_may_be_as_small_and_as_large_as_their_limits():
    for limit in (1e-12, 1e12):
        tensor = tlrr(np.ones((2, 4, 4)), sample_weight=[limit] * 4, lam=1e13, max_iter=2).tensor
        np.testing.assert_allclose(tensor, 1, atol=0.1)
