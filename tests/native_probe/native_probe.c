/* The C interface as code has it that was compiled with its header. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <mvsc_fast.h>

#define FIELD(type, name) #type "." #name, (Py_ssize_t)offsetof(mvsc_##type, name)
#define SIZE(type) #type, (Py_ssize_t)sizeof(mvsc_##type)

/* layout() -> sizes and offsets of the structs */
static PyObject *layout(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue(
        "{s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,s:n,"
        "s:n,s:n,s:n,s:n,s:n,s:n,s:n}",
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
        FIELD(api, release_blas));
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

/* defaults() -> the bytes of MVSC_TLRR_DEFAULTS */
static PyObject *defaults(PyObject *self, PyObject *unused)
{
    const mvsc_tlrr_options options = MVSC_TLRR_DEFAULTS;
    (void)self, (void)unused;
    return PyBytes_FromStringAndSize((const char *)&options, sizeof options);
}

/* table() -> the address of the functions */
static PyObject *table(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyLong_FromVoidPtr((void *)mvsc_fast_api);
}

static PyMethodDef methods[] = {
    {"layout", layout, METH_NOARGS, "Sizes and offsets of the structs."},
    {"defaults", defaults, METH_NOARGS, "MVSC_TLRR_DEFAULTS."},
    {"table", table, METH_NOARGS, "The address of the table of functions."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "native_probe", "The C interface.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_native_probe(void)
{
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
