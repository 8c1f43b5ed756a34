"""Files that are damaged, lie about their size or hold code, and names that mean something."""

import csv
import io
import pickle
import warnings
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from conftest import FULL, examples
from hypothesis import given
from hypothesis import strategies as st
from processes import run_python

from mvsc_fast import datasets
from mvsc_fast.cli import main
from mvsc_fast.cli._readers import load_data


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """Valid files of every kind, to be damaged."""
    folder = tmp_path_factory.mktemp("seeds")
    X = np.arange(12.0).reshape(4, 3)
    np.savez(folder / "a.npz", view_0=X, view_1=X[:, :2], y=np.arange(4))
    np.savez_compressed(folder / "b.npz", view_0=X)
    np.save(folder / "c.npy", X)
    np.savetxt(folder / "d.csv", X, delimiter=",", header="a,b,c", comments="")
    cells = np.empty((2, 1), dtype=object)
    cells[:, 0] = [X, X[:, :2]]
    scipy.io.savemat(folder / "e.mat", {"X": cells, "gt": np.arange(4)})
    scipy.io.savemat(folder / "f.mat", {"X1": X, "y": np.arange(4)}, format="4")
    return {path.suffix: [] for path in folder.iterdir()} | {
        suffix: [p.read_bytes() for p in sorted(folder.glob(f"*{suffix}"))]
        for suffix in (".npz", ".npy", ".csv", ".mat")
    }


@st.composite
def damage(draw):
    """What to do to the bytes of a file."""
    cut = draw(st.one_of(st.none(), st.floats(0, 1)))
    flips = draw(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), max_size=4))
    extra = draw(st.binary(max_size=20))
    return cut, flips, extra


def apply_damage(content, cut, flips, extra):
    content = bytearray(content if cut is None else content[: int(cut * len(content))])
    for where, value in flips:
        if content:
            content[min(int(where * len(content)), len(content) - 1)] = value
    return bytes(content) + extra


def read_damaged(content, recipe, path):
    path.write_bytes(apply_damage(content, *recipe))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = load_data([path])
            views, y = list(data.views.values()), data.y
    except (ValueError, OSError) as error:
        assert str(path) in str(error)
    else:
        # What was read is safe to use: every number is inside the array's own memory.
        views = [A if scipy.sparse.issparse(A) else np.asarray(A) for A in views]
        assert len(views) >= 1 and all(A.dtype != object for A in views)
        assert y is None or (y.ndim == 1 and y.dtype != object)
        for A in views:
            dense = A.toarray() if scipy.sparse.issparse(A) else A
            assert len(dense.tobytes()) == np.prod(A.shape, dtype=int) * A.dtype.itemsize


@examples(100)
@given(st.sampled_from([".npz", ".npy", ".csv"]), st.integers(0, 1), damage())
def test_damaged_files(seeds, tmp_path_factory, suffix, which, recipe):
    content = seeds[suffix][which % len(seeds[suffix])]
    read_damaged(content, recipe, tmp_path_factory.getbasetemp() / f"damaged{suffix}")


@examples(4)
@given(st.integers(0, 1), damage())
def test_damaged_matlab_files(seeds, tmp_path_factory, which, recipe):
    """Few, as each is tried in a process of its own."""
    read_damaged(seeds[".mat"][which], recipe, tmp_path_factory.getbasetemp() / "damaged.mat")


def test_a_matlab_file_that_crashes_its_reader(seeds, tmp_path):
    """Found at random: SciPy looks a number type that does not exist up beyond its table."""
    content = bytearray(seeds[".mat"][0])
    assert content[376] == 9  # double precision
    content[376] = 212
    path = tmp_path / "crash.mat"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="crash.mat"):
        load_data([path])


class Bomb:
    """Runs code where it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_no_pickle_is_ever_loaded(tmp_path):
    objects = np.array([Bomb(), Bomb()], dtype=object)
    np.savez(tmp_path / "a.npz", view_0=objects)
    np.savez(tmp_path / "b.npz", view_0=np.eye(3), y=objects)
    np.save(tmp_path / "c.npy", objects)
    (tmp_path / "d.npy").write_bytes(pickle.dumps(Bomb()))
    with zipfile.ZipFile(tmp_path / "e.npz", "w") as archive:
        archive.writestr("view_0.npy", pickle.dumps(Bomb()))
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(ValueError, match=path.name):
            load_data([path])


def test_a_header_that_promises_more_than_the_file_holds(tmp_path):
    """A few bytes must not make numpy reserve terabytes."""
    path = tmp_path / "huge.npy"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }"
    header = header.ljust(117) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(ValueError, match="huge.npy"):
        load_data([path])


DAMAGED = """
    import faulthandler, sys, warnings
    from pathlib import Path
    import numpy as np
    from mvsc_fast.cli._readers import load_data
    faulthandler.enable()
    warnings.simplefilter("ignore")
    path, times = Path(sys.argv[1]), int(sys.argv[2])
    content, rng, refused = path.read_bytes(), np.random.default_rng(0), 0
    load_data([path])
    for _ in range(times):
        damaged = bytearray(content[: rng.choice([None, rng.integers(len(content))])])
        for _ in range(rng.integers(4)):
            # Half of the damage is to headers.
            places = rng.choice([len(damaged), min(len(damaged), 512)])
            if places:
                damaged[rng.integers(places)] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            views = list(load_data([path]).views.values())
            assert all(np.asarray(X).dtype != object for X in views)
        except (ValueError, OSError) as error:
            assert path.name in str(error), repr(error)
            refused += 1
    print(refused)
"""


@pytest.mark.parametrize("suffix", [".h5", ".parquet", ".xlsx"])
def test_damaged_files_of_other_packages(tmp_path, suffix):
    """In a process of its own, which their readers may bring down."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    path, X = tmp_path / f"a{suffix}", np.arange(12.0).reshape(4, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    if suffix == ".h5":
        h5py = pytest.importorskip("h5py", reason="h5py is not installed")
        with h5py.File(path, "w") as file:
            file["view_0"], file["y"] = X, np.arange(4)
    elif suffix == ".parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        frame.to_parquet(path)
    else:
        pytest.importorskip("openpyxl", reason="openpyxl is not installed")
        frame.to_excel(path, index=False)
    times = 1000 if FULL else 15
    assert int(run_python(DAMAGED, path, times)) > times / 4


# ------------------------------------------------------------------ names


@pytest.mark.parametrize("name", ["$x^$.npy", "a\udcff.npy"])
def test_names_of_files_in_reports_and_pictures(tmp_path, monkeypatch, name):
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    monkeypatch.chdir(tmp_path)
    try:
        with open(name, "wb") as stream:
            np.save(stream, views[0])
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes text alone")
    np.save("b.npy", views[1])
    assert (
        main(
            ["cluster", name, "b.npy", "--clusters", "3", "--labels", "l.csv", "--report", "r.html"]
        )
        == 0
    )
    page = Path("r.html").read_text(encoding="utf-8")
    assert {"$": "$x^$.npy", "a": "a\ufffd.npy"}[name[0]] in page


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
            loads = name in ("src", "href", "xlink:href") and not (value or "").startswith(
                ("#", "data:image/")
            )
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


@pytest.mark.filterwarnings("ignore:the labels agree little")
def test_names_are_never_markup_in_a_report(tmp_path, monkeypatch):
    """As ids, columns and names of files."""
    views, _ = datasets.make_multiview_subspaces(60, 3, n_features=(6, 6), random_state=0)
    monkeypatch.chdir(tmp_path)
    names = [f"a{PAYLOADS[1]}.csv", f"b{PAYLOADS[2]}.csv"]
    for name, X in zip(names, views, strict=True):
        with open(name, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(["id", *PAYLOADS])
            writer.writerows([f"{PAYLOADS[i % 6]}{i}", *row] for i, row in enumerate(X))
    outputs = ["--report", "r.html", "--labels", "l.csv"]
    assert main(["cluster", *names, "--clusters", "3", *outputs]) == 0
    page = Active(Path("r.html").read_text(encoding="utf-8"))
    assert page.found == []
    words = " ".join(page.words)
    assert names[0][:-4] in words and names[1][:-4] in words


def test_ids_are_written_as_they_were_read(tmp_path, capsys):
    """Also those that a spreadsheet takes for formulas, as the documentation says."""
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    kinds = ["=1+{}", "+{}", "-{}", "@SUM({})", '=HYPERLINK("x";"{}")', "a,{}"]
    ids = [kinds[i % 6].format(f"s{i}") for i in range(60)]
    with open(tmp_path / "a.csv", "w", newline="") as stream:
        csv.writer(stream).writerows(
            [
                ["id", *range(views[0].shape[1])],
                *([i, *x] for i, x in zip(ids, views[0], strict=True)),
            ]
        )
    assert main(["cluster", str(tmp_path / "a.csv"), "--clusters", "3"]) == 0
    found = [row[0] for row in csv.reader(io.StringIO(capsys.readouterr().out))]
    assert found[1:] == ids
