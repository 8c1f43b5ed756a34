"""Parameters of the function, behaviour of the estimator, and accuracy on shuffled samples."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import random_similarities
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from mvsc_fast import TLRR, TSVDMSC, ConsensusTLRR, datasets, graphs, tlrr
from mvsc_fast.methods import _choice
from mvsc_fast.metrics import clustering_scores


@pytest.fixture(scope="module")
def subspaces():
    return datasets.make_multiview_subspaces(120, 4, random_state=0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"omega1": 1.5}, "omega1 == 1.5, must be <= 1"),
        ({"omega1": np.nan}, "omega1"),
        ({"alpha": -1.0}, "alpha == -1.0, must be >= 0"),
        ({"lam": 0.0}, "lam == 0.0, must be > 0"),
        ({"lam": np.inf}, "lam == inf"),
        ({"solver": "admm"}, "solver must be one of 'dual', 'ialm', got 'admm'"),
        ({"tol": -1e-3}, "tol"),
        ({"max_iter": -1}, "max_iter"),
        ({"mu": 0.0}, "mu"),
        ({"rho": 0.9}, "rho"),
        ({"n_threads": -1}, "n_threads"),
    ],
)
def test_bad_parameters_of_the_function(parameters, message):
    with pytest.raises(ValueError, match=message):
        tlrr(random_similarities(2, 4), **parameters)


def test_the_published_solver_refuses_sparse_input():
    import scipy.sparse

    with pytest.raises(ValueError, match='use solver="dual"'):
        tlrr([scipy.sparse.csr_array(np.eye(4))], solver="ialm")


def test_objective_equals_its_definition():
    import reference.tlrr as twin

    W = random_similarities(3, 12)
    result = tlrr(W, lam=3.0, max_iter=2)
    expected = twin.objective(result.tensor, W, 0.5, 5.0, 3.0)
    assert result.objective(W) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters == 0, must be >= 1"),
        ({"n_clusters": 121}, "n_clusters=121 is more than the number of samples, n_samples=120"),
        ({"omega1": -0.1}, "omega1"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": 0.0}, 'lam="auto" sets the tube threshold'),
        ({"lam": -1.0}, "lam"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"graph": "lsh"}, "graph must be one of 'precomputed', 'tsvd', 'selfrep'"),
        ({"graph": 3}, "or an estimator, got 3"),
        ({"solver": "admm"}, "solver"),
        ({"tail": -0.5}, "tail"),
        ({"n_init": 0}, "n_init"),
        ({"n_threads": 0}, "n_threads"),
    ],
)
def test_bad_parameters_of_the_estimator(subspaces, parameters, message):
    with pytest.raises(ValueError, match=message):
        TLRR(**{"n_clusters": 4, **parameters}).fit(subspaces[0])


def test_fitted_attributes(subspaces):
    views, y = subspaces
    before = [X.copy() for X in views]
    model = TLRR(4, random_state=0)
    labels = model.fit_predict(views)
    assert labels is model.labels_ and labels.shape == (120,)
    assert model.similarity_.shape == model.tensor_.shape == (4, 120, 120)  # one view twice
    assert model.affinity_.shape == (120, 120)
    columns = {"c": 4, "2c": 8}[model.path_.embedding[model.path_.best]]
    assert model.embedding_.shape == (120, columns)
    assert model.n_features_in_ == [40, 60, 30] and model.n_iter_ >= 1 and model.converged_
    assert model.n_neighbors_ in model.path_.n_neighbors and model.lam_ > 0
    expected = graphs.self_representation(views)
    np.testing.assert_allclose(model.similarity_, expected, rtol=1e-9, atol=1e-12)
    assert clustering_scores(y, labels)["acc"] >= 0.95
    for X, original in zip(views, before, strict=True):
        np.testing.assert_array_equal(X, original)


@pytest.mark.parametrize("graph", ["selfrep", "knn", "gaussian", "tsvd", TSVDMSC(4, lam=0.5)])
@pytest.mark.parametrize("solver", ["dual", "ialm"])
def test_every_graph_and_solver(graph, solver):
    X, y = make_blobs(120, n_features=40, centers=4, cluster_std=1.0, random_state=0)
    views = [X[:, :20], X[:, 20:]]
    labels = TLRR(4, graph=graph, solver=solver, n_neighbors=8, random_state=0).fit_predict(views)
    assert clustering_scores(y, labels)["acc"] >= 0.9


def test_precomputed_similarities_and_fitted_estimators(subspaces):
    views, _ = subspaces
    direct = TLRR(4, n_neighbors=15, random_state=0).fit(views)
    W = graphs.self_representation(views)
    precomputed = TLRR(4, graph="precomputed", n_neighbors=15, random_state=0).fit(W)
    np.testing.assert_array_equal(precomputed.labels_, direct.labels_)
    assert precomputed.n_features_in_ == 120
    source = TSVDMSC(4, random_state=0).fit(views)
    chained = TLRR(4, graph=source, n_neighbors=8, random_state=0).fit(views)
    np.testing.assert_array_equal(chained.similarity_, source.tensor_)
    with pytest.raises(ValueError, match="fitted on 120 samples, the views have 60"):
        TLRR(4, graph=source).fit([X[:60] for X in views])
    with pytest.raises(ValueError, match="X: slice 0 has 2 negative entries"):
        W[0, 1, 2] = W[0, 2, 1] = -1
        TLRR(4, graph="precomputed").fit(W)


@pytest.mark.parametrize("n_clusters", [3, 5, 8])
def test_separated_blobs_are_found(n_clusters):
    rng = np.random.RandomState(n_clusters)
    y = rng.randint(n_clusters, size=130)
    views = [
        np.take(4 * rng.randn(n_clusters, 10), y, axis=0) + rng.randn(130, 10) for _ in range(3)
    ]
    model = TLRR(n_clusters, tol=3e-3, random_state=0).fit(views)
    assert clustering_scores(y, model.labels_)["acc"] == 1.0
    assert model.n_neighbors_ == model.path_.n_neighbors.max() == 42  # all are right: the largest


@pytest.mark.parametrize("Estimator", [TLRR, ConsensusTLRR])
def test_samples_that_resemble_no_other_are_told_of(Estimator):
    with pytest.warns(UserWarning, match="60 of 60 samples resemble no other in any view"):
        Estimator(3, random_state=0).fit([np.eye(60)])


def test_subspaces_with_hardly_a_link_between_them_are_found():
    views, y = datasets.make_multiview_subspaces(
        600, 4, n_features=(20, 30), subspace_dim=2, random_state=4
    )
    model = TLRR(4, size="sparse", random_state=4).fit(views)
    assert clustering_scores(y, model.labels_)["acc"] == 1.0


def test_the_better_judged_labels_are_kept(subspaces, monkeypatch):
    views, _ = subspaces
    model = TLRR(4, random_state=0).fit(views)
    assert model.labels_from_ == "tensor"

    class AgainstTheLast(_choice.JudgeByViews):
        def __call__(self, labellings, n_clusters):
            return [0.0] if len(labellings) == 1 else super().__call__(labellings, n_clusters)

    monkeypatch.setattr(_choice, "JudgeByViews", AgainstTheLast)
    with pytest.warns(UserWarning, match=r"labels of predictability 0\.000.*the latter are kept"):
        kept = TLRR(4, refine=False, random_state=0).fit(views)
    assert kept.labels_from_ == "path"
    np.testing.assert_array_equal(kept.labels_, kept.path_.labels[kept.path_.best])
    assert kept.affinity_.shape == (120, 120) and kept.embedding_.shape == model.embedding_.shape


@pytest.mark.parametrize("worse, kept", [(0.01, "tensor"), (0.03, "path")])
def test_a_little_less_predictable_is_no_reason_to_keep_labels_of_fewer_starts(
    subspaces, monkeypatch, worse, kept
):
    class Judge(_choice.JudgeByViews):
        def __call__(self, labellings, n_clusters):
            return [1.0 - worse] if len(labellings) == 1 else np.ones(len(labellings))

    monkeypatch.setattr(_choice, "JudgeByViews", Judge)
    model = TLRR(4, size="sparse", random_state=0).fit(subspaces[0])
    assert model.n_iter_ == 0 and model.labels_from_ == kept


def test_precomputed_similarities_are_judged_by_their_own_graph():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 30)
    W = rng.uniform(0, 0.5, (2, 120, 120)) + (y[:, None] == y)
    W += W.transpose(0, 2, 1)
    model = TLRR(4, graph="precomputed", random_state=0).fit(W)
    assert clustering_scores(y, model.labels_)["acc"] == 1.0
    assert model.path_.predictability.max() == 1.0


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_labels_do_not_depend_on_the_scale_of_the_similarities(subspaces, factor):
    W = graphs.self_representation(subspaces[0])
    one, other = (
        TLRR(4, graph="precomputed", random_state=0).fit(s * W).labels_ for s in (1.0, factor)
    )
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("Estimator", [TLRR, TSVDMSC])
@pytest.mark.parametrize("seed", range(3))
def test_permuting_the_samples_permutes_the_labels(Estimator, seed):
    views, y = datasets.make_multiview_subspaces(100, 4, noise=0.2, random_state=seed)
    order = np.random.default_rng(seed).permutation(100)
    labels = Estimator(4, random_state=0).fit_predict(views)
    permuted = Estimator(4, random_state=0).fit_predict([X[order] for X in views])
    assert adjusted_rand_score(permuted, labels[order]) == 1


def test_labels_are_reproducible_and_leave_the_global_generator_alone(subspaces):
    views, _ = subspaces
    state = np.random.get_state()[1].copy()
    one, two = (TLRR(4, random_state=7, n_threads=k).fit_predict(views) for k in (1, 2))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(np.random.get_state()[1], state)


@pytest.mark.parametrize("Estimator", [TLRR, TSVDMSC])
@pytest.mark.filterwarnings("ignore:view 2. all samples are equal")
@pytest.mark.filterwarnings("ignore:the tensor at 11 neighbors gives labels of predictability")
def test_constant_views_duplicates_and_unusual_layouts(subspaces, Estimator):
    X, Y = subspaces[0][:2]
    X, Y = X[:60].copy(), np.asfortranarray(Y[:60])
    X[1:12] = X[0]
    X[30] = 0
    X.flags.writeable = False
    labels = Estimator(3, random_state=0).fit_predict([X, Y[:, ::2], np.ones((60, 4))])
    assert labels.shape == (60,) and set(labels) <= {0, 1, 2}


def test_memory_mapped_views(subspaces, tmp_path):
    np.save(tmp_path / "X.npy", subspaces[0][0])
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        TLRR(4, random_state=0).fit_predict([mapped]),
        TLRR(4, random_state=0).fit_predict(subspaces[0][0]),
    )


def test_verbose_and_given_parameters(subspaces, capsys):
    model = TLRR(4, lam=3.0, verbose=1, random_state=0).fit(subspaces[0])
    assert "[TLRR] 4 views, 120 samples" in capsys.readouterr().err
    assert model.lam_ == 3.0 and model.path_ is None and model.n_neighbors_ > 0


def test_running_out_of_iterations_is_a_warning(subspaces):
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="TLRR stopped after 3 iterations at a residual"):
        TLRR(4, n_neighbors=8, solver="ialm", max_iter=3).fit(subspaces[0])


@pytest.mark.filterwarnings("ignore:the tensor at")
@pytest.mark.parametrize(
    ("name", "bar"),
    [("yaleb10", 0.97), ("orl_3view", 0.87), ("bbc4view", 0.91), ("ngs", 0.97)],
)
def test_accuracy_with_default_settings_on_shuffled_samples(load_shared, name, bar):
    scores = []
    for seed in range(3):
        views, y = load_shared(name, seed)
        labels = TLRR(len(np.unique(y)), random_state=seed).fit_predict(views)
        scores.append(clustering_scores(y, labels)["acc"])
    assert np.mean(scores) >= bar


def test_accuracy_on_published_similarities(yaleb_tensor):
    W, y = yaleb_tensor
    order = np.random.RandomState(0).permutation(len(y))
    model = TLRR(10, graph="precomputed", random_state=0).fit(W[:, order][:, :, order])
    assert clustering_scores(y[order], model.labels_)["acc"] >= 0.93


def test_accuracy_on_a_part_of_the_embedded_digits():
    views, y = datasets.load_handwritten()
    chosen = np.random.RandomState(0).permutation(len(y))[:600]
    labels = TLRR(10, random_state=0).fit_predict([X[chosen] for X in views])
    assert clustering_scores(y[chosen], labels)["acc"] >= 0.93


@pytest.mark.parametrize("solver", ["ialm", "dual"])
def test_interrupt_ends_within_an_iteration_and_restores_threads(solver):
    """SIGINT from the callback's thread while the solver runs on."""
    code = f"""
        import signal
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
        import numpy as np, threadpoolctl
        from mvsc_fast import tlrr
        W = np.abs(np.random.default_rng(0).standard_normal((3, 300, 300)))
        W += W.transpose(0, 2, 1)
        settings = lambda: [x["num_threads"] for x in threadpoolctl.threadpool_info()
                            if x["user_api"] == "blas"]
        before, times = settings(), []
        def watch(state):
            times.append(state.iteration)
            if len(times) == 5:
                signal.raise_signal(signal.SIGINT)
        try:
            tlrr(W, solver={solver!r}, alpha=0.1, lam=0.3, tol=0, max_iter=500, callback=watch)
        except KeyboardInterrupt:
            assert len(times) == 5, times
            assert settings() == before
            tlrr(W[:, :50, :50], solver={solver!r})
            print("interrupted")
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120
    )
    assert run.stdout.strip() == "interrupted", run.stderr


@pytest.mark.parametrize(("solver", "limit"), [("ialm", 8), ("dual", 8)])
def test_peak_memory_in_tensors(solver, limit):
    """Peak of the process over that before W is made, at n = 1000, v = 3 and one thread."""
    code = f"""
        import resource, numpy as np
        from mvsc_fast import tlrr
        tlrr(np.ones((3, 20, 20)), solver={solver!r}, n_threads=1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        n = 1000
        W = np.zeros((3, n, n))
        for A in W:
            A[...] = np.random.default_rng(0).random((n, n))
            A += A.T.copy()
        # A large mu leaves nothing to fast-forward; a small tol keeps "dual" going.
        tlrr(W, solver={solver!r}, max_iter=2, lam=1.0, mu=10.0, tol=1e-9, n_threads=1)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print((after - before) * 1024 / W.nbytes)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    assert float(run.stdout) <= limit


def test_constant_views_and_too_few_distinct_samples_are_said(subspaces):
    X = subspaces[0][0][:40]
    with pytest.warns(UserWarning, match="view 1: all samples are equal, which tells") as caught:
        TLRR(3, random_state=0).fit([X, np.ones((40, 4))])
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning, match="2 distinct values, fewer than n_clusters=3"):
        TLRR(3, random_state=0).fit([X[[0, 1] * 20]])
