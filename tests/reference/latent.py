"""The random start of L-MSC and MCLES."""

import numpy as np

from .sparse_graphs import unit


def drawer(views, random_state):
    """A function of n_rows: random numbers of shape (n_rows, n), permuted as the samples are.

    A fit reads its random state once, for the seed of all that it draws.
    """
    X = np.hstack([unit(V) for V in views])
    rng = np.random.RandomState(np.random.RandomState(random_state).randint(2**31 - 1))

    def draw(n_rows):
        order = np.argsort(X @ rng.uniform(size=X.shape[1]))
        numbers = np.empty((n_rows, len(X)))
        numbers[:, order] = rng.uniform(size=numbers.shape)
        return numbers

    return draw
