"""Labels and weights, through what takes them."""

import datetime

import numpy as np
import pandas as pd
import pytest

from mvsc_fast.metrics import clustering_scores
from mvsc_fast.solvers import tlrr


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
