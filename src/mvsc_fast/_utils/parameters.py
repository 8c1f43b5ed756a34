"""Parameters: ``check(value, name)`` returns a value or raises an error in words; their docs."""

import inspect
import re
import sys
from functools import partial
from numbers import Integral, Real
from typing import get_args

import numpy as np
from sklearn.utils import check_array, check_random_state

SECTION, SHARED = r"\n\n(?=\w+\n-+\n)", re.compile("Parameters|Attributes")  # of docstrings


class InvalidParameterError(ValueError, TypeError):
    """A parameter has a wrong type or value.

    It is both errors, as scikit-learn's private error of this name is: callers may expect either.
    """


def _require(is_valid, value, name, words):
    if not is_valid:
        raise InvalidParameterError(f"{name} must be {words}, got {value!r}")
    return value


def check_integer(value, name, minimum):
    """The integer ``value``, at least ``minimum``; whole floats are integers, bools are not.

    Integers above the largest index mean the same as it.
    """
    whole = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    _require(whole and not isinstance(value, bool), value, name, "an integer")
    if value < minimum:
        raise InvalidParameterError(f"{name} == {value}, must be >= {minimum}")
    return min(int(value), sys.maxsize)


def check_number(value, name, low=None, high=None, *, open_interval=False):
    """The finite number ``value`` between ``low`` and ``high``, including bounds unless open."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    _require(is_number, value, name, "a number")
    try:
        value = float(value)
    except OverflowError:
        raise InvalidParameterError(f"{name} is too large for a number") from None
    sign = "" if open_interval else "="
    if low is not None and (value < low or (open_interval and value == low)):
        raise InvalidParameterError(f"{name} == {value}, must be >{sign} {low}")
    if high is not None and (value > high or (open_interval and value == high)):
        raise InvalidParameterError(f"{name} == {value}, must be <{sign} {high}")
    if not np.isfinite(value):
        raise InvalidParameterError(f"{name} == {value}, must be a finite number")
    return value


def check_numbers(values, name, count, low=None, high=None):
    """A list of ``count`` numbers, see `check_number`; a single number is repeated."""
    values = [values] if isinstance(values, Real) else list(np.ravel(values).tolist())
    if len(values) not in (1, count):
        raise InvalidParameterError(f"{name} must be one number or {count}, got {len(values)}")
    return [check_number(value, name, low, high) for value in values * (count // len(values))]


def check_option(value, name, options):
    """The string ``value``, one of ``options``."""
    is_option = isinstance(value, str) and value in options
    return _require(is_option, value, name, f"one of {', '.join(map(repr, options))}")


def check_callback(value, name):
    """``value``, which must be callable."""
    return _require(callable(value), value, name, "callable or None")


def check_flag(value, name):
    """``value``, which must be True or False."""
    return _require(isinstance(value, bool | np.bool_), value, name, "True or False")


def check_type(value, name, kind):
    """``value``, which must be an instance of a class."""
    return _require(isinstance(value, kind), value, name, f"a {kind.__name__}")


def check_estimator(value, name):
    """``value``, which must be an estimator, and not a class."""
    is_estimator = hasattr(value, "fit") and not isinstance(value, type)
    return _require(is_estimator, value, name, "an estimator with a method fit")


def check_seed(value, name):
    """``value``, which scikit-learn must accept as a random state; whole floats are integers."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        check_random_state(value)
    except ValueError as error:
        raise InvalidParameterError(f"{name}: {error}") from None
    return value


def draw_seed(random_state):
    """One integer seed for all that follows, from a random state that `check_seed` accepts."""
    rng = check_random_state(check_seed(random_state, "random_state"))
    return int(rng.randint(2**31 - 1))


def check_sample_weight(value, name):
    """One-dimensional float64 array of finite positive weights."""
    if np.ndim(value) != 1:
        got = f"shape {np.shape(value)}" if np.ndim(value) else repr(value)
        raise InvalidParameterError(f"{name} must have one weight for each sample, got {got}")
    weight = check_array(value, ensure_2d=False, dtype=np.float64, order="C", input_name=name)
    # Products of weights must not overflow.
    extreme = (weight < 1e-12) | (weight > 1e12)
    if extreme.any():
        p = int(extreme.argmax())
        raise InvalidParameterError(
            f"{name}[{p}] == {weight[p]:g}, must lie between 1e-12 and 1e12: rescale it and W, or "
            "remove such samples from W"
        )
    return weight


def either(word, check):
    """Check for a parameter that may also be ``word``: None, or a string such as "auto"."""

    def check_either(value, name):
        if value is word or (isinstance(value, str) and value == word):
            return value
        try:
            return check(value, name)
        except InvalidParameterError as error:
            raise InvalidParameterError(f"{error}. Or {name}={word!r}") from None

    return check_either


def option(words):
    """Check for a parameter that must be one of the strings of a ``Literal``."""
    return partial(check_option, options=get_args(words))


def verbosity(value, name):
    """``value``, a bool or an integer from 0."""
    return natural(int(value) if isinstance(value, bool | np.bool_) else value, name)


count = partial(check_integer, minimum=1)
natural = partial(check_integer, minimum=0)
jobs = either(None, partial(check_integer, minimum=-sys.maxsize))
# Products with weights of an objective stay in the range of single precision.
nonnegative = partial(check_number, low=0.0, high=1e30)
positive = partial(check_number, low=0.0, high=1e30, open_interval=True)

CHECKS = {
    "tol": nonnegative,
    "max_iter": natural,
    "n_threads": either(None, count),
    "callback": either(None, check_callback),
}


def check_parameters(checks, **values):
    """A dict of the values, each after its check of the same name."""
    return {name: checks[name](value, name) for name, value in values.items()}


def with_entries(doc, base_doc):
    """A docstring with the parameters and attributes of the base class that it does not have."""
    if not doc or not base_doc:  # python -OO has none
        return doc
    text, *sections = re.split(SECTION, inspect.cleandoc(doc))
    shared = [part for part in re.split(SECTION, inspect.cleandoc(base_doc)) if SHARED.match(part)]
    bodies = {}
    for section in [*shared, *sections]:
        title, _, body = section.split("\n", 2)
        if title in bodies:
            entries = [re.split(r"\n(?=\S)", part) for part in (bodies[title], body)]
            by_name = {entry.split(" :")[0]: entry for part in entries for entry in part}
            body = "\n".join(by_name.values())
        bodies[title] = body
    parts = [f"{title}\n{'-' * len(title)}\n{body}" for title, body in bodies.items()]
    return "\n\n".join([text, *parts])
