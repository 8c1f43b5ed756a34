"""The estimator of TLRR."""

from __future__ import annotations

from .._utils.types import Callback, Estimator, Seed
from ..similarity._affinity import regularized
from ..solvers._results import Solver
from ..solvers._tlrr import tlrr
from ..spectral._cut import symmetric_sum
from ._recovery import AffinityName, RecoveryClusterer


class TLRR(RecoveryClusterer):
    """Clustering by TLRR: tailored low-rank representation and spectral clustering.

    A similarity tensor W is computed from the views (``affinity``), TLRR recovers a low-rank tensor
    L from it (see `solvers.tlrr`), and spectral clustering of the sum of the slices of L gives the
    labels. Memory grows with the square of the number of samples. Use `ConsensusTLRR` for larger
    data, for new samples, and for samples that lack views.

    Attributes
    ----------
    affinity_matrix_ : ndarray or csr_array of shape (n_samples, n_samples)
        Sum of ``|L_i|`` with zero diagonal, plus regularisation: a hundredth of the same sum for W,
        which keeps the graph connected.
    similarity_ : ndarray of shape (v, n_samples, n_samples) or list of csr_array
        The input tensor W.
    tensor_ : ndarray of shape (v, n_samples, n_samples) or list of csr_array
        The low-rank tensor L.
    lam_ : float
        Weight of the misfit, as given or derived from ``n_neighbors``.
    gap_ : float or None
        Relative duality gap of ``tensor_``: the objective is within ``gap_ * lam_ * ||L||_F^2`` of
        its minimum. None for solver="ialm".

    Examples
    --------
    >>> from mvsc_fast import TLRR, datasets, metrics
    >>> views, y = datasets.make_multiview_subspaces(90, 3, random_state=0)
    >>> model = TLRR(n_clusters=3, random_state=0).fit(views)
    >>> metrics.clustering_scores(y, model.labels_)["acc"] > 0.9
    True
    >>> model.gap_ < 1e-3
    True
    """

    omega1: float
    alpha: float
    lam: float | None
    n_neighbors: int
    solver: Solver
    lam_: float
    gap_: float | None

    _function = staticmethod(tlrr)
    _learned = ("tensor", "gap", "lam")
    _arrays = (8, 2)
    _takes_sparse = True
    _remedy = "Raise n_neighbors or lam, so that more tubes exceed the threshold, or raise max_iter"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        affinity: AffinityName | Estimator = "self_representation",
        omega1: float = 0.5,
        alpha: float = 9.0,
        lam: float | None = None,
        n_neighbors: int = 15,
        solver: Solver = "dual",
        tol: float | None = None,
        max_iter: int | None = None,
        n_init: int = 20,
        random_state: Seed = None,
        n_threads: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
    ) -> None:
        self._keep_parameters(locals())

    def _fuse(self, W, L):
        return regularized(symmetric_sum(L), symmetric_sum(W), W[0].shape[0])
