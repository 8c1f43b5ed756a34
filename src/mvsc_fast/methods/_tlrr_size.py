"""How large a problem TLRR takes on, and what that needs."""

from .._factors import SCALES, view_scales
from .._sparse_graphs import LONGEST
from ..validation import available_memory

# Slices times n^3 up to which "auto" solves exactly. For the default W 500 samples in four slices,
# where the solve takes about as long as all else; for 2000 samples in six it took 30 times as long,
# and its labels were no better. Other tensors are n x n anyhow: 1000 samples in three slices.
DENSE_COST, DENSE_COST_GIVEN = 5e8, 3e9
# Samples up to which "auto" solves exactly where iterations are asked for: it takes minutes.
DENSE_SAMPLES = 2500
SOLVER_TENSORS = 8  # peak memory of a dense fit, in tensors of shape (v, n, n)


def count_slices(views, graph):
    """Slices of the similarity tensor of some views."""
    if isinstance(graph, str) and graph == "selfrep":
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


def check_fit(views, n_fitted, size, graph):
    """Bytes that a fit needs at most; MemoryError where they are not there, before any work."""
    n = views[0].shape[0]
    named = isinstance(graph, str)
    slices = count_slices(views, graph)
    tensor = slices * n_fitted**2 * views[0].dtype.itemsize
    if size == "dense":
        needed = SOLVER_TENSORS * tensor
    else:
        # Entries kept between two sweeps over the pattern, and the tensors on it.
        needed = 2**28 + 24 * n_fitted * LONGEST * (slices + 3)
        if named and graph == "selfrep":
            # Unit rows, factors, and Gram matrices.
            needed += sum(8 * min(X.shape) * (3 * n + 2 * min(X.shape)) for X in views)
        elif not named or graph in ("gaussian", "tsvd"):
            needed += 3 * tensor
    available = available_memory()
    if needed > available:
        raise MemoryError(
            f"size={size!r} with {n_fitted} samples needs about {needed / 2**30:.3g} GiB, "
            f'{available / 2**30:.3g} GiB are available: size="sample" fits max_samples of them '
            "and labels the others by votes"
        )
    return needed
