"""Fits that do not fit into memory are refused before any work, and estimates bound the peak."""

import re
import tracemalloc

import numpy as np
import pytest
from conftest import memory_map
from sklearn.base import clone

from mvsc_fast import ConsensusTLRR, datasets, methods

AVAILABLE = "mvsc_fast._utils.validation.available_memory"
ESTIMATORS = [estimator(3, random_state=0) for estimator in methods.ESTIMATORS.values()]


@pytest.fixture
def views(subspaces):
    return subspaces[0]


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(AVAILABLE, lambda: 2**20)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_what_does_not_fit_is_refused_before_any_work(estimator, views, little_memory):
    stages = []
    model = clone(estimator).set_params(callback=lambda state: stages.append(state.stage))
    name = type(estimator).__name__
    with pytest.raises(MemoryError, match=f"{name} .*60 .* 1 MiB") as e:
        model.fit(views)
    assert stages == []
    assert ("ConsensusTLRR clusters a subsample" in str(e.value)) == (name != "ConsensusTLRR")


def peak(function, *arguments):
    """Bytes of all arrays that a call has at a time; those of memory maps do not count."""
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("estimator", "n", "d"),
    [(ConsensusTLRR(5), 2000, 40), (ConsensusTLRR(5), 700, 1000), (methods.AWP(3), 800, 800)]
    + [(methods.LTMSC(3, max_iter=3), 400, 600)],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.filterwarnings("ignore:LTMSC did not converge")
@pytest.mark.slow
def test_estimates_bound_the_peak_with_a_quarter_to_spare(estimator, n, d, monkeypatch):
    """Workspaces of LAPACK and fragments, which are not traced, need that much."""
    views, _ = datasets.make_multiview_subspaces(n, 5, n_features=(d, d), random_state=0)
    model = clone(estimator).set_params(random_state=0, n_threads=1)
    with monkeypatch.context() as patch:
        patch.setattr(AVAILABLE, lambda: 0)
        with pytest.raises(MemoryError) as refused:
            model.fit(views)
    size, unit = re.search(r"about ([\d.e+]+) ([MG])iB", str(refused.value)).groups()
    estimate = float(size) * 2 ** {"M": 20, "G": 30}[unit]
    assert 0.3 < peak(model.fit, views) / estimate < 0.75


PLANS = [  # clusters, max_samples, samples that are clustered of 100 000
    (5, "auto", 4000),
    (5, 100, 100),
    (5, 5, 5),
    (50, "auto", 15_000),  # 300 of each of many clusters
    (80, "auto", 20_000),
    (600, "auto", 24_000),  # 40 of each, if that is more than 20 000
]


@pytest.mark.parametrize(("c", "max_samples", "n_clustered"), PLANS)
def test_the_number_of_clustered_samples(c, max_samples, n_clustered, little_memory):
    """Memory is asked for what is clustered, not for all samples."""
    view = np.random.default_rng(0).uniform(size=(10**5, 4))
    with pytest.raises(MemoryError, match=f" {n_clustered} samples"):
        ConsensusTLRR(c, max_samples=max_samples).fit(view)


def test_samples_are_not_fewer_than_clusters(little_memory):
    view = np.random.default_rng(0).uniform(size=(5000, 4))
    with pytest.raises(ValueError, match="max_samples=4 .*n_clusters=5"):
        ConsensusTLRR(5, max_samples=4).fit(view)


@pytest.mark.slow
def test_fits_and_predictions_keep_to_a_limit(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=12_000)
    views = [
        4 * rng.standard_normal((3, d))[y] + rng.standard_normal((len(y), d)) for d in (5, 300)
    ]
    stored = [views[0], memory_map(views[1].astype(np.float32), tmp_path)]
    model = ConsensusTLRR(3, max_samples=100, random_state=0, n_threads=1)
    limits = {"fit": 30 * 2**20, "predict": 8 * 2**20}
    for limited in (False, True):
        for name, given in (("fit", stored), ("predict", stored), ("predict", [views[0], None])):
            model.set_params(memory_limit=limits[name] if limited else None)
            assert (peak(getattr(model, name), given) < limits[name]) == limited


def test_a_limit_holds_for_reading_as_well_as_for_clustering():
    column = np.random.default_rng(0).uniform(size=(4 * 10**6, 1)).astype(np.float32)
    model = ConsensusTLRR(2, max_samples=10, memory_limit="118MiB")
    with pytest.raises(MemoryError, match="memory_limit=118 MiB") as refused:
        model.fit([column])
    sizes = re.findall(r"(?:about|at least) ([\d.]+) MiB", str(refused.value))
    clustering, reading = map(float, sizes)
    assert clustering < 118 < reading


def forecast(capsys, n=2000, n_views=2, d=20, n_clusters=5):
    """The seconds that a fit tells before it is interrupted."""

    def interrupt(state):
        raise KeyboardInterrupt

    views = np.random.default_rng(0).standard_normal((n_views, n, d), dtype=np.float32)
    model = ConsensusTLRR(
        n_clusters, max_samples=n, view_selection="all", verbose=1, callback=interrupt
    )
    with pytest.raises(KeyboardInterrupt):
        model.fit(list(views))
    return int(re.search(r"in about (\d+) s ", capsys.readouterr().err)[1])


@pytest.mark.parametrize("more", [{"n": 10_000}, {"n_views": 20}, {"d": 2000}, {"n_clusters": 300}])
def test_seconds_grow_with_samples_views_columns_and_clusters(capsys, more):
    assert forecast(capsys) + 2 <= forecast(capsys, **more) <= 12
