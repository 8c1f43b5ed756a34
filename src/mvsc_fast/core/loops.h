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

#endif
