/* Inner loops over the similarities of one new row to fitted ones; see loops.h. */
#ifndef MVSC_VOTES_LOOPS_H
#define MVSC_VOTES_LOOPS_H

#include "loops.h"

/* x <- max(0, x (h + others)); how many were not finite. */
MVSC_CLONES static int mvsc_entries(
    float *MVSC_RESTRICT x, float h, const float *MVSC_RESTRICT others, ptrdiff_t n)
{
    int wrong = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        float a = x[k] * (h + others[k]);
        wrong += !(a - a == 0.0f);
        x[k] = a > 0.0f ? a : 0.0f;
    }
    return wrong;
}

/* squares <- squares + min(cap, x (root roots))^2 */
MVSC_CLONES static void mvsc_add_tubes(
    const float *MVSC_RESTRICT x, float root, const float *MVSC_RESTRICT roots, float cap,
    ptrdiff_t n, float *MVSC_RESTRICT squares)
{
    for (ptrdiff_t k = 0; k < n; k++) {
        float w = x[k] * (root * roots[k]);
        w = w < cap ? w : cap;
        squares[k] += w * w;
    }
}

enum { MVSC_GROUPS = 128 };

/* largest[q] <- the largest of itself and of x[q], x[q + MVSC_GROUPS], ... */
MVSC_CLONES static void mvsc_group_maxima(
    const float *MVSC_RESTRICT x, ptrdiff_t n, float *MVSC_RESTRICT largest)
{
    ptrdiff_t k = 0;
    for (; k + MVSC_GROUPS <= n; k += MVSC_GROUPS)
        for (int q = 0; q < MVSC_GROUPS; q++)
            largest[q] = x[k + q] > largest[q] ? x[k + q] : largest[q];
    for (int q = 0; k + q < n; q++)
        largest[q] = x[k + q] > largest[q] ? x[k + q] : largest[q];
}

enum { MVSC_STEP = 8 * MVSC_LANES };  /* long steps, which compilers vectorise */

/* places <- the positions with x >= low in the first step from k on where there are any; returns
 * where the next step begins, n after the last. Room for MVSC_STEP. */
MVSC_CLONES static ptrdiff_t mvsc_list_step(
    const float *x, float low, ptrdiff_t k, ptrdiff_t n, ptrdiff_t *MVSC_RESTRICT places,
    ptrdiff_t *MVSC_RESTRICT count)
{
    ptrdiff_t listed = 0;
    for (; k + MVSC_STEP <= n && !listed; k += MVSC_STEP) {
        int found = 0;
        for (int q = 0; q < MVSC_STEP; q++)
            found += x[k + q] >= low;
        if (found)
            for (int q = 0; q < MVSC_STEP; q++) {
                places[listed] = k + q;
                listed += x[k + q] >= low;
            }
    }
    if (!listed)
        for (; k < n; k++) {
            places[listed] = k;
            listed += x[k] >= low;
        }
    *count = listed;
    return k;
}

#endif
