# OpenMP where the compiler has it, one thread where it has not.
cdef extern from *:
    """
    #ifdef _OPENMP
      #include <omp.h>
      #define MVSC_OPENMP 1
    #else
      #define MVSC_OPENMP 0
      static int omp_get_thread_num(void) { return 0; }
    #endif
    """
    const int MVSC_OPENMP
    int omp_get_thread_num() nogil
