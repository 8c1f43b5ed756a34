# `make test` and `make demo` set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: test demo bench lint wheel clean

test: $(VENV)/installed
	$(BIN)/python -m pytest tests

demo: $(VENV)/installed
	$(BIN)/mvsc-fast demo

bench: $(VENV)/installed
	$(BIN)/python bench/solvers.py
	$(BIN)/python bench/kernels.py

lint: $(VENV)/installed
	$(BIN)/python -m pip install --quiet ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# Editable, so that a rebuild is needed only where compiled sources or metadata change.
$(VENV)/installed: pyproject.toml setup.py $(wildcard src/mvsc_fast/*.pyx src/mvsc_fast/*.pxd)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test,plot]"
	touch $@

# sdist and portable wheel in dist/, tested in an environment without a compiler
wheel:
	$(PYTHON) tools/build_wheel.py $(WHEEL_OPTIONS)

clean:
	rm -rf $(VENV) build dist demo src/*.egg-info src/mvsc_fast/*.so src/mvsc_fast/_kernels.c \
		src/mvsc_fast/_passes.c src/mvsc_fast/_unfoldings.c \
		src/mvsc_fast/_blas_int.pxi
