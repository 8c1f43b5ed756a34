"""Print sentences at random from docstrings and messages, to be read with fresh eyes.

Usage: python tools/sample_sentences.py [SEED] [COUNT]
"""

import ast
import random
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src/mvsc_fast"


def texts(path):
    """Docstrings and messages of a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            parts = [v.value if isinstance(v, ast.Constant) else "{}" for v in node.values]
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def sentences(text):
    """Sentences of at least four words, without section titles, types and examples."""
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [
            line.strip()
            for line in paragraph.splitlines()
            if not re.match(r"\s*(>>>|\.\.\. |-+$|[\w, *]+ : )", line)
        ]
        for sentence in re.split(r"(?<=[.:;])\s+", " ".join(lines)):
            if len(re.findall(r"[A-Za-z]{2,}", sentence)) > 3:
                yield sentence


def main(seed=0, count=100):
    """Print ``count`` sentences with the files that they are from."""
    found = sorted(
        {
            (str(path.relative_to(SOURCE)), sentence)
            for path in SOURCE.rglob("*.py")
            for text in texts(path)
            for sentence in sentences(text)
        }
    )
    for file, sentence in random.Random(int(seed)).sample(found, int(count)):
        print(f"{file}: {sentence}")


if __name__ == "__main__":
    main(*sys.argv[1:])
