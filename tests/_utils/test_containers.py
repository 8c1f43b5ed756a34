from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast._utils.containers import (
    check_container,
    checked_compressed,
    checked_csr,
)

DENSE = np.array([[0, 1, 0, 0, 2, 0], [3, 0, 0, 0, 0, 4], [0, 0, 0, 5, 0, 0], [6, 7, 0, 0, 0, 0.0]])
FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]


def sparse(form, dense=DENSE, kind="array"):
    if form == "bsr":
        return getattr(scipy.sparse, f"bsr_{kind}")(dense, blocksize=(2, 3))
    return getattr(scipy.sparse, f"{form}_{kind}")(dense)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_any_format_becomes_sorted_rows(form, kind):
    for dense in (DENSE, DENSE.astype(np.float32), DENSE.astype(int), np.zeros((4, 6))):
        A = checked_csr(sparse(form, dense, kind), "A")
        assert isinstance(A, scipy.sparse.csr_array) and A.has_canonical_format
        assert A.dtype == dense.dtype and A.indices.dtype == A.indptr.dtype == np.int32
        np.testing.assert_array_equal(A.toarray(), dense)


def test_duplicates_are_added_in_a_copy_and_other_arrays_are_shared():
    parts = np.ones(3), np.array([2, 0, 2], np.int32), np.array([0, 3, 3], np.int32)
    A = scipy.sparse.csr_array(parts, shape=(2, 3))
    np.testing.assert_array_equal(checked_csr(A, "A").toarray(), [[1, 0, 2], [0, 0, 0]])
    assert A.indices.tolist() == [2, 0, 2]
    A = sparse("csr")
    kept = checked_csr(A, "A")
    assert np.shares_memory(kept.data, A.data) and np.shares_memory(kept.indices, A.indices)


def test_entries_after_the_last_row_are_not_read():
    for form in ("csr", "csc"):
        A = sparse(form)
        A.data, A.indices = np.append(A.data, 9.0), np.append(A.indices, -7)
        np.testing.assert_array_equal(checked_csr(A, "A").toarray(), DENSE)


@pytest.mark.parametrize("shape", [(2, 3), (3, 2)])
def test_diagonals_of_wide_and_tall_matrices(shape):
    data, offsets = np.arange(1.0, 13.0).reshape(4, 3), [-1, 2, -2, 3]
    expected = np.zeros(shape)
    for row, offset in zip(data, offsets, strict=True):
        for j in range(shape[1]):
            if 0 <= j - offset < shape[0]:
                expected[j - offset, j] = row[j]
    A = scipy.sparse.dia_array((data, offsets), shape=shape)
    np.testing.assert_array_equal(checked_csr(A, "A").toarray(), expected)


def test_half_precision_is_widened():
    A = sparse("csr")
    A.data = A.data.astype(np.float16)
    assert checked_csr(A, "A").dtype == np.float64


@pytest.mark.parametrize("n_columns", [2**31 - 1, 2**31, 2**31 + 1, 2**32])
def test_positions_of_any_size_are_kept(n_columns):
    A = scipy.sparse.csr_array(([1.0], [n_columns - 1], [0, 1]), shape=(1, n_columns))
    assert checked_csr(A, "A").indices.tolist() == [n_columns - 1]


@pytest.mark.parametrize("form", ["csr", "csc", "bsr"])
def test_compressed_formats_are_kept(form):
    A = checked_compressed(sparse(form), "A")
    assert A.format == form
    np.testing.assert_array_equal(A.toarray(), DENSE)


@pytest.mark.parametrize(
    ("form", "parts", "message"),
    [
        ("csr", {"indices": [1, 4, 0, 6, 3, 0, 1]}, "indices must lie between 0 and 5"),
        ("csr", {"indices": [1, 4, 0, -1, 3, 0, 1]}, "indices must lie between 0 and 5"),
        ("csc", {"indices": [1, 3, 0, 3, 2, 0, 4]}, "indices must lie between 0 and 3"),
        ("csr", {"indices": np.ones(7)}, "indices must be a list of integers"),
        ("csr", {"indices": np.ones((7, 1), int)}, "indices must be a list of integers"),
        ("csr", {"indices": [1, 4, 0, 5, 3, 0]}, "indices and data have different lengths"),
        ("csr", {"indptr": [0, 2, 4, 5, 8]}, "indptr must lie between 0 and 7"),
        ("csr", {"indptr": [1, 2, 4, 5, 7]}, "indptr must rise from 0 and have 5 entries"),
        ("csr", {"indptr": [0, 4, 2, 5, 7]}, "indptr must rise from 0 and have 5 entries"),
        ("csr", {"indptr": [0, 2, 4, 7]}, "indptr must rise from 0 and have 5 entries"),
        ("csc", {"indptr": [0, 2, 4, 5, 7]}, "indptr must rise from 0 and have 7 entries"),
        ("csr", {"data": np.ones((7, 1))}, r"data has shape \(7, 1\) and dtype float64"),
        ("csr", {"data": np.array(list("abcdefg"))}, r"data has shape \(7,\) and dtype <U1"),
        ("bsr", {"shape": (5, 6)}, r"blocks of shape \(2, 3\) do not divide the shape \(5, 6\)"),
        ("bsr", {"shape": (4, 7)}, r"blocks of shape \(2, 3\) do not divide the shape \(4, 7\)"),
        ("bsr", {"data": np.ones((3, 2, 0))}, r"blocks of shape \(2, 0\) do not divide"),
        ("bsr", {"indices": [0, 1, 2]}, "indices must lie between 0 and 1"),
        ("coo", {"row": [0, 0, 1, 1, 2, 3, 4]}, "row indices must lie between 0 and 3"),
        ("coo", {"col": [0, 0, 1, 1, 2, 3, 6]}, "column indices must lie between 0 and 5"),
        ("coo", {"col": [0, 0, 1]}, "indices and data have different lengths"),
        ("coo", {"shape": (6,)}, r"it has shape \(6,\)"),
        ("dia", {"offsets": [[0]]}, "offsets must be one integer for each diagonal"),
        ("dia", {"offsets": np.arange(5.0)}, "offsets must be one integer for each diagonal"),
        ("dia", {"offsets": np.zeros(5, int)}, "offsets occur more than once"),
        ("lil", {"rows": np.array([[0], [1]])}, "rows and data have different lengths"),
        ("lil", {"data": np.array([[1.0]] * 4)}, "rows and data have different lengths"),
    ],
)
def test_damaged_matrices_are_refused(form, parts, message):
    A = sparse(form)
    names = "format shape dtype data indices indptr row col offsets rows".split()
    held = {name: getattr(A, name) for name in names if hasattr(A, name)}
    damaged = SimpleNamespace(**held | parts)
    with pytest.raises(ValueError, match=f"^A is not a valid sparse {form} matrix: {message}"):
        checked_csr(damaged, "A")


def test_matrices_of_other_containers_are_refused():
    fields = np.zeros(2, dtype=[("x", float), ("y", float)])
    for X, message in (
        (np.ma.array([1.0, 2, 3], mask=[1, 0, 1]), "X is a masked array with 2 masked entries"),
        (sparse("csr", kind="matrix").todense(), "X is a numpy.matrix: pass numpy.asarray"),
        (fields, "X is a structured array with the fields x, y: pass numpy"),
    ):
        with pytest.raises(ValueError, match=message):
            check_container(X, "X")
    for X in (np.ma.array([1.0, 2]), DENSE, [1, 2], None, sparse("csr")):
        assert check_container(X, "X") is None
