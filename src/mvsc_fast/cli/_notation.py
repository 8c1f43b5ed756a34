"""How numbers are written in text tables."""

import re
from dataclasses import dataclass

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?", re.I | re.A)
GROUPED = re.compile(r"[+-]?\d+(?:[., \u00a0\u202f]\d+)+", re.A)  # of any notation
LOGICAL = {"true": "1", "false": "0"}
MARKS = {",": ",", ".": ".", " ": " \u00a0\u202f"}  # separators of thousands


@dataclass
class Notation:
    """How numbers are written: the options --decimal and --thousands."""

    decimal: str | None = None
    thousands: str | None = None

    def __post_init__(self):
        for option, mark, marks in (
            ("decimal", self.decimal, (None, ".", ",")),
            ("thousands", self.thousands, (None, *MARKS)),
        ):
            if mark not in marks or mark is not None and self.decimal == self.thousands:
                raise ValueError(
                    f"--{option} {mark!r}: the decimal mark is . or , and the separator of "
                    "thousands is another one of . , and a blank"
                )
        self.point = self.decimal or ("," if self.thousands == "." else ".")

    def number(self, cell):
        """The number in a cell, or None if it is text."""
        text = str(cell).strip()
        text = LOGICAL.get(text.lower(), text)
        if isinstance(cell, str):
            if self.thousands:
                mark = f"[{MARKS[self.thousands]}]"
                if re.fullmatch(rf"[+-]?[1-9]\d{{,2}}(?:{mark}\d{{3}})+(?:[.,]\d+)?", text, re.A):
                    text = re.sub(mark, "", text)
            if self.point == ",":
                text = text.replace(".", "_").replace(",", ".")
        return float(text) if NUMBER.fullmatch(text) else None


def grouped(texts, marks):
    """The mark that may separate thousands in all of some numbers, or None."""
    for mark in marks if texts else ():
        group = re.compile(rf"[+-]?(?:0|[1-9]\d{{,2}}(?:[{MARKS[mark]}]\d{{3}})*)", re.A)
        if all(map(group.fullmatch, texts)) and not all(map(str.isdecimal, texts)):
            return mark
    return None
