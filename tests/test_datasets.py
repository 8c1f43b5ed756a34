from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from mvsc_fast import datasets

SUBSPACES = datasets.make_multiview_subspaces


def test_handwritten_digits():
    views, y = datasets.load_handwritten()
    assert [X.shape for X in views] == [(2000, d) for d in (216, 76, 64, 6, 240, 47)]
    np.testing.assert_array_equal(np.bincount(y), np.full(10, 200))
    assert (np.diff(y) >= 0).all()
    assert all(np.isfinite(X).all() and X.flags.c_contiguous for X in views)
    assert files("mvsc_fast").joinpath("datasets/data/handwritten.npz").stat().st_size < 2e6
    assert "CC BY 4.0" in files("mvsc_fast").joinpath("datasets/data/README.md").read_text()


def test_handwritten_equals_the_shared_copy(load_shared):
    views, y = datasets.load_handwritten()
    shared_views, shared_y = load_shared("handwritten")
    np.testing.assert_array_equal(y, shared_y)
    for X, expected in zip(views, shared_views, strict=True):
        np.testing.assert_allclose(X, expected, rtol=5.1e-5, atol=1e-7)  # five digits


def test_subspaces_have_the_rank_and_the_quality_asked_for():
    views, y = SUBSPACES(
        120, 4, n_features=(20, 30), subspace_dim=2, noise=0.0, quality=(1.0, 0.5), random_state=0
    )
    assert [X.shape for X in views] == [(120, 20), (120, 30)]
    np.testing.assert_array_equal(np.bincount(y), [30] * 4)
    for c in range(4):
        assert np.linalg.matrix_rank(views[0][y == c]) == 2
        assert np.linalg.matrix_rank(views[1][y == c]) > 2


def test_noise_is_relative_to_the_deviation_of_the_entries():
    (clean,), (noisy,) = (
        SUBSPACES(3000, 3, n_features=(40,), noise=noise, random_state=0)[0] for noise in (0.0, 0.5)
    )
    assert np.std(noisy - clean) / np.std(clean) == pytest.approx(0.5, rel=0.02)


def test_generator_is_seeded_and_sorted_on_request():
    first, y = SUBSPACES(30, 3, shuffle=False, random_state=1)
    second, _ = SUBSPACES(30, 3, shuffle=False, random_state=1)
    np.testing.assert_array_equal(first[0], second[0])
    assert (np.diff(y) >= 0).all()


def test_a_cohort_has_ids_gaps_markers_and_the_scales_of_its_assays():
    cohort = datasets.make_cohort(200, 3, effect=3.0, missing=0.2, random_state=0)
    patients = cohort.target.index
    assert patients.is_unique and list(cohort.clinical.index) == list(patients)
    assert cohort.target.value_counts(sort=False).sort_index().tolist() == [89, 67, 44]
    frames = cohort.views.values()
    assert [frame.shape[1] for frame in frames] == [300, 120, 500]
    assert set().union(*(frame.index for frame in frames)) == set(patients)
    for frame in frames:
        assert 0.75 < len(frame) / 200 < 0.95 and frame.index.is_unique
        assert list(frame.index) != sorted(frame.index)
    methylation, mirna, rna = frames
    assert methylation.min().min() >= 0 and methylation.max().max() <= 1
    for counts in (mirna, rna):
        assert counts.dtypes.eq(np.int64).all() and counts.min().min() >= 0
        assert counts.mean().max() > 100 * counts.mean().min()
    assert cohort.markers.groupby(["assay", "cluster"]).size().tolist() == [8] * 9
    for assay, column, cluster in cohort.markers.itertuples(index=False):
        values = cohort.views[assay][column].rank(pct=True)
        inside = cohort.target[values.index] == cluster
        assert abs(values[inside].mean() - values[~inside].mean()) > 0.2
    assert cohort.clinical["time"].gt(0).all() and 0.2 < cohort.clinical["event"].mean() < 0.9
    again = datasets.make_cohort(200, 3, effect=3.0, missing=0.2, random_state=0)
    pd.testing.assert_frame_equal(again.views["rna"], rna)
    complete = datasets.make_cohort(30, 2, missing=0.0, random_state=0)
    assert {len(frame) for frame in complete.views.values()} == {30}


def test_later_clusters_of_a_cohort_live_shorter_and_half_of_the_markers_rise():
    cohort = datasets.make_cohort(
        6000, 3, n_features=(24, 24, 24), effect=3.0, missing=0.0, random_state=0
    )
    times = cohort.clinical["time"].groupby(cohort.target).mean()
    assert (np.diff(times) < -2).all()
    for (assay, cluster), rows in cohort.markers.groupby(["assay", "cluster"]):
        ranks = cohort.views[assay][rows["column"]].rank(pct=True)
        inside = cohort.target[ranks.index] == cluster
        assert (ranks[inside].mean() > ranks[~inside].mean()).sum() == 4


def test_a_cohort_of_markers_alone():
    cohort = datasets.make_cohort(40, 2, n_features=(16, 16, 17), random_state=0)
    assert cohort.markers["column"].nunique() == len(cohort.markers) == 48


def test_levels_of_assays_are_those_of_the_documentation():
    """Half of the beta values are below a third; middle counts are near 2^5 and 2^7."""
    views = datasets.make_cohort(400, 2, n_features=(800, 800, 800), random_state=0).views
    assert 0.3 < views["methylation"].median().median() < 0.37
    assert 0.75 < np.log2(views["methylation"].stack() / (1 - views["methylation"].stack())).std()
    for assay, level in (("mirna", 5), ("rna", 7)):
        assert abs(np.log2(1 + views[assay].median().median()) - level) < 0.5


@pytest.mark.parametrize(
    ("make", "parameters", "message"),
    [
        (datasets.make_cohort, {"n_features": (300, 9, 40)}, "n_markers .*32, got .300, 9, 40."),
        (datasets.make_cohort, {"missing": 2}, "missing"),
        (datasets.make_cohort, {"n_clusters": 400}, "n_clusters=400 is more than"),
        (SUBSPACES, {"n_clusters": 400}, "n_clusters=400 is more than .*300"),
        (SUBSPACES, {"quality": (1.0, 0.5)}, "quality must be one number or 3, got 2"),
        (SUBSPACES, {"quality": (1.0, 2.0, 0.0)}, "quality == 2.0, must be <= 1"),
    ],
)
def test_bad_parameters(make, parameters, message):
    with pytest.raises(ValueError, match=message):
        make(**parameters)
