"""Lists and dicts of views."""


def named_items(items):
    """(name, item) pairs of a dict, or of a list, whose items are named by their indices."""
    return list(items.items() if isinstance(items, dict) else enumerate(items))


def with_keys_of(container, items):
    """A dict of the items with the keys of a dict, or a list of them."""
    return dict(zip(container, items, strict=True)) if isinstance(container, dict) else list(items)
