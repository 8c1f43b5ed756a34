/* Included by loops.h once for REAL = double and once for REAL = float. */

/* out[k] = (w + l - e + y / mu)[k] / 2 */
MVSC_CLONES static void NAME(mvsc_argument)(
    const REAL *MVSC_RESTRICT w, const REAL *MVSC_RESTRICT l, const REAL *MVSC_RESTRICT e,
    const REAL *MVSC_RESTRICT y, double inverse_mu, ptrdiff_t n, double *MVSC_RESTRICT out)
{
    for (ptrdiff_t k = 0; k < n; k++)
        out[k] = 0.5 * ((double)w[k] + l[k] - e[k] + y[k] * inverse_mu);
}

/* The argument of the tube block, and its squares added to those of the other views. */
MVSC_CLONES static void NAME(mvsc_tube_argument)(
    const REAL *MVSC_RESTRICT w, const REAL *MVSC_RESTRICT l, const REAL *MVSC_RESTRICT e,
    const REAL *MVSC_RESTRICT y1, const REAL *MVSC_RESTRICT y2, const mvsc_ialm_step *step,
    ptrdiff_t n, REAL *MVSC_RESTRICT tube, REAL *MVSC_RESTRICT squares)
{
    const REAL inverse_mu = (REAL)(1.0 / step->mu), two_lam = (REAL)(2.0 * step->lam);
    for (ptrdiff_t k = 0; k < n; k++) {
        REAL a = (REAL)0.5 * (w[k] + l[k] - e[k] + (two_lam * e[k] - y1[k] - y2[k]) * inverse_mu);
        tube[k] = a;
        squares[k] += a * a;
    }
}

/* Whether all of x are finite, and the largest absolute value. */
MVSC_CLONES static int NAME(mvsc_finite_maximum)(const REAL *x, ptrdiff_t n, double *largest)
{
    REAL nothing[MVSC_LANES] = {0}, maximum[MVSC_LANES] = {0};
    ptrdiff_t k = 0;
    for (; k + MVSC_LANES <= n; k += MVSC_LANES)
        for (int q = 0; q < MVSC_LANES; q++) {
            REAL size = (REAL)fabs(x[k + q]);
            nothing[q] += 0 * size; /* NaN as soon as one is NaN or infinite */
            maximum[q] = size > maximum[q] ? size : maximum[q];
        }
    for (; k < n; k++) {
        REAL size = (REAL)fabs(x[k]);
        nothing[0] += 0 * size;
        maximum[0] = size > maximum[0] ? size : maximum[0];
    }
    for (int q = 1; q < MVSC_LANES; q++) {
        nothing[0] += nothing[q];
        maximum[0] = maximum[q] > maximum[0] ? maximum[q] : maximum[0];
    }
    *largest = maximum[0];
    return nothing[0] == 0;
}

/* squares[k] += x[k]^2 */
MVSC_CLONES static void NAME(mvsc_add_squares)(
    const REAL *MVSC_RESTRICT x, ptrdiff_t n, REAL *MVSC_RESTRICT squares)
{
    for (ptrdiff_t k = 0; k < n; k++)
        squares[k] += x[k] * x[k];
}

/* Squared lengths become the factors max(1 - t / length, 0); returns how many are positive. */
MVSC_CLONES static ptrdiff_t NAME(mvsc_shrink_factors)(
    REAL *MVSC_RESTRICT squares, ptrdiff_t n, double t)
{
    const REAL threshold = (REAL)t;
    ptrdiff_t kept = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        REAL length = (REAL)sqrt(squares[k]);
        REAL factor = (REAL)1 - threshold / length;
        squares[k] = length > threshold ? factor : (REAL)0;
    }
    for (ptrdiff_t k = 0; k < n; k++)
        kept += squares[k] > 0;
    return kept;
}

/* x[k] *= factor[k] */
MVSC_CLONES static void NAME(mvsc_scale)(
    REAL *MVSC_RESTRICT x, const REAL *MVSC_RESTRICT factor, ptrdiff_t n)
{
    for (ptrdiff_t k = 0; k < n; k++)
        x[k] *= factor[k];
}

/* out[k] = sum_p weights[p] * rows[p * stride + k] */
MVSC_CLONES static void NAME(mvsc_combine)(
    const double *MVSC_RESTRICT weights, const double *MVSC_RESTRICT rows, ptrdiff_t v,
    ptrdiff_t stride, ptrdiff_t n, REAL *MVSC_RESTRICT out)
{
    ptrdiff_t k = 0;
    for (; k + MVSC_LANES <= n; k += MVSC_LANES) {
        double sum[MVSC_LANES] = {0};
        for (ptrdiff_t p = 0; p < v; p++)
            for (int q = 0; q < MVSC_LANES; q++)
                sum[q] += weights[p] * rows[p * stride + k + q];
        for (int q = 0; q < MVSC_LANES; q++)
            out[k + q] = (REAL)sum[q];
    }
    for (; k < n; k++) {
        double sum = 0;
        for (ptrdiff_t p = 0; p < v; p++)
            sum += weights[p] * rows[p * stride + k];
        out[k] = (REAL)sum;
    }
}

/* L, E, residual, multipliers and the next frontal argument, given the three blocks. */
MVSC_CLONES static void NAME(mvsc_ialm_update)(
    const REAL *MVSC_RESTRICT w, REAL *MVSC_RESTRICT l, REAL *MVSC_RESTRICT e,
    REAL *MVSC_RESTRICT y1, REAL *MVSC_RESTRICT y2, REAL *MVSC_RESTRICT x,
    const REAL *MVSC_RESTRICT l2, const REAL *MVSC_RESTRICT tube,
    const REAL *MVSC_RESTRICT factor, const mvsc_ialm_step *step, ptrdiff_t n,
    REAL *MVSC_RESTRICT residual)
{
    const REAL mu = (REAL)step->mu, two_lam = (REAL)(2.0 * step->lam);
    const REAL inverse_next = (REAL)(1.0 / step->mu_next);
    const REAL inverse = (REAL)(1.0 / (2.0 * step->lam + 3.0 * step->mu));
    const REAL third = (REAL)(1.0 / 3.0);
    for (ptrdiff_t k = 0; k < n; k++) {
        REAL x1 = x[k], x2 = l2[k], x3 = factor[k] * tube[k];
        REAL total = x1 + x2 + x3, mean = total * third;
        REAL error = (mu * (3 * w[k] - total) + two_lam * e[k]) * inverse;
        REAL fit = w[k] - error;
        REAL r = residual[k], d;
        d = (REAL)fabs(fit - x1); r = d > r ? d : r;
        d = (REAL)fabs(fit - x2); r = d > r ? d : r;
        d = (REAL)fabs(fit - x3); r = d > r ? d : r;
        d = (REAL)fabs(mean - x1); r = d > r ? d : r;
        d = (REAL)fabs(mean - x2); r = d > r ? d : r;
        d = (REAL)fabs(mean - x3); r = d > r ? d : r;
        residual[k] = r;
        REAL push = mu * (fit + mean);
        REAL next = y1[k] + push - 2 * mu * x1;
        y1[k] = next;
        y2[k] += push - 2 * mu * x2;
        l[k] = mean;
        e[k] = error;
        x[k] = (REAL)0.5 * (fit + mean + next * inverse_next);
    }
}

/* out[k] = p + beta * (p - last) */
MVSC_CLONES static void NAME(mvsc_extrapolate)(
    const REAL *MVSC_RESTRICT p, const REAL *MVSC_RESTRICT last, double momentum, ptrdiff_t n,
    REAL *MVSC_RESTRICT out)
{
    const REAL beta = (REAL)momentum;
    for (ptrdiff_t k = 0; k < n; k++)
        out[k] = p[k] + beta * (p[k] - last[k]);
}

/* S, Y, the changes and the next argument W - S - Y / mu_next of TRPCA, given the new L in x. */
MVSC_CLONES static void NAME(mvsc_trpca_update)(
    const REAL *MVSC_RESTRICT w, REAL *MVSC_RESTRICT l, REAL *MVSC_RESTRICT s,
    REAL *MVSC_RESTRICT y, const REAL *MVSC_RESTRICT x, double lam, double mu, double mu_next,
    ptrdiff_t n, double *MVSC_RESTRICT argument, REAL *MVSC_RESTRICT change)
{
    const REAL inverse = (REAL)(1.0 / mu), inverse_next = (REAL)(1.0 / mu_next);
    const REAL t = (REAL)(lam / mu), step = (REAL)mu;
    for (ptrdiff_t k = 0; k < n; k++) {
        REAL a = w[k] - x[k] - y[k] * inverse;
        REAL sparse = a > t ? a - t : (a < -t ? a + t : (REAL)0);
        REAL misfit = x[k] + sparse - w[k];
        REAL c = change[k], d;
        d = (REAL)fabs(misfit); c = d > c ? d : c;
        d = (REAL)fabs(x[k] - l[k]); c = d > c ? d : c;
        d = (REAL)fabs(sparse - s[k]); c = d > c ? d : c;
        change[k] = c;
        REAL next = y[k] + step * misfit;
        l[k] = x[k];
        s[k] = sparse;
        y[k] = next;
        argument[k] = w[k] - sparse - next * inverse_next;
    }
}

/* out[k] = w - e - y / mu, as double */
MVSC_CLONES static void NAME(mvsc_misfit)(
    const REAL *MVSC_RESTRICT w, const REAL *MVSC_RESTRICT e, const REAL *MVSC_RESTRICT y,
    double inverse_mu, ptrdiff_t n, double *MVSC_RESTRICT out)
{
    for (ptrdiff_t k = 0; k < n; k++)
        out[k] = (double)w[k] - e[k] - y[k] * inverse_mu;
}

/* Entries of one row of SNN's blocks, and of their mirror images xt, lt, yt of x, l1 and y1, given
 * the new L3: everything of an iteration but its shrinkages, see snn_sweep. */
MVSC_CLONES static void NAME(mvsc_snn_update)(
    const REAL *MVSC_RESTRICT w, REAL *MVSC_RESTRICT e, REAL *MVSC_RESTRICT l1,
    REAL *MVSC_RESTRICT y1, REAL *MVSC_RESTRICT x, REAL *MVSC_RESTRICT lt,
    REAL *MVSC_RESTRICT yt, REAL *MVSC_RESTRICT xt, REAL *MVSC_RESTRICT l3,
    REAL *MVSC_RESTRICT y3, const double *MVSC_RESTRICT new3, double mu, double mu_next,
    ptrdiff_t n, double *MVSC_RESTRICT change)
{
    const double inverse = 1.0 / mu, inverse_next = 1.0 / mu_next;
    const double third = 1.0 / 3.0, t = third / mu;
    for (ptrdiff_t k = 0; k < n; k++) {
        double a = w[k] - ((double)x[k] + xt[k] + new3[k]
                           + ((double)y1[k] + yt[k] + y3[k]) * inverse) * third;
        double error = a > t ? a - t : (a < -t ? a + t : 0.0);
        double r1 = x[k] + error - w[k], r2 = xt[k] + error - w[k], r3 = new3[k] + error - w[k];
        double c = change[k], d;
        d = fabs(r1); c = d > c ? d : c;
        d = fabs(r2); c = d > c ? d : c;
        d = fabs(r3); c = d > c ? d : c;
        d = fabs((double)x[k] - l1[k]); c = d > c ? d : c;
        d = fabs((double)xt[k] - lt[k]); c = d > c ? d : c;
        d = fabs(new3[k] - l3[k]); c = d > c ? d : c;
        d = fabs(error - e[k]); c = d > c ? d : c;
        change[k] = c;
        REAL next1 = (REAL)(y1[k] + mu * r1), next2 = (REAL)(yt[k] + mu * r2);
        l1[k] = x[k];
        lt[k] = xt[k];
        l3[k] = (REAL)new3[k];
        e[k] = (REAL)error;
        y1[k] = next1;
        yt[k] = next2;
        y3[k] = (REAL)(y3[k] + mu * r3);
        x[k] = (REAL)(w[k] - error - next1 * inverse_next);
        xt[k] = (REAL)(w[k] - error - next2 * inverse_next);
    }
}
