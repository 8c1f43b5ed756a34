"""Code in processes of its own."""

import os
import subprocess
import sys
import textwrap


def run_python(code, *arguments, timeout=600):
    """Output of code that must end well, in a new process with the usual number of threads."""
    found = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={name: os.environ[name] for name in os.environ if name != "OMP_NUM_THREADS"},
    )
    assert found.returncode == 0, found.stderr[-2000:]
    return found.stdout


def program(arguments, change="", **options):
    """The command, started by a shell that may close or fill its streams, with usual buffers."""
    command = f"{sys.executable} -m mvsc_fast cluster {arguments} --method awp --clusters 3"
    return subprocess.run(
        ["sh", "-c", f"unset PYTHONUNBUFFERED; {command} {change}"],
        **{"capture_output": True, "text": True, **options},
    )
