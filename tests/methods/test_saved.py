"""Model files: a saved predictor is the fitted model, less its fit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from mvsc_fast import ConsensusTLRR, SavedPredictor, datasets, explain

VIEWS = datasets.make_multiview_subspaces(60, 3, n_features=(4, 7), random_state=0)[0]
FORMS = {
    "list": lambda: list(VIEWS),
    "numbers as names": lambda: {1: VIEWS[0], 0: VIEWS[1]},
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
    names = [str(name) for name in model.view_names_in_] if "names" in form else None
    assert saved.view_names_in_ == (names or list(model.view_names_in_))
    assert saved.n_features_per_view_ == model.n_features_per_view_
    assert saved.n_features_in_ == model.n_features_in_ and saved.n_clusters_ == 3
    assert hasattr(saved, "feature_names_in_") == (form == "frames")
    given = dict(zip(names, views.values(), strict=True)) if names else views
    for method in ("predict", "predict_margin"):
        np.testing.assert_array_equal(getattr(saved, method)(given), getattr(model, method)(views))
    assert clone(saved).predict(given).tolist() == model.predict(views).tolist()
    if form == "frames":
        assert [None if one is None else list(one) for one in saved.feature_names_in_] == [
            ["x0", "x1", "x2", "x3"],
            None,
        ]
        with pytest.raises(ValueError, match="view 'a' are not those of fit, in another order"):
            saved.predict({**views, "a": views["a"].iloc[:, ::-1]})
    if form == "list":
        with pytest.raises(ValueError, match=r"\[7, 4\] features, expected \[4, 7\] as in fit"):
            saved.predict(views[::-1])
        with pytest.raises(ValueError, match="memory_limit must be a number of bytes"):
            clone(saved).set_params(memory_limit="much").predict(views)


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    model = ConsensusTLRR(3, random_state=0).fit(VIEWS)
    for write in (model.to_native, explain(model, VIEWS).write_report):
        with pytest.raises(FileNotFoundError, match=r"b.mvsc cannot .* the folder .*/a first$"):
            write(tmp_path / "a" / "b.mvsc")


def test_a_file_that_is_no_model_is_named(tmp_path):
    (tmp_path / "model.mvsc").write_bytes(bytes(100))
    with pytest.raises(ValueError, match=r"model\.mvsc: "):
        SavedPredictor(tmp_path / "model.mvsc")
