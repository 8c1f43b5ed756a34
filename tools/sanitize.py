"""Run the tests of all compiled code under sanitizers; exit with 1 if one of them reports.

Usage: python tools/sanitize.py [memory] [threads]

memory: AddressSanitizer and UndefinedBehaviorSanitizer, with bounds checks. threads:
ThreadSanitizer, with tools/openmp_on_pthreads.c for libgomp. Modules and test
modules are compiled for it, against the environment's Python.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "sanitized"
COMPILED = [
    "tests/core",  # core and its parts
    "tests/solvers",  # _tlrr_binding
    "tests/methods/test_recovery.py",  # _kernels
    "tests/similarity/test_sparse.py",  # _factored
    "tests/spectral/test_spectral.py",  # _filter
    "tests/judge/test_predictor.py",  # _predict
    "tests/native",  # _capi, and the C program
    "tests/_utils/test_threads.py",  # _threads
    "tests/attack",
]
KINDS = {
    "memory": {
        "sanitizers": "address,undefined",
        "libraries": ["libasan.so", "libubsan.so"],
        # Limits on memory and counts of allocations are the sanitizer's own.
        "tests": "not (yaleb or any_tensor or memory or allocated)",
        "environment": {
            # A report ends the process by a signal, which tells a reader of files of other packages
            # that its child has crashed.
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:abort_on_error=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
        },
    },
    "threads": {
        "sanitizers": "thread",
        "libraries": ["libtsan.so"],
        # Not those of processes: the sanitizer does not follow the threads of forked children.
        "tests": "thread and not (yaleb or child or loaded_later)",
        # The detector of deadlocks ends at 64 locks, and a fork locks more of libarrow's.
        "environment": {
            "TSAN_OPTIONS": f"detect_deadlocks=0 suppressions={ROOT / 'tools' / 'threads.supp'}"
        },
    },
}


def build(kind):
    """Install the package, compiled for these sanitizers, in a folder of its own."""
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.rmtree(ROOT / "build" / "debug", ignore_errors=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "setuptools>=77", "cython>=3.1"], check=True)
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "--target", str(BUILD), str(ROOT)],
        env={**os.environ, "MVSC_SANITIZERS": kind["sanitizers"]},
        check=True,
    )


def openmp_on_pthreads():
    """The library that takes the place of libgomp."""
    source = ROOT / "tools" / "openmp_on_pthreads.c"
    library = BUILD / "libopenmp_on_pthreads.so"
    flags = ["-O1", "-g", "-fPIC", "-shared", "-fsanitize=thread", "-pthread", "-Wall", "-Wextra"]
    subprocess.run(["gcc", *flags, "-o", str(library), str(source)], check=True)
    return str(library)


def run(kind):
    """Exit status of the tests."""
    preload = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in kind["libraries"]
    ]
    # Reports go to the descriptor of the standard error, which pytest would keep.
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--capture=sys", *COMPILED]
    command += ["-k", kind["tests"]]
    if kind["sanitizers"] == "thread":
        preload.append(openmp_on_pthreads())
        command = ["setarch", "--addr-no-randomize", *command]  # for its shadow memory
    flags = f"-g -fsanitize={kind['sanitizers']} -fno-sanitize-recover=undefined -DMVSC_NO_CLONES"
    environment = {
        "PYTHONPATH": str(BUILD),
        "LD_PRELOAD": " ".join(preload),
        "CFLAGS": flags,
        "LDFLAGS": flags,
        **kind["environment"],
    }
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}).returncode


def main(names):
    failed = []
    for name in names or KINDS:
        build(KINDS[name])
        if run(KINDS[name]):
            failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
