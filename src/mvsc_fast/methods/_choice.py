"""How many neighbors are kept, and which labels: of the tensor, or those of the choice."""

from functools import partial

import numpy as np
from sklearn.preprocessing import normalize

from .._judge import JudgeByViews, judge_by_graph
from .._sparse._spectral import (
    embedded,
    leading_eigenvectors,
    start_vector,
    thresholded_affinity,
    tube_threshold,
    voting_affinity,
    warn_of_unlike,
)
from .._warnings import warn_user
from ..neighbors import count_neighbors, scan_neighbors, tube_thresholds
from ..spectral import assign
from ._voters import VotingClusterer

# How much less predictable the labels of the cut may be than those of the scan, which has fewer
# starts of k-means: J of equally good labellings differs by so much, and of 60 clusters it prefers
# labellings that merge three pairs.
MARGIN = 0.02


class ChoosingClusterer(VotingClusterer):
    """Base of TLRR: the tube threshold, from the number of neighbors, and the cut.

    Where the number is chosen, by how predictable labels are, those of the tensor are compared
    with the labels that the choice was made on.
    """

    def _scans(self):
        return self.lam == "auto" and self.n_neighbors == "auto"

    def _judge_by_features(self, views):
        """The judge of the choice, None where nothing is to be chosen."""
        if not self._scans():
            return None
        self._progress.stage("judge")
        return JudgeByViews(views, in_order=self._is_sorted())

    def _judge_by_graph(self, longest):
        """As `_judge_by_features` where there are no features."""
        return judge_by_graph(self._votes(longest)) if self._scans() else None

    def _votes(self, longest):
        """The affinity by which samples vote, with rows of sum 1."""
        return normalize(voting_affinity(longest), norm="l1")

    def _strength(self):
        return (1.0 - self.omega1) * self.alpha / 2.0  # tau = strength / lam

    def _choose_lam(self, longest, judge, seed, lengths=None):
        """Set ``lam_``, ``n_neighbors_`` and ``path_``; ``lengths`` is of all tubes if there.

        Returns the eigenpairs of the tube-shrunken W, None where no number was chosen.
        """
        self.path_ = eigenpairs = None
        n = longest.n
        if self.lam != "auto":
            self.lam_ = float(self.lam)
            tau = self._strength() / self.lam_
            stored = np.count_nonzero(longest.lengths > tau) / n
            self.n_neighbors_ = stored if lengths is None else count_neighbors(lengths, tau)
            return None
        if judge is None:
            self.n_neighbors_ = min(self.n_neighbors, n - 1)
            if self.n_neighbors_ < self.n_neighbors:
                warn_user(
                    f"n_neighbors={self.n_neighbors}, but there are {n - 1} other samples: "
                    f"n_neighbors_ is {n - 1}"
                )
            if lengths is None:
                tau = tube_threshold(longest.lengths, n, self.n_neighbors_)
            else:
                (tau,) = tube_thresholds(lengths, [self.n_neighbors_])
        else:
            each = partial(self._progress.each, "choice")
            self.path_, eigenpairs = scan_neighbors(
                longest, self.n_clusters, judge, tail=self.tail, random_state=seed, each=each
            )
            self.n_neighbors_ = int(self.path_.n_neighbors[self.path_.best])
            tau = self.path_.tau[self.path_.best]
        self.lam_ = float(self._strength() / tau)
        self._log(f"{self.n_neighbors_:g} neighbors, lam {self.lam_:.4g}")
        return eigenpairs

    def _cut(self, affinity, longest, seed, eigenpairs=None):
        """Set ``affinity_``, ``embedding_``, ``labels_`` and ``labels_from_``.

        ``eigenpairs`` are those of the affinity where they are known.
        """
        self._progress.stage("cut")
        degree, start = start_vector(longest, seed)
        warn_of_unlike(degree)
        if eigenpairs is None:
            count = min((2 if self._kind() == "2c" else 1) * self.n_clusters, len(start))
            eigenpairs = leading_eigenvectors(affinity, count, start)
        self._embed(affinity, eigenpairs)
        self.labels_from_ = "tensor"
        self.labels_ = assign(
            self.embedding_, self.n_clusters, order=degree, n_init=self.n_init, random_state=seed
        )

    def _kind(self):
        """Of the embedding, see `embedded`."""
        return "c" if self.path_ is None else str(self.path_.embedding[self.path_.best])

    def _embed(self, affinity, eigenpairs):
        values, vectors = (part.astype(np.float64, copy=False) for part in eigenpairs)
        self.affinity_ = affinity
        self.embedding_ = embedded(values, vectors, self.n_clusters, self._kind())

    def _compare(self, judge, alone, longest, eigenpairs):
        """Take the labels that the choice was made on where those of the cut are worse."""
        path = self.path_
        J = float(judge([self.labels_.astype(np.int64)], self.n_clusters)[0])
        chosen = float(path.predictability[path.best])
        solved = self.n_iter_ > 0
        if J >= chosen - (0.0 if solved and alone else MARGIN):
            return
        if solved and J < chosen - MARGIN:
            left = f"leaves {alone} samples without neighbors and " if alone else ""
            warn_user(
                f"the tensor at {self.n_neighbors_} neighbors {left}gives labels of predictability "
                f"{J:.3f}, its tube-shrunken W {chosen:.3f}: the labels of the latter are kept "
                '(labels_from_="path"). max_iter=0 solves no further than that'
            )
        if solved:
            affinity = thresholded_affinity(longest, path.tau[path.best], self.tail)
            self._embed(affinity, eigenpairs)
            if self.size_ == "dense":
                self.affinity_ = affinity.toarray().astype(self.tensor_.dtype)
        self.labels_ = path.labels[path.best]
        self.labels_from_ = "path"

    def _finish(self, judge, alone, longest, eigenpairs):
        """Compare the labels with those of the scan, and refine them."""
        if judge is None:
            return
        self._compare(judge, alone, longest, eigenpairs)
        if self.refine and not self._is_precomputed():
            self._progress.stage("refinement")
            votes = self._votes(longest)
            self.labels_ = judge.refined(self.labels_, self.n_clusters, votes)

    def _drop_large(self):
        super()._drop_large()
        if self.path_ is not None:
            self.path_.labels = None

    def _permute(self, order):
        super()._permute(order)  # not the voters, and not what they vote for
        if self.path_ is not None:
            self.path_.labels = self.path_.labels[:, order]
