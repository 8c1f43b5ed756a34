/* A client that was compiled for version 1, and must run with every later one.
 *
 * Neither this file nor the header beside it follows the package: what they do is what callers
 * rely on. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "mvsc_fast.h"
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, FILL = 0xA5 };

/* A struct of the interface between bytes that are not the library's: a later field there is
 * neither to be read nor to be written. */
#define GUARDED(type)                  \
    struct {                           \
        unsigned char before[GUARD];   \
        type value;                    \
        unsigned char after[GUARD];    \
    }

static int intact(const unsigned char *guard)
{
    int k;
    for (k = 0; k < GUARD; k++)
        if (guard[k] != FILL)
            return 0;
    return 1;
}

#define INTACT(x) (intact((x).before) && intact((x).after))
#define FILLED(x) memset(&(x), FILL, sizeof(x))

/* prox(map, data, v, m, n, t, change) -> (status, bytes, intact), with a size field of `change` bytes
 * more than version 1 has */
static PyObject *prox(PyObject *self, PyObject *args)
{
    int map, status;
    Py_ssize_t v, m, n, change;
    double t;
    Py_buffer data;
    size_t bytes = 0;
    void *workspace, *copy;
    ptrdiff_t *counts;
    GUARDED(mvsc_tensor) T;
    PyObject *answer;
    (void)self;

    if (!PyArg_ParseTuple(args, "iy*nnndn", &map, &data, &v, &m, &n, &t, &change))
        return NULL;
    copy = malloc((size_t)data.len);
    counts = malloc((size_t)(v + m + 1) * sizeof *counts);
    memcpy(copy, data.buf, (size_t)data.len);
    FILLED(T);
    T.value = (mvsc_tensor){sizeof(mvsc_tensor) + (size_t)change, copy, v, m, n, MVSC_FLOAT64};
    status = mvsc_prox_workspace_size(map, &T.value, 2, &bytes);
    workspace = malloc(bytes);
    if (status == MVSC_OK)
        status = mvsc_prox(map, &T.value, t, 2, workspace, bytes, counts);
    answer = Py_BuildValue("iy#i", status, copy, data.len, INTACT(T));
    free(workspace);
    free(counts);
    free(copy);
    PyBuffer_Release(&data);
    return answer;
}

typedef struct {
    Py_ssize_t calls, iteration;
    double gap, residual, mu;
    int grew;                   /* the library's state is at least that of version 1 */
} watcher;

static int watch(const mvsc_tlrr_state *state, void *context)
{
    watcher *w = context;
    w->calls++;
    w->iteration = state->iteration;
    w->gap = state->gap;
    w->mu = state->mu;
    w->residual = state->residual;
    w->grew = state->size >= sizeof *state;
    return 0;
}

/* tlrr(data, v, n, solver, which, change) -> dict; `change` is added to the size field of one struct:
 * 1 of W, 2 of the options, 3 of L, 4 of the result, 5 of the blocks, 0 of none */
static PyObject *tlrr(PyObject *self, PyObject *args)
{
    Py_buffer data;
    Py_ssize_t v, n, change;
    int solver, which, status;
    size_t bytes = 0, length;
    void *workspace, *solution, *request;
    ptrdiff_t *labels;
    GUARDED(mvsc_tensor) W;
    GUARDED(mvsc_tensor) L;
    GUARDED(mvsc_tlrr_options) options;
    GUARDED(mvsc_tlrr_blocks) blocks;
    GUARDED(mvsc_tlrr_result) result;
    const mvsc_tlrr_options defaults = MVSC_TLRR_DEFAULTS;
    watcher w = {0, 0, 0.0, 0.0, 0.0, 0};
    PyObject *answer;
    (void)self;

    if (!PyArg_ParseTuple(args, "y*nniin", &data, &v, &n, &solver, &which, &change))
        return NULL;
    length = (size_t)data.len;
    solution = calloc(length, 1);
    labels = calloc((size_t)n, sizeof *labels);
    FILLED(W), FILLED(L), FILLED(options), FILLED(blocks), FILLED(result);
    W.value = (mvsc_tensor){sizeof(mvsc_tensor), data.buf, v, n, n, MVSC_FLOAT64};
    L.value = (mvsc_tensor){sizeof(mvsc_tensor), solution, v, n, n, MVSC_FLOAT64};
    options.value = defaults;
    options.value.solver = solver;
    options.value.lam = 2.0;
    options.value.progress = watch;
    options.value.context = &w;
    blocks.value.size = sizeof(mvsc_tlrr_blocks);
    result.value.size = sizeof(mvsc_tlrr_result);
    W.value.size += which == 1 ? (size_t)change : 0;
    options.value.size += which == 2 ? (size_t)change : 0;
    L.value.size += which == 3 ? (size_t)change : 0;
    result.value.size += which == 4 ? (size_t)change : 0;
    blocks.value.size += which == 5 ? (size_t)change : 0;

    status = mvsc_tlrr_screen(&W.value, &options.value, labels, &blocks.value);
    if (status == MVSC_OK)
        status = mvsc_tlrr_workspace_size(&W.value, &options.value, &blocks.value, &bytes);
    workspace = malloc(bytes);
    request = mvsc_limit_blas(1);
    if (status == MVSC_OK)
        status = mvsc_tlrr_solve(&W.value, &options.value, labels, &blocks.value, &L.value,
                                 workspace, bytes, &result.value);
    mvsc_release_blas(request);
    answer = Py_BuildValue(
        "{s:i,s:s,s:i,s:y#,s:y#,s:n,s:n,s:n,s:n,s:i,s:d,s:d,s:n,s:n,s:i,s:d,s:d,s:d}", "status",
        status, "message", mvsc_strerror(status), "intact",
        INTACT(W) && INTACT(L) && INTACT(options) && INTACT(blocks) && INTACT(result), "L",
        solution, data.len, "labels", labels, n * (Py_ssize_t)sizeof *labels, "n_blocks",
        (Py_ssize_t)blocks.value.n_blocks, "n_tubes", (Py_ssize_t)blocks.value.n_tubes,
        "result_size", (Py_ssize_t)result.value.size - (Py_ssize_t)sizeof(mvsc_tlrr_result),
        "n_iter", (Py_ssize_t)result.value.n_iter, "converged", result.value.converged, "gap",
        result.value.gap, "error_bound", result.value.error_bound, "calls", w.calls, "iteration",
        w.iteration, "grew", w.grew, "state_gap", w.gap, "state_residual", w.residual, "state_mu",
        w.mu);
    free(workspace);
    free(labels);
    free(solution);
    PyBuffer_Release(&data);
    return answer;
}

/* version() -> (of the client, of the library) */
static PyObject *version(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_BuildValue("ii", MVSC_API_VERSION, mvsc_fast_api->version);
}

static PyMethodDef methods[] = {
    {"prox", prox, METH_VARARGS, "Apply a proximal map."},
    {"tlrr", tlrr, METH_VARARGS, "Screen and solve a TLRR problem."},
    {"version", version, METH_NOARGS, "Versions of the client and the library."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "native_client", "A client of version 1.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_native_client(void)
{
    if (mvsc_fast_import() < 0)
        return NULL;
    return PyModule_Create(&module);
}
