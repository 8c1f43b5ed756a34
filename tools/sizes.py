"""Refuse sizes above those in the table of CONTRIBUTING.md; prints what exceeds them.

Usage: python tools/sizes.py

Only files that git knows count. Code lines are those of Python without comments, docstrings and
blank lines; all lines are of Python, Cython and C.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROW = r"^\| `(.+?)` \| (.+?) \| (\d+) \|$"
SOURCES = {".py", ".pyx", ".pxd", ".pxi", ".h", ".c"}
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
MEASURED = ROOT / "docs" / "measured.md"


def count_code(text):
    """Lines of Python without comments, docstrings and blank lines."""
    docstrings = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            first = node.body[0]
            docstrings.update(range(first.lineno, first.end_lineno + 1))
    lines = enumerate(map(str.strip, text.splitlines()), 1)
    return sum(line[:1] not in ("", "#") and i not in docstrings for i, line in lines)


def size(part, unit):
    """Size of a file or folder, or of the pages that a pattern matches."""
    command = ["git", "-C", ROOT, "ls-files", part]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    paths = [path for name in names if (path := ROOT / name).exists()]
    if "words" in unit:
        pages = [path for path in paths if "other" not in unit or path != MEASURED]
        return sum(len(path.read_text(encoding="utf-8").split()) for path in pages)
    suffixes = {".py"} if unit == "code lines" else SOURCES
    texts = [path.read_text(encoding="utf-8") for path in paths if path.suffix in suffixes]
    return sum(map(count_code if unit == "code lines" else lambda t: t.count("\n") + 1, texts))


def main():
    rows = re.findall(ROW, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M)
    sizes = [(part, unit, size(part, unit), int(most)) for part, unit, most in rows]
    for part, unit, actual, most in sizes:
        print(f"{part}: {actual} {unit}, at most {most}{'  <- too many' * (actual > most)}")
    return not sizes or any(actual > most for *_, actual, most in sizes)


if __name__ == "__main__":
    sys.exit(main())
