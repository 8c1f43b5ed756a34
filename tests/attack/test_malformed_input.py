"""Input that is not what it seems: damaged sparse matrices, odd containers, extreme numbers."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import FULL
from processes import run_python
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import TLRR, ConsensusTLRR, datasets, methods

CASES, BATCH = (10_000, 1000) if FULL else (250, 250)


# ------------------------------------------------------------------ sparse matrices


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_damaged_sparse_matrices_are_refused(first):
    script = Path(__file__).with_name("malformed_sparse.py")
    refused = int(run_python(script.read_text(), first, first + BATCH).split()[0])
    assert refused > 2 * BATCH  # of five readers


# ------------------------------------------------------------------ rows of any scale


VIEWS, _ = datasets.make_multiview_subspaces(45, 3, n_features=(20, 4), random_state=0)


@pytest.mark.parametrize("exponents", [(0, -400), (0, 400), (-200, 200)])
def test_labels_do_not_depend_on_the_scale_of_rows(exponents):
    # Of more than 80 columns: ConsensusTLRR may keep the lengths of other rows.
    views, _ = datasets.make_multiview_subspaces(45, 3, n_features=(90, 100), random_state=0)
    scale = np.ldexp(1.0, np.resize(exponents, 45))[:, None]
    scaled = [views[0] * scale, views[1]]
    for model in (TLRR, ConsensusTLRR, methods.TSVDMSC, methods.LMSC, methods.AWP, methods.DiMSC):
        model = model(3, random_state=0)
        expected, found = model.fit_predict(views), model.fit_predict(scaled)
        # Independent of the order of the samples, which depends on their contents.
        assert adjusted_rand_score(expected, found) == 1, type(model)
    np.testing.assert_array_equal(model.fit_predict(scaled), found)


def test_the_largest_numbers_are_no_reason_to_warn():
    largest = np.finfo(float).max
    X = np.where(VIEWS[0] > 0, largest, -largest)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for model in (TLRR(3, random_state=0), ConsensusTLRR(3, random_state=0)):
            assert set(model.fit_predict([X, VIEWS[1]])) == {0, 1, 2}


# ------------------------------------------------------------------ containers


@pytest.mark.parametrize(
    "value", [1 + 2j, np.complex64(1j), 10**400, float, np.ones(2), pd.NA, {}], ids=repr
)
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame])
def test_objects_that_are_no_numbers_are_named_by_column(value, make):
    X = VIEWS[1].astype(object)
    X[7, 2] = value
    with pytest.raises((TypeError, ValueError), match="view 1, column 2"):
        methods.AWP(3).fit([VIEWS[0], make(X)])
