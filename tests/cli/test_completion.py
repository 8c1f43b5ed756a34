import os
import subprocess
import sys
import textwrap

import pytest
from processes import run_python

pytest.importorskip("argcomplete")


LINES = {
    "mvsc-fast cl": ["cluster"],
    "mvsc-fast cluster --method ts": ["tsvd-msc"],
    "mvsc-fast cluster --cl": ["--clusters"],
    "mvsc-fast cluster a.csv --clusters ": ["auto"],
    "mvsc-fast cluster rn": ["rna.csv"],
    "mvsc-fast predict model.pkl rna=rn": ["rna=rna.csv"],
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each line needs a process")
def test_a_shell_gets_commands_options_values_and_files(tmp_path):
    """The words that argcomplete gives to a shell, in one child for each line."""
    for name in ("rna.csv", "rna.docx"):
        (tmp_path / name).touch()
    code = """
        import os, sys
        from mvsc_fast.cli import main
        for i, line in enumerate(sys.argv[1:]):
            if os.fork() == 0:
                os.environ["_ARGCOMPLETE_STDOUT_FILENAME"] = f"words{i}.out"
                os.environ["COMP_LINE"], os.environ["COMP_POINT"] = line, str(len(line))
                main()
            assert os.wait()[1] == 0
    """
    shell = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": "\n", "COMP_TYPE": "9"}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), *LINES],
        cwd=tmp_path,
        env={**os.environ, **shell},
        check=True,
        timeout=120,
    )
    found = [(tmp_path / f"words{i}.out").read_text().splitlines() for i in range(len(LINES))]
    assert [[word.strip() for word in words] for words in found] == list(LINES.values())


def test_argcomplete_is_imported_only_to_complete():
    code = "import sys, mvsc_fast.cli; sys.exit('argcomplete' in sys.modules)"
    run_python(code)
