"""How large a problem TLRR takes on, and what that needs."""

from .._judge import REGRESSED
from .._landmarks import N_LANDMARKS
from .._relevance import MAX_SAMPLES
from .._sparse._factors import SCALES, view_scales
from .._sparse._graphs import CANDIDATES, LONGEST, MEMORY
from ..neighbors import GRID
from ._cost import Cost

# Slices times n^3 up to which "auto" solves exactly. For the default W 500 samples in four slices,
# where the solve takes about as long as all else; for 2000 samples in six it took 30 times as long,
# and its labels were no better. Other tensors are n x n anyhow: 1000 samples in three slices.
DENSE_COST, DENSE_COST_GIVEN = 5e8, 3e9
# Samples up to which "auto" solves exactly where iterations are asked for: it takes minutes.
DENSE_SAMPLES = 2500
# Of the samples that are fitted where others are labelled by their votes: the cost of each label.
# Accuracy of votes by uniform parts of 20 000 samples, on their local scales among all of these:
# subspaces in ten clusters .744 by all, .744 by 5000, .740 by 2500; in 60 clusters .901 by all,
# .902 by 15 000, .896 by 10 000, .880 by 6000.
VOTERS, VOTERS_PER_CLUSTER = 5000, 250


def count_slices(views, graph):
    """Slices of the similarity tensor of some views."""
    if graph == "selfrep":
        return sum(len(view_scales(*X.shape, SCALES)) for X in views)
    return len(views)


def chosen_size(n, slices, limit, *, factored, sparse, iterates):
    """The ``size`` that "auto" stands for.

    Parameters
    ----------
    n, slices : int
    factored : bool
        Whether the tensor is the default one, a product of factors.
    limit : int
        Largest number of samples that are fitted.
    sparse : bool
        Whether similarities are given as sparse matrices.
    iterates : bool
        Whether more than the first step of the solver is asked for.
    """
    cost = DENSE_COST if factored else DENSE_COST_GIVEN
    if iterates and n <= DENSE_SAMPLES or (slices * n**3 <= cost and not sparse):
        return "dense"
    return "sample" if n > limit else "sparse"


def sparse_cost(n, views, n_fitted, n_clusters, slices, *, labellings, kinds=1):
    """`Cost` of sparse graphs on some of the samples, and of labels for the rest.

    Parameters
    ----------
    n : int
    views : list of ndarray or csr_matrix of shape (n, d_i)
        Empty where similarities are given.
    n_fitted, n_clusters : int
    slices, kinds : int
        Of each graph, and how many graphs there are, one after the other.
    labellings : int
        How many are cut and judged.
    """
    m = n_fitted
    ranks = [min(X.shape) for X in views]
    width = sum(ranks)
    columns = width + N_LANDMARKS
    # Features of the judge and its Gram matrices; those of the views go before tensors are there.
    judge = 4 * columns * (m + 3 * min(m, REGRESSED)) + 16 * columns**2
    judge += sum(8 * r * r for r in ranks) * (slices // max(len(views), 1) + 1)
    factors = 4 * m * slices * width // max(len(views), 1)
    given = sum(8 * m * min(X.shape[1], 2 * m) for X in views) + 8 * m * max(ranks, default=0)
    wide = sum(16 * m * X.shape[1] for X in views if X.shape[1] > m)  # kept, for new samples
    pairs = m * min(m, 2 * LONGEST)
    swept = min(MEMORY, 4 * m * slices * min(m, CANDIDATES * max(len(views), 1)))
    made = swept + pairs * (6 * slices + 24)  # entries, block by block, and the longest tubes
    solved = pairs * (16 * slices + 48)  # W, L, their dual, affinities and what they are made of
    eigenvectors = 8 * m * n_clusters * len(GRID)  # of all sizes, until labels are judged
    alone = 16 * len(views) * min(m, MAX_SAMPLES) ** 2  # the graph of each view by itself
    search = 2 * m * m * slices * kinds * width / max(len(views), 1)
    ridge = 8 * m * (width + N_LANDMARKS) ** 2
    rest = 2 * (n - m) * count_voters(m, n_clusters) * width
    return Cost(
        # Of samples that are not fitted there are keys alone: they are read in blocks.
        memory=judge
        + wide
        + factors
        + max(given, made, solved)
        + eigenvectors
        + alone
        + 8 * n * (len(views) + 2)
        + 2**24,
        eigen=sum(r**3 for r in ranks) + N_LANDMARKS**3,
        products=search + ridge + rest,
        # Measured: Lanczos, k-means and one-hot labels; sorting and filling the patterns.
        passes=labellings * m * (6000 + 1200 * n_clusters) + 20_000 * m * slices * kinds,
    )


def count_voters(n_fitted, n_clusters):
    """How many samples of a sample vote for the labels of all others."""
    return min(n_fitted, max(VOTERS, VOTERS_PER_CLUSTER * n_clusters))
