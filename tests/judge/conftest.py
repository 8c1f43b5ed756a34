"""Data of the tests of suggested numbers of clusters."""

import numpy as np
import pytest


@pytest.fixture
def views_with_small_group():
    """Views of groups of 100, 88 and 12 samples, the last near the second; and its samples."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(3), [100, 88, 12]))
    means = np.zeros((3, 12))
    means[0, 0], means[2, 1] = 20, 6
    return [means[y] + rng.standard_normal((200, 12)) for _ in "ab"], np.flatnonzero(y == 2)
