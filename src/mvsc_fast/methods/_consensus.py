"""ConsensusTLRR: clustering of views in memory, in files and on other machines."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import config_context

from .._utils.messages import warn_user
from .._utils.parameters import check_integer, either, option
from .._utils.progress import Progress
from .._utils.threads import use_threads
from .._utils.types import FloatArray, GappyViews, IntArray, LabelArray
from .._utils.validation import output_path
from ..views._columns import fitted_columns
from ..views._facts import warn_of_lost
from ..views._read import read_views
from ..views._sample import drawn
from ._base import ReportingClusterer, draw_seed, scaling_attribute
from ._labeller import fit_labels
from ._prediction import (
    check_predictor,
    label_rows,
    native_model,
    predicted_labels,
    predicted_margin,
)

ViewSelection = Literal["auto", "all"]
Store = Literal["all", "predictor", "labels"]


# max_samples="auto": a minimum, and samples for each cluster. 60 clusters need 300 each, but the
# time grows with samples times clusters: so many clusters that this is more than 20 000 get fewer.
MIN_FITTED, FITTED_PER_CLUSTER = 4000, 300
MANY_FITTED, MIN_FITTED_PER_CLUSTER = 20_000, 40


def automatic_samples(n_clusters):
    """Number of samples that ``max_samples="auto"`` clusters."""
    usual = min(FITTED_PER_CLUSTER * n_clusters, MANY_FITTED)
    return max(MIN_FITTED, usual, MIN_FITTED_PER_CLUSTER * n_clusters)


@dataclass(eq=False, repr=False, kw_only=True)
class ConsensusTLRR(ReportingClusterer):
    """Cluster multi-view data of 10^2 to 10^6 samples, and label new samples.

    1. Sparse similarity graphs of unit rows and of centred rows, each with two numbers of
       neighbours, and a graph of the 15 nearest neighbours are partitioned by k-means of a spectral
       embedding. The diffusion maps of the latter two kinds, with one of 6 neighbours, and the
       joined rows, which do not prefer groups of equal size, are partitioned by k-means and by
       Ward's method. That gives up to 22 labellings. For more than 40 clusters k-means starts from
       Ward's clusters, and 11 labellings suffice.
    2. Each labelling is refined: labels are replaced by their prediction from ridge regression and
       graph neighbours, unless this dissolves small groups. Its score is the sum of its
       predictability (`label_predictability`, a quarter of it before refinement) and of its
       modularity over the maximum at the sizes of its clusters; in few columns, unless discrete,
       also of the likelihood of Gaussian clusters of one covariance.
    3. The seven refined labellings with the largest scores are fused by TLRR of their
       co-association tensor (`consensus_labels`); only similar ones, if most of the graphs'
       labellings are nearly equal.
    4. The fused labels, refined, are one more candidate, and that with the largest score is
       returned.

    The cost is linear in the number of samples, except for the neighbour search. If there are more
    than ``max_samples`` samples, a uniform subsample is clustered, and the labels of the others are
    predicted by ridge regression, as those of new samples in `predict`. ``random_state``
    determines the subsample. The candidates are made without random numbers, so that labels hardly
    depend on it if all samples are clustered.

    Views of at most 80 columns with negative entries keep the lengths of their rows if nearest
    directions have similar lengths, with a correlation of at least .4; views of at most 3 columns
    always do. Then (x - mean) / radius, cut at length 1, gets one more column that makes the row
    unit. The radius is the 99 % quantile of the lengths, and the mean that of the rows within it.
    Rows of other views are scaled to unit length.

    Samples may lack views: such rows are NaN, as in the result of `views.align`. The similarity of
    two samples is computed from the views that both have. Steps that need features, `predict`
    included, use rows that ridge regression predicts from the other views of the sample. Up to a
    tenth of the other cells of a view may be NaN: they are filled from the other values of their
    row, with a warning. A row that lacks more than half of its cells counts as missing.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters to find.
    max_samples : int or "auto", default="auto"
        Maximum number of samples that are clustered. "auto" is 4000, or 300 for each cluster if
        that is more, up to 20 000; beyond 500 clusters it is 40 for each. Views with more samples
        may be larger than memory or on other machines: memory maps, HDF5 data sets (h5py), zarr
        arrays, or Dask arrays, for which ``labels_`` is lazy. Labels do not depend on where views
        are stored, nor on the size of blocks or chunks.
    view_selection : {"auto", "all"}, default="auto"
        "auto" excludes views without repeated structure, with a warning that names them; "all"
        keeps every view that is not constant.
    store : {"all", "predictor", "labels"}, default="all"
        Which attributes the fitted model stores. "all" takes about 1 KB for each of the m clustered
        samples. "predictor" omits ``affinity_matrix_`` and the labels in ``candidates_``. In both
        cases the model stores what `predict` needs: **the rows of 600 samples** of every view, 1.4
        MB for their kernel and, for a view with more features than samples, about 4 MB for the map
        to its leading components, of which the rows then consist. "labels" omits this too: the
        model holds no row of the data, and cannot predict.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs of the process. Labels do
        not depend on it.

    Attributes
    ----------
    labels_ : ndarray or dask array of shape (n_samples,)
        Cluster of each sample, from 0; independent of the order of the samples. If the views are
        Dask arrays, a lazy array with their chunks, which can be computed while the client that was
        active in `fit` is open.
    candidates_ : dict of ndarray
        The candidate labellings, one entry per candidate in every array: ``graph`` ("unit",
        "centred", "neighbors", "few neighbors", or "none" for joined rows), ``n_neighbors``,
        ``embedding`` ("c" eigenvectors, "diffusion" map; of joined rows, "standard" columns, or
        "rows" as they are), ``algorithm``, ``predictability``, ``predictability_unrefined`` (before
        refinement), ``modularity`` in ``affinity_matrix_`` over the largest at the sizes of the
        clusters, ``score``, ``fused`` (whether it is one of the seven) and ``labels`` after
        refinement, of shape (n_candidates, m). In few columns, ``likelihood``, which the algorithm
        "mixture" maximises.
    views_used_ : list of int
        Indices of the views that were fused.
    view_agreement_ : ndarray of shape (n_views, n_views)
        Agreement of each two views, symmetric: by how many standard deviations the association of
        their graphs exceeds its mean over permutations of the samples, on at most 1000 samples.
        From 5 on they agree, below they do not show the same structure; how far above depends on
        the number of samples, too. NaN on the diagonal, and for views that were not compared:
        fewer than 200 of these samples have both, or fewer than two of the clustered ones have one.
    affinity_matrix_ : csr_array of shape (m, m)
        Affinity matrix that is used to refine the labels: thresholded similarities of the m
        clustered samples with 30 neighbours, or more if there are many samples for each cluster,
        summed over the graphs of unit and centred rows.
    samples_ : ndarray of shape (m,)
        Indices of the clustered samples, ascending: all of at most ``max_samples``.
    predictor_ : object
        What `predict` and `to_native` use; absent with ``store="labels"``.
    fused_agreement_ : float
        Mean adjusted Rand index of the labels of the m clustered samples with the labellings that
        were fused. It estimates how far the labels would change if a tenth of the samples were
        other ones. Below .6, a fit warns.
    n_tuples_ : int
        Number of distinct tuples of labels of the fused labellings: the size of the TLRR problem.
    gap_ : float
        Relative duality gap of the TLRR problem.

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

    max_samples: int | Literal["auto"] = "auto"
    view_selection: ViewSelection = "auto"
    store: Store = "all"
    n_threads: int | None = None

    candidates_: dict[str, NDArray[Any]] = field(init=False)
    views_used_: list[int] = field(init=False)
    view_agreement_: FloatArray = field(init=False)
    affinity_matrix_: csr_array = field(init=False)
    samples_: IntArray = field(init=False)
    predictor_: Any = field(init=False)
    fused_agreement_: float = field(init=False)
    n_tuples_: int = field(init=False)
    gap_: float = field(init=False)

    _checks = {
        **ReportingClusterer._checks,
        "max_samples": either("auto", partial(check_integer, minimum=2)),
        "view_selection": option(ViewSelection),
        "store": option(Store),
    }

    def _read(self, X):
        return read_views(X)

    def _learned(self, source):
        n_fitted = self.max_samples
        if n_fitted == "auto":
            n_fitted = automatic_samples(self.n_clusters)
        if n_fitted < self.n_clusters:
            raise ValueError(f"max_samples={n_fitted} is less than n_clusters={self.n_clusters}")
        with (
            closing(Progress(type(self).__name__, self.verbose, self.callback)) as progress,
            use_threads(self.n_threads, min(n_fitted, source.n_samples)) as n_threads,
            config_context(skip_parameter_validation=True),  # of parameters that are not the user's
        ):
            # A sample is drawn, and clustered in canonical order.
            seed = draw_seed(self.random_state)
            sample = drawn(source, n_fitted, self.n_clusters, seed, progress.log, scale=self.scale)
            learned = fit_labels(
                sample,
                self.n_clusters,
                select=self.view_selection == "auto",
                seed=seed,
                n_threads=n_threads,
                progress=progress,
            )
            # All other samples get predicted labels.
            if len(sample.samples) < source.n_samples:
                progress.stage("prediction")
            block_threads = 1 if source.is_lazy else n_threads  # tasks run in parallel
            predict = partial(learned["predictor_"], n_threads=block_threads)
            labels = label_rows(source, predict, learned["samples_"], learned["labels_"])
        warn_of_lost(np.flatnonzero(labels < 0) if isinstance(labels, np.ndarray) else sample.lost)
        # The model keeps no more than ``store`` allows.
        if self.store != "all":
            del learned["affinity_matrix_"], learned["candidates_"]["labels"]
        if self.store == "labels":
            del learned["predictor_"]
        return {**learned, **scaling_attribute(sample.scalings), "labels_": labels}

    def predict(self, X: GappyViews) -> LabelArray:
        """Predict the labels of new samples by ridge regression on the clustered ones.

        Parameters
        ----------
        X : list or dict of array-like or sparse matrix of shape (n_new, n_features_i)
            The same views as in `fit`, including those that were excluded. They may be memory maps,
            HDF5 data sets, zarr arrays or Dask arrays, independently of their type in `fit`. A row
            of NaN means that the sample lacks the view. A view that all samples lack may be None,
            or absent from the dict.

        Returns
        -------
        ndarray of shape (n_new,)
            Cluster of each sample; a lazy Dask array if the views are Dask arrays. Predictions for
            the samples of `fit` equal ``labels_`` except for a few of the clustered samples
            (``samples_``).

        Warns
        -----
        UserWarning
            Among others, if at least ten of the new samples are unlike the fitted ones, farther
            from their clusters than .95 of these, and either more than a fifth, or by a binomial
            test more than a tenth. With ``verbose``, smaller numbers are told too. Not for Dask
            arrays, which are labelled later: see ``return_unlike`` of `predict_margin`.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        ValueError
            If a view is invalid, or if its features differ from those in `fit`.
        """
        return predicted_labels(self, X)

    def predict_margin(self, X: GappyViews, *, return_unlike: bool = False) -> Any:
        """Return how certain the labels of new samples are.

        Parameters
        ----------
        X : list or dict of array-like or sparse matrix of shape (n_new, n_features_i)
            As for `predict`.
        return_unlike : bool, default=False
            Whether to return ``unlike`` as well.

        Returns
        -------
        margin : ndarray of shape (n_new,), float32
            The margin of `explain`: 1 if only the predicted cluster has a positive score, 0 if
            another cluster is as near, -1 for a sample that lacks all views. A lazy Dask array if
            the views are Dask arrays.
        unlike : ndarray of shape (n_new,), bool
            If ``return_unlike=True``: which samples are unlike the fitted ones, farther from their
            clusters than the limit of the cluster, which about .05 of new samples exceed, fewer
            in small clusters. Samples that lack views are so more often. Lazy as well.

        Raises
        ------
        NotFittedError, ValueError
            As for `predict`.
        """
        return predicted_margin(self, X, return_unlike)

    def to_native(self, path: str | PathLike[str]) -> None:
        """Write the predictor to a file, for `SavedPredictor` and for C programs.

        The file contains rows of the data: see `store`. Loading it cannot run code. It scales
        columns if the fit did (``scale="standard"``). Steps of a pipeline before this estimator are
        not in the file: apply them to new rows first.

        Parameters
        ----------
        path : path-like
            Usually with the suffix ``.mvsc``; the format is described in ``mvsc_predict.h``.

        Raises
        ------
        OSError
            If the folder does not exist, or the path is a folder.
        """
        check_predictor(self)
        path = output_path(path)
        path.write_bytes(native_model(self, self.view_names_in_, fitted_columns(self)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def __getstate__(self):
        state = super().__getstate__()
        if hasattr(state.get("labels_"), "__dask_graph__"):
            warn_user(
                "labels_ is a lazy Dask array, which refers to the rows of the views: it is not "
                "saved or copied. To keep it, set model.labels_ = model.labels_.compute() first"
            )
            del state["labels_"]
        return state
