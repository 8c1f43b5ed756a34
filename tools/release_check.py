"""Refuse a release with something stale or missing; prints every reason.

Usage: python tools/release_check.py

Expects sdist and wheel in dist/ (`make wheel`); `make docs` checks examples and the links of docs.
"""

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IN_WHEEL = ["__init__.py", "__init__.pxd", "include/mvsc_fast.h", "datasets/data/", "core/api.pxd"]
IN_SDIST = ["LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "Makefile",
            "setup.py", "tests/conftest.py", "docs/conf.py", "bench/timing.py"]  # fmt: skip


def found_in(path, pattern):
    match = re.search(pattern, (ROOT / path).read_text(), re.M)
    return match.group(1) if match else "nothing"


def version_reasons():
    version = found_in("src/mvsc_fast/__init__.py", r'^__version__ = "(.*)"')
    cited = found_in("CITATION.cff", r"^version: (.*)$")
    if cited != version:
        yield f"CITATION.cff has version {cited}, the package {version}"
    latest = found_in("CHANGELOG.md", r"^## (.*)$")
    if not re.fullmatch(rf"{re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", latest):
        yield f"the latest entry of CHANGELOG.md is {latest!r}, not '{version} (YYYY-MM-DD)'"
    yield from file_reasons(version)


def file_reasons(version):
    archives = [*(ROOT / "dist").glob(f"mvsc_fast-{version}*")]
    sdists = [path for path in archives if path.name.endswith(".tar.gz")]
    wheels = [path for path in archives if path.suffix == ".whl"]
    if not (sdists and wheels):
        yield f"dist/ has no sdist and wheel of {version}"
    for path in sdists:
        with tarfile.open(path) as archive:
            names = archive.getnames()
        yield from missing(path, names, [f"mvsc_fast-{version}/{name}" for name in IN_SDIST])
    for path in wheels:
        names = zipfile.ZipFile(path).namelist()
        yield from missing(path, names, [f"mvsc_fast/{name}" for name in IN_WHEEL])


def missing(path, names, wanted):
    for name in wanted:
        if not any(one == name or (name.endswith("/") and one.startswith(name)) for one in names):
            yield f"{path.name} has no {name}"


def link_reasons():
    for page in sorted(ROOT.glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                yield f"{page.name} links to {target}, which does not exist"


def state_reasons():
    changed = subprocess.run(
        ["git", "-C", ROOT, "status", "--porcelain"], capture_output=True, text=True, check=True
    ).stdout
    if changed:
        yield f"uncommitted changes: {', '.join(changed.split()[1::2])}"
    check = subprocess.run(
        [sys.executable, ROOT / "bench" / "tables.py", "--check"], capture_output=True, text=True
    )
    for line in check.stdout.splitlines():
        if not line.endswith("current"):
            yield f"table {' '.join(line.split())}"


def main():
    reasons = [*version_reasons(), *link_reasons(), *state_reasons()]
    for reason in reasons:
        print(reason)
    print(f"{len(reasons)} reasons not to release" if reasons else "ready to release")
    return bool(reasons)


if __name__ == "__main__":
    sys.exit(main())
