"""The estimator of TLRR."""

from ..similarity._affinity import regularized
from ..solvers._tlrr import tlrr
from ..spectral import fuse
from ._recovery import RecoveryClusterer


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

    _function = staticmethod(tlrr)
    _learned = ("tensor", "gap", "lam")
    _arrays = (8, 2)
    _takes_sparse = True
    _remedy = "Raise n_neighbors or lam, so that more tubes exceed the threshold, or raise max_iter"

    def __init__(
        self,
        n_clusters=8,
        *,
        affinity="self_representation",
        omega1=0.5,
        alpha=9.0,
        lam=None,
        n_neighbors=15,
        solver="dual",
        tol=None,
        max_iter=None,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
        callback=None,
    ):
        self._keep_parameters(locals())

    def _fuse(self, W, L):
        return regularized(fuse(L), fuse(W), W[0].shape[0])
