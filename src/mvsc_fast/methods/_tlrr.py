"""The estimator of TLRR, whose iteration is the function `tlrr`."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..similarity._affinity import regularized
from ..solvers._tlrr import TLRR_CHECKS, solve_tlrr
from ..solvers._tlrr_core import Solver
from ..spectral._cut import symmetric_sum
from ._recovery import RecoveryClusterer


@dataclass(eq=False, repr=False, kw_only=True)
class TLRR(RecoveryClusterer):
    """Clustering by TLRR: tailored low-rank representation and spectral clustering.

    A similarity tensor W is computed from the views (``affinity``), TLRR recovers a low-rank tensor
    L from it (see `solvers.tlrr`), and spectral clustering of the sum of the slices of L gives the
    labels. Memory grows with the square of the number of samples. Use `ConsensusTLRR` for larger
    data, for new samples, and for samples that lack views.

    Parameters
    ----------
    omega1 : float in [0, 1], default=0.5
        Weight of the frontal nuclear norms. The paper recommends 0.3 to 0.7.
    alpha : float, default=9.0
        Weight of the tube lengths relative to the nuclear norms of the row slices. The paper uses 4
        to 9; with 9 the dual solver needs the fewest iterations on
        `similarity.self_representation`, with the same accuracy.
    lam : float, optional
        Weight of the misfit, which depends on the scale of W: a tube is kept if it is longer than
        about ``omega2 * alpha / (2 * lam)``. None derives it from ``n_neighbors``.
    n_neighbors : int, default=15
        Mean number of neighbours of a sample after thresholding. It determines lam such that this
        many tubes of W per sample exceed the threshold ``omega2 * alpha / (2 * lam)``, or all
        non-zero tubes if there are fewer. Ignored if lam is given. The best value depends on W.
    solver : {"dual", "ialm"}, default="dual"
        "dual" computes the exact minimiser in a few steps, with a certificate of its accuracy.
        "ialm" is the published iteration (Algorithm 1); use it to reproduce the paper.
    tol : float, optional
        "dual": tolerance on the relative duality gap, by default 1e-3, which bounds the relative
        error of L by 2.2e-2; the true error is 3 to 7 times smaller. Smaller values change few
        labels and not their accuracy. "ialm": tolerance on the largest entry of all constraint
        residuals, by default 1e-4 as in the authors' code. Lower it if the entries of W are 1e-2 or
        less.
    max_iter : int, optional
        Maximum number of iterations, by default 100 for "dual", which usually converges in 1 to 10,
        and 500 for "ialm". With "dual" and 0, the result is the tube shrinkage of W, which is the
        first step of the solver, and its certificate.

    Attributes
    ----------
    affinity_matrix_ : ndarray or csr_array of shape (n_samples, n_samples)
        Sum of ``|L_i|`` with zero diagonal, scaled to mean row sum 1, plus a hundredth of
        the same sum for W, scaled likewise, which keeps the graph connected.
    similarity_ : ndarray of shape (v, n_samples, n_samples) or list of csr_array
        The input tensor W.
    tensor_ : ndarray of shape (v, n_samples, n_samples) or list of csr_array
        The low-rank tensor L.
    history_ : dict of ndarray
        ``residual``, ``seconds`` since the start and others after every iteration; see
        `solvers.TLRRResult`.
    lam_ : float
        Weight of the misfit, as given or derived from ``n_neighbors``.
    gap_ : float or None
        Relative duality gap of ``tensor_``: the objective is within ``gap_ * lam_ * ||L||_F^2`` of
        its minimum. None for solver="ialm".

    References
    ----------
    Jia, Liu, Hou, Kwong, Zhang: Multi-view spectral clustering tailored tensor low-rank
    representation. IEEE TCSVT 31(12), 2021.

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

    omega1: float = 0.5
    alpha: float = 9.0
    lam: float | None = None
    n_neighbors: int = 15
    solver: Solver = "dual"
    tol: float | None = None
    max_iter: int | None = None

    lam_: float = field(init=False)
    gap_: float | None = field(init=False)

    _arrays = (8, 2)
    _checks = {**RecoveryClusterer._checks, **TLRR_CHECKS}
    _takes_sparse = True
    _remedy = "Raise n_neighbors or lam, so that more tubes exceed the threshold, or raise max_iter"

    def _recover(self, W, n_threads, progress):
        progress.stage("solve", self.max_iter)
        parameters = {name: getattr(self, name) for name in TLRR_CHECKS}
        result = solve_tlrr(W, **parameters, n_threads=n_threads, callback=progress.iteration)
        return result.tensor, result

    def _attributes(self, W, tensor, result):
        S, S_W = symmetric_sum(tensor), symmetric_sum(W)
        affinity = regularized(S, S_W, W[0].shape[0])
        return {"affinity_matrix_": affinity, "gap_": result.gap, "lam_": result.parameters["lam"]}
