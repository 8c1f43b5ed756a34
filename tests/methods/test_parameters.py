"""Wrong parameters, by value and by type, raise errors that name them before any work."""

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone

import mvsc_fast
from mvsc_fast import TLRR, ConsensusTLRR, datasets, methods, metrics, similarity, spectral, views
from mvsc_fast.explanation import markers, plot_markers
from mvsc_fast.methods import AWP, ETLMSC, LTMSC, SNN, TRPCA
from mvsc_fast.preprocessing import ViewSplitter
from mvsc_fast.solvers import tlrr

VIEWS, LABELS = datasets.make_multiview_subspaces(60, 3, n_features=(4, 7), random_state=0)
FRAME = pd.DataFrame(VIEWS[0])
FITTED = AWP(3).fit(VIEWS)
W = similarity.nearest_neighbors(VIEWS)
ESTIMATORS = [estimator(n_clusters=3) for estimator in methods.ESTIMATORS.values()]
FUNCTIONS = {
    tlrr: (W,),
    mvsc_fast.consensus_labels: ([[0, 0, 1]], 2),
    mvsc_fast.suggest_n_clusters: (VIEWS,),
    similarity.nearest_neighbors: (VIEWS,),
    similarity.self_representation: (VIEWS,),
    spectral.fuse: (W,),
    spectral.spectral_embedding: (W[0], 3),
    spectral.spectral_labels: (W[0], 3),
    datasets.make_multiview_subspaces: (),
    mvsc_fast.explain: (FITTED, VIEWS),
    mvsc_fast.label_predictability: (VIEWS, LABELS),
    markers: (FITTED, VIEWS),
    metrics.clustering_scores: (LABELS,),
    metrics.compare: ({"a": FITTED}, VIEWS, LABELS),
    mvsc_fast.structure_test: (VIEWS, 3),
    views.align: ([FRAME],),
    views.check_views: (VIEWS,),
    views.missing: (VIEWS[0],),
}

# Values that are wrong; all other parameters are numbers, none of which may be -1.
WRONG = {
    "callback": 3,
    "effect": "large",
    "features": "zeros",
    "affinity": "lsh",
    "init": "random",
    "random_state": "seed",
    "sample_transform": "dct",
    "solver": "admm",
    "update": "both",
    "store": "some",
    "view_selection": "some",
    "view_transform": "graph",
    "n_init": 0,
    "n_jobs": 0,
    "n_neighbors": 0,
}


class Untouchable:
    """Data that nobody may look at."""

    def __getattribute__(self, name):
        raise AssertionError(f"{name} of the data was asked for before the parameters were checked")


@pytest.mark.parametrize(
    ("estimator", "name"),
    [(estimator, name) for estimator in ESTIMATORS for name in estimator.get_params(deep=False)],
)
def test_every_parameter_of_an_estimator_is_checked_before_any_work(estimator, name):
    wrong = clone(estimator).set_params(**{name: WRONG.get(name, -1)})
    with pytest.raises(ValueError, match=name if name != "random_state" else "seed"):
        wrong.fit(Untouchable())
    with pytest.raises(TypeError, match=name) as error:
        wrong.set_params(**{name: object()}).fit(Untouchable())
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (function, name)
        for function, data in FUNCTIONS.items()
        for name in list(inspect.signature(function).parameters)[len(data) :]
    ],
)
def test_every_parameter_of_a_function_is_checked(function, name):
    data = FUNCTIONS[function]
    if function is tlrr:  # before any work
        data = (Untouchable(),)
    with pytest.raises(ValueError, match=name):
        function(*data, **{name: WRONG.get(name, -1)})
    with pytest.raises(TypeError, match=name) as error:
        function(*data, **{name: object()})
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("wrong", [-1, object()])
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda wrong: mvsc_fast.annotate(wrong, FITTED), "data"),
        (lambda wrong: mvsc_fast.consensus_labels(wrong, 2), "labellings"),
        (lambda wrong: datasets.load_mat("data.npz", views=wrong), "views"),
        (lambda wrong: datasets.load_mat("data.npz", truth=wrong), "truth"),
        (lambda wrong: datasets.load_mat("data.npz", transpose=wrong), "transpose"),
        (lambda wrong: mvsc_fast.explain(wrong, VIEWS), "model .*estimator"),
        (lambda wrong: mvsc_fast.label_predictability(VIEWS, wrong), "labels"),
        (lambda wrong: metrics.compare([wrong], VIEWS, LABELS), "methods .*list"),
        (lambda wrong: metrics.compare({"a": wrong}, VIEWS, LABELS), "'a'.* estimator"),
        (lambda wrong: plot_markers(wrong), "table"),
        (lambda wrong: plot_markers(markers(FITTED, VIEWS), n_top=wrong), "n_top"),
        (lambda wrong: views.align(wrong), "neither .*DataFrame"),
        (lambda wrong: views.from_anndata(None, use=wrong), "use"),
        (lambda wrong: ViewSplitter(wrong).fit(FRAME), "views"),
    ],
)
def test_wrong_types_are_errors_of_both_kinds(call, name, wrong):
    with pytest.raises(TypeError, match=name) as error:
        call(wrong)
    assert isinstance(error.value, ValueError)


SUBSPACES = datasets.make_multiview_subspaces
BAD = [
    (SUBSPACES, {"n_clusters": 400}, "n_clusters=400 is more than .*300"),
    (SUBSPACES, {"quality": (1.0, 0.5)}, "quality must be one number or 3, got 2"),
    (SUBSPACES, {"quality": (1.0, 2.0, 0.0)}, "quality == 2.0, must be <= 1"),
    (mvsc_fast.structure_test, {"n_clusters": 1}, "n_clusters == 1, must be >= 2"),
    (mvsc_fast.structure_test, {"n_rotations": 1}, "n_rotations == 1, must be >= 2"),
    (mvsc_fast.structure_test, {"max_samples": 19}, "max_samples == 19, must be >= 20"),
    (mvsc_fast.suggest_n_clusters, {"max_clusters": 1}, "max_clusters == 1, must be >= 2"),
    (mvsc_fast.suggest_n_clusters, {"max_samples": 5}, "max_samples == 5, must be >= 6"),
    (tlrr, {"lam": np.inf}, "lam == inf"),
    (tlrr, {"alpha": np.nan}, "alpha == nan"),
    (tlrr, {"n_threads": "2"}, "n_threads=None"),
    (tlrr, {"solver": ["dual"]}, "solver .*'dual', 'ialm'"),
    (tlrr, {"alpha": 0.0}, "n_neighbors .*lam"),
    (tlrr, {"omega1": 1.0}, "n_neighbors .*lam"),
    (tlrr, {"sample_weight": np.ones(60)}, "lam .*sample_weight"),
    (tlrr, {"sample_weight": 3}, "sample_weight .*3"),
    (tlrr, {"sample_weight": np.ones((60, 1))}, r"sample_weight .* shape \(60, 1\)\."),
    (tlrr, {"sample_weight": [1, 2, 0, 3]}, r"sample_weight\[2\] == 0"),
    (tlrr, {"sample_weight": [1, np.nan, 3]}, "sample_weight .*NaN"),
    (tlrr, {"sample_weight": [1, np.inf, 3]}, "sample_weight .*infinity"),
    (tlrr, {"sample_weight": [1, 1e13, 3]}, "1e-12 and 1e12"),
    (tlrr, {"sample_weight": [1, 2, 3], "lam": 1.0}, "3 entries.* 60 samples"),
    (tlrr, {"sample_weight": np.ones(60), "lam": 1.0, "solver": "ialm"}, "ialm.*weights"),
    (TLRR, {"affinity": 3}, "affinity .*3"),
    (TRPCA, {"view_transform": np.eye(3)}, r"view_transform .*\(3, 3\).*\(4, 4\)"),
    (TRPCA, {"view_transform": np.ones((4, 4))}, "not orthonormal"),
    (SNN, {"weights": (1.0, np.nan)}, "weights"),
    (SNN, {"weights": []}, "weights .*2, got 0"),
    (LTMSC, {"gamma": (1.0, 2.0)}, "gamma .*3, got 2"),
    (ETLMSC, {"axis": 2}, "axis .*0 or 1, got 2"),
    (ETLMSC, {"sample_transform": np.eye(3)}, r"expected \(60, 60\)"),
    (ConsensusTLRR, {"max_samples": "aut"}, "max_samples='auto'"),
    (ConsensusTLRR, {"max_samples": 2}, "max_samples=2 .*n_clusters=3"),
    (methods.LTMSC, {"lam": 1e308}, r"lam == 1e\+308, must be < 1e\+30"),
    (methods.DiMSC, {"lam_s": 1e31}, r"lam_s == 1e\+31, must be <= 1e\+30"),
]


@pytest.mark.parametrize(
    ("function", "parameters", "message"),
    BAD,
    ids=[" ".join([function.__name__, *parameters]) for function, parameters, _ in BAD],
)
def test_bad_parameters(function, parameters, message):
    with pytest.raises(ValueError, match=message):
        if isinstance(function, type):
            function(**{"n_clusters": 3, **parameters}).fit(VIEWS)
        elif function is mvsc_fast.structure_test:
            function(VIEWS, **{"n_clusters": 3, **parameters})
        else:
            function(*FUNCTIONS[function], **parameters)


def test_the_published_solver_refuses_sparse_input():
    with pytest.raises(ValueError, match='use solver="dual"'):
        tlrr([scipy.sparse.csr_array(A) for A in W], solver="ialm", lam=1.0)


@pytest.mark.filterwarnings("ignore:the labels agree little")
def test_whole_floats_are_integers():
    model = ConsensusTLRR(3, max_samples=50, random_state=0)
    expected = model.fit_predict(VIEWS)
    for values in (
        {"n_clusters": np.float64(3), "max_samples": 50.0, "n_threads": 1.0},
        {"n_clusters": np.int8(3), "max_samples": np.uint8(50)},  # which must not overflow
    ):
        np.testing.assert_array_equal(model.set_params(**values).fit_predict(VIEWS), expected)
        assert type(model.n_clusters) is type(values["n_clusters"])  # as scikit-learn demands
    expected = ConsensusTLRR(3, random_state=0).fit_predict(VIEWS)
    limitless = ConsensusTLRR(3, max_samples=1e30, n_threads=10**20, random_state=0)
    np.testing.assert_array_equal(limitless.fit_predict(VIEWS), expected)
    TLRR(3, max_iter=1e308, random_state=0).fit(VIEWS)
    model = TLRR(3.0, max_iter=np.float32(20), n_init=5.0, random_state=0).fit(VIEWS)
    expected = TLRR(3, max_iter=20, n_init=5, random_state=0).fit_predict(VIEWS)
    np.testing.assert_array_equal(model.labels_, expected)
    for wrong in (np.nan, np.inf, 3.5, 2 + 0j, True, np.bool_(True), "3", None):
        with pytest.raises(ValueError, match="n_clusters must be an integer"):
            TLRR(wrong).fit(VIEWS)
