"""From a sparse similarity tensor to a spectral embedding, without an n x n array."""

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from scipy.sparse.csgraph import connected_components
from sklearn.preprocessing import normalize

from .._warnings import warn_user

# Below so many samples for each cluster, or in all, LAPACK is faster than Lanczos.
DENSE_PER_CLUSTER = 24
DENSE_LIMIT = 256
# Of matrices that are dense anyway: above, a few eigenvectors are cheaper by Lanczos.
LAPACK_LIMIT = 3000
TOLERANCE = 1e-3  # of Lanczos, which may take eigenvalues that differ by a few of it for one
NEAR_ONE = 0.01
LOOK = 0.01  # tolerance of a look for what was missed, where there is room for it below 1


def tube_lengths(W):
    """Lengths of the tubes W[:, j, k], j != k, of symmetric slices.

    Parameters
    ----------
    W : ndarray of shape (v, n, n), or list of v sparse arrays of shape (n, n)
        Sparse slices may have any patterns.

    Returns
    -------
    ndarray of shape (n (n - 1),), or (nnz,) where the slices are sparse
        Of every pair of samples twice.
    """
    if scipy.sparse.issparse(W[0]):
        squares = scipy.sparse.coo_array(sum(A.multiply(A) for A in W))
        return np.sqrt(squares.data[squares.row != squares.col])
    squares = np.einsum("ijk,ijk->jk", W, W)
    return np.sqrt(squares[~np.eye(len(squares), dtype=bool)])


def tube_threshold(lengths, n, n_neighbors):
    """The tube length that ``n_neighbors`` tubes of each of n samples exceed on average.

    Parameters
    ----------
    lengths : ndarray of shape (nnz,)
        Of all tubes of a symmetric tensor off its diagonal, so that every pair of samples counts
        twice; those of length zero may be left out. See `tube_lengths` and `SparseTensor`.
    n, n_neighbors : int

    Returns
    -------
    float
        The shortest positive tube if there are too few; half of the longest if more tubes tie at
        the maximum than asked for, so that all of them survive.
    """
    positive = np.count_nonzero(lengths)
    if positive == 0:
        return 1.0
    rank = len(lengths) - min(max(n * n_neighbors, 1), positive)
    tau, longest = float(np.partition(lengths, rank)[rank]), float(lengths.max())
    return tau if tau < longest * (1 - 1e-6) else longest / 2


def add_tail(S, S_W, tail, n):
    """S with a weak share of the unprocessed affinity S_W, both at mean row sum 1; overwrites S.

    The exact minimiser is so sparse that its graph breaks into a large part and crumbs, on which
    normalised cuts waste clusters; a weak dense tail mends that (regularised spectral clustering:
    Amini et al. 2013; Joseph & Yu 2016).

    Parameters
    ----------
    S, S_W : ndarray or csr_array
        Affinity matrices, or the entries of both on one sparse pattern.
    tail : float
        Mean row sum of the share of S_W.
    n : int
        Number of samples.
    """
    S *= n / (float(S.sum(dtype=np.float64)) or 1.0)
    S += S_W * (tail * n / (float(S_W.sum(dtype=np.float64)) or 1.0))
    return S


def thresholded_affinity(tensor, tau, tail):
    """Sum of the tube-shrunken slices, with a weak share of the unshrunken sum.

    ``S / mean row sum + tail * S_W / mean row sum``, S = sum_i W_i max(0, 1 - tau / length), the
    first step of the certified solver; see `add_tail`.

    Parameters
    ----------
    tensor : _graphs.SparseTensor
        Non-negative slices on one pattern.
    tau, tail : float

    Returns
    -------
    csr_array of shape (n, n), float32
    """
    lengths = tensor.lengths
    factors = np.maximum(0, 1 - np.float32(tau) / np.where(lengths > 0, lengths, 1))
    plain = tensor.values.sum(axis=0)
    return tensor.matrices([add_tail(plain * factors, plain, tail, tensor.n)])[0]


def leading_eigenvectors(A, count, start):
    """Largest eigenvalues of D^-1/2 A D^-1/2 and their eigenvectors.

    Lanczos in float32 to a tolerance of 1e-3: labels do not change below. Small matrices and dense
    ones by LAPACK.

    Parameters
    ----------
    A : csr_array or ndarray of shape (n, n)
        Symmetric, non-negative.
    count : int
    start : ndarray of shape (n,)
        Start vector; one of positive random entries, or the sum of the eigenvectors of a similar
        matrix.

    Returns
    -------
    values : ndarray of shape (count,)
        Largest first.
    vectors : ndarray of shape (n, count)
    """
    n = A.shape[0]
    degree = np.asarray(A.sum(axis=1)).ravel()
    root = (1 / np.sqrt(np.where(degree > 0, degree, 1))).astype(np.float32)
    if scipy.sparse.issparse(A):
        rows = np.repeat(root, np.diff(A.indptr))
        data = A.data * rows * root[A.indices]
        N = scipy.sparse.csr_array((data, A.indices, A.indptr), shape=(n, n))
    else:
        N = A * root.astype(np.float64)[:, None]
        N *= root
    if not degree.any():  # no links: all vectors are alike, and Lanczos finds none
        return np.zeros(count), np.eye(n, count)
    small = n <= DENSE_LIMIT or n < DENSE_PER_CLUSTER // 2 * count
    if small or (isinstance(N, np.ndarray) and n <= LAPACK_LIMIT):
        N = N.toarray() if scipy.sparse.issparse(N) else N
        values, vectors = dense_eigenpairs(N.astype(np.float64), count)
        values, vectors = values[::-1], vectors[:, ::-1]
    else:
        values, vectors = _lanczos(N, degree, count, start)
    # float64: scikit-learn's k-means converts float32 in every step of its seeding.
    return values.astype(np.float64), vectors.astype(np.float64)


def _lanczos(N, degree, count, start):
    """Eigenpairs of N = D^-1/2 A D^-1/2, as `leading_eigenvectors`.

    From one start Lanczos finds one vector of a multiple eigenvalue, and others by rounding or not
    at all, which would merge clusters that are hardly linked. Therefore those of eigenvalue 1 are
    taken from the connected components; and where others are near 1, further ones are looked for,
    each from a start of its own, until none is seen that is larger by more than the tolerance. A
    look takes fewer products than a search, but must tell what was missed from what was found.
    """
    n = len(degree)
    rng, rank = np.random.RandomState(0), np.argsort(degree, kind="stable")
    values, vectors = _component_eigenpairs(N, degree, count)
    wanted = count - len(values)
    while wanted:
        more, found = _largest_beside(N, values, vectors, wanted, start, TOLERANCE)
        values, vectors = np.append(values, more), np.hstack([vectors, found])
        order = np.argsort(-values, kind="stable")[:count]
        values, vectors = values[order], vectors[:, order]
        if more[0] <= 1 - NEAR_ONE:
            break
        start = np.empty(n)
        start[rank] = rng.uniform(-1, 1, n)
        tolerance = float(np.clip((1 - values[-1]) / 3, TOLERANCE, LOOK))
        seen, found = _largest_beside(N, values, vectors, 1, start, tolerance)
        wanted, start = int(seen[0] > values[-1] + TOLERANCE), found[:, 0]
    return values, vectors


def _component_eigenpairs(N, degree, count):
    """Eigenvalue 1 and D^1/2 1_C, of unit length, of the at most ``count`` largest components C."""
    linked = N
    if scipy.sparse.issparse(N) and not N.data.all():  # zeros that are stored are no links
        linked = N.copy()
        linked.eliminate_zeros()
    # Of a symmetric matrix strong components are all, and found without transposing it.
    _, member = connected_components(linked, directed=True, connection="strong")
    volume = np.bincount(member, degree)  # 0 of isolated samples, whose eigenvalue is 0
    largest = np.argsort(-volume, kind="stable")[: min(count, np.count_nonzero(volume))]
    vectors = np.sqrt(degree)[:, None] * (member[:, None] == largest)
    return np.ones(len(largest)), vectors / np.sqrt(volume[largest])


def _largest_beside(N, values, vectors, count, start, tolerance):
    """The largest eigenpairs besides given ones, which N - V (I + diag(values)) V^T takes to -1."""
    n = len(start)
    V, weights = vectors.astype(N.dtype), (1 + values).astype(N.dtype)
    rest = scipy.sparse.linalg.LinearOperator(
        N.shape, lambda x: N @ x.ravel() - V @ (weights * (V.T @ x.ravel())), dtype=N.dtype
    )
    values, vectors = scipy.sparse.linalg.eigsh(
        rest,
        count,
        which="LA",
        tol=tolerance,
        v0=(start - V @ (V.T @ start)).astype(N.dtype),
        ncv=min(n - 1, max(2 * count + 1, 30)),
    )
    order = np.argsort(-values)
    return values[order], vectors[:, order]


def warn_of_unlike(degree):
    """Say that most samples resemble no other, so that their labels mean nothing.

    Parameters
    ----------
    degree : ndarray of shape (n,)
        Row sums of a graph.
    """
    alone = np.count_nonzero(degree == 0)
    if 2 * alone > len(degree):
        warn_user(
            f"{alone} of {len(degree)} samples resemble no other in any view: there is nothing to "
            "cluster them by, and their labels mean nothing"
        )


def embedded(values, vectors, n_clusters, kind):
    """Rows of unit length from 2 c leading eigenpairs.

    Parameters
    ----------
    values, vectors
        Of `leading_eigenvectors`.
    n_clusters : int
        c.
    kind : {"c", "2c"}
        "c" takes the first c eigenvectors; "2c" all of them times their squared eigenvalues, which
        also sees what divides clusters where c of them are not enough.
    """
    if kind == "c":
        return normalize(vectors[:, :n_clusters])
    return normalize(vectors * np.maximum(values, 0) ** 2)


def dense_eigenpairs(N, count):
    """The ``count`` largest eigenvalues of a symmetric array and their vectors, ascending."""
    n = len(N)
    subset = [n - count, n - 1]
    try:
        values, vectors = scipy.linalg.eigh(N, subset_by_index=subset, check_finite=False)
    except scipy.linalg.LinAlgError:
        vectors = np.empty((n, 0))
    if vectors.shape[1] < count:
        # LAPACK's subset drivers lose members of many equal eigenvalues, or fail at them.
        values, vectors = scipy.linalg.eigh(N, driver="evd", check_finite=False)
    return values[len(values) - count :], vectors[:, vectors.shape[1] - count :]
