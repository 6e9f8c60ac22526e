# Two commands set up everything: `make up` and `make test`.

PYTHON ?= python3
VENV ?= .venv
CLIENTS ?= .clients
BIN := $(VENV)/bin

.PHONY: up down test test-clients clients check bench clean

up: $(VENV)/.installed
	$(BIN)/flywheel up $(if $(DEMO),--demo)

down:
	@if [ -x $(BIN)/flywheel ]; then $(BIN)/flywheel down; else echo "Nothing is installed in $(VENV)."; fi

# Several test files at a time (tests/conftest.py says how many).
test: check
	$(BIN)/python -m pytest -n auto --dist loadfile

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The real agent clients, against a model server on loopback.
test-clients: clients $(VENV)/.test
	$(BIN)/python -m pytest tests/clients

clients:
	@sh tests/clients/install.sh $(CLIENTS) $(ONLY)

bench: $(VENV)/.test
	@for name in redact ast hook; do $(BIN)/python -m benchmarks $$name || exit 1; done

clean:
	rm -rf $(VENV) $(CLIENTS)

# Ways to an environment that has pip, the usual one first. None needs root.
define MAKE_VENV
bare() { $(PYTHON) -m venv --without-pip "$$1"; }
borrowed() { bare "$$1" && $(PYTHON) -m pip -q --python "$$1/bin/python" install pip; }
for way in "$(PYTHON) -m venv" "$(PYTHON) -m virtualenv -q" "uv venv -q --seed -p $(PYTHON)" borrowed; do
  rm -rf "$(VENV)"
  if $$way "$(VENV)" && "$(BIN)/python" -m pip --version; then exit 0; fi
done >/dev/null 2>&1
rm -rf "$(VENV)"
echo "No way to make an environment: install python3-venv or python3-pip, or put virtualenv or uv on the PATH" >&2
exit 1
endef
export MAKE_VENV

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Flywheel needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	@sh -c "$$MAKE_VENV"

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/bin/python
	@echo "Installing into $(VENV), with what the tests need ..."
	@$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test]'
	@touch $@ $(VENV)/.installed
