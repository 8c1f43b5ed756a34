"""A program of a user, for mypy: it is correct but for the marked lines, which must be refused."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mvsc_fast import (
    TLRR,
    ConsensusTLRR,
    consensus_labels,
    datasets,
    explain,
    label_predictability,
    metrics,
    similarity,
    solvers,
    spectral,
    suggest_n_clusters,
)
from mvsc_fast.explanation import markers
from mvsc_fast.methods import TSVDMSC
from mvsc_fast.preprocessing import ViewSplitter


def stop_early(state: solvers.IterationState) -> bool:
    return state.residual < 1e-2 or state.iteration >= 5


def main(folder: Path) -> dict[str, float]:
    views, y = datasets.make_multiview_subspaces(60, 3, random_state=0)
    found = suggest_n_clusters({"a": views[0], "b": views[1]}, random_state=0)
    n_clusters: int = found.n_clusters if found.confidence == "high" else 3
    model = ConsensusTLRR(n_clusters, random_state=0).fit(views)
    new: NDArray[np.integer[Any]] = model.predict([view[:5] for view in views])
    assert new.shape == (5,) and model.view_support_.mean() > 0

    W = similarity.self_representation(views)
    result = solvers.tlrr(W, n_neighbors=10, solver="dual", callback=stop_early)
    assert result.gap is not None and result.history["residual"][-1] >= 0
    labels, embedding = spectral.spectral_labels(spectral.fuse(result.tensor), n_clusters)
    assert embedding.shape == (60, n_clusters)
    others = [
        TLRR(n_clusters, affinity="nearest_neighbors", random_state=0).fit_predict(views),
        TSVDMSC(n_clusters, sample_transform=TLRR(n_clusters)).fit(views).labels_,
    ]
    fused = consensus_labels([labels, *others], n_clusters, random_state=0).labels
    score: float = label_predictability(views, fused)
    assert 0 <= score <= 1

    ViewSplitter({"a": [0, 1, 2], "b": slice(3, None)}).fit(views[0]).transform(views[0])
    explanation = explain(model, views, ids=np.arange(60))
    explanation.write_report(folder / "report.html", notes=["a note"])
    print(explanation.samples.n_rows, markers(model, views, n_top=2)["effect"].max())
    return metrics.clustering_scores(y, fused)


def refused(views: list[NDArray[np.float64]], W: NDArray[np.float64]) -> None:
    ConsensusTLRR(n_clusters="five")  # type: ignore[arg-type]
    ConsensusTLRR(5, store="everything")  # type: ignore[arg-type]
    ConsensusTLRR(n_neighbors=15)  # type: ignore[call-arg]
    ConsensusTLRR().fit("views.csv")  # type: ignore[arg-type]
    print(ConsensusTLRR().fit(views).gap_.shape)  # type: ignore[attr-defined]
    TLRR(solver="fast")  # type: ignore[arg-type]
    TLRR(5, "rbf")  # type: ignore[arg-type, call-arg]
    TLRR(affinity="cosine")  # type: ignore[arg-type]
    TSVDMSC(sample_transform="fft")  # type: ignore[arg-type]
    solvers.tlrr(W, lam="auto")  # type: ignore[arg-type]
    solvers.tlrr(W, callback=5)  # type: ignore[arg-type]
    solvers.tlrr(W).objectve(W)  # type: ignore[attr-defined]
    solvers.tlrr(W).gap + 1  # type: ignore[operator]
    suggest_n_clusters(views, max_clusters="most")  # type: ignore[arg-type]
    explain(views, views)  # type: ignore[arg-type]
    metrics.clustering_scores(views[0])  # type: ignore[call-arg]
