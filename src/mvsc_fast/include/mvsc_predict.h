/* Labels of new samples in plain C: C99 or C++, libm, nothing else.
 *
 * A model file is written in Python by `model.to_native("model.mvsc")`, for a fitted ConsensusTLRR, or
 * by `mvsc-fast cluster --save model.mvsc`.
 *
 *     mvsc_model model;
 *     int status = mvsc_model_read(&model, "model.mvsc");
 *     size_t size = mvsc_model_workspace(&model, m);
 *     void *workspace = malloc(size);
 *     status = mvsc_model_predict(&model, m, rows, MVSC_ROWS_FLOAT64, workspace, size, scores, labels);
 *     if (status == MVSC_MODEL_OK)
 *         status = mvsc_model_margins(&model, m, scores, margins, unlike);
 *     puts(mvsc_model_strerror(status));
 *     mvsc_model_free(&model);
 *
 * A prediction allocates nothing and keeps no state: threads may share a model, each with its own
 * workspace and outputs. Python calls the same functions.
 *
 * Every sum has a fixed order, and products are fused with additions explicitly. So a row has the same
 * scores, to the last bit, alone and in any batch, in C and in Python, and on all processors with fused
 * multiply-add: x86-64 with AVX2 and FMA, which are used if the processor has them, whatever the
 * compiler's flags, and 64-bit ARM. Other processors differ by rounding errors.
 *
 * Functions are `static inline`; define MVSC_PREDICT_API as nothing, or as an export attribute, before
 * the header is included in one file, to build a library of them.
 */
#ifndef MVSC_PREDICT_H
#define MVSC_PREDICT_H

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Flags that no macro tells, such as clang's -fno-honor-nans, are found by mvsc_model_load. */
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    defined(_M_FP_FAST) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0)
#error "mvsc_predict.h needs NaN and a fixed order of sums: compile without -ffast-math and its parts"
#endif
#ifndef MVSC_PREDICT_API
#define MVSC_PREDICT_API static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MVSC_MODEL_OK = 0,
    MVSC_MODEL_BAD_ARGUMENT = 1,    /* null pointer, negative number, unknown dtype, overlap */
    MVSC_MODEL_NO_FILE = 2,         /* it cannot be opened or read */
    MVSC_MODEL_NO_MEMORY = 3,
    MVSC_MODEL_NOT_A_MODEL = 4,     /* other contents, or another order of bytes */
    MVSC_MODEL_VERSION = 5,         /* of another version */
    MVSC_MODEL_DAMAGED = 6,         /* wrong size or checksum, or entries that cannot be */
    MVSC_MODEL_SMALL_WORKSPACE = 7,
    MVSC_MODEL_NOT_FINITE = 8,      /* some rows have no label; all others are valid */
    MVSC_MODEL_BAD_ARITHMETIC = 9   /* the header was compiled with flags like -ffast-math */
};

enum { MVSC_ROWS_FLOAT32 = 1, MVSC_ROWS_FLOAT64 = 2 };

/* A model: its numbers, and the bytes of its file. */
typedef struct {
    ptrdiff_t n_inputs;             /* views of the fit */
    ptrdiff_t n_views;              /* those of them that are used */
    ptrdiff_t n_clusters, n_landmarks, scale_neighbors;
    const unsigned char *bytes;
    void *owned;                    /* memory that mvsc_model_free frees, or NULL */
} mvsc_model;

/* ------------------------------------------------------------------ the file
 *
 * Sixteen numbers of 64 bits, a record of 24 numbers for each used view, and arrays, each from a
 * multiple of 64 bytes on. An offset counts bytes from the start of the file; 0 is an absent array.
 * All numbers have the order of bytes of the machine that wrote the file, which is little-endian with
 * few exceptions; a machine with another order refuses it.
 *
 * Matrices that are multiplied are stored in panels of MVSC_PANEL columns, the last filled with zeros:
 * entry (k, j) of a matrix of K rows is at ((j / MVSC_PANEL) * K + k) * MVSC_PANEL + j % MVSC_PANEL.
 */

enum {
    MVSC_PANEL = 16, MVSC_HEAD = 16, MVSC_RECORD = 24,
    MVSC_FILE_VERSION = 3,          /* version 2, without lifts and with one limit, is read too */
    MVSC_OLDEST_VERSION = 2
};
#define MVSC_MAGIC "MVSC\r\n\x1a\n"
#define MVSC_ORDER INT64_C(0x0102030405060708)

/* Positions in the head. */
enum {
    MVSC_AT_MAGIC,                  /* MVSC_MAGIC */
    MVSC_AT_ORDER,                  /* MVSC_ORDER */
    MVSC_AT_VERSION,
    MVSC_AT_SIZE,                   /* of the file, in bytes */
    MVSC_AT_CHECKSUM,
    MVSC_AT_INPUTS,                 /* n_inputs */
    MVSC_AT_VIEWS,                  /* n_views */
    MVSC_AT_CLUSTERS,
    MVSC_AT_LANDMARKS,
    MVSC_AT_NEIGHBORS,
    MVSC_AT_KERNEL_COEFFICIENTS,    /* n_landmarks x n_clusters, float32, in panels */
    MVSC_AT_WIDTHS,                 /* n_inputs x 2, int64: numbers of columns and of their names */
    MVSC_AT_NAMES,                  /* of each view and its columns, UTF-8, each followed by NUL */
    MVSC_AT_NAMES_SIZE,
    MVSC_AT_NOTE,                   /* text of the program that wrote the file */
    MVSC_AT_NOTE_SIZE
};

typedef enum {
    MVSC_ROWS_TO_UNIT = 1,          /* x / |x| */
    MVSC_ROOTS_TO_UNIT = 2,         /* unit row of sqrt(max(x, 0)) */
    MVSC_ROWS_MAPPED = 3            /* the rows are z */
} mvsc_row_form;

/* A used view: the record, with pointers in the place of offsets. Scores are those of ridge
 * regression on features of the rows x of a sample. A row, scaled by columns if there are centres, or
 * the row of square roots of its positive entries, is scaled to unit length; z is this row, or its
 * leading components z_j = sum_k x_k steps_k codes_kj. A row of a lifted view is replaced before by
 * (u, sqrt(1 - |u|^2)) with u = (x - centre) / max(radius, |x - centre|), which has a column more. With a = z - mean, the distances
 * d_l = |a - landmark_l|, and t the scale_neighbors-th smallest of them, at least least_scale,
 *
 *     scores = sum_views a / |a| coefficients + K kernel_coefficients,
 *     K_l = sum_views exp(-d_l^2 / (t scale_l))
 *
 * Distances that are small relative to the length of a are computed as sums of squared differences.
 * NaN is a missing cell, which is filled with the multiple of mean_row that is a least-squares fit to
 * the other cells. A row that lacks more than half of its cells means that the sample lacks the view;
 * its z is predicted from the other views. With a of all views concatenated, 0 for missing views, and
 * scaled to unit length, z = unit(mean + (sum_views a landmarks^T) fill); components are not scaled.
 */
typedef struct {
    ptrdiff_t input;                /* number of the view in the fit */
    ptrdiff_t n_features;           /* columns of x */
    ptrdiff_t width;                /* n_features, or 1 more if the view is lifted */
    ptrdiff_t d;                    /* columns of z */
    ptrdiff_t form;                 /* mvsc_row_form */
    double least_scale;
    const float *mean;              /* d */
    const float *landmarks;         /* d x n_landmarks, in panels: the transpose */
    const float *squares;           /* n_landmarks: squared lengths of the landmarks */
    const float *scales;            /* n_landmarks */
    const float *coefficients;      /* d x n_clusters, in panels; NULL: none */
    const float *fill;              /* n_landmarks x d, in panels; NULL: no sample lacks some views */
    const float *mean_row;          /* n_features; NULL: no cell may be missing */
    const signed char *codes;       /* width x d, with steps; NULL: z has d = width */
    const float *steps;             /* width */
    const double *centres;          /* n_features: columns are replaced by (x - centre) / deviation; */
    const double *deviations;       /*   NULL: they are not */
    const double *lift;             /* n_features + 1: the centre and the radius; NULL: not lifted */
    const float *limits;            /* of the first view: 2 n_clusters, see mvsc_model_margins; NULL:
                                       unknown. In version 2 they are n_clusters + 1 */
} mvsc_view;

/* ------------------------------------------------------------------ loading */

/* Message for a status. */
MVSC_PREDICT_API const char *mvsc_model_strerror(int status)
{
    switch (status) {
    case MVSC_MODEL_OK: return "success";
    case MVSC_MODEL_BAD_ARGUMENT:
        return "a null pointer, a negative number, an unknown dtype, or memory that overlaps";
    case MVSC_MODEL_NO_FILE: return "the file cannot be read";
    case MVSC_MODEL_NO_MEMORY: return "out of memory";
    case MVSC_MODEL_NOT_A_MODEL:
        return "this is not a model of mvsc_fast, or one of a machine with another order of bytes";
    case MVSC_MODEL_VERSION: return "the model is of another version of mvsc_predict.h";
    case MVSC_MODEL_DAMAGED: return "the model is damaged or incomplete";
    case MVSC_MODEL_SMALL_WORKSPACE: return "the workspace is too small";
    case MVSC_MODEL_NOT_FINITE: return "there are rows with NaN or infinite entries or scores";
    case MVSC_MODEL_BAD_ARITHMETIC:
        return "mvsc_predict.h was compiled with flags that change arithmetic, such as -ffast-math";
    default: return "unknown status";
    }
}

static inline int64_t mvsc_number(const unsigned char *bytes, ptrdiff_t place)
{
    int64_t number;
    memcpy(&number, bytes + 8 * place, sizeof number);
    return number;
}

/* A sum over all words of 8 bytes but that of the checksum; a change of one word changes it. */
MVSC_PREDICT_API uint64_t mvsc_model_checksum(const void *bytes, size_t size)
{
    uint64_t sum = UINT64_C(0x6d7673635f666173), word;
    size_t k;
    for (k = 0; k + 8 <= size; k += 8) {
        memcpy(&word, (const unsigned char *)bytes + k, 8);
        sum = (sum ^ (k == 8 * MVSC_AT_CHECKSUM ? 0 : word)) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return sum;
}

/* Whether count items from an offset on are in the file; absent arrays are if they are optional. */
static inline int mvsc_is_inside(const unsigned char *bytes, int64_t offset, uint64_t count,
                                 uint64_t itemsize, int optional)
{
    int64_t size = mvsc_number(bytes, MVSC_AT_SIZE);
    if (offset == 0)
        return optional;
    return offset > 0 && offset % 64 == 0 && offset <= size &&
           count <= (uint64_t)(size - offset) / itemsize;
}

static inline const void *mvsc_array(const mvsc_model *model, int64_t offset)
{
    return offset == 0 ? NULL : model->bytes + offset;
}

/* View i of those that are used. */
static inline mvsc_view mvsc_view_at(const mvsc_model *model, ptrdiff_t i)
{
    mvsc_view view;
    int64_t record[MVSC_RECORD];
    memcpy(record, model->bytes + 8 * (MVSC_HEAD + i * MVSC_RECORD), sizeof record);
    view.input = (ptrdiff_t)record[0];
    view.n_features = (ptrdiff_t)record[1];
    view.d = (ptrdiff_t)record[2];
    view.form = (ptrdiff_t)record[3];
    memcpy(&view.least_scale, &record[5], sizeof(double));
    view.mean = (const float *)mvsc_array(model, record[6]);
    view.landmarks = (const float *)mvsc_array(model, record[7]);
    view.squares = (const float *)mvsc_array(model, record[8]);
    view.scales = (const float *)mvsc_array(model, record[9]);
    view.coefficients = (const float *)mvsc_array(model, record[10]);
    view.fill = (const float *)mvsc_array(model, record[11]);
    view.mean_row = (const float *)mvsc_array(model, record[12]);
    view.codes = (const signed char *)mvsc_array(model, record[13]);
    view.steps = (const float *)mvsc_array(model, record[14]);
    view.centres = (const double *)mvsc_array(model, record[15]);
    view.deviations = (const double *)mvsc_array(model, record[16]);
    view.limits = (const float *)mvsc_array(model, record[17]);
    view.lift = (const double *)mvsc_array(model, record[18]);
    view.width = view.n_features + (view.lift != NULL);
    return view;
}

static inline int mvsc_is_count(int64_t number)
{
    return number >= 1 && number <= INT32_MAX;
}

static inline ptrdiff_t mvsc_least(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

/* n, and what fills the last panel of n columns. */
static inline uint64_t mvsc_padded(int64_t n)
{
    return (uint64_t)(n + MVSC_PANEL - 1) / MVSC_PANEL * MVSC_PANEL;
}

/* Number of limits for all clusters: one for each, or a common one. */
static inline ptrdiff_t mvsc_limits(const mvsc_model *model)
{
    return mvsc_number(model->bytes, MVSC_AT_VERSION) == MVSC_OLDEST_VERSION ? 1
                                                                             : model->n_clusters;
}

/* Whether the record of view i, after the previous view, is consistent, and its arrays are inside. */
static inline int mvsc_check_view(const mvsc_model *model, ptrdiff_t i, int64_t previous)
{
    const unsigned char *bytes = model->bytes;
    int64_t r[MVSC_RECORD], n = model->n_landmarks, width, d, c = model->n_clusters;
    uint64_t d_bytes, columns, rows;
    mvsc_view view;
    ptrdiff_t k;
    memcpy(r, bytes + 8 * (MVSC_HEAD + i * MVSC_RECORD), sizeof r);
    width = r[1] + (r[18] != 0);
    d = r[2];
    if (r[0] <= previous || r[0] >= model->n_inputs || !mvsc_is_count(r[1]) || !mvsc_is_count(d) ||
        r[3] < MVSC_ROWS_TO_UNIT || r[3] > MVSC_ROWS_MAPPED || r[4] != 0)
        return 0;
    if (r[13] == 0 ? d != width || r[14] != 0 : r[3] == MVSC_ROWS_MAPPED || r[14] == 0)
        return 0;
    if ((r[15] == 0) != (r[16] == 0) || (r[18] != 0 && r[3] != MVSC_ROWS_TO_UNIT))
        return 0;
    d_bytes = (uint64_t)d;
    columns = (uint64_t)r[1];
    rows = (uint64_t)width;
    if (!mvsc_is_inside(bytes, r[6], d_bytes, 4, 0) ||
        !mvsc_is_inside(bytes, r[7], d_bytes * mvsc_padded(n), 4, 0) ||
        !mvsc_is_inside(bytes, r[8], (uint64_t)n, 4, 0) ||
        !mvsc_is_inside(bytes, r[9], (uint64_t)n, 4, 0) ||
        !mvsc_is_inside(bytes, r[10], d_bytes * mvsc_padded(c), 4, 1) ||
        !mvsc_is_inside(bytes, r[11], (uint64_t)n * mvsc_padded(d), 4, 1) ||
        !mvsc_is_inside(bytes, r[12], columns, 4, 1) ||
        !mvsc_is_inside(bytes, r[13], d_bytes * rows, 1, 1) ||
        !mvsc_is_inside(bytes, r[14], rows, 4, 1) ||
        !mvsc_is_inside(bytes, r[15], columns, 8, 1) ||
        !mvsc_is_inside(bytes, r[16], columns, 8, 1) ||
        !mvsc_is_inside(bytes, r[17], (uint64_t)(c + mvsc_limits(model)), 4, 1) ||
        !mvsc_is_inside(bytes, r[18], columns + 1, 8, 1))
        return 0;
    view = mvsc_view_at(model, i);
    if (view.lift != NULL && !(view.lift[r[1]] > 1e-307 && view.lift[r[1]] <= DBL_MAX))
        return 0;
    if (!(view.least_scale > 1e-30 && view.least_scale < 1e30))
        return 0;
    for (k = 0; k < model->n_landmarks; k++)
        if (!(view.scales[k] > 1e-30f && view.scales[k] < 1e30f))
            return 0;
    return 1;
}

/* Whether there are as many names as the widths say, each with its end. */
static inline int mvsc_check_names(const mvsc_model *model)
{
    const unsigned char *bytes = model->bytes, *names;
    int64_t size = mvsc_number(bytes, MVSC_AT_NAMES_SIZE), expected = 0, k;
    int64_t offset = mvsc_number(bytes, MVSC_AT_NAMES), widths = mvsc_number(bytes, MVSC_AT_WIDTHS);
    if (!mvsc_is_inside(bytes, widths, 2 * (uint64_t)model->n_inputs, 8, 0) || size < 0 ||
        !mvsc_is_inside(bytes, offset, (uint64_t)size, 1, 0))
        return 0;
    for (k = 0; k < model->n_inputs; k++) {
        int64_t width = mvsc_number(bytes + widths, 2 * k);
        int64_t count = mvsc_number(bytes + widths, 2 * k + 1);
        if (width < 0 || width > INT32_MAX || (count != 0 && count != width))
            return 0;
        expected += 1 + count;
    }
    names = bytes + offset;
    for (k = 0; k < size; k++)
        expected -= names[k] == 0;
    return expected == 0 && names[size - 1] == 0;
}

static int mvsc_keeps_arithmetic(void);

/* Use `size` bytes of a model file in memory, such as mapped ones, which must remain there, begin at a
 * multiple of 8 and not change. All sizes, offsets and indices are checked, and by a built-in model,
 * which labels six rows in microseconds, whether the compiler kept NaN and the order of sums. Returns
 * a status. */
MVSC_PREDICT_API int mvsc_model_load(mvsc_model *model, const void *memory, size_t size)
{
    const unsigned char *bytes = (const unsigned char *)memory;
    int64_t previous = -1, number[MVSC_HEAD];
    ptrdiff_t i;
    if (model == NULL)
        return MVSC_MODEL_BAD_ARGUMENT;
    memset(model, 0, sizeof *model);
    if (bytes == NULL || (uintptr_t)bytes % 8 != 0)
        return MVSC_MODEL_BAD_ARGUMENT;
    if (size < sizeof number || memcmp(bytes, MVSC_MAGIC, 8) != 0)
        return MVSC_MODEL_NOT_A_MODEL;
    memcpy(number, bytes, sizeof number);
    if (number[MVSC_AT_ORDER] != MVSC_ORDER)
        return MVSC_MODEL_NOT_A_MODEL;
    if (number[MVSC_AT_VERSION] < MVSC_OLDEST_VERSION ||
        number[MVSC_AT_VERSION] > MVSC_FILE_VERSION)
        return MVSC_MODEL_VERSION;
    if (number[MVSC_AT_SIZE] < 0 || (uint64_t)number[MVSC_AT_SIZE] != size || size % 8 != 0 ||
        (uint64_t)number[MVSC_AT_CHECKSUM] != mvsc_model_checksum(bytes, size))
        return MVSC_MODEL_DAMAGED;
    if (!mvsc_is_count(number[MVSC_AT_INPUTS]) || !mvsc_is_count(number[MVSC_AT_VIEWS]) ||
        !mvsc_is_count(number[MVSC_AT_CLUSTERS]) || !mvsc_is_count(number[MVSC_AT_LANDMARKS]) ||
        !mvsc_is_count(number[MVSC_AT_NEIGHBORS]) ||
        (uint64_t)number[MVSC_AT_VIEWS] > (size - sizeof number) / (8 * MVSC_RECORD))
        return MVSC_MODEL_DAMAGED;
    model->bytes = bytes;
    model->n_inputs = (ptrdiff_t)number[MVSC_AT_INPUTS];
    model->n_views = (ptrdiff_t)number[MVSC_AT_VIEWS];
    model->n_clusters = (ptrdiff_t)number[MVSC_AT_CLUSTERS];
    model->n_landmarks = (ptrdiff_t)number[MVSC_AT_LANDMARKS];
    model->scale_neighbors = (ptrdiff_t)number[MVSC_AT_NEIGHBORS];
    if (!mvsc_is_inside(bytes, number[MVSC_AT_KERNEL_COEFFICIENTS],
                        (uint64_t)model->n_landmarks * mvsc_padded(model->n_clusters), 4, 0) ||
        number[MVSC_AT_NOTE_SIZE] < 0 ||
        !mvsc_is_inside(bytes, number[MVSC_AT_NOTE], (uint64_t)number[MVSC_AT_NOTE_SIZE], 1, 1) ||
        !mvsc_check_names(model))
        return memset(model, 0, sizeof *model), MVSC_MODEL_DAMAGED;
    for (i = 0; i < model->n_views; i++) {
        mvsc_view view;
        if (!mvsc_check_view(model, i, previous))
            return memset(model, 0, sizeof *model), MVSC_MODEL_DAMAGED;
        view = mvsc_view_at(model, i);
        previous = view.input;
        if (mvsc_number(bytes + number[MVSC_AT_WIDTHS], 2 * previous) != view.n_features ||
            (view.fill == NULL) != (mvsc_view_at(model, 0).fill == NULL))
            return memset(model, 0, sizeof *model), MVSC_MODEL_DAMAGED;
    }
    if (!mvsc_keeps_arithmetic())
        return memset(model, 0, sizeof *model), MVSC_MODEL_BAD_ARITHMETIC;
    return MVSC_MODEL_OK;
}

/* Free what mvsc_model_read allocated. */
MVSC_PREDICT_API void mvsc_model_free(mvsc_model *model)
{
    if (model != NULL) {
        free(model->owned);
        memset(model, 0, sizeof *model);
    }
}

/* Read a model file into memory that mvsc_model_free frees. Returns a status. The head is read first:
 * that fails for folders, whose size may be anything, and no memory is taken for other contents. */
MVSC_PREDICT_API int mvsc_model_read(mvsc_model *model, const char *path)
{
    FILE *file;
    unsigned char head[8 * MVSC_HEAD];
    void *memory = NULL;
    size_t length;
    long size = -1;
    int status = MVSC_MODEL_NO_FILE;
    if (model == NULL || path == NULL)
        return MVSC_MODEL_BAD_ARGUMENT;
    memset(model, 0, sizeof *model);
    file = fopen(path, "rb");
    if (file == NULL)
        return status;
    length = fread(head, 1, sizeof head, file);
    if (!ferror(file) && (length < sizeof head || memcmp(head, MVSC_MAGIC, 8) != 0))
        status = MVSC_MODEL_NOT_A_MODEL;
    else if (!ferror(file) && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        memory = malloc((size_t)size + 1);
        if (memory == NULL)
            status = MVSC_MODEL_NO_MEMORY;
        else if (fread(memory, 1, (size_t)size, file) == (size_t)size)
            status = mvsc_model_load(model, memory, (size_t)size);
    }
    fclose(file);
    if (status == MVSC_MODEL_OK)
        model->owned = memory;
    else
        free(memory);
    return status;
}

/* Number of columns of view i of the fit; 0 if i is no view. */
MVSC_PREDICT_API ptrdiff_t mvsc_model_columns(const mvsc_model *model, ptrdiff_t i)
{
    if (i < 0 || i >= model->n_inputs)
        return 0;
    return (ptrdiff_t)mvsc_number(model->bytes + mvsc_number(model->bytes, MVSC_AT_WIDTHS), 2 * i);
}

/* Name of view i of the fit, or of its column j if j >= 0; NULL if there is none. */
MVSC_PREDICT_API const char *mvsc_model_name(const mvsc_model *model, ptrdiff_t i, ptrdiff_t j)
{
    const char *name = (const char *)model->bytes + mvsc_number(model->bytes, MVSC_AT_NAMES);
    const unsigned char *widths = model->bytes + mvsc_number(model->bytes, MVSC_AT_WIDTHS);
    int64_t before = j < 0 ? 0 : 1 + j, k;
    if (i < 0 || i >= model->n_inputs || (j >= 0 && j >= mvsc_number(widths, 2 * i + 1)))
        return NULL;
    for (k = 0; k < i; k++)
        before += 1 + mvsc_number(widths, 2 * k + 1);
    for (; before > 0; before--)
        name += strlen(name) + 1;
    return name;
}

/* Whether view i of the fit is used; the rows of the others may be NULL. */
MVSC_PREDICT_API int mvsc_model_uses(const mvsc_model *model, ptrdiff_t i)
{
    ptrdiff_t k;
    for (k = 0; k < model->n_views; k++)
        if (mvsc_number(model->bytes, MVSC_HEAD + k * MVSC_RECORD) == i)
            return 1;
    return 0;
}

/* ------------------------------------------------------------------ loops
 *
 * Functions with a parameter `fused`, a constant once they are inlined, are compiled for several
 * instruction sets, of which `mvsc_target` chooses.
 */

#if defined(__GNUC__)
#define MVSC_INLINE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define MVSC_INLINE static __forceinline
#else
#define MVSC_INLINE static inline
#endif

#if defined(__cplusplus) || defined(_MSC_VER)
#define MVSC_APART __restrict
#else
#define MVSC_APART restrict
#endif

/* GCC keeps sums in registers only if loops over rows are unrolled, and those over lanes are not. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 8
#define MVSC_UNROLL _Pragma("GCC unroll 8")
#define MVSC_LANES _Pragma("GCC unroll 1")
#else
#define MVSC_UNROLL
#define MVSC_LANES
#endif

/* Whether the compiler's flags allow fused multiply-add. */
#if defined(FP_FAST_FMA) && defined(FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__)
#define MVSC_FUSED 1
#else
#define MVSC_FUSED 0
#endif

/* MVSC_COMPILED(f, parameters, arguments) defines versions of f; MVSC_CALL(f, arguments) calls the one
 * for `target`. */
#if defined(__GNUC__) && defined(__x86_64__) && !defined(MVSC_NO_CLONES)
#define MVSC_VERSION(f, suffix, parameters, arguments, is_fused, number) \
    static inline int f##suffix parameters { enum { fused = is_fused, target = number }; return f arguments; }
#define MVSC_COMPILED(f, parameters, arguments) \
    MVSC_VERSION(f, _0, parameters, arguments, MVSC_FUSED, 0) \
    __attribute__((target("avx2,fma"))) MVSC_VERSION(f, _1, parameters, arguments, 1, 1) \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma"))) \
        MVSC_VERSION(f, _2, parameters, arguments, 1, 2)
#define MVSC_CALL(f, arguments) \
    (target == 2 ? f##_2 arguments : target == 1 ? f##_1 arguments : f##_0 arguments)
static inline int mvsc_target(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("fma"))
        return 2;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define MVSC_COMPILED(f, parameters, arguments) \
    static inline int f##_0 parameters { enum { fused = MVSC_FUSED, target = 0 }; return f arguments; }
#define MVSC_CALL(f, arguments) f##_0 arguments
static inline int mvsc_target(void)
{
    return 0;
}
#endif

enum {
    MVSC_ROWS = 96,                 /* rows of a block at most */
    MVSC_DEPTH = 256                /* products are sums of sums of so many terms, which stay in cache */
};

/* a b + c */
MVSC_INLINE float mvsc_add_f(float a, float b, float c, int fused)
{
    return fused ? fmaf(a, b, c) : a * b + c;
}

MVSC_INLINE double mvsc_add_d(double a, double b, double c, int fused)
{
    return fused ? fma(a, b, c) : a * b + c;
}

/* out (rows x count panels) <- kept out + a (rows x depth) times panels that are `stride` apart. */
MVSC_INLINE void mvsc_tile(const float *a, ptrdiff_t lda, const float *panels, ptrdiff_t stride,
                           ptrdiff_t depth, float *out, ptrdiff_t ldo, int keep, const int rows,
                           const int count, const int fused)
{
    float sums[12][MVSC_PANEL];
    ptrdiff_t k;
    ptrdiff_t i, j, r, q;
    MVSC_UNROLL for (i = 0; i < rows * count; i++)
        MVSC_LANES for (j = 0; j < MVSC_PANEL; j++)
            sums[i][j] = 0;
    for (k = 0; k < depth; k++)
        MVSC_UNROLL for (r = 0; r < rows; r++) {
            float x = a[r * lda + k];
            MVSC_UNROLL for (q = 0; q < count; q++)
                MVSC_LANES for (j = 0; j < MVSC_PANEL; j++)
                    sums[r * count + q][j] = mvsc_add_f(
                        x, panels[q * stride + k * MVSC_PANEL + j], sums[r * count + q][j], fused);
        }
    MVSC_UNROLL for (r = 0; r < rows; r++)
        MVSC_UNROLL for (q = 0; q < count; q++)
            MVSC_LANES for (j = 0; j < MVSC_PANEL; j++) {
                float *to = out + r * ldo + q * MVSC_PANEL + j;
                *to = (keep ? *to : 0) + sums[r * count + q][j];
            }
}

/* Tiles for rows first to last and panels p to count, as far as they fit; returns the next panel. */
MVSC_INLINE ptrdiff_t mvsc_tiles(const float *a, ptrdiff_t lda, ptrdiff_t first, ptrdiff_t last,
                                 const float *panels, ptrdiff_t stride, ptrdiff_t p, ptrdiff_t count,
                                 ptrdiff_t depth, float *out, ptrdiff_t ldo, int keep,
                                 const int rows, const int together, const int fused)
{
    ptrdiff_t r;
    for (; p + together <= count; p += together)
        for (r = first; r + rows <= last; r += rows)
            mvsc_tile(a + r * lda, lda, panels + p * stride, stride, depth,
                      out + r * ldo + p * MVSC_PANEL, ldo, keep, rows, together, fused);
    return p;
}

/* out (m x n) <- kept out + a (m x length) times a matrix of n columns in panels. */
MVSC_INLINE int mvsc_multiply(const float *a, ptrdiff_t lda, ptrdiff_t m, const float *panels,
                              ptrdiff_t length, ptrdiff_t n, float *out, ptrdiff_t ldo, int keep,
                              const int fused, const int target)
{
    ptrdiff_t count = (n + MVSC_PANEL - 1) / MVSC_PANEL, stride = length * MVSC_PANEL, k, p;
    ptrdiff_t six = m - m % 6, three = m - m % 3;
    for (k = 0; k < length; k += MVSC_DEPTH, a += MVSC_DEPTH, keep = 1) {
        ptrdiff_t depth = mvsc_least(length - k, MVSC_DEPTH);
        const float *b = panels + k * MVSC_PANEL;
        p = target < 2 ? 0 : mvsc_tiles(a, lda, 0, six, b, stride, 0, count, depth, out, ldo, keep, 6,
                                        2, fused);
        (void)mvsc_tiles(a, lda, 0, six, b, stride, p, count, depth, out, ldo, keep, 6, 1, fused);
        p = mvsc_tiles(a, lda, six, three, b, stride, 0, count, depth, out, ldo, keep, 3, 2, fused);
        (void)mvsc_tiles(a, lda, six, three, b, stride, p, count, depth, out, ldo, keep, 3, 1, fused);
        p = mvsc_tiles(a, lda, three, m, b, stride, 0, count, depth, out, ldo, keep, 1, 4, fused);
        (void)mvsc_tiles(a, lda, three, m, b, stride, p, count, depth, out, ldo, keep, 1, 1, fused);
    }
    return 0;
}

MVSC_COMPILED(mvsc_multiply,
              (const float *a, ptrdiff_t lda, ptrdiff_t m, const float *panels, ptrdiff_t length,
               ptrdiff_t n, float *out, ptrdiff_t ldo, int keep),
              (a, lda, m, panels, length, n, out, ldo, keep, fused, target))

/* x <- scale x; returns the sum of squares. */
MVSC_INLINE double mvsc_scale_row(double *x, double scale, ptrdiff_t n, const int fused)
{
    double sums[8] = {0};
    ptrdiff_t k;
    ptrdiff_t q;
    for (k = 0; k + 8 <= n; k += 8)
        MVSC_LANES for (q = 0; q < 8; q++) {
            x[k + q] *= scale;
            sums[q] = mvsc_add_d(x[k + q], x[k + q], sums[q], fused);
        }
    for (; k < n; k++) {
        x[k] *= scale;
        sums[0] = mvsc_add_d(x[k], x[k], sums[0], fused);
    }
    for (q = 1; q < 8; q++)
        sums[0] += sums[q];
    return sums[0];
}

/* x <- x - mean, or x if there is none; returns the sum of squares. */
MVSC_INLINE float mvsc_centre_row(float *MVSC_APART x, const float *mean, ptrdiff_t n,
                                  const int fused)
{
    float sums[16] = {0};
    ptrdiff_t k;
    ptrdiff_t q;
    if (mean != NULL)
        for (k = 0; k < n; k++)
            x[k] -= mean[k];
    for (k = 0; k + 16 <= n; k += 16)
        MVSC_LANES for (q = 0; q < 16; q++)
            sums[q] = mvsc_add_f(x[k + q], x[k + q], sums[q], fused);
    for (; k < n; k++)
        sums[0] = mvsc_add_f(x[k], x[k], sums[0], fused);
    for (q = 1; q < 16; q++)
        sums[0] += sums[q];
    return sums[0];
}

/* The bits of |x|, which are larger than those of infinity if x is NaN. Comparisons of NaN themselves
 * are not kept by all flags of compilers. */
static inline uint64_t mvsc_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & (UINT64_MAX >> 1);
}

#define MVSC_INFINITE UINT64_C(0x7ff0000000000000)

/* The largest absolute value, or -1 if one is NaN or infinite. */
MVSC_INLINE double mvsc_largest(const double *x, ptrdiff_t n)
{
    const uint64_t lowest = UINT64_C(1) << 52;  /* bit of the exponent: a sum is 2^63 if all are 1 */
    double largest[8] = {0};
    uint64_t sums[8] = {0};
    ptrdiff_t k;
    ptrdiff_t q;
    for (k = 0; k + 8 <= n; k += 8)
        MVSC_LANES for (q = 0; q < 8; q++) {
            double size = fabs(x[k + q]);
            largest[q] = size > largest[q] ? size : largest[q];
            sums[q] |= (mvsc_bits(x[k + q]) & MVSC_INFINITE) + lowest;
        }
    for (; k < n; k++) {
        largest[0] = fabs(x[k]) > largest[0] ? fabs(x[k]) : largest[0];
        sums[0] |= (mvsc_bits(x[k]) & MVSC_INFINITE) + lowest;
    }
    for (q = 1; q < 8; q++) {
        largest[0] = largest[q] > largest[0] ? largest[q] : largest[0];
        sums[0] |= sums[q];
    }
    return sums[0] >> 63 ? -1 : largest[0];
}

/* e^x for -87 <= x <= 0, to 2e-7 of it, as factors 2^k and e^r with |r| <= log(2) / 2. */
MVSC_INLINE float mvsc_exp(float x, float *power, const int fused)
{
    const float shift = 12582912.0f;    /* 1.5 * 2^23: adding it rounds to an integer */
    float k = mvsc_add_f(x, 1.44269504f, shift, fused), r, e;
    int32_t bits, zero;
    memcpy(&bits, &k, sizeof bits);
    memcpy(&zero, &shift, sizeof zero);
    bits -= zero;
    k = (float)bits;
    r = mvsc_add_f(k, 2.12194440e-4f, mvsc_add_f(k, -0.693359375f, x, fused), fused);
    bits = (bits + 127) * (1 << 23);
    memcpy(power, &bits, sizeof bits);
    e = mvsc_add_f(r, 1 / 720.0f, 1 / 120.0f, fused);
    e = mvsc_add_f(r, e, 1 / 24.0f, fused);
    e = mvsc_add_f(r, e, 1 / 6.0f, fused);
    e = mvsc_add_f(r, e, 0.5f, fused);
    e = mvsc_add_f(r, e, 1.0f, fused);
    return mvsc_add_f(r, e, 1.0f, fused);
}

/* kernel += exp(-squares factor / scales) */
MVSC_INLINE void mvsc_add_kernel(const float *MVSC_APART squares, float factor,
                                 const float *MVSC_APART scales, ptrdiff_t n,
                                 float *MVSC_APART kernel, const int fused)
{
    ptrdiff_t j;
    for (j = 0; j < n; j++) {
        float x = -squares[j] * (factor * (1 / scales[j])), power, rest;
        rest = mvsc_exp(x > -87.0f ? x : -87.0f, &power, fused);
        kernel[j] = mvsc_add_f(power, rest, kernel[j], fused);
    }
}

/* Put x among the `count` smallest numbers so far, which ascend. */
MVSC_INLINE void mvsc_insert(float x, float *smallest, ptrdiff_t count)
{
    ptrdiff_t i;
    for (i = count - 1; i > 0 && smallest[i - 1] > x; i--)
        smallest[i] = smallest[i - 1];
    smallest[i] = x;
}

/* The number of this rank among n, from 1; `smallest` receives as many. Those above the number of this
 * rank among the minima of 32 parts are skipped, 16 at a time. */
MVSC_INLINE float mvsc_ranked(const float *x, ptrdiff_t n, ptrdiff_t rank, float *smallest)
{
    float minima[32], limit = INFINITY;
    ptrdiff_t first, i;
    ptrdiff_t q;
    for (q = 0; q < 32; q++)
        minima[q] = INFINITY;
    for (i = 0; i < rank; i++)
        smallest[i] = INFINITY;
    if (rank <= 32) {
        for (first = 0; first + 32 <= n; first += 32)
            MVSC_LANES for (q = 0; q < 32; q++)
                minima[q] = x[first + q] < minima[q] ? x[first + q] : minima[q];
        for (q = 0; q < 32; q++)
            if (minima[q] < smallest[rank - 1])
                mvsc_insert(minima[q], smallest, rank);
        limit = smallest[rank - 1];
        for (i = 0; i < rank; i++)
            smallest[i] = INFINITY;
    }
    for (first = 0; first < n; first += 16) {
        ptrdiff_t last = mvsc_least(first + 16, n);
        int below = last - first < 16;
        if (!below)
            MVSC_LANES for (q = 0; q < 16; q++)
                below |= x[first + q] <= limit;
        if (below)
            for (i = first; i < last; i++)
                if (x[i] <= limit && x[i] < smallest[rank - 1])
                    mvsc_insert(x[i], smallest, rank);
    }
    return smallest[rank - 1];
}

/* ------------------------------------------------------------------ the work of one block */

/* Matrices of one block; rows are contiguous. */
typedef struct {
    double *given;                  /* rows x the most features: scaled */
    double *mapped;                 /* rows x the most columns of views with codes */
    float *centred;                 /* of every view, one after the other, rows x d */
    float *lengths;                 /* n_views x rows: of centred rows, squared */
    float *squares, *kernel;        /* rows x n_landmarks, in whole panels */
    float *part;                    /* rows x n_clusters, and for filled rows d, in whole panels */
    float *scores;                  /* rows x n_clusters, in whole panels */
    float *window;                  /* scale_neighbors */
    int64_t *excluded;              /* rows: 0, or the negative label of a row without scores */
    unsigned char *missing;         /* n_views x rows */
} mvsc_work;

static inline ptrdiff_t mvsc_rank(const mvsc_model *model)
{
    return model->scale_neighbors < model->n_landmarks ? model->scale_neighbors
                                                       : model->n_landmarks;
}

static inline void *mvsc_take(char *base, double *used, double count, double itemsize)
{
    void *part = base == NULL ? NULL : base + (size_t)*used;
    *used += floor((count * itemsize + 63) / 64) * 64;
    return part;
}

/* Lay out what a block of so many rows needs, from an aligned base on, or NULL; returns its bytes. */
static inline double mvsc_lay_out(const mvsc_model *model, ptrdiff_t rows, char *base,
                                  mvsc_work *work)
{
    double width = 0, mapped = 0, columns = 0, m = (double)rows, v = (double)model->n_views;
    double n = (double)mvsc_padded(model->n_landmarks), c = (double)mvsc_padded(model->n_clusters);
    double part = c, used = 0;
    ptrdiff_t i;
    for (i = 0; i < model->n_views; i++) {
        mvsc_view view = mvsc_view_at(model, i);
        double d = (double)view.d;
        width = (double)view.width > width ? (double)view.width : width;
        mapped = view.codes != NULL && d > mapped ? d : mapped;
        part = view.fill != NULL && (double)mvsc_padded(view.d) > part ? (double)mvsc_padded(view.d)
                                                                       : part;
        columns += d;
    }
    work->given = (double *)mvsc_take(base, &used, m * width, 8);
    work->mapped = (double *)mvsc_take(base, &used, m * mapped, 8);
    work->centred = (float *)mvsc_take(base, &used, m * columns, 4);
    work->lengths = (float *)mvsc_take(base, &used, m * v, 4);
    work->squares = (float *)mvsc_take(base, &used, m * n, 4);
    work->kernel = (float *)mvsc_take(base, &used, m * n, 4);
    work->part = (float *)mvsc_take(base, &used, m * part, 4);
    work->scores = (float *)mvsc_take(base, &used, m * c, 4);
    work->window = (float *)mvsc_take(base, &used, (double)mvsc_rank(model), 4);
    work->excluded = (int64_t *)mvsc_take(base, &used, m, 8);
    work->missing = (unsigned char *)mvsc_take(base, &used, m * v, 1);
    return used;
}

enum { MVSC_PRESENT, MVSC_MISSING, MVSC_INVALID };

/* Differences of products are too coarse for squared distances below this part of squared lengths. */
#define MVSC_NEAR 1e-3f
/* Shorter rows have no direction: they are rounding errors of rows that equal the mean. */
#define MVSC_SHORT 1.2e-6f

/* Fill the missing cells of a row. One that lacks more than half of its cells is missing. */
MVSC_INLINE int mvsc_fill_cells(double *x, ptrdiff_t n, const float *mean, const int fused)
{
    double largest = 0, inner = 0, squares = 0;
    ptrdiff_t missing = 0, k;
    for (k = 0; k < n; k++) {
        if (mvsc_bits(x[k]) == MVSC_INFINITE)
            return MVSC_INVALID;
        missing += mvsc_bits(x[k]) > MVSC_INFINITE;
        largest = fabs(x[k]) > largest ? fabs(x[k]) : largest;
    }
    if (missing == n || (mean != NULL && 2 * missing > n))
        return MVSC_MISSING;
    if (mean == NULL)
        return MVSC_INVALID;
    for (k = 0; k < n; k++)
        if (mvsc_bits(x[k]) <= MVSC_INFINITE) {
            inner = mvsc_add_d(x[k] / (largest > 0 ? largest : 1), mean[k], inner, fused);
            squares = mvsc_add_d(mean[k], mean[k], squares, fused);
        }
    for (k = 0; k < n; k++)
        if (mvsc_bits(x[k]) > MVSC_INFINITE)
            x[k] = squares > 0 ? largest * (inner / squares) * mean[k] : 0;
    return MVSC_PRESENT;
}

/* Divide a finite row, or its roots, by its length. Powers of 2, which round nothing, keep squares
 * from vanishing. */
MVSC_INLINE void mvsc_unit_row(double *x, ptrdiff_t n, double largest, int roots, const int fused)
{
    ptrdiff_t k;
    int exponent;
    if (roots) {
        for (k = 0; k < n; k++)
            x[k] = sqrt(x[k] > 0 ? x[k] : 0.0);
        largest = mvsc_largest(x, n);
    }
    if (largest > 0) {
        double length;
        (void)frexp(largest, &exponent);
        length = sqrt(mvsc_scale_row(x, ldexp(1.0, -exponent < 1022 ? -exponent : 1022), n, fused));
        mvsc_scale_row(x, 1.0 / length, n, fused);
    }
}

/* Replace a finite row by its lifted row, of n + 1 columns, see mvsc_view. Halves and powers of 2 keep
 * differences and squares from overflow. */
MVSC_INLINE void mvsc_lift_row(double *x, ptrdiff_t n, const double *lift, const int fused)
{
    double largest, length, limit, share;
    ptrdiff_t k;
    int exponent, power;
    for (k = 0; k < n; k++)
        x[k] = x[k] * 0.5 - lift[k] * 0.5;
    largest = mvsc_largest(x, n);
    (void)frexp(largest, &exponent);
    power = -exponent < 1022 ? -exponent : 1022;
    length = sqrt(mvsc_scale_row(x, ldexp(1.0, power), n, fused));
    limit = ldexp(lift[n] * 0.5, power);
    limit = length > limit ? length : limit;
    share = length / limit;
    for (k = 0; k < n; k++)
        x[k] /= limit;
    x[n] = sqrt((1 - share) * (1 + share));
}

/* Read a row of a view, scale its columns, fill its cells, lift it, and scale it. */
MVSC_INLINE int mvsc_read_row(const mvsc_view *view, const void *rows, int dtype, ptrdiff_t row,
                              double *x, const int fused)
{
    ptrdiff_t n = view->n_features, k;
    double largest;
    if (dtype == MVSC_ROWS_FLOAT32)
        for (k = 0; k < n; k++)
            x[k] = ((const float *)rows)[row * n + k];
    else
        memcpy(x, (const double *)rows + row * n, (size_t)n * sizeof *x);
    if (view->centres != NULL)
        for (k = 0; k < n; k++)
            x[k] = (x[k] - view->centres[k]) / view->deviations[k];
    largest = mvsc_largest(x, n);
    if (largest < 0) {
        int state = mvsc_fill_cells(x, n, view->mean_row, fused);
        if (state != MVSC_PRESENT)
            return state;
        largest = mvsc_largest(x, n);
        if (largest < 0)
            return MVSC_INVALID;
    }
    if (view->lift != NULL) {
        mvsc_lift_row(x, n, view->lift, fused);
        largest = mvsc_largest(x, n + 1);
    }
    if (view->form != MVSC_ROWS_MAPPED)
        mvsc_unit_row(x, view->width, largest, view->form == MVSC_ROOTS_TO_UNIT, fused);
    return MVSC_PRESENT;
}

/* z (rows x d) <- the components of unit rows x. */
MVSC_INLINE void mvsc_map_rows(const mvsc_view *view, const double *x, ptrdiff_t height, double *z,
                               const int fused)
{
    ptrdiff_t d = view->d, width = view->width, r, j, k;
    for (r = 0; r < height; r++, x += width, z += d) {
        for (j = 0; j < d; j++)
            z[j] = 0;
        for (k = 0; k < width; k++)
            if (x[k] != 0) {
                const signed char *codes = view->codes + k * d;
                double scaled = x[k] * view->steps[k];
                for (j = 0; j < d; j++)
                    z[j] = mvsc_add_d(scaled, codes[j], z[j], fused);
            }
    }
}

/* Centred rows of used view i; 0 for missing and for invalid ones, which are excluded. */
MVSC_INLINE void mvsc_read_rows(const mvsc_view *view, ptrdiff_t i, const void *rows, int dtype,
                                ptrdiff_t first, ptrdiff_t height, mvsc_work *work, float *centred,
                                const int fused)
{
    unsigned char *missing = work->missing + i * height;
    ptrdiff_t width = view->width, d = view->d, r, k;
    for (r = 0; r < height; r++) {
        double *x = work->given + r * width;
        int state = mvsc_read_row(view, rows, dtype, first + r, x, fused);
        missing[r] = state != MVSC_PRESENT;
        if (missing[r])
            memset(x, 0, (size_t)width * sizeof *x);
        if (state == MVSC_INVALID && work->excluded[r] == 0)
            work->excluded[r] = -2 - (int64_t)view->input;
    }
    if (view->codes != NULL)
        mvsc_map_rows(view, work->given, height, work->mapped, fused);
    for (r = 0; r < height; r++) {
        const double *z = view->codes != NULL ? work->mapped + r * d : work->given + r * width;
        float *a = centred + r * d;
        for (k = 0; k < d; k++)
            a[k] = missing[r] ? 0 : (float)z[k];
        work->lengths[i * height + r] = missing[r] ? 0 : mvsc_centre_row(a, view->mean, d, fused);
    }
}

/* Exclude rows that lack all views, or, if none can be predicted, any view. */
static inline void mvsc_exclude_rows(const mvsc_model *model, ptrdiff_t height, mvsc_work *work)
{
    int can_fill = mvsc_view_at(model, 0).fill != NULL;
    ptrdiff_t i, r;
    for (r = 0; r < height; r++) {
        ptrdiff_t absent = 0, first = 0;
        for (i = model->n_views - 1; i >= 0; i--)
            if (work->missing[i * height + r]) {
                absent++;
                first = i;
            }
        if (work->excluded[r] == 0 && absent == model->n_views)
            work->excluded[r] = -1;
        else if (work->excluded[r] == 0 && absent > 0 && !can_fill)
            work->excluded[r] = -2 - (int64_t)mvsc_view_at(model, first).input;
    }
}

/* Predict missing rows from the other views. */
MVSC_INLINE void mvsc_fill_rows(const mvsc_model *model, ptrdiff_t height, mvsc_work *work,
                                const int fused, const int target)
{
    ptrdiff_t n = model->n_landmarks, ldk = (ptrdiff_t)mvsc_padded(n), i, k, r;
    float *centred = work->centred;
    for (i = 0; i < model->n_views; i++) {
        mvsc_view view = mvsc_view_at(model, i);
        (void)MVSC_CALL(mvsc_multiply, (centred, view.d, height, view.landmarks, view.d, n,
                                        work->kernel, ldk, i > 0));
        centred += height * view.d;
    }
    for (r = 0; r < height; r++) {      /* its factor is found before lengths of filled rows are */
        float square = 0;
        for (i = 0; i < model->n_views; i++)
            square += work->lengths[i * height + r];
        work->squares[r] = sqrtf(square) > MVSC_SHORT ? 1 / sqrtf(square) : 1;
    }
    centred = work->centred;
    for (i = 0; i < model->n_views; i++) {
        mvsc_view view = mvsc_view_at(model, i);
        ptrdiff_t d = view.d, ldp = (ptrdiff_t)mvsc_padded(d);
        if (memchr(work->missing + i * height, 1, (size_t)height) != NULL) {
            (void)MVSC_CALL(mvsc_multiply, (work->kernel, ldk, height, view.fill, n, d, work->part,
                                            ldp, 0));
            for (r = 0; r < height; r++)
                if (work->missing[i * height + r]) {
                    float *a = centred + r * d, length;
                    for (k = 0; k < d; k++)
                        a[k] = mvsc_add_f(work->part[r * ldp + k], work->squares[r], view.mean[k],
                                          fused);
                    length = sqrtf(mvsc_centre_row(a, NULL, d, fused));
                    if (view.codes == NULL)
                        for (k = 0; k < d; k++)
                            a[k] /= length > MVSC_SHORT ? length : 1;
                    work->lengths[i * height + r] = mvsc_centre_row(a, view.mean, d, fused);
                }
        }
        centred += height * d;
    }
    (void)target;
}

/* Compute the squared distances below `near` times the squared lengths from differences. */
MVSC_INLINE void mvsc_repair(const float *MVSC_APART a, const float *MVSC_APART landmarks,
                             ptrdiff_t d, float length, const float *lengths, ptrdiff_t n,
                             float *MVSC_APART squares, const int fused)
{
    ptrdiff_t first, j, k;
    for (first = 0; first < n; first += MVSC_PANEL) {
        ptrdiff_t last = first + MVSC_PANEL < n ? first + MVSC_PANEL : n;
        const float *panel = landmarks + first * d;
        float sums[MVSC_PANEL] = {0};
        int near = 0;
        for (j = first; j < last; j++)
            near |= squares[j] < MVSC_NEAR * (length + lengths[j]);
        if (!near)
            continue;
        for (k = 0; k < d; k++)
            MVSC_LANES for (j = 0; j < MVSC_PANEL; j++) {
                float apart = a[k] - panel[k * MVSC_PANEL + j];
                sums[j] = mvsc_add_f(apart, apart, sums[j], fused);
            }
        for (j = first; j < last; j++)
            if (squares[j] < MVSC_NEAR * (length + lengths[j]))
                squares[j] = sums[j - first];
    }
}

/* kernel += exp(-d^2 / (t scale)) for the distances d of rows and landmarks of view i. */
MVSC_INLINE void mvsc_add_view(const mvsc_model *model, const mvsc_view *view, ptrdiff_t i,
                               const float *centred, ptrdiff_t height, mvsc_work *work,
                               const int fused, const int target)
{
    ptrdiff_t n = model->n_landmarks, ld = (ptrdiff_t)mvsc_padded(n), d = view->d, r, j;
    (void)MVSC_CALL(mvsc_multiply,
                    (centred, d, height, view->landmarks, d, n, work->squares, ld, 0));
    for (r = 0; r < height; r++) {
        float *MVSC_APART squares = work->squares + r * ld, length = work->lengths[i * height + r], t;
        const float *MVSC_APART lengths = view->squares;
        int near = 0;
        for (j = 0; j < n; j++) {
            float both = length + lengths[j], square = both - 2.0f * squares[j];
            squares[j] = square;
            near |= square < MVSC_NEAR * both;
        }
        if (near)
            mvsc_repair(centred + r * d, view->landmarks, d, length, lengths, n, squares, fused);
        t = sqrtf(mvsc_ranked(squares, n, mvsc_rank(model), work->window));
        t = t > (float)view->least_scale ? t : (float)view->least_scale;
        mvsc_add_kernel(squares, 1 / t, view->scales, n, work->kernel + r * ld, fused);
    }
    (void)target;
}

/* scores += the unit rows of centred ones times their coefficients. */
MVSC_INLINE void mvsc_add_directions(const mvsc_model *model, const mvsc_view *view, ptrdiff_t i,
                                     const float *centred, ptrdiff_t height, mvsc_work *work,
                                     const int fused, const int target)
{
    ptrdiff_t c = model->n_clusters, ld = (ptrdiff_t)mvsc_padded(c), r, k;
    (void)MVSC_CALL(mvsc_multiply, (centred, view->d, height, view->coefficients, view->d, c,
                                    work->part, ld, 0));
    for (r = 0; r < height; r++) {
        float length = sqrtf(work->lengths[i * height + r]);
        float factor = length > MVSC_SHORT ? 1 / length : 1;
        for (k = 0; k < c; k++)
            work->scores[r * ld + k] =
                mvsc_add_f(factor, work->part[r * ld + k], work->scores[r * ld + k], fused);
    }
    (void)target;
}

/* Position of the largest score, the first of equal ones; -1 if one is not finite. */
static inline int64_t mvsc_label_of(const float *scores, ptrdiff_t n_clusters)
{
    ptrdiff_t best = 0, k;
    for (k = 0; k < n_clusters; k++) {
        if (mvsc_bits(scores[k]) >= MVSC_INFINITE)
            return -1;
        best = scores[k] > scores[best] ? k : best;
    }
    return (int64_t)best;
}

/* Scores and labels of some rows; whether all are finite. */
MVSC_INLINE int mvsc_block(const mvsc_model *model, ptrdiff_t first, ptrdiff_t height,
                           const void *const *rows, int dtype, mvsc_work *work, float *scores,
                           int64_t *labels, const int fused, const int target)
{
    ptrdiff_t n = model->n_landmarks, c = model->n_clusters, v = model->n_views, i, k, r;
    ptrdiff_t ldk = (ptrdiff_t)mvsc_padded(n), ldc = (ptrdiff_t)mvsc_padded(c);
    const float *kernel_coefficients =
        (const float *)mvsc_array(model, mvsc_number(model->bytes, MVSC_AT_KERNEL_COEFFICIENTS));
    float *centred = work->centred;
    int finite = 1;
    memset(work->excluded, 0, (size_t)height * sizeof *work->excluded);
    for (i = 0; i < v; i++) {
        mvsc_view view = mvsc_view_at(model, i);
        mvsc_read_rows(&view, i, rows[view.input], dtype, first, height, work, centred, fused);
        centred += height * view.d;
    }
    if (memchr(work->missing, 1, (size_t)(v * height)) != NULL) {
        mvsc_exclude_rows(model, height, work);
        if (mvsc_view_at(model, 0).fill != NULL)
            mvsc_fill_rows(model, height, work, fused, target);
    }
    memset(work->kernel, 0, (size_t)(height * ldk) * sizeof(float));
    memset(work->scores, 0, (size_t)(height * ldc) * sizeof(float));
    centred = work->centred;
    for (i = 0; i < v; i++) {
        mvsc_view view = mvsc_view_at(model, i);
        mvsc_add_view(model, &view, i, centred, height, work, fused, target);
        if (view.coefficients != NULL)
            mvsc_add_directions(model, &view, i, centred, height, work, fused, target);
        centred += height * view.d;
    }
    (void)MVSC_CALL(mvsc_multiply, (work->kernel, ldk, height, kernel_coefficients, n, c, work->scores,
                                    ldc, 1));
    for (r = 0; r < height; r++) {
        int64_t label = work->excluded[r];
        if (label == 0) {
            label = mvsc_label_of(work->scores + r * ldc, c);
            label = label < 0 ? -2 - (int64_t)model->n_inputs : label;
        }
        finite = finite && label >= -1;
        if (scores != NULL)
            for (k = 0; k < c; k++)
                scores[(first + r) * c + k] = label >= 0 ? work->scores[r * ldc + k] : NAN;
        if (labels != NULL)
            labels[first + r] = label;
    }
    return finite;
}

MVSC_COMPILED(mvsc_block,
              (const mvsc_model *model, ptrdiff_t first, ptrdiff_t height, const void *const *rows,
               int dtype, mvsc_work *work, float *scores, int64_t *labels),
              (model, first, height, rows, dtype, work, scores, labels, fused, target))

/* ------------------------------------------------------------------ prediction */

/* Bytes of the workspace for calls of m rows or less; it does not grow beyond MVSC_ROWS rows. */
MVSC_PREDICT_API size_t mvsc_model_workspace(const mvsc_model *model, ptrdiff_t m)
{
    mvsc_work work;
    double size = mvsc_lay_out(model, mvsc_least(m < 0 ? 0 : m, MVSC_ROWS), NULL, &work) + 64;
    return size < (double)(SIZE_MAX / 4) ? (size_t)size : SIZE_MAX;
}

static inline int mvsc_are_apart(const void *written, size_t size, const void *other, size_t other_size)
{
    uintptr_t a = (uintptr_t)written, b = (uintptr_t)other;
    if (a == 0 || b == 0 || size == 0 || other_size == 0)
        return 1;
    return a <= b ? b - a >= size : a - b >= other_size;
}

/* Whether memory that a call reads is apart from the three arrays that it writes. */
static inline int mvsc_is_kept(const void *const *written, const size_t *sizes, const void *memory,
                               size_t size)
{
    return mvsc_are_apart(written[0], sizes[0], memory, size) &&
        mvsc_are_apart(written[1], sizes[1], memory, size) &&
        mvsc_are_apart(written[2], sizes[2], memory, size);
}

/* Predict the labels of m rows, as ConsensusTLRR.predict does. `rows` are n_inputs arrays, one for each
 * view of the fit, of shape m x mvsc_model_columns and of this dtype, aligned for it; those of views
 * that are not used may be NULL. `scores` receives m x n_clusters numbers, and `labels` the positions of
 * the largest; one of them may be NULL. The workspace may have any alignment. Nothing that is written
 * may overlap anything else.
 *
 * NaN is a missing cell, as in Python. A sample that lacks all views has the label -1 and scores of NaN;
 * one with zeros in all views, of which Python warns, is labelled.
 * After MVSC_MODEL_NOT_FINITE, the label of a row without scores is -2 - i if view i has infinite
 * entries, or lacks cells that the model cannot fill, and -2 - n_inputs if its scores are not finite
 * because of entries of the model. All other rows are valid. */
MVSC_PREDICT_API int mvsc_model_predict(const mvsc_model *model, ptrdiff_t m, const void *const *rows,
                                        int dtype, void *workspace, size_t size, float *scores,
                                        int64_t *labels)
{
    size_t itemsize = dtype == MVSC_ROWS_FLOAT32 ? sizeof(float) : sizeof(double), count, sizes[3];
    const void *const written[3] = {workspace, scores, labels};
    ptrdiff_t i, first, height;
    int target = mvsc_target(), finite = 1;
    mvsc_work work;
    char *base;
    if (model == NULL || model->bytes == NULL || m < 0 ||
        (dtype != MVSC_ROWS_FLOAT32 && dtype != MVSC_ROWS_FLOAT64))
        return MVSC_MODEL_BAD_ARGUMENT;
    if (m == 0)
        return MVSC_MODEL_OK;
    if (rows == NULL || workspace == NULL || (scores == NULL && labels == NULL))
        return MVSC_MODEL_BAD_ARGUMENT;
    sizes[0] = mvsc_model_workspace(model, m);
    if (size < sizes[0])
        return MVSC_MODEL_SMALL_WORKSPACE;
    count = (size_t)m;
    if ((double)count * (double)model->n_clusters * 8 > (double)(SIZE_MAX / 2))
        return MVSC_MODEL_BAD_ARGUMENT;
    sizes[1] = scores == NULL ? 0 : count * (size_t)model->n_clusters * sizeof *scores;
    sizes[2] = labels == NULL ? 0 : count * sizeof *labels;
    if (!mvsc_are_apart(workspace, sizes[0], scores, sizes[1]) ||
        !mvsc_are_apart(workspace, sizes[0], labels, sizes[2]) ||
        !mvsc_are_apart(scores, sizes[1], labels, sizes[2]) ||
        !mvsc_is_kept(written, sizes, model, sizeof *model) ||
        !mvsc_is_kept(written, sizes, rows, (size_t)model->n_inputs * sizeof *rows) ||
        !mvsc_is_kept(written, sizes, model->bytes,
                      (size_t)mvsc_number(model->bytes, MVSC_AT_SIZE)))
        return MVSC_MODEL_BAD_ARGUMENT;
    for (i = 0; i < model->n_views; i++) {
        mvsc_view view = mvsc_view_at(model, i);
        const void *matrix = rows[view.input];
        size_t width = (size_t)view.n_features * itemsize;
        if (matrix == NULL || (uintptr_t)matrix % itemsize != 0 || count > SIZE_MAX / 2 / width ||
            !mvsc_is_kept(written, sizes, matrix, count * width))
            return MVSC_MODEL_BAD_ARGUMENT;
    }
    base = (char *)workspace + (64 - (uintptr_t)workspace % 64) % 64;
    (void)mvsc_lay_out(model, mvsc_least(m, MVSC_ROWS), base, &work);
    for (first = 0; first < m; first += height) {
        height = mvsc_least(m - first, MVSC_ROWS);
        finite &= MVSC_CALL(mvsc_block, (model, first, height, rows, dtype, &work, scores, labels));
    }
    (void)target;
    return finite ? MVSC_MODEL_OK : MVSC_MODEL_NOT_FINITE;
}

/* Margins of m rows, as ConsensusTLRR.predict_margin returns them, from their scores: 1 if only one
 * score is positive, 0 if the two largest are equal, -1 for rows without scores.
 *
 * `unlike` receives 1 for rows that are unlike the fitted samples, 0 for others, and -1 if this is
 * unknown: for rows without scores, and for files without `limits`. Scores times the square roots
 * of the numbers of samples in the clusters, the first n_clusters `limits`, are 1 and 0 at the centre
 * of a cluster. Unlike are rows whose distance from that is larger than the limit of their cluster, which
 * is chosen so that .05 of the new samples of every cluster exceed it. The limits of all clusters follow
 * the roots. Rows that lack views are unlike more often than others.
 *
 * One of the outputs may be NULL. Products of two floats are exact in double precision, so here the
 * bits do not depend on fused operations. */
MVSC_PREDICT_API int mvsc_model_margins(const mvsc_model *model, ptrdiff_t m, const float *scores,
                                        float *margins, int8_t *unlike)
{
    ptrdiff_t c, r, k;
    const float *limits;
    const void *const written[3] = {margins, unlike, NULL};
    const size_t sizes[3] = {m > 0 ? (size_t)m * sizeof *margins : 0, m > 0 ? (size_t)m : 0, 0};
    if (model == NULL || model->bytes == NULL || m < 0)
        return MVSC_MODEL_BAD_ARGUMENT;
    if (m == 0)
        return MVSC_MODEL_OK;
    c = model->n_clusters;
    if (scores == NULL || (margins == NULL && unlike == NULL) ||
        (double)m * (double)c * sizeof *scores > (double)(SIZE_MAX / 2))
        return MVSC_MODEL_BAD_ARGUMENT;
    if (!mvsc_are_apart(margins, sizes[0], unlike, sizes[1]) ||
        !mvsc_is_kept(written, sizes, scores, (size_t)m * (size_t)c * sizeof *scores) ||
        !mvsc_is_kept(written, sizes, model, sizeof *model) ||
        !mvsc_is_kept(written, sizes, model->bytes,
                      (size_t)mvsc_number(model->bytes, MVSC_AT_SIZE)))
        return MVSC_MODEL_BAD_ARGUMENT;
    limits = mvsc_view_at(model, 0).limits;
    for (r = 0; r < m; r++, scores += c) {
        ptrdiff_t label = (ptrdiff_t)mvsc_label_of(scores, c);
        float own = label < 0 ? 0 : scores[label], second = 0;
        double square = 0, limit = 0;
        if (label >= 0 && limits != NULL)
            limit = limits[mvsc_limits(model) == 1 ? c : c + label];
        for (k = 0; label >= 0 && k < c; k++) {
            if (limits != NULL) {
                float apart = (float)((double)scores[k] * limits[k] - (k == label));
                square += (double)apart * apart;
            }
            if (k != label && scores[k] > second)
                second = scores[k];
        }
        if (margins != NULL)
            margins[r] = label < 0 ? -1 : own > 0 ? (own - second) / (own > 1e-12f ? own : 1e-12f) : 0;
        if (unlike != NULL)
            unlike[r] = label < 0 || limits == NULL ? -1 : square > limit * limit;
    }
    return MVSC_MODEL_OK;
}

/* Whether a built-in model labels a row, a row without cells, one that lacks two cells, one with an
 * infinite cell, a large one and a small one as it must, with the scores that it must have: to the last
 * bit on all processors with fused multiply-add, else up to rounding errors. */
static inline int mvsc_keeps_arithmetic(void)
{
    enum { N = 11, M = 6, C = 2, START = 8 * (MVSC_HEAD + MVSC_RECORD), SIZE = 2176, WORK = 8192 };
    /* mean, landmarks, squares, scales, coefficients, mean_row, and the coefficients of the kernel */
    static const int64_t offsets[] = {320, 384, 1088, 1152, 1216, 1920, 1984};
    static const int64_t expected[M] = {1, -1, 1, -2, 1, 1};
    static const float known[M * C] = {
        -0.0849788934f, 0.0474546403f, 0, 0, -0.0303212628f, 0.379078031f,
        0, 0, -0.0943363607f, 0.494506419f, -0.261848599f, 0.111032069f};
    volatile double zero = 0;           /* unknown to the compiler, as are all numbers that follow */
    int64_t head[MVSC_HEAD] = {0}, record[MVSC_RECORD] = {0}, labels[M];
    int exact = mvsc_target() > 0 || (MVSC_FUSED && FLT_EVAL_METHOD == 0), r, k;
    double bytes[SIZE / 8], rows[M * N], work[WORK / 8], least = 0.01;
    float scores[M * C], numbers[(SIZE - START) / 4];
    const void *inputs[1];
    mvsc_model model;
    /* The bytes of the file: no names, no checksum. Squares of landmarks and scales are 4. */
    for (k = 0; k < (SIZE - START) / 4; k++)
        numbers[k] = k >= 192 && k < 224 ? 4 : (float)(k * k % 29 - 14 + zero) / 32;
    record[1] = record[2] = N;
    record[3] = MVSC_ROWS_TO_UNIT;
    memcpy(&record[5], &least, sizeof least);
    for (k = 0; k < 5; k++)
        record[6 + k] = offsets[k];
    record[12] = offsets[5];
    head[MVSC_AT_KERNEL_COEFFICIENTS] = offsets[6];
    head[MVSC_AT_SIZE] = SIZE;
    memcpy(bytes, head, sizeof head);
    memcpy((char *)bytes + sizeof head, record, sizeof record);
    memcpy((char *)bytes + START, numbers, sizeof numbers);
    memset(&model, 0, sizeof model);
    model.n_inputs = model.n_views = 1;
    model.n_clusters = C;
    model.n_landmarks = model.scale_neighbors = 3;
    model.bytes = (const unsigned char *)bytes;
    /* The rows. */
    for (r = 0; r < M; r++)
        for (k = 0; k < N; k++)
            rows[r * N + k] = (r * r + k * k * 5) % 13 - 6 + zero;
    for (k = 0; k < N; k++) {
        rows[N + k] = NAN;
        rows[4 * N + k] *= 1e300;
        rows[5 * N + k] *= 1e-300;
    }
    rows[2 * N + 3] = rows[2 * N + 9] = NAN;
    rows[4 * N - 1] = INFINITY;
    /* What must come of them; rows without a label have no scores. */
    inputs[0] = rows;
    if (mvsc_model_predict(&model, M, inputs, MVSC_ROWS_FLOAT64, work, sizeof work, scores, labels) !=
        MVSC_MODEL_NOT_FINITE || memcmp(labels, expected, sizeof labels) != 0)
        return 0;
    for (k = 0; k < M * C; k++)
        if (labels[k / C] >= 0 && memcmp(&scores[k], &known[k], sizeof(float)) != 0 &&
            (exact || fabsf(scores[k] - known[k]) > 1e-5f))
            return 0;
    return 1;
}

#ifdef __cplusplus
}
#endif

#endif
