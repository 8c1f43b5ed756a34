"""Fused passes of the solvers: everything of an iteration but its eigenproblems, in one sweep."""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fabs, fmax, sqrt
from libc.string cimport memset

cimport mvsc_fast._loops as loops
from mvsc_fast._kernels cimport CHUNK, CLIP, SHRINK, row_basis, row_lwork, row_operator
from mvsc_fast._openmp cimport omp_get_thread_num

import numpy as np

ctypedef fused dual_floating:   # of the dual variable P, which may be of lower precision than W
    float
    double

from mvsc_fast._kernels import check_status


# ------------------------------------------------------------------ published iteration

cdef int ialm_row(
    const floating **w,     # IN    row j of every view of W, of length n
    floating **l,           # OUT   L
    floating **e,           # INOUT E
    floating **y1,          # INOUT multipliers of the frontal block
    floating **y2,          # INOUT multipliers of the slice block
    floating **x,           # INOUT L1 in, the next argument A1 of the frontal step out
    Py_ssize_t v,
    Py_ssize_t n,
    const loops.IalmStep *step,
    double *work,
    floating *residual,     # INOUT CHUNK running maxima
    Py_ssize_t *rank,
    Py_ssize_t *kept,
) noexcept nogil:
    cdef double *rows = work                        # A2, v x n
    cdef double *mapper = rows + v * n
    cdef double *scratch = mapper + v * v
    cdef floating *factor = <floating *> (scratch + row_lwork(v, n))    # of tube k
    cdef floating *l2 = factor + CHUNK
    cdef floating *a3 = l2 + CHUNK                  # v x CHUNK
    cdef Py_ssize_t i, at, width
    cdef int info

    for i in range(v):
        loops.argument(w[i], l[i], e[i], y2[i], 1.0 / step.mu, n, rows + i * n)
    info = row_operator(rows, v, n, step.slice_threshold, SHRINK, mapper, scratch, rank)
    if info != 0:
        return info

    kept[0] = 0
    at = 0
    while at < n:
        width = min(<Py_ssize_t> CHUNK, n - at)
        memset(factor, 0, width * sizeof(floating))
        for i in range(v):
            loops.tube_argument(w[i] + at, l[i] + at, e[i] + at, y1[i] + at, y2[i] + at, step,
                                width, a3 + i * CHUNK, factor)
        kept[0] += loops.shrink_factors(factor, width, step.tube_threshold)
        for i in range(v):
            loops.combine(mapper + i * v, rows + at, v, n, width, l2)
            loops.ialm_update(w[i] + at, l[i] + at, e[i] + at, y1[i] + at, y2[i] + at, x[i] + at,
                              l2, a3 + i * CHUNK, factor, step, width, residual)
        at = at + width
    return 0


def ialm_pass(
    const floating[:, :, ::1] W,
    floating[:, :, ::1] L,
    floating[:, :, ::1] E,
    floating[:, :, ::1] Y1,
    floating[:, :, ::1] Y2,
    floating[:, :, ::1] X,
    *,
    double omega2,
    double alpha,
    double lam,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one published TLRR iteration but the frontal step, in one sweep over memory.

    On entry X holds the frontal block L1; the pass computes the slice block L2 and the tube block
    L3, then L, E, the residual, the multipliers Y1 and Y2, and leaves in X the argument
    ``(W + L - E + Y1 / mu_next) / 2`` of the next frontal step. All arrays have shape (v, m, n);
    all but W change in place.

    Returns
    -------
    residual : float
        Largest entry of ``|W - L_k - E|`` and ``|L - L_k|`` over the three blocks.
    rank : int
        Sum over the rows of the ranks of their L2 slices.
    kept : int
        Number of non-zero tubes of L3.
    """
    cdef Py_ssize_t v = W.shape[0], m = W.shape[1], n = W.shape[2], j, i
    cdef Py_ssize_t size = v * n + v * v + (v + 2) * CHUNK + row_lwork(v, n)
    cdef loops.IalmStep step
    status = np.zeros(m, dtype=np.intc)
    cdef int[::1] code = status
    counts = np.zeros((2, m), dtype=np.intp)
    cdef Py_ssize_t[:, ::1] count = counts
    cdef double[:, ::1] work = np.empty((n_threads, size))
    cdef floating[:, ::1] residual = np.zeros((n_threads, CHUNK), dtype=np.asarray(W).dtype)
    cdef size_t[:, ::1] pointers = np.empty((n_threads, 6 * v), dtype=np.uintp)
    cdef floating **rows
    cdef int thread
    step.mu, step.mu_next, step.lam = mu, mu_next, lam
    step.slice_threshold = omega2 / (2.0 * mu)
    step.tube_threshold = omega2 * alpha / (2.0 * mu)
    for j in prange(m, nogil=True, num_threads=n_threads, schedule="static"):
        thread = omp_get_thread_num()
        rows = <floating **> &pointers[thread, 0]
        for i in range(v):
            rows[i] = <floating *> &W[i, j, 0]
            rows[v + i] = &L[i, j, 0]
            rows[2 * v + i] = &E[i, j, 0]
            rows[3 * v + i] = &Y1[i, j, 0]
            rows[4 * v + i] = &Y2[i, j, 0]
            rows[5 * v + i] = &X[i, j, 0]
        code[j] = ialm_row(<const floating **> rows, rows + v, rows + 2 * v, rows + 3 * v,
                           rows + 4 * v, rows + 5 * v, v, n, &step, &work[thread, 0],
                           &residual[thread, 0], &count[0, j], &count[1, j])
    check_status(status, "row slice")
    return float(np.max(residual)), int(counts[0].sum()), int(counts[1].sum())


# ------------------------------------------------------------------ certified solver
#
# Tensors on a symmetric sparsity pattern: values of shape (v, nnz) in the order of a CSR matrix,
# indptr and indices its pattern, mirror[e] the position of entry (k, j) for e = (j, k).

def dual_tubes(
    const Py_ssize_t[::1] indptr,
    const Py_ssize_t[::1] indices,
    const Py_ssize_t[::1] mirror,
    const floating[:, ::1] W,
    const dual_floating[:, :, ::1] P,
    const floating[:, ::1] Q,
    floating[:, ::1] L,
    *,
    double lam,
    double tau,
    int n_threads=1,
):
    """L <- tube shrinkage at tau of ``W - (P + sym(Q)) / (2 lam)`` on the pattern.

    Returns ``||L||_F^2`` and ``<P, L>``, summed row by row.
    """
    cdef Py_ssize_t v = W.shape[0], n = P.shape[1], j, e, i, k
    cdef double scale = 1.0 / (2.0 * lam), length, factor, squared, inner, entry
    cdef double[:, ::1] tube = np.empty((n_threads, v))
    cdef double[:, ::1] sums = np.zeros((2, n))
    cdef double *t
    for j in prange(n, nogil=True, num_threads=n_threads, schedule="static"):
        t = &tube[omp_get_thread_num(), 0]
        squared = 0.0
        inner = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            k = indices[e]
            length = 0.0
            for i in range(v):
                t[i] = W[i, e] - scale * (P[i, j, k] + 0.5 * (Q[i, e] + Q[i, mirror[e]]))
                length = length + t[i] * t[i]
            if length <= tau * tau:
                for i in range(v):
                    L[i, e] = 0
                continue
            factor = 1.0 - tau / sqrt(length)
            for i in range(v):
                entry = factor * t[i]
                L[i, e] = <floating> entry
                squared = squared + entry * entry
                inner = inner + entry * P[i, j, k]
        sums[0, j] = squared
        sums[1, j] = inner
    return float(np.sum(sums[0])), float(np.sum(sums[1]))


def dual_rows(
    const Py_ssize_t[::1] indptr,
    const floating[:, ::1] L,
    const floating[:, ::1] Q_momentum,
    const floating[:, ::1] Q_last,
    floating[:, ::1] Q,
    *,
    double step,
    double omega2,
    int n_threads=1,
):
    """Q <- rows of ``Q_momentum + step * L``, singular values clipped at omega2.

    Returns ``<Q_momentum - Q, Q - Q_last>``, positive where the momentum points uphill.
    """
    cdef Py_ssize_t v = L.shape[0], n = len(indptr) - 1, j, e, i, first, width
    cdef Py_ssize_t longest = int(np.max(np.diff(indptr), initial=0))
    cdef double[:, ::1] work = np.empty(
        (n_threads, v * longest + longest + v * v + row_lwork(v, longest))
    )
    cdef double[::1] uphill = np.zeros(n)
    status = np.zeros(n, dtype=np.intc)
    cdef int[::1] code = status
    cdef Py_ssize_t[::1] rank = np.zeros(n, dtype=np.intp)
    cdef double *rows
    cdef double *out
    cdef double *mapper
    cdef floating clipped
    for j in prange(n, nogil=True, num_threads=n_threads, schedule="static"):
        first = indptr[j]
        width = indptr[j + 1] - first
        if width == 0:
            continue
        rows = &work[omp_get_thread_num(), 0]
        out = rows + v * width
        mapper = out + width
        for i in range(v):
            for e in range(width):
                rows[i * width + e] = Q_momentum[i, first + e] + step * L[i, first + e]
        code[j] = row_operator(rows, v, width, omega2, CLIP, mapper, mapper + v * v, &rank[j])
        for i in range(v):
            loops.combine(mapper + i * v, rows, v, width, width, out)
            for e in range(width):
                clipped = <floating> out[e]
                uphill[j] += ((<double> Q_momentum[i, first + e] - clipped)
                              * (<double> clipped - Q_last[i, first + e]))
                Q[i, first + e] = clipped
    check_status(status, "row slice")
    return float(np.sum(uphill))


def row_nuclear_norms(
    const Py_ssize_t[::1] indptr,
    const floating[:, ::1] L,
    int n_threads=1,
):
    """Sum over the rows of the nuclear norms of their v x n slices, never too small.

    For any orthonormal U the lengths of the rows of ``U^T M`` sum to at least ``||M||_*``; with
    the eigenvectors of the Gram matrix the two agree to rounding.
    """
    cdef Py_ssize_t v = L.shape[0], n = len(indptr) - 1, j, e, i, first, width
    cdef Py_ssize_t longest = int(np.max(np.diff(indptr), initial=0))
    cdef double[:, ::1] work = np.empty(
        (n_threads, v * longest + longest + v * v + row_lwork(v, longest))
    )
    cdef double[::1] norms = np.zeros(n)
    status = np.zeros(n, dtype=np.intc)
    cdef int[::1] code = status
    cdef double *rows
    cdef double *out
    cdef double *basis
    cdef double total
    for j in prange(n, nogil=True, num_threads=n_threads, schedule="static"):
        first = indptr[j]
        width = indptr[j + 1] - first
        if width == 0:
            continue
        rows = &work[omp_get_thread_num(), 0]
        out = rows + v * width
        basis = out + width
        for i in range(v):
            for e in range(width):
                rows[i * width + e] = L[i, first + e]
        code[j] = row_basis(rows, v, width, basis, basis + v * v)
        for i in range(v):
            loops.combine(basis + i * v, rows, v, width, width, out)
            total = 0.0
            for e in range(width):
                total = total + out[e] * out[e]
            norms[j] += sqrt(total)
    check_status(status, "row slice")
    return float(np.sum(norms))


def dual_progress(
    const floating[:, :, ::1] P_momentum,
    const floating[:, :, ::1] P_last,
    const floating[:, :, ::1] P,
    int n_threads=1,
):
    """``||P - P_momentum||^2`` and ``<P_momentum - P, P - P_last>`` in one sweep."""
    cdef Py_ssize_t v = P.shape[0], m = P.shape[1], n = P.shape[2], i, j
    cdef double[:, ::1] sums = np.zeros((v * m, 2))
    for j in prange(v * m, nogil=True, num_threads=n_threads, schedule="static"):
        i = j // m
        loops.progress(&P_momentum[i, j % m, 0], &P_last[i, j % m, 0], &P[i, j % m, 0], n,
                       &sums[j, 0])
    moved, uphill = np.sum(sums, axis=0)
    return float(moved), float(uphill)


def extrapolate(
    const floating[:, :, ::1] P,
    const floating[:, :, ::1] P_last,
    floating[:, :, ::1] out,
    double momentum,
    int n_threads=1,
):
    """out <- P + momentum * (P - P_last)."""
    cdef Py_ssize_t v = P.shape[0], m = P.shape[1], n = P.shape[2], i, j
    for j in prange(v * m, nogil=True, num_threads=n_threads, schedule="static"):
        i = j // m
        loops.extrapolate(&P[i, j % m, 0], &P_last[i, j % m, 0], momentum, n, &out[i, j % m, 0])


# ------------------------------------------------------------------ recovery: TRPCA and SNN

def trpca_pass(
    const floating[:, :, ::1] W,
    floating[:, :, ::1] L,
    floating[:, :, ::1] S,
    floating[:, :, ::1] Y,
    floating[:, :, ::1] X,
    const double[:, ::1] basis,
    *,
    double lam,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one TRPCA iteration but the shrinkage of L, in one sweep over memory.

    On entry X holds the coefficients of the new L along the views in the orthonormal ``basis``
    (v x v, columns); on exit those of ``W - S - Y / mu_next``. L, S and the multiplier Y change in
    place.

    Returns
    -------
    float
        Largest entry of ``|L + S - W|`` and of the changes of L and S.
    """
    cdef Py_ssize_t v = W.shape[0], m = W.shape[1], n = W.shape[2], j, i, p, at, width
    cdef double[:, ::1] work = np.empty((n_threads, 2 * v * CHUNK))
    cdef floating[:, ::1] rows = np.empty((n_threads, CHUNK), dtype=np.asarray(W).dtype)
    cdef floating[:, ::1] change = np.zeros((n_threads, CHUNK), dtype=np.asarray(W).dtype)
    cdef double[:, ::1] transposed = np.ascontiguousarray(np.transpose(basis))
    cdef double *hat
    cdef double *argument
    cdef floating *row
    cdef int thread
    for j in prange(m, nogil=True, num_threads=n_threads, schedule="static"):
        thread = omp_get_thread_num()
        hat = &work[thread, 0]
        argument = hat + v * CHUNK
        row = &rows[thread, 0]
        at = 0
        while at < n:
            width = min(<Py_ssize_t> CHUNK, n - at)
            for i in range(v):
                for p in range(width):
                    hat[i * CHUNK + p] = X[i, j, at + p]
            for i in range(v):
                loops.combine(&basis[i, 0], hat, v, CHUNK, width, row)
                loops.trpca_update(&W[i, j, at], &L[i, j, at], &S[i, j, at], &Y[i, j, at], row, lam,
                                   mu, mu_next, width, argument + i * CHUNK, &change[thread, 0])
            for i in range(v):
                loops.combine(&transposed[i, 0], argument, v, CHUNK, width, &X[i, j, at])
            at = at + width
    return float(np.max(change))


cdef enum:
    TILE = 32               # edge of the tiles in which transposed entries are visited


cdef double snn_tile(
    const floating *w,          # everything: v slices of n x n
    floating *e,
    floating *l1,
    floating *y1,
    floating *x,
    floating *l3,
    floating *y3,
    const double *mapper,       # v x v: L3 is mapper @ (W - E - Y3 / mu)
    double mu,
    double mu_next,
    Py_ssize_t v,
    Py_ssize_t n,
    Py_ssize_t j_first,
    Py_ssize_t k_first,
    double *argument,           # v x TILE
    double *gram,               # INOUT v x v
) noexcept nogil:
    """Update the entries (j, k) of a tile with k >= j, and their mirror images."""
    cdef Py_ssize_t j, k, i, p, q, start, at, mirror, width, square = n * n
    cdef double change = 0.0, r1, r2, r3, new3, low, a, t = 1.0 / (3.0 * mu), error, weight
    for j in range(j_first, min(j_first + TILE, n)):
        start = max(k_first, j)
        width = min(k_first + TILE, n) - start
        for i in range(v):
            at = i * square + j * n + start
            for k in range(width):
                argument[i * TILE + k] = w[at + k] - e[at + k] - y3[at + k] / mu
        for i in range(v):
            for k in range(width):
                at = i * square + j * n + start + k
                mirror = i * square + (start + k) * n + j
                new3 = 0.0
                for p in range(v):
                    new3 = new3 + mapper[i * v + p] * argument[p * TILE + k]
                a = w[at] - (x[at] + x[mirror] + new3 + (y1[at] + y1[mirror] + y3[at]) / mu) / 3.0
                error = a - t if a > t else (a + t if a < -t else 0.0)
                r1 = x[at] + error - w[at]
                r2 = x[mirror] + error - w[at]
                r3 = new3 + error - w[at]
                change = fmax(change, fmax(fabs(r1), fmax(fabs(r2), fabs(r3))))
                change = fmax(change, fmax(fabs(x[at] - l1[at]), fabs(x[mirror] - l1[mirror])))
                change = fmax(change, fmax(fabs(error - e[at]), fabs(new3 - l3[at])))
                l1[at] = x[at]
                l1[mirror] = x[mirror]
                l3[at] = l3[mirror] = <floating> new3
                e[at] = e[mirror] = <floating> error
                y3[at] = y3[mirror] = <floating> (y3[at] + mu * r3)
                y1[at] = <floating> (y1[at] + mu * r1)
                x[at] = <floating> (w[at] - error - y1[at] / mu_next)
                if mirror != at:
                    y1[mirror] = <floating> (y1[mirror] + mu * r2)
                    x[mirror] = <floating> (w[at] - error - y1[mirror] / mu_next)
        for i in range(v):
            at = i * square + j * n + start
            for k in range(width):
                argument[i * TILE + k] = w[at + k] - e[at + k] - y3[at + k] / mu_next
        for p in range(v):
            for q in range(p, v):
                low = 0.0
                for k in range(width):
                    weight = 1.0 if start + k == j else 2.0
                    low = low + weight * argument[p * TILE + k] * argument[q * TILE + k]
                gram[p * v + q] += low
    return change


def snn_pass(
    const floating[:, :, ::1] W,
    floating[:, :, ::1] E,
    floating[:, :, ::1] L1,
    floating[:, :, ::1] Y1,
    floating[:, :, ::1] X,
    floating[:, :, ::1] L3,
    floating[:, :, ::1] Y3,
    const double[:, ::1] mapper,
    *,
    double mu,
    double mu_next,
    int n_threads=1,
):
    """Everything of one SNN iteration on symmetric slices but its shrinkages, in one sweep.

    On entry X holds the new L1, on exit its next argument ``W - E - Y1 / mu_next``. L3 is
    ``mapper @ (W - E - Y3 / mu)`` along the views. The block of the columns is the transpose of
    the block of the rows, and is not stored. All arrays but W change in place.

    Returns
    -------
    change : float
        Largest entry of the constraint residuals and of the changes of all blocks.
    gram : ndarray of shape (v, v)
        Gram matrix along the views of the next argument ``W - E - Y3 / mu_next``.
    """
    cdef Py_ssize_t v = W.shape[0], n = W.shape[1], row, column, tiles = (n + TILE - 1) // TILE
    cdef double[:, ::1] argument = np.empty((n_threads, v * TILE))
    cdef double[:, :, ::1] grams = np.zeros((max(tiles, 1), v, v))
    cdef double[:, ::1] change = np.zeros((max(tiles, 1), max(tiles, 1)))
    for row in prange(tiles, nogil=True, num_threads=n_threads, schedule="static", chunksize=1):
        for column in range(row, tiles):
            change[row, column] = snn_tile(
                &W[0, 0, 0], &E[0, 0, 0], &L1[0, 0, 0], &Y1[0, 0, 0], &X[0, 0, 0], &L3[0, 0, 0],
                &Y3[0, 0, 0], &mapper[0, 0], mu, mu_next, v, n, row * TILE, column * TILE,
                &argument[omp_get_thread_num(), 0], &grams[row, 0, 0])
    gram = np.triu(np.sum(grams, axis=0))
    return float(np.max(change)), gram + np.triu(gram, 1).T
