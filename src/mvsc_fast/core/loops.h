/* Inner loops over the entries of one row, for float and double.
 *
 * In C for two things that Cython cannot say: that the arrays do not overlap, and that the compiler
 * is to make a version for each instruction set, chosen when the module is loaded.
 */
#ifndef MVSC_LOOPS_H
#define MVSC_LOOPS_H

#include <math.h>
#include <stddef.h>

#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 9 && defined(__x86_64__) && \
    defined(__gnu_linux__) && !defined(MVSC_NO_CLONES)
#define MVSC_CLONES __attribute__((target_clones("avx512f", "avx2,fma", "default")))
#else
#define MVSC_CLONES
#endif

#if defined(_MSC_VER)
#define MVSC_RESTRICT __restrict
#else
#define MVSC_RESTRICT restrict
#endif

typedef struct {
    double mu;
    double mu_next;
    double lam;
    double slice_threshold;
    double tube_threshold;
} mvsc_ialm_step;

#define MVSC_LANES 8

#define REAL double
#define NAME(x) x##_d
#include "loops_template.h"
#undef REAL
#undef NAME
#define REAL float
#define NAME(x) x##_f
#include "loops_template.h"
#undef REAL
#undef NAME

/* One name for both versions of a loop, by the type that a pointer has. */
#define MVSC_OF(x, loop) _Generic((x), float *: loop##_f, const float *: loop##_f, default: loop##_d)
#define mvsc_argument(w, ...) MVSC_OF(w, mvsc_argument)(w, __VA_ARGS__)
#define mvsc_tube_argument(w, ...) MVSC_OF(w, mvsc_tube_argument)(w, __VA_ARGS__)
#define mvsc_finite_maximum(x, ...) MVSC_OF(x, mvsc_finite_maximum)(x, __VA_ARGS__)
#define mvsc_add_squares(x, ...) MVSC_OF(x, mvsc_add_squares)(x, __VA_ARGS__)
#define mvsc_shrink_factors(x, ...) MVSC_OF(x, mvsc_shrink_factors)(x, __VA_ARGS__)
#define mvsc_scale(x, ...) MVSC_OF(x, mvsc_scale)(x, __VA_ARGS__)
#define mvsc_combine(weights, rows, v, stride, n, out) \
    MVSC_OF(out, mvsc_combine)(weights, rows, v, stride, n, out)
#define mvsc_ialm_update(w, ...) MVSC_OF(w, mvsc_ialm_update)(w, __VA_ARGS__)
#define mvsc_extrapolate(p, ...) MVSC_OF(p, mvsc_extrapolate)(p, __VA_ARGS__)
#define mvsc_trpca_update(w, ...) MVSC_OF(w, mvsc_trpca_update)(w, __VA_ARGS__)
#define mvsc_misfit(w, ...) MVSC_OF(w, mvsc_misfit)(w, __VA_ARGS__)
#define mvsc_snn_update(w, ...) MVSC_OF(w, mvsc_snn_update)(w, __VA_ARGS__)

/* Upper triangle of gram += weight * rows rows^T for v rows of n entries, `stride` apart. */
MVSC_CLONES static void mvsc_add_gram(
    const double *MVSC_RESTRICT rows, ptrdiff_t v, ptrdiff_t stride, ptrdiff_t n, double weight,
    double *MVSC_RESTRICT gram)
{
    for (ptrdiff_t p = 0; p < v; p++)
        for (ptrdiff_t q = p; q < v; q++) {
            const double *a = rows + p * stride, *b = rows + q * stride;
            double sums[MVSC_LANES] = {0}, total = 0;
            ptrdiff_t k = 0;
            for (; k + MVSC_LANES <= n; k += MVSC_LANES)
                for (int lane = 0; lane < MVSC_LANES; lane++)
                    sums[lane] += a[k + lane] * b[k + lane];
            for (; k < n; k++)
                total += a[k] * b[k];
            for (int lane = 0; lane < MVSC_LANES; lane++)
                total += sums[lane];
            gram[p * v + q] += weight * total;
        }
}

#endif
