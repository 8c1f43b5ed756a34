"""Rules of the core that its sources show: every function is documented, none knows Python."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "src" / "mvsc_fast" / "core"
SOURCES = sorted(CORE.glob("*.pyx"))

if not SOURCES:
    pytest.skip("the sources are not beside the tests", allow_module_level=True)


def functions(source):
    """Name and first line of the body of every function of a source."""
    for part in re.split(r"^(?=cdef )", source.read_text(), flags=re.MULTILINE):
        match = re.match(r"cdef (?!struct|enum|extern)[^=\n(]*?(\w+)\(", part)
        if match:
            body = re.search(r"nogil:\n *(.*)", part)
            yield match[1], body[1] if body else ""


@pytest.mark.parametrize("source", SOURCES, ids=[source.name for source in SOURCES])
def test_every_function_is_documented_and_runs_without_python(source):
    found = dict(functions(source))
    assert found
    assert [name for name, first in found.items() if not first.startswith('"""')] == []
    assert "numpy" not in source.read_text()
