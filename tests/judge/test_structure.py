"""Rotations of samples, and what the test of structure finds."""

from dataclasses import replace

import numpy as np
import pytest

from mvsc_fast import structure_test


@pytest.fixture(scope="module")
def clusters():
    rng, y = np.random.default_rng(0), np.arange(60) % 3
    return {name: 6 * np.eye(3, 5)[y] + rng.standard_normal((60, 5)) for name in "ab"}


@pytest.fixture(scope="module")
def result(clusters):
    return structure_test(clusters, 3, n_rotations=4, each_view=True, random_state=0)


def test_p_value_and_z_are_those_of_their_definitions(result):
    for test in (result, *result.each.values()):
        assert test.p_value == (1 + (test.thresholds >= test.observed - 1e-9).sum()) / 5
        assert test.z == pytest.approx((test.observed - test.null.mean()) / test.null.std(ddof=1))


@pytest.mark.parametrize("n, d, is_large", [(125, 1, True), (500, 20, False)])
def test_thresholds_exceed_copies_by_a_margin_that_ends_at_the_largest_modularity(n, d, is_large):
    noise = np.random.default_rng(0).standard_normal((n, d))
    test = structure_test([noise], 3, n_rotations=3, random_state=0)
    assert ((test.null > 0.5) == is_large).all()
    share = 0.1 * np.sqrt(n / 500) * np.minimum(1, 2 * (1 - test.null))
    np.testing.assert_allclose(test.thresholds, test.null * (1 + share))


def test_neither_units_nor_axes_nor_the_origin_of_the_columns_matter(clusters, result):
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((5, 5)))[0]
    turned = {name: 8 * X @ rotation for name, X in clusters.items()}
    other = structure_test(turned, 3, n_rotations=4, random_state=0)
    assert other.observed == pytest.approx(result.observed, rel=1e-3)
    np.testing.assert_allclose(other.null, result.null, rtol=1e-3)
    moved = {name: X + 10 for name, X in clusters.items()}  # now without negative entries
    other = structure_test(moved, 3, n_rotations=4, random_state=0)
    assert other.observed == pytest.approx(result.observed, rel=1e-3) and other.p_value == 0.2
    basis = np.linalg.qr(np.random.default_rng(1).standard_normal((90, 5)))[0]
    wide = {name: X @ basis.T for name, X in clusters.items()}  # more columns than samples
    other = structure_test(wide, 3, n_rotations=4, random_state=0)
    assert other.observed == pytest.approx(result.observed, rel=0.1) and other.p_value == 0.2


def test_clusters_are_found_in_all_views_and_in_each(clusters, result):
    assert result.p_value == 0.2 and result.z > 3 and result.observed > result.null.max()
    assert {name: test.p_value for name, test in result.each.items()} == {"a": 0.2, "b": 0.2}
    alone = structure_test([clusters["b"]], 3, n_rotations=4, random_state=0)
    assert alone.p_value == 0.2 and alone.each == {}


def test_clear_clusters_are_found_in_one_column():
    rng, y = np.random.default_rng(0), np.arange(300) % 2
    X = 6 * y[:, None] + rng.standard_normal((300, 1))
    test = structure_test([X], 2, n_rotations=4, random_state=0)
    assert test.p_value == 0.2
    full_margin = 0.1 * np.sqrt(300 / 500)  # more than there can be of two clusters
    assert test.observed < 1 < (1 + full_margin) * test.null.max()


def test_the_corners_of_a_square_are_no_structure_but_clusters_in_two_columns_are():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    square = structure_test([X], 4, n_rotations=4, random_state=0)
    assert square.p_value > 0.2 and square.z < 2.5
    clusters = 6 * np.outer(np.arange(300) % 2, [1, 0]) + rng.standard_normal((300, 2))
    test = structure_test({"x": clusters, "y": X}, 2, n_rotations=4, each_view=True, random_state=0)
    assert test.each["x"].p_value == 0.2 and test.each["x"].z > 2.5
    assert test.each["y"].p_value > 0.2


@pytest.mark.parametrize("sizes", [(285, 15), (142, 8), (120, 10, 10, 10)], ids=str)
def test_clear_clusters_of_unequal_sizes_are_found(sizes):
    rng, y = np.random.default_rng(0), np.repeat(np.arange(len(sizes)), sizes)
    views = [rng.standard_normal((len(y), 20)) + 8 * np.eye(20)[y] for _ in range(2)]
    test = structure_test(views, len(sizes), n_rotations=4, random_state=0)
    assert test.p_value == 0.2 and test.z > 5
    assert test.observed > test.null.max() + 0.1


def test_outliers_leave_less_than_the_copies_have():
    X = np.random.default_rng(0).standard_normal((100, 10))
    X[0] *= 30
    test = structure_test([X], 2, n_rotations=19, random_state=0)
    assert test.p_value == 1 and test.z < -3
    assert " less structure in 100 samples" in test.sentence
    assert " no more " in replace(test, z=-1.9).sentence
    assert " less " in replace(test, z=-2.0).sentence


def test_p_values_of_noise_are_neither_all_small_nor_all_large():
    """Of 12 uniform p-values more than 6 are equal in one of 100 runs."""
    rng, p_values = np.random.default_rng(0), []
    for seed in range(12):
        noise = rng.standard_normal((30, 4))
        test = structure_test([noise], 2, n_rotations=4, random_state=seed)
        p_values.append(test.p_value)
    assert p_values.count(0.2) <= 6 and p_values.count(1) <= 6


def test_the_result_depends_on_the_seed_alone(clusters, result):
    order = np.random.default_rng(1).permutation(60)
    permuted = {name: X[order] for name, X in clusters.items()}
    parallel = structure_test(permuted, 3, n_rotations=4, random_state=0, n_jobs=2)
    assert parallel.observed == result.observed
    np.testing.assert_array_equal(parallel.null, result.null)
    other = structure_test(clusters, 3, n_rotations=4, random_state=1)
    assert (other.null != result.null).any()


def test_clusters_of_one_sample_are_no_evidence():
    test = structure_test([np.random.default_rng(0).standard_normal((30, 4))], 30, random_state=0)
    assert test.observed < 0 and (test.thresholds >= test.null).all()


def test_samples_that_lack_a_view_are_not_used(clusters):
    a, b = (X.copy() for X in clusters.values())
    a[:9], b[20:25] = np.nan, np.nan
    test = structure_test([a, b], 3, n_rotations=2, random_state=0)
    assert (test.n_samples, test.n_incomplete) == (46, 14)
    assert "46 samples (14 others" in test.sentence
    assert structure_test(clusters, 3, n_rotations=2, max_samples=40).n_samples == 40
    a[:41] = np.nan
    with pytest.raises(ValueError, match="19 samples of 60 .* 20 "):
        structure_test([a, clusters["b"]], 3, n_rotations=2)
    with pytest.raises(ValueError, match="19 of 19, .* 20 "):
        structure_test([clusters["b"][:19]], 3, n_rotations=2)


def test_constant_views_are_not_used(clusters):
    views = [np.pad(X[9:], ((9, 0), (0, 0)), constant_values=np.nan) for X in clusters.values()]
    alone = structure_test(views, 3, n_rotations=2, random_state=0)
    rest = np.pad(np.arange(18.0).reshape(9, 2), ((0, 51), (0, 0)), constant_values=1)
    for constant in (np.full((60, 6), 0.1), np.full((60, 2), 0.1), rest):
        test = structure_test([*views, constant], 3, n_rotations=2, each_view=True, random_state=0)
        assert test.z == alone.z and list(test.each) == [0, 1]
    with pytest.raises(ValueError, match="all samples are equal"):
        structure_test([np.ones((60, 2))], 3)


def test_the_sentence_follows_the_numbers(result):
    """Whether there is more structure, and how many copies could show it."""
    slight = replace(result, p_value=0.4)
    less = replace(slight, observed=result.null.max())
    sure = replace(less, null=np.repeat(result.null, 25), p_value=0.05)
    for test, *facts in (
        (result, " more structure in 60 samples than in 4 ", "p = 0.2", "at least 19"),
        (slight, "slightly more", "p = 0.4"),
        (less, "no more", "p = 0.4"),
        (sure, " more structure", "p = 0.05", f"z = {result.z:.1f}).", "in 100 "),
    ):
        assert all(fact in test.sentence for fact in facts), test.sentence


def test_the_text_has_the_modularities_and_a_line_for_each_view(result):
    """And what looks like clusters, where structure is found."""
    for test, n_told in ((replace(result, p_value=0.05), 1), (replace(result, p_value=0.051), 0)):
        sentence, modularities, *views = str(test).splitlines()
        assert sentence == test.sentence
        for value in (test.observed, test.null.mean(), test.null.max()):
            assert f" {value:.2f}" in modularities
        told = [line for line in views if "batches" in line]
        assert len(told) == n_told and len(views) == 2 + n_told
        assert all(word in line for line in told for word in ("continuum", "repeated samples"))
        named = [line for line in views if line not in told]
        assert "'a'" in named[0] and "'b'" in named[1]


def test_the_picture_has_a_row_for_all_views_and_for_each(result):
    ax = result.plot()
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    assert names == [f"{name}\np = 0.2" for name in ("all views", "a", "b")]
    for row, test in enumerate([result, *result.each.values()]):
        null, limit, observed = ax.get_lines()[3 * row : 3 * row + 3]
        assert limit.get_xdata() == [test.thresholds.max()] and limit.get_ydata() == [row]
        np.testing.assert_array_equal(null.get_xdata(), test.null)
        assert observed.get_xdata() == [test.observed] and observed.get_ydata() == [row]
        assert null.get_color() != observed.get_color()
        assert abs(null.get_ydata() - row).max() == pytest.approx(0.2)
    assert len(ax.get_legend().get_texts()) == 3
