"""Columns in standard units: exact means and deviations, for fits and predictions."""

from fractions import Fraction

import dask.array as da
import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import mvsc_fast
from mvsc_fast import TLRR, ConsensusTLRR, datasets, explain, methods


@pytest.fixture(scope="module")
def views():
    """Views of columns in different units, one of which some samples lack."""
    views, _ = datasets.make_multiview_subspaces(300, 3, n_features=(12, 8), random_state=0)
    views[0] = 10.0 ** np.arange(12) * (views[0] + 3)
    views[1][:20] = np.nan
    return views


def fitted(views, **parameters):
    return ConsensusTLRR(3, scale="standard", random_state=0, **parameters).fit(views)


@pytest.mark.parametrize("max_samples", [100, "auto"])
def test_labels_are_those_of_standard_scaler(views, max_samples):
    model = fitted(views, max_samples=max_samples)
    scalers = [StandardScaler().fit(X) for X in views]
    scaled = [scaler.transform(X) for scaler, X in zip(scalers, views, strict=True)]
    other = ConsensusTLRR(3, max_samples=max_samples, random_state=0).fit(scaled)
    assert adjusted_rand_score(other.labels_, model.labels_) == 1
    np.testing.assert_array_equal(other.predict(scaled), model.predict(views))
    for (means, deviations), scaler in zip(model.scaling_, scalers, strict=True):
        np.testing.assert_allclose(means, scaler.mean_, rtol=1e-12, atol=1e-12 * means.max())
        np.testing.assert_allclose(deviations, scaler.scale_, rtol=1e-12)


@pytest.mark.parametrize("method", ["TLRR", "AWP", "TSVDMSC"])
def test_other_methods_cluster_scaled_columns(views, method):
    whole = [X[20:80] for X in views]
    make = getattr(methods, method)
    scaled = make(3, scale="standard", random_state=0).fit(whole)
    same = make(3, random_state=0).fit([StandardScaler().fit_transform(X) for X in whole])
    assert adjusted_rand_score(same.labels_, scaled.labels_) == 1
    assert not hasattr(same, "scaling_")
    profiles = explain(scaled, whole).markers.to_frame()  # in the units of the views
    means = profiles[profiles["view"] == 0].groupby("feature")["overall"].first()
    for feature, mean in means.items():
        assert mean == pytest.approx(whole[0][:, feature].mean())


@pytest.mark.filterwarnings(
    "ignore:view 0 lacks", "ignore:a few columns", "ignore:the labels agree"
)
def test_means_and_deviations_are_exact():
    """As right as the data, for any order of magnitude, block and order of the rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 6)) * 10.0 ** np.array([0, -300, 150, 0, 0, 3])
    X[:, 3] += 1e8  # sums of squares cancel
    X[:, 4] = rng.standard_cauchy(200) ** 3
    X[rng.random((200, 6)) < 0.02] = np.nan
    ((means, deviations),) = fitted([X]).scaling_
    turned = da.from_array(X[::-1], chunks=((1, 76, 123), -1))
    np.testing.assert_array_equal(fitted([turned], max_samples=50).scaling_, [(means, deviations)])
    for column, mean, deviation in zip(X.T, means, deviations, strict=True):
        values = [Fraction(x) for x in column[~np.isnan(column)]]
        exact = sum(values) / len(values)
        variance = sum((x - exact) ** 2 for x in values) / len(values)
        unit = Fraction(2) ** -53 * max(map(abs, values))  # rounding error of the largest value
        assert abs(Fraction(mean) - exact) <= unit
        assert abs(Fraction(deviation) ** 2 - variance) <= 2 * unit * Fraction(deviation)


def test_constant_columns_are_only_centred():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6)) + 5
    X[:, 1], X[:, 2] = 7, np.where(np.arange(60) % 2, 0.3, 0.1 * 3)  # equal up to rounding
    X[:, 3] = 0
    ((means, deviations),) = fitted([X]).scaling_
    np.testing.assert_allclose(means[1:4], [7, 0.3, 0])
    np.testing.assert_array_equal(deviations[1:4], 1)


def test_sparse_views_are_divided_but_not_centred(views):
    dense = [np.where(np.abs(X) > 0.3, X, 0) for X in (view[20:140] for view in views)]
    sparse = [scipy.sparse.csr_array(X) for X in dense]
    model = fitted(sparse)
    for (means, deviations), X in zip(model.scaling_, dense, strict=True):
        assert not means.any()
        np.testing.assert_allclose(deviations, X.std(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(dense), model.predict(sparse))
    divided = [X / X.std(axis=0) for X in dense]
    same = ConsensusTLRR(3, random_state=0).fit([scipy.sparse.csr_array(X) for X in divided])
    assert adjusted_rand_score(same.labels_, model.labels_) == 1
    dense[0][:, 0] += 2000  # no zeros, whose distance from the mean would overflow
    with pytest.warns(UserWarning, match="a few columns"):
        fitted([scipy.sparse.csr_array(dense[0]), *sparse[1:]])


def test_functions_without_a_model_scale_columns_but_similarities_have_none(views):
    whole = [X[20:120] for X in views]
    standard = [StandardScaler().fit_transform(X) for X in whole]
    y = np.arange(100) % 3
    score = mvsc_fast.label_predictability(whole, y, scale="standard")
    assert score == pytest.approx(mvsc_fast.label_predictability(standard, y), abs=1e-6)
    # Means are rounded otherwise, which may move a sample between clusters.
    for function, parameters, score in (
        (mvsc_fast.suggest_n_clusters, {"max_clusters": 4}, "criterion"),
        (mvsc_fast.structure_test, {"n_clusters": 3, "n_rotations": 2}, "observed"),
    ):
        parameters["random_state"] = 0
        result = function(whole, scale="standard", **parameters)
        expected = getattr(function(standard, **parameters), score)
        np.testing.assert_allclose(getattr(result, score), expected, rtol=0.03)
        with pytest.raises(ValueError, match="scale .*'standard', got 'minmax'"):
            function(whole, scale="minmax", **parameters)
    with pytest.raises(ValueError, match="scale='standard' needs features"):
        TLRR(2, affinity="precomputed", scale="standard").fit([np.ones((9, 9))])


def test_rows_of_zeros_are_seen_before_scaling():
    views, _ = datasets.make_multiview_subspaces(90, 3, random_state=0)
    views[1][:30] = 0
    with pytest.warns(UserWarning, match="all zero.*30 of 90 rows"):
        fitted(views)
