"""t-SVD-MSC: subspace clustering with a rotated tensor nuclear norm (Xie et al. 2018)."""

from ..solvers.representation import ThinView, solve_tsvd
from ..threads import blas_threads, resolve_threads, useful_threads
from ..transforms import resolve_transform
from ..validation import check_number, check_option, check_stopping
from ..views import check_views
from .representation import SampleTransformClusterer


def tsvd_msc(
    views,
    *,
    lam=0.05,
    transform="dft",
    update="joint",
    tol=1e-7,
    max_iter=200,
    mu=1e-4,
    n_threads=None,
    callback=None,
):
    """Learn self-representations of all views under a rotated tensor nuclear norm.

    Minimises ``||Z||_tnn + lam ||[E_1; ...; E_V]||_{2,1}`` subject to ``X_i = X_i Z_i + E_i``
    (Xie et al. 2018, Eq. 9) by ADMM whose penalties double every iteration. Every X_i is replaced
    by the factor S V^T of its thin SVD, which changes no norm and no product, so the cost does
    not grow with the number of features.

    Parameters
    ----------
    views : list of array-like of shape (n_samples, n_features_i)
        Samples are scaled to unit length.
    lam : float, default=0.05
        Weight of the misfit. Published values run from 0.05 to 1.1; over shuffled data sets the
        small end does best, and 0.2 already fails on sparse text.
    transform : {"dft", "graph", "identity"} or ndarray of shape (n, n), default="dft"
        The transform along the samples in the tensor norm. "dft" is the published one; **its result
        depends on the order of the samples** and is flattered by files sorted by class. "graph"
        takes the eigenvectors of a similarity graph instead, which are free of the order;
        an orthonormal matrix brings its own basis as columns.
    update : {"joint", "sequential"}, default="joint"
        "joint" updates all E and multipliers once an iteration; "sequential" inside the loop over
        the views, as the released code does.
    tol : float, default=1e-7
        On the largest absolute row sum of every constraint residual.
    max_iter : int, default=200
        It takes 20 to 40.
    mu : float, default=1e-4
        First penalty.
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed.
    callback : callable, optional
        Called with an `IterationState` after every iteration; returning True stops.

    Returns
    -------
    RepresentationResult
        ``representation`` Z and ``tensor`` W = |Z| + |Z|^T, both (v, n, n).

    References
    ----------
    Xie, Tao, Zhang, Liu, Zhang, Qu: On unifying multi-view self-representations for clustering
    by tensor multi-rank minimization. IJCV 126, 2018.
    """
    views = check_views(views)
    lam = check_number(lam, "lam", 0.0, open_interval=True)
    check_option(update, "update", ("joint", "sequential"))
    tol, max_iter = check_stopping(tol, max_iter)
    mu = check_number(mu, "mu", 0.0, open_interval=True)
    n_threads = useful_threads(resolve_threads(n_threads), views[0].shape[0])
    with blas_threads(n_threads):
        transform = resolve_transform(transform, views)
        thin = [ThinView(X, transform) for X in views]
    return solve_tsvd(
        thin,
        shrink=lambda T, t: transform.shrink(T, t, n_threads),
        restore=lambda T: transform.inverse(T, axis=1),
        lam=lam,
        update=update,
        tol=tol,
        max_iter=max_iter,
        mu=mu,
        n_threads=n_threads,
        callback=callback,
    )


class TSVDMSC(SampleTransformClusterer):
    """Clustering by t-SVD-MSC: self-representations under a rotated tensor nuclear norm.

    Parameters
    ----------
    n_clusters : int, default=8
    lam : float, default=0.05
        Weight of the misfit, see `tsvd_msc`.
    sample_transform : {"graph", "dft", "identity"}, ndarray or estimator, default="graph"
        ``transform`` of `tsvd_msc`, under a name that scikit-learn does not reserve for methods.
        The published "dft" depends on the order of the samples; it is for reproducing tables in
        file order. An estimator refreshes the graph basis: it is computed from the affinity
        that the estimator finds, as in ``sample_transform=TLRR(n_clusters)``.
    reorder : bool, default=False
        Self-ordering: sort the samples by the labels found with ``sample_transform``, run the
        published "dft" version, and repeat until labels stand still.
    update : {"joint", "sequential"}, default="joint"
    tol : float, default=1e-7
    max_iter : int, default=200
    n_init : int, default=20
        Starts of k-means.
    random_state : int, RandomState or None, default=None
    n_threads : int, optional
        None follows OMP_NUM_THREADS and the CPUs allowed.
    verbose : int, default=0

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        W = |Z| + |Z|^T.
    representation_ : ndarray of shape (v, n_samples, n_samples)
        Z; column k holds the coefficients of sample k.
    similarity_ : ndarray
        The same array as ``tensor_``: the method learns its similarities itself.
    affinity_ : ndarray of shape (n_samples, n_samples)
        Sum of the slices, diagonal kept.
    embedding_ : ndarray of shape (n_samples, n_clusters)
    n_rounds_ : int
        Orderings tried (``reorder=True`` only).
    n_iter_ : int
    converged_ : bool
    n_features_in_ : int or list of int

    References
    ----------
    Xie et al.: On unifying multi-view self-representations for clustering by tensor multi-rank
    minimization. IJCV 126, 2018.

    Examples
    --------
    >>> from mvsc_fast import TSVDMSC, datasets
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> TSVDMSC(n_clusters=3, random_state=0).fit_predict(views).shape
    (60,)
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        lam=0.05,
        sample_transform="graph",
        reorder=False,
        update="joint",
        tol=1e-7,
        max_iter=200,
        n_init=20,
        random_state=None,
        n_threads=None,
        verbose=0,
    ):
        self.n_clusters = n_clusters
        self.lam = lam
        self.sample_transform = sample_transform
        self.reorder = reorder
        self.update = update
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_threads = n_threads
        self.verbose = verbose

    def _learn(self, views, n_threads, transform):
        return tsvd_msc(
            views,
            lam=self.lam,
            transform=transform,
            update=self.update,
            tol=self.tol,
            max_iter=self.max_iter,
            n_threads=n_threads,
        )
