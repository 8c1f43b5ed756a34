"""Lists and dicts of views, and the output that is chosen for them."""

from sklearn.preprocessing import FunctionTransformer


def chosen_output(transformer):
    """Arguments of its last ``set_output``."""
    return vars(transformer).get("_sklearn_output_config", {})


def unchanged(transform=None):
    """The transformer that leaves a table as it is, or makes a data frame of it."""
    out = FunctionTransformer(accept_sparse=True, feature_names_out="one-to-one")
    return out if transform is None else out.set_output(transform=transform)


def items(given):
    """(name, item) of a dict or of a list, whose items are named by number."""
    return list(given.items() if isinstance(given, dict) else enumerate(given))


def like(given, found):
    """Items under the keys of a dict, or a list of them."""
    return dict(zip(given, found, strict=True)) if isinstance(given, dict) else found
