# Fused sweeps of TRPCA and SNN over C-contiguous (v, m, n) tensors.
from cython cimport floating


cdef size_t trpca_bytes(Py_ssize_t v, size_t itemsize, int n_threads) noexcept nogil
cdef double trpca_sweep(
    floating **tensors, const double *basis, Py_ssize_t v, Py_ssize_t m, Py_ssize_t n, double lam,
    double mu, double mu_next, int n_threads, void *workspace,
) noexcept nogil

cdef struct SNN:
    # One iteration on v slices of n x n.
    Py_ssize_t v
    Py_ssize_t n
    double mu
    double mu_next
    const double *mapper    # v x v: L3 is mapper @ (W - E - Y3 / mu)

cdef size_t snn_bytes(Py_ssize_t v, Py_ssize_t n, size_t itemsize, int n_threads) noexcept nogil
cdef double snn_sweep(
    floating **tensors, const SNN *snn, double *gram, int n_threads, void *workspace,
) noexcept nogil
