"""Files of arrays: variables are views by their names."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from mvsc_fast.cli import main
from mvsc_fast.datasets import load_mat

RNG = np.random.default_rng(0)
Y = RNG.permutation(np.repeat([1, 2, 3], 20))
TEXT = np.array(["red", "green", "blue"])[Y - 1]
A, B = (6 * np.eye(3, d)[Y - 1] + RNG.standard_normal((60, d)).round(3) for d in (24, 40))


def cell(*entries):
    """A cell array of MATLAB."""
    cells = np.empty((1, len(entries)), dtype=object)
    cells[0] = list(entries)
    return cells


def assert_read(path, expected_views, y, **options):
    found, labels = load_mat(path, **options)
    for X, expected in zip(found, expected_views, strict=True):
        np.testing.assert_allclose(X.toarray() if scipy.sparse.issparse(X) else X, expected)
    assert labels is None if y is None else labels.tolist() == y.tolist()


COUNTS = scipy.sparse.csc_matrix(RNG.poisson(0.3, (60, 24)).astype(float))
SHAPES = {
    "documented names": ({"view_1": B, "view_0": A, "y": Y[:, None]}, {"truth": "y"}, [A, B], Y),
    "the only cell array": ({"X": cell(A, B), "Y": Y[:, None]}, {"truth": "Y"}, [A, B], Y),
    "columns": ({"X": cell(A.T, B.T)}, {"transpose": True}, [A, B], None),
    "names": ({"rna": A, "dna": B, "c": TEXT}, {"views": ["dna", "rna"]}, [B, A], None),
    "cells of labels": (
        {"X": cell(A), "k": cell(*TEXT)},
        {"views": ["X"], "truth": "k"},
        [A],
        TEXT,
    ),
    "struct": ({"data": {"X": A, "gt": Y}}, {"views": ["data.X"], "truth": "data.gt"}, [A], Y),
    "sparse": ({"X": cell(COUNTS, A)}, {}, [COUNTS.toarray(), A], None),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_matlab_files(tmp_path, shape):
    variables, options, views, y = SHAPES[shape]
    scipy.io.savemat(tmp_path / "a.mat", variables)
    assert_read(tmp_path / "a.mat", views, y, **options)


def test_matlab_7_3(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["#refs#/a"], file["#refs#/b"] = A.T, B.T
        for name in ("#refs#/a", "#refs#/b"):
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
        references = [[file["#refs#/a"].ref], [file["#refs#/b"].ref]]
        file.create_dataset("X", data=references, dtype=h5py.ref_dtype)
        file["X"].attrs["MATLAB_class"] = np.bytes_("cell")
        file["Y"] = Y[None].astype(float)
        file["Y"].attrs["MATLAB_class"] = np.bytes_("double")
        file["#refs#/c"] = np.frombuffer(b"red", dtype=np.uint8)[:, None]
        file["#refs#/c"].attrs["MATLAB_class"] = np.bytes_("char")
        file.create_dataset("names", data=[[file["#refs#/c"].ref]] * 60, dtype=h5py.ref_dtype)
        file["names"].attrs["MATLAB_class"] = np.bytes_("cell")
        group = file.create_group("S")
        group.attrs["MATLAB_sparse"] = 60
        for name, part in (("data", "data"), ("ir", "indices"), ("jc", "indptr")):
            group[name] = getattr(COUNTS, part)
    content = path.read_bytes()
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + content[128:])
    assert_read(path, [A, B], Y, truth="Y")
    assert_read(path, [A, B], np.array(["red"] * 60), truth="names")
    assert_read(path, [COUNTS.toarray()], None, views=["S"])
    path.write_bytes(b"# Created by Octave 8.4.0\n# name: X\n".ljust(200))
    with pytest.raises(ValueError, match="-v7"):
        load_mat(path)
    with pytest.raises(ValueError, match="zip"):  # rather than the advice to load a pickle
        load_mat(path.rename(tmp_path / "a.npz"))


@pytest.mark.parametrize("suffix", [".npz", ".h5", ".hdf5", ".zarr"])
def test_stores(tmp_path, read, suffix):
    path, arrays = tmp_path / f"a{suffix}", {"view_0": A, "view_1": B, "kind": Y}
    if suffix == ".npz":
        np.savez(path, **arrays)
    elif suffix == ".zarr":
        pytest.importorskip("zarr").save_group(str(path), **arrays)
    else:
        with pytest.importorskip("h5py").File(path, "w") as file:
            for name, array in arrays.items():
                file[name] = array
    assert_read(path, [A, B], Y, truth="kind")
    assert_read(path, [A], None, views=["view_0"])
    assert isinstance(*read(path, views="view_0").views.values(), np.ndarray) == (suffix == ".npz")


def test_the_command_line_transposes(tmp_path, read):
    np.save(tmp_path / "a.npy", A.T)
    np.savez(tmp_path / "a.npz", view_0=A.T)
    for name in ("a.npy", "a.npz"):
        np.testing.assert_array_equal(*read(tmp_path / name, transpose=None).views.values(), A)


def test_a_sparse_matrix_of_scipy(tmp_path):
    scipy.sparse.save_npz(tmp_path / "a.npz", COUNTS.tocsr())
    assert_read(tmp_path / "a.npz", [COUNTS.toarray()], None)


@pytest.mark.parametrize(
    ("variables", "options", "message"),
    [
        ({"a": A, "b": B}, {}, r"which variables are views\?.*the file has a .60 x 24., b .60 x"),
        ({"X": cell(A), "Z": cell(B)}, {}, r"which variables .* X .1 cell of 60 x 24., Z"),
        ({"a": A}, {"views": ["b"]}, "no variable 'b': the file has a"),
        ({"view_0": A, "view_1": B.T}, {}, "view_0 .60 x 24., view_1 .40 x 60.: .*--transpose"),
        ({"view_0": A * 1j}, {}, "view_0 is no matrix of numbers"),
        ({"X": cell()}, {"views": ["X"]}, "the views are empty: the file has X .empty."),
        ({"view_0": A, "y": Y[:9]}, {"truth": "y"}, "y has no label for each of 60 samples"),
        ({"view_0": A}, {"truth": "k"}, "no variable 'k'"),
    ],
)
def test_what_is_not_clear_lists_the_variables(tmp_path, variables, options, message):
    scipy.io.savemat(tmp_path / "a.mat", variables)
    with pytest.raises(ValueError, match=message):
        load_mat(tmp_path / "a.mat", **options)


def test_the_command_line_reads_and_compares_by_name(tmp_path, capsys, refused):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"rna": A, "dna": B, "kind": Y, "Z": A})
    words = ["cluster", str(path), "--views", "rna,dna", "--clusters", "3"]
    labels = ["--labels", str(tmp_path / "l.csv"), "--save", str(tmp_path / "m.mvsc")]
    assert main([*words, *labels, "--scores", "kind"]) == 0
    out, err = capsys.readouterr()
    assert f"{path}: view rna has 60 samples, 24 features" in err
    assert float(out.splitlines()[1].split()[1]) == 1
    assert main(["predict", str(tmp_path / "m.mvsc"), str(path)]) == 0
    assert capsys.readouterr().out == (tmp_path / "l.csv").read_text()
    assert "a.mat: which variables are views?" in refused("cluster", path, "--clusters", 3)
    assert "no variable 'absent'" in refused(*words, "--scores", "absent")
    for option, value in (("--columns", "a"), ("--sep", ";"), ("--join", "inner")):
        assert f"{option} has no use for {path}" in refused(*words, option, value)
    np.save(tmp_path / "b.npy", A)
    message = refused("cluster", path, tmp_path / "b.npy", "--clusters", 3)
    assert "a.mat has all views: give only this file" in message
