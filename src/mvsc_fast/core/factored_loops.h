/* Inner loops over rows of factors and of their inner products; see loops.h. */
#ifndef MVSC_FACTORED_LOOPS_H
#define MVSC_FACTORED_LOOPS_H

#include <stdint.h>

#include "loops.h"

#if defined(__GNUC__)
#define MVSC_PREFETCH(address) __builtin_prefetch(address)
#else
#define MVSC_PREFETCH(address) ((void) 0)
#endif

/* <x, y>, in a fixed order of summation that is the same for <y, x>. */
static inline float mvsc_dot(
    const float *MVSC_RESTRICT x, const float *MVSC_RESTRICT y, ptrdiff_t n)
{
    enum { LANES = MVSC_LANES, STEP = 4 * MVSC_LANES };
    float a[LANES] = {0}, b[LANES] = {0}, c[LANES] = {0}, d[LANES] = {0}, rest = 0;
    ptrdiff_t k = 0;
    for (; k + STEP <= n; k += STEP) {
        for (int q = 0; q < LANES; q++)
            a[q] += x[k + q] * y[k + q];
        for (int q = 0; q < LANES; q++)
            b[q] += x[k + LANES + q] * y[k + LANES + q];
        for (int q = 0; q < LANES; q++)
            c[q] += x[k + 2 * LANES + q] * y[k + 2 * LANES + q];
        for (int q = 0; q < LANES; q++)
            d[q] += x[k + 3 * LANES + q] * y[k + 3 * LANES + q];
    }
    for (; k + LANES <= n; k += LANES)
        for (int q = 0; q < LANES; q++)
            a[q] += x[k + q] * y[k + q];
    for (; k < n; k++)
        rest += x[k] * y[k];
    for (int q = 0; q < LANES; q++)
        a[q] = (a[q] + b[q]) + (c[q] + d[q]);
    for (int q = 0; q < LANES / 2; q++)
        a[q] += a[q + LANES / 2];
    return (a[0] + a[1]) + (a[2] + a[3]) + rest;
}

/* out <- <x, y> for some of the rows y, of n numbers each. */
MVSC_CLONES static void mvsc_dots(
    const float *MVSC_RESTRICT x, const float *MVSC_RESTRICT rows,
    const int32_t *MVSC_RESTRICT places, ptrdiff_t count, ptrdiff_t n, float *MVSC_RESTRICT out)
{
    enum { AHEAD = 2, LINE = 16 };  /* a row at random places is far: fetch it while others wait */
    for (ptrdiff_t e = 0; e < count; e++) {
        if (e + AHEAD < count)
            for (ptrdiff_t k = 0; k < n; k += LINE)
                MVSC_PREFETCH(rows + places[e + AHEAD] * n + k);
        out[e] = mvsc_dot(x, rows + places[e] * n, n);
    }
}

/* places <- the positions k with x[k] >= low[k], ascending; how many. Room for n. */
MVSC_CLONES static ptrdiff_t mvsc_list_from(
    const float *MVSC_RESTRICT x, const float *MVSC_RESTRICT low, ptrdiff_t n,
    int32_t *MVSC_RESTRICT places)
{
    enum { STEP = 8 * MVSC_LANES };  /* long steps, which compilers vectorise */
    ptrdiff_t k = 0, count = 0;
    for (; k + STEP <= n; k += STEP) {
        int found = 0;
        for (int q = 0; q < STEP; q++)
            found += x[k + q] >= low[k + q];
        if (!found)
            continue;
        for (int q = 0; q < STEP; q++) {
            places[count] = (int32_t) (k + q);
            count += x[k + q] >= low[k + q];
        }
    }
    for (; k < n; k++) {
        places[count] = (int32_t) k;
        count += x[k] >= low[k];
    }
    return count;
}

/* A number that at least ``count`` of the numbers x reach, few more if possible; 0 if fewer of them
 * are positive. */
MVSC_CLONES static float mvsc_bound_of_largest(
    const float *MVSC_RESTRICT x, ptrdiff_t n, ptrdiff_t count)
{
    enum { HALVINGS = 12 };
    float low = 0, high = 1;  /* of inner products of unit rows */
    for (int step = 0; step < HALVINGS; step++) {
        float middle = (low + high) / 2;
        int found = 0;
        for (ptrdiff_t k = 0; k < n; k++)
            found += x[k] >= middle;
        if (found >= count)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#endif
