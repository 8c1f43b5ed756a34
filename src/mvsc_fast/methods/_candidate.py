"""One of the labellings that a consensus chooses from."""

from dataclasses import dataclass

import numpy as np

from .._repr import ShortRepr


@dataclass(repr=False)
class Candidate(ShortRepr):
    """One of the labellings that the consensus chooses from.

    Attributes
    ----------
    graph : {"unit", "centred", "tlrr"}
        Rows that the graph was made from; "tlrr" is the consensus of the best six.
    n_neighbors : int or None
        Tubes that each sample keeps on average.
    embedding : {"c", "2c", None}
        The leading c eigenvectors, or 2c of them times their squared eigenvalues.
    labels : ndarray of shape (m,)
        After refinement, of the fitted samples.
    predictability : float
        J of the labelling before refinement, see `label_predictability`.
    weight : float
        Its say in the choice, (J / J_max)^32; 0 for "tlrr".
    """

    graph: str
    n_neighbors: int | None
    embedding: str | None
    labels: np.ndarray
    predictability: float = 0.0
    weight: float = 0.0
