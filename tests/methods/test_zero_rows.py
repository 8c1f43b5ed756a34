"""Rows of zeros: how many there are, and views that lack them instead."""

import pickle
import warnings

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import (
    ConsensusTLRR,
    SavedPredictor,
    datasets,
    explain,
    label_predictability,
    suggest_n_clusters,
)
from mvsc_fast.explanation import joint_graph, markers
from mvsc_fast.methods import TSVDMSC
from mvsc_fast.views import missing

MEASURED_NOT = r".*views.missing\(X\)"


@pytest.fixture(scope="module")
def counts():
    """Three views without negative entries, and the samples that did not write the last one."""
    rng = np.random.RandomState(0)
    y = rng.randint(4, size=300)
    centres = [1.2 * rng.randn(4, d) for d in (30, 40, 50)]
    views = [np.maximum(C[y] + rng.randn(300, C.shape[1]), 0) for C in centres]
    return views, rng.uniform(size=300) < 0.4, y


@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.slow
def test_rows_of_zeros_are_counted_from_five_percent_on(counts, wrap):
    (a, b, c), _, _ = counts
    c = c.copy()
    c[:14] = 0
    model = ConsensusTLRR(4, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit([a, b, wrap(c)])
    c[14] = 0
    views = {"a": a, "b": b, "c": wrap(c)}
    told = f"view 'c': 15 of 300{MEASURED_NOT}"
    for fit in (model.fit, ConsensusTLRR(4, max_samples=200, random_state=0).fit):
        with pytest.warns(UserWarning, match=told) as warned:
            fit(views)
        assert len(warned) == 1
    with pytest.warns(UserWarning, match=told):
        suggest_n_clusters(views, random_state=0)
    chunks = {name: da.from_array(X, chunks=(70, -1)) for name, X in {**views, "c": c}.items()}
    with pytest.warns(UserWarning, match=told):
        model.fit(chunks)


def test_missing_rows_are_no_rows_of_zeros_and_do_not_dilute_them(counts):
    (a, b, c), _, _ = counts
    c = c.copy()
    c[:200], c[200:206] = np.nan, 0
    with pytest.warns(UserWarning, match="view 2: 6 of 300") as warned:
        ConsensusTLRR(4, random_state=0).fit([a, b, c])
    assert len(warned) == 1


@pytest.mark.parametrize("max_samples", ["auto", 200])
@pytest.mark.slow
def test_sparse_views_lack_rows_as_dense_ones_do(counts, max_samples, tmp_path):
    """However the missing rows are stored, and wherever the views are."""
    (a, b, c), mask, y = counts
    model = ConsensusTLRR(4, max_samples=max_samples, random_state=0)
    gaps = np.where(mask[:, None], np.nan, c)
    expected = model.fit([a, b, gaps])
    labels, predicted = expected.labels_, expected.predict([a, b, gaps])
    assert adjusted_rand_score(y, labels) > 0.9
    single = missing(scipy.sparse.csr_array(c), mask)
    forms = [single, scipy.sparse.csr_array(gaps), single.tocsc(), single.tocoo()]
    forms.append(missing(pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_array(c)), mask))
    for form in forms:
        fitted = ConsensusTLRR(4, max_samples=max_samples, random_state=0).fit([a, b, form])
        np.testing.assert_array_equal(fitted.labels_, labels)
        np.testing.assert_allclose(fitted.view_support_, expected.view_support_)
        for other in (fitted, pickle.loads(pickle.dumps(fitted))):
            np.testing.assert_array_equal(other.predict([a, b, form]), predicted)
    fitted.to_native(tmp_path / "m.mvsc")
    saved = SavedPredictor(tmp_path / "m.mvsc")
    np.testing.assert_array_equal(saved.predict([a, b, single]), predicted)
    limited = ConsensusTLRR(4, max_samples=max_samples, memory_limit="90MB", random_state=0)
    np.testing.assert_array_equal(limited.fit([a, b, single]).labels_, labels)


def test_sparse_chunks_of_dask_lack_rows_too(counts):
    (a, b, c), mask, _ = counts
    gaps = np.where(mask[:, None], np.nan, c)
    single = missing(scipy.sparse.csr_array(c), mask)
    expected = ConsensusTLRR(4, random_state=0).fit([a, b, gaps]).labels_
    blocks = [single[:70], single[70:]]
    empty = np.empty((0, 0))
    lazy = da.concatenate(
        [da.from_array(X, chunks=(-1, -1), name=False, asarray=False, meta=empty) for X in blocks]
    )
    dense = [da.from_array(X, chunks=((70, 230), -1)) for X in (a, b)]
    found = ConsensusTLRR(4, random_state=0).fit([*dense, lazy]).labels_
    np.testing.assert_array_equal(found.compute(), expected)


def test_explanations_of_sparse_views_that_lack_rows(counts):
    (a, b, c), mask, y = counts
    dense = [a, b, np.where(mask[:, None], np.nan, c)]
    sparse = [a, b, missing(scipy.sparse.csr_array(c), mask)]
    model = ConsensusTLRR(4, random_state=0).fit(sparse)
    first, second = explain(model, dense), explain(model, sparse)
    np.testing.assert_array_equal(first.samples["margin"], second.samples["margin"])
    assert second.views["samples without"].tolist() == [0, 0, mask.sum()]
    np.testing.assert_allclose(
        markers(model, dense)["effect"], markers(model, sparse)["effect"], atol=1e-9
    )
    difference = joint_graph(model, dense) != joint_graph(model, sparse)
    assert difference.nnz == 0
    assert label_predictability(dense, y) == label_predictability(sparse, y)


def test_other_methods_name_sparse_views_that_lack_rows(counts):
    (a, _, c), mask, _ = counts
    told = f"view 1 .*{mask.sum()} rows .*row {mask.argmax()}"
    with pytest.raises(ValueError, match=told):
        TSVDMSC(4).fit([a, missing(scipy.sparse.csr_array(c), mask)])


def test_a_cell_of_a_sparse_view_cannot_be_missing():
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    spoiled = scipy.sparse.csr_array(views[1])
    spoiled[9, 2] = np.nan
    with pytest.raises(ValueError, match="view 1 .*nan .*row 9, column 2"):
        ConsensusTLRR(3).fit([views[0], spoiled])
