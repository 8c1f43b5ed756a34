"""ConsensusTLRR: accuracy where clusters are clear, invariances, new samples, degenerate data."""

import io
import pickle

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from mvsc_fast import ConsensusTLRR, consensus_labels, datasets, label_predictability
from mvsc_fast.metrics import clustering_scores


def blobs(n, n_clusters, seed, n_features=(5, 10, 20), sizes=None):
    rng = np.random.RandomState(seed)
    y = rng.randint(n_clusters, size=n)
    y = y if sizes is None else np.repeat(np.arange(n_clusters), sizes)
    views = [np.take(rng.randn(n_clusters, d) * 4, y, 0) + rng.randn(len(y), d) for d in n_features]
    return views, y


@pytest.fixture(scope="module")
def subspaces():
    return datasets.make_multiview_subspaces(240, 4, quality=(1, 0.9, 0.7), random_state=0)


@pytest.fixture(scope="module")
def fitted(subspaces):
    return ConsensusTLRR(4, random_state=0).fit(subspaces[0])


@pytest.fixture(scope="module")
def half(subspaces):
    """A model of every other sample, and the samples between them, which are new to it."""
    views = subspaces[0]
    model = ConsensusTLRR(4, random_state=0).fit([X[::2] for X in views])
    return model, [X[1::2] for X in views]


@pytest.mark.filterwarnings("ignore:clusters of noise are as predictable")
def test_candidates_do_not_depend_on_the_random_state():
    views, _ = datasets.make_multiview_subspaces(
        220, 5, n_features=(90, 120, 90), quality=(0.7, 0.6, 0.6), random_state=0
    )
    first, *others = (ConsensusTLRR(5, random_state=state).fit(views) for state in range(3))
    assert len(np.unique(first.candidates_["labels"], axis=0)) > 1
    for other in others:
        np.testing.assert_array_equal(other.candidates_["labels"], first.candidates_["labels"])
        np.testing.assert_array_equal(other.labels_, first.labels_)


def test_attributes_tell_the_story(subspaces, fitted):
    views, y = subspaces
    assert clustering_scores(y, fitted.labels_)["acc"] >= 0.97
    table = fitted.candidates_
    assert all(len(column) == 21 for column in table.values())
    assert table["labels"].shape == (21, 240)
    tried = set(zip(*(table[key] for key in ("graph", "n_neighbors", "embedding")), strict=True))
    sizes = (8, 30)
    assert tried == {
        *(("unit", d, "c") for d in sizes),
        *(("centred", d, embedding) for d in sizes for embedding in ("c", "diffusion")),
        *(("neighbors", 15, embedding) for embedding in ("c", "diffusion")),
        ("few neighbors", 6, "diffusion"),
        *(("none", 0, embedding) for embedding in ("rows", "standard")),
    }
    J, fused, total = table["predictability"], table["fused"], table["score"]
    predictability = 0.25 * table["predictability_unrefined"] + 0.75 * J
    np.testing.assert_allclose(total, predictability + table["modularity"])
    labels = table["labels"]
    best = labels[total.argmax()]
    candidates = np.argsort(-total, kind="stable")[:7]
    alike = [i for i in candidates if normalized_mutual_info_score(best, labels[i]) >= 0.7]
    assert sorted(alike) == np.flatnonzero(fused).tolist() and J.max() <= 1
    again = label_predictability(views, list(labels))
    np.testing.assert_allclose(J, again, atol=0.02)  # of narrow views before they are lifted
    affinity = fitted.affinity_matrix_
    assert affinity.shape == (240, 240) and affinity.diagonal().max() == 0
    assert abs(affinity - affinity.T).max() == 0
    assert affinity.sum() == pytest.approx(2 * 240, rel=0.1)  # of two graphs with rows of sum 1
    assert fitted.n_tuples_ >= 4 and 0 <= fitted.gap_ <= 1e-3
    assert fitted.views_used_ == [0, 1, 2]
    np.testing.assert_array_equal(fitted.samples_, np.arange(240))


def test_the_labels_are_the_consensus_refined(subspaces, fitted):
    table = fitted.candidates_
    best = [i for i in np.argsort(-table["score"], kind="stable") if table["fused"][i]]
    labels = consensus_labels(table["labels"][best], 4, random_state=0).labels
    assert adjusted_rand_score(labels, fitted.labels_) > 0.95
    before, after = label_predictability(subspaces[0], [labels, fitted.labels_])
    assert after >= before


def test_permuting_the_samples_permutes_everything_to_the_bit(subspaces, fitted):
    order = np.random.RandomState(0).permutation(240)
    other = ConsensusTLRR(4, random_state=0).fit([X[order] for X in subspaces[0]])
    np.testing.assert_array_equal(other.labels_, fitted.labels_[order])
    ours, theirs = fitted.affinity_matrix_[order][:, order], other.affinity_matrix_
    assert (theirs != ours).nnz == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("counts", [(10, 10, 10), (28, 1, 1), (40, 2, 40)], ids=str)
@pytest.mark.parametrize("distance", [1e-2, 1e-4])
def test_as_many_distinct_samples_as_clusters_are_the_clusters(counts, distance):
    """However near two of them are, and however rare."""
    y = np.repeat(range(3), counts)
    rng, views = np.random.RandomState(0), []
    for d in (4, 6):
        rows = rng.randn(3, d)
        rows[1] = rows[0] + distance * rng.randn(d)
        views.append(rows[y])
    labels = ConsensusTLRR(3, random_state=0).fit_predict(views)
    assert adjusted_rand_score(y, labels) == 1


@pytest.mark.parametrize(
    ("n", "growth", "nearest"),
    [(12, None, {2}), (40, None, {4}), (199, None, {6}), (200, None, {6, 15})]
    + [(400, 1, {6, 15}), (500, 1.25, {6, 15}), (2000, 4, {6, 15})],
    ids=str,
)
def test_neighbourhoods_grow_with_the_samples_of_a_cluster(n, growth, nearest):
    """Up to 199 samples have a tenth of them as nearest neighbours, and six at most."""
    views, _ = blobs(n, 2, seed=0)
    model = ConsensusTLRR(2, random_state=0).fit(views)
    table = model.candidates_
    is_nearest = np.isin(table["graph"], ["neighbors", "few neighbors"])
    assert set(table["n_neighbors"][is_nearest]) == nearest
    if growth is None:
        return
    sizes = table["n_neighbors"][np.isin(table["graph"], ["unit", "centred"])]
    assert sorted(set(sizes)) == [round(growth * size) for size in (8, 30)]
    # Rows of one type of graph have 64 tubes, times growth, that other rows may share.
    assert np.diff(model.affinity_matrix_.indptr).min() >= min(n - 1, round(64 * growth))


@pytest.mark.filterwarnings("ignore:2 of 2 samples have no neighbour")
@pytest.mark.parametrize(
    "sizes",
    [(1, 1), (3, 3), (10, 10), (470, 25, 5)] + [(n // c,) * c for n in (110, 200) for c in (3, 10)],
    ids=str,
)
def test_clusters_of_any_size_are_found(sizes):
    c = len(sizes)
    views, y = blobs(0, c, seed=0, sizes=sizes)
    assert adjusted_rand_score(y, ConsensusTLRR(c, random_state=0).fit_predict(views)) == 1


@pytest.mark.parametrize("per_class", [1, 2, 3, 5])
def test_few_samples_in_each_class(per_class):
    views, y = blobs(0, 12, seed=0, sizes=per_class)
    labels = ConsensusTLRR(12, random_state=0).fit_predict(views)
    assert len(np.unique(labels)) == 12 and clustering_scores(y, labels)["acc"] >= 0.8


def test_many_clusters_are_found_by_few_candidates():
    rng = np.random.default_rng(0)
    sizes = np.round(14 * 10 ** np.linspace(-0.5, 0.5, 110)).astype(int)
    y = rng.permutation(np.repeat(np.arange(110), sizes))
    views = [rng.normal(size=(110, 20))[y] + 0.3 * rng.normal(size=(len(y), 20)) for _ in range(2)]
    model = ConsensusTLRR(110, random_state=0).fit(views)
    assert clustering_scores(y, model.labels_)["acc"] > 0.99
    table = model.candidates_
    assert table["algorithm"].tolist().count("mixture") == 1
    assert len(table["labels"]) == 12 and set(table["graph"]) == {"unit", "centred", "none"}


def test_wide_arrays_of_zeros_are_sparse_views():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    words = rng.dirichlet(np.full(400, 0.05), size=(2, 3))
    views = [np.array([rng.multinomial(30, p[k]) for k in y], dtype=float) for p in words]
    for X in views:
        X[3] = X[0]  # equal samples are compared entry by entry
    dense = ConsensusTLRR(3, random_state=0).fit(views)
    sparse = ConsensusTLRR(3, random_state=0).fit([scipy.sparse.csr_array(X) for X in views])
    assert clustering_scores(y, dense.labels_)["acc"] == 1
    for name in ("predictability", "modularity", "labels"):
        np.testing.assert_array_equal(dense.candidates_[name], sparse.candidates_[name])
    np.testing.assert_array_equal(dense.predict_margin(views), sparse.predict_margin(views))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("n_columns", [20, 60])
def test_joined_views_count_alike_however_many_columns_they_have(n_columns):
    """Three columns with classes beside a view of many, whose factors hide them otherwise."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 80)
    narrow = 4 * np.eye(3)[y] + rng.standard_normal((240, 3))
    wide = rng.standard_normal((240, 8)) @ rng.standard_normal((8, n_columns))
    wide += 0.3 * rng.standard_normal(wide.shape)
    candidates = ConsensusTLRR(3, random_state=0).fit([narrow, wide]).candidates_
    standard = candidates["embedding"] == "standard"
    scores = [adjusted_rand_score(y, labels) for labels in candidates["labels"][standard]]
    assert len(scores) >= 2 and min(scores) > 0.9


def test_a_model_that_stores_its_predictor_predicts_as_one_that_stores_all(subspaces, fitted):
    views = subspaces[0]
    small = ConsensusTLRR(4, store="predictor", random_state=0).fit(views)
    np.testing.assert_array_equal(small.labels_, fitted.labels_)
    assert set(vars(fitted)) - set(vars(small)) == {"affinity_matrix_"}
    assert set(fitted.candidates_) - set(small.candidates_) == {"labels"}
    again = pickle.loads(pickle.dumps(small))
    assert len(pickle.dumps(small)) < 0.8 * len(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(views), fitted.predict(views))


class Arrays(pickle.Pickler):
    """Collects the arrays of what is pickled, however deep they are."""

    def __init__(self, model):
        super().__init__(io.BytesIO())
        self.arrays = []
        self.dump(model)

    def reducer_override(self, obj):
        if isinstance(obj, np.ndarray):
            self.arrays.append(obj)
        return NotImplemented


def test_a_model_that_stores_labels_holds_no_row_of_the_data():
    """Nor anything else of an earlier fit."""
    views, _ = datasets.make_multiview_subspaces(120, 3, n_features=(140, 160), random_state=0)
    model = ConsensusTLRR(3, random_state=0).fit(views)
    model.set_params(store="labels").fit(views)
    numbers = [A.size for A in Arrays(model).arrays if A.dtype.kind in "fcO"]
    scores = 4 * model.candidates_["score"].size  # J twice, modularity, and their sum
    assert sum(numbers) - scores < 140
    fresh = ConsensusTLRR(3, store="labels", random_state=0).fit(views)
    assert vars(model).keys() == vars(fresh).keys()
    for ask in (lambda: model.predict(views), lambda: model.to_native("model.mvsc")):
        with pytest.raises(ValueError, match='store="labels"'):
            ask()


def test_values_of_new_samples_that_fit_had_not_are_reported():
    signed, _ = datasets.make_multiview_subspaces(
        240, 4, n_features=(90, 100, 90), quality=(1, 0.9, 0.7), random_state=0
    )
    views = [np.abs(X) for X in signed]
    model = ConsensusTLRR(4, random_state=0).fit([views[0], signed[1], views[2]])
    with pytest.warns(UserWarning) as caught:
        model.predict([-X for X in views])
    texts = [str(warning.message) for warning in caught]
    assert "negative values in view 0, view 2, but none in fit" in texts[0]
    assert len(texts) == 2 and "negative" not in texts[1]  # but of unlike samples
    model.predict([views[0], -views[1], views[2]])  # without a warning


@pytest.mark.parametrize(("n_unlike", "n"), [(10, 40), (11, 54), (9, 40), (10, 50)])
def test_a_warning_needs_ten_unlike_samples_and_more_than_a_fifth(half, n_unlike, n):
    model, new = half
    noise = [np.random.default_rng(0).standard_normal(X.shape) for X in new]
    unlike, usual = (model.predict_margin(rows, return_unlike=True)[1] for rows in (noise, new))
    far, near = np.flatnonzero(unlike)[:n_unlike], np.flatnonzero(~usual)[: n - n_unlike]
    rows = [np.vstack([N[far], X[near]]) for N, X in zip(noise, new, strict=True)]
    if n_unlike < 10 or n_unlike <= n / 5:
        model.predict(rows)  # without a warning
        return
    told = rf"{n_unlike} of {n} new samples \(.*%\) are farther .* than 95% .* labels may be wrong"
    with pytest.warns(UserWarning, match=told):
        model.predict(rows)
    rows[0][:] = np.nan  # the other views are not enough to say so
    model.predict(rows)


def two_groups(sizes, seed, n_groups=2, distance=6):
    """Two views of Gaussian groups of these sizes, of ``n_groups`` centres, and their numbers."""
    rng = np.random.RandomState(seed)
    C = [distance * np.linalg.qr(rng.randn(20, n_groups))[0].T for _ in range(2)]

    def views(y):
        return [rng.randn(len(y), 20) + centres[y] for centres in C]

    return views, np.repeat(np.arange(len(sizes)), sizes)


@pytest.mark.parametrize("c", [2, 8])
def test_clusters_of_noise_are_told(c):
    noise = np.random.default_rng(0).uniform(-1, 1, (300, 20))
    with pytest.warns(UserWarning, match="noise") as caught:
        model = ConsensusTLRR(c, random_state=0).fit([noise])
    assert f"({model.candidates_['predictability'].max():.2f})" in str(caught[0].message)


def test_labels_that_agree_little_with_the_fused_labellings_are_told():
    views, y = two_groups((30,) * 6, 0, n_groups=6, distance=1)
    with pytest.warns(UserWarning, match="agree little") as caught:
        model = ConsensusTLRR(6, view_selection="all", random_state=0).fit(views(y))
    fused = model.candidates_["labels"][model.candidates_["fused"]]
    expected = np.mean([adjusted_rand_score(model.labels_, labels) for labels in fused])
    assert model.fused_agreement_ == pytest.approx(expected)
    assert f"{expected:.2f}" in str(caught[0].message)


@pytest.mark.filterwarnings("ignore:the labels agree little")
def test_fewer_clusters_than_asked_for_are_told():
    views = [np.random.default_rng(0).normal(size=(4, 4))]
    with pytest.warns(UserWarning, match="n_clusters=3.* 2 clusters"):
        labels = ConsensusTLRR(3, random_state=0).fit(views).labels_
    assert len(np.unique(labels)) == 2


@pytest.mark.filterwarnings("ignore:no view agrees")
def test_new_samples_of_a_rare_cluster_are_as_seldom_unlike_as_others():
    shares = []
    for seed in range(2):
        views, y = two_groups((485, 15), seed)
        model = ConsensusTLRR(2, random_state=0).fit(views(y))
        for k in range(2):
            model.predict(views(np.full(30, k)))  # without a warning
            new = views(np.full(400, k))
            shares.append([k, model.predict_margin(new, return_unlike=True)[1].mean()])
    shares = np.array(shares)
    for k in range(2):
        assert 0.01 < shares[shares[:, 0] == k, 1].mean() < 0.1


def test_a_group_that_the_fit_has_not_seen_is_told(capsys):
    views, y = two_groups((400, 100), 0, n_groups=3)
    model = ConsensusTLRR(2, random_state=0).fit(views(y))
    new = views(np.repeat([0, 1, 2], [700, 200, 100]))
    message = r"of 1000 new samples \(1\d\.\d%\) are farther .*, but about 5% are usual: "
    with pytest.warns(UserWarning, match=message):
        model.predict(new)
    usual = [X[:900] for X in new]
    model.set_params(verbose=1).predict(usual)
    _, unlike = model.predict_margin(usual, return_unlike=True)
    assert f"{unlike.sum()} of 900 new samples (" in capsys.readouterr().err


def test_margins_of_new_samples_are_those_of_their_scores(half):
    model, new = half[0], [X.copy() for X in half[1]]
    scores = np.sort(np.maximum(model.predictor_.scores(new), 0), axis=1)
    margin = model.predict_margin(new)
    np.testing.assert_allclose(margin, 1 - scores[:, -2] / scores[:, -1], atol=1e-6)
    assert margin.dtype == np.float32 and 0 <= margin.min() < 0.5 < margin.max() <= 1
    chunks = [da.from_array(X, chunks=(50, -1)) for X in half[1]]
    np.testing.assert_array_equal(model.predict_margin(chunks).compute(), margin)
    for X in new:
        X[7] = np.nan
    new[0][:, :20] += 9
    with pytest.warns(UserWarning, match="without"):
        margin, unlike = model.predict_margin(new, return_unlike=True)
    assert margin[7] == -1 and not unlike[7]
    assert unlike.dtype == bool and 0.05 < unlike.mean() < 1
    chunks = [da.from_array(X, chunks=(50, -1)) for X in new]
    lazy = model.predict_margin(chunks, return_unlike=True)
    assert all(hasattr(array, "__dask_graph__") for array in lazy)
    np.testing.assert_array_equal(dask.compute(*lazy), [margin, unlike])
    with pytest.raises(ValueError, match="return_unlike"):
        model.predict_margin(new, return_unlike="all")


@pytest.mark.filterwarnings("ignore:the labels agree little")
@pytest.mark.parametrize("seed", range(2))
def test_copies_of_fitted_samples_are_like_them_and_others_as_without_copies(seed):
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=seed)
    fitted = [np.repeat(X[:30], 10, axis=0) for X in views]
    model = ConsensusTLRR(3, random_state=0).fit(fitted)
    np.testing.assert_array_equal(model.predict(fitted), model.labels_)
    assert not model.predict_margin(fitted, return_unlike=True)[1].any()
    _, unlike = model.predict_margin([X[30:] for X in views], return_unlike=True)
    assert unlike.mean() < 0.3


@pytest.mark.filterwarnings("ignore::UserWarning")  # nothing but noise
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("n_words", [None, 4])  # counts, or samples of which many have equal keys
def test_the_order_of_views_and_columns_and_zeros_change_no_bit_of_the_graph(form, n_words):
    rng = np.random.RandomState(0)
    views = [rng.poisson(rng.gamma(0.4, size=d), (150, d)).astype(float) for d in (40, 90, 200)]
    if n_words:
        views = [1.0 * (np.argsort(rng.random_sample(X.shape)) < n_words) for X in views]
    shuffled = [X[:, rng.permutation(X.shape[1])] for X in views]
    changed = [np.insert(X, [0, 7, 7], 0, axis=1) for X in shuffled[::-1]]
    expected = ConsensusTLRR(3, random_state=0).fit([form(X) for X in views])
    model = ConsensusTLRR(3, random_state=0).fit([form(X) for X in changed])
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    assert (model.affinity_matrix_ != expected.affinity_matrix_).nnz == 0
    np.testing.assert_array_equal(model.view_support_[::-1], expected.view_support_)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("wrap", [np.asarray, scipy.sparse.csr_array])
def test_equal_directions_are_counted_once_and_have_one_label(wrap):
    rng = np.random.RandomState(0)
    rows = rng.uniform(-1, 1, (4, 81))  # narrow views may keep the lengths of their rows
    rows[0] = -rows[1]
    rows = rows[rng.randint(4, size=80)]
    view = rows * rng.uniform(0.1, 9, (80, 1))
    with pytest.warns(ConvergenceWarning, match="4 distinct"):
        labels = ConsensusTLRR(6, random_state=0).fit_predict([wrap(view)])
    units = np.round(view / np.linalg.norm(view, axis=1, keepdims=True), 6)
    _, group = np.unique(units, axis=0, return_inverse=True)
    assert len(np.unique(np.c_[group.ravel(), labels], axis=0)) == 4


def test_a_callback_ends_the_search_for_labellings_without_a_word(subspaces, capsys):
    model = ConsensusTLRR(4, random_state=0, callback=lambda s: s.stage == "labellings")
    table = model.fit(subspaces[0]).candidates_
    assert len(table["graph"]) == 5  # two of one graph, and three of joined rows
    assert capsys.readouterr().err == ""


def test_outliers_of_weak_structure_are_no_clusters(load_shared):
    """Modularity is largest if a few samples are clusters of their own and the rest is in one."""
    views, y = load_shared("scene15", seed=3)
    model = ConsensusTLRR(15, random_state=0).fit([X[:2000] for X in views])
    assert np.bincount(model.labels_).max() < 600
    assert adjusted_rand_score(y[:2000], model.labels_) > 0.25
    n_small = [np.count_nonzero(np.bincount(L) <= 7) for L in model.candidates_["labels"]]
    assert max(n_small) >= 4  # such a candidate has the largest modularity
