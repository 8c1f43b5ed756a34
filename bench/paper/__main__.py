"""The paper's tables and pictures.

Usage: make paper DATA=folder OPTIONS="--sets YaleB --jobs 2", or python bench/paper folder ...

Methods are fitted on data sets in file order, as published, and on shuffled samples, as a user's
data are. Every finished cell is appended to a results file at once, and a run that was stopped
continues from there. The report is a page of Markdown with tables next to the paper's numbers,
curves, heat maps and similarity matrices.

The data folder has ``.npz`` files with samples as rows of ``view_0``, ``view_1``, ... and labels
``y``. Those of the paper's five sets are ``orl_images``, ``yale_images`` and ``coil20_images``
(``view_0`` holds the pixels; `features` makes the views), ``yaleb10`` and ``uci_digit``; any other
file is a data set, by its name. Further methods are entries of `settings.METHODS`.
"""

import argparse
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # timing

from run import run  # noqa: E402


def main():
    parser = argparse.ArgumentParser(
        prog="bench/paper", description="Compute the paper's tables and pictures."
    )
    parser.add_argument("data", metavar="DATA_FOLDER", help="with .npz files of the data sets")
    parser.add_argument("--output", default="reproduced", metavar="DIR", help="results are kept")
    for name, values in (
        ("methods", "rows of the tables"),
        ("sets", "data sets"),
        ("orders", "file, shuffled"),
        ("studies", "tables, ablation, initial, sensitivity"),
    ):
        parser.add_argument(f"--{name}", nargs="+", help=f"{values}; all by default")
    parser.add_argument("--seeds", type=int, default=3, help="shuffles, and random starts")
    parser.add_argument("--repeats", type=int, default=20, help="runs of k-means on one fit")
    parser.add_argument("--jobs", type=int, help="cells at a time; all CPUs by default")
    parser.add_argument(
        "--longest", type=float, default=20.0, metavar="MINUTES", help="stop cells that take longer"
    )
    parser.add_argument("--dry-run", action="store_true", help="only say what is to be done")
    arguments = parser.parse_args()
    try:
        records = run(**vars(arguments))
    except (ValueError, OSError, ImportError, MemoryError) as error:
        parser.exit(2, f"error: {' '.join(str(error).split())}\n")
    failed = [record["error"] for record in records if "error" in record]
    if failed and not arguments.dry_run:
        parser.exit(1, f"error: {len(failed)} cells failed, the first with {failed[0]}\n")


if __name__ == "__main__":
    main()
