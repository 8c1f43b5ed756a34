"""Views of a data frame of mixed columns."""

from decimal import Decimal
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline

from mvsc_fast import ConsensusTLRR
from mvsc_fast.preprocessing import FrameEncoder

TEXTS = ["the shop was fast and good", "delivery was late and bad", "", None]


def customers(n=80, seed=0):
    """Two groups of customers that differ in every column, and their groups."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    frame = pd.DataFrame(
        {
            "age": 30 + 30 * y + rng.normal(0, 3, n),
            "member": y == 1,
            "plan": np.where(rng.random(n) < 0.1, "trial", np.array(["monthly", "yearly"])[y]),
            "review": np.array(TEXTS[:2])[y],
        },
        index=[f"c{i}" for i in range(n)],
    )
    frame.loc["c3", ["age", "review"]] = [np.nan, ""]
    frame.loc["c4", "plan"] = None
    return frame, y


GROUPS = {"person": ["age", "member", "plan"], "review": ["review"]}


def test_encoded_columns():
    frame, _ = customers()
    encoder = FrameEncoder(GROUPS)
    before = frame.copy()
    views = encoder.fit_transform(frame)
    pd.testing.assert_frame_equal(frame, before)
    person = views["person"]
    assert list(person) == ["age", "member", "plan_monthly", "plan_trial", "plan_yearly"]
    assert list(person) == list(encoder.get_feature_names_out()["person"])
    assert person.index.equals(frame.index)
    np.testing.assert_allclose(person[["age", "member"]].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(person[["age", "member"]].std(ddof=0), 1)
    plans = frame["plan"].dropna()
    expected = pd.get_dummies(plans).to_numpy(float)
    np.testing.assert_array_equal(person.loc[plans.index].iloc[:, 2:], expected)
    assert person.loc["c3"].isna().tolist() == [True, False, False, False, False]
    assert person.loc["c4"].isna().tolist() == [False, False, True, True, True]
    words = views["review"]
    assert set(TEXTS[0].split()) <= set(words)
    assert np.isnan(words.loc["c3"].to_numpy()[0])
    np.testing.assert_allclose(np.square(words.drop(index="c3")).sum(axis=1), 1)


def test_groups_by_kind():
    frame, _ = customers()
    frame["level"] = pd.Categorical(["low"] * 40 + ["high"] * 40)
    frame["income"] = pd.Series([1, None] * 40, frame.index, dtype=object)
    frame["visits"] = pd.array([1, None] * 40, dtype="Int64")
    encoder = FrameEncoder().fit(frame)
    groups = {"numbers": ["age", "member", "income", "visits"], "categories": ["plan", "level"]}
    assert encoder.groups_ == {**groups, "review": ["review"]}
    assert encoder.transform(frame)["numbers"]["visits"].isna().sum() == 40
    renamed = FrameEncoder().fit(frame.rename(columns={"review": "numbers"}))
    assert renamed.groups_ == {**groups, "text numbers": ["numbers"]}


def test_text_has_more_than_three_words():
    for words, kind in (("new york city", "category"), ("so we came back", "text")):
        frame = pd.DataFrame({"place": [words, words.upper()] * 8})
        assert FrameEncoder().fit(frame).kinds_ == {"place": kind}


def test_a_pipeline_labels_new_customers():
    frame, y = customers()
    model = make_pipeline(FrameEncoder(GROUPS), ConsensusTLRR(2, random_state=0))
    with pytest.warns(UserWarning, match="'person'"):
        labels = model.fit_predict(frame)
    assert abs(np.corrcoef(labels, y)[0, 1]) == 1
    new, y = customers(seed=1)
    new = new.iloc[5:].assign(extra=0)[[*reversed(frame.columns), "extra"]]
    assert abs(np.corrcoef(model.predict(new), y[5:])[0, 1]) == 1


def test_rare_and_unseen_categories():
    plans = ["a"] * 150 + ["b"] * 148 + ["c", "d"]
    frame = pd.DataFrame({"plan": plans})
    encoder = FrameEncoder({"contract": ["plan"]}).fit(frame)
    assert list(encoder.get_feature_names_out()["contract"]) == ["plan_a", "plan_b", "plan_rare"]
    with pytest.warns(UserWarning, match="'plan'.*'new'"):
        views = encoder.transform(pd.DataFrame({"plan": ["d", "new", "a"]}))
    expected = [[0, 0, 1], [0, 0, 1], [1, 0, 0]]
    np.testing.assert_array_equal(views["contract"], expected)


@pytest.mark.parametrize(
    ("groups", "column", "facts"),
    [
        ({"a": ["date"]}, pd.Timestamp("2026-01-01"), "'date' .*Timestamp, such as 2026-01-01"),
        ({"a": ["absent"]}, 0, "no column 'absent'"),
        ({"a": ["review", "age"]}, 0, "'a' has text in column 'review'"),
        ({"a": "age"}, 0, "'a' must be a list"),
        ({"a": ["date", "date"]}, 0, "'date'"),
        ({"a": [["date"]]}, 0, "'date'"),
        ({"a": slice(2)}, 0, "slice"),
        ({"a": ["date"]}, [f"id{i}" for i in range(80)], "'date' has 80 different"),
        ({"a": ["date"]}, None, "'date' has no values"),
        ({"a": ["date"]}, "", "'date' has no values"),
        ({"a": ["date"]}, [1e200, *range(79)], r"'date'.*1e\+150"),
        ({"a": ["date"]}, [[1, 2]] * 80, "'date'.*list"),
        ({"a": ["date"]}, "a b c d", "'date' has no words"),
        ({}, 0, "groups must be a dict"),
    ],
)
def test_bad_groups(groups, column, facts):
    frame, _ = customers()
    frame["date"] = column
    with pytest.raises(ValueError, match=facts):
        FrameEncoder(groups).fit(frame)


def test_names_that_are_no_strings():
    frame = pd.DataFrame({0: [1.0, 2.0], 1: [3.0, 5.0], ("a", 2): ["x", "y"]})
    views = FrameEncoder({"all": [0, 1, ("a", 2)]}).fit_transform(frame)
    assert list(views["all"]) == ["0", "1", "('a', 2)_x", "('a', 2)_y"]


def test_empty_strings_are_missing():
    frame = pd.DataFrame({"income": [1.0, "", 3.0], "plan": ["a", "b", ""]}, dtype=object)
    views = FrameEncoder().fit_transform(frame)
    np.testing.assert_allclose(views["numbers"]["income"], [-1, np.nan, 1])
    assert list(views["categories"]) == ["plan_a", "plan_b"]
    assert views["categories"].isna().all(axis=1).tolist() == [False, False, True]


@pytest.mark.parametrize("dtype", ["Int64", "string", "category", float, object])
def test_a_table_without_a_text_lacks_the_view(dtype):
    encoder = FrameEncoder({"review": ["review"]}).fit(pd.DataFrame({"review": TEXTS}))
    new = pd.DataFrame({"review": pd.Series([None, None], dtype=dtype)})
    assert encoder.transform(new)["review"].iloc[:, 0].isna().all()


def test_bad_frames():
    frame, _ = customers()
    ids = frame.index.astype("category")
    with pytest.raises(ValueError, match="column 'who' has 80 different values"):
        FrameEncoder().fit(frame.assign(who=ids))
    with pytest.raises(ValueError, match="several columns 'age'"):
        FrameEncoder().fit(pd.concat([frame, frame[["age"]]], axis=1))
    with pytest.raises(TypeError, match="pandas data frame, got ndarray"):
        FrameEncoder().fit(np.zeros((3, 1)))
    encoder = FrameEncoder(GROUPS).fit(frame)
    for new, facts in (
        (frame.assign(age="old"), "'age' has values that are no numbers.*'old'"),
        (frame.assign(age=-np.inf), "'age' has infinite values"),
        (frame.assign(age=pd.Timestamp("2020-01-01")), "'age'.*datetime64"),
        (frame[["plan", "review", "member"]], "no column 'age'"),
    ):
        with pytest.raises(ValueError, match=facts):
            encoder.transform(new)


def test_what_cells_contain_decides_not_how_they_are_stored():
    rng = np.random.RandomState(0)
    price, member = [Decimal(f"{x:.2f}") for x in rng.rand(30)], rng.rand(30) < 0.5
    plain = pd.DataFrame({"price": [*map(float, price)], "member": member, "code": [1, 2, 3] * 10})
    plain = plain.astype({"code": "category"})
    stored = plain.assign(price=price, code=plain.code.cat.set_categories([1.0, 2.0, 3.0]))
    if find_spec("pyarrow"):
        stored = stored.astype({"member": "bool[pyarrow]"})
    encoder = FrameEncoder().fit(plain)
    assert FrameEncoder().fit(stored).kinds_ == encoder.kinds_
    for name, view in encoder.transform(plain).items():
        pd.testing.assert_frame_equal(encoder.transform(stored)[name], view)


def test_views_are_data_frames_whatever_output_is_set():
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "c": list("aba")})
    with config_context(transform_output="pandas"):
        views = FrameEncoder().set_output(transform="default").fit_transform(frame)
    for name, view in FrameEncoder().fit_transform(frame).items():
        pd.testing.assert_frame_equal(views[name], view)
