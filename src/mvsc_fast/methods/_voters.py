"""Fitted samples that vote for the labels of new ones."""

import inspect
from functools import partial

import numpy as np
import scipy.sparse
from sklearn.utils import check_array, gen_batches
from sklearn.utils.validation import check_is_fitted

from .._sparse._completed import NewRows
from .._sparse._factors import Factors, view_maps
from .._sparse._graphs import CANDIDATES, LONGEST, sparse_tensor, unseen_tubes
from .._sparse._nearest_rows import listed_rows
from .._sparse._votes import precomputed_votes, vote_scores
from ..neighbors import GRID
from ..threads import use_threads
from ..validation import check_finite
from ..views._missing import view_graphs
from ..views._rows import BLOCK, presence, spread, tiled, unit_rows
from ._recovery import RecoveryClusterer
from ._sampled import SampledClusterer
from ._tlrr_size import chosen_size, count_slices, count_voters, sparse_cost

VOTING = "n_votes", "n_candidates", "scale_neighbors", "cap"  # what `voters` tells of votes
LARGEST_SIMILARITY = 1e18  # of which tubes are made in float32


class FittedSamples:
    """The default similarities among the samples of some views, and of new samples to them.

    Parameters
    ----------
    views : iterable of ndarray or csr_matrix of shape (m, d_i)
        In canonical order; looked at once, one after the other.
    n_threads : int
    n_voters : int
        Samples that vote, spread evenly over that order; all where there are no more.
    grams, n : list of ndarray of shape (d_i, d_i), or None; int, optional
        Products of the unit rows of n samples, all of which have a part in the ridge regression;
        ``views`` are some of them. See `view_maps`.

    Attributes
    ----------
    tensor : SparseTensor
        Of the m fitted samples.
    unseen : ndarray of shape (m,)
        No tube that was not looked at is longer.
    chosen : ndarray of int
        Which of the m samples vote.
    """

    def __init__(self, views, n_threads, n_voters, grams=None, n=None):
        self._maps = view_maps((unit_rows(X) for X in views), grams=grams, n=n)
        fitted = [one.factors for one in self._maps]
        self._n_listed = 1 + max(one.view for one in self._maps)  # a slice of every view
        candidates = listed_rows(fitted, self._n_listed, CANDIDATES, n_threads)
        self.tensor = sparse_tensor(
            fitted, n_longest=LONGEST, candidates=candidates, n_threads=n_threads
        )
        self.unseen = unseen_tubes(fitted, candidates, self.tensor.scales)
        m = self.tensor.n
        self.chosen = spread(m, n_voters)
        if n_voters < m:
            fitted = [Factors(u[self.chosen], h[self.chosen]) for u, h in fitted]
        self._fitted = fitted
        # Scales among the voters alone give no better votes.
        self._scales = np.ascontiguousarray(self.tensor.scales[:, self.chosen])
        for one in self._maps:
            one.factors = None

    def scores(self, views, labels, n_clusters, n_threads):
        """Votes for new samples, which may lack views, see `vote_scores`; of each row alone.

        ``labels`` are those of all fitted samples.
        """
        labels = labels[self.chosen]
        present = presence(views)
        if present is None:
            return self._scores(views, labels, n_clusters, n_threads)
        lacking = ~present.all(axis=0)
        known = NewRows(self._maps, self._fitted, self._scales)
        found = known.scores([X[lacking] for X in views], labels, n_clusters, n_threads)
        # The others as if these were not there, and in their places, which rounding depends on.
        views = [
            X if has.all() else np.nan_to_num(X) for X, has in zip(views, present, strict=True)
        ]
        scores = self._scores(views, labels, n_clusters, n_threads)
        scores[lacking] = found
        return scores

    def _scores(self, views, labels, n_clusters, n_threads):
        blocks = []
        for rows in gen_batches(views[0].shape[0], BLOCK):
            unit = [unit_rows(tiled(X[rows])) for X in views]
            new = [one(unit[one.view]) for one in self._maps]
            scores = vote_scores(
                new,
                self._fitted,
                self._scales,
                labels,
                n_clusters,
                n_listed=self._n_listed,
                n_threads=n_threads,
            )
            blocks.append(scores[: rows.stop - rows.start])
        return np.concatenate(blocks)

    def arrays(self):
        """As `VotingClusterer.voters`, without the labels."""
        for i, one in enumerate(self._maps):
            if not hasattr(one, "columns"):
                raise ValueError(
                    f"slice {i}, of view {one.view}, was fitted on fewer samples than features: "
                    "native code has the maps of views with as many samples as features only"
                )
        return {
            "view": np.array([one.view for one in self._maps]),
            "columns": [one.columns for one in self._maps],
            "lower": [one.lower for one in self._maps],
            "u": [u for u, _ in self._fitted],
            "h": [h for _, h in self._fitted],
            "scales": self._scales,
            "n_listed": self._n_listed,
        }

    def forget(self):
        """Drop what only the fit needs."""
        self.tensor = self.unseen = None


class FittedSimilarities:
    """Precomputed similarities among samples, some of which are fitted; as `FittedSamples`.

    Parameters
    ----------
    W : ndarray of shape (v, n, n) or list of csr_array
    samples : ndarray of shape (m,) of int
    """

    def __init__(self, W, samples):
        self._W, self._samples = W, samples

    def scores_of(self, rest, labels, n_clusters, n_threads):
        """Votes for other samples of W, given by number."""
        return self.scores([A[rest] for A in self._W], labels, n_clusters, n_threads)

    def scores(self, rows, labels, n_clusters, n_threads):
        """Votes from rows of similarities to all n samples."""
        return np.concatenate(
            [
                precomputed_votes(
                    [A[block][:, self._samples] for A in rows],
                    labels,
                    n_clusters,
                    n_threads=n_threads,
                )
                for block in gen_batches(rows[0].shape[0], BLOCK)
            ]
        )

    def forget(self):
        """Drop what only the fit needs."""
        self._W = None


def check_new_rows(X, n_slices, n_samples):
    """Similarities of new samples to the ``n_samples`` of a fit, one matrix for each slice."""
    if scipy.sparse.issparse(X) or (not isinstance(X, (list, tuple)) and np.ndim(X) == 2):
        X = [X]
    if len(X) != n_slices:
        raise ValueError(f"X has {len(X)} slices, the similarities of fit had {n_slices}")
    # As they are: views would be brought into a range where squares can be summed, each by itself.
    given = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], "ensure_all_finite": False}
    rows = [check_array(A, input_name="X", **given) for A in X]
    for i, A in enumerate(rows):
        if A.shape[0] != rows[0].shape[0]:
            raise ValueError(
                f"X: slice {i} has {A.shape[0]} rows, slice 0 has {rows[0].shape[0]}: every slice "
                "must describe the same samples"
            )
        if A.shape[1] != n_samples:
            raise ValueError(f"X: slice {i} has {A.shape[1]} columns, fit had {n_samples} samples")
        check_finite(A, f"X: slice {i}")
        if A.min() < 0:
            raise ValueError(f"X: slice {i} has negative entries")
        if A.max() > LARGEST_SIMILARITY:
            raise ValueError(
                f"X: slice {i} has entries up to {A.max():.3g}, whose squares leave the range of "
                "float32: rescale the similarities"
            )
    return rows


def _voted(voters, labels, n_clusters, n_threads, views):
    """Labels of new samples by the votes of fitted ones with ``labels``."""
    return voters.scores(views, labels, n_clusters, n_threads).argmax(axis=1)


class VotingClusterer(SampledClusterer, RecoveryClusterer):
    """Base of the methods whose fitted samples vote for the labels of all others.

    They set ``_voters``, ``_fitted_labels`` and ``samples_``, the numbers of the fitted samples, of
    which there are as many as ``size`` and ``max_samples`` say.
    """

    _sums_products = True  # the default W is a product of factors, to which all contribute

    def _is_default(self):
        return self.graph == "selfrep"

    def _is_sorted(self):
        """Whether the fit begins with the samples in canonical order."""
        return isinstance(self.graph, str) and not self._is_precomputed()

    @property
    def _takes_missing(self):
        return self._is_default()

    def _size(self, views):
        """The size that is meant, and the number of samples that are fitted."""
        n = views[0].shape[0]
        limit = self._limit()
        size = "dense" if self.solver == "ialm" else self.size
        if size == "auto":
            size = chosen_size(
                n,
                count_slices(views, self.graph),
                limit,
                factored=self._is_default(),
                sparse=self._is_precomputed() and scipy.sparse.issparse(views[0]),
                iterates=bool(self.max_iter),
            )
        return size, min(n, limit) if size == "sample" else n

    def _count_voters(self, n_fitted):
        return count_voters(n_fitted, self.n_clusters) if self.size_ == "sample" else n_fitted

    def _cost(self, views):
        size, m = self._size(views)
        if size == "dense":
            cost = super()._cost(views)
            return cost._replace(eigen=30 * cost.eigen) if self.solver == "ialm" else cost
        slices, features = count_slices(views, self.graph), views
        given = 0  # bytes of similarities that are not made sparse
        if self._is_precomputed():
            features = []
            sparse = scipy.sparse.issparse(views[0])
            given = 48 * sum(A.nnz for A in views) if sparse else 24 * m * m
        elif self.graph not in ("selfrep", "knn"):
            given = 3 * slices * m * m * views[0].dtype.itemsize
        n = views[0].shape[0]
        cost = sparse_cost(n, features, m, self.n_clusters, slices, labellings=2 * len(GRID))
        return cost._replace(memory=cost.memory + given)

    def _draws_sample(self, views):
        """Whether a sample is drawn in passes over all samples."""
        size, m = self._size(views)
        return self._is_default() and size == "sample" and m < views[0].shape[0]

    def _view_support(self, views):
        if self._is_sorted():
            return self.view_support_  # of the views in that order, or of a sample
        if self._is_precomputed():
            return super()._view_support(views)
        return view_graphs(views).support(self.labels_)

    def _labeller(self, n_threads):
        return partial(_voted, self._voters, self._fitted_labels, self.n_clusters, n_threads)

    def _label_the_rest(self, views, n_threads):
        """Labels of samples in memory that were not fitted."""
        n, c = views[0].shape[0], self.n_clusters
        rest = np.delete(np.arange(n), self.samples_)
        if self._is_precomputed():
            scores = self._voters.scores_of(rest, self._fitted_labels, c, n_threads)
        else:
            views = [X[rest] for X in views]
            scores = self._voters.scores(views, self._fitted_labels, c, n_threads)
        self.labels_ = np.empty(n, dtype=self._fitted_labels.dtype)
        self.labels_[self.samples_] = self._fitted_labels
        self.labels_[rest] = scores.argmax(axis=1)

    def predict(self, X):
        """Labels of new samples by the votes of the most similar fitted ones.

        Each of the 40 fitted samples with the longest tubes to a new one votes with the length of
        its tube beyond the 41st. Tubes are those of the default W, or of the similarities given;
        those of the default W have entries in the slices of its second ridge scale for the 64
        fitted samples alone whose tubes are longest in those of the first: accuracy is within .001
        of that by all slices, which samples that lack views are labelled by.
        Where ``size_`` is "sample" and the similarities are not given, 5000 of the fitted samples
        have a vote, or 250 for each cluster if that is more, spread evenly over all of them:
        accuracy with more was within .002.

        Parameters
        ----------
        X : list of array-like or sparse matrix of shape (n_new, n_features_i)
            The views, which may be memory maps, data sets of HDF5, zarr arrays or Dask arrays, as
            in `fit`; rows of NaN are samples that lack a view. With ``graph="precomputed"`` the
            similarities of new samples to those of `fit`, shape (v, n_new, n_samples).

        Returns
        -------
        ndarray of shape (n_new,)
            A lazy Dask array where the views are such. On the samples of `fit` these are
            ``labels_`` for all that were not fitted themselves (``samples_``), and for nearly all
            of those, if they all have a vote.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a view is invalid, or does not have the features it had in `fit`.
        """
        check_is_fitted(self)
        if self._is_precomputed():
            views = check_new_rows(X, len(self.view_names_in_), self.n_features_in_)
        else:
            views = self._validate(X, reset=False)
        with use_threads(self.n_threads, views[0].shape[0]) as n_threads:
            if self._is_precomputed():
                return self._labeller(n_threads)(views).astype(self._fitted_labels.dtype)
            return self._labels_of(views, n_threads)

    def voters(self):
        """What native code needs to label new rows as `predict` does: see `mvsc_fast.h`.

        A new sample's rows are scaled to unit length, mapped to factors slice by slice
        (``mvsc_factor_rows``), and labelled by votes (``mvsc_vote``).

        Returns
        -------
        dict
            Plain arrays, one for each of the v slices where it is a list: ``view`` (v,), the view
            that a slice is of; ``columns``, the d_i columns of that view which are used, int;
            ``lower``, inverses of Cholesky factors (d_i, d_i), float64; ``u`` (m, d_i) and ``h``
            (m,), factors of the m fitted samples that vote, float32; ``scales`` (v, m), float32;
            ``labels`` (m,), intp. And the numbers ``n_clusters``, ``n_listed``, ``n_votes``,
            ``n_candidates``, ``scale_neighbors`` and ``cap``.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If a view was fitted on fewer samples than it has features, whose map has no Cholesky
            factor of that size, or if similarities were precomputed.
        """
        check_is_fitted(self)
        if self._is_precomputed():
            raise ValueError("precomputed similarities have no factors: fit on views")
        if not isinstance(self._voters, FittedSamples):
            raise ValueError("samples that lack views have no factors: fit on those with all views")
        usual = inspect.signature(vote_scores).parameters
        return {
            **self._voters.arrays(),
            "labels": self._fitted_labels[self._voters.chosen].astype(np.intp),
            "n_clusters": self.n_clusters,
            **{name: usual[name].default for name in VOTING},
        }
