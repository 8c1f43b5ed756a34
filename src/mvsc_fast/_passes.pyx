"""Fused passes of the solvers: everything of an iteration but its eigenproblems, in one sweep."""

from cython cimport floating
from cython.parallel cimport prange
from libc.math cimport fabs
from libc.string cimport memset

from mvsc_fast._kernels cimport (
    CHUNK, SHRINK, apply_operator, row_lwork, row_operator, shrink_factors
)
from mvsc_fast._openmp cimport omp_get_thread_num

import numpy as np

from mvsc_fast._kernels import check_status


# ------------------------------------------------------------------ published iteration

cdef struct IalmStep:
    double mu
    double mu_next
    double lam
    double slice_threshold
    double tube_threshold


cdef int ialm_row(
    const floating **w,     # IN    row j of every view of W, of length n
    floating **l,           # OUT   L
    floating **e,           # INOUT E
    floating **y1,          # INOUT multipliers of the frontal block
    floating **y2,          # INOUT multipliers of the slice block
    floating **x,           # INOUT L1 in, the next argument A1 of the frontal step out
    Py_ssize_t v,
    Py_ssize_t n,
    const IalmStep *step,
    double *work,           # ialm_lwork(v, n)
    double *residual,       # INOUT CHUNK running maxima
    Py_ssize_t *rank,
    Py_ssize_t *kept,
) noexcept nogil:
    cdef double *rows = work                        # A2, v x n
    cdef double *mapper = rows + v * n
    cdef double *factor = mapper + v * v          # of tube k
    cdef double *l2 = factor + CHUNK
    cdef double *a3 = l2 + CHUNK                    # v x CHUNK
    cdef double *scratch = a3 + v * CHUNK
    cdef double inverse_mu = 1.0 / step.mu, inverse_next = 1.0 / step.mu_next
    cdef double two_lam = 2.0 * step.lam, mu = step.mu
    cdef double inverse_denominator = 1.0 / (2.0 * step.lam + 3.0 * step.mu)
    cdef double x1, x2, x3, total, mean, error, fit, push, largest
    cdef Py_ssize_t i, k, first, width
    cdef int info
    cdef const floating *wi
    cdef floating *li
    cdef floating *ei
    cdef floating *y1i
    cdef floating *y2i
    cdef floating *xi
    cdef double *row
    cdef double *tube

    for i in range(v):
        wi, li, ei, y2i, row = w[i], l[i], e[i], y2[i], rows + i * n
        for k in range(n):
            row[k] = 0.5 * (wi[k] + li[k] - ei[k] + y2i[k] * inverse_mu)
    info = row_operator(rows, v, n, step.slice_threshold, SHRINK, mapper, scratch, rank)
    if info != 0:
        return info

    kept[0] = 0
    first = 0
    while first < n:
        width = min(<Py_ssize_t> CHUNK, n - first)
        memset(factor, 0, width * sizeof(double))
        for i in range(v):
            wi, li, ei, y1i, y2i = w[i] + first, l[i] + first, e[i] + first, y1[i] + first, y2[i] + first
            tube = a3 + i * CHUNK
            for k in range(width):
                tube[k] = 0.5 * (wi[k] + li[k] - ei[k]
                                 + (two_lam * ei[k] - y1i[k] - y2i[k]) * inverse_mu)
                factor[k] += tube[k] * tube[k]
        kept[0] += shrink_factors(factor, width, step.tube_threshold)
        for i in range(v):
            wi, li, ei, y1i, y2i = w[i] + first, l[i] + first, e[i] + first, y1[i] + first, y2[i] + first
            xi, tube = x[i] + first, a3 + i * CHUNK
            apply_operator(mapper, rows, v, n, i, first, width, l2)
            for k in range(width):
                x1 = xi[k]
                x2 = l2[k]
                x3 = factor[k] * tube[k]
                total = x1 + x2 + x3
                mean = total * (1.0 / 3.0)
                error = (mu * (3.0 * wi[k] - total) + two_lam * ei[k]) * inverse_denominator
                fit = wi[k] - error
                largest = residual[k]
                largest = fabs(fit - x1) if fabs(fit - x1) > largest else largest
                largest = fabs(fit - x2) if fabs(fit - x2) > largest else largest
                largest = fabs(fit - x3) if fabs(fit - x3) > largest else largest
                largest = fabs(mean - x1) if fabs(mean - x1) > largest else largest
                largest = fabs(mean - x2) if fabs(mean - x2) > largest else largest
                largest = fabs(mean - x3) if fabs(mean - x3) > largest else largest
                residual[k] = largest
                push = mu * (fit + mean)
                x1 = y1i[k] + push - 2.0 * mu * x1
                y1i[k] = <floating> x1
                y2i[k] = <floating> (y2i[k] + push - 2.0 * mu * x2)
                li[k] = <floating> mean
                ei[k] = <floating> error
                xi[k] = <floating> (0.5 * (fit + mean + x1 * inverse_next))
        first = first + width
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
    cdef IalmStep step
    status = np.zeros(m, dtype=np.intc)
    cdef int[::1] code = status
    counts = np.zeros((2, m), dtype=np.intp)
    cdef Py_ssize_t[:, ::1] count = counts
    cdef double[:, ::1] work = np.empty((n_threads, size))
    cdef double[:, ::1] residual = np.zeros((n_threads, CHUNK))
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
