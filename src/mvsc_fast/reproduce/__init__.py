"""The paper's tables and pictures, and their like for methods and data of your own.

`run` fits methods on data sets in file order, as published, and on shuffled samples, as a user's
data are; every finished cell goes to a results file at once, and a run that was stopped goes on
where it was. The report is one HTML file with tables beside the paper's numbers, curves, heat maps
and similarity matrices, and CSV files. From the command line: ``mvsc-fast reproduce DATA_FOLDER``.

The data folder has ``.npz`` files with samples as rows of ``view_0``, ``view_1``, ... and labels
``y``. Those of the paper's five sets are ``orl_images``, ``yale_images`` and ``coil20_images``
(``view_0`` holds the pixels; views are made by `mvsc_fast.features`), ``yaleb10`` and
``uci_digit``; any other file is a set by its name. Needs ``pip install mvsc_fast[reproduce]``.
"""

from ._run import run, write_report

__all__ = ["run", "write_report"]
