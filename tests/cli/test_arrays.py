"""Files of arrays: which variables are views and labels, and which axis has the samples."""

import io
import multiprocessing
import sys

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from processes import run_python

from mvsc_fast.cli import main
from mvsc_fast.datasets import load_mat

RNG = np.random.default_rng(0)
N = 60
Y = RNG.permutation(np.repeat([1, 2, 3], 20))
ONE_HOT = (Y[:, None] == [1, 2, 3]).astype(float)
TEXT = np.array(["red", "green", "blue"])[Y - 1]
A, B, C = (RNG.standard_normal((N, d)).round(3) for d in (24, 24, 40))
KERNELS = [X @ X.T for X in (A, C)]
STOP = "stop"


def cell(*entries):
    """A cell array of MATLAB."""
    cells = np.empty((1, len(entries)), dtype=object)
    cells[0] = list(entries)
    return cells


NAN = A.copy()
NAN[::4] = np.nan
sparse = scipy.sparse.csc_matrix
COUNTS = [RNG.poisson(0.3, (N, d)) for d in (24, 24)]
SPARSE_COUNTS = [sparse(X.T.astype(float)) for X in COUNTS]
TURNED, CHARACTERS = cell(A.T, B.T), np.char.ljust(TEXT, 5)
# Name: variables, views that are expected in rows, and labels; or STOP.
SHAPES = {
    "cell of rows": ({"X": cell(A, C), "gt": Y[:, None]}, [A, C], Y),
    "cell of columns": ({"X": cell(A.T, C.T), "Y": Y[:, None]}, [A, C], Y),
    "equal heights, no labels": ({"data": TURNED}, STOP, None),
    "equal heights": ({"data": TURNED, "gnd": Y[None]}, [A, B], Y),
    "equal heights, one-hot": ({"X": TURNED, "Y": ONE_HOT}, [A, B], Y - 1),
    "sparse one-hot": ({"fea": TURNED, "label": sparse(ONE_HOT)}, [A, B], Y - 1),
    "matrix of characters": ({"X": TURNED, "gt": CHARACTERS}, [A, B], CHARACTERS),
    "true_label": ({"X": cell(A, B), "True_Label": Y[:, None]}, [A, B], Y),
    "labels of any name": ({"X": cell(A.T, C.T), "kategorie": Y[None]}, [A, C], None),
    "equal heights, vector of any name": ({"X": TURNED, "kategorie": Y[None]}, STOP, None),
    "groups of features": ({"X": cell(A, B), "group": np.repeat([1, 2], 12)}, STOP, None),
    "names of classes": ({"X": A[:, :3], "classes": cell("red", "green", "blue")}, STOP, None),
    "X1, X2 of columns, no labels": ({"X1": A.T, "X2": C.T}, [A, C], None),
    "parts of a data set": ({"X_train": A, "X_test": B, "y_train": Y, "y_test": Y}, STOP, None),
    "matrix of several labels": ({"fac": A, "fou": C, "Y": ONE_HOT + ONE_HOT[::-1]}, STOP, None),
    "X and Y of measurements": ({"X": A, "Y": C}, STOP, None),
    "indices beside names of features": (
        {"fac": A, "fou": C, "ind": np.tile([0, 1], (N, 1)), "gt": Y},
        [A, C],
        Y,
    ),
    "numbered matrices of two kinds": ({"X1": A, "X2": C, "V1": A, "V2": C}, STOP, None),
    "images": ({"images": RNG.standard_normal((N, 8, 8)), "y": Y}, "no matrices", None),
    "unlike labels of the same samples": ({"X": TURNED, "label": Y, "class": Y % 2}, [A, B], None),
    "labels of several raters": ({"X": cell(A, C), "gt": cell(Y, np.roll(Y, 1))}, [A, C], None),
    "one matrix, no labels": ({"fea": A}, STOP, None),
    "X1, X2 of columns": ({"X1": A.T, "X2": C.T, "s": Y[:, None]}, [A, C], Y),
    "names of features, columns": ({"fac": A.T, "fou": B.T, "y": Y[:, None]}, [A, B], Y),
    "struct": ({"dataset": {"views": TURNED, "labels": Y[None]}}, [A, B], Y),
    "array of structs": (
        {"S": np.array([[(A.T,), (B.T,)]], dtype=[("data", object)]), "gt": Y[None]},
        [A, B],
        Y,
    ),
    "nested cell": ({"X": cell(TURNED), "gt": Y[None]}, [A, B], Y),
    "cell of another name": ({"feature_cell": TURNED, "gt": Y[None]}, [A, B], Y),
    "two cells": ({"train": cell(A, C), "test": cell(A, C), "gt": Y}, STOP, None),
    "missing rows, an index, a cell of labels": (
        {"X": cell(NAN.T, B.T), "index": cell(np.arange(45)[None]), "Y": cell(Y[None], Y[None])},
        [NAN, B],
        Y,
    ),
    "sparse counts": ({"X": cell(*SPARSE_COUNTS), "gt": Y}, COUNTS, Y),
    "names of columns": ({"X": TURNED, "names": cell(*map(str, range(24)))}, STOP, None),
    "stack of similarities": ({"A": np.stack(KERNELS, axis=2), "gt": Y}, KERNELS, Y),
    "cell of similarities": ({"W": cell(*KERNELS), "gt": Y}, KERNELS, Y),
    "similarities beside views": ({"fou": A, "W": KERNELS[0], "gt": Y}, STOP, None),
    "a matrix beside X": ({"X": A, "Z": C, "gt": Y}, STOP, None),
    "both orientations": ({"X": cell(A, C.T), "gt": Y}, STOP, None),
    "labels of other samples": ({"X": cell(A, C), "gt": Y[:50]}, STOP, None),
    "a cell beside a numbered matrix": ({"X1": A, "parts": cell(A, C), "gt": Y}, STOP, None),
    "a label in each cell": ({"X": TURNED, "gt": cell(*Y.tolist())}, [A, B], Y),
    "a stack in which slices come first": ({"A": np.stack(KERNELS), "gt": Y}, KERNELS, Y),
}


def assert_shape(capsys, path, shape):
    """Read a file, or be told which option decides."""
    _, views, labels = SHAPES[shape]
    if isinstance(views, str):
        remedy = "(--views|--transpose)" if views is STOP else views
        with pytest.raises(ValueError, match=remedy):
            load_mat(path)
    else:
        assert_read(capsys, path, views, labels)


def assert_read(capsys, path, views, labels):
    found, y = load_mat(path, verbose=1)
    assert len(found) == len(views)
    for X, expected in zip(found, views, strict=True):
        np.testing.assert_allclose(X.toarray() if scipy.sparse.issparse(X) else X, expected)
    assert (y is None) == (labels is None)
    if labels is not None:
        np.testing.assert_array_equal(y, labels)
    assert f"{len(views[0])} samples are" in capsys.readouterr().out


@pytest.mark.parametrize("shape", SHAPES)
def test_matlab_files_as_they_are_published(tmp_path, capsys, shape):
    scipy.io.savemat(tmp_path / "a.mat", SHAPES[shape][0])
    assert_shape(capsys, tmp_path / "a.mat", shape)


# ------------------------------------------------------------------------------- other formats


def write_hdf5(group, name, value):
    """Write a variable as MATLAB 7.3 does: axes in reverse, cells as references."""
    import h5py

    if isinstance(value, dict):
        struct = group.create_group(name)
        for field, part in value.items():
            write_hdf5(struct, field, part)
        return
    if scipy.sparse.issparse(value):
        matrix = group.create_group(name)
        matrix.attrs["MATLAB_sparse"] = np.uint64(value.shape[0])
        for part, array in (("data", value.data), ("ir", value.indices), ("jc", value.indptr)):
            matrix[part] = array
        return
    if value.dtype == object:
        references = np.empty(value.T.shape, dtype=h5py.ref_dtype)
        for place, entry in np.ndenumerate(value.T):
            hidden = f"#refs#/{len(group.file['#refs#'])}"
            is_plain = not scipy.sparse.issparse(entry)
            write_hdf5(group.file, hidden, np.atleast_1d(entry) if is_plain else entry)
            references[place] = group.file[hidden].ref
        group.create_dataset(name, data=references, dtype=h5py.ref_dtype)
        group[name].attrs["MATLAB_class"] = np.bytes_("cell")
    elif value.dtype.kind == "U":
        group[name] = np.array([[ord(letter)] for letter in value[0]], dtype=np.uint16)
        group[name].attrs["MATLAB_class"] = np.bytes_("char")
    else:
        group[name] = np.atleast_2d(value).T
        group[name].attrs["MATLAB_class"] = np.bytes_("double")


# Forms that the function above does not write.
OTHERS = {
    "array of structs",
    "nested cell",
    "matrix of characters",
    "stack of similarities",
    "a stack in which slices come first",
}


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape not in OTHERS])
def test_matlab_7_3(tmp_path, capsys, shape):
    h5py = pytest.importorskip("h5py", reason="pip install mvsc-fast[files]")
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file.create_group("#refs#")
        for name, value in SHAPES[shape][0].items():
            write_hdf5(file, name, value)
    with open(tmp_path / "a.mat", "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    assert_shape(capsys, tmp_path / "a.mat", shape)


def test_a_sparse_matrix_of_zeros_has_no_entries_in_matlab_7_3(tmp_path):
    h5py = pytest.importorskip("h5py", reason="pip install mvsc-fast[files]")
    with h5py.File(tmp_path / "a.mat", "w") as file:
        write_hdf5(file, "X1", A)
        group = file.create_group("X2")
        group.attrs["MATLAB_sparse"], group["jc"] = np.uint64(N), np.zeros(41, np.uint64)
    dense, zeros = load_mat(tmp_path / "a.mat")[0]
    np.testing.assert_array_equal(dense, A)
    assert zeros.shape == (N, 40) and zeros.nnz == 0


def test_a_large_sparse_matrix_is_no_label_matrix(tmp_path):
    large = scipy.sparse.eye(10**6, format="csc")
    scipy.io.savemat(tmp_path / "a.mat", {"X1": A, "X2": B, "graph": large, "gt": Y})
    views, labels = load_mat(tmp_path / "a.mat", views=["X1", "X2"])
    np.testing.assert_array_equal(labels, Y)
    np.testing.assert_array_equal(views[0], A)


def test_the_last_of_two_variables_of_one_name_is_read(tmp_path):
    first, last = io.BytesIO(), io.BytesIO()
    scipy.io.savemat(first, {"X1": B, "X2": C})
    scipy.io.savemat(last, {"X1": A})
    path = tmp_path / "a.mat"
    path.write_bytes(first.getvalue() + last.getvalue()[128:])  # without its header
    np.testing.assert_array_equal(load_mat(path, transpose=False)[0][0], A)


def test_numpy_files(tmp_path, capsys):
    path = tmp_path / "a.npz"
    np.savez(path, view_0=A, view_1=B, y=Y[:, None])
    views, y = load_mat(path, verbose=1)
    assert capsys.readouterr().out == "" and len(views) == 2
    np.testing.assert_array_equal(y, Y)
    np.savez(path, view_1=B, view_0=A, view_10=C)
    assert [X.shape[1] for X in load_mat(path)[0]] == [24, 24, 40]
    for variables in (
        {"rna": A, "prot": C, "labels": Y},
        {"rna": A.T, "prot": C.T, "cell_type": TEXT},
    ):
        np.savez(path, **variables)
        assert_read(capsys, path, [A, C], list(variables.values())[2])
    np.savez(path, image=np.ones((N, 8, 8)), text=A, labels=Y)
    load_mat(path, verbose=1)
    assert "not read: image (60 x 8 x 8)" in capsys.readouterr().out
    scipy.sparse.save_npz(path, scipy.sparse.csr_array(COUNTS[0]))
    (X,) = load_mat(path)[0]
    np.testing.assert_array_equal(X.toarray(), COUNTS[0])


@pytest.mark.filterwarnings("ignore:the labels agree little")
@pytest.mark.parametrize("suffix", [".h5", ".hdf5", ".zarr"])
def test_stores(tmp_path, capsys, set_memory, fitted_views, suffix):
    why = "pip install mvsc-fast[files]"
    package = pytest.importorskip("zarr" if suffix == ".zarr" else "h5py", reason=why)
    path, arrays = tmp_path / f"a{suffix}", {"fac_9": A, "fac_10": C, "label": Y}
    if suffix == ".zarr":
        package.save_group(str(path), **arrays)
        package.save(str(tmp_path / "one.zarr"), A)
        np.testing.assert_array_equal(load_mat(tmp_path / "one.zarr")[0][0], A)
    else:
        with package.File(path, "w") as file:
            for name, array in arrays.items():
                file[f"omics/{name}"] = array
    assert_read(capsys, path, [A, C], Y)
    # Stores stay on disk if they do not fit in memory twice, also folders.
    set_memory(2 * A.nbytes)
    assert main(["cluster", str(path), "--clusters", "3"]) == 0
    assert not any(isinstance(view, np.ndarray) for view in fitted_views[-1].values())


# ------------------------------------------------------------------------------------ options


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files with three groups: rows.mat says nothing of its axes, many.mat has two cells."""
    monkeypatch.chdir(tmp_path)
    means = 6 * np.eye(24)[Y]
    views = [(X + means).T for X in (A, B)]
    scipy.io.savemat("columns.mat", {"x1": views[0], "x2": views[1]})
    scipy.io.savemat("rows.mat", {"x1": views[0].T, "x2": views[1].T})
    truth = {"fine": Y, "coarse": np.minimum(Y, 2), "kind": cell(*TEXT)}
    scipy.io.savemat("many.mat", {"train": cell(*views), "other": cell(*views), **truth})
    return tmp_path


def cluster(*arguments):
    code = main(["cluster", *arguments, "--clusters", "3", "--labels", "labels.csv"])
    assert code == 0
    return np.loadtxt("labels.csv", delimiter=",", skiprows=1, dtype=int)[:, 1]


def test_options_decide_what_the_file_does_not(folder, capsys):
    expected = cluster("columns.mat", "--transpose")
    assert "columns.mat: 60 samples are columns; views x1, x2; no labels" in capsys.readouterr().err
    assert (cluster("rows.mat", "--transpose", "none") == expected).all()
    assert "60 samples are rows" in capsys.readouterr().err
    assert (cluster("many.mat", "--views", "train", "--scores", "kind") == expected).all()
    out, err = capsys.readouterr()
    assert "labels kind; not read: other (2 cells of 24 x 60)" in err
    assert float(out.splitlines()[1].split()[1]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["columns.mat"], "--transpose if columns are samples, or --transpose none if rows are"),
        (["many.mat", "--views", "train"], "no labels decide: name labels with --scores NAME,"),
        (["many.mat"], "could all be views: name those of the same samples, such as"),
        (["many.mat", "--views", "trian"], "no variable 'trian': the file has train (2 cells"),
        (["many.mat", "--views", "kind"], "kind (60 cells of 1) is not a matrix of real numbers"),
        (["many.mat", "--views", "train", "--scores", "class"], "'class' has no labels"),
        (["rows.mat", "--views", "x1", "--scores", "x2"], "'x2' has no labels"),
        (["columns.mat", "--transpose", "--scores"], "no labels, or several that differ"),
        (
            ["many.mat", "--views", "train", "--transpose", "--scores"],
            "--scores NAME",
        ),
        (["a.csv", "--views", "x"], "--views is for .npz, .mat"),
        (["rows.mat", "a.csv"], "rows.mat contains all views"),
        (["rows.mat", "--columns", "a"], "--columns is for tables"),
        (["rows.mat", "--id-column", "a"], "--id-column is for tables"),
        (["rows.mat", "--decimal", ","], "--decimal is for tables"),
        (["rows.mat", "--no-header"], "--no-header is for tables"),
        (["rows.mat", "--join", "inner"], "--join matches several files by ids"),
        (["nowhere.mat"], "nowhere.mat: No such file"),
        (["names.npz"], "a column for each sample: the file has a (no array)"),
        (["trap.npz"], "Object arrays cannot be loaded"),
        (["short.npz"], "short.npz: it is damaged"),
        (["flat.npz"], "view_0 (4) is not a matrix of real numbers"),
        (["complex.npz"], "view_0 (4 x 2) is not a matrix of real numbers"),
        (["text.mat"], "a column for each sample: the file has X (1 cell of 2)"),
        (["junk.mat"], "junk.mat: "),
        (["octave.mat"], "octave.mat: its format is one of Octave: save it with save('-v7'"),
        (["zipped.mat"], "save it with save('-v7'"),
        (["octave5.mat"], "save it with save('-v7'"),
        (["frames.h5"], "data frames of pandas: write them with frame.to_parquet"),
    ],
)
def test_what_cannot_be_read_is_one_line(folder, refused, arguments, message):
    h5py = pytest.importorskip("h5py", reason="pip install mvsc-fast[files]")
    np.savetxt("a.csv", A, delimiter=",")
    np.savez("names.npz", a=1)
    np.savez("trap.npz", view_0=np.array([print], dtype=object))
    np.savez("flat.npz", view_0=np.ones(4))
    np.savez("complex.npz", view_0=np.ones((4, 2), dtype=complex))
    (folder / "short.npz").write_bytes((folder / "names.npz").read_bytes()[:60])
    (folder / "junk.mat").write_bytes(b"junk" * 200)
    scipy.io.savemat("text.mat", {"X": cell(np.array(["a", "b"]))})
    (folder / "octave.mat").write_text("# Created by Octave 8.4.0\n# name: X\n")
    (folder / "zipped.mat").write_bytes(b"\x1f\x8b\x08 and more")
    for name, group, attribute in (
        ("octave5.mat", "X", "OCTAVE_NEW_FORMAT"),
        ("frames.h5", "a", "pandas_type"),
    ):
        with h5py.File(name, "w") as file:
            file.create_group(group).attrs[attribute] = 1
    lines = refused("cluster", *arguments, "--clusters", "3").splitlines()
    assert message in lines[-1] and len(lines[-1]) < 300
    assert all("samples are" in line for line in lines[:-1])


def test_objects_that_are_not_needed_do_not_stop(tmp_path):
    names = np.array(["a", None], dtype=object)
    np.savez(tmp_path / "a.npz", rna=A, prot=C, names=names, y=Y)
    with pytest.raises(ValueError, match="names: Object arrays .* --views and --scores"):
        load_mat(tmp_path / "a.npz")
    views, y = load_mat(tmp_path / "a.npz", views=["rna", "prot"], truth="y")
    assert [X.shape[1] for X in views] == [24, 40] and (y == Y).all()


def predicted(*arguments):
    assert main(["predict", "model.pkl", *arguments, "--labels", "new.csv"]) == 0
    return np.loadtxt("new.csv", delimiter=",", skiprows=1, dtype=int)[:, 1]


def test_a_saved_model_reads_its_views_by_name(folder, capsys, refused):
    rna, prot = (scipy.io.loadmat("rows.mat")[name] for name in ("x1", "x2"))
    np.savez("fit.npz", rna=rna, prot=prot, gt=Y)
    expected = cluster("fit.npz", "--save", "model.pkl")
    labels = predicted("fit.npz")
    assert (labels == expected).mean() > 0.95
    np.savez("new.npz", other=rna.T, prot=prot.T, rna=rna.T)
    assert (predicted("new.npz") == labels).all()
    assert "not read: other (24 x 60)" in capsys.readouterr().err
    np.savez("less.npz", rna=rna)
    assert (predicted("less.npz") == predicted("rna=fit.npz")).all()
    assert "prot is not given" in capsys.readouterr().err
    np.savez("narrow.npz", rna=rna[:, :9], prot=prot, gt=Y)
    message = refused("predict", "model.pkl", "new.npz", "--views", "other,prot")
    assert "has the views 'other', 'prot', but the model has 'rna', 'prot'" in message
    message = refused("predict", "model.pkl", "narrow.npz")
    assert "narrow.npz has 9 features, but view 'rna' of the model has 24" in message


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_matrices_of_anndata(tmp_path, form):
    h5py = pytest.importorskip("h5py", reason="pip install mvsc-fast[files]")
    matrices = {"rna": scipy.sparse.csr_matrix(COUNTS[0]).asformat(form), "prot": C}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        group = file.create_group("rna")
        group.attrs["encoding-type"], group.attrs["shape"] = f"{form}_matrix", (N, 24)
        for name in ("data", "indices", "indptr"):
            group[name] = getattr(matrices["rna"], name)
        file["prot"] = C
    prot, rna = load_mat(tmp_path / "a.h5")[0]
    np.testing.assert_array_equal(rna.toarray(), COUNTS[0])
    np.testing.assert_array_equal(prot, C)


def test_a_sparse_matrix_of_many_rows_stays_as_small_as_its_file(tmp_path):
    tall = scipy.sparse.csc_array(([1.0], ([2**28], [1])), shape=(2**29, 2))
    scipy.io.savemat(tmp_path / "tall.mat", {"X1": tall, "X2": tall})
    X = load_mat(tmp_path / "tall.mat", transpose=False)[0][0]
    assert X.shape == (2**29, 2) and X.nnz == 1 and X[2**28, 1] == 1
    assert X.data.nbytes + X.indices.nbytes + X.indptr.nbytes < 1000


# -------------------------------------------------------------------- processes that read .mat


def _widths(path):
    return [X.shape[1] for X in load_mat(path)[0]]


def _in_daemon(path, queue):
    queue.put(_widths(path))


def test_daemonic_workers_read_matlab_files(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X1": A, "X2": C})
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    worker = context.Process(target=_in_daemon, args=(tmp_path / "a.mat", queue), daemon=True)
    worker.start()
    assert queue.get(timeout=600) == [24, 40]
    worker.join()


@pytest.mark.parametrize("frozen", [False, True])
def test_scripts_from_the_standard_input_read_matlab_files(tmp_path, frozen):
    scipy.io.savemat(tmp_path / "a.mat", {"X1": A, "X2": C})
    script = f"""
    import subprocess, sys
    if {frozen}:
        sys.frozen, sys.executable = True, "/nonexistent/application"
    from mvsc_fast.datasets import load_mat
    print([X.shape for X in load_mat(sys.argv[1])[0]])
    """
    assert run_python(script, tmp_path / "a.mat") == "[(60, 24), (60, 40)]\n"


@pytest.mark.parametrize("suffix", [".h5", ".zarr"])
def test_packages_that_are_missing_are_named(tmp_path, monkeypatch, suffix):
    package = {".h5": "h5py", ".zarr": "zarr"}[suffix]
    monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / f"a{suffix}").write_text("")
    with pytest.raises(ImportError, match=f"needs {package}: pip install {package}$"):
        load_mat(tmp_path / f"a{suffix}")


@pytest.mark.parametrize("suffix", [".h5", ".npz", ".mat", ".zarr"])
def test_damaged_files_are_bad_values(tmp_path, suffix):
    package = {".h5": "h5py", ".zarr": "zarr"}.get(suffix, "numpy")
    pytest.importorskip(package)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"junk" * 40)
    with pytest.raises(ValueError, match=r"\w"):
        load_mat(path)
