# Seconds on a clock that never goes back.
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
