"""Refuse a release with something stale or missing; prints every reason.

Usage: python tools/release_check.py

Expects sdist and wheel in dist/ (`make wheel`). `make docs` checks the examples of the gallery and
the links between pages; here the examples of docstrings and of README.md are run, and addresses are
looked up, except for those that cannot be reached or refuse programs.
"""

import re
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IN_WHEEL = [
    "__init__.py",
    "__init__.pxd",
    "py.typed",
    "include/mvsc_fast.h",
    "include/mvsc_predict.h",
    "datasets/data/",
    "core/api.pxd",
]
IN_SDIST = [
    "LICENSE",
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "SECURITY.md",
    "Makefile",
    "setup.py",
    "tests/conftest.py",
    "docs/conf.py",
    "bench/timing.py",
]


def found_in(path, pattern):
    match = re.search(pattern, (ROOT / path).read_text(), re.M)
    return match.group(1) if match else "nothing"


def version_reasons():
    version = found_in("src/mvsc_fast/__init__.py", r'^__version__ = "(.*)"')
    for file, pattern in (
        ("CITATION.cff", r"^version: (.*)$"),
        ("recipe/recipe.yaml", r'^  version: "(.*)"'),
    ):
        if (named := found_in(file, pattern)) != version:
            yield f"{file} has version {named}, the package {version}"
    if "repository.invalid" in (ROOT / "recipe" / "recipe.yaml").read_text():
        yield "recipe/recipe.yaml has no home page"
    if "[project.urls]" not in (ROOT / "pyproject.toml").read_text():
        yield "pyproject.toml has no [project.urls], so links of README.md are dead on PyPI"
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
    addresses = {}
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        text = page.read_text()
        for address in re.findall(r"https?://[^\s)>\"`\\]+", text):
            addresses[address.rstrip(".,;")] = page.name
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            # Pages of the gallery are made by `make docs`, which checks these links.
            if not (target.startswith(("http", "gallery/")) or (page.parent / target).exists()):
                yield f"{page.name}: links to {target}, which does not exist"
    with ThreadPoolExecutor(8) as pool:
        for address, gone in zip(addresses, pool.map(is_gone, addresses), strict=True):
            if gone:
                yield f"{addresses[address]}: {address} does not exist"


def is_gone(address):
    request = urllib.request.Request(address, headers={"User-Agent": "release check"})
    try:
        urllib.request.urlopen(request, timeout=20).close()
    except urllib.error.HTTPError as error:
        return error.code in (404, 410)
    except OSError:
        print(f"not reached: {address}", file=sys.stderr)
    return False


def example_reasons():
    command = [sys.executable, "-m", "pytest", "tests/test_documentation.py"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if run.returncode:
        yield f"examples of docstrings: {(run.stdout or run.stderr).strip().splitlines()[-1]}"
    example = r"```python\n(.*?)```\n\n```text\n(.*?)```"
    for code, expected in re.findall(example, (ROOT / "README.md").read_text(), re.S):
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        if run.stdout != expected:
            yield f"README.md: its example prints {run.stdout or run.stderr[-300:]!r}"


def state_reasons():
    changed = subprocess.run(
        ["git", "-C", ROOT, "status", "--porcelain"], capture_output=True, text=True, check=True
    ).stdout
    if changed:
        yield f"uncommitted changes: {', '.join(changed.split()[1::2])}"
    check = subprocess.run(
        [sys.executable, ROOT / "bench" / "tables.py", "--check"], capture_output=True, text=True
    )
    if check.returncode and not check.stdout:
        yield f"tables: {check.stderr.strip().splitlines()[-1]}"
    for line in check.stdout.splitlines():
        if not line.endswith("current"):
            yield f"table {line}"


def main():
    checks = version_reasons, link_reasons, example_reasons, state_reasons
    reasons = [reason for check in checks for reason in check()]
    for reason in reasons:
        print(reason)
    print(f"{len(reasons)} reasons not to release" if reasons else "ready to release")
    return bool(reasons)


if __name__ == "__main__":
    sys.exit(main())
