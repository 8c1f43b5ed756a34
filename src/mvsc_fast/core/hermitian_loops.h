/* The product of a Hermitian matrix with a vector; see loops.h. */
#ifndef MVSC_HERMITIAN_LOOPS_H
#define MVSC_HERMITIAN_LOOPS_H

#include <string.h>

#include "loops.h"

enum { MVSC_COLUMNS = 4, MVSC_WIDTH = 8 };

/* One entry a below the diagonal: y_row += a x_column, y_column += conj(a) x_row. */
static inline void mvsc_hermitian_entry(
    const double *a, const double *x_row, const double *x_column, double *y_row, double *y_column)
{
    y_row[0] += a[0] * x_column[0] - a[1] * x_column[1];
    y_row[1] += a[0] * x_column[1] + a[1] * x_column[0];
    y_column[0] += a[0] * x_row[0] + a[1] * x_row[1];
    y_column[1] += a[0] * x_row[1] - a[1] * x_row[0];
}

/* y <- A x for a Hermitian n x n matrix, of which the lower triangle (column-major, real and
 * imaginary parts side by side, columns `stride` entries apart) is read once.
 *
 * In vectors of four entries a = (re, im, ...) and their swapped form (im, re, ...): a x is
 * re(x) a + (-im(x), im(x), ...) swapped, and conj(a) x follows from the sums of a x and swapped x.
 */
MVSC_CLONES static void mvsc_hermitian_product(
    const double *MVSC_RESTRICT a, ptrdiff_t stride, const double *MVSC_RESTRICT x, ptrdiff_t n,
    double *MVSC_RESTRICT y)
{
    memset(y, 0, 2 * n * sizeof(double));
    for (ptrdiff_t first = 0; first < n; first += MVSC_COLUMNS) {
        const ptrdiff_t last = first + MVSC_COLUMNS < n ? first + MVSC_COLUMNS : n;
        for (ptrdiff_t j = first; j < last; j++) {
            const double *column = a + 2 * j * stride;
            y[2 * j] += column[2 * j] * x[2 * j];
            y[2 * j + 1] += column[2 * j] * x[2 * j + 1];
            for (ptrdiff_t k = j + 1; k < last; k++)
                mvsc_hermitian_entry(column + 2 * k, x + 2 * k, x + 2 * j, y + 2 * k, y + 2 * j);
        }
        if (last == n)
            break;
        ptrdiff_t k = 2 * last;
#if defined(__GNUC__)
        typedef double vector __attribute__((vector_size(MVSC_WIDTH * sizeof(double))));
        typedef long long mask __attribute__((vector_size(MVSC_WIDTH * sizeof(long long))));
        const mask swap = {1, 0, 3, 2, 5, 4, 7, 6};
        vector real[MVSC_COLUMNS] = {{0}}, imaginary[MVSC_COLUMNS] = {{0}};
        vector plain[MVSC_COLUMNS] = {{0}}, swapped[MVSC_COLUMNS] = {{0}};
        for (int c = 0; c < MVSC_COLUMNS; c++)
            for (int q = 0; q < MVSC_WIDTH; q++) {
                const double part = x[2 * (first + c) + 1];
                real[c][q] = x[2 * (first + c)];
                imaginary[c][q] = q % 2 ? part : -part;
            }
        for (; k + MVSC_WIDTH <= 2 * n; k += MVSC_WIDTH) {
            vector xs, ys;
            memcpy(&xs, x + k, sizeof(xs));
            memcpy(&ys, y + k, sizeof(ys));
            for (int c = 0; c < MVSC_COLUMNS; c++) {
                vector as, turned;
                memcpy(&as, a + 2 * (first + c) * stride + k, sizeof(as));
#if defined(__clang__)
                turned = __builtin_shufflevector(as, as, 1, 0, 3, 2, 5, 4, 7, 6);
#else
                turned = __builtin_shuffle(as, swap);
#endif
                ys += as * real[c] + turned * imaginary[c];
                plain[c] += as * xs;
                swapped[c] += turned * xs;
            }
            memcpy(y + k, &ys, sizeof(ys));
        }
        for (int c = 0; c < MVSC_COLUMNS; c++)
            for (int q = 0; q < MVSC_WIDTH; q++) {
                y[2 * (first + c)] += plain[c][q];
                y[2 * (first + c) + 1] += q % 2 ? swapped[c][q] : -swapped[c][q];
            }
#endif
        for (; k < 2 * n; k += 2)
            for (ptrdiff_t j = first; j < last; j++)
                mvsc_hermitian_entry(a + 2 * j * stride + k, x + k, x + 2 * j, y + k, y + 2 * j);
    }
}

#endif
