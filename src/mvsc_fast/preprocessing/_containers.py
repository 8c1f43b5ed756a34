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


def identity(transform=None):
    """A transformer that returns a table as it is, or as a data frame."""
    transformer = FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one")
    return transformer if transform is None else transformer.set_output(transform=transform)


def named_items(items):
    """(name, item) pairs of a dict, or of a list, whose items are named by their indices."""
    return list(items.items() if isinstance(items, dict) else enumerate(items))


def with_keys_of(container, items):
    """A dict of the items with the keys of a dict, or a list of them."""
    return dict(zip(container, items, strict=True)) if isinstance(container, dict) else items
