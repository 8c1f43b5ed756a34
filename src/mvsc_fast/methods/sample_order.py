"""The order of the samples: a warning where it counts, and self-ordering."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from ..transforms import Fourier

MAX_ROUNDS = 5  # labels stand still after two or three, or wander

_warned = False


def warn_order_dependent():
    """Say once that a transform along the samples makes labels depend on their order."""
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            'sample_transform="dft" runs along the samples, so the labels depend on their order, '
            'and files sorted by class flatter it: use "graph" unless you reproduce a published '
            "table",
            UserWarning,
            stacklevel=5,
        )


def check_reorderable(model):
    """The parameters of ``model`` that say how a norm transforms along the samples.

    Raises ValueError if there are none, as self-ordering would change nothing.
    """
    names = [
        name
        for name in model.get_params()
        if name.split("__")[-1] == "sample_transform" and "sample_transform__" not in name
    ]
    if not names:
        raise ValueError(
            "reorder=True needs a method that transforms along the samples: "
            "graph=TSVDMSC(...) or graph=ETLMSC(...)"
        )
    return names


def self_order(model, views, seed):
    """Refit a fitted model by the DFT on samples sorted by its own labels, until they stand still.

    Within a label, samples are sorted by their degree, so that nothing depends on their order in
    the input. The model ends with the attributes of the last fit, and ``n_rounds_``.
    """
    by_dft = {name: Fourier() for name in check_reorderable(model)}
    for round_ in range(1, MAX_ROUNDS + 1):
        order = np.lexsort((model.affinity_.sum(axis=1), model.labels_))
        refit = clone(model).set_params(reorder=False, random_state=seed, **by_dft)
        refit.fit([X[order] for X in views])
        refit._permute(np.argsort(order))
        agreement = adjusted_rand_score(model.labels_, refit.labels_)
        model._log(f"ordering {round_}: agreement {agreement:.3f} with the last labels")
        fitted = {key: value for key, value in vars(refit).items() if key.endswith("_")}
        vars(model).update(fitted)
        model.n_rounds_ = round_
        if agreement == 1.0:
            break
