import datetime

import numpy as np
import pandas as pd
import pytest

from mvsc_fast._utils.labels import check_labels


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b", "d"],
        [2, 1, 2, 9],
        (2.5, 1, 2.5, 3),
        np.array([2, 1, 2, 9], dtype=np.uint8),
        np.array(["b", "a", "b", "d"], dtype=object),
        pd.Series(["b", "a", "b", "d"], dtype="category"),
        pd.Series([2, 1, 2, 9], dtype="Int64"),
        [np.bool_(True), False, True, 2],
    ],
)
def test_labels_are_numbered_in_sorted_order(labels):
    found = check_labels(labels, "y", 4)
    assert found.dtype == np.int64 and found.tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize(
    "labels",
    [
        [0.0, np.nan, None],
        ["a", np.nan, None],
        np.array([0, np.nan, np.nan]),
        np.array(["2020-01-01", "NaT", "NaT"], dtype="M8[D]"),
        pd.Series([1, pd.NA, None], dtype="Int64"),
        pd.Series(["a", pd.NA, None], dtype="string"),
    ],
)
def test_missing_labels_are_refused(labels):
    with pytest.raises(ValueError, match="y has 2 NaN or None, the first for sample 1: remove"):
        check_labels(labels, "y")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, "1"], "y has both numbers and strings, such as 1 and '1': convert them"),
        (np.array([1, "1"], dtype=object), "y has both numbers and strings"),
        ([datetime.date(2020, 1, 1), "a"], "y has labels of type date: expected numbers or str"),
        ([[0, 1], [0]], "y has labels of type list"),
        ([[0, 1], [0, 1]], r"y has shape \(2, 2\): expected one label per sample"),
        ([], r"y has shape \(0,\)"),
        (3, r"y has shape \(\)"),
        (np.ma.array([1, 2], mask=[True, False]), "y is a masked array with 1 masked"),
    ],
)
def test_what_is_no_list_of_labels_is_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        check_labels(labels, "y")


def test_labels_must_match_the_samples():
    with pytest.raises(ValueError, match="y has 1 label, but the number of samples is 2 in the v"):
        check_labels([0], "y", 2)
    index = pd.Index(["s", "t", "u"])
    labels = pd.Series([0, 1, 2], index=["s", "u", "t"])
    assert check_labels(labels.to_numpy(), "y", 3, index).tolist() == [0, 1, 2]
    assert check_labels(labels.loc[index], "y", 3, index).tolist() == [0, 2, 1]
    with pytest.raises(ValueError, match="y and the views have different indexes, 'u' and 't' in "):
        check_labels(labels, "y", 3, index)
