/* Calls the C interface with anything, and sees which memory it touches and asks for. */
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>

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
        "s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:i}",
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
        FIELD(api, release_blas), FIELD(api, factor_workspace_size), FIELD(api, factor_rows),
        FIELD(api, vote_workspace_size), FIELD(api, row_tubes), FIELD(api, vote), SIZE(factor_map),
        FIELD(factor_map, columns), SIZE(voters), FIELD(voters, cap), "version",
        mvsc_fast_api->version);
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
    int (*factor_size)(const mvsc_factor_map *, int, size_t *) = mvsc_factor_workspace_size;
    int (*factor)(const mvsc_factor_map *, const mvsc_tensor *, int, int, void *, size_t, float *,
                  float *) = mvsc_factor_rows;
    int (*vote_size)(const mvsc_voters *, int, size_t *) = mvsc_vote_workspace_size;
    int (*tubes)(const mvsc_voters *, ptrdiff_t, const float *const *, const float *const *, int,
                 void *, size_t, float *) = mvsc_row_tubes;
    int (*labels)(const mvsc_voters *, ptrdiff_t, const float *const *, const float *const *, int,
                  void *, size_t, float *, ptrdiff_t *) = mvsc_vote;
    (void)factor_size, (void)factor, (void)vote_size, (void)tubes, (void)labels;
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

/* prox(map, size, data, v, m, n, dtype, t, n_threads, spare) -> (status, message, intact)
 *
 * On a copy of the bytes `data` (None: a null pointer), with a struct of `size` bytes and `spare`
 * bytes of workspace more or less than asked for. */
static PyObject *prox(PyObject *self, PyObject *args)
{
    int map, n_threads, status, untouched;
    Py_ssize_t size, v, m, n, dtype, spare;
    double t;
    Py_buffer buffer = {0};
    size_t bytes = 0;
    unsigned char *data = NULL, *workspace;
    mvsc_tensor tensor;
    (void)self;

    if (!PyArg_ParseTuple(args, "inz*nnnndin", &map, &size, &buffer, &v, &m, &n, &dtype, &t,
                          &n_threads, &spare))
        return NULL;
    tensor = (mvsc_tensor){(size_t)size, NULL, v, m, n, dtype};
    if (buffer.buf != NULL) {
        data = guarded(buffer.buf, (size_t)buffer.len, 0xA5);
        tensor.data = data + GUARD;
    }
    mvsc_prox_workspace_size(map, &tensor, n_threads, &bytes);
    bytes = with_spare(bytes, spare);
    workspace = guarded(NULL, bytes, 0x5A);
    Py_BEGIN_ALLOW_THREADS
    status = mvsc_prox(map, &tensor, t, n_threads, workspace + GUARD, bytes, NULL);
    Py_END_ALLOW_THREADS
    untouched = intact(workspace, bytes, 0x5A) && intact(data, (size_t)buffer.len, 0xA5);
    free(workspace);
    free(data);
    PyBuffer_Release(&buffer);
    return Py_BuildValue("isi", status, mvsc_strerror(status), untouched);
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

/* tlrr(data, v, m, n, dtype, sizes, solver, n_threads, omega1, alpha, lam, tol, max_iter, mu, rho,
 *      mu_max, stop_after, screened, spare) -> dict
 *
 * On a copy of the bytes `data` (None: a null pointer). `sizes` is added to the size field of one
 * struct: 1 of W, 2 of the options, 3 of L, 4 of the result, 5 of the blocks, 0 of none; 6 is a null
 * pointer for L's data, and 7 W's data for L's; 8 leaves out the blocks, 9 moves a
 * label, 10 makes the largest block smaller than it is. `screened`: hand on labels and blocks. */
static PyObject *tlrr(PyObject *self, PyObject *args)
{
    Py_buffer buffer = {0};
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

    if (!PyArg_ParseTuple(args, "z*nnnniiiddddndddnin", &buffer, &W.v, &W.m, &W.n, &W.dtype, &which,
                          &options.solver, &options.n_threads, &options.omega1, &options.alpha,
                          &options.lam, &options.tol, &options.max_iter, &options.mu, &options.rho,
                          &options.mu_max, &stop_after, &screened, &spare))
        return NULL;
    w.stop_after = stop_after;
    options.progress = watch;
    options.context = &w;
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
    status = mvsc_tlrr_solve(&W, &options, known ? labels : NULL,
                             known && which != 8 ? &blocks : NULL, &L, workspace + GUARD, bytes,
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
    return answer;
}

/* ------------------------------------------------------------------ labels of new rows */

/* factor(d, lower, columns, X, m, n, dtype, kind, n_threads, which, spare) -> (status, intact, u, h)
 *
 * `lower` or `columns` None are null pointers. `which` adds to the size field: 1 of the map, 2 of the
 * tensor; 3 is a null pointer for u. */
static PyObject *factor(PyObject *self, PyObject *args)
{
    Py_buffer lower = {0}, columns = {0}, rows = {0};
    Py_ssize_t d, m, n, dtype, spare;
    int kind, n_threads, which, status, untouched;
    size_t bytes = 0, count;
    unsigned char *u, *h, *workspace;
    mvsc_factor_map map = {sizeof map, 0, NULL, NULL};
    mvsc_tensor X;
    PyObject *answer;
    (void)self;

    if (!PyArg_ParseTuple(args, "nz*z*z*nnniiin", &d, &lower, &columns, &rows, &m, &n, &dtype,
                          &kind, &n_threads, &which, &spare))
        return NULL;
    map.d = d;
    map.lower = lower.buf;
    map.columns = columns.buf;
    X = (mvsc_tensor){sizeof X, rows.buf, 1, m, n, dtype};
    map.size += which == 1;
    X.size += which == 2;
    count = d > 0 && d < 1000 && m > 0 ? (size_t)(m * d) * sizeof(float) : 0;
    u = guarded(NULL, count, 0xA5);
    h = guarded(NULL, m > 0 ? (size_t)m * sizeof(float) : 0, 0xC3);
    mvsc_factor_workspace_size(&map, n_threads, &bytes);
    bytes = with_spare(bytes, spare);
    workspace = guarded(NULL, bytes, 0x5A);
    Py_BEGIN_ALLOW_THREADS
    status = mvsc_factor_rows(&map, &X, kind, n_threads, workspace + GUARD, bytes,
                              which == 3 ? NULL : (float *)(u + GUARD), (float *)(h + GUARD));
    Py_END_ALLOW_THREADS
    untouched = intact(workspace, bytes, 0x5A) && intact(u, count, 0xA5) &&
                intact(h, m > 0 ? (size_t)m * sizeof(float) : 0, 0xC3);
    answer = Py_BuildValue("iiy#y#", status, untouched, u + GUARD, (Py_ssize_t)count, h + GUARD,
                           m > 0 ? m * (Py_ssize_t)sizeof(float) : 0);
    free(workspace);
    free(u);
    free(h);
    PyBuffer_Release(&lower);
    PyBuffer_Release(&columns);
    PyBuffer_Release(&rows);
    return answer;
}

enum { MAX_SLICES = 16 };

/* Where each of v slices begins in arrays of `rows` rows one after the other. */
static void cut(const float *data, Py_ssize_t v, Py_ssize_t rows, const ptrdiff_t *widths,
                const float **out)
{
    Py_ssize_t i;
    for (i = 0; i < v && i < MAX_SLICES; i++) {
        out[i] = data;
        data += rows * (widths == NULL ? 1 : widths[i]);
    }
}

/* vote(n, n_clusters, d, u, h, scales, labels, m, new_u, new_h, n_votes, scale_neighbors, n_listed,
 *      n_candidates, cap, n_threads, which, spare)
 *     -> (status, message, intact, lengths, scores, labels)
 *
 * Arrays of all slices come one after the other. `which`: 1 adds to the size field, 2 is a null
 * pointer for a slice of u, 3 for one of new_h, 4 for the lengths, 5 for the workspace. */
static PyObject *vote(PyObject *self, PyObject *args)
{
    Py_buffer d, u, h, scales, clusters, new_u, new_h;
    Py_ssize_t n, c, m, v, n_votes, scale_neighbors, n_listed, n_candidates, spare;
    double cap;
    int n_threads, which, status, untouched;
    size_t bytes = 0, lengths_bytes, scores_bytes, labels_bytes;
    const float *fitted[2][MAX_SLICES], *rows[2][MAX_SLICES];
    unsigned char *workspace, *lengths, *scores, *labels;
    mvsc_voters voters = {0};
    PyObject *answer;
    (void)self;

    if (!PyArg_ParseTuple(args, "nny*y*y*y*y*ny*y*nnnndiin", &n, &c, &d, &u, &h, &scales, &clusters,
                          &m, &new_u, &new_h, &n_votes, &scale_neighbors, &n_listed, &n_candidates,
                          &cap, &n_threads, &which, &spare))
        return NULL;
    v = d.len / (Py_ssize_t)sizeof(ptrdiff_t);
    cut(u.buf, v, n, d.buf, fitted[0]);
    cut(h.buf, v, n, NULL, fitted[1]);
    cut(new_u.buf, v, m, d.buf, rows[0]);
    cut(new_h.buf, v, m, NULL, rows[1]);
    if (which == 2)
        fitted[0][0] = NULL;
    if (which == 3)
        rows[1][0] = NULL;
    voters = (mvsc_voters){sizeof voters + (which == 1), v, n, c, d.buf, fitted[0], fitted[1],
                           scales.buf, clusters.buf, n_votes, scale_neighbors, n_listed,
                           n_candidates, cap};
    lengths_bytes = m > 0 && n > 0 ? (size_t)(m * n) * sizeof(float) : 0;
    scores_bytes = m > 0 && c > 0 ? (size_t)(m * c) * sizeof(float) : 0;
    labels_bytes = m > 0 ? (size_t)m * sizeof(ptrdiff_t) : 0;
    lengths = guarded(NULL, lengths_bytes, 0xA5);
    scores = guarded(NULL, scores_bytes, 0xC3);
    labels = guarded(NULL, labels_bytes, 0x3C);
    mvsc_vote_workspace_size(&voters, n_threads, &bytes);
    bytes = with_spare(bytes, spare);
    workspace = guarded(NULL, bytes, 0x5A);
    Py_BEGIN_ALLOW_THREADS
    status = mvsc_row_tubes(&voters, m, rows[0], rows[1], n_threads,
                            which == 5 ? NULL : workspace + GUARD, bytes,
                            which == 4 ? NULL : (float *)(lengths + GUARD));
    if (status == MVSC_OK)
        status = mvsc_vote(&voters, m, rows[0], rows[1], n_threads, workspace + GUARD, bytes, NULL,
                           (ptrdiff_t *)(labels + GUARD));
    if (status == MVSC_OK)
        status = mvsc_vote(&voters, m, rows[0], rows[1], n_threads, workspace + GUARD, bytes,
                           (float *)(scores + GUARD), NULL);
    Py_END_ALLOW_THREADS
    untouched = intact(workspace, bytes, 0x5A) && intact(lengths, lengths_bytes, 0xA5) &&
                intact(scores, scores_bytes, 0xC3) && intact(labels, labels_bytes, 0x3C);
    answer = Py_BuildValue("isiy#y#y#", status, mvsc_strerror(status), untouched, lengths + GUARD,
                           (Py_ssize_t)lengths_bytes, scores + GUARD, (Py_ssize_t)scores_bytes,
                           labels + GUARD, (Py_ssize_t)labels_bytes);
    free(workspace);
    free(lengths);
    free(scores);
    free(labels);
    PyBuffer_Release(&d);
    PyBuffer_Release(&u);
    PyBuffer_Release(&h);
    PyBuffer_Release(&scales);
    PyBuffer_Release(&clusters);
    PyBuffer_Release(&new_u);
    PyBuffer_Release(&new_h);
    return answer;
}

static PyMethodDef methods[] = {
    {"layout", layout, METH_NOARGS, "Sizes and offsets of the structs."},
    {"defaults", defaults, METH_NOARGS, "MVSC_TLRR_DEFAULTS."},
    {"prox", prox, METH_VARARGS, "Call prox with anything."},
    {"tlrr", tlrr, METH_VARARGS, "Call tlrr_screen, tlrr_workspace_size and tlrr_solve."},
    {"factor", factor, METH_VARARGS, "Call factor_workspace_size and factor_rows."},
    {"vote", vote, METH_VARARGS, "Call vote_workspace_size, row_tubes and vote."},
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
    return PyModule_Create(&module);
}
