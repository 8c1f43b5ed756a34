"""Nine timings of names that every commit has, for asv: CPU seconds of one thread.

Usage: asv run --config bench/asv.conf.json COMMIT^! for each commit, then asv compare, asv publish,
or `docs/make_history.py` for the chart of the documentation.
"""

import time
import warnings

import numpy as np

import mvsc_fast as m

CLUSTERS = 10


def simulated(n):
    """Three views of samples near ten subspaces."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % CLUSTERS
    views = []
    for d in (30, 60, 90):
        bases = rng.standard_normal((CLUSTERS, 5, d))
        X = np.einsum("ik,ikd->id", rng.standard_normal((n, 5)), bases[y])
        views.append(X + 0.3 * rng.standard_normal((n, d)))
    return views


class _Timing:
    param_names = ["n"]
    timer = time.process_time
    warmup_time = 0.0
    rounds, repeat, number = 1, 3, 1
    timeout = 600

    def setup(self, n):
        warnings.simplefilter("ignore")
        self.views = simulated(n)


class _Fit(_Timing):
    def time_fit(self, n):
        self.estimator(CLUSTERS, random_state=0).fit(self.views)


class ConsensusTLRR(_Fit):
    params = [500, 2000, 8000]
    estimator = m.ConsensusTLRR


class ManyClusters(_Timing):
    params = [2000]

    def setup(self, n):
        super().setup(n)
        rng = np.random.default_rng(0)
        y = np.arange(n) % 200
        self.views = [
            rng.standard_normal((200, 50))[y] + rng.standard_normal((n, 50)) for _ in range(3)
        ]

    def time_fit(self, n):
        m.ConsensusTLRR(200, random_state=0).fit(self.views)


class TLRR(_Fit):
    params = [300, 1000]
    estimator = m.TLRR


class TSVDMSC(_Fit):
    params = [300]
    estimator = m.methods.TSVDMSC


class ETLMSC(_Fit):
    params = [300]
    estimator = m.methods.ETLMSC


class SNN(_Fit):
    params = [200]
    estimator = m.methods.SNN


class Predict(_Timing):
    params = [1, 1000]
    repeat = 5

    def setup(self, n):
        super().setup(2000)
        self.model = m.ConsensusTLRR(CLUSTERS, random_state=0).fit(self.views)
        self.new = [X[:n] for X in self.views]

    def time_predict(self, n):
        self.model.predict(self.new)


class LabelPredictability(_Timing):
    params = [2000]

    def time_score(self, n):
        m.label_predictability(self.views, np.arange(n) % CLUSTERS)


class SuggestNClusters(_Timing):
    params = [500]

    def time_suggest(self, n):
        m.suggest_n_clusters(self.views, random_state=0)
