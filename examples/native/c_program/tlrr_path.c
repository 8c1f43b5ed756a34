/* A plain C program that solves TLRR for several lam at a time, each in a POSIX thread.
 *
 *     tlrr_path FILE V N LAM...
 *
 * FILE holds V x N x N float32 similarities. The k-th solution goes to FILE.k, its figures to the
 * standard output. Python is embedded only to find the functions: the threads know nothing of it. */
#include <Python.h>

#include <mvsc_fast.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JOBS = 64, NO_MEMORY = -1, NO_FILE = -2 };

/* What one thread works on. */
typedef struct {
    mvsc_tensor W;              /* read by all threads */
    mvsc_tlrr_options options;
    mvsc_tlrr_result result;
    char path[4096];            /* of the solution */
    int status;
} job;

static const char *message(int status)
{
    if (status == NO_MEMORY)
        return "out of memory";
    if (status == NO_FILE)
        return "the file cannot be read or written, or has too few numbers";
    return mvsc_strerror(status);
}

static int write_floats(const char *path, const float *data, size_t count)
{
    FILE *file = fopen(path, "wb");
    size_t written = file == NULL ? 0 : fwrite(data, sizeof *data, count, file);
    return file == NULL || fclose(file) != 0 || written != count ? NO_FILE : MVSC_OK;
}

static void *solve(void *argument)
{
    job *mine = argument;
    size_t n = (size_t)mine->W.n, count = (size_t)mine->W.v * n * n, bytes = 0;
    mvsc_tlrr_blocks blocks = {sizeof blocks, 0, 0, 0};
    ptrdiff_t *labels = malloc(n * sizeof *labels);
    void *workspace = NULL;
    mvsc_tensor L = mine->W;
    L.data = malloc(count * sizeof(float));
    mine->status = NO_MEMORY;
    if (labels == NULL || L.data == NULL)
        goto done;
    mine->status = mvsc_tlrr_screen(&mine->W, &mine->options, labels, &blocks);
    if (mine->status != MVSC_OK)
        goto done;
    mine->status = mvsc_tlrr_workspace_size(&mine->W, &mine->options, &blocks, &bytes);
    if (mine->status != MVSC_OK)
        goto done;
    workspace = malloc(bytes);
    if (workspace == NULL)
        mine->status = NO_MEMORY;
    else
        mine->status = mvsc_tlrr_solve(&mine->W, &mine->options, labels, &blocks, &L, workspace,
                                       bytes, &mine->result);
    if (mine->status == MVSC_OK)
        mine->status = write_floats(mine->path, L.data, count);
done:
    free(workspace);
    free(L.data);
    free(labels);
    return NULL;
}

static int read_floats(const char *path, float *data, size_t count)
{
    FILE *file = fopen(path, "rb");
    size_t found = file == NULL ? 0 : fread(data, sizeof *data, count, file);
    if (file != NULL)
        fclose(file);
    return found == count ? MVSC_OK : NO_FILE;
}

/* All jobs side by side; how many there were threads for. */
static int run(job *jobs, int n_jobs)
{
    pthread_t threads[MAX_JOBS];
    int k, started = 0;
    while (started < n_jobs && pthread_create(&threads[started], NULL, solve, &jobs[started]) == 0)
        started++;
    for (k = 0; k < started; k++)
        pthread_join(threads[k], NULL);
    return started;
}

/* The Python side: find the functions, keep BLAS to the threads it is called from, let go of the
 * GIL. How many jobs were done, or -1 with a Python exception. */
static int run_with_python(job *jobs, int n_jobs)
{
    PyThreadState *python;
    void *request;
    int done;
    if (mvsc_fast_import() < 0 || (request = mvsc_limit_blas(1)) == NULL)
        return -1;
    python = PyEval_SaveThread();
    done = run(jobs, n_jobs);
    PyEval_RestoreThread(python);
    mvsc_release_blas(request);
    return done;
}

int main(int argc, char **argv)
{
    static job jobs[MAX_JOBS];
    const mvsc_tlrr_options defaults = MVSC_TLRR_DEFAULTS;
    int n_jobs = argc - 4, k, done, failures = 0;
    ptrdiff_t v = argc > 2 ? atol(argv[2]) : 0, n = argc > 3 ? atol(argv[3]) : 0;
    size_t count = (size_t)v * (size_t)n * (size_t)n;
    float *data;
    if (v < 1 || n < 1 || n_jobs < 1 || n_jobs > MAX_JOBS) {
        fprintf(stderr, "usage: %s FILE V N LAM...   (1 to %d of them)\n", argv[0], MAX_JOBS);
        return 2;
    }
    data = malloc(count * sizeof *data);
    if (data == NULL || read_floats(argv[1], data, count) != MVSC_OK) {
        fprintf(stderr, "%s: %s\n", argv[1], message(data == NULL ? NO_MEMORY : NO_FILE));
        free(data);
        return 1;
    }
    for (k = 0; k < n_jobs; k++) {
        jobs[k].W = (mvsc_tensor){sizeof(mvsc_tensor), data, v, n, n, MVSC_FLOAT32};
        jobs[k].options = defaults;
        jobs[k].options.lam = atof(argv[4 + k]);
        jobs[k].result.size = sizeof jobs[k].result;
        snprintf(jobs[k].path, sizeof jobs[k].path, "%s.%d", argv[1], k);
    }

    Py_InitializeEx(0);
    done = run_with_python(jobs, n_jobs);
    if (done < 0)
        PyErr_Print();
    for (k = 0; k < n_jobs && done >= 0; k++) {
        const mvsc_tlrr_result *result = &jobs[k].result;
        int status = k < done ? jobs[k].status : NO_MEMORY;
        if (status == MVSC_OK)
            printf("%s %s %td %td %.17g %.17g\n", jobs[k].path, argv[4 + k], result->n_blocks,
                   result->n_iter, result->gap, result->error_bound);
        else
            fprintf(stderr, "lam = %s: %s\n", argv[4 + k], message(status));
        failures += status != MVSC_OK;
    }
    free(data);
    return Py_FinalizeEx() < 0 || done < 0 || failures > 0;
}
