# The loops of loops.h as fused-type functions; what each computes is said there.
from cython cimport floating


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

    void mvsc_argument_d(const double *w, const double *l, const double *e, const double *y,
                         double inverse_mu, Py_ssize_t n, double *out)
    void mvsc_argument_f(const float *w, const float *l, const float *e, const float *y,
                         double inverse_mu, Py_ssize_t n, double *out)
    void mvsc_tube_argument_d(const double *w, const double *l, const double *e, const double *y1,
                              const double *y2, const IalmStep *step, Py_ssize_t n, double *tube,
                              double *squares)
    void mvsc_tube_argument_f(const float *w, const float *l, const float *e, const float *y1,
                              const float *y2, const IalmStep *step, Py_ssize_t n, float *tube,
                              float *squares)
    bint mvsc_finite_maximum_d(const double *x, Py_ssize_t n, double *largest)
    bint mvsc_finite_maximum_f(const float *x, Py_ssize_t n, double *largest)
    void mvsc_add_squares_d(const double *x, Py_ssize_t n, double *squares)
    void mvsc_add_squares_f(const float *x, Py_ssize_t n, float *squares)
    Py_ssize_t mvsc_shrink_factors_d(double *squares, Py_ssize_t n, double t)
    Py_ssize_t mvsc_shrink_factors_f(float *squares, Py_ssize_t n, double t)
    void mvsc_scale_d(double *x, const double *factor, Py_ssize_t n)
    void mvsc_scale_f(float *x, const float *factor, Py_ssize_t n)
    void mvsc_combine_d(const double *weights, const double *rows, Py_ssize_t v, Py_ssize_t stride,
                        Py_ssize_t n, double *out)
    void mvsc_combine_f(const double *weights, const double *rows, Py_ssize_t v, Py_ssize_t stride,
                        Py_ssize_t n, float *out)
    void mvsc_ialm_update_d(const double *w, double *l, double *e, double *y1, double *y2,
                            double *x, const double *l2, const double *tube, const double *factor,
                            const IalmStep *step, Py_ssize_t n, double *residual)
    void mvsc_ialm_update_f(const float *w, float *l, float *e, float *y1, float *y2, float *x,
                            const float *l2, const float *tube, const float *factor,
                            const IalmStep *step, Py_ssize_t n, float *residual)
    void mvsc_progress_d(const double *m, const double *last, const double *p, Py_ssize_t n,
                         double *sums)
    void mvsc_progress_f(const float *m, const float *last, const float *p, Py_ssize_t n,
                         double *sums)
    void mvsc_extrapolate_d(const double *p, const double *last, double momentum, Py_ssize_t n,
                            double *out)
    void mvsc_extrapolate_f(const float *p, const float *last, double momentum, Py_ssize_t n,
                            float *out)
    void mvsc_trpca_update_d(const double *w, double *l, double *s, double *y, const double *x,
                             double lam, double mu, double mu_next, Py_ssize_t n, double *argument,
                             double *change)
    void mvsc_trpca_update_f(const float *w, float *l, float *s, float *y, const float *x,
                             double lam, double mu, double mu_next, Py_ssize_t n, double *argument,
                             float *change)

    void mvsc_misfit_d(const double *w, const double *e, const double *y, double inverse_mu,
                       Py_ssize_t n, double *out)
    void mvsc_misfit_f(const float *w, const float *e, const float *y, double inverse_mu,
                       Py_ssize_t n, double *out)
    void mvsc_snn_update_d(const double *w, double *e, double *l1, double *y1, double *x,
                           double *lt, double *yt, double *xt, double *l3, double *y3,
                           const double *new3, double mu, double mu_next, Py_ssize_t n,
                           double *change)
    void mvsc_snn_update_f(const float *w, float *e, float *l1, float *y1, float *x,
                           float *lt, float *yt, float *xt, float *l3, float *y3,
                           const double *new3, double mu, double mu_next, Py_ssize_t n,
                           double *change)
    void mvsc_add_gram(const double *rows, Py_ssize_t v, Py_ssize_t stride, Py_ssize_t n,
                       double weight, double *gram)


cdef inline void argument(const floating *w, const floating *l, const floating *e,
                          const floating *y, double inverse_mu, Py_ssize_t n,
                          double *out) noexcept nogil:
    if floating is double:
        mvsc_argument_d(w, l, e, y, inverse_mu, n, out)
    else:
        mvsc_argument_f(w, l, e, y, inverse_mu, n, out)


cdef inline void tube_argument(const floating *w, const floating *l, const floating *e,
                               const floating *y1, const floating *y2, const IalmStep *step,
                               Py_ssize_t n, floating *tube, floating *squares) noexcept nogil:
    if floating is double:
        mvsc_tube_argument_d(w, l, e, y1, y2, step, n, tube, squares)
    else:
        mvsc_tube_argument_f(w, l, e, y1, y2, step, n, tube, squares)


cdef inline bint finite_maximum(const floating *x, Py_ssize_t n, double *largest) noexcept nogil:
    if floating is double:
        return mvsc_finite_maximum_d(x, n, largest)
    else:
        return mvsc_finite_maximum_f(x, n, largest)


cdef inline void add_squares(const floating *x, Py_ssize_t n, floating *squares) noexcept nogil:
    if floating is double:
        mvsc_add_squares_d(x, n, squares)
    else:
        mvsc_add_squares_f(x, n, squares)


cdef inline Py_ssize_t shrink_factors(floating *squares, Py_ssize_t n, double t) noexcept nogil:
    if floating is double:
        return mvsc_shrink_factors_d(squares, n, t)
    else:
        return mvsc_shrink_factors_f(squares, n, t)


cdef inline void scale(floating *x, const floating *factor, Py_ssize_t n) noexcept nogil:
    if floating is double:
        mvsc_scale_d(x, factor, n)
    else:
        mvsc_scale_f(x, factor, n)


cdef inline void combine(const double *weights, const double *rows, Py_ssize_t v, Py_ssize_t stride,
                         Py_ssize_t n, floating *out) noexcept nogil:
    if floating is double:
        mvsc_combine_d(weights, rows, v, stride, n, out)
    else:
        mvsc_combine_f(weights, rows, v, stride, n, out)


cdef inline void ialm_update(const floating *w, floating *l, floating *e, floating *y1,
                             floating *y2, floating *x, const floating *l2, const floating *tube,
                             const floating *factor, const IalmStep *step, Py_ssize_t n,
                             floating *residual) noexcept nogil:
    if floating is double:
        mvsc_ialm_update_d(w, l, e, y1, y2, x, l2, tube, factor, step, n, residual)
    else:
        mvsc_ialm_update_f(w, l, e, y1, y2, x, l2, tube, factor, step, n, residual)


cdef inline void progress(const floating *m, const floating *last, const floating *p, Py_ssize_t n,
                          double *sums) noexcept nogil:
    if floating is double:
        mvsc_progress_d(m, last, p, n, sums)
    else:
        mvsc_progress_f(m, last, p, n, sums)


cdef inline void extrapolate(const floating *p, const floating *last, double momentum, Py_ssize_t n,
                             floating *out) noexcept nogil:
    if floating is double:
        mvsc_extrapolate_d(p, last, momentum, n, out)
    else:
        mvsc_extrapolate_f(p, last, momentum, n, out)


cdef inline void trpca_update(const floating *w, floating *l, floating *s, floating *y,
                              const floating *x, double lam, double mu, double mu_next,
                              Py_ssize_t n, double *argument, floating *change) noexcept nogil:
    if floating is double:
        mvsc_trpca_update_d(w, l, s, y, x, lam, mu, mu_next, n, argument, change)
    else:
        mvsc_trpca_update_f(w, l, s, y, x, lam, mu, mu_next, n, argument, change)


cdef inline void misfit(const floating *w, const floating *e, const floating *y, double inverse_mu,
                        Py_ssize_t n, double *out) noexcept nogil:
    if floating is double:
        mvsc_misfit_d(w, e, y, inverse_mu, n, out)
    else:
        mvsc_misfit_f(w, e, y, inverse_mu, n, out)


cdef inline void snn_update(const floating *w, floating *e, floating *l1, floating *y1,
                            floating *x, floating *lt, floating *yt, floating *xt, floating *l3,
                            floating *y3, const double *new3, double mu, double mu_next,
                            Py_ssize_t n, double *change) noexcept nogil:
    if floating is double:
        mvsc_snn_update_d(w, e, l1, y1, x, lt, yt, xt, l3, y3, new3, mu, mu_next, n, change)
    else:
        mvsc_snn_update_f(w, e, l1, y1, x, lt, yt, xt, l3, y3, new3, mu, mu_next, n, change)
