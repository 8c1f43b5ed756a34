"""The results file: one JSON record a line, appended whole by the process that computed it."""

import json
import os
import warnings
from pathlib import Path

RESULTS = "results.jsonl"


def append(output, record):
    """Add a record by a single write, which no other process's write can divide."""
    path = Path(output) / RESULTS
    line = (json.dumps(record, allow_nan=False) + "\n").encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        if os.write(descriptor, line) < len(line):
            raise OSError(f"{path}: the disk is full, a record was written in part only")
    finally:
        os.close(descriptor)


def read(output):
    """Records by their key; the last counts, but a result more than an error.

    A line that a dying machine left unfinished is passed over with a warning.
    """
    path = Path(output) / RESULTS
    records = {}
    if not path.exists():
        return records
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            record = json.loads(line)
            key = record["key"]
        except (ValueError, KeyError, TypeError):
            if line.strip():
                warnings.warn(
                    f"{path}, line {number} is no whole record and was passed over: its cell is "
                    "computed again",
                    stacklevel=2,
                )
            continue
        if "error" not in record or "error" in records.get(key, {"error": ""}):
            records[key] = record
    return records


def mend(output):
    """End an unfinished last line, so that the next record begins on its own."""
    path = Path(output) / RESULTS
    if path.exists() and path.stat().st_size:
        with open(path, "rb+") as file:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
