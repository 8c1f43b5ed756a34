"""The judge of labels equals leaving out one sample after the other, and prefers the truth."""

import numpy as np
import pandas as pd
import pytest
import reference.predictability as twin
import scipy.sparse

from mvsc_fast import datasets, label_predictability


@pytest.fixture(scope="module")
def subspaces():
    shape = {"n_features": (20, 300, 9), "noise": 0.3}
    return datasets.make_multiview_subspaces(120, 4, **shape, random_state=0)


def test_missing_rows_are_predicted_and_samples_without_views_are_not_scored(subspaces):
    views, y = [X.copy() for X in subspaces[0]], subspaces[1]
    complete = label_predictability(views, y)
    views[1][:6] = np.nan
    gappy = label_predictability(views, y)
    assert gappy == pytest.approx(complete, abs=0.1) and gappy != complete
    views[0][:2] = views[2][:2] = np.nan
    expected = label_predictability([X[2:] for X in views], y[2:])
    assert label_predictability(views, np.append([-1, -1], y[2:])) == expected
    views[0][7, 0] = np.nan
    with pytest.warns(UserWarning, match="lacks 1 cell"):
        assert label_predictability(views, y) == pytest.approx(expected, abs=0.1)
    views[0][20:90, :8] = np.nan
    with pytest.raises(ValueError, match="10 %"):
        label_predictability(views, y)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_equal_to_its_definition(subspaces, nonnegative):
    views, y = subspaces
    if nonnegative:
        views = [np.abs(X) for X in views]
    rng = np.random.default_rng(0)
    labels = np.where(rng.uniform(size=len(y)) < 0.8, y, rng.integers(4, size=len(y)))
    expected = twin.label_predictability(views, labels)
    assert 0.05 < expected < 0.9
    assert label_predictability(views, labels) == pytest.approx(expected, abs=1e-9)


def test_the_truth_is_more_predictable_than_what_differs_from_it():
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=120)
    views = [3 * rng.standard_normal((4, d))[y] + rng.standard_normal((120, d)) for d in (9, 30)]
    changed, others = rng.uniform(size=120), rng.integers(4, size=120)
    labellings = [np.where(changed < share, others, y) for share in (0, 0.1, 0.3, 1)]
    scores = label_predictability(views, labellings)
    assert (np.diff(scores) < 0).all() and scores[0] > 0.9 and scores[-1] < 0.1


@pytest.mark.parametrize(("n", "d"), [(6, 1), (6, 20), (20, 1), (20, 2000), (100, 20), (500, 2000)])
def test_labels_of_which_the_views_say_nothing_have_a_mean_of_zero(n, d):
    rng, scores = np.random.default_rng(0), []
    for _ in range(40 if n < 100 else 5):
        labels = [rng.permutation(np.arange(n) % 2) for _ in range(4)]
        labels += [rng.permutation(np.r_[0, 1, 2, rng.integers(3, size=n - 3)]) for _ in range(4)]
        scores.append(label_predictability([rng.standard_normal((n, d))], labels).mean())
    assert abs(np.mean(scores)) < 0.02 + 3 * np.std(scores) / np.sqrt(len(scores))


@pytest.mark.parametrize("d", [3, 20, 2000])
@pytest.mark.parametrize("n", [6, 20, 200, 500])
def test_labels_of_separated_groups_are_predicted(n, d):
    rng, y = np.random.default_rng(0), np.arange(n) % 3
    X = 100 * np.eye(3, d)[y] + rng.standard_normal((n, d)) / d**0.5
    assert label_predictability([X], y) == 1


def test_neither_names_nor_order_nor_containers_matter(subspaces):
    views, y = subspaces
    score = label_predictability(views, y)
    assert isinstance(score, float)
    named = label_predictability(views, np.array(list("dbca"))[y])
    assert named == pytest.approx(score, rel=1e-14)  # clusters are summed in another order
    order = np.random.default_rng(0).permutation(120)
    assert label_predictability([X[order] for X in views], y[order]) == score
    sparse = [scipy.sparse.csr_matrix(X) for X in views]
    assert label_predictability(sparse, y) == pytest.approx(score, rel=1e-14)
    assert label_predictability(views, np.zeros(120)) == 0.0  # a single cluster


def test_labels_must_match_the_samples(subspaces):
    views, y = subspaces
    with pytest.raises(ValueError, match="119 labels.* 120"):
        label_predictability(views, y[1:])
    frames = [pd.DataFrame(X, index=[f"s{i}" for i in range(120)]) for X in views]
    series = pd.Series(y, index=frames[0].index)
    assert label_predictability([views[0], *frames[1:]], series) == label_predictability(views, y)
    with pytest.raises(ValueError, match="labels and the views"):
        label_predictability(frames, series[::-1])
    with pytest.raises(ValueError, match=", 5 and 's0' in row 0"):
        label_predictability(frames, pd.Series(y, index=range(5, 125)))
    with pytest.raises(ValueError, match="labelling 1"):
        label_predictability([views[0], *frames[1:]], [y, series[::-1]])
    with pytest.raises(ValueError, match="labelling 1 .*119"):
        label_predictability(views, [y, y[1:]])
    with pytest.raises(ValueError, match=r"labels .*\(0, 120\)"):
        label_predictability(views, np.empty((0, 120)))


@pytest.mark.slow
def test_many_samples_are_judged_by_some_of_them():
    """Above 4096 samples regressions are fitted on some, and all are predicted."""
    rng = np.random.default_rng(0)
    y = rng.integers(4, size=5000)
    views = [4 * rng.standard_normal((4, d))[y] + rng.standard_normal((5000, d)) for d in (9, 30)]
    half = np.where(rng.uniform(size=5000) < 0.5, rng.integers(4, size=5000), y)
    right, wrong = label_predictability(views, [y, half])
    assert right > 0.99 and wrong < 0.6
    # So are missing rows, whichever order the samples have.
    views[1][rng.uniform(size=5000) < 0.1] = np.nan
    order = rng.permutation(5000)
    score = label_predictability([X[order] for X in views], half[order])
    assert score == label_predictability(views, half)


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # of scikit-learn 1.7
@pytest.mark.parametrize("n_clusters", [2, 30, 120])
def test_random_labels_are_not_predictable_in_any_number(subspaces, n_clusters):
    """Nor are balanced ones from samples that are equal, nearly equal, or without similarities."""
    rng, balanced = np.random.default_rng(0), np.arange(120) % n_clusters
    equal = 1 + np.array([[[0.0]], [[1e-3]]]) * rng.standard_normal((2, 120, 5))
    for views in (subspaces[0], [equal[0]], [equal[1]]):
        assert label_predictability(views, rng.permutation(balanced)) < 0.05
    assert label_predictability([np.eye(120)], balanced) <= 0
