"""Survival of the samples of each cluster: Kaplan-Meier curves and the log-rank test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2

from .._utils.messages import counted
from .._utils.types import FloatArray
from ._plots import NAMED_GROUPS, new_figure, plot, styles
from ._table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(repr=False)
class Survival:
    """Survival of the samples of each cluster; printing it shows the result of the test.

    Attributes
    ----------
    table : Table
        Samples, events and median time of each cluster; NaN if its curve does not reach one half.
        Samples whose label, time or event is unknown are not counted.
    times : ndarray of shape (t,)
        The distinct times, ascending.
    curves : ndarray of shape (c, t)
        Kaplan-Meier estimate of the survival function of each cluster at ``times``; NaN after the
        last time of the cluster.
    statistic, p_value : float
        The log-rank test over all clusters; NaN if there are no two clusters to compare.
    degrees : int
        Degrees of freedom of the test.
    """

    table: Table
    times: FloatArray
    curves: FloatArray
    statistic: float
    p_value: float
    degrees: int

    def __str__(self):
        return (
            f"Log-rank test over {counted(self.table.n_rows, 'cluster')}: chi-squared "
            f"{self.statistic:.2f} with {counted(self.degrees, 'degree')} of freedom, p = "
            f"{self.p_value:.2g} ({counted(self.table['samples'].sum(), 'sample')}, "
            f"{counted(self.table['events'].sum(), 'event')})."
        )

    __repr__ = __str__


def compare_survival(
    labels: ArrayLike, survival: ArrayLike, ids: ArrayLike | None = None
) -> Survival:
    """Compare the survival of clusters by Kaplan-Meier curves and the log-rank test.

    The test describes these clusters. Its p-value is valid only if survival took no part in the
    choice of the features, the number of clusters or the method; other samples validate it.

    Parameters
    ----------
    labels : array-like of int of shape (n_samples,)
        Cluster of each sample; samples with a negative label are left out.
    survival : array-like or data frame of shape (n_samples, 2)
        The time until the event or until the end of the observation of each sample, and 1 if the
        event was observed, else 0. Samples with a NaN are left out.
    ids : array-like of shape (n_samples,), optional
        Names of the samples, with which the index of a data frame is compared.

    Returns
    -------
    Survival

    Raises
    ------
    ValueError
        If a time is negative or infinite, an event is neither 0 nor 1, or there is no event.

    Examples
    --------
    >>> from mvsc_fast.explanation import compare_survival
    >>> compare_survival([0, 0, 0, 1, 1, 1], [[1, 1], [2, 1], [3, 1], [7, 1], [8, 1], [9, 0]])
    Log-rank test over 2 clusters: chi-squared 5.05 with 1 degree of freedom, p = 0.025 \
(6 samples, 5 events).
    """
    labels = np.asarray(labels)
    time, event = _checked(survival, len(labels), ids).T
    known = ~np.isnan(time) & ~np.isnan(event) & (labels >= 0)
    time, event = time[known], event[known]
    if not event.any():
        raise ValueError("survival: no sample with a label has an event, so nothing is compared")
    clusters, labels = np.unique(labels[known], return_inverse=True)
    times, place = np.unique(time, return_inverse=True)
    cell, shape = labels * len(times) + place, (len(clusters), len(times))
    ends = np.bincount(cell, minlength=np.prod(shape)).reshape(shape)
    died = np.bincount(cell, event, minlength=np.prod(shape)).reshape(shape)
    at_risk = ends[:, ::-1].cumsum(axis=1)[:, ::-1]
    curves = np.cumprod(1 - died / np.maximum(at_risk, 1), axis=1)
    statistic, degrees = _logrank(at_risk, died)
    columns = {
        "cluster": clusters,
        "samples": np.bincount(labels),
        "events": died.sum(axis=1).astype(np.intp),
        "median time": np.array([np.append(times[S <= 0.5], np.nan)[0] for S in curves]),
    }
    return Survival(
        table=Table(columns),
        times=times,
        curves=np.where(at_risk > 0, curves, np.nan),
        statistic=statistic,
        p_value=float(chi2.sf(statistic, degrees)) if degrees else np.nan,
        degrees=degrees,
    )


def _checked(survival, n_samples, ids):
    """Times and events as an array, after checks."""
    values = np.asarray(survival, dtype=float)
    if values.shape != (n_samples, 2):
        raise ValueError(
            f"survival has shape {values.shape}, expected ({n_samples}, 2): a time and an event, "
            "0 or 1, for each sample"
        )
    own = getattr(survival, "index", None)
    if own is not None and ids is not None and list(own) != list(ids):
        row = next(i for i, (a, b) in enumerate(zip(own, ids, strict=True)) if a != b)
        raise ValueError(
            f"survival has the index {own[row]!r} in row {row}, but the sample is {ids[row]!r}: "
            "align the rows by .loc, or pass an array to compare by position"
        )
    time, event = values.T
    bad = (time < 0) | np.isinf(time) | ~(np.isnan(event) | (event == 0) | (event == 1))
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"survival has {values[row].tolist()} in row {row}, expected a finite time from 0, and "
            "an event that is 0 or 1"
        )
    return values


def _logrank(at_risk, died):
    """Chi-squared of the log-rank test, and its degrees of freedom.

    With d of r samples at risk that have an event at a time, those of each cluster are
    hypergeometric. Their sums are compared with the expected ones by the sum of the covariances.
    """
    r, d = at_risk.sum(axis=0), died.sum(axis=0)
    share = at_risk / r
    excess = (died - d * share).sum(axis=1)
    spread = d * (r - d) / np.maximum(r - 1, 1)
    covariance = np.diag(share @ spread) - (share * spread) @ share.T
    degrees = int(np.linalg.matrix_rank(covariance, hermitian=True))
    if not degrees:
        return np.nan, 0
    return float(excess @ np.linalg.pinv(covariance, hermitian=True) @ excess), degrees


@plot
def plot_survival(found: Survival, *, ax: Axes | None = None, title: str | None = None) -> Axes:
    """Plot the Kaplan-Meier curve of each cluster.

    Parameters
    ----------
    found : Survival
        Result of `compare_survival`.
    """
    ax = new_figure() if ax is None else ax
    times = np.concatenate([[0.0], found.times])
    names, sizes = found.table["cluster"], found.table["samples"]
    for name, n, curve, style in zip(names, sizes, found.curves, styles(), strict=False):
        look = {**style, "marker": "", "label": f"{name} ({n})"}
        ax.step(times, np.concatenate([[1.0], curve]), where="post", **look)
    if len(names) <= NAMED_GROUPS:
        ax.legend(title="cluster (samples)", fontsize="small")
    ax.set(xlabel="time", ylabel="share without the event", ylim=(0, 1.03), title=title)
    ax.annotate(f"log-rank p = {found.p_value:.2g}", (0.03, 0.05), xycoords="axes fraction")
    return ax
