"""Data frames with columns that are no features, and similarities with ids or of distances."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import TLRR, ConsensusTLRR, datasets
from mvsc_fast.methods import SNN, TRPCA

N = 60
SHARES = np.arange(N) / N
VIEWS, Y = datasets.make_multiview_subspaces(N, 3, random_state=0)
IDS = [f"s{i:02d}" for i in range(N)]
ORDER = np.random.default_rng(0).permutation(N)


def frame(X):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


def test_features_and_arrays_are_used_without_a_word():
    names = {"time": SHARES**1.5, "y": SHARES**0.5, "age_group": Y + 0.0}
    table = frame(VIEWS[0]).assign(**names, absent=0.0)
    ConsensusTLRR(3, random_state=0).fit([table, VIEWS[1]])
    ConsensusTLRR(3, random_state=0).fit([np.column_stack([VIEWS[0], np.ones(N)]), VIEWS[1]])


@pytest.mark.parametrize("method", [ConsensusTLRR, TLRR])
def test_names_of_labels_outcomes_and_ids_are_told_and_columns_are_used(method):
    names = ["Class", "customer_id", "patientID", "vital.status", "true label ", "f1"]
    silent = ["class_size", "ID1", "fluid", "idea", "labelled", "age_group", "f2"]
    views = {"a": VIEWS[0], "b": VIEWS[1]}
    for name, texts in (("a", names), ("b", silent)):
        X = views[name]
        texts = [*texts, *(f"g{j}" for j in range(X.shape[1] - len(texts)))]
        views[name] = pd.DataFrame(X, columns=texts)
    model = method(3, random_state=0)
    with pytest.warns(UserWarning) as told:
        model.fit(views)
    (text,) = {str(warning.message) for warning in told}
    assert text in model.warnings_ and "'Class', 'customer_id', 'patientID', ... (5 in all)" in text
    assert "view 'a'" in text and "view 'b'" not in text
    same = method(3, random_state=0).fit([frame.to_numpy() for frame in views.values()])
    np.testing.assert_array_equal(model.labels_, same.labels_)
    with pytest.warns(UserWarning, match="'f0_id' of X"):
        method(3).fit(frame(VIEWS[0]).rename(columns={"f0": "f0_id"}))


# ------------------------------------------------------------------------------------ similarities


def similarities(i):
    """Similarities of view i, with ids."""
    X = VIEWS[i]
    S = np.abs(np.corrcoef(X)) + 0.01 * i
    return pd.DataFrame((S + S.T) / 2, index=IDS, columns=IDS)


@pytest.mark.parametrize("method", [TLRR, TRPCA, SNN])
@pytest.mark.parametrize("form", ["both", "columns", "rows", "sparse", "dict"])
def test_similarities_of_data_frames_are_matched_by_id(method, form):
    first, second = similarities(0), similarities(1)
    model = method(3, affinity="precomputed", random_state=0)
    expected = clone(model).fit([first.to_numpy(), second.to_numpy()])
    others = second.iloc[ORDER, ORDER[::-1]]
    if form in ("rows", "columns"):  # ids of one side stand for both
        others = second.iloc[ORDER, ORDER]
        drop = {"axis": 1} if form == "rows" else {}
        others = others.set_axis(range(N), **drop)
    others = others.astype(pd.SparseDtype(float, 0.0)) if form == "sparse" else others
    views = {"a": first, "b": others} if form == "dict" else [first, others]
    model.fit(views)
    np.testing.assert_array_equal(model.similarity_, expected.similarity_)
    assert adjusted_rand_score(model.labels_, expected.labels_) == 1


def test_similarities_of_other_ids_are_refused():
    first, second = similarities(0), similarities(1)
    model = TLRR(3, affinity="precomputed")
    other = [*IDS[:-1], "t99"]
    for view in (second.set_axis(other), second.set_axis(other).set_axis(other, axis=1)):
        with pytest.raises(ValueError, match="'s59'.*'t99'|'t99'.*'s59'"):
            model.fit([first, view])
    twice = [*IDS[:-1], "s00"]
    with pytest.raises(ValueError, match="view 1: .* occur more than once"):
        model.fit([first, second.set_axis(twice).set_axis(twice, axis=1)])


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "correlation", "cityblock"])
@pytest.mark.parametrize("sparse", [False, True])
def test_distances_and_equal_similarities_are_named(metric, sparse):
    D = cdist(VIEWS[0], VIEWS[0], metric)
    S = np.exp(-((D / np.median(D)) ** 2))
    form = scipy.sparse.csr_array if sparse else np.asarray
    model = TLRR(3, affinity="precomputed", random_state=0)
    with pytest.warns(UserWarning, match="^view 1 looks like distances"):
        model.fit([form(S), form(D)])
    with pytest.warns(UserWarning, match="^view 1 has equal similarities"):
        model.fit([form(S), form(np.ones((N, N)))])
    np.fill_diagonal(S, 0)
    model.fit([form(S), form(np.eye(N) + S)])  # a diagonal of zeros alone tells nothing
