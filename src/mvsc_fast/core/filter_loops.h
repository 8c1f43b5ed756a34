/* Inner loops of filtered blocks; see loops.h. */
#ifndef MVSC_FILTER_LOOPS_H
#define MVSC_FILTER_LOOPS_H

#include <stdint.h>

#include "loops.h"

/* Columns k .. k + 4 * MVSC_LANES of a row of a sparse matrix times Y, and of the recurrence. */
static inline void mvsc_filter_wide(
    const float *MVSC_RESTRICT data, const int32_t *MVSC_RESTRICT indices, ptrdiff_t count,
    const float *MVSC_RESTRICT Y, ptrdiff_t p, const float *MVSC_RESTRICT own,
    float scale, float shift, float keep, float *MVSC_RESTRICT out)
{
    enum { LANES = MVSC_LANES };
    float a[LANES] = {0}, b[LANES] = {0}, c[LANES] = {0}, d[LANES] = {0};
    for (ptrdiff_t e = 0; e < count; e++) {
        const float *row = Y + indices[e] * p, value = data[e];
        for (int q = 0; q < LANES; q++)
            a[q] += value * row[q];
        for (int q = 0; q < LANES; q++)
            b[q] += value * row[LANES + q];
        for (int q = 0; q < LANES; q++)
            c[q] += value * row[2 * LANES + q];
        for (int q = 0; q < LANES; q++)
            d[q] += value * row[3 * LANES + q];
    }
    for (int q = 0; q < LANES; q++) {
        out[q] = scale * (a[q] - shift * own[q]) - keep * out[q];
        out[LANES + q] = scale * (b[q] - shift * own[LANES + q]) - keep * out[LANES + q];
        out[2 * LANES + q] = scale * (c[q] - shift * own[2 * LANES + q]) - keep * out[2 * LANES + q];
        out[3 * LANES + q] = scale * (d[q] - shift * own[3 * LANES + q]) - keep * out[3 * LANES + q];
    }
}

static inline void mvsc_filter_narrow(
    const float *MVSC_RESTRICT data, const int32_t *MVSC_RESTRICT indices, ptrdiff_t count,
    const float *MVSC_RESTRICT Y, ptrdiff_t p, const float *MVSC_RESTRICT own,
    float scale, float shift, float keep, float *MVSC_RESTRICT out)
{
    enum { LANES = MVSC_LANES };
    float a[LANES] = {0};
    for (ptrdiff_t e = 0; e < count; e++) {
        const float *row = Y + indices[e] * p, value = data[e];
        for (int q = 0; q < LANES; q++)
            a[q] += value * row[q];
    }
    for (int q = 0; q < LANES; q++)
        out[q] = scale * (a[q] - shift * own[q]) - keep * out[q];
}

/* out <- scale (a Y - shift own) - keep out, for a row a of a sparse matrix and p columns of Y, a
 * multiple of MVSC_LANES. */
MVSC_CLONES static void mvsc_filter_row(
    const float *MVSC_RESTRICT data, const int32_t *MVSC_RESTRICT indices, ptrdiff_t count,
    const float *MVSC_RESTRICT Y, ptrdiff_t p, const float *MVSC_RESTRICT own,
    float scale, float shift, float keep, float *MVSC_RESTRICT out)
{
    enum { WIDE = 4 * MVSC_LANES };
    ptrdiff_t k = 0;
    for (; k + WIDE <= p; k += WIDE)
        mvsc_filter_wide(data, indices, count, Y + k, p, own + k, scale, shift, keep, out + k);
    for (; k + MVSC_LANES <= p; k += MVSC_LANES)
        mvsc_filter_narrow(data, indices, count, Y + k, p, own + k, scale, shift, keep, out + k);
}

#endif
