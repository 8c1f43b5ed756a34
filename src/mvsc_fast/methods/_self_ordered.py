"""Self-ordering: the order of the samples from the labels themselves."""

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from ..solvers import IterationState
from ..transforms import Fourier
from ._base import MultiViewClusterer, check_estimator, draw_seed

MAX_ROUNDS = 5  # labels stand still after two or three, or wander
NO_SAMPLE = (
    "SelfOrdered orders all samples, its estimator fits a sample of them: raise max_samples, or "
    'set size to "sparse" or "dense"'
)


class SelfOrdered(MultiViewClusterer):
    """An estimator whose transform along the samples runs in the order of its own labels.

    A DFT along the samples profits from files sorted by class. Here the samples are sorted by the
    labels that ``estimator`` finds, it is fitted again with the published "dft" transform, and so
    on until labels stand still. Within a label, samples are sorted by their degree, so that
    nothing depends on their order in the input.

    Parameters
    ----------
    estimator : estimator
        One with a ``sample_transform``, or a chain that has one in it, which is then ordered by its
        final labels: ``TSVDMSC(...)``, ``ETLMSC(...)``, ``TLRR(graph=TSVDMSC(...))``.
    verbose : int, default=0
        1 prints one line for each ordering.

    Attributes
    ----------
    estimator_ : estimator
        The last fit, in the order of the input; its other attributes are those of the wrapper, too.
    n_rounds_ : int
        Orderings tried.

    Examples
    --------
    >>> from mvsc_fast import TSVDMSC, SelfOrdered, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> SelfOrdered(TSVDMSC(n_clusters=3, random_state=0)).fit_predict(views).shape
    (60,)
    """

    _checks = {"estimator": check_estimator}

    def __init__(self, estimator, *, verbose=0, callback=None):
        self._keep_parameters(locals())

    def _fit_views(self, X):
        self._check_parameters()
        by_dft = {name: Fourier() for name in self._transforms()}
        views = self._validate(X)
        with self._reporting():
            fitted, n_rounds = self._ordered(views, by_dft)
        given = {key: value for key, value in vars(self).items() if key.endswith("_in_")}
        learned = {key: value for key, value in vars(fitted).items() if key[-1] == "_"}
        vars(self).update(learned | given)
        self.estimator_, self.n_rounds_ = fitted, n_rounds

    def _ordered(self, views, by_dft):
        """The last fit, in the order of the views, and the number of orderings."""
        self._progress.stage("ordering", MAX_ROUNDS)
        keep = {"keep": "all"} if hasattr(self.estimator, "keep") else {}  # the order needs it
        fitted = clone(self.estimator).set_params(**keep).fit(views)
        if fitted.affinity_.shape[0] < len(fitted.labels_):
            raise ValueError(NO_SAMPLE)
        seed = draw_seed(self.estimator.get_params()["random_state"])
        again = {"random_state": seed, **by_dft, **keep}
        for round_ in range(1, MAX_ROUNDS + 1):
            order = np.lexsort((fitted.affinity_.sum(axis=1), fitted.labels_))
            refit = clone(self.estimator).set_params(**again).fit([X[order] for X in views])
            refit._permute(np.argsort(order))
            agreement = adjusted_rand_score(fitted.labels_, refit.labels_)
            self._log(f"ordering {round_}: agreement {agreement:.3f} with the last labels")
            fitted = refit
            state = IterationState(round_, 1.0 - agreement, 0.0, total=MAX_ROUNDS)
            if self._progress.iteration(state) or agreement == 1.0:
                break
        if keep:
            fitted.set_params(keep=self.estimator.keep)._drop_what_is_not_kept()
        return fitted, round_

    def _check_parameters(self):
        super()._check_parameters()
        if isinstance(self.estimator, MultiViewClusterer):
            self.estimator._check_parameters()
        if not (isinstance(self.estimator, MultiViewClusterer) and self._transforms()):
            raise ValueError(
                "SelfOrdered needs a method that transforms along the samples, TSVDMSC(...) or "
                "ETLMSC(...), or a chain with one in it, TLRR(graph=TSVDMSC(...)); got "
                f"{self.estimator!r}"
            )

        if self.estimator.get_params().get("size") == "sample":
            raise ValueError(NO_SAMPLE)

    def _transforms(self):
        """The parameters of the estimator that say how a norm transforms along the samples."""
        return [
            name
            for name in self.estimator.get_params()
            if name.split("__")[-1] == "sample_transform" and "sample_transform__" not in name
        ]
