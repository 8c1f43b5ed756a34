"""Base classes of the estimators that learn self-representations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._utils.messages import warn_user
from .._utils.parameters import check_estimator
from .._utils.types import Estimator, FloatArray, Shaped
from ..solvers._transforms import (
    Basis,
    SampleTransform,
    check_sample_transform,
    graph_basis,
    resolve_sample_transform,
)
from ..spectral._cut import symmetric_sum
from ..views._rows import dense
from ._base import TensorClusterer, learned_by


@dataclass(eq=False, repr=False, kw_only=True)
class RepresentationClusterer(TensorClusterer):
    """Base class of methods that learn representations Z and cluster ``|Z| + |Z|^T``.

    A method defines ``_represent(views, seed, n_threads, progress)``, which returns its `Run` and a
    dict of learned attributes that includes Z of shape (v, n, n), or (1, n, n) for a common Z.

    Attributes
    ----------
    affinity_matrix_ : ndarray of shape (n_samples, n_samples)
        Sum of the slices of ``tensor_``.
    similarity_ : ndarray of the shape of ``tensor_``
        The same array as ``tensor_``: the method learns its similarities.
    tensor_ : ndarray of shape (v, n_samples, n_samples)
        ``|Z| + |Z|^T``.
    representation_ : ndarray of shape (v, n_samples, n_samples)
        Z; column k holds the coefficients of sample k.
    """

    representation_: FloatArray = field(init=False)

    _keep_diagonal = True

    def _solve(self, views, seed, n_threads, progress):
        progress.stage("graph")
        run, learned = self._represent(views, seed, n_threads, progress)
        tensor = np.abs(learned["representation_"])
        for A in tensor:
            A += A.T.copy()
        return {
            "affinity_matrix_": symmetric_sum(tensor, keep_diagonal=self._keep_diagonal),
            "similarity_": tensor,
            "tensor_": tensor,
            **learned,
            **self._course(run, progress),
        }


def _check_source(value, name):
    """``value``, which must be a transform along the samples or an estimator."""
    check = check_estimator if hasattr(value, "fit") else check_sample_transform
    return check(value, name)


@dataclass(eq=False, repr=False, kw_only=True)
class SampleTransformClusterer(RepresentationClusterer):
    """Base class of the methods whose tensor norm has a transform along the samples.

    Parameters
    ----------
    sample_transform : {"graph", "dft", "identity"}, ndarray or estimator, default="graph"
        The transform along the samples in the tensor norm. "graph" uses the eigenvectors of a
        similarity graph, which do not depend on the order of the samples. **The published "dft"
        depends on that order**; use it to reproduce published tables. An orthonormal matrix defines
        the basis by its columns. If an estimator is given, as in
        ``sample_transform=TLRR(n_clusters)``, the basis consists of the eigenvectors of the
        affinity matrix of a clone that is fitted on the views.
    n_threads : int, optional
        Number of OpenMP threads. None uses OMP_NUM_THREADS, or the CPUs of the process. Labels do
        not depend on it.
    """

    sample_transform: SampleTransform | Shaped | Estimator = "graph"
    n_threads: int | None = None

    _checks: ClassVar[dict[str, Any]] = {
        **RepresentationClusterer._checks,
        "sample_transform": _check_source,
    }

    def _transform(self, views, seed, n_threads):
        """The transform along the samples."""
        transform = self.sample_transform
        if isinstance(transform, str) and transform == "dft":
            warn_user(
                'sample_transform="dft" makes the labels depend on the order of the samples, and '
                'overestimates accuracy if they are sorted by class: use "graph", except to '
                "reproduce published tables"
            )
        elif hasattr(transform, "fit"):
            S = learned_by(transform, "affinity_matrix_", views, seed, n_threads)
            return Basis(graph_basis(dense(S, None)[None]))
        return resolve_sample_transform(transform, views)
