"""Regenerate the tables of docs/benchmarks.md: each between <!-- NAME --> and <!-- end NAME -->.

Usage: python bench/update_tables.py [NAME ...]
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

from timing import ROOT

SCRIPTS = {
    "accuracy": ["accuracy.py"],
    "sample order": ["sample_order.py"],
    "order free": ["order_free.py"],
    "solvers": ["solvers.py"],
    "family": ["family.py"],
    "scaling": ["scaling.py"],
    "native": ["native.py"],
    "peers": ["peers.py"],
}


def main(names):
    page = ROOT / "docs" / "benchmarks.md"
    for name in names or SCRIPTS:
        script, *arguments = SCRIPTS[name]
        command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        block = f"<!-- {name} -->\n{run.stdout}<!-- end {name} -->"
        text, found = re.subn(
            rf"<!-- {name} -->\n.*?<!-- end {name} -->", lambda _: block, page.read_text(),
            flags=re.S,
        )  # fmt: skip
        if not found:
            raise SystemExit(f"{page} has no block {name}")
        page.write_text(text)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SCRIPTS))
    main(parser.parse_args().names)
