"""The binding of TLRR refuses arrays that do not fit together."""

import numpy as np
import pytest

from mvsc_fast.solvers import _tlrr_binding as binding

WEIGHTS = {"omega1": 0.5, "alpha": 9.0, "lam": 4.0}


@pytest.mark.parametrize("short", ["data", "indptr", "indices", "sample_weight", "labels"])
def test_the_binding_refuses_arrays_that_are_too_short(short):
    n = 6
    given = {
        "data": np.ones((2, n * n)),
        "indptr": np.arange(n + 1) * n,
        "indices": np.tile(np.arange(n), n),
        "sample_weight": np.ones(n),
    }
    screening = binding.screen(n=n, **given, **WEIGHTS)
    options = {"tol": 1e-3, "max_iter": 5, "report": lambda **_: False, **WEIGHTS}
    assert binding.solve(n=n, screening=screening, **given, **options)["converged"]
    if short == "labels":
        screening = screening._replace(labels=screening.labels[:-1])
    else:
        given[short] = given[short][..., :-1].copy()
        with pytest.raises(ValueError, match="must have"):
            binding.screen(n=n, **given, **WEIGHTS)
    with pytest.raises(ValueError, match="must have"):
        binding.solve(n=n, screening=screening, **given, **options)
    with pytest.raises(ValueError, match=".2, 49., got .2, 36."):
        binding.screen(np.ones((2, n * n)), n + 1, **WEIGHTS)


@pytest.mark.parametrize("column", [-1, 6])
def test_the_binding_refuses_columns_outside_the_pattern(column):
    indices = np.tile(np.arange(6), 6)
    indices[7] = column
    with pytest.raises(ValueError, match="indices .*36 .*0 to 5"):
        binding.screen(np.ones((2, 36)), 6, np.arange(7) * 6, indices, **WEIGHTS)
