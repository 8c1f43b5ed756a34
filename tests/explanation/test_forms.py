"""Explanations of samples without any view, and views that are not those of fit.

`tests/test_matrix.py` compares explanations of all forms of views.
"""

import numpy as np
import pytest
from conftest import fitted_consensus

from mvsc_fast import ConsensusTLRR, datasets, explain
from mvsc_fast.explanation import markers


@pytest.fixture(scope="module")
def views():
    """Three clusters; some samples lack a view, and some cells are missing."""
    views, _ = datasets.make_multiview_subspaces(120, 3, n_features=(12, 8), random_state=0)
    views[0][:9], views[1][20:24], views[1][30:40, 3] = np.nan, np.nan, np.nan
    return views


@pytest.mark.parametrize("max_samples", ["auto", 60])
def test_samples_without_any_view_are_in_no_cluster(views, max_samples):
    rare = np.full((120, 5), np.nan)
    rare[40] = 1.0
    given = {"shape": views[0], "colour": views[1], "rare": rare}
    given = {name: np.pad(X, ((2, 0), (0, 0)), constant_values=np.nan) for name, X in given.items()}
    model = fitted_consensus(given, max_samples=max_samples)
    told = explain(model, dict(reversed(given.items())))
    assert told.views["view"].tolist() == list(given)
    assert told.clusters["samples"].sum() == 120 and told.clusters["cluster"].tolist() == [0, 1, 2]
    if max_samples == "auto":
        assert told.views["samples without"].tolist() == [9, 4, 119]  # of the clustered ones
    assert told.views["remark"][2].startswith("excluded")
    margin = told.samples["margin"]
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(margin)), model.samples_)
    table = markers(model, given).to_frame()
    assert table["cluster"].unique().tolist() == [0, 1, 2]
    assert table[table["view"] == "rare"]["effect"].isna().any()


@pytest.mark.parametrize("n_good", [1, 2])
def test_samples_that_have_excluded_views_alone_are_in_no_cluster(n_good):
    sizes = (20,) * n_good
    views, _ = datasets.make_multiview_subspaces(300, 3, n_features=sizes, random_state=0)
    for X in views:
        X[[4, 250]] = np.nan
    views += [np.ones((300, 3)), np.full((300, 2), np.nan)]
    views[0][7], views[-1][150] = np.nan, 1.0
    model = fitted_consensus(views, max_samples=200)
    told = explain(model, views)
    assert told.clusters["cluster"].tolist() == [0, 1, 2]
    n_lost = 3 if n_good == 1 else 2
    assert told.clusters["samples"].sum() == 300 - n_lost
    assert set(told.uncertain) <= set(np.flatnonzero(model.labels_ >= 0))


@pytest.mark.parametrize("question", [explain, markers])
@pytest.mark.parametrize("max_samples", ["auto", 60])
def test_samples_in_another_order_are_refused(views, question, max_samples):
    model = fitted_consensus(views, max_samples=max_samples)
    order = np.random.RandomState(1).permutation(120)
    message = r"other labels for \d+ %"
    with pytest.raises(ValueError, match=message):
        question(model, [X[order] for X in views])


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # by scikit-learn 1.7
@pytest.mark.parametrize("n, n_features, n_clusters", [(40, 1, 40), (40, 1, 3), (20, 2, 19)])
def test_the_views_of_fit_are_never_refused(n, n_features, n_clusters):
    views = [np.random.RandomState(0).random_sample((n, n_features))]
    assert explain(fitted_consensus(views, n_clusters), views).samples.n_rows == n


def test_a_model_that_cannot_predict_accepts_views_of_its_shape(views):
    model = fitted_consensus(views, store="labels")
    assert explain(model, [X[::-1] for X in views]).samples.n_rows == 120


@pytest.mark.slow
def test_many_samples_that_lack_a_view_may_have_any_order():
    """Their rows are predicted from 4096 samples, of which there are more."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=5600)
    views = [2 * rng.standard_normal((3, d))[y] + rng.standard_normal((5600, d)) for d in (4, 9)]
    views[1][rng.uniform(size=5600) < 0.15] = np.nan
    order = rng.permutation(5600)
    model = ConsensusTLRR(3, max_samples=5600, random_state=0)
    first = explain(model.fit(views), views)
    second = explain(model.fit([X[order] for X in views]), [X[order] for X in views])
    np.testing.assert_array_equal(second.clusters["predictable"], first.clusters["predictable"])
    np.testing.assert_allclose(second.samples["margin"], first.samples["margin"][order], atol=1e-6)
