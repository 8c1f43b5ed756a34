"""Files of arrays, and what is said of files that cannot be read."""

from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from mvsc_fast.cli._readers import load_data, load_labels

RNG = np.random.default_rng(0)
VIEWS = [RNG.standard_normal((7, 3)), RNG.standard_normal((7, 5))]
Y = np.array([0, 0, 0, 1, 1, 2, 2])


def load_views(paths):
    data = load_data(paths)
    return list(data.views.values()), data.y


def cells(views):
    out = np.empty((len(views), 1), dtype=object)
    out[:, 0] = views
    return out


def assert_views(views, expected=VIEWS):
    assert len(views) == len(expected)
    for X, A in zip(views, expected, strict=True):
        np.testing.assert_allclose(X.toarray() if scipy.sparse.issparse(X) else X, A)


def test_npz_with_and_without_labels(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, view_0=VIEWS[0], view_1=VIEWS[1], y=Y[:, None])
    views, y = load_views([path])
    assert_views(views)
    np.testing.assert_array_equal(y, Y)
    np.savez(path, view_1=VIEWS[1], view_0=VIEWS[0], view_10=VIEWS[0])
    views, y = load_views([path])
    assert_views(views, [VIEWS[0], VIEWS[1], VIEWS[0]])
    assert y is None


@pytest.mark.parametrize(
    ("name", "labels", "transposed"),
    [("X", "Y", True), ("data", "gt", False), ("fea", "truth", True), ("views", None, False)],
)
def test_mat_cell_arrays_in_either_orientation(tmp_path, name, labels, transposed):
    path = tmp_path / "data.mat"
    content = {name: cells([X.T for X in VIEWS] if transposed else VIEWS)}
    if labels:
        content[labels] = Y[:, None]
    scipy.io.savemat(path, content)
    views, y = load_views([path])
    assert_views(views)
    assert (y is None) == (labels is None)


def test_mat_numbered_and_sparse_matrices(tmp_path):
    path = tmp_path / "data.mat"
    scipy.io.savemat(path, {"X1": VIEWS[0], "X2": scipy.sparse.csc_matrix(VIEWS[1]), "gnd": Y})
    views, y = load_views([path])
    assert_views(views)
    np.testing.assert_array_equal(y, Y)


@pytest.mark.parametrize(("labels", "found"), [([[3]], None), ([[3, 4]], [3, 4])])
def test_a_single_number_is_not_the_labels(tmp_path, labels, found):
    path = tmp_path / "data.mat"
    scipy.io.savemat(path, {"X1": np.ones((2, 3)), "s": np.array(labels)})
    _, y = load_views([path])
    assert (y if y is None else y.tolist()) == found


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs Linux")
def test_one_file_per_view(tmp_path):
    with open(tmp_path / "a.csv", "w") as file:
        file.write("first,second,third\n")
        np.savetxt(file, VIEWS[0], delimiter=",")
    np.save(tmp_path / "b.npy", VIEWS[1])
    views, y = load_views([tmp_path / "a.csv", tmp_path / "b.npy"])
    assert_views(views)
    assert y is None


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def _bad_files(tmp_path):
    np.savez(tmp_path / "names.npz", a=1)
    np.savez(tmp_path / "trap.npz", view_0=np.array([Trap()], dtype=object))
    np.save(tmp_path / "trap.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    (tmp_path / "short.npz").write_bytes((tmp_path / "names.npz").read_bytes()[:60])
    (tmp_path / "junk.mat").write_bytes(b"junk" * 40)
    np.savez(tmp_path / "flat.npz", view_0=np.ones(4))
    np.savez(tmp_path / "complex.npz", view_0=np.ones((4, 2), dtype=complex))
    scipy.io.savemat(tmp_path / "names.mat", {"other": 1})
    scipy.io.savemat(tmp_path / "text.mat", {"X": cells([np.array(["a", "b"])])})
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "ragged.csv").write_text("1,2\n3,4,5\n")
    (tmp_path / "words.csv").write_text("1,2\nx,y\n")
    (tmp_path / "notes.doc").write_text("1,2")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("names.npz", "no arrays view_0, view_1, ... .it has a."),
        ("trap.npz", "Object arrays cannot be loaded"),
        ("trap.npy", "Object arrays cannot be loaded"),
        ("short.npz", "short.npz: "),
        ("junk.mat", "junk.mat: "),
        ("names.mat", "the file has other"),
        ("flat.npz", "view_0 is not a matrix of real numbers"),
        ("complex.npz", "view_0 is not a matrix of real numbers"),
        ("text.mat", r"X\[0\] is not a matrix of real numbers"),
        ("empty.csv", "is empty"),
        ("header.csv", "no samples"),
        ("ragged.csv", "may be a sample or names"),
        ("words.csv", "line 2, column 2 .'2'. is 'y', not a number"),
        ("notes.doc", "unknown file type"),
    ],
)
def test_bad_files(tmp_path, name, message):
    _bad_files(tmp_path)
    with pytest.raises(ValueError, match=message) as caught:
        load_views([tmp_path / name])
    assert name in str(caught.value)


def test_a_sparse_matrix_of_many_rows_stays_as_small_as_its_file(tmp_path):
    A = scipy.sparse.csc_array(([1.0], ([2**28], [1])), shape=(2**29, 2))
    scipy.io.savemat(tmp_path / "tall.mat", {"X1": A, "X2": A})
    (X, _), _ = load_views([tmp_path / "tall.mat"])
    assert X.shape == (2**29, 2) and X.nnz == 1 and X[2**28, 1] == 1
    assert X.data.nbytes + X.indices.nbytes + X.indptr.nbytes < 1000


def test_missing_and_mixed_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_views([tmp_path / "nowhere.npz"])
    with pytest.raises(ValueError, match="contains all views"):
        load_views([tmp_path / "a.npz", tmp_path / "b.csv"])
    with pytest.raises(ValueError, match="no file"):
        load_views([])


def test_messages_name_the_file_that_is_damaged(tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.npy"
    good.write_text("a,b\n1,2\n3,4\n")
    bad.write_bytes(b"")
    with pytest.raises(ValueError, match=r"^\S*bad\.npy: "):
        load_views([good, bad])
    np.save(bad, np.array(["a", "b"]))
    with pytest.raises(ValueError, match=r"bad\.npy: expected a matrix .* <U1 of shape \(2,\)"):
        load_views([good, bad])


def test_arrays_on_the_disk_stay_there(tmp_path):
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    X = VIEWS[0]
    np.save(tmp_path / "a.npy", X)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["view_0"], file["y"] = X, Y
    zarr.save(str(tmp_path / "a.zarr"), view_0=X)
    for name in ("a.npy", "a.h5", "a.zarr"):
        (view,) = load_data([tmp_path / name], lazy=True).views.values()
        assert isinstance(view, np.memmap) or not isinstance(view, np.ndarray)
        np.testing.assert_array_equal(view[:], X)
        data = load_data([tmp_path / name])
        np.testing.assert_array_equal(data.views[next(iter(data.views))], X)
        assert (data.y is not None) == (name == "a.h5")


@pytest.mark.parametrize("suffix", [".h5", ".zarr"])
def test_packages_that_are_missing_are_named(tmp_path, monkeypatch, suffix):
    package = {".h5": "h5py", ".zarr": "zarr"}[suffix]
    monkeypatch.setitem(__import__("sys").modules, package, None)
    (tmp_path / f"a{suffix}").write_text("")
    with pytest.raises(ImportError, match=f"needs {package}: pip install {package}$"):
        load_data([tmp_path / f"a{suffix}"])


def test_options_that_would_be_ignored(tmp_path):
    np.savez(tmp_path / "a.npz", view_0=VIEWS[0])
    for options, message in (
        ({"id_column": ["id"]}, "--id-column is for tables"),
        ({"columns": ["a"]}, "--columns is for tables"),
        ({"transpose": ["*"]}, "--transpose is for tables"),
        ({"join": "inner"}, "--join matches several files by ids"),
    ):
        with pytest.raises(ValueError, match=message):
            load_data([tmp_path / "a.npz"], **options)


def test_views_have_names_that_differ(tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", VIEWS[0])
    paths = [tmp_path / "x" / "a.npy", tmp_path / "y" / "a.npy"]
    assert list(load_data(paths).views) == list(map(str, paths))
    with pytest.raises(ValueError, match="a file is given more than once"):
        load_data([paths[0], paths[0]])


def test_one_file_under_two_names_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", VIEWS[0])
    (tmp_path / "soft.npy").symlink_to("a.npy")
    (tmp_path / "hard.npy").hardlink_to(tmp_path / "a.npy")
    for name in ("soft.npy", "hard.npy"):
        with pytest.raises(
            ValueError, match=rf"a.npy and .*{name} are the same file: pass it once"
        ):
            load_data([tmp_path / "a.npy", tmp_path / name])


def test_names_of_files_that_are_not_text_become_text(tmp_path):
    path = tmp_path / "a\udcff.csv"
    try:
        path.write_text("a,b\n1.5,2\n3,4\n")
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system takes text alone")
    assert list(load_data([path]).views) == ["a\ufffd"]


# ------------------------------------------------------------------------- labels to compare with


def labels(folder, text, ids, n=3):
    (folder / "truth.csv").write_text(text)
    y, rows = load_labels(str(folder / "truth.csv"), ids, n)
    return y.tolist(), rows.tolist()


def test_labels_are_matched_by_id(tmp_path):
    ids = np.array(["p", "q", "r"], dtype=object)
    assert labels(tmp_path, "who,kind\nr,a\np,b\nz,b\n", ids) == (["a", "b"], [2, 0])
    assert labels(tmp_path, "who,age,label\nr,30,1\np,40,\nq,50,2\n", ids) == ([1, 2], [2, 1])
    numbers = np.array(["7", "8", "9"], dtype=object)
    assert labels(tmp_path, "MRN,y\n9,1\n7,2\n8,3\n", numbers) == ([1, 2, 3], [2, 0, 1])
    assert labels(tmp_path, "y\n1\n1\n2\n", None) == ([1, 1, 2], [0, 1, 2])


def test_labels_of_ids_in_another_notation_are_refused(tmp_path):
    ids = np.array(["7", "8", "9"], dtype=object)
    with pytest.raises(
        ValueError, match="differ in case, blanks, punctuation or zeros, as '9' and '9.0'"
    ):
        labels(tmp_path, "MRN,y\n9.0,1\n7,2\n8,3\n", ids)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("who,kind\nx,a\ny,b\nz,b\n", "has no column of ids such as 'p', 'q'"),
        ("who,kind,age\np,a,3\nq,b,3\nr,b,4\n", "must have one column of labels besides the ids"),
        ("who\np\nq\nr\n", "must have one column of labels"),
    ],
)
def test_labels_that_cannot_be_matched(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        labels(tmp_path, text, np.array(["p", "q", "r"], dtype=object))
    with pytest.raises(ValueError, match="3 labels for 4 samples"):
        labels(tmp_path, text, None, 4)
