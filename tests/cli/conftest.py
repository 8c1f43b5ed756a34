"""What the command line reads, as a fit gets it."""

import csv
import io
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import numpy as np
import pytest

from mvsc_fast.cli import main
from mvsc_fast.methods import AWP


@pytest.fixture
def refused(capsys):
    """A function that returns what a command tells before it stops."""

    def refused(*words):
        capsys.readouterr()
        assert main(list(map(str, words))) == 2
        return capsys.readouterr().err

    return refused


@pytest.fixture
def read(monkeypatch, tmp_path_factory):
    """A function that returns the views, ids and notes that a fit of files gets.

    It raises ValueError with the message of the command if that stops. The value of an option is
    a text, a list of texts, or None for a flag.
    """
    fits = []

    def fit(self, views, y=None):
        fits.append(views)
        n_samples = next(iter(views.values())).shape[0]
        self.labels_ = np.zeros(n_samples, dtype=int)
        return self

    monkeypatch.setattr(AWP, "fit", fit)
    labels = tmp_path_factory.mktemp("labels") / "labels.csv"

    def read(*paths, **options):
        out, err = io.StringIO(), io.StringIO()
        words = ["cluster", *map(str, paths), "--clusters", "2", "--method", "awp"]
        words += ["--labels", str(labels)]
        for name, value in options.items():
            for text in value if isinstance(value, list) else [value]:
                words += [f"--{name.replace('_', '-')}", *([] if text is None else [str(text)])]
        with redirect_stdout(out), redirect_stderr(err):
            code = main(words)
        *notes, last = err.getvalue().removesuffix("\n").split("\n")
        if code != 0:
            raise ValueError(last.removeprefix("mvsc-fast: error: "))
        with open(labels, newline="", encoding="utf-8") as file:
            id_name, *ids = (row[0] for row in csv.reader(file))
        return SimpleNamespace(
            views=fits.pop(),
            ids=None if id_name == "sample" else ids,
            id_name=id_name,
            notes=[note.removeprefix("mvsc-fast: ") for note in notes],
            out=out.getvalue(),
        )

    return read
