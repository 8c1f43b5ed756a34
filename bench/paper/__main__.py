"""The tables of the paper: ``make paper DATA=folder OPTIONS="--sets YaleB --jobs 2"``."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # timing

import paper_tables  # noqa: E402
from timing import run  # noqa: E402

if __name__ == "__main__":
    run(paper_tables.main, paper_tables.__doc__, None, **paper_tables.OPTIONS)
