"""Run in a fresh interpreter: LAPACK routines that fail on demand, put into SciPy's table.

Compiled modules look LAPACK up in ``scipy.linalg.cython_lapack.__pyx_capi__`` when they are
imported, so whatever stands there by then is what they call.
"""

import ctypes

from scipy.linalg import cython_lapack

_api = ctypes.pythonapi
_api.PyCapsule_GetName.restype = ctypes.c_char_p
_api.PyCapsule_GetName.argtypes = [ctypes.py_object]
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_kept = []  # what C code points to


class Routine:
    """One LAPACK routine: counts its calls, and from call ``fail_from`` on returns ``info``.

    ``fail_count`` limits how many calls fail. ``info`` is the last argument of every routine.
    """

    def __init__(self, name):
        self.name = name
        self.calls = 0
        self.disarm()
        capsule = cython_lapack.__pyx_capi__[name]
        signature = _api.PyCapsule_GetName(capsule)
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (signature.count(b",") + 1))
        original = prototype(_api.PyCapsule_GetPointer(capsule, signature))

        def call(*arguments):
            self.calls += 1
            if self.fail_from <= self.calls < self.fail_from + self.fail_count:
                ctypes.cast(arguments[-1], ctypes.POINTER(ctypes.c_int))[0] = self.info
                self.failures += 1
            else:
                original(*arguments)

        function = prototype(call)
        pointer = ctypes.cast(function, ctypes.c_void_p)
        cython_lapack.__pyx_capi__[name] = _api.PyCapsule_New(pointer, signature, None)
        _kept.extend([capsule, signature, function])

    def arm(self, info, fail_from=1, fail_count=10**9):
        self.calls = self.failures = 0
        self.info, self.fail_from, self.fail_count = info, fail_from, fail_count

    def disarm(self):
        self.arm(0, fail_from=10**9)
