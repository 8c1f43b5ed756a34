"""Views outside memory are scaled block by block, with the results of views in memory."""

import pickle
import re
from pathlib import Path

import dask.array as da
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    StandardScaler,
)

from mvsc_fast import ConsensusTLRR, datasets, explain
from mvsc_fast.preprocessing import PerView, ViewSplitter, _stored

N = 300


@pytest.fixture(scope="module")
def views():
    found, _ = datasets.make_multiview_subspaces(N, 3, n_features=(12, 8), random_state=0)
    found[0] *= 10.0 ** np.arange(12)
    found[1][:20] = np.nan
    return found


def memory_map(X, folder):
    path = folder / f"{X.shape[1]}.npy"
    np.save(path, X)
    return np.load(path, mmap_mode="r")


FORMS = {
    "memory map": memory_map,
    "hdf5": lambda X, folder: h5py.File(folder / f"{X.shape[1]}.h5", "w").create_dataset(
        "X", data=X, chunks=(70, 3)
    ),
    "zarr": lambda X, folder: zarr.array(X, chunks=(70, 3)),
    "dask": lambda X, folder: da.from_array(X, chunks=((130, 0, 170), -1)),
}
SCALERS = [StandardScaler(), MinMaxScaler(), MaxAbsScaler()]


@pytest.fixture(params=FORMS)
def stored(request, views, tmp_path):
    return [FORMS[request.param](X, tmp_path) for X in views]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 40 rows."""
    monkeypatch.setattr(_stored, "block_rows", lambda n_features, available: 40)


def is_lazy(view):
    return isinstance(view, da.Array) or not isinstance(view, np.ndarray)


@pytest.mark.parametrize("scaler", SCALERS, ids=lambda one: type(one).__name__)
def test_views_are_transformed_when_they_are_read(views, stored, scaler):
    found = PerView(scaler).fit_transform(stored)
    for view, same in zip(found, PerView(scaler).fit_transform(views), strict=True):
        assert is_lazy(view) and (view.shape, view.dtype, view.ndim) == (same.shape, same.dtype, 2)
        np.testing.assert_array_equal(np.asarray(view), same)
        np.testing.assert_array_equal(np.asarray(view[70:140]), same[70:140])


def test_a_fit_depends_on_the_shape_alone(views, stored, small_blocks, tmp_path):
    fitted = [PerView(StandardScaler()).fit(one) for one in (stored, [X[:] for X in stored])]
    other = PerView(StandardScaler()).fit([memory_map(X, tmp_path) for X in views])
    for a, b, c in zip(*(one.transformers_ for one in (*fitted, other)), strict=True):
        np.testing.assert_array_equal(a.var_, c.var_)
        np.testing.assert_allclose(a.var_, b.var_, rtol=1e-12)
        np.testing.assert_array_equal(a.n_samples_seen_, b.n_samples_seen_)


def test_labels_do_not_depend_on_the_form_of_views(views, stored):
    model, same = (
        make_pipeline(PerView(StandardScaler()), ConsensusTLRR(3, max_samples=100, random_state=0))
        for _ in range(2)
    )
    model.fit(stored), same.fit(views)
    np.testing.assert_array_equal(np.asarray(model[-1].labels_), same[-1].labels_)
    np.testing.assert_array_equal(np.asarray(model.predict(stored)), same.predict(views))
    assert str(explain(model, stored)) == str(explain(same, views))


def test_no_block_has_fewer_rows_than_components(monkeypatch, tmp_path):
    X = np.random.RandomState(0).standard_normal((103, 12))
    monkeypatch.setattr(_stored, "block_rows", lambda n_features, available: 5)
    for view in (memory_map(X, tmp_path), da.from_array(X, chunks=(51, -1))):
        assert PerView(IncrementalPCA(10)).fit_transform([view])[0].shape == (103, 10)


class Recorded(MaxAbsScaler):
    """A scaler that keeps the number of rows of each block that it is fitted on."""

    def partial_fit(self, X, y=None):
        self.blocks_ = [*getattr(self, "blocks_", []), len(X)]
        return super().partial_fit(X)


@pytest.mark.parametrize(("n", "blocks"), [(103, [10] * 9 + [13]), (20, [10, 10]), (7, [7])])
def test_blocks_of_a_fit_have_one_size(n, blocks, monkeypatch, tmp_path):
    monkeypatch.setattr(_stored, "block_rows", lambda n_features, available: 10)
    X = np.random.RandomState(0).standard_normal((n, 3))
    for view in (memory_map(X, tmp_path), da.from_array(X, chunks=(6, -1))):
        (one,) = PerView(Recorded()).fit([view]).transformers_
        assert one.blocks_ == blocks
        np.testing.assert_array_equal(one.max_abs_, abs(X).max(axis=0))


def test_a_stored_view_of_one_row_is_transformed():
    step = PerView(StandardScaler()).fit([np.diag([1.0, 2, 3])])
    (found,) = step.transform([da.from_array(np.ones((1, 3)), chunks=(1, -1))])
    np.testing.assert_array_equal(np.asarray(found), step.transform([np.ones((1, 3))])[0])
    with pytest.raises(ValueError, match="view 0 has inf in row 0, column 2: impute or remove"):
        step.transform([da.from_array(np.array([[0, 1, np.inf]]), chunks=(1, -1))])


def test_no_more_than_a_block_is_read_at_once(views, small_blocks):
    class Counted:
        """Rows that are read by slices."""

        ndim, dtype, most = 2, np.dtype(np.float64), 0

        def __init__(self, X):
            self.X, self.shape = X, X.shape

        def __getitem__(self, rows):
            self.most = max(self.most, len(self.X[rows]))
            return self.X[rows]

    view = Counted(views[0])
    (found,) = PerView(StandardScaler()).fit_transform([view])
    found[10:50]
    assert view.most == 40


def test_other_transformers_read_the_whole_view(views, stored, monkeypatch):
    given = {"a": PCA(2), "b": None}
    found = PerView(given).fit_transform({"a": stored[0], "b": stored[1]})
    assert isinstance(found["a"], np.ndarray) and found["b"] is stored[1]
    np.testing.assert_allclose(found["a"], PCA(2).fit_transform(views[0]))
    monkeypatch.setattr("mvsc_fast._utils.validation.available_memory", lambda: 1000)
    message = "view 'a' in memory needs about 0.0275 MiB, .* use a transformer with partial_fit"
    for call in (
        PerView(given).fit,
        PerView(given).fit(dict(zip("ab", views, strict=True))).transform,
    ):
        with pytest.raises(MemoryError, match=message):
            call({"a": stored[0], "b": stored[1]})


def test_a_function_of_columns_reads_the_whole_view(views, stored):
    centred = FunctionTransformer(lambda X: X - X.mean(axis=0))
    (found,) = PerView(centred).fit_transform(stored[:1])
    np.testing.assert_array_equal(found, views[0] - views[0].mean(axis=0))


def test_infinite_cells_of_stored_views_have_a_row(views, stored, small_blocks, tmp_path):
    model = make_pipeline(PerView(StandardScaler()), ConsensusTLRR(3, random_state=0)).fit(stored)
    bad = views[0].copy()
    bad[217, 5] = np.inf
    is_dask = isinstance(stored[0], da.Array)
    bad = FORMS["dask" if is_dask else "memory map"](bad, tmp_path)
    message = "view 0 has inf in row 217, column 5: impute or remove such samples first"
    for call in (lambda X: np.asarray(model.predict(X)), model.fit):
        with pytest.raises(ValueError, match=message):
            call([bad, stored[1]])


@pytest.mark.parametrize(
    "form", [np.asarray, scipy.sparse.csr_array, lambda X: pd.DataFrame(X).add_prefix("c")]
)
def test_cells_that_are_not_finite_have_a_view_row_and_column(form):
    X = np.random.RandomState(0).standard_normal((20, 3))
    model = PerView({"a": MaxAbsScaler(), "b": PCA(1)}).fit({"a": form(X), "b": X})
    X[7, 1], X[9, 0] = -np.inf, np.nan
    column = "'c1'" if hasattr(form(X), "columns") else "1"
    with pytest.raises(ValueError, match=f"view 'a' has inf in row 7, column {column}: impute or"):
        model.transform({"a": form(X)})
    with pytest.raises(ValueError, match="view 'b' has nan in row 9, column 0: impute or remove"):
        model.transform({"b": np.nan_to_num(X, posinf=0, neginf=0) + np.where(np.isnan(X), X, 0)})


def test_lazy_views_are_read_by_slices_only(stored):
    (view,) = PerView(StandardScaler()).fit_transform(stored[:1])
    if not isinstance(view, da.Array):
        with pytest.raises(TypeError, match="rows are read by slices"):
            view[[3, 1]]
        assert len(view) == N and view[5:5].shape == (0, 12)


def test_lazy_views_of_files_are_pickled(views, tmp_path):
    (view,) = PerView(StandardScaler()).fit_transform([memory_map(views[0], tmp_path)])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(view))[:9], view[:9])


def test_a_stored_table_is_split_when_it_is_read(views, tmp_path):
    table = np.hstack(views)
    for form in FORMS.values():
        kept = form(table, tmp_path)
        found = ViewSplitter([slice(12), [19, 12]]).fit_transform(kept)
        assert all(map(is_lazy, found))
        np.testing.assert_array_equal(np.asarray(found[0]), table[:, :12])
        np.testing.assert_array_equal(np.asarray(found[1][10:90]), table[10:90, [19, 12]])


def test_a_frame_with_a_column_of_dask_is_a_frame(views):
    frame = pd.DataFrame(views[0]).add_prefix("c").rename(columns={"c0": "__dask_graph__"})
    found = PerView(StandardScaler()).fit_transform([frame])[0]
    np.testing.assert_array_equal(found, StandardScaler().fit_transform(frame))


def test_scaled_rows_give_the_pages_of_their_file_back(tmp_path):
    X = np.random.default_rng(0).standard_normal((20_000, 50))
    np.save(tmp_path / "x.npy", X)
    stored = np.load(tmp_path / "x.npy", mmap_mode="r")
    (rows,) = PerView(StandardScaler()).fit_transform([stored])
    np.testing.assert_allclose(rows[5:9], ((X - X.mean(axis=0)) / X.std(axis=0))[5:9])
    assert np.ptp(rows[:]) > 1
    _, _, after = Path("/proc/self/smaps").read_text().partition(str(tmp_path))
    assert re.search(r"^Rss: *(\d+) kB", after, re.MULTILINE)[1] == "0"
