import numpy as np
import pytest

from mvsc_fast._utils.parameters import check_integer, check_number


@pytest.mark.parametrize("value", [np.nan, np.inf, -0.1, 1.1])
def test_numbers_out_of_range(value):
    with pytest.raises(ValueError, match="omega1"):
        check_number(value, "omega1", 0.0, 1.0)


def test_numbers_of_the_wrong_type():
    with pytest.raises(TypeError, match="lam"):
        check_number("1", "lam")
    with pytest.raises(TypeError, match="max_iter"):
        check_integer(1.5, "max_iter", 0)
