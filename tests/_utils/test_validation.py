import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
from conftest import published_tlrr, random_similarities

from mvsc_fast._utils import validation
from mvsc_fast._utils.validation import (
    check_affinity,
    check_clusters,
    check_finite,
    check_memory,
    check_similarities,
    check_sparse_similarities,
    check_squarable,
    check_tensor,
    in_bytes,
)


def test_a_good_tensor_is_not_copied():
    for dtype in (np.float32, np.float64):
        W = random_similarities(2, 5, dtype=dtype)
        assert check_similarities(W) is W
    for dtype, found in ((np.float16, np.float32), (bool, np.float64), (np.int8, np.float64)):
        out = check_similarities(np.ones((2, 5, 5), dtype=dtype))
        assert out.dtype == found and (out == 1).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda W: [A for A in W],
        lambda W: np.asfortranarray(W),
        lambda W: np.repeat(W, 2, axis=2)[:, :, ::2],
        lambda W: W.tolist(),
        lambda W: W.astype(">f8"),
    ],
    ids=["list", "fortran", "strided", "nested lists", "big-endian"],
)
def test_layouts_become_one_contiguous_tensor(make):
    W = random_similarities(2, 5)
    out = check_similarities(make(W))
    assert out.flags.c_contiguous and out.dtype == np.float64
    np.testing.assert_array_equal(out, W)


def test_read_only_and_memory_mapped_tensors(tmp_path):
    W = random_similarities(2, 5)
    W.flags.writeable = False
    assert check_similarities(W) is W
    np.save(tmp_path / "W.npy", W)
    np.testing.assert_array_equal(check_similarities(np.load(tmp_path / "W.npy", mmap_mode="r")), W)


def _with(W, index, value):
    W = W.copy()
    W[index] = value
    return W


@pytest.mark.parametrize(
    ("W", "message"),
    [
        ([], "W is empty"),
        (np.ones((3, 3)), r"shape \(v, n, n\), got an array of shape \(3, 3\)"),
        (np.ones((0, 3, 3)), "at least one similarity matrix"),
        (np.ones((2, 0, 0)), "no samples"),
        (np.ones((2, 3, 4)), r"slice 0 has shape \(3, 4\), it must be square"),
        (np.ones((4, 4, 3)), r"shape \(4, 4, 3\), .* numpy.moveaxis\(A, 2, 0\)"),
        ([np.ones((3, 3)), np.ones((4, 4))], "slice 1 has 4 samples, slice 0 has 3"),
        (np.ones((1, 3, 3), dtype=complex), "Complex data not supported"),
        (np.full((1, 2, 2), "a", dtype=object), "dtype object"),
        (_with(np.ones((2, 3, 3)), (1, 0), np.nan), "slice 1 contains 3 NaN values, the"),
        (_with(np.ones((2, 3, 3)), (1, 0, 0), -1e200), r"slice 1 has entries up to 1e\+200"),
        ([np.ones((3, 3)), np.ones((3, 4))], r"slice 1 has shape \(3, 4\), it must be square"),
        ([np.ones((3, 3)), np.ones(3)], r"slice 1 has shape \(3,\), it must be square"),
        (_with(np.ones((2, 3, 3)), (0, 1, 1), 1e200), r"slice 0 has entries up to 1e\+200"),
    ],
)
def test_bad_tensors(W, message):
    with pytest.raises(ValueError, match=message):
        check_similarities(W)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="it is a float64 here")
def test_numbers_of_more_than_64_bits_are_refused():
    with pytest.raises(ValueError, match="W has dtype .*: convert it to float32 or float64"):
        check_similarities(np.ones((1, 2, 2), dtype=np.longdouble))


@pytest.mark.skipif(sys.maxsize < 2**32, reason="no array of 32 bits is as large")
def test_too_many_samples_for_lapack_are_refused_before_allocating():
    A = np.broadcast_to(np.float32(1), (validation.LARGEST_SLICE + 1,) * 2)
    with pytest.raises(ValueError, match="32767 samples, but LAPACK's .* at most 32766"):
        check_similarities([A])


def test_negative_similarities_are_refused_on_request():
    W = _with(np.ones((2, 3, 3)), (1, 2, 2), -0.25)
    W[1, 0, 0] = 0
    assert check_similarities(W) is W
    with pytest.raises(ValueError, match=r"slice 1 has 1 negative entries \(smallest -0.25\)"):
        check_similarities(W, nonnegative=True)


@pytest.mark.parametrize("place", [(0, 299), (299, 0), (255, 256), (258, 257)])
def test_asymmetry_is_reported_and_averaged_in_a_copy(place):
    W = _with(np.ones((2, 300, 300)), (1, *place), 0.5)
    before = W.copy()
    with pytest.warns(UserWarning, match="slice 1 is not symmetric .largest difference 0.5"):
        out = check_similarities(W)
    np.testing.assert_array_equal(out, (before + before.transpose(0, 2, 1)) / 2)
    np.testing.assert_array_equal(W, before)


def test_asymmetry_of_rounding_is_averaged_without_a_word():
    W = random_similarities(1, 20)
    W[0, 3, 4] *= 1 + 1e-15
    out = check_similarities(W)
    np.testing.assert_array_equal(out, out.transpose(0, 2, 1))


def test_sparse_slices():
    A = scipy.sparse.csr_matrix(random_similarities(1, 6)[0])
    (out,) = check_sparse_similarities([A])
    np.testing.assert_array_equal(out.toarray(), A.toarray())
    with pytest.raises(ValueError, match=r"slice 0 has entries up to 1e\+24, too large"):
        check_sparse_similarities([(A / A.max()).astype(np.float32) * 1e24])
    with pytest.raises(ValueError, match="slice 1 has 5 samples, slice 0 has 6"):
        check_sparse_similarities([A, A[:5, :5]])
    skewed = A.tolil()
    skewed[0, 1] += 1
    with pytest.warns(UserWarning, match="slice 0 is not symmetric"):
        (out,) = check_sparse_similarities([skewed])
    assert abs(out - out.T).max() == 0


def test_an_affinity_is_one_symmetric_matrix():
    A = random_similarities(1, 6, dtype=np.float32)[0]
    assert check_affinity(A, "S") is A
    sparse = check_affinity(scipy.sparse.coo_array(A), "S")
    assert sparse.format == "csr" and sparse.dtype == np.float32
    np.testing.assert_array_equal(sparse.toarray(), A)
    for S, message in (
        (-A, r"^S has \d+ negative entries"),
        (A[:5], r"^S has shape \(5, 6\), it must be square"),
        (scipy.sparse.csr_array(-A), r"^S has \d+ negative entries"),
    ):
        with pytest.raises(ValueError, match=message):
            check_affinity(S, "S")


def test_slices_of_a_tensor_are_all_dense_or_all_sparse():
    T = random_similarities(2, 4)
    T[0, 1, 2] = -3  # signs and symmetry are free
    mixed = [scipy.sparse.coo_array(T[0]), T[1]]
    for given in (T, list(T), [T[0], T[1].astype(np.float32)], mixed):
        found = check_tensor(given, "T")
        kept = [np.asarray(A) if isinstance(A, np.ndarray) else A.toarray() for A in found]
        np.testing.assert_allclose(kept, T, rtol=1e-7)
        assert len({type(A) for A in found}) == 1 and {A.dtype for A in found} == {T.dtype}
    T[1, 3, 0] = np.inf
    with pytest.raises(ValueError, match="T: slice 1 contains 1 infinite value, the first in r"):
        check_tensor(T, "T")


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csc_array])
def test_the_first_entry_that_is_not_finite_is_named(make):
    X = np.ones((4, 3))
    check_finite(make(1e308 * X), "X")  # although its sum is infinite
    X[2, 0], X[1, 2], X[3, 1] = np.inf, np.nan, -np.inf
    told = "X contains 1 NaN value and 2 infinite values, the first in row 1, column"
    with pytest.raises(ValueError, match=f"{told} 2: impute"):
        check_finite(make(X), "X")
    with pytest.raises(ValueError, match=f"{told} 'c': impute"):
        check_finite(make(X), "X", ["a", "b", "c"])


def test_there_are_as_many_samples_as_clusters():
    assert check_clusters(3, 3) == 3
    with pytest.raises(ValueError, match="k=4 is more than the number of samples, n_samples=3"):
        check_clusters(4, 3, "k")


def test_squares_of_the_largest_entries_have_a_finite_sum():
    for dtype in (np.float32, np.float64):
        bound = np.sqrt(np.finfo(dtype).max / 8) / 4
        X = np.full((2, 4), 0.999 * bound, dtype=dtype)
        assert check_squarable(X, "X") is None and np.isfinite(np.sum(X**2))
        X[1, 2] = -1.001 * bound
        with pytest.raises(ValueError, match="X has entries up to .*, too large to be squared"):
            check_squarable(X, "X")


@pytest.mark.parametrize("check", [check_similarities, check_sparse_similarities])
def test_asymmetry_is_relative_to_the_largest_entry(check):
    A, eps = np.diag([0.0, 0, 0, -8]), np.finfo(float).eps
    for difference, ratio in ((790 * eps, None), (810 * eps, "2.2e-14"), (2, "0.25")):
        A[0, 1] = difference
        told = pytest.warns(UserWarning, match=f"difference {ratio} of") if ratio else nullcontext()
        with told:
            (out,) = check([A])
        assert out[0, 1] == out[1, 0] == difference / 2 and out[3, 3] == -8


def test_memory_is_refused_with_the_number_and_the_ways_out(monkeypatch):
    monkeypatch.setattr(validation, "available_memory", lambda: 2**30)
    check_memory(2**30, "this")
    with pytest.raises(MemoryError, match=r"tlrr needs about 3 GiB, but only 1 GiB is.*float32"):
        check_memory(3 * 2**30, "tlrr")
    assert in_bytes(2**30) == "1 GiB" and in_bytes(2**30 - 2**20) == "1.02e+03 MiB"


@pytest.mark.parametrize("version", [1, 2])
def test_memory_for_cached_files_is_available(version, tmp_path, monkeypatch):
    names = validation.CGROUPS[2 - version][1:]
    folder, meminfo = tmp_path / "cgroup", tmp_path / "meminfo"
    folder.mkdir()
    monkeypatch.setattr(validation, "CGROUPS", [("/nowhere", *names), (folder, *names)])
    fake = {"/proc/meminfo": meminfo}
    monkeypatch.setattr(
        validation, "Path", lambda first, *rest: Path(fake.get(first, first), *rest)
    )
    assert validation.available_memory() == float("inf")
    meminfo.write_text("MemTotal:  9000 kB\nMemAvailable:   8000 kB\nSwap: 1 kB\n")
    assert validation.available_memory() == 8000 * 1024
    (folder / names[0]).write_text("8000000\n")
    (folder / names[1]).write_text("7999000\n")
    (folder / "memory.stat").write_text(f"anon 1000000\n{names[2]} 5000000\nfile 6000000\n")
    assert validation.available_memory() == 5_001_000
    (folder / names[0]).write_text("max\n")
    assert validation.available_memory() == 8000 * 1024
    meminfo.write_text("MemTotal:  9000 kB\n")
    assert validation.available_memory() == float("inf")


def test_available_memory_is_positive():
    assert validation.available_memory() > 2**20


@pytest.mark.parametrize("solver", ["dual", "ialm"])
@pytest.mark.parametrize(("size", "lam"), [(1e149, 1e300), (1.0, 1e299), (1e100, 1e200)])
def test_a_weight_out_of_range_is_refused(solver, size, lam):
    with pytest.raises(ValueError, match="is out of the range of numbers: rescale W or change lam"):
        published_tlrr(size * np.ones((1, 2, 2)), lam=lam, solver=solver)


@pytest.mark.filterwarnings("ignore:the tensor is zero")
@pytest.mark.parametrize("lam", [1e-290, 1e-150, 1e140])
@pytest.mark.parametrize("alpha", [0.0, 1e-300, 5.0])
def test_extreme_weights_give_finite_results(lam, alpha):
    W = random_similarities(2, 4)
    assert np.isfinite(published_tlrr(W, lam=lam, alpha=alpha, max_iter=12).tensor).all()
