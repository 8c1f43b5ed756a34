/* Inner loops over rows of factors and of their inner products; see loops.h. */
#ifndef MVSC_FACTORED_LOOPS_H
#define MVSC_FACTORED_LOOPS_H

#include <stdint.h>

#include "loops.h"

/* <x, y>, in a fixed order of summation that is the same for <y, x>. */
MVSC_CLONES static float mvsc_dot(
    const float *MVSC_RESTRICT x, const float *MVSC_RESTRICT y, ptrdiff_t n)
{
    enum { LANES = 4 * MVSC_LANES };
    float sum[LANES] = {0};
    ptrdiff_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int q = 0; q < LANES; q++)
            sum[q] += x[k + q] * y[k + q];
    for (int q = 0; k + q < n; q++)
        sum[q] += x[k + q] * y[k + q];
    for (int width = LANES / 2; width > 0; width /= 2)
        for (int q = 0; q < width; q++)
            sum[q] += sum[q + width];
    return sum[0];
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

#endif
