"""One file for each view, labels to compare with, and files that cannot be read."""

import multiprocessing
import re
import sys

import numpy as np
import pytest
import scipy.io
from processes import run_python

from mvsc_fast.datasets import load_mat

RNG = np.random.default_rng(0)
VIEWS = [RNG.standard_normal((7, 3)), RNG.standard_normal((7, 5))]


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("trap.npy", "Object arrays cannot be loaded"),
        ("letters.npy", r"expected a matrix .* <U1 of shape \(2,\)"),
        ("cut.npy", ""),
        ("empty.csv", "is empty"),
        ("header.csv", "no samples"),
        ("ragged.csv", "may be a sample or names"),
        ("notes.doc", "unknown file type"),
        ("nowhere.csv", "No such file"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, read, name, message):
    np.save(tmp_path / "good.npy", VIEWS[0])
    np.save(tmp_path / "trap.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    np.save(tmp_path / "letters.npy", np.array(["a", "b"]))
    (tmp_path / "cut.npy").write_bytes(b"")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "ragged.csv").write_text("1,2\n3,4,5\n")
    (tmp_path / "notes.doc").write_text("1,2")
    with pytest.raises(ValueError, match=rf"^\S*{name}:? .*{message}"):
        read(tmp_path / "good.npy", tmp_path / name)


def test_tables_arrays_and_the_names_of_views(tmp_path, read):
    np.savetxt(tmp_path / "a.csv", VIEWS[0], delimiter=",", header="f,g,h", comments="")
    (tmp_path / "other").mkdir()
    paths = [tmp_path / "a.csv", tmp_path / "b.npy", tmp_path / "other" / "b.npy"]
    for path in paths[1:]:
        np.save(path, VIEWS[1])
    data = read(*paths[:2])
    assert list(data.views) == ["a", "b"]
    for X, expected in zip(data.views.values(), VIEWS, strict=True):
        np.testing.assert_allclose(X, expected)
    assert list(read(*paths).views) == list(map(str, paths))
    (tmp_path / "soft.npy").symlink_to("b.npy")
    for path in (paths[1], tmp_path / "soft.npy"):
        with pytest.raises(ValueError, match="a file is given more than once"):
            read(paths[1], path)


def test_names_of_files_that_are_not_text_become_text(tmp_path, read):
    path = tmp_path / "a\udcff.csv"
    try:
        path.write_text("a,b\n1.5,2\n3,4\n")
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes text alone")
    assert list(read(path).views) == ["a\ufffd"]


# ------------------------------------------------------------------------- labels to compare with


@pytest.fixture
def cross_table(read, tmp_path):
    """A function that compares the single cluster of three samples with a file of labels."""

    def cross_table(text, ids):
        lines = [f"{i},{i + 0.5},{i * i}" for i in range(3)]
        if ids:
            lines = [f"{name},{line}" for name, line in zip(ids, lines, strict=True)]
        header = "id,a,b,c" if ids else "a,b,c"
        (tmp_path / "a.csv").write_text("\n".join([header, *lines]).replace(",0,", ",0.25,"))
        (tmp_path / "known.csv").write_text(text)
        columns = {} if ids else {"columns": "*"}
        data = read(tmp_path / "a.csv", scores=tmp_path / "known.csv", **columns)
        names, counts = [line.split() for line in data.out.splitlines()[-2:]]
        return dict(zip(names, counts[1:], strict=True)), data.notes

    return cross_table


@pytest.mark.parametrize(
    ("text", "ids", "counts"),
    [
        ("who,kind\nr,a\np,b\nz,b\n", ["p", "q", "r"], {"a": "1", "b": "1"}),
        ("who,age,label\nr,30,1\np,40,\nq,50,2\n", ["p", "q", "r"], {"1": "1", "2": "1"}),
        ("MRN,y\n9,1\n7,1\n8,3\n", ["7", "8", "9"], {"1": "2", "3": "1"}),
        ("y\n1\n1\n2\n", None, {"1": "2", "2": "1"}),
        ("sample,cluster\n2,5\n0,6\n", None, {"5": "1", "6": "1"}),
        ("id,y\n1,4\n2,4\n3,5\n", None, {"4": "2", "5": "1"}),  # as R numbers rows
        ("id,y\np,4\nq,4\nr,5\n", None, {"4": "2", "5": "1"}),
    ],
)
def test_labels_are_matched_by_id_or_by_position(cross_table, text, ids, counts):
    found, notes = cross_table(text, ids)
    assert found == counts
    by_position = ids is None and not text.startswith("sample")
    assert any("labels are matched by position" in note for note in notes) == by_position


@pytest.mark.parametrize(
    ("text", "ids", "message"),
    [
        ("who,kind\nx,a\ny,b\nz,b\n", ["p", "q", "r"], "no column of ids such as 'p', 'q'"),
        ("id,kind\n7.0,a\n8.0,b\n9.0,b\n", ["7", "8", "9"], "such as '7', '8', but '7.0', '8.0'"),
        ("who,kind,age\np,a,3\nq,b,3\nr,b,4\n", ["p", "q", "r"], "one column of labels"),
        ("who\np\nq\nr\n", ["p", "q", "r"], "one column of labels"),
        ("y\n1\n2\n", None, "2 labels for 3 samples"),
        ("id,kind\np,a\nq,b\np,b\n", ["p", "q", "r"], "line 4 has the id 'p' of line 2 again"),
        ("id,kind\np,\nq,\nz,b\n", ["p", "q", "r"], "no label of these samples"),
    ],
)
def test_labels_that_cannot_be_matched(cross_table, text, ids, message):
    with pytest.raises(ValueError, match=f"known.csv.*{re.escape(message)}"):
        cross_table(text, ids)


# -------------------------------------------------------------------- processes that read .mat


def _widths(path):
    return [X.shape[1] for X in load_mat(path)[0]]


def _in_daemon(path, queue):
    queue.put(_widths(path))


def test_daemonic_workers_read_matlab_files(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X1": VIEWS[0], "X2": VIEWS[1]})
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    worker = context.Process(target=_in_daemon, args=(tmp_path / "a.mat", queue), daemon=True)
    worker.start()
    assert queue.get(timeout=60) == [3, 5]
    worker.join()


@pytest.mark.parametrize("frozen", [False, True])
def test_scripts_from_the_standard_input_read_matlab_files(tmp_path, frozen):
    scipy.io.savemat(tmp_path / "a.mat", {"X1": VIEWS[0], "X2": VIEWS[1]})
    script = f"""
    import subprocess, sys
    if {frozen}:
        sys.frozen, sys.executable = True, "/nonexistent/application"
    from mvsc_fast.datasets import load_mat
    print([X.shape for X in load_mat(sys.argv[1])[0]])
    """
    assert run_python(script, tmp_path / "a.mat") == "[(7, 3), (7, 5)]\n"


@pytest.mark.parametrize("suffix", [".h5", ".zarr"])
def test_packages_that_are_missing_are_named(tmp_path, monkeypatch, suffix):
    package = {".h5": "h5py", ".zarr": "zarr"}[suffix]
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / f"a{suffix}").write_text("")
    with pytest.raises(ImportError, match=f"needs {package}: pip install {package}$"):
        load_mat(tmp_path / f"a{suffix}")
