# Differences between platforms: OpenMP if the compiler has it, otherwise one thread; and
# a clock that never goes back.
cdef extern from *:
    """
    #ifdef _OPENMP
      #include <omp.h>
      #define MVSC_OPENMP 1
    #else
      #define MVSC_OPENMP 0
      typedef int omp_lock_t;
      static int omp_get_thread_num(void) { return 0; }
      static void omp_init_lock(omp_lock_t *lock) { *lock = 0; }
      static void omp_set_lock(omp_lock_t *lock) { (void)lock; }
      static void omp_unset_lock(omp_lock_t *lock) { (void)lock; }
      static void omp_destroy_lock(omp_lock_t *lock) { (void)lock; }
    #endif
    """
    const int MVSC_OPENMP
    ctypedef struct omp_lock_t:
        pass
    int omp_get_thread_num() nogil
    void omp_init_lock(omp_lock_t *lock) nogil
    void omp_set_lock(omp_lock_t *lock) nogil
    void omp_unset_lock(omp_lock_t *lock) nogil
    void omp_destroy_lock(omp_lock_t *lock) nogil


cdef extern from *:
    """
    #if defined(_WIN32)
      #define WIN32_LEAN_AND_MEAN
      #include <windows.h>
      static double mvsc_seconds(void)
      {
          LARGE_INTEGER count, frequency;
          QueryPerformanceFrequency(&frequency);
          QueryPerformanceCounter(&count);
          return (double)count.QuadPart / (double)frequency.QuadPart;
      }
    #else
      #include <time.h>
      static double mvsc_seconds(void)
      {
          struct timespec now;
          clock_gettime(CLOCK_MONOTONIC, &now);
          return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
      }
    #endif
    """
    double seconds "mvsc_seconds" () nogil
