"""How many samples a fit of ConsensusTLRR clusters, and the memory that it needs."""

from typing import NamedTuple

from .._utils.validation import check_memory, in_bytes
from ..judge._landmarks import N_LANDMARKS
from ..judge._ridge import REGRESSED
from ..judge._scan import CANDIDATES, LONGEST, SCALES, neighbourhood_growth
from ..judge._support import GRAPH_SAMPLES
from ..similarity._factors import view_scales
from ..similarity._sparse import MEMORY
from ..views._row_source import COPIES, MIN_ROWS, block_rows, check_bytes
from ..views._view_rows import n_components

# max_samples="auto": a minimum, and samples for each cluster. 60 clusters need 300 each, but the
# time grows with samples times clusters: so many clusters that this is more than 20 000 get fewer.
MIN_FITTED, FITTED_PER_CLUSTER = 4000, 300
MANY_FITTED, MIN_FITTED_PER_CLUSTER = 20_000, 40
# CPU seconds of one thread, within a factor of two of bench/many_clusters.py and of up to 20 views
# or 20 000 columns: of a sample, of a sample for each view, each cluster and the square of their
# number, of an entry of the views, and of a multiplication in the search for neighbours.
SECONDS = 2e-4, 9e-5, 4.5e-6, 7e-9, 6e-8, 6e-11


class Plan(NamedTuple):
    """Number of samples that are clustered, of rows that are read at a time, and a forecast.

    Attributes
    ----------
    n_fitted, block_rows : int
    seconds : float
        About how many CPU seconds the clustering takes.
    """

    n_fitted: int
    block_rows: int
    seconds: float


def plan_fit(source, n_clusters, max_samples, memory_limit):
    """The `Plan` of a fit; raises an error, before any work, if there is none.

    Parameters
    ----------
    source : RowSource
    n_clusters, max_samples, memory_limit
        As for `ConsensusTLRR`.

    Raises
    ------
    ValueError
        If there are more clusters than samples to be clustered.
    MemoryError
        If the available memory or ``memory_limit`` is too small.
    """
    n, n_features = source.n_samples, source.n_features
    # How many samples are clustered, and whether that fits into memory at all.
    if max_samples == "auto":
        max_samples = automatic_samples(n_clusters)
    if max_samples < n_clusters:
        raise ValueError(f"max_samples={max_samples} is less than n_clusters={n_clusters}")
    m = min(n, max_samples)
    fit, seconds = fit_bytes(n, m, n_features, n_clusters), fit_seconds(m, n_features, n_clusters)
    check_memory(
        fit, f"ConsensusTLRR with {m} samples", "lower max_samples to cluster fewer of them"
    )
    if memory_limit is None:
        return Plan(m, block_rows(n_features), seconds)
    # What a limit leaves after arrays over all samples is the size of the blocks that are read.
    limit = check_bytes(memory_limit, "memory_limit")
    sample_bytes = 8 * n * 4  # keys and hashes of samples, their order, labels
    passes = sample_bytes + COPIES * 8 * MIN_ROWS * sum(n_features)
    if max(fit, passes) > limit:
        raise MemoryError(
            f"memory_limit={in_bytes(limit)} is too small: clustering {m} samples needs about "
            f"{in_bytes(fit)}, and reading {n} samples at least {in_bytes(passes)}. Raise it, or "
            "lower max_samples"
        )
    return Plan(m, block_rows(n_features, limit - sample_bytes), seconds)


def automatic_samples(n_clusters):
    """Number of samples that ``max_samples="auto"`` clusters."""
    usual = min(FITTED_PER_CLUSTER * n_clusters, MANY_FITTED)
    return max(MIN_FITTED, usual, MIN_FITTED_PER_CLUSTER * n_clusters)


def fit_seconds(m, n_features, n_clusters):
    """About how many CPU seconds the clustering of m samples takes; see bench/many_clusters.py."""
    sample, view, cluster, pair, entry, product = SECONDS
    of_views = view * len(n_features) + entry * sum(n_features)
    of_clusters = cluster * n_clusters + pair * n_clusters**2
    searched = 2 * m**2 * sum(min(m, d) for d in n_features)
    return m * (sample + of_views + of_clusters) + product * searched


def fit_bytes(n, m, n_features, n_clusters):
    """Maximum memory in bytes for clustering m of n samples, not counting views in memory."""
    # Wide views are represented by their leading components.
    ranks = [n_components(m, d) if d > m else d for d in n_features]
    width, v = sum(ranks), len(n_features)
    slices = sum(len(view_scales(m, d, SCALES["unit"])) for d in n_features)
    columns = width + N_LANDMARKS
    # Features of the judge and its Gram matrices; those of the views go before tensors are there.
    judge = 4 * columns * (m + 3 * min(m, REGRESSED)) + 16 * columns**2
    judge += sum(8 * r * r for r in ranks) * (slices // v + 1)
    factors = 4 * m * slices * width // v
    rows = sum((8 if d <= m else 12) * m * d for d in n_features) + 8 * m * max(ranks)
    maps = sum(24 * r * d for r, d in zip(ranks, n_features, strict=True) if r < d)
    # The tensor: candidates while it is made, then the longest tubes.
    growth = neighbourhood_growth(m, n_clusters)
    pairs = m * min(m, round(2 * growth * LONGEST))
    swept = min(MEMORY, 4 * m * slices * min(m, round(growth * CANDIDATES) * v))
    tensor = swept + pairs * (6 * slices + 24)  # entries, block by block, and the longest tubes
    cut = pairs * (4 * slices + 48) + 48 * m * n_clusters  # W, affinities, eigenvectors
    graphs = 16 * v * min(m, GRAPH_SAMPLES) ** 2  # the graph of each view alone
    return judge + maps + factors + max(rows, tensor, cut) + graphs + 8 * n * (v + 2) + 2**24
