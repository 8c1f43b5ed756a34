"""Tables in Excel and Parquet files."""

import numpy as np

from ._tables import Table
from ._text import table_of


def read_excel(path, name, wanted=None):
    """The `Table` in the first sheet of an Excel file."""
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(f"{name}: Excel needs openpyxl: pip install openpyxl") from error
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    try:
        sheets = {sheet.title: [(row, ["" if cell is None else str(cell) for cell in cells])
                                for row, cells in enumerate(sheet.iter_rows(values_only=True), 1)
                                if any(cell is not None for cell in cells)]
                  for sheet in book.worksheets}  # fmt: skip
    finally:
        book.close()
    sheets = {title: rows for title, rows in sheets.items() if rows}
    if len(sheets) != 1:
        raise ValueError(
            f"{name}: {len(sheets)} sheets ({', '.join(map(repr, list(sheets)[:8]))}) have cells: "
            "save each view as a separate file"
        )
    (filled,) = sheets.values()
    width = max((len(cells) for _, cells in filled), default=0)
    filled = [(row, cells + [""] * (width - len(cells))) for row, cells in filled]
    titles = 0
    while (
        titles + 1 < len(filled) and sum(cell != "" for cell in filled[titles][1]) == 1 < width - 1
    ):
        titles += 1
    table = table_of(name, iter(filled[titles:]), "row", wanted)
    if titles:
        table.notes.append(f"{name}: what is above row {filled[titles][0]} is taken as a title")
    return table


def read_parquet(path, name, wanted=None):
    """The `Table` in a Parquet file; its index is the first column."""
    try:
        import pandas

        frame = pandas.read_parquet(path)
    except ImportError as error:
        raise ImportError(f"{name}: Parquet needs pandas: pip install pandas pyarrow") from error
    if not isinstance(frame.index, pandas.RangeIndex):
        frame = frame.reset_index(names=frame.index.name or "")
    names = [str(one) for one in frame.columns]
    X = np.full(frame.shape, np.nan)
    cells, text = {}, set()
    for k in range(len(names)):
        column = frame.iloc[:, k]
        if column.dtype.kind in "iufb":
            X[:, k] = column.to_numpy(dtype=float, na_value=np.nan)
            if column.dtype.kind in "iu" and column.is_unique or names[k] == wanted:
                cells[k] = column.astype(str).tolist()
        else:
            text.add(k)
            cells[k] = ["" if empty else str(cell)
                        for cell, empty in zip(column, column.isna(), strict=True)]  # fmt: skip
    if len(frame) == 0:
        raise ValueError(f"{name}: no numbers found")
    return Table(name, names, X, cells, text, {}, range(1, len(frame) + 1), "row")
