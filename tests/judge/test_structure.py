"""Rotations of samples, and what the test of structure finds."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from mvsc_fast import datasets, structure_test


@pytest.fixture(scope="module")
def clusters():
    rng, y = np.random.default_rng(0), np.arange(60) % 3
    return {name: 6 * np.eye(3, 5)[y] + rng.standard_normal((60, 5)) for name in "ab"}


@pytest.fixture(scope="module")
def found(clusters):
    return structure_test(clusters, 3, n_rotations=4, each_view=True, random_state=0)


def test_p_value_and_z_are_those_of_their_definitions(clusters):
    for parameters in ({}, {"permuted": "a"}):
        test = structure_test(clusters, 3, n_rotations=5, random_state=0, **parameters)
        assert test.p_value == (1 + (test.thresholds >= test.observed - 1e-9).sum()) / 6
        assert test.z == pytest.approx((test.observed - test.null.mean()) / test.null.std(ddof=1))


@pytest.mark.parametrize("n, d, is_large", [(125, 1, True), (500, 20, False)])
def test_thresholds_exceed_copies_by_a_margin_that_ends_at_the_largest_modularity(n, d, is_large):
    noise = np.random.default_rng(0).standard_normal((n, d))
    test = structure_test([noise], 3, n_rotations=3, random_state=0)
    assert ((test.null > 0.5) == is_large).all()
    share = 0.1 * np.sqrt(n / 500) * np.minimum(1, 2 * (1 - test.null))
    np.testing.assert_allclose(test.thresholds, test.null * (1 + share))


def test_neither_units_nor_axes_of_the_columns_matter(clusters, found):
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    turned = {name: 8 * X @ rotation for name, X in clusters.items()}
    other = structure_test(turned, 3, n_rotations=4, random_state=0)
    assert other.observed == pytest.approx(found.observed, rel=1e-3)
    np.testing.assert_allclose(other.null, found.null, rtol=1e-3)


def test_as_many_clusters_as_samples_are_no_evidence():
    found = structure_test([np.random.default_rng(0).standard_normal((30, 4))], 30, random_state=0)
    assert found.observed < 0 and (found.thresholds >= found.null).all()
    assert found.p_value == (1 + (found.null >= found.observed - 1e-9).sum()) / 20


def test_clusters_are_found_in_all_views_and_in_each(clusters, found):
    assert found.p_value == 0.2 and found.z > 3 and found.observed > found.null.max()
    assert list(found.each) == ["a", "b"]
    assert [one.p_value for one in found.each.values()] == [0.2, 0.2]
    alone = structure_test([clusters["b"]], 3, n_rotations=4, random_state=0)
    assert alone.p_value == 0.2 and alone.each == {}


def test_clusters_do_not_depend_on_the_origin(clusters, found):
    moved = {name: X + 10 for name, X in clusters.items()}
    other = structure_test(moved, 3, n_rotations=4, random_state=0)
    assert other.observed == pytest.approx(found.observed, rel=1e-3) and other.p_value == 0.2


def test_clear_clusters_are_found_in_one_column():
    rng, y = np.random.default_rng(0), np.arange(300) % 2
    X = 6 * y[:, None] + rng.standard_normal((300, 1))
    one = structure_test([X], 2, n_rotations=4, random_state=0)
    assert one.p_value == 0.2
    full_margin = 0.1 * np.sqrt(300 / 500)  # more than there can be of two clusters
    assert one.observed < 1 < (1 + full_margin) * one.null.max()


@pytest.mark.parametrize("seed", [0, 2])
def test_the_corners_of_a_square_are_no_structure_but_clusters_in_two_columns_are(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(300, 2))
    square = structure_test([X], 4, n_rotations=4, random_state=0)
    assert square.p_value > 0.2 and square.z < 2.5
    clusters = 6 * np.outer(np.arange(300) % 2, [1, 0]) + rng.standard_normal((300, 2))
    test = structure_test({"x": clusters, "y": X}, 2, n_rotations=4, each_view=True, random_state=0)
    assert test.each["x"].p_value == 0.2 and test.each["x"].z > 2.5
    assert test.each["y"].p_value > 0.2


@pytest.mark.parametrize("sizes", [(285, 15), (142, 8), (120, 10, 10, 10)])
def test_clear_clusters_of_unequal_sizes_are_found(sizes):
    rng, y = np.random.default_rng(0), np.repeat(np.arange(len(sizes)), sizes)
    views = [rng.standard_normal((len(y), 20)) + 8 * np.eye(20)[y] for _ in range(2)]
    found = structure_test(views, len(sizes), n_rotations=4, random_state=0)
    assert found.p_value == 0.2 and found.z > 5
    assert found.observed > found.null.max() + 0.1 and found.few_valued == {}


def test_outliers_leave_less_than_the_copies_have():
    X = np.random.default_rng(0).standard_normal((100, 10))
    X[0] *= 30
    found = structure_test([X], 2, n_rotations=19, random_state=0)
    assert found.p_value == 1 and found.z < -3
    assert " less structure in 100 samples" in found.sentence and "outliers" in found.sentence
    assert " no more " in replace(found, z=-1.9).sentence
    assert " less " in replace(found, z=-2.0).sentence
    assert " no more common " in replace(found, permuted=("a",)).sentence


@pytest.mark.parametrize("sparse", [False, True])
def test_columns_with_few_values_are_named(sparse):
    rng = np.random.default_rng(0)
    X, half = rng.standard_normal((40, 10)), np.arange(40) % 2
    X[:, 1], X[:, 3], X[:, 4] = half, half - half[::-1] + np.arange(40) % 3 // 2, 7.0
    X[:, 5] = np.arange(40) % 4
    Y = (rng.uniform(size=(40, 6)) < 0.5) * 2.0
    views = [scipy.sparse.csr_matrix(V) if sparse else V for V in (X, Y, X[:, 5:])]
    found = structure_test(dict(zip("abc", views, strict=True)), 2, n_rotations=2, random_state=0)
    few = [j for j in range(10) if len(np.unique(X[:, j])) in (2, 3)]
    assert 1 in few and 4 not in few and 5 not in few
    assert found.few_valued == {"a": few, "b": [0, 1, 2, 3, 4, 5]}
    text = str(found).splitlines()[-1]
    assert "'a'" in text and "(6 in all) of view 'b'" in text and "'c'" not in text
    frame = pytest.importorskip("pandas").DataFrame(X[:, :3], columns=["age", "sex", "weight"])
    named = structure_test({"clinical": frame}, 2, n_rotations=2, random_state=0)
    assert named.few_valued == {"clinical": ["sex"]}
    assert "column 'sex' of view 'clinical'" in str(named)


def test_subspaces_are_found():
    views, _ = datasets.make_multiview_subspaces(60, 3, random_state=0)
    assert structure_test(views, 3, n_rotations=4, random_state=0).p_value == 0.2


def test_p_values_of_noise_are_neither_all_small_nor_all_large():
    rng = np.random.default_rng(0)
    found = [
        structure_test([rng.standard_normal((30, 4))], 2, n_rotations=4, random_state=seed)
        for seed in range(12)
    ]
    p = [one.p_value for one in found]
    assert p == [(1 + (one.thresholds >= one.observed).sum()) / 5 for one in found]
    assert p != [(1 + (one.null >= one.observed).sum()) / 5 for one in found]
    # Of 12 uniform p-values more than 6 are equal in one of 100 runs.
    assert sum(one == 0.2 for one in p) <= 6 and sum(one == 1 for one in p) <= 6


def test_the_result_depends_on_the_seed_alone(clusters, found):
    order = np.random.default_rng(1).permutation(60)
    parallel = structure_test(
        {name: X[order] for name, X in clusters.items()},
        3,
        n_rotations=4,
        each_view=True,
        random_state=0,
        n_jobs=2,
    )
    assert parallel.observed == found.observed
    np.testing.assert_array_equal(parallel.null, found.null)
    other = structure_test(clusters, 3, n_rotations=4, random_state=1)
    assert (other.null != found.null).any()


def test_views_with_the_same_clusters_are_related_and_others_are_not(clusters):
    a, b = clusters.values()
    found = structure_test(clusters, 3, n_rotations=4, permuted="a", random_state=0)
    assert found.p_value == 0.2 and found.z > 3 and found.permuted == ("a",)
    moved = np.random.default_rng(7).permutation(60)
    found = structure_test([a, b[moved]], 3, n_rotations=4, permuted=[1], random_state=0)
    assert found.p_value > 0.2 and abs(found.z) < 3
    assert found.p_value == (1 + (found.null >= found.observed).sum()) / 5
    np.testing.assert_array_equal(found.thresholds, found.null)


def test_samples_that_lack_a_view_are_not_used(clusters):
    a, b = (X.copy() for X in clusters.values())
    a[:9], b[20:25] = np.nan, np.nan
    found = structure_test([a, b], 3, n_rotations=2, random_state=0)
    assert (found.n_samples, found.n_incomplete) == (46, 14)
    assert " structure in 46 samples (14 others lack a view) than in 2 " in found.sentence
    a[:41] = np.nan
    with pytest.raises(ValueError, match="19 samples of 60 with all views: at least 20 are needed"):
        structure_test([a, clusters["b"]], 3, n_rotations=2)
    with pytest.raises(ValueError, match="^19 samples of 19 with all views: at least 20 .*needed$"):
        structure_test([clusters["b"][:19]], 3, n_rotations=2)


def test_some_of_many_samples_are_drawn(clusters):
    assert structure_test(clusters, 3, n_rotations=2, max_samples=40).n_samples == 40


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 1}, "n_clusters == 1, must be >= 2"),
        ({"n_rotations": 1}, "n_rotations == 1, must be >= 2"),
        ({"max_samples": 19}, "max_samples == 19, must be >= 20"),
        ({"each_view": "yes"}, "each_view must be"),
        ({"random_state": "a"}, "random_state"),
        ({"permuted": "c"}, r"permuted=\['c'\]: expected some, but not all, of the views"),
        ({"permuted": ["a", "b"]}, "permuted"),
        ({"permuted": 0}, "permuted"),
    ],
)
def test_bad_parameters(clusters, parameters, message):
    with pytest.raises(ValueError, match=message):
        structure_test(clusters, **{"n_clusters": 3, **parameters})


def test_text_and_picture(found):
    first, second, *others = str(found).splitlines()
    text = "structure in 60 samples than in 4 copies of the same covariances without clusters"
    text = f" {text} (p = %s, z = {found.z:.1f})"
    assert first == (
        f"The structure test found more{text % 0.2}: p = 0.05 needs at least 19 copies."
    )
    slight = replace(found, p_value=0.4)
    assert slight.sentence.startswith(f"The structure test found slightly more{text % 0.4}: noise")
    less = replace(slight, observed=found.null.max())
    assert less.sentence == (
        f"The structure test found no more{text % 0.4}: the clusters may be arbitrary."
    )
    many = replace(less, null=np.repeat(found.null, 25), p_value=0.05)
    assert "found more structure" in many.sentence and many.sentence.endswith(").")
    for value in (found.observed, found.null.mean(), found.null.max()):
        assert f" {value:.2f}" in second
    assert f"up to {found.thresholds.max():.2f}" in others.pop(0)
    assert [line.split(":")[0] for line in others] == ["  view 'a' alone", "  view 'b' alone"]
    sure = replace(found, null=np.repeat(found.null, 5), p_value=0.05, permuted=("a",))
    assert sure.sentence.startswith("The structure test found more common structure in 60 samples")
    assert sure.sentence.endswith(f"permuted samples of a (p = 0.05, z = {found.z:.1f}).")
    assert "Gaussian" not in str(sure)
    assert found.sentence in found._repr_html_()
    ax = found.plot()
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names == [f"{name}\np = 0.2" for name in ("all views", "a", "b")]
    for row, one in enumerate([found, *found.each.values()]):
        null, limit, observed = ax.get_lines()[3 * row : 3 * row + 3]
        assert limit.get_xdata() == [one.thresholds.max()] and limit.get_ydata() == [row]
        np.testing.assert_array_equal(null.get_xdata(), one.null)
        assert observed.get_xdata() == [one.observed] and observed.get_ydata() == [row]
        assert null.get_color() != observed.get_color()
        assert abs(null.get_ydata() - row).max() == pytest.approx(0.2)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "copies",
        "limit of noise",
        "samples",
    ]
    related = replace(found, permuted=("a",))
    texts = related.plot().get_legend().get_texts()
    assert [text.get_text() for text in texts] == ["copies", "samples", "limit of noise"]
    texts = replace(related, each={}).plot().get_legend().get_texts()
    assert [text.get_text() for text in texts] == ["copies", "samples"]


def test_copies_that_equal_the_samples_are_no_evidence(clusters):
    same = {"a": clusters["a"], "b": np.ones((60, 2))}
    found = structure_test(same, 3, n_rotations=4, permuted="b", random_state=0)
    assert found.p_value == 1 and (found.null == found.observed).all() and np.isnan(found.z)
