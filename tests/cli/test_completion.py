import os
import subprocess
import sys

import pytest

pytest.importorskip("argcomplete")


def completions(line, folder):
    """The words that argcomplete gives to a shell."""
    shell = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(folder / "words.out"),
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    command = "from mvsc_fast.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", command],
        cwd=folder,
        env={**os.environ, **shell},
        check=True,
        timeout=120,
    )
    return [word.strip() for word in (folder / "words.out").read_text().splitlines()]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("mvsc-fast cl", ["cluster"]),
        ("mvsc-fast cluster --method ts", ["tsvd-msc"]),
        ("mvsc-fast cluster --cl", ["--clusters"]),
        ("mvsc-fast cluster a.csv --clusters ", ["auto"]),
        ("mvsc-fast cluster rn", ["rna.csv"]),
        ("mvsc-fast predict model.pkl rna=rn", ["rna=rna.csv"]),
    ],
)
def test_a_shell_gets_commands_options_values_and_files(tmp_path, line, words):
    for name in ("rna.csv", "rna.docx"):
        (tmp_path / name).touch()
    assert completions(line, tmp_path) == words


def test_argcomplete_is_imported_only_to_complete():
    code = "import sys, mvsc_fast.cli; sys.exit('argcomplete' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
