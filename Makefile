# Two commands set up everything: `make up` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: up down test check bench clean

up: $(VENV)/.installed
	$(BIN)/flywheel up $(if $(DEMO),--demo)

down: $(VENV)/.installed
	$(BIN)/flywheel down

test: check
	$(BIN)/python -m pytest

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.test
	@for name in redact ast hook context_latency; do $(BIN)/python -m benchmarks $$name || exit 1; done

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Flywheel needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3 ..."; exit 1; }
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || { rm -rf $(VENV); $(PYTHON) -m virtualenv -q $(VENV) 2>/dev/null; } || \
	  { rm -rf $(VENV); uv venv -q --seed -p $(PYTHON) $(VENV) 2>/dev/null; } || \
	  { echo "No way to make an environment: install python3-venv, or: pip install --user virtualenv"; exit 1; }

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test]'
	@touch $@ $(VENV)/.installed
