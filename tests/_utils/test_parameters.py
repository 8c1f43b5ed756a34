from typing import Literal

import numpy as np
import pytest

from mvsc_fast._utils import parameters
from mvsc_fast._utils.parameters import CHECKS, check_integer, check_number


@pytest.mark.parametrize(
    ("check", "given", "value"),
    [
        (parameters.count, 1, 1),
        (parameters.natural, np.int8(0), 0),
        (parameters.nonnegative, 0, 0.0),
        (parameters.positive, 1e-300, 1e-300),
        (lambda value, name: check_number(value, name, 0.0, 1.0), np.float32(1), 1.0),
        (parameters.verbosity, True, 1),
        (parameters.verbosity, 3, 3),
        (parameters.check_flag, np.False_, False),
        (parameters.check_seed, None, None),
        (parameters.check_seed, 7, 7),
        (parameters.check_callback, print, print),
        (parameters.option(Literal["a", "b"]), "b", "b"),
        (parameters.either(None, parameters.count), None, None),
        (parameters.either("auto", parameters.count), "au" + "to", "auto"),
        (parameters.either("auto", parameters.count), 2, 2),
        (CHECKS["tol"], 0.0, 0.0),
        (CHECKS["max_iter"], 0, 0),
        (CHECKS["rho"], 1, 1.0),
        (CHECKS["n_threads"], None, None),
    ],
)
def test_good_values(check, given, value):
    found = check(given, "it")
    assert found == value and isinstance(found, type(value) if value is not False else np.bool_)


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (parameters.count, 0, "it == 0, must be >= 1"),
        (parameters.natural, -1, "it == -1, must be >= 0"),
        (parameters.nonnegative, -0.1, "it == -0.1, must be >= 0"),
        (parameters.positive, 0.0, "it == 0.0, must be > 0"),
        (parameters.positive, np.inf, "it == inf, must be a finite number"),
        (parameters.nonnegative, np.nan, "it == nan, must be"),
        (lambda value, name: check_number(value, name, 0.0, 1.0), 1.1, "it == 1.1, must be <= 1"),
        (parameters.verbosity, -1, "it == -1, must be >= 0"),
        (parameters.check_flag, 1, "it must be True or False, got 1"),
        (parameters.check_seed, "a", "it: 'a' cannot be used to seed"),
        (parameters.check_callback, 3, "it must be callable or None, got 3"),
        (parameters.option(Literal["a", "b"]), "c", "it must be one of 'a', 'b', got 'c'"),
        (parameters.option(Literal["a", "b"]), ["a"], "it must be one of 'a', 'b', got"),
        (parameters.either("auto", parameters.count), 0, "it == 0, must be >= 1"),
        (CHECKS["max_iter"], -1, "it == -1, must be >= 0"),
        (CHECKS["mu"], 0, "it == 0, must be > 0"),
        (CHECKS["rho"], 0.9, "it == 0.9, must be >= 1"),
    ],
)
def test_values_out_of_range(check, value, message):
    with pytest.raises(ValueError, match=message):
        check(value, "it")


@pytest.mark.parametrize(
    ("check", "value", "message"),
    [
        (parameters.positive, "1", "it must be a number, got '1'"),
        (parameters.natural, 1.5, "it must be an integer, got 1.5"),
        (parameters.natural, True, "it must be an integer, got True"),
        (parameters.either("auto", parameters.count), "aut", "Or it='auto'"),
        (CHECKS["n_threads"], "2", r"got '2'\. Or it=None"),
        (CHECKS["n_threads"], True, r"got True\. Or it=None"),
    ],
)
def test_values_of_the_wrong_type(check, value, message):
    with pytest.raises(TypeError, match=message):
        check(value, "it")


def test_a_list_of_numbers():
    assert parameters.check_numbers(2, "it", 3) == [2.0] * 3
    assert parameters.check_numbers([2], "it", 2) == [2.0] * 2
    assert parameters.check_numbers(np.array([1, 2, 3]), "it", 3, low=1) == [1.0, 2.0, 3.0]
    for count in (2, 6):
        with pytest.raises(ValueError, match=f"it must be one number or {count}, got 3"):
            parameters.check_numbers([1, 2, 3], "it", count)
    with pytest.raises(ValueError, match="it == 1, must be >= 2"):
        parameters.check_numbers([2, 1], "it", 2, low=2)


def test_weights_of_samples():
    ends = np.array([1e-12, 1, 1e12])
    found = parameters.check_sample_weight(ends.tolist(), "w")
    assert found.dtype == np.float64 and found.tolist() == ends.tolist()
    for weight, message in (
        ([1, 0, -2], r"w\[2\] == -2, must be > 0: remove such samples from W"),
        (0.9 * ends, "w must lie between 1e-12 and 1e12"),
        (1.1 * ends, "w must lie between 1e-12 and 1e12"),
        ([1, np.nan], "w contains NaN"),
        (3, "w must have one weight for each sample, got 3"),
        ([[1, 2]], "w must have one weight for each sample"),
    ):
        with pytest.raises(ValueError, match=message):
            parameters.check_sample_weight(weight, "w")
    assert check_integer(np.int64(4), "it", 4) == 4
