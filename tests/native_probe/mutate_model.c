/* Loads model files after random changes, with right checksums, and predicts from those that load.
 *
 *     mutate_model COUNT MODEL ...
 *
 * Prints how many of COUNT changed files of each model were accepted. */
#include <mvsc_predict.h>

static int predict(const mvsc_model *model)
{
    enum { M = 3 };
    size_t size = mvsc_model_workspace(model, M), total = 0, k;
    const void **rows;
    double *numbers;
    float *scores;
    float margins[M];
    int8_t unlike[M];
    int64_t labels[M];
    void *workspace;
    ptrdiff_t i;
    int status;
    for (i = 0; i < model->n_inputs; i++)
        total += M * (size_t)mvsc_model_columns(model, i);
    if (size > 1 << 26 || total > 1 << 22 || model->n_clusters > 1 << 20)
        return 0;       /* too large for a test */
    rows = malloc((size_t)model->n_inputs * sizeof *rows);
    numbers = malloc(total * sizeof *numbers + 1);
    scores = malloc(M * (size_t)model->n_clusters * sizeof *scores);
    workspace = malloc(size);
    for (k = 0; k < total; k++)
        numbers[k] = k % 37 == 5 ? NAN : (double)(k % 11) - 4.5;
    for (i = 0, total = 0; i < model->n_inputs; i++) {
        rows[i] = numbers + total;
        total += M * (size_t)mvsc_model_columns(model, i);
        (void)mvsc_model_name(model, i, 0);
    }
    status = mvsc_model_predict(model, M, rows, MVSC_ROWS_FLOAT64, workspace, size, scores, labels);
    if (mvsc_model_margins(model, M, scores, margins, unlike) != MVSC_MODEL_OK)
        abort();
    free(workspace);
    free(scores);
    free(numbers);
    free((void *)rows);
    return status == MVSC_MODEL_OK || status == MVSC_MODEL_NOT_FINITE;
}

/* Whether bytes, which are given a right size and checksum, are a model. */
static int try_model(unsigned char *bytes, size_t size)
{
    mvsc_model model;
    uint64_t sum;
    int64_t length = (int64_t)size;
    memcpy(bytes + 8 * MVSC_AT_SIZE, &length, 8);
    sum = mvsc_model_checksum(bytes, size);
    memcpy(bytes + 8 * MVSC_AT_CHECKSUM, &sum, 8);
    return mvsc_model_load(&model, bytes, size) == MVSC_MODEL_OK && (predict(&model), 1);
}

static uint64_t state = 1;

static uint64_t next(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* Change one to four numbers, most of them in the head and the records. */
static void mutate(unsigned char *bytes, size_t size, ptrdiff_t n_views)
{
    static const int64_t numbers[] = {0, 1, -1, 64, 127, 128, 1 << 20, INT32_MAX, INT64_MAX};
    uint64_t top = 8 * (uint64_t)(MVSC_HEAD + n_views * MVSC_RECORD), changes = 1 + next(4);
    for (; changes > 0; changes--) {
        uint64_t place = next(next(4) ? top : size), how = next(4);
        int64_t number;
        memcpy(&number, bytes + place / 8 * 8, 8);
        if (how == 0)
            bytes[place] ^= (unsigned char)(1 << next(8));
        else {
            number = how == 1 ? numbers[next(9)] : number;
            if (how > 1 && number > -(INT64_C(1) << 62) && number < INT64_C(1) << 62)
                number += how == 2 ? 64 * ((int64_t)next(9) - 4) : (int64_t)next(5) - 2;
            memcpy(bytes + place / 8 * 8, &number, 8);
        }
    }
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 0, k;
    int i;
    for (i = 2; i < argc; i++) {
        mvsc_model model;
        size_t size;
        long accepted = 0;
        if (mvsc_model_read(&model, argv[i]) != MVSC_MODEL_OK)
            return 2;
        size = (size_t)mvsc_number(model.bytes, MVSC_AT_SIZE);
        for (k = 0; k < count; k++) {
            size_t kept = next(20) ? size : (size_t)next(size / 8 + 1) * 8;
            unsigned char *bytes = malloc(size);        /* of its size, for the sanitizer */
            memcpy(bytes, model.bytes, size);
            mutate(bytes, size, model.n_views);
            if (kept < size) {
                unsigned char *less = malloc(kept + 1);
                memcpy(less, bytes, kept);
                free(bytes);
                bytes = less;
            }
            if (kept >= 8 * MVSC_HEAD)
                accepted += try_model(bytes, kept);
            free(bytes);
        }
        printf("%ld of %ld\n", accepted, count);
        mvsc_model_free(&model);
    }
    return 0;
}
