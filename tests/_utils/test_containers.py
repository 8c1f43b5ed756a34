"""Containers of views: every sparse format, and damaged or unsuitable ones."""

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse

from mvsc_fast import ConsensusTLRR, label_predictability
from mvsc_fast.spectral import fuse

DENSE = np.array([[0, 1, 0, 0, 2, 0], [3, 0, 0, 0, 0, 4], [0, 0, 0, 5, 0, 0], [6, 7, 0, 0, 0, 0.0]])
FORMATS = ["csr", "csc", "bsr", "coo", "dia", "lil", "dok"]
LARGE, Y = np.kron(np.eye(4), DENSE) + np.eye(16, 24), np.arange(16) // 4


def sparse(form, dense=DENSE, kind="array"):
    if form == "bsr":
        return getattr(scipy.sparse, f"bsr_{kind}")(dense, blocksize=(2, 3))
    return getattr(scipy.sparse, f"{form}_{kind}")(dense)


def score(X):
    return label_predictability([X], Y if X.shape[0] == 16 else Y[::4])


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_the_result_of_the_dense_view(form, kind):
    for dtype in (np.float64, np.float32, int):
        expected = score(LARGE.astype(dtype))
        assert score(sparse(form, LARGE.astype(dtype), kind)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("form", FORMATS)
def test_matrices_of_zeros_have_no_entries_in_any_format(form):
    fused = fuse([sparse(form, np.zeros((6, 6))), np.eye(6)[::-1]])
    np.testing.assert_array_equal(fused.toarray(), np.eye(6)[::-1])


def test_duplicates_are_added_and_entries_after_the_last_row_are_not_read():
    A = scipy.sparse.csr_array(LARGE)
    parts = np.repeat(A.data / 2, 2), np.repeat(A.indices, 2), 2 * A.indptr
    doubled = scipy.sparse.csr_array(parts, shape=A.shape)
    assert score(doubled) == pytest.approx(score(LARGE), abs=1e-5)
    assert doubled.nnz == 2 * A.nnz  # it is not changed
    for form in ("csr", "csc"):
        A = sparse(form, LARGE)
        A.data, A.indices = np.append(A.data, 9.0), np.append(A.indices, -7)
        assert score(A) == pytest.approx(score(LARGE), abs=1e-5)


@pytest.mark.parametrize(
    ("form", "name", "value", "fact"),
    [
        ("csr", "indices", [1, 4, 0, 6, 3, 0, 1], "0 and 5"),
        ("csr", "indices", [1, 4, 0, -1, 3, 0, 1], "0 and 5"),
        ("csc", "indices", [1, 3, 0, 3, 2, 0, 4], "0 and 3"),
        ("csr", "indices", np.ones(7), "indices"),
        ("csr", "indices", np.ones((7, 1), int), "indices"),
        ("csr", "indices", [1, 4, 0, 5, 3, 0], "indices and data"),
        ("csr", "indptr", [0, 2, 4, 5, 8], "indptr .*0 and 7"),
        ("csr", "indptr", [1, 2, 4, 5, 7], "indptr .*5"),
        ("csr", "indptr", [0, 4, 2, 5, 7], "indptr .*5"),
        ("csc", "indptr", [0, 2, 4, 5, 7], "indptr .*7"),
        ("csr", "data", np.ones((7, 1)), r"\(7, 1\) .*float64"),
        ("csr", "data", np.array(list("abcdefg")), r"\(7,\) .*U1"),
        ("bsr", "data", np.ones((3, 2, 0)), r"\(2, 0\)"),
        ("bsr", "indices", [0, 1, 2], "0 and 1"),
        ("coo", "row", [0, 0, 1, 1, 2, 3, 4], "row .*0 and 3"),
        ("coo", "col", [0, 0, 1, 1, 2, 3, 6], "column .*0 and 5"),
        ("coo", "col", [0, 0, 1], "lengths"),
        ("dia", "offsets", [[0]], "offsets"),
        ("dia", "offsets", np.zeros(5, int), "offsets"),
        ("lil", "rows", np.array([[0], [1]]), "rows and data"),
    ],
)
def test_damaged_matrices_are_refused(form, name, value, fact):
    A = sparse(form)
    setattr(A, name, np.asarray(value))
    with pytest.raises(ValueError, match=f"view 0 .*{form} matrix.*{fact}"):
        label_predictability([A], [0, 1, 0, 1])
    with pytest.raises(ValueError, match=f"tensor: slice 0 .*{form} matrix.*{fact}"):
        fuse([A])


def test_damaged_blocks_of_dask_are_refused():
    A = sparse("csr", LARGE)
    A.indices[5] = 10**6
    block = da.from_delayed(dask.delayed(A), A.shape, meta=scipy.sparse.csr_array((0, 0)))
    with pytest.raises(ValueError, match="csr matrix: indices .*0 and 23"):
        ConsensusTLRR(3).fit([block])


def test_matrices_of_other_containers_are_refused():
    fields = np.zeros((4, 3), dtype=[("x", float), ("y", float)])
    for X, fact in (
        (np.ma.array(DENSE, mask=DENSE > 5), "2 masked"),
        (list(np.ma.array(DENSE, mask=DENSE > 5)), "2 masked"),
        (sparse("csr", kind="matrix").todense(), "numpy.matrix"),
        (fields, "x, y"),
    ):
        with pytest.raises(ValueError, match=fact):
            label_predictability([X], [0, 1, 0, 1])
    assert score(np.ma.array(LARGE)) == score(LARGE)
