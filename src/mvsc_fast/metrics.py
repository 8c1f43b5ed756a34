"""Scores of clusterings against known classes, as reported in the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix, pair_confusion_matrix

from ._utils.messages import warn_user
from ._utils.parameters import InvalidParameterError, check_estimator, count
from ._utils.parts import Table
from ._utils.threads import limited
from ._utils.types import Estimator, Views
from ._utils.validation import check_labels, index_of, sample_ids

__all__ = ["Comparison", "clustering_scores", "compare"]

SCORES = ("acc", "nmi", "ari", "f1", "precision", "recall", "purity")
LATEX = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
)


def clustering_scores(y_true: ArrayLike, y_pred: ArrayLike) -> dict[str, float]:
    """Agreement of a clustering with the true classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Class and cluster of every sample; numbers or strings. Indexes of pandas series must agree.
        A label of -1, such as that of samples without views, counts as a cluster.

    Returns
    -------
    dict
        ``acc``: fraction of samples under the best one-to-one matching of clusters and classes
        (Hungarian method); ``nmi``: mutual information divided by the mean of both entropies;
        ``ari``: adjusted Rand index (Hubert & Arabie 1985); ``f1``, ``precision``, ``recall``: over
        pairs of samples, where a pair is positive if both are in the same cluster; ``purity``:
        fraction of samples in the majority class of their cluster. All but ``ari`` are in [0, 1].

    Raises
    ------
    ValueError
        If the two differ in length, are empty or hold NaN or None, or are pandas series with
        different indexes.

    Warns
    -----
    DataConversionWarning
        If one of the two has the shape (n_samples, 1) or (1, n_samples), as vectors of MATLAB.
    """
    y_true, y_pred = as_vector(y_true, "y_true"), as_vector(y_pred, "y_pred")
    index, y_true = index_of(y_true), check_labels(y_true, "y_true")
    y_pred = check_labels(y_pred, "y_pred", len(y_true), index, "y_true")
    table = contingency_matrix(y_true, y_pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    (_, false_pos), (false_neg, true_pos) = pair_confusion_matrix(y_true, y_pred)
    wrong = false_pos + false_neg
    # Without a pair to be found, or among those that were found, all is right if nothing is wrong.
    precision, recall, f1 = (
        float(true_pos / total) if total else float(wrong == 0)
        for total in (true_pos + false_pos, true_pos + false_neg, true_pos + wrong / 2)
    )
    return {
        "acc": float(table[rows, columns].sum() / len(y_true)),
        "nmi": float(normalized_mutual_info_score(y_true, y_pred)),
        "ari": float(adjusted_rand_score(y_true, y_pred)),
        "f1": f1,
        "precision": precision,
        "recall": recall,
        "purity": float(table.max(axis=0).sum() / len(y_true)),
    }


def as_vector(labels, name):
    """Labels of shape (n,); a vector of MATLAB, (n, 1) or (1, n), is flattened with a warning."""
    shape = getattr(labels, "shape", ())
    if len(shape) != 2 or min(shape) != 1 or max(shape) == 1:
        return labels
    warn_user(
        f"{name} has the shape {shape}: it is read as a vector of {max(shape)} labels",
        DataConversionWarning,
    )
    is_column = hasattr(labels, "iloc") and shape[1] == 1  # of a data frame, which has ids
    return labels.iloc[:, 0] if is_column else np.asarray(labels).ravel()


class Comparison(Table):
    """Result of `compare`; printing it shows the means and standard deviations of the scores.

    It is a dict of columns with an entry for each method: ``method``, ``n_runs``, each score of
    `clustering_scores`, the mean over the runs, and ``acc_std``, ``nmi_std``, ...: the standard
    deviations, with ``n_runs - 1`` in the denominator, and NaN if there is one run.
    ``to_frame()`` returns a data frame.
    """

    def to_latex(self) -> str:
        r"""Return the table as a ``tabular`` environment, with the best means in bold.

        Returns
        -------
        str
            It needs no package of LaTeX. Means that are equal as printed are all bold.
        """
        # Names and numbers as LaTeX writes them.
        columns = self._text()
        columns["method"] = [name.translate(LATEX) for name in columns["method"]]
        for name in SCORES:
            best = f"{self[name].max():.3f}"
            columns[name] = [
                " $\\pm$ ".join([rf"\textbf{{{mean}}}" if mean == best else mean, *spread])
                for mean, *spread in (cell.split(" ± ") for cell in columns[name])
            ]
        # The environment, a line for each method.
        lines = [" & ".join(row) for row in zip(*columns.values(), strict=True)]
        head = " & ".join(["method", *map(str.upper, SCORES[:4]), *SCORES[4:]])
        body = " \\\\\n".join([f"\\hline\n{head}", f"\\hline\n{lines[0]}", *lines[1:], "\\hline"])
        return f"\\begin{{tabular}}{{l{'c' * len(SCORES)}}}\n{body}\n\\end{{tabular}}\n"

    def _cells(self, max_rows):
        return self._text(), 0

    def _text(self):
        """The name and the scores of each method as text."""
        columns = {"method": [str(name) for name in self["method"].tolist()]}
        for name in SCORES:
            pairs = zip(self[name].tolist(), self[f"{name}_std"].tolist(), strict=True)
            columns[name] = [
                f"{mean:.3f} ± {std:.3f}".removesuffix(" ± nan") for mean, std in pairs
            ]
        return columns


@limited
def compare(
    methods: Mapping[Any, Estimator], views: Views, y: ArrayLike, *, n_runs: int = 20
) -> Comparison:
    """Scores of several methods over runs of k-means, as tables of papers report them.

    Each estimator is cloned and fitted once, because the similarities that it learns do not depend
    on the starts of k-means. Only the last step is repeated: k-means of ``embedding_``, each run
    with ``n_init`` starts of its own. An estimator without ``n_init`` and
    ``embedding_``, such as `ConsensusTLRR` or `AWP`, has one run: its own labels.

    Parameters
    ----------
    methods : dict of estimator
        Estimators, or pipelines that end with one, by the names of their rows. A sweep of a
        parameter is a dict, too: ``{lam: TLRR(10, lam=lam) for lam in (5, 20, 80)}``.
    views : list or dict of array-like or sparse matrix of shape (n_samples, n_features_i)
        Whatever the estimators take.
    y : array-like of shape (n_samples,)
        The true classes; see `clustering_scores`. The index of a pandas series must be that of the
        views, if these have one.
    n_runs : int, default=20
        Number of runs of k-means, as in the paper. Run i has the random state i, for the same
        scores in each call.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        If methods are not a dict of estimators, there is no method, or ``y`` is invalid.

    Notes
    -----
    The spread is that of k-means alone. It does not contain that of other samples, or of random
    starts of a solver (LMSC, MCLES), and is no measure of whether a difference between two methods
    would be found on other data.

    Examples
    --------
    >>> from mvsc_fast import TLRR, ConsensusTLRR, datasets, metrics
    >>> views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    >>> methods = {"TLRR": TLRR(3, random_state=0), "consensus": ConsensusTLRR(3, random_state=0)}
    >>> table = metrics.compare(methods, views, y, n_runs=5)
    >>> table["n_runs"].tolist()
    [5, 1]
    """
    if not isinstance(methods, Mapping):
        raise InvalidParameterError(
            f"methods is of type {type(methods).__name__}: pass a dict of estimators by name, such "
            "as {'TLRR': TLRR(10)}"
        )
    if not methods:
        raise ValueError("methods is empty: pass a dict of estimators by name")
    for name, estimator in methods.items():
        check_estimator(estimator, f"methods[{name!r}]")
    n_runs = count(n_runs, "n_runs")
    views = list(views) if isinstance(views, Iterator) else views
    ids = sample_ids(views)
    n, ids = (len(ids), ids) if hasattr(ids, "equals") else (None, None)  # those of Dask are lazy
    y = check_labels(as_vector(y, "y"), "y", n, ids)
    runs = [_runs(estimator, views, y, n_runs) for estimator in methods.values()]
    names = np.fromiter(methods, dtype=object, count=len(methods))  # tuples are names, too
    columns = {"method": names, "n_runs": list(map(len, runs))}
    for j, name in enumerate(SCORES):
        columns[name] = [scores[:, j].mean() for scores in runs]
        columns[f"{name}_std"] = [_std(scores[:, j]) for scores in runs]
    return Comparison(columns)


def _runs(estimator, views, y, n_runs):
    """Scores of each run of k-means on one fit, of shape (n_runs, 7)."""
    model = clone(estimator).fit(views)
    model = model[-1] if hasattr(model, "steps") else model
    labellings = [model.labels_]
    if hasattr(model, "n_init") and hasattr(model, "embedding_"):
        options = {"n_init": int(model.n_init), "max_iter": 1000}
        labellings = [
            KMeans(int(model.n_clusters), random_state=i, **options).fit_predict(model.embedding_)
            for i in range(n_runs)
        ]
    return np.array([list(clustering_scores(y, labels).values()) for labels in labellings])


def _std(values):
    """Standard deviation of a sample; NaN for one value."""
    return values.std(ddof=1) if len(values) > 1 else np.nan
