"""Input that is not what it seems: damaged sparse matrices, odd containers, extreme numbers."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import FULL
from processes import run_python
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import TLRR, ConsensusTLRR, datasets, methods, similarity
from mvsc_fast.views import check_views

CASES, BATCH = (10_000, 1000) if FULL else (250, 250)


# ------------------------------------------------------------------ sparse matrices


@pytest.mark.parametrize("first", range(0, CASES, BATCH))
def test_damaged_sparse_matrices_are_refused(first):
    script = Path(__file__).with_name("malformed_sparse.py")
    refused = int(run_python(script.read_text(), first, first + BATCH).split()[0])
    assert refused > 2 * BATCH  # of five readers


KINDS = """
S.indices[5] = 10**6
S.indices[5] = 2**31 - 1
S.indices[5] = -3
S.indptr[5] = 10**7
S.indptr[5] = S.indptr[6] + 3
S.indptr[5], S.indptr[-1] = 10**7, 0
S.indptr[5], S.indptr[6] = 2**31 - 1, -2**31
S.data = S.data[:-4]
""".split("\n")[1:-1]


def test_estimators_name_the_damaged_view():
    told = run_python(f"""
        import numpy as np, scipy.sparse as sp
        from mvsc_fast import ConsensusTLRR, TLRR, methods
        rng = np.random.RandomState(0)
        C, B = rng.poisson(1.0, (60, 30)) * 1.0, rng.rand(60, 30)
        fitted = ConsensusTLRR(3).fit([B, B])
        calls = [
            lambda S: ConsensusTLRR(3).fit([B, S]),
            lambda S: fitted.predict([B, S]),
            lambda S: methods.AWP(3).fit([B, S]),
            lambda W: TLRR(3, affinity="precomputed").fit([B @ B.T, W]),
            lambda W: methods.SNN(3, affinity="precomputed").fit([B @ B.T, W]),
        ]
        for kind in {KINDS}:
            for i, call in enumerate(calls):
                S = sp.csr_array(C if i < 3 else C @ C.T)
                exec(kind)
                try:
                    call(S)
                except ValueError as error:
                    print(error)
        """).splitlines()
    views = ["view 1", "view 1", "view 1", "X: slice 1", "X: slice 1"] * len(KINDS)
    assert len(told) == len(views)
    for line, view in zip(told, views, strict=True):
        assert line.startswith(f"{view} is not a valid sparse csr matrix: ")


def test_damaged_blocks_of_dask_are_refused():
    pytest.importorskip("dask", reason="dask is not installed")
    told = run_python("""
        import dask, dask.array as da, numpy as np, scipy.sparse as sp
        from mvsc_fast import ConsensusTLRR
        S = sp.csr_matrix(np.random.RandomState(0).poisson(1.0, (60, 30)) * 1.0)
        S.indices[5] = 10**6
        block = da.from_delayed(dask.delayed(S), (60, 30), meta=sp.csr_matrix((0, 0)))
        try:
            ConsensusTLRR(3).fit([block])
        except ValueError as error:
            print(error)
        """)
    assert "is not a valid sparse csr matrix: indices must lie between 0 and 29" in told


# ------------------------------------------------------------------ rows of any scale


@pytest.fixture(scope="module")
def blobs():
    views, _ = datasets.make_multiview_subspaces(45, 3, n_features=(20, 4), random_state=0)
    return views


@pytest.mark.parametrize("exponents", [(0, -400), (0, 400), (-200, 200)])
def test_labels_do_not_depend_on_the_scale_of_rows(exponents):
    # Of more than 80 columns: ConsensusTLRR may keep the lengths of other rows.
    views, _ = datasets.make_multiview_subspaces(45, 3, n_features=(90, 100), random_state=0)
    scale = np.ldexp(1.0, np.resize(exponents, 45))[:, None]
    scaled = [views[0] * scale, views[1]]
    for model in (TLRR, ConsensusTLRR, methods.TSVDMSC, methods.LMSC, methods.AWP, methods.DiMSC):
        model = model(3, random_state=0)
        expected, found = model.fit_predict(views), model.fit_predict(scaled)
        # Independent of the order of the samples, which depends on their contents.
        assert adjusted_rand_score(expected, found) == 1, type(model)
    np.testing.assert_array_equal(model.fit_predict(scaled), found)


ROWS = np.ldexp(1.0, np.resize([-200, 200], 45))[:, None]


@pytest.mark.parametrize(
    ("make", "scales"),
    [
        (similarity.self_representation, [ROWS]),
        (similarity.rbf, [2.0**-1000, 2.0**1000]),
        (similarity.nearest_neighbors, [2.0**-1000, 2.0**1000]),
    ],
)
def test_similarities_do_not_depend_on_the_scale(blobs, make, scales):
    for scale in scales:
        np.testing.assert_array_equal(make([X * scale for X in blobs]), make(blobs))


def test_the_largest_numbers_are_no_reason_to_warn(blobs):
    largest = np.finfo(float).max
    X = np.where(blobs[0] > 0, largest, -largest)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for model in (TLRR(3, random_state=0), ConsensusTLRR(3, random_state=0)):
            assert set(model.fit_predict([X, blobs[1]])) == {0, 1, 2}


# ------------------------------------------------------------------ containers


def test_masked_similarities_are_refused_and_empty_masks_read(blobs):
    W = blobs[0] @ blobs[0].T
    with pytest.raises(ValueError, match="X: slice 1 .*45 masked"):
        TLRR(3, affinity="precomputed").fit([W, np.ma.array(W, mask=np.eye(45))])
    np.testing.assert_array_equal(check_views([np.ma.array(W)]), [W])


@pytest.mark.parametrize(
    "value", [1 + 2j, np.complex64(1j), 10**400, float, np.ones(2), pd.NA, {}], ids=repr
)
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame])
def test_objects_that_are_no_numbers_are_named_by_column(blobs, value, make):
    X = blobs[1].astype(object)
    X[7, 2] = value
    with pytest.raises((TypeError, ValueError), match="view 1 .*column 2"):
        methods.AWP(3).fit([blobs[0], make(X)])
