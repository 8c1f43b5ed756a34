import numpy as np
import pytest
import scipy.sparse

from mvsc_fast.views import check_views


def test_lists_single_matrices_and_sparse_views():
    X = np.arange(12.0).reshape(6, 2)
    assert [A.shape for A in check_views([X, X[:, :1]])] == [(6, 2), (6, 1)]
    assert len(check_views(X)) == 1
    assert len(check_views(X.tolist())) == 1
    mixed = check_views([scipy.sparse.csc_array(X), X])
    assert scipy.sparse.issparse(mixed[0]) and mixed[0].format == "csr"


def test_types_are_kept_native():
    single, double = np.ones((3, 2), dtype=np.float32), np.ones((3, 2))
    assert check_views([single, single])[0].dtype == np.float32
    assert {A.dtype for A in check_views([single, double])} == {np.dtype(np.float64)}
    assert check_views([np.ones((3, 2), dtype=np.uint8)])[0].dtype == np.float64
    assert check_views([double])[0] is double


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ([], "list of views is empty"),
        ([np.ones((4, 2)), np.ones((3, 2))], "view 1 has 3 samples, view 0 has 4"),
        (np.ones((2, 3, 3)), r"one array of shape \(2, 3, 3\)"),
        ([np.ones((4, 2)), np.ones(4)], "1D array"),
        ([np.ones((4, 2)), np.array([["a", "b"]] * 4)], "could not convert string"),
        ([np.ones((4, 2)), np.ones((4, 2), dtype=complex)], "Complex data not supported"),
        ([np.ones((4, 2)), np.ones((4, 0))], r"0 feature\(s\)"),
        ([np.ones((1, 2))], "minimum of 2"),
        ([np.full((4, 2), 1e30, dtype=np.float32)], r"entries up to 1e\+30, too large .* float32"),
    ],
)
def test_bad_views(views, message):
    with pytest.raises(ValueError, match=message):
        check_views(views)


def test_non_finite_entries_are_counted_by_view():
    X = np.ones((4, 3))
    X[0, 0] = X[1, 1] = np.nan
    X[2, 2] = np.inf
    with pytest.raises(ValueError, match="view 1 contains 2 NaN and 1 infinity values"):
        check_views([np.ones((4, 2)), X])
    with pytest.raises(ValueError, match="view 0 contains 2 NaN and 1 infinity"):
        check_views([scipy.sparse.csr_array(X)])
