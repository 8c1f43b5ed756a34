/* A plain C program that labels new samples as a fitted TLRR does, in POSIX threads.
 *
 *     label_rows VOTERS THREADS FILE...
 *
 * VOTERS is written by save_voters.py. Each FILE holds the rows of one view, float64. The labels go
 * to the standard output. Python is embedded only to find the functions. */
#include <Python.h>

#include <math.h>
#include <mvsc_fast.h>
#include <pthread.h>
#include <stdlib.h>

/* Rows are labelled so many at a time, a multiple of 128: then not even the last bit of a
 * similarity depends on the number of threads. */
enum { MAX_SLICES = 64, MAX_VIEWS = 32, MAX_THREADS = 64, BLOCK = 256 };
enum { NO_MEMORY = -1, NO_FILE = -2, NO_PYTHON = -3 };

/* What is known of the fitted samples. Its memory lives as long as the program. */
typedef struct {
    mvsc_voters voters;
    mvsc_factor_map maps[MAX_SLICES];
    ptrdiff_t d[MAX_SLICES], view[MAX_SLICES];
    const float *u[MAX_SLICES], *h[MAX_SLICES];
    ptrdiff_t n_views, width[MAX_VIEWS];
} model;

/* What one thread works on: blocks first, first + step, ... of all rows. */
typedef struct {
    const model *fitted;
    double *const *rows;        /* of every view; scaled to unit length here */
    ptrdiff_t m, first, step;
    ptrdiff_t *labels;
    int status;
} job;

static const char *message(int status)
{
    if (status == NO_MEMORY)
        return "out of memory";
    if (status == NO_FILE)
        return "a file cannot be read, or has not the numbers that are wanted";
    if (status == NO_PYTHON)
        return "mvsc_fast cannot be imported";
    return mvsc_strerror(status);
}

/* ------------------------------------------------------------------ labels */

static void scale_to_unit_length(double *row, ptrdiff_t width)
{
    double square = 0.0;
    ptrdiff_t k;
    for (k = 0; k < width; k++)
        square += row[k] * row[k];
    for (k = 0; k < width && square > 0.0; k++)
        row[k] /= sqrt(square);
}

/* Memory of a thread: factors of a block of rows, and what the library works in. */
typedef struct {
    float *u[MAX_SLICES], *h[MAX_SLICES];
    void *workspace;
    size_t bytes;
} scratch;

static int prepare(const model *fitted, scratch *mine)
{
    size_t bytes = 0;
    ptrdiff_t i;
    int status = mvsc_vote_workspace_size(&fitted->voters, 1, &mine->bytes);
    for (i = 0; i < fitted->voters.v && status == MVSC_OK; i++) {
        status = mvsc_factor_workspace_size(&fitted->maps[i], 1, &bytes);
        mine->bytes = bytes > mine->bytes ? bytes : mine->bytes;
        mine->u[i] = malloc(BLOCK * (size_t)fitted->d[i] * sizeof(float));
        mine->h[i] = malloc(BLOCK * sizeof(float));
        if (status == MVSC_OK && (mine->u[i] == NULL || mine->h[i] == NULL))
            status = NO_MEMORY;
    }
    if (status == MVSC_OK && (mine->workspace = malloc(mine->bytes)) == NULL)
        status = NO_MEMORY;
    return status;
}

static int label_block(const job *mine, scratch *memory, ptrdiff_t start, ptrdiff_t count)
{
    const model *fitted = mine->fitted;
    ptrdiff_t i, j;
    int status = MVSC_OK;
    for (i = 0; i < fitted->n_views; i++)
        for (j = start; j < start + count; j++)
            scale_to_unit_length(mine->rows[i] + j * fitted->width[i], fitted->width[i]);
    for (i = 0; i < fitted->voters.v && status == MVSC_OK; i++) {
        ptrdiff_t width = fitted->width[fitted->view[i]];
        double *rows = mine->rows[fitted->view[i]] + start * width;
        mvsc_tensor X = {sizeof X, rows, 1, count, width, MVSC_FLOAT64};
        status = mvsc_factor_rows(&fitted->maps[i], &X, MVSC_NEW, 1, memory->workspace,
                                  memory->bytes, memory->u[i], memory->h[i]);
    }
    if (status != MVSC_OK)
        return status;
    return mvsc_vote(&fitted->voters, count, (const float *const *)memory->u,
                     (const float *const *)memory->h, 1, memory->workspace, memory->bytes, NULL,
                     mine->labels + start);
}

static void *label(void *argument)
{
    job *mine = argument;
    scratch memory = {{NULL}, {NULL}, NULL, 0};
    ptrdiff_t i, start;
    mine->status = prepare(mine->fitted, &memory);
    for (i = mine->first; i * BLOCK < mine->m && mine->status == MVSC_OK; i += mine->step) {
        start = i * BLOCK;
        mine->status = label_block(mine, &memory, start,
                                   mine->m - start < BLOCK ? mine->m - start : BLOCK);
    }
    for (i = 0; i < MAX_SLICES; i++) {
        free(memory.u[i]);
        free(memory.h[i]);
    }
    free(memory.workspace);
    return NULL;
}

/* All threads side by side; MVSC_OK, or what went wrong. */
static int run(const model *fitted, double *const *rows, ptrdiff_t m, ptrdiff_t *labels,
               int n_threads)
{
    static job jobs[MAX_THREADS];
    pthread_t threads[MAX_THREADS];
    int k, started = 0, status = MVSC_OK;
    for (k = 0; k < n_threads; k++) {
        jobs[k] = (job){fitted, rows, m, k, n_threads, labels, MVSC_OK};
        if (pthread_create(&threads[k], NULL, label, &jobs[k]) != 0)
            break;
        started++;
    }
    for (k = 0; k < started; k++) {
        pthread_join(threads[k], NULL);
        if (jobs[k].status != MVSC_OK)
            status = jobs[k].status;
    }
    return started < n_threads ? NO_MEMORY : status;
}

/* ------------------------------------------------------------------ files */

/* The next numbers of a file in memory of their own, or NULL. */
static void *next(FILE *file, size_t count, size_t itemsize)
{
    void *data = malloc(count * itemsize + 1);
    if (data != NULL && fread(data, itemsize, count, file) != count) {
        free(data);
        data = NULL;
    }
    return data;
}

static int read_slice(FILE *file, model *fitted, ptrdiff_t i)
{
    size_t d = (size_t)fitted->d[i], n = (size_t)fitted->voters.n;
    mvsc_factor_map *map = &fitted->maps[i];
    map->size = sizeof *map;
    map->d = fitted->d[i];
    map->columns = next(file, d, sizeof(ptrdiff_t));
    map->lower = next(file, d * d, sizeof(double));
    fitted->u[i] = next(file, n * d, sizeof(float));
    fitted->h[i] = next(file, n, sizeof(float));
    return map->columns != NULL && map->lower != NULL && fitted->u[i] != NULL &&
           fitted->h[i] != NULL;
}

/* Whether this is a file of save_voters.py, from a machine of 64 bits like this one. */
static int read_model(FILE *file, model *fitted)
{
    ptrdiff_t counts[8], pair[2], i;
    double cap;
    size_t n_views;
    mvsc_voters *voters = &fitted->voters;
    if (fread(counts, sizeof *counts, 8, file) != 8 || fread(&cap, sizeof cap, 1, file) != 1)
        return 0;
    *voters = (mvsc_voters){sizeof *voters, counts[0], counts[1], counts[2], fitted->d, fitted->u,
                            fitted->h, NULL, NULL, counts[3], counts[4], counts[5], counts[6],
                            cap};
    fitted->n_views = counts[7];
    if (voters->v < 1 || voters->v > MAX_SLICES || voters->n < 1 || fitted->n_views < 1 ||
        fitted->n_views > MAX_VIEWS)
        return 0;
    n_views = (size_t)fitted->n_views;
    if (fread(fitted->width, sizeof(ptrdiff_t), n_views, file) != n_views)
        return 0;
    for (i = 0; i < voters->v; i++) {
        if (fread(pair, sizeof *pair, 2, file) != 2 || pair[0] < 0 || pair[0] >= fitted->n_views ||
            pair[1] < 1 || pair[1] > fitted->width[pair[0]])
            return 0;
        fitted->view[i] = pair[0];
        fitted->d[i] = pair[1];
    }
    for (i = 0; i < voters->v; i++)
        if (!read_slice(file, fitted, i))
            return 0;
    voters->scales = next(file, (size_t)(voters->v * voters->n), sizeof(float));
    voters->labels = next(file, (size_t)voters->n, sizeof(ptrdiff_t));
    return voters->scales != NULL && voters->labels != NULL;
}

/* The rows of a view, and how many there are; NULL unless all of them are whole. */
static double *read_rows(const char *path, ptrdiff_t width, ptrdiff_t *m)
{
    FILE *file = fopen(path, "rb");
    double *data = NULL;
    long bytes = -1, row = (long)(width * (ptrdiff_t)sizeof(double));
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        bytes = ftell(file);
    if (bytes >= 0 && bytes % row == 0) {
        *m = bytes / row;
        rewind(file);
        data = next(file, (size_t)(*m * width), sizeof(double));
    }
    if (file != NULL)
        fclose(file);
    return data;
}

static int read_all(const char *voters, char **paths, int n_paths, model *fitted, double **rows,
                    ptrdiff_t *m)
{
    FILE *file = fopen(voters, "rb");
    int known = file != NULL && read_model(file, fitted), i;
    ptrdiff_t count;
    if (file != NULL)
        fclose(file);
    if (!known || n_paths != fitted->n_views)
        return NO_FILE;
    for (i = 0; i < n_paths; i++) {
        rows[i] = read_rows(paths[i], fitted->width[i], &count);
        if (rows[i] == NULL || (i > 0 && count != *m))
            return NO_FILE;
        *m = count;
    }
    return MVSC_OK;
}

/* ------------------------------------------------------------------ Python */

/* Find the functions, keep BLAS to the threads it is called from, let go of the GIL. */
static int run_with_python(const model *fitted, double *const *rows, ptrdiff_t m,
                           ptrdiff_t *labels, int n_threads)
{
    PyThreadState *python;
    void *request;
    int status;
    if (mvsc_fast_import() < 0 || (request = mvsc_limit_blas(1)) == NULL) {
        PyErr_Print();
        return NO_PYTHON;
    }
    python = PyEval_SaveThread();
    status = run(fitted, rows, m, labels, n_threads);
    PyEval_RestoreThread(python);
    mvsc_release_blas(request);
    return status;
}

int main(int argc, char **argv)
{
    static model fitted;
    double *rows[MAX_VIEWS] = {NULL};
    ptrdiff_t m = 0, j, *labels;
    int n_threads = argc > 2 ? atoi(argv[2]) : 0, status;
    if (argc < 4 || n_threads < 1 || n_threads > MAX_THREADS) {
        fprintf(stderr, "usage: %s VOTERS THREADS FILE...   (1 to %d threads)\n", argv[0],
                MAX_THREADS);
        return 2;
    }
    status = read_all(argv[1], argv + 3, argc - 3, &fitted, rows, &m);
    if (status != MVSC_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], message(status));
        return 1;
    }
    labels = malloc((size_t)(m + 1) * sizeof *labels);
    Py_InitializeEx(0);
    status = labels == NULL ? NO_MEMORY : run_with_python(&fitted, rows, m, labels, n_threads);
    for (j = 0; j < m && status == MVSC_OK; j++)
        printf("%td\n", labels[j]);
    if (status != MVSC_OK)
        fprintf(stderr, "%s: %s\n", argv[1], message(status));
    free(labels);
    return Py_FinalizeEx() < 0 || status != MVSC_OK;
}
