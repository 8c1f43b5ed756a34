"""Code in processes of its own."""

import multiprocessing
import os
import subprocess
import sys
import tempfile
import textwrap
from multiprocessing import forkserver
from pathlib import Path

# Children of a process that has imported what the package imports start in a fifth of the time.
# The package itself is imported by each of them, as it limits threads in children of its process.
# The thread sanitizer allows no threads in them.
FORKS = "forkserver" in multiprocessing.get_all_start_methods()
FORKS &= "tsan" not in os.environ.get("LD_PRELOAD", "")
LIBRARIES = ["sklearn.cluster", "sklearn.ensemble", "sklearn.neighbors", "scipy.sparse.csgraph"]


def run_python(code, *arguments, fresh=False, timeout=600):
    """Output of code that must end well, in a process that has not imported the package.

    With ``fresh`` in one that has imported nothing: for limits that its outputs or imports obey.
    """
    run = _forked if FORKS and not fresh else _started
    found = run(textwrap.dedent(code), list(map(str, arguments)), timeout)
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout


def program(arguments, change="", **options):
    """The command, started by a shell that may close or fill its streams, with usual buffers."""
    command = f"{sys.executable} -m mvsc_fast cluster {arguments} --method awp --clusters 3"
    return subprocess.run(
        ["sh", "-c", f"unset PYTHONUNBUFFERED; {command} {change}"],
        **{"capture_output": True, "text": True, **options},
    )


def _started(code, arguments, timeout):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={name: os.environ[name] for name in os.environ if name != "OMP_NUM_THREADS"},
    )


def _forked(code, arguments, timeout):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    kept = os.environ.copy()
    os.environ.pop("OMP_NUM_THREADS", None)
    try:
        forkserver.ensure_running()
    finally:
        os.environ.update(kept)
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("out", "err")]
        child = context.Process(target=_run, args=(code, arguments, streams, os.getcwd()))
        child.start()
        child.join(timeout)
        if child.is_alive():
            child.kill()
            raise TimeoutError(f"a process did not end within {timeout} seconds")
        written = [path.read_text() for path in streams]
        return subprocess.CompletedProcess(code, child.exitcode, *written)


def _run(code, arguments, streams, folder):
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    os.chdir(folder)
    sys.argv = ["-c", *arguments]
    exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})
