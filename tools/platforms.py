"""Build the package and run its tests on other processors and with other versions.

Usage: python tools/platforms.py [--cache FOLDER] [--wheel FILE] [NAME ...] [--tests TEST ...]

Every name has a folder in the cache, which the next run uses again, and a line in
bench/results/platforms.csv; without a name, that file is printed as a table. A wheel is tested with
the Pythons that it is for; for all others the package is compiled. All but the versions that are
installed here need root and a Debian machine with mmdebstrap, qemu-user-static, binfmt-support and
dpkg-dev.

Roots of other processors, and of Python 3.14, are Debian's packages, unpacked without their
scripts. On other processors Python runs under QEMU; C is generated here, and the compiler is this
machine's for the other processor, because both take ten times as long under an emulator. A
free-threaded Python is built from Debian's sources.
"""

import argparse
import contextlib
import csv
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "platforms.csv"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
PACKAGES = "usr/lib/python3/dist-packages"
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
COLUMNS = [
    *("environment", "commit", "package", "python", "numpy", "scipy", "scikit-learn"),
    *("tests", "passed", "skipped", "failed"),
]
VERSIONS = """
import platform, numpy, scipy, sklearn
print(platform.python_version(), numpy.__version__, scipy.__version__, sklearn.__version__)
"""
REQUIREMENTS = [
    *("numpy", "scipy", "scikit-learn", "threadpoolctl", "setuptools", "cython"),
    *("pytest", "pytest-xdist", "hypothesis", "joblib"),
]
ALL = ["tests"]
EMULATED = [
    f"tests/{part}" for part in "core judge methods native similarity solvers spectral".split()
]
DEBIAN_HAS = [
    *("numpy", "scipy", "sklearn", "threadpoolctl", "pytest", "pytest-xdist", "hypothesis"),
    *("dask", "distributed", "h5py", "joblib", "matplotlib", "openpyxl", "pandas"),
    *("pip", "tqdm", "zarr"),
]
RELEASED = ["3.11", "3.12", "3.13", "3.14"]  # for which there is one wheel
FREE_THREADED = "dask,files,plot,progress"  # polars and igraph have no such wheels


def run(*command, check=True, **kwargs):
    subprocess.run(list(map(str, command)), check=check, **kwargs)


def unpack(target, architecture, packages):
    """The files of packages of Debian testing and of all that they need, in a folder or a tar."""
    run(
        "mmdebstrap",
        "--variant=extract",
        "--mode=root",
        f"--keyring={KEYRING}",
        '--aptopt=Acquire::Check-Valid-Until "false"',
        f"--architectures={architecture}",
        "--include=" + ",".join(packages),
        "forky",
        target,
    )


def debian(folder, architecture, triplet, cpu=None):
    """The Python of Debian testing in a root of its own, emulated if a ``cpu`` is named."""
    root = folder / "root"
    packages = "base-files bash coreutils dash grep libc-bin libc6-dev sed util-linux".split()
    packages += [f"python3-{name}" for name in ["dev", *DEBIAN_HAS]]
    if not cpu:
        packages += ["gcc"]
    if not (root / "etc" / "passwd").exists():
        shutil.rmtree(root, ignore_errors=True)
        unpack(root, architecture, packages)
        if cpu:
            compiler = folder / "compiler.tar"
            unpack(compiler, "amd64", [f"gcc-16-{triplet}"])
            run("tar", "-xf", compiler, "-C", root, "--skip-old-files")
            compiler.unlink()
            (root / f"usr/bin/{triplet}-gcc").symlink_to(f"{triplet}-gcc-16")
            (root / "usr/bin/ld").symlink_to(f"{triplet}-ld.bfd")
        # Cython writes C again that another version wrote.
        run(
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--platform=any",
            "--only-binary=:all:",
            "--python-version=3.14",
            "--target",
            root / PACKAGES,
            f"cython=={importlib.metadata.version('cython')}",
            "setuptools",
        )
        for library in ("blas", "lapack"):  # this and the rest is what scripts of packages do
            name = f"lib{library}.so.3"
            (root / "usr/lib" / triplet / name).symlink_to(f"{library}/{name}")
        if (root / "usr/lib64").exists() and not (root / "lib64").exists():
            (root / "lib64").symlink_to("usr/lib64")
        (root / CERTIFICATES[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(CERTIFICATES, root / CERTIFICATES[1:])
        (root / "etc/passwd").write_text("root:x:0:0::/root:/bin/sh\n")
    mounts = " && ".join(f'mount --rbind /{name} "$0/{name}"' for name in ("dev", "proc", "sys"))
    enter = f'{mounts} && exec chroot "$0" "$@"'
    python = [
        "unshare",
        "--mount",
        "sh",
        "-c",
        enter,
        root,
        "env",
        "-i",
        "--chdir=/root",
        "HOME=/root",
        "PATH=/usr/bin",
        f"QEMU_CPU={cpu or ''}",
        "PIP_BREAK_SYSTEM_PACKAGES=1",
        "PIP_ROOT_USER_ACTION=ignore",
        "python3",
    ]
    return python, root / "root", ["./source", "--no-deps", "--no-index"]


def interpreter(version):
    """A Python of this machine, also one that pyenv keeps out of the path."""
    pyenv = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser()
    for python in (f"python{version}", *pyenv.glob(f"versions/{version}.*/bin/python")):
        with contextlib.suppress(OSError, subprocess.CalledProcessError):
            run(python, "-c", "", stderr=subprocess.DEVNULL)
            return python
    raise FileNotFoundError(f"this machine has no Python {version}")


def environment(folder, python, *options, extras="test"):
    """A virtual environment with all requirements but the package itself."""
    home = folder / "environment"
    run(python, "-m", "venv", "--without-pip", home)  # which Debian's sources do not have
    python = home / "bin" / "python"
    for free_threads in home.glob("lib/python*t"):
        usual = free_threads.with_name(free_threads.name[:-1])  # which Debian's sources expect
        if not usual.exists():
            usual.symlink_to(free_threads.name)
    run(
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--prefer-binary",
        *options,
        "pip",
        *REQUIREMENTS,
    )
    return [python], home, [f"./source[{extras}]"]


def released(folder, version, *options):
    """The newest of everything that this Python version has."""
    return environment(folder, interpreter(version), *options)


def oldest(folder, version):
    """The lower ends of pyproject.toml, at their last bug fixes."""
    text = (ROOT / "pyproject.toml").read_text()
    least = re.findall(r'"([\w-]+)(?:\[.*?\])?>=([\d.]+)"', text)
    pins = folder / "constraints.txt"
    pins.write_text("".join(f"{name}=={version}.*\n" for name, version in least))
    python, home, package = environment(folder, interpreter(version), "--constraint", pins)
    return ["env", f"PIP_CONSTRAINT={pins}", *python], home, package


def built(folder, version, *configuration, **kwargs):
    """The newest of everything for CPython from the sources of Debian testing."""
    prefix, build = folder / "python", folder / "build"
    python = prefix / "bin" / "python3"
    if not python.exists():
        shutil.rmtree(build, ignore_errors=True)
        mirrors = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian"],
            capture_output=True,
            text=True,
            check=True,
        )
        (build / "lists" / "partial").mkdir(parents=True, exist_ok=True)
        (build / "sources.list").write_text(
            f"deb-src [signed-by={KEYRING}] {mirrors.stdout.split()[0]} forky main\n"
        )
        options = (
            "Dir::Etc::sourcelist={}/sources.list",
            "Dir::Etc::sourceparts=/dev/null",
            "Dir::State::lists={}/lists",
            "APT::Sandbox::User=root",
        )
        apt = ["apt-get", "-q", *("-o" + option.format(build) for option in options)]
        run(*apt, "update")
        run(*apt, "source", f"python{version}", cwd=build)
        (configure,) = build.glob("*/configure")
        for command in (
            ["./configure", f"--prefix={prefix}", "--without-ensurepip", *configuration],
            ["make", f"-j{os.cpu_count()}"],
            ["make", "install"],
        ):
            run(*command, cwd=configure.parent)
        shutil.rmtree(build)
    return environment(folder, python, **kwargs)


ENVIRONMENTS = {
    # The emulator's own "max" authenticates pointers, which takes four times as long.
    "aarch64": (
        partial(debian, architecture="arm64", triplet="aarch64-linux-gnu", cpu="neoverse-n1"),
        EMULATED,
    ),
    "s390x": (
        partial(debian, architecture="s390x", triplet="s390x-linux-gnu", cpu="max"),
        EMULATED,
    ),
    "i386": (partial(debian, architecture="i386", triplet="i386-linux-gnu"), ALL),
    "oldest": (partial(oldest, version="3.10"), ALL),
    **{f"3.{minor}": (partial(released, version=f"3.{minor}"), ALL) for minor in range(10, 14)},
    "3.14": (partial(debian, architecture="amd64", triplet="x86_64-linux-gnu"), ALL),
    "3.14t": (
        lambda folder: built(folder, "3.14", "--disable-gil", extras=FREE_THREADED),
        ALL,
    ),
    "prerelease": (lambda folder: released(folder, "3.13", "--pre"), ALL),
}


def sources(folder):
    """A copy of what git knows, and of C that was generated from it."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    files = [ROOT / name for name in listed.stdout.decode().split("\0")[:-1]]
    generated = [file for kind in ("*.pxi", "*.c") for file in (ROOT / "src").rglob(kind)]
    for file in [*files, *generated]:  # in this order, so that C is newer
        target = folder / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)


def check(name, cache, wheel, tests):
    """Install the package in an environment, run tests, and return the line of the table."""
    prepare, usual = ENVIRONMENTS[name]
    folder = cache / name
    folder.mkdir(parents=True, exist_ok=True)
    python, work, package = prepare(folder)
    for stale in (work / "source", work / "tests"):
        shutil.rmtree(stale, ignore_errors=True)
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True)
    sources(work / "source")
    if wheel := wheel if name in RELEASED else None:
        shutil.copy(wheel, work)  # the root of an environment may be another
        package = [each.replace("./source", f"./{wheel.name}") for each in package]
        run(*python, "-m", "pip", "uninstall", "--yes", "mvsc-fast")  # another of this version
    run(*python, "-m", "pip", "install", "--no-build-isolation", *package, cwd=work)
    for part in ("tests", "examples", "pyproject.toml"):  # away from the package's source
        run("cp", "-r", work / "source" / part, work)
    tests = tests or usual
    run(
        *python,
        "-m",
        "pytest",
        "-nauto",
        "--dist=loadfile",
        "--junitxml=results.xml",
        *tests,
        cwd=work,
        check=False,
    )
    counts = ElementTree.parse(work / "results.xml").find("testsuite").attrib
    skipped, failed = int(counts["skipped"]), int(counts["failures"]) + int(counts["errors"])
    versions = subprocess.check_output([*python, "-c", VERSIONS], cwd=work, text=True)
    parts = " ".join(test.removeprefix("tests/").removesuffix(".py") for test in tests)
    return [
        name,
        commit.strip(),
        "wheel" if wheel else "source",
        *versions.split(),
        parts,
        int(counts["tests"]) - skipped - failed,
        skipped,
        failed,
    ]


def results():
    """Lines of the table, by name."""
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="") as file:
        return {line[0]: line for line in list(csv.reader(file))[1:]}


def main(names, cache, wheel, tests):
    for name in names:
        line = check(name, cache, wheel, tests)
        lines = results() | {name: line}
        with RESULTS.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([COLUMNS, *(lines[n] for n in ENVIRONMENTS if n in lines)])
    if not names:
        for line in (COLUMNS, ["---"] * len(COLUMNS), *results().values()):
            print("|", " | ".join(line), "|")
    return any(int(results()[name][-1]) for name in names)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ENVIRONMENTS))
    parser.add_argument("--cache", type=Path, default=ROOT / "build" / "platforms")
    parser.add_argument("--wheel", type=Path, help="of the stable ABI, for " + ", ".join(RELEASED))
    parser.add_argument("--tests", nargs="+", help="other tests than usual")
    arguments = parser.parse_args()
    wheel = arguments.wheel and arguments.wheel.resolve(strict=True)
    sys.exit(main(arguments.names, arguments.cache.resolve(), wheel, arguments.tests))
