"""Products of factors: nearest rows and entries on a pattern."""

import numpy as np
import pytest
from reference import sparse_graphs as twin

from mvsc_fast.similarity import _factored
from mvsc_fast.similarity._sparse import nearest_rows


@pytest.mark.parametrize("n, d, count", [(700, 20, 10), (513, 3, 50), (40, 5, 39), (3, 2, 2)])
def test_nearest_rows_are_those_of_largest_cosine(n, d, count):
    u = twin.unit(np.random.default_rng(0).standard_normal((n, d))).astype(np.float32)
    found = nearest_rows(u, count)
    assert found.shape == (n, count) and found.dtype == np.int32
    cosines = u.astype(np.float64) @ u.T.astype(np.float64)
    for j, expected in enumerate(twin.nearest(u, count)):
        row = found[j, found[j] >= 0]
        assert len(set(row.tolist())) == len(row) == len(expected) and j not in row
        nearest_first = np.sort(cosines[j, list(expected)])[::-1]
        np.testing.assert_allclose(cosines[j, row], nearest_first, atol=1e-6)


def test_equally_near_rows_are_taken_by_index_and_zeros_never():
    u = np.ones((600, 4), dtype=np.float32)
    found = nearest_rows(u, 5)
    np.testing.assert_array_equal(found[0], [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(found[500], [0, 1, 2, 3, 4])

    u[3] = 0  # a row without neighbours
    found = nearest_rows(u, 599)
    assert np.all(found[3] == -1) and not np.any(found == 3)


def pattern_problem(n=7, d=3, v=2):
    """Arguments of the kernels on the pattern of all entries."""
    rng = np.random.default_rng(0)
    indptr = np.arange(n + 1) * n
    indices = np.tile(np.arange(n, dtype=np.int32), n)

    def single(*shape):
        return rng.random(shape, dtype=np.float32)

    tubes = np.zeros((n, 4), np.int32), single(v, n, 4), single(n, 4)
    return {
        "products": [single(n, d), single(n), indptr, indices, 4, 7, single(3 * n)],
        "local_scales": [single(3 * n), indptr, 4, 7, 1, single(n)],
        "longest_tubes": [single(v, 3 * n), single(v, n), indptr, indices, 4, 7, 1.0, *tubes],
    }


@pytest.mark.parametrize("name", ["products", "local_scales", "longest_tubes"])
def test_kernels_refuse_arrays_that_are_too_short(name):
    kernel, arguments = getattr(_factored, name), pattern_problem()[name]
    kernel(*arguments)
    for place, array in enumerate(arguments):
        if isinstance(array, np.ndarray) and array is not arguments[-1]:
            for wrong in (array[:-1], array[None]):
                with pytest.raises(ValueError):
                    kernel(*arguments[:place], wrong, *arguments[place + 1 :])


@pytest.mark.parametrize("name", ["products", "longest_tubes"])
@pytest.mark.parametrize("column", [-1, 7])
def test_kernels_refuse_columns_outside_the_pattern(name, column):
    arguments = pattern_problem()[name]
    arguments[3][4 * 7] = column  # a row that is read
    with pytest.raises(ValueError, match="indices .*49 .*0 to 6"):
        getattr(_factored, name)(*arguments)


@pytest.mark.parametrize(
    "name, place", [("products", 2), ("local_scales", 1), ("longest_tubes", 2)]
)
def test_kernels_refuse_starts_outside_the_pattern(name, place):
    arguments = pattern_problem()[name]
    for fourth, fifth in ((28, 50), (-28, 35), (28, 70)):
        arguments[place] = np.array([0, 7, 14, 21, fourth, fifth, 42, 49])
        with pytest.raises(ValueError, match="indptr"):
            getattr(_factored, name)(*arguments)
