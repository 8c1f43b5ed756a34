/* Included by predict_loops.h once for REAL = double and once for REAL = float. */

/* out <- x, or sqrt(max(x, 0)); whether all of x are finite, and the largest modulus of out. */
MVSC_CLONES static int NAME(mvsc_read_row)(
    const REAL *MVSC_RESTRICT x, ptrdiff_t n, int roots, double *MVSC_RESTRICT out,
    double *MVSC_RESTRICT largest)
{
    double nothing[MVSC_LANES] = {0}, maximum[MVSC_LANES] = {0};
    ptrdiff_t k = 0;
    if (roots) {
        for (; k + MVSC_LANES <= n; k += MVSC_LANES)
            for (int q = 0; q < MVSC_LANES; q++) {
                double value = x[k + q];
                nothing[q] += 0 * value; /* NaN as soon as one is NaN or infinite */
                out[k + q] = sqrt(value > 0 ? value : 0);
                maximum[q] = out[k + q] > maximum[q] ? out[k + q] : maximum[q];
            }
    } else {
        for (; k + MVSC_LANES <= n; k += MVSC_LANES)
            for (int q = 0; q < MVSC_LANES; q++) {
                double value = x[k + q], size = fabs(value);
                nothing[q] += 0 * value;
                out[k + q] = value;
                maximum[q] = size > maximum[q] ? size : maximum[q];
            }
    }
    for (; k < n; k++) {
        double value = x[k];
        nothing[0] += 0 * value;
        out[k] = roots ? sqrt(value > 0 ? value : 0) : value;
        maximum[0] = fabs(out[k]) > maximum[0] ? fabs(out[k]) : maximum[0];
    }
    for (int q = 1; q < MVSC_LANES; q++) {
        nothing[0] += nothing[q];
        maximum[0] = maximum[q] > maximum[0] ? maximum[q] : maximum[0];
    }
    *largest = maximum[0];
    return nothing[0] == 0;
}
