"""ConsensusTLRR: many labellings, a judge that needs no truth, and TLRR of the best of them."""

import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from .._judge import Judge, one_hot, refined_labels
from .._landmarks import Predictor
from .._relevance import ViewGraphs
from .._sparse._completed import kind_tensor
from .._sparse._factors import view_factors, view_scales
from .._sparse._graphs import CANDIDATES, LONGEST, sparse_tensor
from .._sparse._nearest_rows import listed_rows, searched_approximately
from .._sparse._spectral import (
    embedded,
    leading_eigenvectors,
    thresholded_affinity,
    tube_threshold,
    voting_affinity,
    warn_of_unlike,
)
from ..spectral import assign
from ..threads import use_threads
from ..views._missing import IncompleteGraphs, imputed
from ..views._rows import (
    ViewRows,
    constant_views,
    equal_samples,
    observed,
    presence,
    sort_rows,
    warn_of_few,
)
from ._base import MultiViewClusterer
from ._candidate import Candidate
from ._ensemble import generalised_median, tlrr_consensus
from ._method import option
from ._sampled import SampledClusterer
from ._tlrr_size import sparse_cost

NEIGHBORS = (8, 15, 30, 60)
TAIL = 0.01
SHARPNESS = 32  # exponent of J / J_max in the weights
BEST = 6  # labellings that TLRR fuses
# Ridges of the two slices of a view, times the mean eigenvalue of its Gram matrix.
SCALES = {"unit": (0.5, 5.0), "centred": (1.0, 10.0)}


class ConsensusTLRR(SampledClusterer, MultiViewClusterer):
    """Labels that hold: the consensus of sixteen labellings by TLRR.

    1. Two kinds of sparse graphs (of unit rows, and of centred rows) cut at four neighbourhood
       sizes in two embeddings give sixteen labellings.
    2. Each is judged by how well its labels are predicted from all other samples
       (`label_predictability`), and refined: every sample takes the label that ridge regression
       and its graph neighbours predict for it, until labels stand still.
    3. TLRR of the co-association tensor of the six best (a view for each labelling) is cut, and
       refined likewise.
    4. Of all refined labellings the one stays that agrees best with the sixteen, weighted by
       their predictability.

    The cost is linear in the number of samples. Beyond ``max_samples`` a uniform sample is
    clustered, and ridge regression labels the rest, as it does new samples in `predict`.

    Samples may lack views: rows of NaN, as `views.align` makes them. Their similarities are those
    of the samples nearest to them in the views they have, and what else needs features takes rows
    that ridge regression predicts from those views, in `predict` as well.

    Parameters
    ----------
    n_init : int
        Starts of k-means for each of the sixteen labellings, which make up for one another.
    max_samples : int or "auto"
        Samples that are clustered; "auto" is the larger of 10 000 and 300 for each cluster. Where
        there are more, views may be larger than memory, or on other machines: memory maps, data
        sets of HDF5 (h5py), zarr arrays, or Dask arrays, which give lazy ``labels_``. They are read
        in three passes of blocks. Labels depend neither on how the views are kept nor on the size
        of blocks or chunks.
    views : {"auto", "all"}
        "auto" sets aside views in which nothing repeats, with a warning that names them; "all"
        keeps every view that is not constant.
    keep : {"all", "labels"}, default="all"
        What a fitted model stores. "all" is about 1 KB for each of the m clustered samples, and
        what `predict` needs: the rows of 600 samples in every view, 1.4 MB for their kernel, and
        for a view of more features than samples the matrix that maps them. "labels" is the latter
        alone, with labels and numbers: it leaves out ``affinity_``, ``embedding_`` and the labels
        in ``candidates_``.

    Attributes
    ----------
    labels_ : ndarray or dask array of shape (n_samples,)
        Independent of the order of the samples. Lazy where the views were Dask arrays, and to be
        computed while the client that was active in `fit` is open.
    candidates_ : list of Candidate
        The consensus of the best six first, then the labellings, best-judged first.
    chosen_ : int
        Number of the candidate that became the labels.
    views_used_ : list of int
    affinity_ : csr_array of shape (m, m)
        Thresholded similarities of the m fitted samples, summed over both kinds of graphs, at 30
        neighbors: what votes in the refinement.
    embedding_ : ndarray of shape (m, n_clusters)
        Leading eigenvectors of the normalised affinity, rows of unit length.
    samples_ : ndarray of shape (m,)
        The samples that were clustered; all in their order, unless there are more than
        ``max_samples``.
    n_tuples_ : int
        Distinct tuples of labels among the best six: the size of the problem TLRR solved.
    gap_ : float
        Its relative duality gap.

    References
    ----------
    Jia, Liu, Hou, Kwong, Zhang: Multi-view spectral clustering tailored tensor low-rank
    representation. IEEE TCSVT 31(12), 2021; the tailored norm for ensemble clustering is its
    future work.

    Examples
    --------
    >>> from mvsc_fast import ConsensusTLRR, datasets, metrics
    >>> views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = ConsensusTLRR(n_clusters=3, random_state=0).fit(views)
    >>> metrics.clustering_scores(y, model.labels_)["acc"] > 0.9
    True
    >>> bool((model.predict(views) == model.labels_).mean() > 0.95)
    True
    """

    _way_out = (
        "a smaller max_samples clusters fewer of them, and labels the others by ridge regression"
    )
    _takes_missing = True
    _checks = {
        "views": option("auto", "all"),
        "keep": option("all", "labels"),
    }

    def __init__(
        self,
        n_clusters=8,
        *,
        n_init=3,
        max_samples="auto",
        memory_limit=None,
        views="auto",
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
        keep="all",
    ):
        self._keep_parameters(locals())

    _least_limit = 10_000

    def _draws_sample(self, views):
        return views[0].shape[0] > self._limit()

    def _cost(self, views):
        n = views[0].shape[0]
        kinds = len(SCALES)
        slices = sum(len(view_scales(*X.shape, SCALES["unit"])) for X in views)
        return sparse_cost(
            n,
            views,
            min(n, self._limit()),
            self.n_clusters,
            slices,
            labellings=2 * kinds * len(NEIGHBORS),
            kinds=kinds,
        )

    def _cluster(self, views, seed, n_threads):
        drawn = None
        if self._draws_sample(views):
            drawn = self._draw(views, seed)
            order, views = drawn.numbers, drawn.views
            nonnegative = drawn.summary.least >= 0
        else:
            order = sort_rows(views)
            nonnegative = [X.min() >= 0 for X in observed(views)]
        labels = self._fit(views, nonnegative, self.n_clusters, seed, n_threads)
        self._bring_to_order(order)
        self.labels_ = labels[np.argsort(order)]
        if drawn is not None:
            self._progress.stage("prediction")
            self.labels_ = self._labels_of(drawn.source, n_threads, self.samples_, self.labels_)

    def predict(self, X):
        """Labels of new samples by ridge regression on the fitted ones.

        Parameters
        ----------
        X : list of array-like or sparse matrix of shape (n_new, n_features_i)
            The same views as in `fit`, those set aside included. They may be memory maps, data
            sets of HDF5, zarr arrays or Dask arrays, whatever they were in `fit`.

        Returns
        -------
        ndarray of shape (n_new,)
            A lazy Dask array where the views are such. On the samples of `fit` these are
            ``labels_`` for all that were not clustered themselves (``samples_``), and for nearly
            all of those.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a view is invalid, or does not have the features it had in `fit`.
        """
        check_is_fitted(self)
        views = self._validate(X, reset=False)
        with use_threads(self.n_threads, views[0].shape[0]) as n_threads:
            return self._labels_of(views, n_threads)

    def to_native(self):
        """What the C interface needs to label new samples: ``mvsc_predictor`` as plain arrays.

        Returns
        -------
        dict
            ``views``, a list of the numbers of the views whose rows ``mvsc_predict`` takes, and the
            fields of the struct in ``mvsc_fast.h``: numbers, arrays, and lists of arrays of these
            views, where None is a null pointer. All are C-contiguous and of the types of the
            header. Some are the model's own: do not change them.
        """
        check_is_fitted(self)
        return {"views": list(self.views_used_), **self._predictor.to_native()}

    def _labeller(self, n_threads):
        return partial(_predicted, self._predictor, self.views_used_, n_threads)

    def _fit(self, views, nonnegative, c, seed, n_threads):
        """Labels of samples in canonical order."""
        present, given = presence(views), views
        views = imputed(given)  # for the judge and the map
        equal = equal_samples(views)
        warn_of_few(equal, c)
        rows = [ViewRows(*one) for one in zip(views, nonnegative, strict=True)]
        if present is None:
            by_itself = ViewGraphs(views, [view.unit for view in rows], in_order=True)
        else:
            by_itself = IncompleteGraphs(given, in_order=True)
        self.views_used_ = self._usable(observed(given), by_itself)
        rows = [rows[i] for i in self.views_used_]
        self._log(f"views {self.views_used_}, {len(equal)} samples")
        if present is None:
            found = self._labellings(rows, c, seed, n_threads)
        else:
            used = self.views_used_
            there = observed([given[i] for i in used])
            there = [ViewRows(X, nonnegative[i]) for i, X in zip(used, there, strict=True)]
            found = self._labellings(there, c, seed, n_threads, present[used])
        if equal[-1] < c:  # no more distinct samples than clusters
            for candidate in found:
                candidate.labels = equal
        self._progress.stage("judge")
        judge = Judge(rows)
        labels = self._choose(found, judge, c, seed, n_threads)
        self.view_support_ = by_itself.support(labels)
        self._predictor = Predictor(judge.features, judge.ridge.coefficients(one_hot(labels, c)))
        return labels

    def _view_support(self, views):
        return self.view_support_  # of the graphs that chose the views

    def _usable(self, views, by_itself):
        """Numbers of the views that are fused."""
        constant = constant_views(views, "ignored", self.view_names_in_)
        varied = [i for i in range(len(views)) if i not in constant]
        if self.views == "auto":
            varied = by_itself.helpful(varied, self.view_names_in_)
        return varied or [0]

    def _labellings(self, rows, c, seed, n_threads, present=None):
        """Sixteen candidates, not judged yet; sets ``affinity_`` and ``embedding_``.

        With ``present`` the rows are of the samples that have each view.
        """
        n = len(rows[0].roots) if present is None else present.shape[1]
        grid = [d for d in NEIGHBORS if d <= n / 3] or [max(1, n // 3)]
        found, affinity = [], 0
        start = np.random.RandomState(seed).uniform(0.5, 1.5, n)
        if searched_approximately(n):
            self._log("neighbors by pynndescent, which may miss some")
        for kind in SCALES:
            self._progress.stage("graph")
            tensor = row_tensor(rows, kind, n_threads, present)
            self._log(f"{kind} graph of {len(tensor.values)} slices, {tensor.indptr[-1]} pairs")
            for d in self._progress.each("labellings", grid):
                tau = tube_threshold(tensor.lengths, n, d)
                A = thresholded_affinity(tensor, tau, TAIL)
                values, vectors = leading_eigenvectors(A, min(2 * c, n), start)
                start = vectors.sum(axis=1)
                for name in ("c", "2c"):
                    labels = self._assigned(embedded(values, vectors, c, name), c, seed)
                    found.append(Candidate(kind, d, name, labels))
            affinity = affinity + voting_affinity(tensor)
            if self._progress.stopped:
                break
        warn_of_unlike(affinity.sum(axis=1))
        self.affinity_ = affinity
        self.embedding_ = normalize(leading_eigenvectors(affinity, c, start)[1])
        return found

    def _choose(self, found, judge, c, seed, n_threads):
        """Judge, refine and fuse the candidates; the labels that agree best with them."""
        for candidate, J in zip(found, judge([one.labels for one in found], c), strict=True):
            candidate.predictability = float(J)
        found.sort(key=lambda one: -round(one.predictability, 12))
        largest = max(found[0].predictability, 1e-9)
        for candidate in found:
            candidate.weight = max(candidate.predictability / largest, 0.0) ** SHARPNESS
        self._log(f"best judged: {found[0]}")

        votes = _row_stochastic(self.affinity_)
        self._progress.stage("refinement")
        refined = refined_labels([one.labels for one in found], c, judge.ridge, votes)
        for candidate, labels in zip(found, refined, strict=True):
            candidate.labels = labels
        self._progress.stage("consensus")
        fused = tlrr_consensus(
            refined[:BEST], c, seed=seed, n_threads=n_threads, callback=self._progress.iteration
        )
        self.n_tuples_, self.gap_ = fused.n_tuples, fused.gap
        self._log(f"TLRR of {fused.n_tuples} label tuples, gap {fused.gap:.1e}")
        (labels,) = refined_labels([fused.labels], c, judge.ridge, votes)
        J = float(judge([fused.labels], c)[0])
        self.candidates_ = [Candidate("tlrr", None, None, labels, J), *found]

        weights = [one.weight for one in self.candidates_]
        if not any(weights):
            weights = [1.0] * len(weights)  # nothing predicts anything: a plain median
        self.chosen_ = generalised_median([one.labels for one in self.candidates_], weights, c)
        self._log(f"chosen: {self.candidates_[self.chosen_]}")
        return self.candidates_[self.chosen_].labels

    def _assigned(self, embedding, c, seed):
        with warnings.catch_warnings():
            # Fewer distinct rows than clusters: reported once, of the samples themselves.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = assign(embedding, c, n_init=self.n_init, random_state=seed)
        return labels.astype(np.int64)

    def _drop_large(self):
        super()._drop_large()
        for candidate in self.candidates_:
            candidate.labels = None

    def _bring_to_order(self, fitted):
        """What was learned in canonical order, in the order of the samples given."""
        rank = np.argsort(fitted)
        self.samples_ = fitted[rank]
        self.affinity_ = self.affinity_[rank][:, rank]
        self.embedding_ = self.embedding_[rank]
        for candidate in self.candidates_:
            candidate.labels = candidate.labels[rank]


def _predicted(predictor, used, n_threads, views):
    """Labels of new rows, of the views used."""
    return predictor([views[i] for i in used], n_threads)


def row_tensor(rows, kind, n_threads, present=None):
    """The `SparseTensor` of the "unit" or "centred" rows of some views.

    Parameters
    ----------
    rows : list of ViewRows
        Where samples lack views, of those that have each.
    kind : {"unit", "centred"}
    n_threads : int
    present : ndarray of shape (v, n) of bool, optional
        Which samples have each view; None where all have all.
    """
    if present is not None:
        return kind_tensor(rows, present, kind, SCALES[kind], n_threads=n_threads)
    given = [X for X in (getattr(view, kind) for view in rows) if X.any()]
    given = given or [np.ones((len(rows[0].roots), 1))]  # all samples alike
    factors = view_factors(given, SCALES[kind])
    candidates = listed_rows(factors, len(given), CANDIDATES, n_threads)
    return sparse_tensor(factors, n_longest=LONGEST, candidates=candidates, n_threads=n_threads)


def _row_stochastic(A):
    return normalize(A, norm="l1")
