/* Inner loops over new rows and their distances to landmarks; see loops.h. */
#ifndef MVSC_PREDICT_LOOPS_H
#define MVSC_PREDICT_LOOPS_H

#include <stdint.h>
#include <string.h>

#include "loops.h"

/* x <- scale * x; returns the sum of its squares. */
MVSC_CLONES static double mvsc_scale_row(double *x, double scale, ptrdiff_t n)
{
    double sums[MVSC_LANES] = {0};
    ptrdiff_t k = 0;
    for (; k + MVSC_LANES <= n; k += MVSC_LANES)
        for (int q = 0; q < MVSC_LANES; q++) {
            x[k + q] *= scale;
            sums[q] += x[k + q] * x[k + q];
        }
    for (; k < n; k++) {
        x[k] *= scale;
        sums[0] += x[k] * x[k];
    }
    for (int q = 1; q < MVSC_LANES; q++)
        sums[0] += sums[q];
    return sums[0];
}

/* x <- x - mean; returns the sum of squares. */
MVSC_CLONES static float mvsc_centre_row(
    float *MVSC_RESTRICT x, const float *MVSC_RESTRICT mean, ptrdiff_t n)
{
    float sums[2 * MVSC_LANES] = {0};
    ptrdiff_t k = 0;
    for (; k + 2 * MVSC_LANES <= n; k += 2 * MVSC_LANES)
        for (int q = 0; q < 2 * MVSC_LANES; q++) {
            x[k + q] -= mean[k + q];
            sums[q] += x[k + q] * x[k + q];
        }
    for (; k < n; k++) {
        x[k] -= mean[k];
        sums[0] += x[k] * x[k];
    }
    for (int q = 1; q < 2 * MVSC_LANES; q++)
        sums[0] += sums[q];
    return sums[0];
}

/* The sum of squares */
MVSC_CLONES static float mvsc_squared_length(const float *x, ptrdiff_t n)
{
    float sums[2 * MVSC_LANES] = {0};
    ptrdiff_t k = 0;
    for (; k + 2 * MVSC_LANES <= n; k += 2 * MVSC_LANES)
        for (int q = 0; q < 2 * MVSC_LANES; q++)
            sums[q] += x[k + q] * x[k + q];
    for (; k < n; k++)
        sums[0] += x[k] * x[k];
    for (int q = 1; q < 2 * MVSC_LANES; q++)
        sums[0] += sums[q];
    return sums[0];
}

/* sum (x - y)^2 */
MVSC_CLONES static float mvsc_squared_distance(
    const float *MVSC_RESTRICT x, const float *MVSC_RESTRICT y, ptrdiff_t n)
{
    float sums[2 * MVSC_LANES] = {0};
    ptrdiff_t k = 0;
    for (; k + 2 * MVSC_LANES <= n; k += 2 * MVSC_LANES)
        for (int q = 0; q < 2 * MVSC_LANES; q++) {
            float apart = x[k + q] - y[k + q];
            sums[q] += apart * apart;
        }
    for (; k < n; k++)
        sums[0] += (x[k] - y[k]) * (x[k] - y[k]);
    for (int q = 1; q < 2 * MVSC_LANES; q++)
        sums[0] += sums[q];
    return sums[0];
}

/* products <- squares + square - 2 products; how many are below near (squares + square). */
MVSC_CLONES static int mvsc_distances(
    float *MVSC_RESTRICT products, const float *MVSC_RESTRICT squares, float square, float near,
    ptrdiff_t n)
{
    int count = 0;
    for (ptrdiff_t r = 0; r < n; r++) {
        float lengths = squares[r] + square, d = lengths - 2.0f * products[r];
        products[r] = d;
        count += d < near * lengths;
    }
    return count;
}

/* smallest (count x n) <- the smallest of itself and of x, ascending in every column. */
MVSC_CLONES static void mvsc_keep_smallest(
    const float *MVSC_RESTRICT x, ptrdiff_t count, ptrdiff_t n, float *MVSC_RESTRICT smallest)
{
    enum { STEP = 4 * MVSC_LANES };
    for (ptrdiff_t first = 0; first < n; first += STEP) {
        float rest[STEP];
        for (int q = 0; q < STEP; q++)
            rest[q] = x[first + q];
        for (ptrdiff_t k = 0; k < count; k++) {
            float *row = smallest + k * n + first;
            for (int q = 0; q < STEP; q++) {
                float low = row[q] < rest[q] ? row[q] : rest[q];
                rest[q] = row[q] < rest[q] ? rest[q] : row[q];
                row[q] = low;
            }
        }
    }
}

/* e^x for -87 <= x <= 0, to 2e-7 of it: 2^k e^r with |r| <= log(2) / 2. */
static inline float mvsc_exp(float x)
{
    const float shift = 12582912.0f;   /* 1.5 * 2^23: adding it rounds to an integer */
    float k = x * 1.44269504f + shift, r, power;
    int32_t bits, zero;
    memcpy(&bits, &k, sizeof bits);
    memcpy(&zero, &shift, sizeof zero);
    k = (float) (bits - zero);   /* k - shift is not rounded where registers are wider than float */
    r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
    bits = (bits - zero + 127) * (1 << 23);
    memcpy(&power, &bits, sizeof power);
    return power * (1.0f + r * (1.0f + r * (1 / 2.0f + r * (1 / 6.0f + r * (1 / 24.0f
           + r * (1 / 120.0f + r * (1 / 720.0f)))))));
}

/* kernel += exp(-scale scales squares) */
MVSC_CLONES static void mvsc_add_kernel(
    const float *MVSC_RESTRICT squares, float scale, const float *MVSC_RESTRICT scales,
    ptrdiff_t n, float *MVSC_RESTRICT kernel)
{
    for (ptrdiff_t r = 0; r < n; r++) {
        float x = -squares[r] * (scale * scales[r]);
        kernel[r] += mvsc_exp(x > -87.0f ? x : -87.0f);
    }
}

#endif
