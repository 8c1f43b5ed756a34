/* Labels new samples with a model of mvsc_fast, without Python.
 *
 *     label_rows MODEL.mvsc VIEW.npy ... > labels.txt
 *
 * One .npy file for each view of the fit, in their order, float32 or float64; "-" for a view that all
 * samples lack, and NaN for missing cells and rows. One label per line, -1 for a sample that lacks all
 * views; then, on standard error, how many of the labelled samples are unlike the fitted ones.
 *
 *     cp "$(python -c 'import mvsc_fast; print(mvsc_fast.get_include())')/mvsc_predict.h" .
 *     cc -O3 -I. label_rows.c -o label_rows -lm
 */
#include <mvsc_predict.h>
#include <inttypes.h>

enum { BATCH = 960 };

/* The rows of an .npy file as doubles, and their number; NULL, with a message, unless it has `columns`
 * columns. */
static double *read_rows(const char *path, ptrdiff_t columns, ptrdiff_t *m)
{
    FILE *file = fopen(path, "rb");
    unsigned char start[12];
    char head[4096], *shape = NULL;
    char type[] = "'<f4'", end = ')';   /* ')' ends two sizes, ',' more */
    const int order = 1;
    size_t length, count, itemsize = 0, k;
    long long n_rows = -1, n_columns = 1;
    double *rows = NULL;
    if (file == NULL || fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0 ||
        (start[6] > 1 && fread(start + 10, 1, 2, file) != 2)) {
        fprintf(stderr, "%s: not an .npy file\n", path);
        goto end;
    }
    length = start[8] + 256u * start[9];
    if (length >= sizeof head || fread(head, 1, length, file) != length) {
        fprintf(stderr, "%s: incomplete\n", path);
        goto end;
    }
    head[length] = 0;
    if (*(const char *)&order == 0)     /* a big-endian machine */
        type[1] = '>';
    if (strstr(head, type) != NULL)
        itemsize = sizeof(float);
    type[3] = '8';
    if (strstr(head, type) != NULL)
        itemsize = sizeof(double);
    shape = strstr(head, "'shape': (");
    if (itemsize == 0 || strstr(head, "'fortran_order': False") == NULL || shape == NULL ||
        sscanf(shape + 10, "%lld, %lld%c", &n_rows, &n_columns, &end) < 1 || end != ')' ||
        n_rows < 0 || n_columns != columns ||
        (unsigned long long)n_rows > SIZE_MAX / 16 / (size_t)columns) {
        fprintf(stderr, "%s: expected rows of %td columns, float32 or float64, in C order: save "
                "numpy.ascontiguousarray(X)\n", path, columns);
        goto end;
    }
    count = (size_t)n_rows * (size_t)columns;
    rows = malloc(count * sizeof *rows + 1);
    if (rows == NULL || fread(rows, itemsize, count, file) != count) {
        fprintf(stderr, "%s: %s\n", path, rows == NULL ? "out of memory" : "incomplete");
        free(rows);
        rows = NULL;
        goto end;
    }
    if (itemsize == sizeof(float))      /* from the last one on, each is read before it is overwritten */
        for (k = count; k-- > 0;) {
            float number;
            memcpy(&number, (char *)rows + k * sizeof number, sizeof number);
            rows[k] = number;
        }
    *m = (ptrdiff_t)n_rows;
end:
    if (file != NULL)
        fclose(file);
    return rows;
}

/* All views of m rows, NaN for those that are given as "-"; whether this succeeds. */
static int read_views(const mvsc_model *model, char **paths, double **views, ptrdiff_t *m)
{
    ptrdiff_t i, k, count;
    *m = -1;
    for (i = 0; i < model->n_inputs; i++)
        if (mvsc_model_uses(model, i) && strcmp(paths[i], "-") != 0) {
            views[i] = read_rows(paths[i], mvsc_model_columns(model, i), &count);
            if (views[i] != NULL && *m >= 0 && count != *m)
                fprintf(stderr, "%s has %td rows, the files before it have %td\n", paths[i], count, *m);
            if (views[i] == NULL || (*m >= 0 && count != *m))
                return 0;
            *m = count;
        }
    if (*m < 0)
        fprintf(stderr, "no view that the model uses is given\n");
    for (i = 0; i < model->n_inputs && *m >= 0; i++)
        if (mvsc_model_uses(model, i) && views[i] == NULL) {
            count = *m * mvsc_model_columns(model, i);
            views[i] = malloc((size_t)count * sizeof(double) + 1);
            for (k = 0; k < count && views[i] != NULL; k++)
                views[i][k] = NAN;
            if (views[i] == NULL)
                return 0;
        }
    return *m >= 0;
}

/* Print the labels of all rows, a batch at a time, and the number of unlike rows; a status. */
static int label(const mvsc_model *model, double *const *views, ptrdiff_t m)
{
    const void **rows = malloc((size_t)model->n_inputs * sizeof *rows);
    size_t size = mvsc_model_workspace(model, BATCH);
    void *workspace = malloc(size);
    float *scores = malloc(BATCH * (size_t)model->n_clusters * sizeof *scores);
    static int64_t labels[BATCH];
    static int8_t unlike[BATCH];
    ptrdiff_t first, i, r, n_compared = 0, n_unlike = 0;
    int status = rows == NULL || workspace == NULL || scores == NULL ? MVSC_MODEL_NO_MEMORY
                                                                      : MVSC_MODEL_OK;
    for (first = 0; first < m && status == MVSC_MODEL_OK; first += BATCH) {
        ptrdiff_t count = m - first < BATCH ? m - first : BATCH;
        for (i = 0; i < model->n_inputs; i++)
            rows[i] = views[i] == NULL ? NULL : views[i] + first * mvsc_model_columns(model, i);
        status = mvsc_model_predict(model, count, rows, MVSC_ROWS_FLOAT64, workspace, size, scores,
                                    labels);
        for (r = 0; r < count && (status == MVSC_MODEL_OK || labels[r] >= -1); r++)
            printf("%" PRId64 "\n", labels[r]);
        if (status == MVSC_MODEL_NOT_FINITE)
            fprintf(stderr, "row %td of %s: infinite entries, or cells that cannot be filled\n",
                    first + r, -2 - labels[r] < model->n_inputs
                    ? mvsc_model_name(model, (ptrdiff_t)(-2 - labels[r]), -1) : "the scores");
        if (status == MVSC_MODEL_OK)
            status = mvsc_model_margins(model, count, scores, NULL, unlike);
        for (r = 0; r < count && status == MVSC_MODEL_OK; r++) {
            n_compared += unlike[r] >= 0;
            n_unlike += unlike[r] > 0;
        }
    }
    if (status == MVSC_MODEL_OK && n_compared > 0)
        fprintf(stderr, "%td of %td rows are unlike the fitted ones\n", n_unlike, n_compared);
    free(scores);
    free(workspace);
    free(rows);
    return status;
}

int main(int argc, char **argv)
{
    mvsc_model model;
    double **views;
    ptrdiff_t m = 0, i;
    int status = argc < 3 ? MVSC_MODEL_BAD_ARGUMENT : mvsc_model_read(&model, argv[1]);
    if (argc < 3) {
        fprintf(stderr, "usage: %s MODEL.mvsc VIEW.npy ...\n", argv[0]);
        return 2;
    }
    if (status != MVSC_MODEL_OK || argc - 2 != model.n_inputs) {
        fprintf(stderr, "%s: %s\n", argv[1], status != MVSC_MODEL_OK ? mvsc_model_strerror(status)
                                             : "give one file for each of its views, or -");
        for (i = 0; status == MVSC_MODEL_OK && i < model.n_inputs; i++)
            fprintf(stderr, "%td: %s, %td columns\n", i, mvsc_model_name(&model, i, -1),
                    mvsc_model_columns(&model, i));
        return 1;
    }
    views = calloc((size_t)model.n_inputs, sizeof *views);
    status = views != NULL && read_views(&model, argv + 2, views, &m) ? label(&model, views, m)
                                                                        : MVSC_MODEL_NO_FILE;
    for (i = 0; views != NULL && i < model.n_inputs; i++)
        free(views[i]);
    free(views);
    mvsc_model_free(&model);
    return status != MVSC_MODEL_OK;
}
