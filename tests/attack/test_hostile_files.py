"""Files that are damaged, lie about their size or hold code, and names that mean something."""

import csv
import pickle
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse
import threadpoolctl
from conftest import FULL
from processes import run_python

from mvsc_fast import datasets
from mvsc_fast.cli import main

X = np.arange(12.0).reshape(4, 3)
TABLE = pd.DataFrame(X, columns=["a", "b", "c"])


def write_matlab(path):
    cells = np.empty((2, 1), dtype=object)
    cells[:, 0] = [X, X[:, :2]]
    scipy.io.savemat(path, {"X": cells, "gt": np.arange(4)})


def write_hdf5(path):
    with pytest.importorskip("h5py").File(path, "w") as file:
        file["view_0"], file["y"] = X, np.arange(4)


KINDS = {
    "a.npz": lambda path: np.savez(path, view_0=X, view_1=X[:, :2], y=np.arange(4)),
    "compressed.npz": lambda path: np.savez_compressed(path, view_0=X),
    "a.npy": lambda path: np.save(path, X),
    "a.csv": lambda path: np.savetxt(path, X, delimiter=",", header="a,b,c", comments=""),
    "a.mat": write_matlab,
    "version 4.mat": lambda path: scipy.io.savemat(path, {"view_0": X}, format="4"),
    "a.h5": write_hdf5,
    "a.parquet": lambda path: TABLE.to_parquet(path),
    "a.xlsx": lambda path: TABLE.to_excel(path, index=False),
}
NEEDS = {"a.parquet": "pyarrow", "a.xlsx": "openpyxl"}
DAMAGED = """
    import faulthandler, sys, warnings
    from pathlib import Path
    import numpy as np
    import scipy.sparse
    from types import SimpleNamespace
    from mvsc_fast.cli._read import read
    faulthandler.enable()
    warnings.simplefilter("ignore")
    path, times = Path(sys.argv[1]), int(sys.argv[2])
    options = SimpleNamespace(
        id_column=None, columns=None, views=None, join=None, sep=None, decimal=None, transpose=False
    )
    load_data = lambda path: read({"a": str(path)}, options, lambda note: None)
    content, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    load_data(path)
    for _ in range(times):
        damaged = bytearray(content[: rng.choice([None, rng.integers(len(content))])])
        for _ in range(rng.integers(4)):
            # Half of the damage is to headers.
            places = rng.choice([len(damaged), min(len(damaged), 512)])
            if places:
                damaged[rng.integers(places)] = rng.integers(256)
        path.write_bytes(damaged + rng.bytes(rng.choice([0, 20])))
        try:
            data = load_data(path)
        except (ValueError, OSError) as error:
            assert path.name in str(error), repr(error)
            refused += 1
            continue
        # What was read is safe to use: every number is inside the array's own memory.
        assert data.views
        for A in data.views.values():
            dense = A.toarray() if scipy.sparse.issparse(A) else np.asarray(A)
            assert dense.dtype != object
            assert len(dense.tobytes()) == np.prod(dense.shape, dtype=int) * dense.dtype.itemsize
    print(refused)
"""


@pytest.mark.parametrize("name", KINDS)
def test_damaged_files(tmp_path, name):
    """In a process of its own, which the readers of other packages may bring down."""
    pytest.importorskip(NEEDS.get(name, "numpy"))
    path, times = tmp_path / name, 4 if name.endswith("mat") else 30  # each in its own process
    KINDS[name](path)
    times *= 60 if FULL else 1
    refused = int(run_python(DAMAGED, path, times))
    assert refused >= times / 15  # matrices of HDF5 are read by the fit


class Bomb:
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_no_pickle_is_ever_loaded(tmp_path, capsys):
    objects = np.array([Bomb(), Bomb()], dtype=object)
    np.savez(tmp_path / "a.npz", view_0=objects)
    np.savez(tmp_path / "b.npz", view_0=np.eye(3), y=objects)
    np.save(tmp_path / "c.npy", objects)
    (tmp_path / "d.npy").write_bytes(pickle.dumps(Bomb()))
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("view_0.npy", pickle.dumps(Bomb()))
    for path in sorted(tmp_path.iterdir()):
        assert main(["cluster", str(path), "--clusters", "2"]) == 2
        assert path.name in capsys.readouterr().err


def test_a_header_that_promises_more_than_the_file_holds(tmp_path, capsys):
    """A few bytes must not make numpy reserve terabytes."""
    path = tmp_path / "huge.npy"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }"
    header = header.ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    assert main(["cluster", str(path), "--clusters", "2"]) == 2
    assert "huge.npy" in capsys.readouterr().err


# ------------------------------------------------------------------ names


@pytest.mark.parametrize("name", ["$x^$.npy", "a\udcff.npy"])
def test_names_of_files_in_reports_and_pictures(tmp_path, monkeypatch, name):
    if name[0] == "a" and threadpoolctl.__version__ == "3.7.0":
        pytest.skip("this threadpoolctl decodes the names of all mapped files")
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    monkeypatch.chdir(tmp_path)
    try:
        np.save(name, views[0])
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes text alone")
    np.save("b.npy", views[1])
    assert main(f"cluster {name} b.npy --clusters 3 --labels l.csv --report r.html".split()) == 0
    assert {"$": "$x^$.npy", "a": "a\ufffd.npy"}[name[0]] in Path("r.html").read_text("utf-8")


class Active(HTMLParser):
    """What a browser would run or load."""

    def __init__(self, text):
        super().__init__()
        self.found, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag in ("script", "iframe", "object", "embed", "base", "link", "form"):
            self.found.append(tag)
        for name, value in attributes:
            is_inside = (value or "").startswith(("#", "data:image/"))
            loads = name in ("src", "href", "xlink:href") and not is_inside
            if name.startswith("on") or loads:
                self.found.append((tag, name, value))

    def handle_data(self, data):
        self.words.append(data)


PAYLOADS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"' onmouseover='alert(1)",
    "</style><svg onload=alert(1)>",
    "<a href=javascript:alert(1)>",
    "&lt;script&gt;",
]
FORMULAS = ["=1+", "+", "-", "@SUM", '=HYPERLINK("x";"y")', "a,"]  # for a spreadsheet


@pytest.mark.filterwarnings("ignore:the labels agree little")
def test_ids_columns_and_names_of_files_are_written_as_text_alone(tmp_path, monkeypatch):
    """Never as markup; ids also where a spreadsheet takes them for formulas, as documented."""
    views, _ = datasets.make_multiview_subspaces(60, 3, n_features=(6, 6), random_state=0)
    monkeypatch.chdir(tmp_path)
    names = [f"a{PAYLOADS[1]}.csv", f"b{PAYLOADS[2]}.csv"]
    ids = [f"{(PAYLOADS + FORMULAS)[i % 12]}s{i}" for i in range(60)]
    for file, X in zip(names, views, strict=True):
        with open(file, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["id", *PAYLOADS])
            writer.writerows([name, *row] for name, row in zip(ids, X, strict=True))
    outputs = ["--report", "r.html", "--labels", "l.csv"]
    assert main(["cluster", *names, "--clusters", "3", *outputs]) == 0
    page = Active(Path("r.html").read_text(encoding="utf-8"))
    assert page.found == []
    words = " ".join(page.words)
    assert names[0][:-4] in words and names[1][:-4] in words
    with open("l.csv", newline="", encoding="utf-8") as stream:
        assert [row[0] for row in csv.reader(stream)][1:] == ids
