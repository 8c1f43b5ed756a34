/* C interface of mvsc_fast: TLRR and its proximal maps on multi-view similarity tensors, and labels
 * of new samples as ConsensusTLRR predicts them.
 *
 * Everything is reached through a table of functions that is imported once:
 *
 *     #include <Python.h>
 *     #include <mvsc_fast.h>
 *
 *     if (mvsc_fast_import() < 0) return NULL;      (with the GIL; sets a Python exception)
 *     status = mvsc_tlrr_solve(...);                (from any thread, without the GIL)
 *
 * `mvsc_fast.get_include()` is the directory of this file. The functions know no Python: the caller
 * owns all memory, nothing is allocated inside, nothing is kept between calls, and concurrent calls
 * are safe as long as each has a workspace and outputs of its own. Every call checks what it is given
 * and returns a status; what it writes is unusable unless that is MVSC_OK, but a tensor is left as it
 * was unless the status is MVSC_OK or MVSC_NO_CONVERGENCE. What is written, the workspace included,
 * may not overlap what is read or written besides: that is MVSC_BAD_ARGUMENT.
 *
 * Every struct begins with its size, which the caller sets to its own sizeof; that is how the library
 * knows the version that a caller was compiled for. Later versions add fields at the end of a struct,
 * never elsewhere. A field that an older caller does not know counts as 0, which means what was
 * before that field; results beyond its structs are not written. Optional fields at the end of a
 * struct may be left out in this way. Other sizes are MVSC_BAD_ARGUMENT.
 *
 * n_threads counts OpenMP threads; give 1 in a process made by fork. BLAS has threads of its own:
 * limit them to 1 (mvsc_limit_blas, below) for speed, for results that never depend on them, and because
 * a BLAS on several threads allocates memory of its own. OpenMP holds a few KiB for its threads.
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
    MVSC_BAD_ARGUMENT = 1,      /* null pointer, wrong size field, negative extent, unknown code,
                                   memory that overlaps */
    MVSC_BAD_SHAPE = 2,         /* slices that must be square are not, or two tensors differ, or a
                                   predictor's n_features and d do without a factor */
    MVSC_TOO_LARGE = 3,         /* beyond LAPACK's 32-bit sizes, or the address space */
    MVSC_NOT_FINITE = 4,        /* NaN or infinite entries, in the data or in what follows from them */
    MVSC_SMALL_WORKSPACE = 5,   /* fewer bytes than the size query asked for */
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

/* What `progress` sees after every iteration. */
typedef struct {
    size_t size;                /* sizeof(mvsc_tlrr_state) of the library */
    ptrdiff_t block;            /* whose iteration this is, as in the labels of mvsc_tlrr_screen;
                                   0 with MVSC_TLRR_IALM */
    ptrdiff_t iteration;        /* from 1, within the block */
    int converged;
    double residual;            /* what is compared with tol; of the block alone */
    double seconds;             /* since the solver started */
    double gap;                 /* MVSC_TLRR_DUAL: duality gap of the block, and what residual */
    double gap_scale;           /*   takes it relative to, lam ||L||_F^2; up to a common factor */
    double mu;                  /* MVSC_TLRR_IALM: the penalty, and */
    const ptrdiff_t *ranks;     /*   v ranks of the frontal block */
} mvsc_tlrr_state;

/* Called after every iteration, from one thread at a time but not always the calling one; unless it
 * returns 0 the run stops. */
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
    double mu, rho, mu_max;     /* IALM: first penalty, its growth and its cap */

    mvsc_progress progress;     /* or NULL */
    void *context;              /* passed to progress */

    /* Optional. DUAL: n numbers m > 0, or NULL: all 1. The problem is that of sum(m) samples, in which sample
     * p stands m_p times; L has each of them once, and the certificate is that of all. With
     * D = diag(m) and M_i = D^1/2 L_i D^1/2 it minimises
     *
     *     omega1 * sum_i ||M_i||_* + omega2 * sum_p sqrt(m_p) ||M_(p)||_*
     *         + omega2 * alpha * sum_pq sqrt(m_p m_q) |M_:pq|
     *         + lam * sum_i ||D^1/2 W_i D^1/2 - M_i||_F^2
     */
    const double *sample_weight;
} mvsc_tlrr_options;

/* The defaults of mvsc_fast.tlrr, on one thread, and the lam of the paper. With MVSC_TLRR_IALM Python
 * sets tol = 1e-4 and max_iter = 500. */
#define MVSC_TLRR_DEFAULTS \
    {sizeof(mvsc_tlrr_options), MVSC_TLRR_DUAL, 1, 0.5, 9.0, 15.0, 1e-3, 100, 1e-4, 1.1, 1e10, \
     NULL, NULL, NULL}

/* Independent blocks of samples, and the tubes that may be non-zero in the minimiser. */
typedef struct {
    size_t size;                /* sizeof(mvsc_tlrr_blocks) */
    ptrdiff_t n_blocks;
    ptrdiff_t largest;          /* samples in the largest block */
    ptrdiff_t n_tubes;
} mvsc_tlrr_blocks;

typedef struct {
    size_t size;                /* sizeof(mvsc_tlrr_result) */
    ptrdiff_t n_iter;
    ptrdiff_t n_fast_forward;   /* IALM: iterations that were a scalar update */
    ptrdiff_t n_blocks;         /* DUAL */
    int converged;
    int stopped;                /* by `progress` */
    int lapack_info;            /* after MVSC_NO_CONVERGENCE: LAPACK's info, and its slice: */
    ptrdiff_t failed_view;      /*   frontal slice of this view, or -1 */
    ptrdiff_t failed_row;       /*   v x n slice of this row, or -1 */
    double gap;                 /* DUAL: relative duality gap */
    double error_bound;         /* DUAL: the Frobenius distance of L to the minimiser, at most */
    double seconds;
    double eigen_seconds;       /* of it in eigenproblems of frontal slices */
} mvsc_tlrr_result;

/* ------------------------------------------------------------------ labels of new rows
 *
 * Ridge regression on features of the rows x of a sample in every view. A row is divided by its
 * length, whatever its scale, or its positive entries' square roots are; then, with samples S and
 * their factor C, z = C^{-1} S x. With a = z - mean, its distances d_l = |a - landmark_l|, and t the
 * `scale_neighbors`-th smallest of them, at least least_scale,
 *
 *     scores = sum_views a / |a| coefficients + K kernel_coefficients,
 *     K_l = sum_views exp(-d_l^2 / (t scale_l))
 *
 * Distances that are small for lengths of a are sums of squared differences, not differences of
 * products. A row that is NaN throughout lacks the view: its z is predicted from the sample's other
 * views; with a of all views side by side, 0 where missing, scaled to unit length,
 *
 *     z = unit(mean + (sum_views a landmarks^T) fill)
 *
 * `ConsensusTLRR.to_native()` gives the numbers and arrays that are wanted here.
 */

typedef enum {
    MVSC_ROWS_TO_UNIT = 1,      /* x / |x| */
    MVSC_ROOTS_TO_UNIT = 2,     /* unit row of sqrt(max(x, 0)) */
    MVSC_ROWS_MAPPED = 3        /* rows z are given, and there is no factor */
} mvsc_row_form;

/* Of v views, n_landmarks landmarks; arrays are C-contiguous. */
typedef struct {
    size_t size;                        /* sizeof(mvsc_predictor) */
    ptrdiff_t v, n_clusters, n_landmarks;
    ptrdiff_t scale_neighbors;
    const ptrdiff_t *n_features;        /* v numbers of columns of x */
    const ptrdiff_t *d;                 /* v numbers of columns of z */
    const ptrdiff_t *form;              /* v numbers, mvsc_row_form */
    const double *const *samples;       /* v arrays d x n_features, */
    const double *const *factors;       /*   d x d, whose upper triangles are not read; each or all
                                             NULL where z has the columns of x */
    const float *const *means;          /* v arrays of d numbers */
    const float *const *landmarks;      /* v arrays n_landmarks x d */
    const float *const *scales;         /* v arrays of n_landmarks numbers > 0 */
    const float *least_scales;          /* v numbers > 0 */
    const float *const *coefficients;   /* v arrays d x n_clusters */
    const float *kernel_coefficients;   /* n_landmarks x n_clusters */
    const float *const *fill;           /* optional: v arrays n_landmarks x d; NULL: no row is NaN */
} mvsc_predictor;

typedef struct {
    size_t size;                /* sizeof(mvsc_api) of the library */
    int version;                /* MVSC_API_VERSION of the library */

    /* A sentence for a status; never NULL. */
    const char *(*strerror)(int status);

    /* Bytes of workspace that mvsc_prox needs for this map, tensor (its data may be NULL) and threads. */
    int (*prox_workspace_size)(int map, const mvsc_tensor *tensor, int n_threads, size_t *bytes);

    /* Apply a map in place. `counts`, unless NULL, receives how much is above the threshold: one
     * number of tubes, m numbers of singular values, or v numbers of eigenvalues; of an empty tensor
     * nothing. The workspace may have any alignment. Results are those of the Python functions, to the last bit. */
    int (*prox)(int map, mvsc_tensor *tensor, double t, int n_threads, void *workspace,
                size_t bytes, ptrdiff_t *counts);

    /* Split the samples into blocks that the minimiser does not connect: `labels` receives n
     * numbers, from 0 by each block's first sample. */
    int (*tlrr_screen)(const mvsc_tensor *W, const mvsc_tlrr_options *options, ptrdiff_t *labels,
                       mvsc_tlrr_blocks *blocks);

    /* Bytes of workspace that mvsc_tlrr_solve needs for W (its data may be NULL): as much as any data
     * of this shape can need, or, given `blocks` of mvsc_tlrr_screen, these. `blocks` may be NULL. */
    int (*tlrr_workspace_size)(const mvsc_tensor *W, const mvsc_tlrr_options *options,
                               const mvsc_tlrr_blocks *blocks, size_t *bytes);

    /* Solve TLRR for W (v, n, n) into L of the same shape and type. W must be exactly symmetric. `labels` and `blocks` are those of mvsc_tlrr_screen for this W and these
     * options; with both NULL the samples are screened once more. The workspace may have any
     * alignment. Results are those of mvsc_fast.tlrr, to the last bit. `result`, which holds the
     * certificate, may be NULL. */
    int (*tlrr_solve)(const mvsc_tensor *W, const mvsc_tlrr_options *options,
                      const ptrdiff_t *labels, const mvsc_tlrr_blocks *blocks, mvsc_tensor *L,
                      void *workspace, size_t bytes, mvsc_tlrr_result *result);

    /* These two need the GIL. Limit BLAS to n_threads threads until the returned request is
     * released; with several requests at a time, Python's included, the least one holds. NULL,
     * with a Python exception, if that fails. */
    void *(*limit_blas)(int n_threads);
    void (*release_blas)(void *request);

    /* Bytes of workspace that mvsc_predict needs, for any number of rows. */
    int (*predict_workspace_size)(const mvsc_predictor *predictor, int n_threads, size_t *bytes);

    /* Labels of m new rows: `rows` are v arrays m x n_features[i], all of type `dtype` (mvsc_dtype).
     * `scores` receives m x n_clusters numbers, and `labels` m positions of the largest, the first of
     * equal ones; one of them may be NULL. Labels are those of ConsensusTLRR.predict, which calls
     * this function. A row's result depends on no other row and on no number of threads, and to the
     * last bit on how many rows there are before it only modulo 128: with some processors BLAS has
     * several orders of summation. */
    int (*predict)(const mvsc_predictor *predictor, ptrdiff_t m, const void *const *rows,
                   ptrdiff_t dtype, int n_threads, void *workspace, size_t bytes, float *scores,
                   ptrdiff_t *labels);
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
#define mvsc_predict_workspace_size (mvsc_fast_api->predict_workspace_size)
#define mvsc_predict (mvsc_fast_api->predict)
#endif

#ifdef __cplusplus
}
#endif

#endif
