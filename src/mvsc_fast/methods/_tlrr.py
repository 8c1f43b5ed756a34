"""The estimator of TLRR."""

from ..similarity._affinity import regularized
from ..solvers._tlrr import tlrr
from ..spectral import fuse
from ._recovery import RecoveryClusterer


class TLRR(RecoveryClusterer):
    """Clustering by TLRR: the low-rank tensor of the paper's model, and its spectral cut.

    The views become a similarity tensor W (``affinity``), TLRR cleans it (see `solvers.tlrr`), and
    spectral clustering of the sum of its slices gives the labels. Memory grows with the square of
    the number of samples: `ConsensusTLRR` clusters larger data, labels new samples and takes views
    that some samples lack.

    Attributes
    ----------
    affinity_matrix_ : ndarray or csr_array of shape (n_samples, n_samples)
        Sum of ``|L_i|``, diagonal cleared, with a hundredth of that of W, which keeps its graph
        connected.
    similarity_ : ndarray of shape (v, n_samples, n_samples) or list of csr_array
        The input tensor W.
    tensor_ : ndarray of shape (v, n_samples, n_samples) or list of csr_array
        The low-rank tensor L.
    lam_ : float
        The weight of the misfit that was used.
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
    _remedy = (
        "A larger n_neighbors (or lam), with which more tubes survive, converges faster; or raise "
        "max_iter"
    )

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
