"""Shared data sets and helpers of the tests."""

import os
import warnings
from functools import partial
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import scipy.sparse
import threadpoolctl
from extensions import build
from hypothesis import HealthCheck, settings

from mvsc_fast import ConsensusTLRR, datasets
from mvsc_fast._utils import threads
from mvsc_fast.solvers import tlrr

LIBRARIES = threadpoolctl.ThreadpoolController()
SHARED = Path(__file__).resolve().parents[2] / "shared"
FULL = os.environ.get("MVSC_STRESS") == "full"  # random tests as often as a release demands


# Attacks, programs in C, workers of Dask, and every form of data with every condition and question.
SLOW = {"attack", "native", "test_matrix.py"}


def pytest_configure(config):
    """Leave the slow tests out of a run that names neither files, folders nor marks.

    Fits have one thread unless a test says how many: waiting threads take time from other tests.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if config.args_source is not config.ArgsSource.ARGS and not config.option.markexpr:
        config.option.markexpr = "not slow"


def pytest_collection_modifyitems(items):
    for item in items:
        if SLOW.intersection(item.path.parts) or "client" in item.fixturenames:
            item.add_marker(pytest.mark.slow)


# The published parameters, which the twins have as defaults.
PUBLISHED = {"alpha": 5.0, "lam": 15.0, "tol": 1e-4, "max_iter": 500}
published_tlrr = partial(tlrr, **PUBLISHED)

settings.register_profile("suite", max_examples=30, deadline=None, derandomize=True)
settings.load_profile("suite")


def examples(count):
    """Cases of a fuzz test: as in the suite, or five hundred times as many without a seed."""
    return settings(
        max_examples=count * 500 if FULL else count,
        derandomize=not FULL,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def random_similarities(v, n, seed=0, dtype=np.float64):
    """A symmetric, non-negative tensor of shape (v, n, n)."""
    W = np.abs(np.random.default_rng(seed).standard_normal((v, n, n)))
    return (W + W.transpose(0, 2, 1)).astype(dtype)


def random_views(n, dims, seed=0):
    """Views of n samples, with as many columns as ``dims`` says."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((n, d)) for d in dims]


def nonnegative_views(n, dims=(30, 20)):
    return [np.abs(X) for X in random_views(n, dims)]


def recovered(method, W, **parameters):
    """A method of low-rank recovery, fitted on a tensor of similarities."""
    return fitted(method(1, affinity="precomputed", n_init=1, **parameters), W)


def changed(A, index, value):
    """A copy of an array with another value."""
    A = A.copy()
    A[index] = value
    return A


def fitted(model, views):
    """The model after a fit in which it may warn, as it does of small random views."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(views)


def fitted_consensus(views, n_clusters=3, **parameters):
    """A `ConsensusTLRR` after a fit in which it may warn."""
    return fitted(ConsensusTLRR(n_clusters, random_state=0, **parameters), views)


def memory_map(X, folder, mode="r"):
    """The array in a new file of a folder, mapped."""
    path = folder / f"{uuid4()}.npy"
    np.save(path, X)
    return np.load(path, mmap_mode=mode)


def random_sparse(shape, density, rng):
    """`scipy.sparse.random_array`, whose parameter ``rng`` has another name before SciPy 1.15."""
    return scipy.sparse.csr_array(rng.random(shape) * (rng.random(shape) < density))


def thread_settings(kind=None):
    """Threads of all libraries, or of those of a kind."""
    found = threadpoolctl.threadpool_info()
    return [lib["num_threads"] for lib in found if kind in (None, lib["user_api"])]


@pytest.fixture(autouse=True)
def one_blas_thread(request):
    """Twins multiply small matrices, where BLAS threads waiting for each other cost a hundredfold.

    The tests of threads see the settings of the process.
    """
    if request.module.__name__.endswith(("test_threads", "test_concurrency")):
        yield
        return
    with LIBRARIES.limit(limits=1, user_api="blas"):
        yield


@pytest.fixture
def threads_at_any_size(monkeypatch):
    """Small problems have one thread; here they have as many as a test asks for."""
    monkeypatch.setattr(threads, "SMALL", 0)


@pytest.fixture(scope="session")
def subspaces():
    """Views of 60 samples, and their three clusters, which every method finds."""
    return datasets.make_multiview_subspaces(60, 3, random_state=0)


@pytest.fixture
def data(tmp_path):
    """A file of views and labels that the command reads."""
    views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    np.savez(tmp_path / "data.npz", view_0=views[0], view_1=views[1], y=y)
    return tmp_path / "data.npz"


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """Folder of the extension modules, which all test processes share."""
    folder = tmp_path_factory.getbasetemp()
    return folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder


@pytest.fixture(scope="session")
def core_parts(compiled):
    """Parts of the TLRR core one at a time, compiled against the installed package."""
    return build(Path(__file__).parent / "core_parts", compiled)


@pytest.fixture(scope="session")
def shared():
    """Folder of the benchmark data; tests that need it skip where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("benchmark data are not beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def load_shared(shared):
    """Views and labels of a shared data set, shuffled where a seed is given."""

    def load(name, seed=None):
        with np.load(shared / "data" / f"{name}.npz", allow_pickle=False) as file:
            count = sum(key.startswith("view_") for key in file.files)
            views = [file[f"view_{i}"] for i in range(count)]
            y = file["y"]
        if seed is not None:
            order = np.random.RandomState(seed).permutation(len(y))
            views, y = [X[order] for X in views], y[order]
        return views, y

    return load


@pytest.fixture(scope="session")
def yaleb_tensor(shared):
    """W = |Z| + |Z|^T of t-SVD-MSC on YaleB, in file order, and the labels."""
    with np.load(shared / "data" / "yaleb10_selfrep.npz", allow_pickle=False) as file:
        Z = np.abs(file["Z"].astype(np.float64))
        return Z + Z.transpose(0, 2, 1), file["y"]
