# The loops of loops.h, which are documented there. void * is float * or double *; C11 _Generic
# selects the function and checks the types.
cdef enum:
    CHUNK = 256             # tubes of a row handled together: v * CHUNK numbers stay in cache
    TILE = 32               # edge of the tiles in which transposed entries are visited


cdef extern from "loops.h" nogil:
    ctypedef struct IalmStep "mvsc_ialm_step":
        double mu
        double mu_next
        double lam
        double slice_threshold
        double tube_threshold

    void argument "mvsc_argument"(
        const void *w, const void *l, const void *e, const void *y, double inverse_mu,
        Py_ssize_t n, double *out)
    void tube_argument "mvsc_tube_argument"(
        const void *w, const void *l, const void *e, const void *y1, const void *y2,
        const IalmStep *step, Py_ssize_t n, void *tube, void *squares)
    bint finite_maximum "mvsc_finite_maximum"(const void *x, Py_ssize_t n, double *largest)
    void add_squares "mvsc_add_squares"(const void *x, Py_ssize_t n, void *squares)
    Py_ssize_t shrink_factors "mvsc_shrink_factors"(void *squares, Py_ssize_t n, double t)
    void scale "mvsc_scale"(void *x, const void *factor, Py_ssize_t n)
    void combine "mvsc_combine"(
        const double *weights, const double *rows, Py_ssize_t v, Py_ssize_t stride, Py_ssize_t n,
        void *out)
    void ialm_update "mvsc_ialm_update"(
        const void *w, void *l, void *e, void *y1, void *y2, void *x, const void *l2,
        const void *tube, const void *factor, const IalmStep *step, Py_ssize_t n, void *residual)
    void extrapolate "mvsc_extrapolate"(
        const void *p, const void *last, double momentum, Py_ssize_t n, void *out)
    void trpca_update "mvsc_trpca_update"(
        const void *w, void *l, void *s, void *y, const void *x, double lam, double mu,
        double mu_next, Py_ssize_t n, double *argument, void *change)
    void misfit "mvsc_misfit"(
        const void *w, const void *e, const void *y, double inverse_mu, Py_ssize_t n, double *out)
    void snn_update "mvsc_snn_update"(
        const void *w, void *e, void *l1, void *y1, void *x, void *lt, void *yt, void *xt,
        void *l3, void *y3, const double *new3, double mu, double mu_next, Py_ssize_t n,
        double *change)
    void add_gram "mvsc_add_gram"(
        const double *rows, Py_ssize_t v, Py_ssize_t stride, Py_ssize_t n, double weight,
        double *gram)
