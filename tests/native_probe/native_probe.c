/* Calls the C interface with anything, and sees which memory it touches and asks for. */
#define PY_SSIZE_T_CLEAN
#include <Python.h> /* defines _GNU_SOURCE */

#include <dlfcn.h>
#include <mvsc_fast.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GUARD = 4096 };

/* ------------------------------------------------------------------ binary interface */

#define FIELD(type, name) #type "." #name, (Py_ssize_t)offsetof(mvsc_##type, name)
#define SIZE(type) #type, (Py_ssize_t)sizeof(mvsc_##type)

/* layout() -> sizes and offsets of the structs */
static PyObject *layout(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return Py_BuildValue(
        "{s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,"
        "s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:i}",
        SIZE(tensor), FIELD(tensor, data), FIELD(tensor, v), FIELD(tensor, dtype),
        SIZE(tlrr_state), FIELD(tlrr_state, converged), FIELD(tlrr_state, residual),
        FIELD(tlrr_state, ranks), SIZE(tlrr_options), FIELD(tlrr_options, n_threads),
        FIELD(tlrr_options, max_iter), FIELD(tlrr_options, progress),
        FIELD(tlrr_options, context), FIELD(tlrr_options, sample_weight), SIZE(tlrr_blocks),
        FIELD(tlrr_blocks, n_tubes),
        SIZE(tlrr_result), FIELD(tlrr_result, stopped), FIELD(tlrr_result, gap),
        FIELD(tlrr_result, eigen_seconds), SIZE(api), FIELD(api, strerror),
        FIELD(api, prox_workspace_size), FIELD(api, prox), FIELD(api, tlrr_screen),
        FIELD(api, tlrr_workspace_size), FIELD(api, tlrr_solve), FIELD(api, limit_blas),
        FIELD(api, release_blas),
        "version", mvsc_fast_api->version);
}

/* The signatures of the table; a change of the header does not compile. */
static void check_signatures(void)
{
    const char *(*error)(int) = mvsc_strerror;
    int (*prox_size)(int, const mvsc_tensor *, int, size_t *) = mvsc_prox_workspace_size;
    int (*map)(int, mvsc_tensor *, double, int, void *, size_t, ptrdiff_t *) = mvsc_prox;
    int (*screen)(const mvsc_tensor *, const mvsc_tlrr_options *, ptrdiff_t *,
                  mvsc_tlrr_blocks *) = mvsc_tlrr_screen;
    int (*size)(const mvsc_tensor *, const mvsc_tlrr_options *, const mvsc_tlrr_blocks *,
                size_t *) = mvsc_tlrr_workspace_size;
    int (*solve)(const mvsc_tensor *, const mvsc_tlrr_options *, const ptrdiff_t *,
                 const mvsc_tlrr_blocks *, mvsc_tensor *, void *, size_t, mvsc_tlrr_result *) =
        mvsc_tlrr_solve;
    void *(*limit)(int) = mvsc_limit_blas;
    void (*release)(void *) = mvsc_release_blas;
    (void)error, (void)prox_size, (void)map, (void)screen, (void)size, (void)solve, (void)limit,
        (void)release;
}

/* defaults() -> the options of MVSC_TLRR_DEFAULTS */
static PyObject *defaults(PyObject *self, PyObject *unused)
{
    const mvsc_tlrr_options o = MVSC_TLRR_DEFAULTS;
    (void)self;
    (void)unused;
    return Py_BuildValue("{s:i,s:i,s:d,s:d,s:d,s:d,s:n,s:d,s:d,s:d}", "solver", o.solver,
                         "n_threads", o.n_threads, "omega1", o.omega1, "alpha", o.alpha, "lam",
                         o.lam, "tol", o.tol, "max_iter", (Py_ssize_t)o.max_iter, "mu", o.mu,
                         "rho", o.rho, "mu_max", o.mu_max);
}

/* ------------------------------------------------------------------ guarded memory */

/* Memory with guards of `fill` on both sides, holding a copy of `source` unless it is NULL. */
static unsigned char *guarded(const void *source, size_t bytes, int fill)
{
    unsigned char *memory = malloc(bytes + 2 * GUARD);
    memset(memory, fill, bytes + 2 * GUARD);
    if (source != NULL)
        memcpy(memory + GUARD, source, bytes);
    return memory;
}

static int intact(const unsigned char *memory, size_t bytes, int fill)
{
    size_t k;
    for (k = 0; memory != NULL && k < GUARD; k++)
        if (memory[k] != fill || memory[GUARD + bytes + k] != fill)
            return 0;
    return 1;
}

/* How many bytes of guarded memory there are up to the last that is not `fill`. */
static size_t touched(const unsigned char *memory, size_t bytes, int fill)
{
    while (bytes > 0 && memory[GUARD + bytes - 1] == fill)
        bytes--;
    return bytes;
}

static size_t with_spare(size_t bytes, Py_ssize_t spare)
{
    if (bytes > (size_t)1 << 30)
        bytes = 0;
    return spare < 0 && (size_t)-spare > bytes ? 0 : bytes + (size_t)spare;
}

/* prox(map, size, data, v, m, n, dtype, t, n_threads, spare, which)
 *     -> (status, message, intact, data, counts)
 *
 * On a copy of the bytes `data` (None: a null pointer), with a struct of `size` bytes and `spare`
 * bytes of workspace more or less than asked for. There is room for as many counts as there are
 * numbers in the data. `which` 1 is a workspace that begins in the data, 2 counts that do. */
static PyObject *prox(PyObject *self, PyObject *args)
{
    int map, n_threads, which, status, untouched;
    Py_ssize_t size, v, m, n, dtype, spare;
    double t;
    Py_buffer buffer = {0};
    size_t bytes = 0, length, room;
    unsigned char *data = NULL, *workspace, *counts;
    void *begin, *counted;
    mvsc_tensor tensor;
    PyObject *answer;
    (void)self;

    if (!PyArg_ParseTuple(args, "inz*nnnndini", &map, &size, &buffer, &v, &m, &n, &dtype, &t,
                          &n_threads, &spare, &which))
        return NULL;
    tensor = (mvsc_tensor){(size_t)size, NULL, v, m, n, dtype};
    length = (size_t)buffer.len;
    room = length / sizeof(float) * sizeof(ptrdiff_t);
    if (buffer.buf != NULL) {
        data = guarded(buffer.buf, length, 0xA5);
        tensor.data = data + GUARD;
    }
    mvsc_prox_workspace_size(map, &tensor, n_threads, &bytes);
    bytes = with_spare(bytes, spare);
    workspace = guarded(NULL, bytes, 0x5A);
    counts = guarded(NULL, room, 0xC3);
    begin = which == 1 ? data + GUARD + length - 1 : workspace + GUARD;
    counted = which == 2 ? data + GUARD + length - 8 : counts + GUARD;
    Py_BEGIN_ALLOW_THREADS
    status = mvsc_prox(map, &tensor, t, n_threads, begin, bytes, counted);
    Py_END_ALLOW_THREADS
    untouched = intact(workspace, bytes, 0x5A) && intact(data, length, 0xA5) &&
                intact(counts, room, 0xC3);
    answer = Py_BuildValue("isiy#y#", status, mvsc_strerror(status), untouched,
                           data == NULL ? "" : (const char *)data + GUARD, (Py_ssize_t)length,
                           counts + GUARD, (Py_ssize_t)touched(counts, room, 0xC3));
    free(workspace);
    free(counts);
    free(data);
    PyBuffer_Release(&buffer);
    return answer;
}

/* ------------------------------------------------------------------ TLRR */

typedef struct {
    Py_ssize_t stop_after, calls;
} watcher;

static int watch(const mvsc_tlrr_state *state, void *context)
{
    watcher *w = context;
    (void)state;
    w->calls++;
    return w->stop_after >= 0 && w->calls >= w->stop_after;
}

/* count_malloc.c, if it is preloaded */
static void (*count_start)(void);
static size_t (*count_stop)(void);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* tlrr(data, v, m, n, dtype, which, solver, n_threads, omega1, alpha, lam, tol, max_iter, mu, rho,
 *      mu_max, stop_after, screened, spare, weights) -> dict
 *
 * On a copy of the bytes `data` (None: a null pointer). `which` adds to the size field of one struct:
 * 1 of W, 2 of the options, 3 of L, 4 of the result, 5 of the blocks, 0 of none; 6 is a null pointer
 * for L's data, and 7 W's data for L's; 8 leaves out the blocks, 9 moves a label, 10 makes the largest
 * block smaller than it is; 11 is an L that begins at the last byte of W, 12 a workspace that begins
 * at the last of L, 13 labels that end in L; 14 are options that end before their optional fields, of
 * which the memory is not initialised, and 15 to 21 options that end inside of the first of these.
 * `screened`: hand on labels and blocks. */
static PyObject *tlrr(PyObject *self, PyObject *args)
{
    Py_buffer buffer = {0}, weights = {0};
    Py_ssize_t stop_after, spare;
    int which, screened, known, status, screen_status, size_status, untouched;
    mvsc_tensor W = {sizeof W, NULL, 0, 0, 0, 0}, L;
    mvsc_tlrr_options options = MVSC_TLRR_DEFAULTS;
    mvsc_tlrr_blocks blocks = {sizeof blocks, 0, 0, 0};
    mvsc_tlrr_result result = {0};
    watcher w = {-1, 0};
    size_t bytes = 0, asked, length, inside = 0, size = 0, used;
    unsigned char *data = NULL, *out = NULL, *workspace;
    ptrdiff_t *labels;
    double seconds;
    void *request;
    PyObject *answer;
    (void)self;

    if (!PyArg_ParseTuple(args, "z*nnnniiiddddndddninz*", &buffer, &W.v, &W.m, &W.n, &W.dtype, &which,
                          &options.solver, &options.n_threads, &options.omega1, &options.alpha,
                          &options.lam, &options.tol, &options.max_iter, &options.mu, &options.rho,
                          &options.mu_max, &stop_after, &screened, &spare, &weights))
        return NULL;
    w.stop_after = stop_after;
    options.progress = watch;
    options.context = &w;
    options.sample_weight = weights.buf;
    result.size = sizeof result;
    length = (size_t)buffer.len;
    if (buffer.buf != NULL) {
        data = guarded(buffer.buf, length, 0xA5);
        out = guarded(buffer.buf, length, 0xC3);
        W.data = data + GUARD;
    }
    L = W;
    L.data = out == NULL ? NULL : out + GUARD;
    W.size += which == 1;
    options.size += which == 2;
    L.size += which == 3;
    result.size += which == 4;
    blocks.size += which == 5;
    if (which == 6)
        L.data = NULL;
    if (which == 7)
        L.data = W.data;
    if (which == 11)
        L.data = data + GUARD + length - 1;
    if (which == 14) {
        options.size = offsetof(mvsc_tlrr_options, sample_weight);
        memset(&options.sample_weight, 0xA5, sizeof options.sample_weight);
    }
    if (which > 14)
        options.size = offsetof(mvsc_tlrr_options, sample_weight) + (size_t)which - 14;
    labels = calloc(length / sizeof(float) + 1, sizeof *labels);
    screen_status = mvsc_tlrr_screen(&W, &options, labels, &blocks);
    known = screened && screen_status == MVSC_OK;
    size_status = mvsc_tlrr_workspace_size(&W, &options, known ? &blocks : NULL, &bytes);
    labels[0] += which == 9;
    blocks.largest -= which == 10;
    asked = bytes;
    bytes = with_spare(bytes, spare);
    workspace = guarded(NULL, bytes, 0x5A);
    request = mvsc_limit_blas(1);
    Py_BEGIN_ALLOW_THREADS
    seconds = now();
    if (count_start != NULL)
        count_start();
    status = mvsc_tlrr_solve(&W, &options,
                             !known ? NULL : which == 13 ? (ptrdiff_t *)(out + GUARD) : labels,
                             known && which != 8 ? &blocks : NULL, &L,
                             which == 12 ? out + GUARD + length - 1 : workspace + GUARD, bytes,
                             &result);
    if (count_stop != NULL)
        inside = count_stop();
    seconds = now() - seconds;
    Py_END_ALLOW_THREADS
    mvsc_release_blas(request);
    used = touched(workspace, bytes, 0x5A);
    untouched = intact(workspace, bytes, 0x5A) && intact(data, length, 0xA5) &&
                intact(out, length, 0xC3);
    if (data != NULL)
        untouched &= memcmp(data + GUARD, buffer.buf, length) == 0;
    if (screen_status == MVSC_OK)
        size = (size_t)W.n;
    answer = Py_BuildValue(
        "{s:i,s:i,s:i,s:s,s:i,s:K,s:K,s:K,s:y#,s:y#,s:n,s:n,s:n,s:i,s:i,s:d,s:d,s:d,s:n}",
        "status", status, "screen_status", screen_status, "size_status", size_status, "message",
        mvsc_strerror(status), "intact", untouched, "asked", (unsigned long long)asked,
        "touched", (unsigned long long)used, "inside", (unsigned long long)inside, "L",
        out == NULL ? "" : (const char *)out + GUARD,
        (Py_ssize_t)length, "labels", (const char *)labels, (Py_ssize_t)(size * sizeof *labels),
        "n_iter", (Py_ssize_t)result.n_iter, "n_blocks", (Py_ssize_t)result.n_blocks,
        "n_fast_forward", (Py_ssize_t)result.n_fast_forward, "converged", result.converged,
        "stopped", result.stopped, "gap", result.gap, "error_bound", result.error_bound, "seconds",
        seconds, "calls", w.calls);
    free(labels);
    free(workspace);
    free(data);
    free(out);
    PyBuffer_Release(&buffer);
    PyBuffer_Release(&weights);
    return answer;
}

static PyMethodDef methods[] = {
    {"layout", layout, METH_NOARGS, "Sizes and offsets of the structs."},
    {"defaults", defaults, METH_NOARGS, "MVSC_TLRR_DEFAULTS."},
    {"prox", prox, METH_VARARGS, "Call prox with anything."},
    {"tlrr", tlrr, METH_VARARGS, "Call tlrr_screen, tlrr_workspace_size and tlrr_solve."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "native_probe", "The C interface under a microscope.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_native_probe(void)
{
    *(void **)&count_start = dlsym(RTLD_DEFAULT, "count_malloc_start");
    *(void **)&count_stop = dlsym(RTLD_DEFAULT, "count_malloc_stop");
    if (mvsc_fast_import() < 0)
        return NULL;
    check_signatures();
    PyObject *made = PyModule_Create(&module);
#ifdef Py_GIL_DISABLED
    if (made != NULL)
        PyUnstable_Module_SetGIL(made, Py_MOD_GIL_NOT_USED);
#endif
    return made;
}
