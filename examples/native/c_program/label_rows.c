/* A plain C program that labels new samples as a fitted ConsensusTLRR does.
 *
 *     label_rows MODEL THREADS BATCH FILE...
 *
 * MODEL is written by save_model.py. BATCH is the number of samples in each call. Each FILE holds the
 * rows of one view, float64; NaN is a missing cell or row. The labels go to the standard output, -1
 * for samples that lack all views, and the time of a label to the standard error. Python is embedded
 * only to find the functions. */
#include <Python.h>

#include <mvsc_fast.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_VIEWS = 64 };
enum { NO_MEMORY = -1, NO_FILE = -2, NO_PYTHON = -3 };

/* What is known of the fitted samples. Its memory lives as long as the program. */
typedef struct {
    mvsc_predictor predictor;
    ptrdiff_t n_files, columns[MAX_VIEWS];      /* of all views */
    ptrdiff_t used[MAX_VIEWS];                  /* numbers of the views that are used */
    const double *samples[MAX_VIEWS], *factors[MAX_VIEWS];
    const float *means[MAX_VIEWS], *landmarks[MAX_VIEWS], *scales[MAX_VIEWS];
    const float *coefficients[MAX_VIEWS], *fill[MAX_VIEWS], *mean_rows[MAX_VIEWS];
} model;

static const char *message(int status)
{
    if (status == NO_MEMORY)
        return "out of memory";
    if (status == NO_FILE)
        return "a file cannot be read, or does not hold the numbers that are expected";
    if (status == NO_PYTHON)
        return "mvsc_fast cannot be imported";
    return mvsc_strerror(status);
}

/* ------------------------------------------------------------------ files */

/* The next rows x columns numbers of a file in memory of their own, or NULL. */
static void *next(FILE *file, ptrdiff_t rows, ptrdiff_t columns, size_t itemsize)
{
    size_t count = (size_t)rows * (size_t)columns;
    void *data = NULL;
    if (rows >= 0 && columns > 0 && rows <= PTRDIFF_MAX / (ptrdiff_t)itemsize / columns)
        data = malloc(count * itemsize + 1);
    if (data != NULL && fread(data, itemsize, count, file) != count) {
        free(data);
        data = NULL;
    }
    return data;
}

static int read_view(FILE *file, model *fitted, ptrdiff_t i)
{
    const mvsc_predictor *p = &fitted->predictor;
    ptrdiff_t d = p->d[i], n = p->n_landmarks, has_factor;
    if (fread(&has_factor, sizeof has_factor, 1, file) != 1)
        return 0;
    if (has_factor) {
        fitted->samples[i] = next(file, d, p->n_features[i], sizeof(double));
        fitted->factors[i] = next(file, d, d, sizeof(double));
        if (fitted->samples[i] == NULL || fitted->factors[i] == NULL)
            return 0;
    }
    fitted->means[i] = next(file, 1, d, sizeof(float));
    fitted->landmarks[i] = next(file, n, d, sizeof(float));
    fitted->scales[i] = next(file, 1, n, sizeof(float));
    fitted->coefficients[i] = next(file, d, p->n_clusters, sizeof(float));
    fitted->mean_rows[i] = next(file, 1, p->n_features[i], sizeof(float));
    if (p->fill != NULL)
        fitted->fill[i] = next(file, n, d, sizeof(float));
    return fitted->means[i] != NULL && fitted->landmarks[i] != NULL &&
           fitted->scales[i] != NULL && fitted->coefficients[i] != NULL &&
           fitted->mean_rows[i] != NULL && (p->fill == NULL || fitted->fill[i] != NULL);
}

/* Whether this is a file of save_model.py, from a machine of 64 bits like this one. */
static int read_model(FILE *file, model *fitted)
{
    ptrdiff_t counts[6], i;
    mvsc_predictor *p = &fitted->predictor;
    if (fread(counts, sizeof *counts, 6, file) != 6 || counts[0] < 1 || counts[0] > MAX_VIEWS ||
        counts[1] < 1 || counts[1] > counts[0] || counts[2] < 1 || counts[3] < 1)
        return 0;
    fitted->n_files = counts[0];
    p->size = sizeof *p;
    p->v = counts[1];
    p->n_clusters = counts[2];
    p->n_landmarks = counts[3];
    p->scale_neighbors = counts[4];
    p->samples = fitted->samples;
    p->factors = fitted->factors;
    p->means = fitted->means;
    p->landmarks = fitted->landmarks;
    p->scales = fitted->scales;
    p->coefficients = fitted->coefficients;
    p->fill = counts[5] ? fitted->fill : NULL;
    p->mean_rows = fitted->mean_rows;
    if (fread(fitted->columns, sizeof(ptrdiff_t), (size_t)counts[0], file) != (size_t)counts[0] ||
        fread(fitted->used, sizeof(ptrdiff_t), (size_t)p->v, file) != (size_t)p->v)
        return 0;
    p->n_features = next(file, 1, p->v, sizeof(ptrdiff_t));
    p->d = next(file, 1, p->v, sizeof(ptrdiff_t));
    p->form = next(file, 1, p->v, sizeof(ptrdiff_t));
    p->least_scales = next(file, 1, p->v, sizeof(float));
    if (p->n_features == NULL || p->d == NULL || p->form == NULL || p->least_scales == NULL)
        return 0;
    for (i = 0; i < p->v; i++)
        if (fitted->used[i] < 0 || fitted->used[i] >= fitted->n_files ||
            p->n_features[i] < 1 || p->n_features[i] > INT_MAX ||
            p->n_features[i] != fitted->columns[fitted->used[i]] || !read_view(file, fitted, i))
            return 0;
    p->kernel_coefficients = next(file, p->n_landmarks, p->n_clusters, sizeof(float));
    return p->kernel_coefficients != NULL;
}

/* The rows of a view, and how many there are; NULL unless all of them are whole. */
static double *read_rows(const char *path, ptrdiff_t columns, ptrdiff_t *m)
{
    FILE *file = fopen(path, "rb");
    double *data = NULL;
    ptrdiff_t bytes = -1, row = columns * (ptrdiff_t)sizeof(double);
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        bytes = ftell(file);
    if (bytes >= 0 && bytes % row == 0) {
        *m = bytes / row;
        rewind(file);
        data = next(file, *m, columns, sizeof(double));
    }
    if (file != NULL)
        fclose(file);
    return data;
}

static int read_all(const char *path, char **paths, int n_paths, model *fitted, double **views,
                    ptrdiff_t *m)
{
    FILE *file = fopen(path, "rb");
    int known = file != NULL && read_model(file, fitted);
    ptrdiff_t count, i;
    if (file != NULL)
        fclose(file);
    if (!known || n_paths != fitted->n_files)
        return NO_FILE;
    for (i = 0; i < fitted->predictor.v; i++) {
        ptrdiff_t view = fitted->used[i];
        views[i] = read_rows(paths[view], fitted->columns[view], &count);
        if (views[i] == NULL || (i > 0 && count != *m))
            return NO_FILE;
        *m = count;
    }
    return MVSC_OK;
}

/* ------------------------------------------------------------------ labels */

typedef struct {
    int n_threads;
    ptrdiff_t batch;            /* samples in each call */
    double seconds;             /* of all calls */
} calls;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* One workspace serves all calls; each takes the next rows of every view. */
static int label(const mvsc_predictor *predictor, double *const *views, ptrdiff_t m, calls *made,
                 ptrdiff_t *labels)
{
    const void *rows[MAX_VIEWS];
    size_t bytes = 0;
    void *workspace;
    double start;
    ptrdiff_t first, i;
    int status = mvsc_predict_workspace_size(predictor, made->n_threads, &bytes);
    if (status != MVSC_OK)
        return status;
    workspace = malloc(bytes);
    if (workspace == NULL)
        return NO_MEMORY;
    start = now();
    for (first = 0; first < m && status == MVSC_OK; first += made->batch) {
        ptrdiff_t count = made->batch < m - first ? made->batch : m - first;
        for (i = 0; i < predictor->v; i++)
            rows[i] = views[i] + first * predictor->n_features[i];
        status = mvsc_predict(predictor, count, rows, MVSC_FLOAT64, made->n_threads, workspace,
                              bytes, NULL, labels + first);
    }
    made->seconds = now() - start;
    free(workspace);
    return status;
}

/* Name the first row and the file of the view that have no finite numbers. */
static void name_invalid(const model *fitted, const ptrdiff_t *labels, ptrdiff_t m, char **paths)
{
    ptrdiff_t j = 0;
    while (j < m && labels[j] >= -1)
        j++;
    if (j < m && -2 - labels[j] < fitted->predictor.v)
        fprintf(stderr, "row %td of %s has infinite entries\n", j,
                paths[fitted->used[-2 - labels[j]]]);
}

/* Import the functions, limit BLAS to the calling threads, and release the GIL. */
static int label_with_python(const mvsc_predictor *predictor, double *const *views, ptrdiff_t m,
                             calls *made, ptrdiff_t *labels)
{
    PyThreadState *python;
    void *request;
    int status;
    if (mvsc_fast_import() < 0 || (request = mvsc_limit_blas(1)) == NULL) {
        PyErr_Print();
        return NO_PYTHON;
    }
    python = PyEval_SaveThread();
    status = label(predictor, views, m, made, labels);
    PyEval_RestoreThread(python);
    mvsc_release_blas(request);
    return status;
}

int main(int argc, char **argv)
{
    static model fitted;
    double *views[MAX_VIEWS] = {NULL};
    ptrdiff_t m = 0, j, *labels;
    calls made = {argc > 2 ? atoi(argv[2]) : 0, argc > 3 ? atoi(argv[3]) : 0, 0};
    int status;
    if (argc < 5 || made.n_threads < 1 || made.batch < 1) {
        fprintf(stderr, "usage: %s MODEL THREADS BATCH FILE...\n", argv[0]);
        return 2;
    }
    status = read_all(argv[1], argv + 4, argc - 4, &fitted, views, &m);
    if (status != MVSC_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], message(status));
        return 1;
    }
    labels = calloc((size_t)m + 1, sizeof *labels);
    Py_InitializeEx(0);
    status = labels == NULL ? NO_MEMORY
                            : label_with_python(&fitted.predictor, views, m, &made, labels);
    for (j = 0; j < m && status == MVSC_OK; j++)
        printf("%td\n", labels[j]);
    if (status == MVSC_NOT_FINITE)
        name_invalid(&fitted, labels, m, argv + 4);
    if (status != MVSC_OK)
        fprintf(stderr, "%s: %s\n", argv[1], message(status));
    else if (m > 0)
        fprintf(stderr, "%.1f microseconds per label\n", 1e6 * made.seconds / (double)m);
    free(labels);
    return Py_FinalizeEx() < 0 || status != MVSC_OK;
}
