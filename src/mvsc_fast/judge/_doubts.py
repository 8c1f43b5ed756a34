"""What the scores of a fit say against its labels."""

import numpy as np

from .._utils.messages import counted, warn_user

# Calibrated by bench/doubts.py. Noise of 300 samples reaches a predictability of .5 to .8 and a
# modularity of .25 to .5, except in two or three columns. The sixteen sets have more of at least
# one of them.
MIN_PREDICTABILITY, MIN_MODULARITY, MIN_SAMPLES = 0.85, 0.5, 200
# Below it, labels of nine tenths of the samples agree with those of all no better
# (bench/changes.py).
MIN_AGREEMENT = 0.6


def warn_of_doubts(n_samples, predictability, modularity, agreement):
    """Warn if clusters are no better than those of noise, or else if others are as good.

    Parameters
    ----------
    n_samples : int
    predictability : float
        The largest of the candidates.
    modularity : float
        Of the final labels, see `corrected_modularity`.
    agreement : float
        Of the final labels with those that were fused, see `ConsensusTLRR`.
    """
    is_doubtful = predictability < MIN_PREDICTABILITY and modularity < MIN_MODULARITY
    if n_samples >= MIN_SAMPLES and is_doubtful:
        warn_user(
            f"clusters of noise are as predictable ({predictability:.2f}) and have as large a "
            f"modularity ({modularity:.2f} of at most 1) as these: they may be arbitrary, or miss "
            "groups that are much smaller than others. structure_test tests for structure"
        )
    elif agreement < MIN_AGREEMENT:
        warn_user(
            f"the labels agree little with the labellings that were fused (mean adjusted Rand "
            f"index {agreement:.2f}): other clusters are about as good, and small changes of the "
            "data may lead to them"
        )


def warn_of_empty_clusters(labels, n_clusters):
    """Warn if fewer clusters have samples than were asked for."""
    count = len(np.unique(labels))
    if count < n_clusters:
        warn_user(
            f"n_clusters={n_clusters}, but the samples are in {counted(count, 'cluster')}: "
            f"{n_clusters - count} of the labels occur nowhere. There may be too few samples"
        )
