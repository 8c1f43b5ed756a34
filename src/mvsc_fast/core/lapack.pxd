# LAPACK and BLAS of SciPy as fused-type functions. Matrices are column-major; every function that
# can fail returns LAPACK's info. Next to it is the size of its workspace: `_lwork` numbers of its
# type, `_liwork` integers.
from cython cimport floating
from scipy.linalg cimport cython_blas as blas
from scipy.linalg cimport cython_lapack as lapack

include "blas_int.pxi"

ctypedef double complex doublecomplex
ctypedef float complex floatcomplex

ctypedef fused number:
    float
    double
    floatcomplex
    doublecomplex

cdef enum:
    BLOCK = 64              # columns that LAPACK works on together, at most


cdef inline blas_int sterf(blas_int n, floating *d, floating *e) noexcept nogil:
    """Eigenvalues of a tridiagonal matrix, ascending, into d."""
    cdef blas_int info = 0
    if floating is double:
        lapack.dsterf(&n, d, e, &info)
    else:
        lapack.ssterf(&n, d, e, &info)
    return info


cdef inline Py_ssize_t stedc_lwork(Py_ssize_t n) noexcept nogil:
    return 1 + 4 * n + n * n


cdef inline Py_ssize_t stedc_liwork(Py_ssize_t n) noexcept nogil:
    return 3 + 5 * n


cdef inline blas_int stedc(blas_int n, floating *d, floating *e, floating *z, floating *work,
                           blas_int *iwork) noexcept nogil:
    """Eigenvalues into d and eigenvectors into z of a tridiagonal matrix: divide and conquer."""
    cdef blas_int info = 0, lwork = <blas_int> stedc_lwork(n), liwork = <blas_int> stedc_liwork(n)
    cdef char compz = b'I'
    if floating is double:
        lapack.dstedc(&compz, &n, d, e, z, &n, work, &lwork, iwork, &liwork, &info)
    else:
        lapack.sstedc(&compz, &n, d, e, z, &n, work, &lwork, iwork, &liwork, &info)
    return info


cdef inline Py_ssize_t steqr_lwork(Py_ssize_t n) noexcept nogil:
    return max(2 * n - 2, 1)


cdef inline blas_int steqr(blas_int n, floating *d, floating *e, floating *z,
                           floating *work) noexcept nogil:
    """As stedc by QR iterations: slower, but it converges if stedc does not."""
    cdef blas_int info = 0
    cdef char compz = b'I'
    if floating is double:
        lapack.dsteqr(&compz, &n, d, e, z, &n, work, &info)
    else:
        lapack.ssteqr(&compz, &n, d, e, z, &n, work, &info)
    return info


cdef inline Py_ssize_t stemr_lwork(Py_ssize_t n) noexcept nogil:
    return 18 * n


cdef inline Py_ssize_t stemr_liwork(Py_ssize_t n) noexcept nogil:
    return 10 * n


cdef inline blas_int stemr(blas_int n, floating *d, floating *e, blas_int first, blas_int last,
                           floating *w, floating *z, blas_int *isuppz, floating *work,
                           blas_int *iwork) noexcept nogil:
    """Eigenpairs first..last (from 1) of a tridiagonal matrix; d and e are destroyed.

    isuppz has 2 n integers.
    """
    cdef blas_int info = 0, found = 0, columns = last - first + 1
    cdef blas_int lwork = <blas_int> stemr_lwork(n), liwork = <blas_int> stemr_liwork(n)
    cdef blas_bint tryrac = 1
    cdef char jobz = b'V', selection = b'I'
    cdef floating lower = 0, upper = 0
    if floating is double:
        lapack.dstemr(&jobz, &selection, &n, d, e, &lower, &upper, &first, &last, &found, w, z, &n,
                      &columns, isuppz, &tryrac, work, &lwork, iwork, &liwork, &info)
    else:
        lapack.sstemr(&jobz, &selection, &n, d, e, &lower, &upper, &first, &last, &found, w, z, &n,
                      &columns, isuppz, &tryrac, work, &lwork, iwork, &liwork, &info)
    if info == 0 and found != columns:
        info = 1
    return info


cdef inline Py_ssize_t geqrf_lwork(Py_ssize_t n) noexcept nogil:
    """Of geqrf and orgqr."""
    return BLOCK * n


cdef inline blas_int geqrf(blas_int m, blas_int n, floating *a, floating *tau,
                           floating *work) noexcept nogil:
    """Householder reflectors of a QR factorisation, into a and tau."""
    cdef blas_int info = 0, lwork = <blas_int> geqrf_lwork(n)
    if floating is double:
        lapack.dgeqrf(&m, &n, a, &m, tau, work, &lwork, &info)
    else:
        lapack.sgeqrf(&m, &n, a, &m, tau, work, &lwork, &info)
    return info


cdef inline blas_int orgqr(blas_int m, blas_int n, floating *a, floating *tau,
                           floating *work) noexcept nogil:
    """The first n columns of Q of geqrf, into a."""
    cdef blas_int info = 0, lwork = <blas_int> geqrf_lwork(n)
    if floating is double:
        lapack.dorgqr(&m, &n, &n, a, &m, tau, work, &lwork, &info)
    else:
        lapack.sorgqr(&m, &n, &n, a, &m, tau, work, &lwork, &info)
    return info


cdef inline blas_int potrf(blas_int n, floating *a) noexcept nogil:
    """Cholesky factor in the lower triangle; positive info if a is not positive definite."""
    cdef blas_int info = 0
    cdef char uplo = b'L'
    if floating is double:
        lapack.dpotrf(&uplo, &n, a, &n, &info)
    else:
        lapack.spotrf(&uplo, &n, a, &n, &info)
    return info


cdef inline double dot(blas_int n, const double *x, const double *y) noexcept nogil:
    cdef blas_int one = 1
    return blas.ddot(&n, <double *> x, &one, <double *> y, &one)


cdef inline Py_ssize_t syev_lwork(Py_ssize_t n) noexcept nogil:
    return (BLOCK + 2) * n


cdef inline blas_int syev(blas_int n, double *a, double *w, double *work) noexcept nogil:
    """Eigenvalues, ascending, and eigenvectors (columns, into a) of a small symmetric matrix."""
    cdef blas_int info = 0, lwork = <blas_int> syev_lwork(n)
    cdef char jobz = b'V', uplo = b'L'
    lapack.dsyev(&jobz, &uplo, &n, a, &n, w, work, &lwork, &info)
    return info


cdef inline blas_int zheev(blas_int n, doublecomplex *a, double *w, double *work) noexcept nogil:
    """As syev of a Hermitian matrix; work has 2 syev_lwork(n) + 3 n numbers."""
    cdef blas_int info = 0, lwork = <blas_int> syev_lwork(n)
    cdef char jobz = b'V', uplo = b'L'
    lapack.zheev(&jobz, &uplo, &n, a, &n, w, <doublecomplex *> work, &lwork, work + 2 * lwork,
                 &info)
    return info


cdef inline Py_ssize_t gesvd_lwork(Py_ssize_t m, Py_ssize_t n) noexcept nogil:
    return max(m, n) + BLOCK * min(m, n) + 256


cdef inline blas_int gesvd(blas_int m, blas_int n, double *a, double *s, double *vt,
                           double *work) noexcept nogil:
    """Singular values and all right singular vectors (rows of vt); a is destroyed."""
    cdef blas_int info = 0, one = 1, lwork = <blas_int> gesvd_lwork(m, n)
    cdef char none = b'N', everything = b'A'
    lapack.dgesvd(&none, &everything, &m, &n, a, &m, s, work, &one, vt, &n, work, &lwork, &info)
    return info


# ------------------------------------------------------------------ real and complex

cdef inline void herk(bint upper, bint adjoint, blas_int n, blas_int k, double alpha, number *a,
                      double beta, number *c) noexcept nogil:
    """A triangle of c <- alpha a a^H + beta c for a of n x k, or with a^H a for a of k x n."""
    cdef char uplo = b'U' if upper else b'L', trans = b'N'
    cdef blas_int lda = k if adjoint else n
    cdef float alpha_f = <float> alpha, beta_f = <float> beta
    if adjoint:
        trans = b'T' if number is double or number is float else b'C'
    if number is double:
        blas.dsyrk(&uplo, &trans, &n, &k, &alpha, a, &lda, &beta, c, &n)
    elif number is float:
        blas.ssyrk(&uplo, &trans, &n, &k, &alpha_f, a, &lda, &beta_f, c, &n)
    elif number is doublecomplex:
        blas.zherk(&uplo, &trans, &n, &k, &alpha, a, &lda, &beta, c, &n)
    else:
        blas.cherk(&uplo, &trans, &n, &k, &alpha_f, a, &lda, &beta_f, c, &n)


cdef inline void gemm(bint adjoint_a, bint adjoint_b, blas_int m, blas_int n, blas_int k,
                      double factor, number *a, blas_int lda, number *b, blas_int ldb, double keep,
                      number *c, blas_int ldc) noexcept nogil:
    """c <- factor a b + keep c, of m x n, or with the conjugate transposes of a and b."""
    cdef char trans_a = b'C' if adjoint_a else b'N', trans_b = b'C' if adjoint_b else b'N'
    cdef number alpha = <number> factor, beta = <number> keep
    if number is double:
        blas.dgemm(&trans_a, &trans_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc)
    elif number is float:
        blas.sgemm(&trans_a, &trans_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc)
    elif number is doublecomplex:
        blas.zgemm(&trans_a, &trans_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc)
    else:
        blas.cgemm(&trans_a, &trans_b, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc)


cdef inline Py_ssize_t hetrd_lwork(Py_ssize_t n) noexcept nogil:
    return BLOCK * n


cdef inline blas_int hetrd(blas_int n, number *a, void *d, void *e, number *tau,
                           number *work) noexcept nogil:
    """Tridiagonal form of a Hermitian matrix, lower triangle in and reflectors out.

    d and e are real, of the precision of a.
    """
    cdef blas_int info = 0, lwork = <blas_int> hetrd_lwork(n)
    cdef char uplo = b'L'
    if number is double:
        lapack.dsytrd(&uplo, &n, a, &n, <double *> d, <double *> e, tau, work, &lwork, &info)
    elif number is float:
        lapack.ssytrd(&uplo, &n, a, &n, <float *> d, <float *> e, tau, work, &lwork, &info)
    elif number is doublecomplex:
        lapack.zhetrd(&uplo, &n, a, &n, <double *> d, <double *> e, tau, work, &lwork, &info)
    else:
        lapack.chetrd(&uplo, &n, a, &n, <float *> d, <float *> e, tau, work, &lwork, &info)
    return info


cdef inline Py_ssize_t unmtr_lwork(Py_ssize_t columns) noexcept nogil:
    return BLOCK * columns + (BLOCK + 1) * BLOCK


cdef inline blas_int unmtr(blas_int n, blas_int columns, number *a, number *tau, number *c,
                           number *work) noexcept nogil:
    """c <- Q c for the reflectors a, tau of hetrd."""
    cdef blas_int info = 0, lwork = <blas_int> unmtr_lwork(columns)
    cdef char side = b'L', uplo = b'L', trans = b'N'
    if number is double:
        lapack.dormtr(&side, &uplo, &trans, &n, &columns, a, &n, tau, c, &n, work, &lwork, &info)
    elif number is float:
        lapack.sormtr(&side, &uplo, &trans, &n, &columns, a, &n, tau, c, &n, work, &lwork, &info)
    elif number is doublecomplex:
        lapack.zunmtr(&side, &uplo, &trans, &n, &columns, a, &n, tau, c, &n, work, &lwork, &info)
    else:
        lapack.cunmtr(&side, &uplo, &trans, &n, &columns, a, &n, tau, c, &n, work, &lwork, &info)
    return info
