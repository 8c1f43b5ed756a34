import inspect

from mvsc_fast._utils.documentation import completed, sections

OWN = """One sentence.

    More of it.

    Parameters
    ----------
    b : float
        Own b.

    """

BASE = """The base.

    Parameters
    ----------
    a : int, default=8
        Base a.
    b : int, optional
        Base b.
    c, d : str
        Base c and d.
    e : str, optional
        Base e,
        in two lines.
    f : float
        Not in the signature.

    References
    ----------
    A book.

    Notes
    -----
    Base notes.

    """

COMPLETED = """One sentence.

More of it.

Parameters
----------
a : int, default=3
    Base a.
b : float, default=1e-6
    Own b.
c, d : str
    Base c and d.
e : str, default="x"
    Base e,
    in two lines.

Notes
-----
Base notes.
"""


def test_docstrings_are_completed_from_others():
    def function(a=3, b=1e-6, c=1, d=2, e="x"): ...

    def required(b, e=None): ...

    signature = inspect.signature(function)
    assert completed(OWN, [BASE], signature, ("Notes",)) == COMPLETED
    few = completed("It.\n", [OWN, BASE], inspect.signature(required), ())
    entries = "b : float\n    Own b.\ne : str, optional\n    Base e,\n    in two lines."
    assert few == f"It.\n\nParameters\n----------\n{entries}\n"


def test_numbers_are_written_as_people_do():
    def function(a=0.5, b=1e4, f=0.001): ...

    found = sections(completed("It.", [BASE], inspect.signature(function), ()))["Parameters"]
    assert [line for line in found.splitlines() if line[0] != " "] == [
        "a : int, default=0.5",
        "b : int, default=1e+4",
        "f : float, default=0.001",
    ]
