"""Model files: a saved predictor is the fitted model, less its fit."""

import json
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mvsc_fast import ConsensusTLRR, SavedPredictor, datasets, explain
from mvsc_fast.cli import main
from mvsc_fast.judge._model_file import names_in, parts, with_names
from mvsc_fast.judge._predict import checksum

pytestmark = pytest.mark.filterwarnings("ignore:the labels agree little")

VIEWS = datasets.make_multiview_subspaces(60, 3, n_features=(4, 7), random_state=0)[0]
DATA = Path(__file__).parent.parent / "judge" / "data"
FORMS = {
    "list": lambda: list(VIEWS),
    "numbers as names": lambda: {1: VIEWS[0], 0: VIEWS[1]},
    "digits as names": lambda: {"0": VIEWS[0], "1": VIEWS[1]},
    "names": lambda: dict(zip(["a", "2"], VIEWS, strict=True)),
    "frames": lambda: {"a": pd.DataFrame(VIEWS[0]).add_prefix("x"), "b": VIEWS[1]},
    "one matrix": lambda: VIEWS[0],
}


@pytest.mark.parametrize("form", FORMS)
def test_a_saved_predictor_has_the_names_and_labels_of_its_model(form, tmp_path):
    views = FORMS[form]()
    model = ConsensusTLRR(3, random_state=0).fit(views)
    model.to_native(tmp_path / "model.mvsc")
    saved = SavedPredictor(tmp_path / "model.mvsc", n_threads=1)
    assert saved.view_names_in_ == list(model.view_names_in_)
    assert saved.n_features_per_view_ == model.n_features_per_view_
    assert saved.n_features_in_ == model.n_features_in_ and saved.n_clusters_ == 3
    assert hasattr(saved, "feature_names_in_") == (form == "frames")
    as_text = views
    if isinstance(views, dict):  # as JSON has the keys, and in another order
        as_text = {str(name): X for name, X in reversed(views.items())}
    labels, margins = model.predict(views), model.predict_margin(views)
    for predictor in (saved, pickle.loads(pickle.dumps(saved))):
        np.testing.assert_array_equal(predictor.predict(as_text), labels)
        np.testing.assert_array_equal(predictor.predict(views), labels)
        np.testing.assert_array_equal(predictor.predict_margin(as_text), margins)
    if form == "frames":
        first, second = saved.feature_names_in_
        assert first.tolist() == ["x0", "x1", "x2", "x3"] and second is None
        with pytest.raises(ValueError, match="view 'a'"):
            saved.predict({**views, "a": views["a"].iloc[:, ::-1]})
    if form == "list":
        with pytest.raises(ValueError, match=r"\[7, 4\].*\[4, 7\]"):
            saved.predict(views[::-1])
    if form == "numbers as names":
        with pytest.raises(ValueError, match="the dict has the views 0, '0', 1"):
            saved.predict({0: VIEWS[1], "0": VIEWS[1], 1: VIEWS[0]})


def test_a_saved_predictor_is_no_estimator(tmp_path):
    """A parameter that could be set without effect would be a trap: the file is read once."""
    model = ConsensusTLRR(3, random_state=0).fit(VIEWS)
    path = tmp_path / "model.mvsc"
    model.to_native(path)
    saved = SavedPredictor(path)
    assert not hasattr(saved, "set_params") and str(path) in repr(saved)
    for value in ("2", 0):
        with pytest.raises(ValueError, match="n_threads"):
            SavedPredictor(path, n_threads=value)
    again = SavedPredictor(path, n_threads=2.0)
    np.testing.assert_array_equal(again.predict(VIEWS), saved.predict(VIEWS))


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    model = ConsensusTLRR(3, random_state=0).fit(VIEWS)
    for write in (model.to_native, explain(model, VIEWS).write_report):
        with pytest.raises(FileNotFoundError, match=r"b.mvsc cannot .* the folder .*[/\\]a first$"):
            write(tmp_path / "a" / "b.mvsc")
        with pytest.raises(IsADirectoryError, match=f"{tmp_path.name} is a folder"):
            write(tmp_path)


def test_a_file_that_is_no_model_is_named(tmp_path):
    for name, content in {"model.mvsc": bytes(100), "empty.mvsc": b""}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=rf"{name}: "):
            SavedPredictor(tmp_path / name)
    for name in ("absent.mvsc", "."):
        with pytest.raises(OSError, match=re.escape(str(tmp_path))):
            SavedPredictor(tmp_path / name)
    with pytest.raises(TypeError, match="PathLike.*NoneType"):
        SavedPredictor(None)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("image") / "model.mvsc"
    ConsensusTLRR(3, random_state=0).fit(dict(zip("ab", VIEWS, strict=True))).to_native(path)
    return np.fromfile(path, np.uint8)


@pytest.mark.parametrize("what", ["names", "note"])
def test_bytes_that_are_no_text_are_named_with_the_file(image, tmp_path, capsys, what):
    names = "a\0b\0" if what == "names" else names_in(image)[3]
    at = image.tobytes().index(names.encode())
    image = image.copy()
    image[at] = 255
    parts(image)[0]["checksum"] = checksum(image)
    image.tofile(tmp_path / "model.mvsc")
    with pytest.raises(ValueError, match=r"model\.mvsc: .*damaged"):
        SavedPredictor(tmp_path / "model.mvsc")
    assert main(["predict", str(tmp_path / "model.mvsc"), "a=x.csv"]) == 2
    assert "model.mvsc: " in capsys.readouterr().err


@pytest.mark.parametrize("names", [["b", "a"], "ab", [None, True]], ids=str)
def test_forged_notes_are_refused_by_the_command_line(image, tmp_path, capsys, names):
    path = tmp_path / "model.mvsc"
    note = json.dumps({"view_names": names})
    with_names(image, ["a", "b"], [None, None], [4, 7], note).tofile(path)
    assert main(["predict", str(path), "a=x.csv"]) == 2
    assert f"{path}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "note",
    ["[1, 2]", "12345", "no JSON", "[" * 10**5, '{"model": 1, "views": 2, "columns": 3}']
    + ['{"id_column": 5, "views": 3}'],
)
def test_other_notes_change_nothing(image, tmp_path, capsys, note):
    """A note cannot replace the model, its views or its columns."""
    path = tmp_path / "model.mvsc"
    with_names(image, ["a", "b"], [None, None], [4, 7], note).tofile(path)
    assert SavedPredictor(path).view_names_in_ == ["a", "b"]
    table = tmp_path / "x.csv"
    pd.DataFrame(VIEWS[0]).add_prefix("x").to_csv(table, index=False)
    assert main(["predict", str(path), f"a={table}"]) == 0
    found = capsys.readouterr().out.split()[1:]
    labels = SavedPredictor(path).predict({"a": VIEWS[0]})
    assert [line.split(",")[-1] for line in found] == list(map(str, labels))


LABELS = {2: [0, 2, 1] * 3, 3: [2, 1, 0] * 3}
MARGINS = {
    2: [0.9018, 1, 0.9609, 0.8842, 0.9457, 0.9826, 0.674, 0.9955, 0.9617],
    3: [0.9494, 0.9818, 0.9686, 0.8506, 0.9552, 0.9824, 0.8943, 0.9853, 0.9793],
}


@pytest.mark.skipif(sys.byteorder == "big", reason="the files are of machines of the other order")
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("suffix", ["mvsc", "pkl"])
def test_a_model_of_an_earlier_version_predicts_as_it_did(version, suffix):
    """Version 2: no lifted views, one limit for all clusters, no names of views in the note."""
    if suffix == "pkl":
        pytest.importorskip("numpy._core", reason="a pickle of NumPy 2")
        model = pickle.loads((DATA / f"version_{version}.pkl").read_bytes())
        parameters = {"n_clusters": 3, "random_state": 0, "store": "predictor"}
        assert model.get_params() == ConsensusTLRR(**parameters).get_params()
    else:
        model = SavedPredictor(DATA / f"version_{version}.mvsc")
    rng = np.random.default_rng(0)
    centres = [6 * rng.standard_normal((3, d)) for d in (5, 3)]
    for C in centres:  # of the fitted samples
        rng.standard_normal((24, C.shape[1]))
    y = np.arange(9) % 3
    new = [C[y] + rng.standard_normal((9, C.shape[1])) for C in centres]
    new = dict(zip(model.view_names_in_, new, strict=True))
    np.testing.assert_array_equal(model.predict(new), LABELS[version])
    margin, unlike = model.predict_margin(new, return_unlike=True)
    np.testing.assert_allclose(margin, MARGINS[version], atol=1e-4)
    np.testing.assert_array_equal(np.flatnonzero(unlike), [0, 3, 4, 6])


def test_parameters_that_are_newer_than_a_pickle_have_their_defaults():
    model = ConsensusTLRR(3, max_samples=50, random_state=0).fit(VIEWS)
    del model.store, model.max_samples
    again = pickle.loads(pickle.dumps(model))
    assert (again.store, again.max_samples, again.n_clusters) == ("all", "auto", 3)
    np.testing.assert_array_equal(again.predict(VIEWS), model.labels_)
