"""How large a problem TLRR takes on, and what that needs."""

from ..validation import available_memory

LONGEST = 64  # tubes of each row
# Samples. The exact solve of six slices took 30 times as long as all else at n = 2000, and its
# labels were no better.
DENSE_LIMIT = 1000
SOLVER_TENSORS = 8  # peak memory of a dense fit, in tensors of shape (v, n, n)


def chosen_size(n, limit, *, sparse, iterates):
    """The ``size`` that "auto" stands for.

    Parameters
    ----------
    n : int
    limit : int
        Largest number of samples that are fitted.
    sparse : bool
        Whether similarities are given as sparse matrices.
    iterates : bool
        Whether more than the first step of the solver is asked for.
    """
    if iterates or (n <= DENSE_LIMIT and not sparse):
        return "dense"
    return "sample" if n > limit else "sparse"


def check_fit(views, n_fitted, size, graph):
    """Bytes that a fit needs at most; MemoryError where they are not there, before any work."""
    n = views[0].shape[0]
    named = isinstance(graph, str)
    slices = len(views) * (2 if named and graph == "selfrep" else 1)
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
