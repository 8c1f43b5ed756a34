/* C interface of mvsc_fast: proximal maps of multi-view similarity tensors.
 *
 * Everything is reached through a table of functions that is imported once:
 *
 *     #include <Python.h>
 *     #include <mvsc_fast.h>
 *
 *     if (mvsc_fast_import() < 0) return NULL;      (with the GIL; sets a Python exception)
 *     status = mvsc_fast_api->prox(...);            (from any thread, without the GIL)
 *
 * `mvsc_fast.get_include()` is the directory of this file. The functions know no Python: the caller
 * owns all memory, nothing is allocated inside, nothing is kept between calls, and concurrent calls
 * on different tensors are safe. Every call checks what it is given and returns a status; a
 * tensor is left as it was unless the status is MVSC_OK or MVSC_NO_CONVERGENCE.
 */
#ifndef MVSC_FAST_H
#define MVSC_FAST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with every change; a table of a later version serves code compiled for an earlier one. */
#define MVSC_API_VERSION 1

typedef enum {
    MVSC_OK = 0,
    MVSC_BAD_ARGUMENT = 1,      /* null pointer, wrong size field, negative extent, unknown code */
    MVSC_BAD_SHAPE = 2,         /* a symmetric map of slices that are not square */
    MVSC_TOO_LARGE = 3,         /* beyond LAPACK's 32-bit sizes, or the address space */
    MVSC_NOT_FINITE = 4,        /* NaN or infinite entries */
    MVSC_SMALL_WORKSPACE = 5,   /* fewer bytes than the size query asked for */
    MVSC_NO_CONVERGENCE = 6     /* LAPACK failed on a slice; the tensor is unusable */
} mvsc_status;

typedef enum {
    MVSC_FLOAT32 = 1,
    MVSC_FLOAT64 = 2
} mvsc_dtype;

typedef enum {
    MVSC_TUBE_SHRINK = 1,       /* t * sum of the lengths of the tubes T[:, j, k] */
    MVSC_SLICE_SHRINK = 2,      /* t * sum of the nuclear norms of the v x n slices T[:, j, :] */
    MVSC_SLICE_CLIP = 3,        /* projection of these slices onto spectral norm <= t */
    MVSC_SYMMETRIC_SHRINK = 4,  /* t * sum of the nuclear norms of the symmetric slices T[i] */
    MVSC_SYMMETRIC_CLIP = 5     /* projection of these slices onto spectral norm <= t */
} mvsc_map;

/* A tensor of v slices of m x n entries, C-contiguous: entry (i, j, k) is at (i * m + j) * n + k. */
typedef struct {
    size_t size;                /* sizeof(mvsc_tensor) */
    void *data;
    ptrdiff_t v, m, n;
    int dtype;                  /* mvsc_dtype */
} mvsc_tensor;

typedef struct {
    size_t size;                /* sizeof(mvsc_api) of the library */
    int version;                /* MVSC_API_VERSION of the library */

    /* A sentence for a status; never NULL. */
    const char *(*strerror)(int status);

    /* Bytes of workspace that `prox` needs for this map, tensor (its data may be NULL) and threads. */
    int (*prox_workspace_size)(int map, const mvsc_tensor *tensor, int n_threads, size_t *bytes);

    /* Apply a map in place. `counts`, unless NULL, receives how much is above the threshold: one
     * number of tubes, m numbers of singular values, or v numbers of eigenvalues. The workspace may
     * have any alignment. Results are those of the Python functions, to the last bit. */
    int (*prox)(int map, mvsc_tensor *tensor, double t, int n_threads, void *workspace,
                size_t bytes, ptrdiff_t *counts);
} mvsc_api;

#define MVSC_CAPSULE "mvsc_fast._capi._C_API"

#ifdef Py_PYTHON_H
static const mvsc_api *mvsc_fast_api = NULL;

/* 0, or -1 with a Python exception. */
static inline int mvsc_fast_import(void)
{
    const mvsc_api *table;
    PyObject *module = PyImport_ImportModule("mvsc_fast._capi");
    if (module == NULL)
        return -1;
    Py_DECREF(module);
    table = (const mvsc_api *)PyCapsule_Import(MVSC_CAPSULE, 0);
    if (table == NULL)
        return -1;
    if (table->version < MVSC_API_VERSION || table->size < sizeof(mvsc_api)) {
        PyErr_Format(PyExc_ImportError,
                     "mvsc_fast has C interface %d, this module was compiled for %d: update mvsc_fast",
                     table->version, MVSC_API_VERSION);
        return -1;
    }
    mvsc_fast_api = table;
    return 0;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
