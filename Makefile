# Every target sets up what it needs, in .venv or an environment of its own.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Bytecode of whole packages is half the time of installing; imports compile what is used.
export PIP_NO_COMPILE := 1

.PHONY: test slow stress demo tables paper paper-test docs lint wheel \
	release-check sanitize mutants kernels platforms versions clean

# All tests but the slow ones
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile
test: $(VENV)/test
	$(PYTEST)

# The others: attacks, native programs, other processes, and every form of data
slow: $(VENV)/test
	$(PYTEST) -m slow

# The random tests as often as a release demands: hostile input, failures, leaks, interrupts;
# and published accuracies, if benchmark data are next to the repository
stress: $(VENV)/test
	MVSC_STRESS=full $(BIN)/python -m pytest tests/attack tests/native \
		tests/methods/test_published.py tests/similarity/test_sparse.py tests/solvers/test_ialm.py

# From the wheel in dist/ if there is one for this version, Python and machine, in an environment of
# its own because tests are always of the sources. Ends in half a minute once that is installed.
DEMO := .venv-demo
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)"/\1/p' src/mvsc_fast/__init__.py)
TAG := $(shell $(PYTHON) -c "import platform, sys; python = 'cp%d%d' % sys.version_info[:2]; \
	stable = sys.version_info >= (3, 11) and not sys.abiflags; \
	print('cp311-abi3' if stable else python + '-' + python + sys.abiflags, '*' + platform.machine(), \
	sep='-')")
WHEEL := $(lastword $(wildcard dist/mvsc_fast-$(VERSION)-$(TAG).whl))
demo: $(if $(WHEEL),$(DEMO),$(VENV))/installed
	$(<D)/bin/mvsc-fast demo

$(DEMO)/installed: $(WHEEL)
	$(PYTHON) -m venv --clear $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet "$(WHEEL)[plot,progress]"
	touch $@

# Tables and pictures of README.md and docs whose sources have changed since; all take three hours
tables: $(VENV)/test
	$(BIN)/python bench/peers.py --install
	$(BIN)/python bench/tables.py

# The tables of the paper: make paper DATA=folder OPTIONS="--sets YaleB --jobs 2"
paper: $(VENV)/paper
	$(BIN)/python bench/paper --data $(DATA) $(OPTIONS)

paper-test: $(VENV)/paper $(VENV)/test
	$(BIN)/python -m pytest bench/paper/tests

$(VENV)/paper: bench/paper/requirements.txt $(VENV)/installed
	$(BIN)/python -m pip install --quiet --requirement $<
	touch $@

# docs/_build/html: every example is executed, and every warning an error
docs: $(VENV)/docs
	rm -rf docs/api/generated  # pages of names that are gone
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -b html docs docs/_build/html

$(VENV)/test $(VENV)/docs: $(VENV)/%: $(VENV)/installed
	$(BIN)/python -m pip install --quiet "mvsc-fast[$*]"
	touch $@

# In an environment of its own: checking needs no compiler
LINT := .venv-lint
lint: $(LINT)/installed
	$(LINT)/bin/ruff check .
	$(LINT)/bin/ruff format --check .
	PATH="$(CURDIR)/$(LINT)/bin:$$PATH" cython-lint src tests examples
	$(LINT)/bin/mypy
	$(LINT)/bin/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*
	$(LINT)/bin/zizmor --quiet --offline .github/workflows
	$(LINT)/bin/python tools/sizes.py

$(LINT)/installed: Makefile
	$(PYTHON) -m venv $(LINT)
	$(LINT)/bin/python -m pip install --quiet "ruff>=0.17,<0.18" "cython-lint>=0.22,<0.23" \
		"zizmor>=1.32,<2" "mypy>=2.4,<2.5" "numpy<2.5" "check-jsonschema>=0.36,<1"
	touch $@

# Editable, so that a rebuild is needed only where compiled sources or metadata change; with
# the SciPy of this environment, because another one for the build takes a quarter of a minute.
COMPILED := $(shell find src -name "*.pyx" -o -name "*.pxd" -o -name "*.h")
REQUIRES := $(shell sed -n 's/^requires = \[\(.*\)\]/\1/p' pyproject.toml | tr , ' ')
$(VENV)/installed: pyproject.toml setup.py $(COMPILED)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@echo "Installing mvsc-fast in $(VENV). Compiling takes a minute or a few, the first time only."
	$(BIN)/python -m pip install --quiet $(REQUIRES)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[plot,progress]"
	touch $@

# sdist and portable wheel in dist/, tested in an environment without a compiler
wheel:
	$(PYTHON) tools/build_wheel.py $(WHEEL_OPTIONS)

# What a release needs: current tables, one version, a changelog entry, working links, whole files
release-check: $(VENV)/test docs wheel
	$(BIN)/python tools/release_check.py

# All compiled code with bounds checks under AddressSanitizer and UndefinedBehaviorSanitizer, and
# under ThreadSanitizer
sanitize: $(VENV)/test
	$(BIN)/python tools/sanitize.py $(SANITIZE_OPTIONS)

# Mutants of each folder that the tests kill: make mutants MUTANTS="judge views --sample 200"
mutants: $(VENV)/test
	$(BIN)/python -m pip install --quiet "poodle>=1.3,<2" "coverage>=7.6"
	$(BIN)/python tools/mutants.py $(MUTANTS)

# The tests with every kernel of OpenBLAS that this processor has, and 1, 2 and 3 threads; hours:
# make kernels KERNELS="--kernels Nehalem Haswell --threads 1 3 -- tests/core tests/solvers"
kernels: $(VENV)/test
	$(BIN)/python tools/kernels.py $(KERNELS)

# Other processors; other Pythons, with the wheel if there is one, and releases of dependencies. Both
# need root and the packages of Debian that tools/platforms.py names. What is unpacked and built is kept.
PLATFORMS ?= build/platforms
platforms: ENVIRONMENTS ?= i386 aarch64 s390x
versions: ENVIRONMENTS ?= oldest 3.10 3.11 3.12 3.13 3.14 3.14t prerelease
platforms versions: $(VENV)/test
	$(BIN)/python tools/platforms.py --cache $(PLATFORMS) \
		$(addprefix --wheel ,$(wildcard dist/mvsc_fast-$(VERSION)-cp311-abi3-*)) $(ENVIRONMENTS)

clean:
	rm -rf $(VENV) $(DEMO) $(LINT) .venv-peers build dist demo docs/_build docs/gallery docs/api/generated \
		src/*.egg-info src/mvsc_fast/core/blas_int.pxi
	find src \( -name "*.so" -o -name "*.c" \) -delete
