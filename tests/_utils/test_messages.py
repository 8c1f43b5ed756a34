import warnings

import numpy as np
import pytest

from mvsc_fast._utils.messages import counted, import_extra, recorded, warn_user
from mvsc_fast._utils.short_repr import ShortRepr


def test_a_noun_is_singular_for_one_only():
    assert [counted(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]


def test_a_missing_package_is_named_with_its_command():
    assert import_extra("math", "x").sqrt(4) == 2
    with pytest.raises(ImportError, match="^reading x needs no_pkg: pip install other.extra.$"):
        import_extra("no_pkg", "reading x", "other[extra]")


@pytest.mark.filterwarnings("ignore")
def test_warnings_of_a_context_are_recorded_once():
    warn_user("before")
    with recorded() as outer:
        warn_user("one")
        with recorded() as inner:
            warn_user("two")
            warn_user("one")
            warn_user("two")
        warn_user("three")
    warn_user("after")
    assert inner == ["two", "one"] and outer == ["one", "two", "three"]


def test_warnings_are_about_the_first_line_outside_of_the_package():
    calls = {"__name__": "mvsc_fast.module", "warn_user": warn_user}
    exec("def inner(): warn_user('it')\ndef outer(): inner()", calls)
    between = {"__name__": "sklearn.pipeline", "outer": calls["outer"]}
    exec("def pipeline(): outer()", between)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        between["pipeline"]()
    assert [(w.filename, w.category) for w in caught] == [(__file__, UserWarning)]


def test_results_print_shapes_instead_of_arrays():
    class Result(ShortRepr):
        def __init__(self, **fields):
            vars(self).update(fields)

    result = Result(Z=np.zeros((2, 3), np.float32), L=[np.eye(4)] * 2, n=7, s="a", t=0.12345)
    assert repr(result) == "Result(Z=<float32 (2, 3)>, L=<2 x ndarray (4, 4)>, n=7, s='a', t=0.123)"
    assert repr(Result(n=None, timing={"solve": 1.0}, done=True)) == "Result(done=True)"
