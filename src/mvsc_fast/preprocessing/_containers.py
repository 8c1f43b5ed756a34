"""Lists and dicts of views, and their output container."""

from typing import Literal

from sklearn.preprocessing import FunctionTransformer

Container = Literal["default", "pandas", "polars"]


class ChosenOutput:
    """Base class of transformers whose clones keep the output container that was chosen."""

    _output: Container | None = None

    def __sklearn_clone__(self):
        clone = super().__sklearn_clone__()
        clone._output = self._output
        return clone


def unchanged(transform=None):
    """Transformer that returns a table unchanged or as a data frame."""
    out = FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one")
    return out if transform is None else out.set_output(transform=transform)


def items(given):
    """(name, item) pairs of a dict, or of a list, whose items are named by their indices."""
    return list(given.items() if isinstance(given, dict) else enumerate(given))


def like(given, found):
    """A dict of the items with the keys of ``given``, or a list of them."""
    return dict(zip(given, found, strict=True)) if isinstance(given, dict) else found
