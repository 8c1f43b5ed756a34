"""One file for each view, and what is said of files that cannot be read."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast.cli._labels import load_labels
from mvsc_fast.cli._readers import load_data

RNG = np.random.default_rng(0)
VIEWS = [RNG.standard_normal((7, 3)), RNG.standard_normal((7, 5))]
Y = np.array([0, 0, 0, 1, 1, 2, 2])


def load_views(paths):
    data = load_data(paths)
    return list(data.views.values()), data.y


def assert_views(views, expected=VIEWS):
    assert len(views) == len(expected)
    for X, A in zip(views, expected, strict=True):
        np.testing.assert_allclose(X.toarray() if scipy.sparse.issparse(X) else X, A)


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
    np.save(tmp_path / "trap.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "ragged.csv").write_text("1,2\n3,4,5\n")
    (tmp_path / "words.csv").write_text("1,2\nx,y\n")
    (tmp_path / "notes.doc").write_text("1,2")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("trap.npy", "Object arrays cannot be loaded"),
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
    y, rows, note = load_labels(str(folder / "truth.csv"), ids, n)
    return y.tolist(), rows.tolist()


def test_labels_are_matched_by_id(tmp_path):
    ids = np.array(["p", "q", "r"], dtype=object)
    assert labels(tmp_path, "who,kind\nr,a\np,b\nz,b\n", ids) == (["a", "b"], [2, 0])
    assert labels(tmp_path, "who,age,label\nr,30,1\np,40,\nq,50,2\n", ids) == ([1, 2], [2, 1])
    numbers = np.array(["7", "8", "9"], dtype=object)
    assert labels(tmp_path, "MRN,y\n9,1\n7,2\n8,3\n", numbers) == ([1, 2, 3], [2, 0, 1])


def test_labels_of_samples_without_ids(tmp_path):
    assert labels(tmp_path, "y\n1\n1\n2\n", None) == ([1, 1, 2], [0, 1, 2])
    assert labels(tmp_path, "sample,cluster\n2,5\n0,6\n", None) == ([5, 6], [2, 0])
    for ids in ("1,2,3", "p,q,r"):  # as R numbers rows, or of other samples
        rows = [f"{text},{y}" for text, y in zip(ids.split(","), (4, 4, 5), strict=True)]
        (tmp_path / "truth.csv").write_text("\n".join(["id,y", *rows]))
        y, samples, note = load_labels(str(tmp_path / "truth.csv"), None, 3)
        assert (y.tolist(), samples.tolist()) == ([4, 4, 5], [0, 1, 2]) and "position" in note


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
