# The types of the C interface, which the solvers of the core use themselves.
cdef extern from "mvsc_fast.h" nogil:
    int MVSC_API_VERSION
    int MVSC_OK, MVSC_BAD_ARGUMENT, MVSC_BAD_SHAPE, MVSC_TOO_LARGE, MVSC_NOT_FINITE
    int MVSC_SMALL_WORKSPACE, MVSC_NO_CONVERGENCE, MVSC_NOT_SYMMETRIC, MVSC_OUT_OF_RANGE
    int MVSC_FLOAT32, MVSC_FLOAT64
    int MVSC_TUBE_SHRINK, MVSC_SLICE_SHRINK, MVSC_SLICE_CLIP, MVSC_SYMMETRIC_SHRINK
    int MVSC_SYMMETRIC_CLIP
    int MVSC_TLRR_DUAL, MVSC_TLRR_IALM
    const char *MVSC_CAPSULE

    ctypedef struct mvsc_tensor:
        size_t size
        void *data
        Py_ssize_t v
        Py_ssize_t m
        Py_ssize_t n
        Py_ssize_t dtype

    ctypedef struct mvsc_tlrr_state:
        size_t size
        Py_ssize_t block
        Py_ssize_t iteration
        int converged
        double residual
        double seconds
        double gap
        double gap_scale
        double mu
        const Py_ssize_t *ranks

    ctypedef int (*mvsc_progress)(const mvsc_tlrr_state *, void *) noexcept nogil

    ctypedef struct mvsc_tlrr_options:
        size_t size
        int solver
        int n_threads
        double omega1
        double alpha
        double lam
        double tol
        Py_ssize_t max_iter
        double mu
        double rho
        double mu_max
        mvsc_progress progress
        void *context
        const double *sample_weight

    ctypedef struct mvsc_tlrr_blocks:
        size_t size
        Py_ssize_t n_blocks
        Py_ssize_t largest
        Py_ssize_t n_tubes

    ctypedef struct mvsc_tlrr_result:
        size_t size
        Py_ssize_t n_iter
        Py_ssize_t n_fast_forward
        Py_ssize_t n_blocks
        int converged
        int stopped
        int lapack_info
        Py_ssize_t failed_view
        Py_ssize_t failed_row
        double gap
        double error_bound
        double seconds
        double eigen_seconds

    ctypedef struct mvsc_api:
        size_t size
        int version
        const char *(*strerror)(int) noexcept nogil
        int (*prox_workspace_size)(int, const mvsc_tensor *, int, size_t *) noexcept nogil
        int (*prox)(int, mvsc_tensor *, double, int, void *, size_t, Py_ssize_t *) noexcept nogil
        int (*tlrr_screen)(const mvsc_tensor *, const mvsc_tlrr_options *, Py_ssize_t *,
                           mvsc_tlrr_blocks *) noexcept nogil
        int (*tlrr_workspace_size)(const mvsc_tensor *, const mvsc_tlrr_options *,
                                   const mvsc_tlrr_blocks *, size_t *) noexcept nogil
        int (*tlrr_solve)(const mvsc_tensor *, const mvsc_tlrr_options *, const Py_ssize_t *,
                          const mvsc_tlrr_blocks *, mvsc_tensor *, void *, size_t,
                          mvsc_tlrr_result *) noexcept nogil
        void *(*limit_blas)(int) noexcept
        void (*release_blas)(void *) noexcept
