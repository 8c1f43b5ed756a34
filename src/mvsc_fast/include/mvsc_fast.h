/* C interface of mvsc_fast: TLRR and its proximal maps on multi-view similarity tensors. Labels of new
 * samples need neither Python nor this table: see mvsc_predict.h.
 *
 * All functions are in a table that is imported once:
 *
 *     #include <Python.h>
 *     #include <mvsc_fast.h>
 *
 *     if (mvsc_fast_import() < 0) return NULL;      (with the GIL; sets a Python exception)
 *     status = mvsc_tlrr_solve(...);                (from any thread, without the GIL)
 *
 * `mvsc_fast.get_include()` returns the directory of this file. The functions do not use Python:
 * the caller owns all memory, the functions allocate nothing and keep no state, and concurrent
 * calls are safe if each has a separate workspace and separate outputs. Every call checks its
 * arguments and returns a status. Outputs are valid only if it is MVSC_OK, unless stated otherwise;
 * a tensor remains unchanged unless the status is MVSC_OK or MVSC_NO_CONVERGENCE. Outputs and
 * workspace may not overlap each other or an input, small arrays and tables of pointers included:
 * this is MVSC_BAD_ARGUMENT.
 *
 * Every struct begins with its size, which the caller sets to its own sizeof, so that the library
 * knows the version for which the caller was compiled. Later versions only add fields at the end of
 * a struct. Fields that an older caller does not know are read as 0, which stands for the behaviour
 * before they existed, and are not written. Optional fields at the end of a struct may be omitted
 * in this way. Other sizes, also those that end inside a field, are MVSC_BAD_ARGUMENT.
 *
 * n_threads is the number of OpenMP threads; it must be 1 in a forked process. BLAS has separate
 * threads. Limit them to 1 (mvsc_limit_blas, below) for speed, for results that do not depend on
 * them, and because BLAS on several threads allocates memory. OpenMP uses a few KiB for its threads.
 */
#ifndef MVSC_FAST_H
#define MVSC_FAST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented with every change; later versions are compatible with code for earlier ones. */
#define MVSC_API_VERSION 1

typedef enum {
    MVSC_OK = 0,
    MVSC_BAD_ARGUMENT = 1,      /* null pointer, wrong size field, negative extent, unknown code,
                                   memory that overlaps */
    MVSC_BAD_SHAPE = 2,         /* slices that must be square are not, or two tensors differ in shape */
    MVSC_TOO_LARGE = 3,         /* beyond LAPACK's 32-bit sizes, or the address space */
    MVSC_NOT_FINITE = 4,        /* NaN or infinite entries in the data or in the results */
    MVSC_SMALL_WORKSPACE = 5,   /* fewer bytes than the size query returned */
    MVSC_NO_CONVERGENCE = 6,    /* LAPACK failed on a slice; the tensor is unusable */
    MVSC_NOT_SYMMETRIC = 7,     /* slices of W that are not exactly symmetric */
    MVSC_OUT_OF_RANGE = 8       /* squares of W, lam times W, or sample weights below 1e-12 or above
                                   1e12 would overflow or vanish */
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
    ptrdiff_t dtype;            /* mvsc_dtype; as wide as the rest: a struct ends without padding */
} mvsc_tensor;

/* ------------------------------------------------------------------ TLRR
 *
 * Jia et al. 2021, Eq. (7), over tensors L with symmetric slices:
 *
 *     omega1 * sum_i ||L_i||_* + omega2 * sum_j (||L_(j)||_* + alpha * ||L_(j)||_{2,1})
 *         + lam * ||W - L||_F^2,        omega2 = 1 - omega1
 */

typedef enum {
    MVSC_TLRR_DUAL = 1,         /* the exact minimiser, with a certificate */
    MVSC_TLRR_IALM = 2          /* the published iteration, Algorithm 1 */
} mvsc_tlrr_solver;

/* State that is passed to `progress` after every iteration. */
typedef struct {
    size_t size;                /* sizeof(mvsc_tlrr_state) of the library */
    ptrdiff_t block;            /* number of the block, as in the labels of mvsc_tlrr_screen;
                                   0 with MVSC_TLRR_IALM */
    ptrdiff_t iteration;        /* from 1, within the block */
    int converged;
    double residual;            /* residual of this block, which is compared with tol */
    double seconds;             /* since the solver started */
    double gap;                 /* MVSC_TLRR_DUAL: duality gap of the block and its scale */
    double gap_scale;           /*   lam ||L||_F^2, up to a common factor; residual is their ratio */
    double mu;                  /* MVSC_TLRR_IALM: the penalty, and */
    const ptrdiff_t *ranks;     /*   v ranks of the frontal block */
} mvsc_tlrr_state;

/* Called after every iteration, by one thread at a time, which may not be the calling one. The
 * solver stops if it does not return 0. */
typedef int (*mvsc_progress)(const mvsc_tlrr_state *state, void *context);

typedef struct {
    size_t size;                /* sizeof(mvsc_tlrr_options) */
    int solver;                 /* mvsc_tlrr_solver */
    int n_threads;
    double omega1;              /* in [0, 1] */
    double alpha;               /* >= 0 */
    double lam;                 /* > 0 */
    double tol;                 /* DUAL: relative duality gap; IALM: largest constraint residual */
    ptrdiff_t max_iter;
    double mu, rho, mu_max;     /* IALM: initial penalty, growth factor and maximum */

    mvsc_progress progress;     /* or NULL */
    void *context;              /* passed to progress */

    /* Optional. DUAL: n weights m > 0, or NULL if all are 1. The problem is that of sum(m) samples,
     * in which sample p is repeated m_p times. L contains each sample once; the certificate is that
     * of the repeated samples. With D = diag(m) and M_i = D^1/2 L_i D^1/2 it minimises
     *
     *     omega1 * sum_i ||M_i||_* + omega2 * sum_p sqrt(m_p) ||M_(p)||_*
     *         + omega2 * alpha * sum_pq sqrt(m_p m_q) |M_:pq|
     *         + lam * sum_i ||D^1/2 W_i D^1/2 - M_i||_F^2
     */
    const double *sample_weight;
} mvsc_tlrr_options;

/* The defaults of mvsc_fast.solvers.tlrr, on one thread, and the lam of the paper. For
 * MVSC_TLRR_IALM, Python sets tol = 1e-4 and max_iter = 500. */
#define MVSC_TLRR_DEFAULTS \
    {sizeof(mvsc_tlrr_options), MVSC_TLRR_DUAL, 1, 0.5, 9.0, 15.0, 1e-3, 100, 1e-4, 1.1, 1e10, \
     NULL, NULL, NULL}

/* Independent blocks of samples, and the tubes that may be non-zero in the minimiser. */
typedef struct {
    size_t size;                /* sizeof(mvsc_tlrr_blocks) */
    ptrdiff_t n_blocks;
    ptrdiff_t largest;          /* number of samples in the largest block */
    ptrdiff_t n_tubes;
} mvsc_tlrr_blocks;

typedef struct {
    size_t size;                /* sizeof(mvsc_tlrr_result) */
    ptrdiff_t n_iter;
    ptrdiff_t n_fast_forward;   /* IALM: number of iterations that were scalar updates */
    ptrdiff_t n_blocks;         /* DUAL */
    int converged;
    int stopped;                /* whether `progress` stopped the solver */
    int lapack_info;            /* after MVSC_NO_CONVERGENCE: LAPACK's info, and its slice: */
    ptrdiff_t failed_view;      /*   frontal slice of this view, or -1 */
    ptrdiff_t failed_row;       /*   v x n slice of this row, or -1 */
    double gap;                 /* DUAL: relative duality gap */
    double error_bound;         /* DUAL: bound of the Frobenius distance of L to the minimiser */
    double seconds;
    double eigen_seconds;       /* time spent in eigenproblems of frontal slices */
} mvsc_tlrr_result;

typedef struct {
    size_t size;                /* sizeof(mvsc_api) of the library */
    int version;                /* MVSC_API_VERSION of the library */

    /* Message for a status; never NULL. */
    const char *(*strerror)(int status);

    /* Size in bytes of the workspace of mvsc_prox for this map, tensor (its data may be NULL) and
     * number of threads. */
    int (*prox_workspace_size)(int map, const mvsc_tensor *tensor, int n_threads, size_t *bytes);

    /* Apply a map in place. `counts`, unless NULL, receives how many are above the threshold: one
     * number of tubes, m numbers of singular values, or v numbers of eigenvalues; it is not written
     * for an empty tensor. The workspace may have any alignment. Results are equal to those of the
     * Python functions, to the last bit. */
    int (*prox)(int map, mvsc_tensor *tensor, double t, int n_threads, void *workspace,
                size_t bytes, ptrdiff_t *counts);

    /* Split the samples into independent blocks. `labels` receives the block of each of the n
     * samples, numbered from 0 in the order of their first samples. */
    int (*tlrr_screen)(const mvsc_tensor *W, const mvsc_tlrr_options *options, ptrdiff_t *labels,
                       mvsc_tlrr_blocks *blocks);

    /* Size in bytes of the workspace of mvsc_tlrr_solve for W (its data may be NULL): sufficient
     * for these `blocks` of mvsc_tlrr_screen, or, if `blocks` is NULL, for any data of this shape. */
    int (*tlrr_workspace_size)(const mvsc_tensor *W, const mvsc_tlrr_options *options,
                               const mvsc_tlrr_blocks *blocks, size_t *bytes);

    /* Solve TLRR for W (v, n, n) into L of the same shape and type. W must be exactly symmetric.
     * `labels` and `blocks` are those of mvsc_tlrr_screen for this W and these options, others are
     * MVSC_BAD_ARGUMENT, or both are NULL. The workspace may have any alignment. Results are equal
     * to those of mvsc_fast.solvers.tlrr, to the last bit. `result`, which contains the
     * certificate, may be NULL. */
    int (*tlrr_solve)(const mvsc_tensor *W, const mvsc_tlrr_options *options,
                      const ptrdiff_t *labels, const mvsc_tlrr_blocks *blocks, mvsc_tensor *L,
                      void *workspace, size_t bytes, mvsc_tlrr_result *result);

    /* These two need the GIL. Limit BLAS to n_threads threads until the returned request is
     * released. If there are several requests, including those of Python, the smallest applies.
     * Returns NULL, with a Python exception, on failure. */
    void *(*limit_blas)(int n_threads);
    void (*release_blas)(void *request);
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

#define mvsc_strerror (mvsc_fast_api->strerror)
#define mvsc_prox_workspace_size (mvsc_fast_api->prox_workspace_size)
#define mvsc_prox (mvsc_fast_api->prox)
#define mvsc_tlrr_screen (mvsc_fast_api->tlrr_screen)
#define mvsc_tlrr_workspace_size (mvsc_fast_api->tlrr_workspace_size)
#define mvsc_tlrr_solve (mvsc_fast_api->tlrr_solve)
#define mvsc_limit_blas (mvsc_fast_api->limit_blas)
#define mvsc_release_blas (mvsc_fast_api->release_blas)
#endif

#ifdef __cplusplus
}
#endif

#endif
