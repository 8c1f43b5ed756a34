/* Reads raw float32 similarities, and shrinks or solves them with mvsc_fast in POSIX threads. */
#define _POSIX_C_SOURCE 200809L
#include <Python.h>

#include <mvsc_fast.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JOBS = 64, NO_MEMORY = -1 };

/* What one thread works on: a tensor of its own. */
typedef struct {
    mvsc_tensor tensor;         /* what is read, shrunk, and solved */
    mvsc_tensor low_rank;       /* the solution */
    int map, n_threads;         /* for a proximal map, */
    double t;
    mvsc_tlrr_options options;  /* and for TLRR */
    mvsc_tlrr_result result;
    int status;
} job;

/* ------------------------------------------------------------------ without Python */

static void *shrink_one(void *argument)
{
    job *mine = argument;
    size_t bytes = 0;
    void *workspace;
    mine->status = mvsc_prox_workspace_size(mine->map, &mine->tensor, mine->n_threads,
                                                      &bytes);
    if (mine->status != MVSC_OK)
        return NULL;
    workspace = malloc(bytes);
    if (workspace == NULL)
        mine->status = NO_MEMORY;
    else
        mine->status = mvsc_prox(mine->map, &mine->tensor, mine->t, mine->n_threads,
                                           workspace, bytes, NULL);
    free(workspace);
    return NULL;
}

static void *solve_one(void *argument)
{
    job *mine = argument;
    mvsc_tlrr_blocks blocks = {sizeof blocks, 0, 0, 0};
    size_t count = (size_t)(mine->tensor.v * mine->tensor.n * mine->tensor.n), bytes = 0;
    ptrdiff_t *labels = malloc((size_t)mine->tensor.n * sizeof *labels);
    void *workspace = NULL;
    mine->low_rank = mine->tensor;
    mine->low_rank.data = malloc(count * sizeof(float));
    mine->result.size = sizeof mine->result;
    mine->status = NO_MEMORY;
    if (labels == NULL || mine->low_rank.data == NULL)
        goto done;

    /* Screening says how small the problem really is; without it the size is that of the worst. */
    mine->status = mvsc_tlrr_screen(&mine->tensor, &mine->options, labels, &blocks);
    if (mine->status != MVSC_OK)
        goto done;
    mine->status = mvsc_tlrr_workspace_size(&mine->tensor, &mine->options, &blocks,
                                                      &bytes);
    if (mine->status != MVSC_OK)
        goto done;
    workspace = malloc(bytes);
    if (workspace == NULL) {
        mine->status = NO_MEMORY;
        goto done;
    }
    mine->status = mvsc_tlrr_solve(&mine->tensor, &mine->options, labels, &blocks, &mine->low_rank,
                                   workspace, bytes, &mine->result);
done:
    free(workspace);
    free(labels);
    return NULL;
}

static float *read_floats(const char *path, size_t count)
{
    FILE *file = fopen(path, "rb");
    float *data = malloc(count * sizeof(float) + 1);
    size_t found = file != NULL && data != NULL ? fread(data, sizeof(float), count, file) : 0;
    if (file != NULL)
        fclose(file);
    if (found != count) {
        free(data);
        return NULL;
    }
    return data;
}

/* Every job in a thread of its own, on its own copy of the data; MVSC_OK, or what went wrong. */
static int run(job *jobs, int n_jobs, void *(*work)(void *), const float *data, size_t count)
{
    pthread_t threads[MAX_JOBS];
    int k, started = 0, status = MVSC_OK;
    for (k = 0; k < n_jobs; k++) {
        jobs[k].tensor.data = malloc(count * sizeof(float) + 1);
        if (jobs[k].tensor.data == NULL)
            break;
        memcpy(jobs[k].tensor.data, data, count * sizeof(float));
        if (pthread_create(&threads[k], NULL, work, &jobs[k]) != 0)
            break;
        started++;
    }
    for (k = 0; k < started; k++) {
        pthread_join(threads[k], NULL);
        if (jobs[k].status != MVSC_OK)
            status = jobs[k].status;
    }
    return started < n_jobs ? NO_MEMORY : status;
}

/* ------------------------------------------------------------------ Python */

/* Read the file, run copies of `model` in n_jobs threads; 0, or -1 with a Python exception. */
static int read_and_run(const char *path, const job *model, job *jobs, int n_jobs,
                        void *(*work)(void *))
{
    size_t count;
    float *data;
    int k, status;
    void *request;
    if (model->tensor.v < 0 || model->tensor.m < 0 || model->tensor.n < 0 || n_jobs < 1 ||
        n_jobs > MAX_JOBS) {
        PyErr_SetString(PyExc_ValueError, "negative extent, or not 1 to 64 jobs");
        return -1;
    }
    count = (size_t)model->tensor.v * (size_t)model->tensor.m * (size_t)model->tensor.n;
    data = read_floats(path, count);
    if (data == NULL) {
        PyErr_Format(PyExc_OSError, "%s does not hold %zu float32 numbers", path, count);
        return -1;
    }
    for (k = 0; k < n_jobs; k++)
        jobs[k] = *model;
    request = mvsc_limit_blas(1);
    if (request == NULL) {
        free(data);
        return -1;
    }
    Py_BEGIN_ALLOW_THREADS
    status = run(jobs, n_jobs, work, data, count);
    Py_END_ALLOW_THREADS
    mvsc_release_blas(request);
    free(data);
    if (status == NO_MEMORY)
        PyErr_NoMemory();
    else if (status != MVSC_OK)
        PyErr_SetString(PyExc_ValueError, mvsc_strerror(status));
    return status == MVSC_OK ? 0 : -1;
}

static void release(job *jobs, int n_jobs)
{
    int k;
    for (k = 0; k < n_jobs && k < MAX_JOBS; k++) {
        free(jobs[k].tensor.data);
        free(jobs[k].low_rank.data);
    }
}

static PyObject *bytes_of(const mvsc_tensor *tensor)
{
    return PyBytes_FromStringAndSize(tensor->data, tensor->v * tensor->m * tensor->n *
                                                       (Py_ssize_t)sizeof(float));
}

/* shrink(path, v, m, n, map, t, n_jobs, n_threads) -> list of bytes, one result for each thread */
static PyObject *shrink(PyObject *self, PyObject *args)
{
    const char *path;
    int n_jobs, k;
    job model, jobs[MAX_JOBS];
    mvsc_tensor *T = &model.tensor;
    PyObject *results = NULL;
    (void)self;
    memset(&model, 0, sizeof model);
    memset(jobs, 0, sizeof jobs);
    T->size = sizeof *T;
    T->dtype = MVSC_FLOAT32;
    if (!PyArg_ParseTuple(args, "snnnidii", &path, &T->v, &T->m, &T->n, &model.map, &model.t,
                          &n_jobs, &model.n_threads))
        return NULL;
    if (read_and_run(path, &model, jobs, n_jobs, shrink_one) == 0)
        results = PyList_New(0);
    for (k = 0; results != NULL && k < n_jobs; k++) {
        PyObject *item = bytes_of(&jobs[k].tensor);
        if (item == NULL || PyList_Append(results, item) < 0)
            Py_CLEAR(results);
        Py_XDECREF(item);
    }
    release(jobs, n_jobs);
    return results;
}

/* solve(path, v, n, solver, lam, tol, n_jobs, n_threads) -> list of (bytes, n_iter, gap, bound) */
static PyObject *solve(PyObject *self, PyObject *args)
{
    const char *path;
    int n_jobs, k;
    job model, jobs[MAX_JOBS];
    mvsc_tensor *W = &model.tensor;
    const mvsc_tlrr_options defaults = MVSC_TLRR_DEFAULTS;
    PyObject *results = NULL;
    (void)self;
    memset(&model, 0, sizeof model);
    memset(jobs, 0, sizeof jobs);
    W->size = sizeof *W;
    W->dtype = MVSC_FLOAT32;
    model.options = defaults;
    if (!PyArg_ParseTuple(args, "snniddii", &path, &W->v, &W->n, &model.options.solver,
                          &model.options.lam, &model.options.tol, &n_jobs,
                          &model.options.n_threads))
        return NULL;
    W->m = W->n;
    if (read_and_run(path, &model, jobs, n_jobs, solve_one) == 0)
        results = PyList_New(0);
    for (k = 0; results != NULL && k < n_jobs; k++) {
        PyObject *item = Py_BuildValue("Nndd", bytes_of(&jobs[k].low_rank),
                                       (Py_ssize_t)jobs[k].result.n_iter, jobs[k].result.gap,
                                       jobs[k].result.error_bound);
        if (item == NULL || PyList_Append(results, item) < 0)
            Py_CLEAR(results);
        Py_XDECREF(item);
    }
    release(jobs, n_jobs);
    return results;
}

static PyMethodDef methods[] = {
    {"shrink", shrink, METH_VARARGS, "Apply a proximal map in several threads."},
    {"solve", solve, METH_VARARGS, "Solve TLRR in several threads."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "native_c", "TLRR of mvsc_fast from C.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_native_c(void)
{
    if (mvsc_fast_import() < 0)
        return NULL;
    return PyModule_Create(&module);
}
