/* CPU time of labels: predict_times MODEL ROWS.f64 M BATCH ... prints microseconds per label.
 *
 * ROWS.f64 contains M rows of each view of the model, one view after the other. */
#include <mvsc_predict.h>
#include <time.h>

int main(int argc, char **argv)
{
    mvsc_model model;
    ptrdiff_t m = argc > 3 ? atol(argv[3]) : 0, first, i, k, calls, most;
    size_t size, total = 0;
    const void **rows;
    double *numbers;
    int64_t *labels;
    void *workspace;
    FILE *file;
    if (argc < 5 || mvsc_model_read(&model, argv[1]) != MVSC_MODEL_OK)
        return 1;
    for (i = 0; i < model.n_inputs; i++)
        total += (size_t)(m * mvsc_model_columns(&model, i));
    numbers = malloc(total * sizeof *numbers);
    labels = malloc((size_t)m * sizeof *labels);
    rows = malloc((size_t)model.n_inputs * sizeof *rows);
    size = mvsc_model_workspace(&model, m);
    workspace = malloc(size);
    file = fopen(argv[2], "rb");
    if (file == NULL || fread(numbers, sizeof *numbers, total, file) != total)
        return 1;
    fclose(file);
    for (k = 4; k < argc; k++) {
        ptrdiff_t batch = atol(argv[k]);
        clock_t start = clock();
        most = batch < 100 ? 100 / batch + 1 : 1;
        for (first = 0, calls = 0; first + batch <= m && calls < most; first += batch, calls++) {
            double *view = numbers;
            for (i = 0; i < model.n_inputs; i++) {
                rows[i] = view + first * mvsc_model_columns(&model, i);
                view += m * mvsc_model_columns(&model, i);
            }
            if (mvsc_model_predict(&model, batch, rows, MVSC_ROWS_FLOAT64, workspace, size, NULL,
                                   labels + first) != MVSC_MODEL_OK)
                return 1;
        }
        printf("%.2f ", 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / (double)(calls * batch));
    }
    return 0;
}
