"""Completion of the command line in shells by argcomplete, an extra."""

from .._utils.messages import import_extra
from ._readers import ALONE
from ._tables import PARQUET
from ._text import EXCEL, TEXT

VIEWS = (*TEXT, ".gz", *EXCEL, *PARQUET, ".npy", *ALONE)
VALUES = {"K": ["auto"], "N": [], "SIZE": [], "NAME": [], "NAMES": []}  # not files


def complete(parser):
    """If a shell asks for completions, in the environment, print them and exit."""
    import_extra("argcomplete", "completion").autocomplete(parser, default_completer=_completions)


def _completions(prefix, action, **_):
    if action.metavar in VALUES:
        return VALUES[action.metavar]
    completers = import_extra("argcomplete.completers", "completion")
    files = completers.FilesCompleter(VIEWS if action.metavar == "FILE" else ())
    view, equals, name = prefix.rpartition("=")
    return [view + equals + found for found in files(name)]
