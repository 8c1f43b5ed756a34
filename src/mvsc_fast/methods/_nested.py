"""What an estimator inside another one has learned."""

import numpy as np
import scipy.sparse
from sklearn.base import clone


def as_array(learned):
    """Dense array of a matrix or tensor that may be sparse or a list of slices."""
    if isinstance(learned, list):
        return np.stack([as_array(A) for A in learned])
    return learned.toarray() if scipy.sparse.issparse(learned) else learned


def learned_by(estimator, attribute, views, seed, n_threads):
    """Dense ``attribute`` of a nested estimator, which is fitted on the views if it has none.

    A clone is fitted. It inherits the seed and the number of threads if its own are None.
    """
    if not hasattr(estimator, attribute):
        # The given estimator stays unfitted; seed and threads are inherited where it has none.
        estimator = clone(estimator)
        parameters = estimator.get_params()
        inherited = {"random_state": seed, "n_threads": n_threads}
        unset = {key: value for key, value in inherited.items() if parameters.get(key, 0) is None}
        estimator.set_params(**unset).fit(views)
        if not hasattr(estimator, attribute):
            raise ValueError(f"{type(estimator).__name__} has no attribute {attribute} after fit")
    learned, n_samples = getattr(estimator, attribute), views[0].shape[0]
    shape = np.shape(learned[0] if isinstance(learned, list) else learned)
    if shape[-2:] != (n_samples, n_samples):
        raise ValueError(
            f"{type(estimator).__name__} was fitted on {shape[-1]} samples, but the views have "
            f"{n_samples}: pass an unfitted estimator, or the same samples"
        )
    return as_array(learned)
