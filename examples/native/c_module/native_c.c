/* Reads a raw float32 tensor and applies one map of mvsc_fast to it in several POSIX threads. */
#define _POSIX_C_SOURCE 200809L
#include <Python.h>

#include <mvsc_fast.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JOBS = 64 };

typedef struct {
    int map, n_threads, status;
    double t;
    mvsc_tensor tensor;
} job;

/* One thread: its own copy of the tensor, its own workspace, no Python. */
static void *work(void *argument)
{
    job *mine = argument;
    size_t bytes = 0;
    void *workspace;
    mine->status = mvsc_fast_api->prox_workspace_size(mine->map, &mine->tensor, mine->n_threads,
                                                      &bytes);
    if (mine->status != MVSC_OK)
        return NULL;
    workspace = malloc(bytes);
    if (workspace == NULL) {
        mine->status = -1;
        return NULL;
    }
    mine->status = mvsc_fast_api->prox(mine->map, &mine->tensor, mine->t, mine->n_threads,
                                       workspace, bytes, NULL);
    free(workspace);
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

/* shrink(path, v, m, n, map, t, n_jobs, n_threads) -> list of bytes, one result for each thread */
static PyObject *shrink(PyObject *self, PyObject *args)
{
    const char *path;
    Py_ssize_t v, m, n;
    int map, n_jobs, n_threads, k, started = 0, status = MVSC_OK;
    double t;
    float *data;
    size_t count;
    job jobs[MAX_JOBS];
    pthread_t threads[MAX_JOBS];
    PyObject *results = NULL;
    (void)self;

    if (!PyArg_ParseTuple(args, "snnnidii", &path, &v, &m, &n, &map, &t, &n_jobs, &n_threads))
        return NULL;
    if (v < 0 || m < 0 || n < 0 || n_jobs < 1 || n_jobs > MAX_JOBS) {
        PyErr_SetString(PyExc_ValueError, "negative extent, or not 1 to 64 jobs");
        return NULL;
    }
    count = (size_t)v * (size_t)m * (size_t)n;
    data = read_floats(path, count);
    if (data == NULL) {
        PyErr_Format(PyExc_OSError, "%s does not hold %zu float32 numbers", path, count);
        return NULL;
    }
    memset(jobs, 0, sizeof jobs);
    Py_BEGIN_ALLOW_THREADS
    for (k = 0; k < n_jobs; k++) {
        float *copy = malloc(count * sizeof(float) + 1);
        if (copy == NULL)
            break;
        memcpy(copy, data, count * sizeof(float));
        jobs[k].map = map;
        jobs[k].t = t;
        jobs[k].n_threads = n_threads;
        jobs[k].tensor = (mvsc_tensor){sizeof(mvsc_tensor), copy, v, m, n, MVSC_FLOAT32};
        if (pthread_create(&threads[k], NULL, work, &jobs[k]) != 0) {
            free(copy);
            jobs[k].tensor.data = NULL;
            break;
        }
        started++;
    }
    for (k = 0; k < started; k++) {
        pthread_join(threads[k], NULL);
        if (jobs[k].status != MVSC_OK)
            status = jobs[k].status;
    }
    Py_END_ALLOW_THREADS
    free(data);
    if (started < n_jobs || status == -1)
        PyErr_NoMemory();
    else if (status != MVSC_OK)
        PyErr_SetString(PyExc_ValueError, mvsc_fast_api->strerror(status));
    else
        results = PyList_New(n_jobs);
    for (k = 0; k < started; k++) {
        if (results != NULL) {
            PyObject *item = PyBytes_FromStringAndSize(jobs[k].tensor.data,
                                                       (Py_ssize_t)(count * sizeof(float)));
            if (item == NULL)
                Py_CLEAR(results);
            else
                PyList_SET_ITEM(results, k, item);
        }
        free(jobs[k].tensor.data);
    }
    return results;
}

/* layout() -> sizes and offsets of the structs, for the test of the binary interface */
static PyObject *layout(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_BuildValue("{s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:i}",
                         "tensor", (Py_ssize_t)sizeof(mvsc_tensor),
                         "tensor.data", (Py_ssize_t)offsetof(mvsc_tensor, data),
                         "tensor.v", (Py_ssize_t)offsetof(mvsc_tensor, v),
                         "tensor.dtype", (Py_ssize_t)offsetof(mvsc_tensor, dtype),
                         "api", (Py_ssize_t)sizeof(mvsc_api),
                         "api.strerror", (Py_ssize_t)offsetof(mvsc_api, strerror),
                         "api.prox_workspace_size",
                         (Py_ssize_t)offsetof(mvsc_api, prox_workspace_size),
                         "api.prox", (Py_ssize_t)offsetof(mvsc_api, prox),
                         "version", mvsc_fast_api->version);
}

/* probe(map, size, data, v, m, n, dtype, t, n_threads, spare) -> (status, message, intact)
 *
 * Calls `prox` on a copy of the bytes `data` (None: a null pointer) with a struct of `size` bytes and
 * `spare` bytes of workspace more or less than asked for; `intact` says that no byte beyond the data
 * and the workspace was touched. */
static PyObject *probe(PyObject *self, PyObject *args)
{
    int map, dtype, n_threads, status, intact = 1;
    Py_ssize_t size, v, m, n, spare, k;
    double t;
    Py_buffer buffer = {0};
    size_t bytes = 0;
    enum { GUARD = 4096 };
    unsigned char *data = NULL, *workspace;
    mvsc_tensor tensor;
    (void)self;

    if (!PyArg_ParseTuple(args, "inz*nnnidin", &map, &size, &buffer, &v, &m, &n, &dtype, &t,
                          &n_threads, &spare))
        return NULL;
    tensor = (mvsc_tensor){(size_t)size, NULL, v, m, n, dtype};
    if (buffer.buf != NULL) {
        data = malloc((size_t)buffer.len + 2 * GUARD);
        memset(data, 0xA5, (size_t)buffer.len + 2 * GUARD);
        memcpy(data + GUARD, buffer.buf, (size_t)buffer.len);
        tensor.data = data + GUARD;
    }
    status = mvsc_fast_api->prox_workspace_size(map, &tensor, n_threads, &bytes);
    if (bytes > (size_t)1 << 30)
        bytes = 0;
    bytes = spare < 0 && (size_t)-spare > bytes ? 0 : bytes + (size_t)spare;
    workspace = malloc(bytes + 2 * GUARD);
    memset(workspace, 0x5A, bytes + 2 * GUARD);
    Py_BEGIN_ALLOW_THREADS
    status = mvsc_fast_api->prox(map, &tensor, t, n_threads, workspace + GUARD, bytes, NULL);
    Py_END_ALLOW_THREADS
    for (k = 0; k < GUARD; k++) {
        intact &= workspace[k] == 0x5A && workspace[GUARD + bytes + (size_t)k] == 0x5A;
        if (data != NULL)
            intact &= data[k] == 0xA5 && data[GUARD + buffer.len + k] == 0xA5;
    }
    free(workspace);
    free(data);
    PyBuffer_Release(&buffer);
    return Py_BuildValue("isi", status, mvsc_fast_api->strerror(status), intact);
}

static PyMethodDef methods[] = {
    {"shrink", shrink, METH_VARARGS, "Apply a map in several threads."},
    {"layout", layout, METH_NOARGS, "Sizes and offsets of the structs."},
    {"probe", probe, METH_VARARGS, "Call prox with anything."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "native_c", "Proximal maps of mvsc_fast from C.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_native_c(void)
{
    if (mvsc_fast_import() < 0)
        return NULL;
    return PyModule_Create(&module);
}
