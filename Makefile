# Every target sets up what it needs: on a fresh machine with Python 3.12 or newer, `make demo` is enough.

# The first of these that is Python 3.12 or newer makes the environment; `make PYTHON=/path/to/python3.12` chooses one.
PYTHON ?= python3.12 python3.13 python3.14 python3 python .venv/bin/python

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# The tools that generate the wire code are older than the libraries that run it, so they live apart.
PROTO_VENV := .venv-proto
PROTO_BIN := $(PROTO_VENV)/bin
PROTO_READY := $(PROTO_VENV)/.ready

# What breaking changes of the wire contract are measured against: the latest release.
BASE = $(shell git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null)

IS_NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 12))'

# Prints the interpreter to use, or says what is needed and fails.
define FIND_PYTHON
found=; \
for python in $(PYTHON); do \
  if "$$python" $(IS_NEW_ENOUGH) >/dev/null 2>&1; then found=$$python; break; fi; \
done; \
if [ -z "$$found" ]; then \
  echo "Zank needs Python 3.12 or newer. Found:" >&2; \
  for python in $(PYTHON); do \
    version=$$("$$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])' 2>/dev/null) \
      || version="not usable"; \
    echo "  $$python: $$version" >&2; \
  done; \
  echo "Install Python 3.12 (with its venv module), or name one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12" >&2; \
  exit 1; \
fi
endef

# Makes the environment $(1), anew unless it already has a Python that will do.
define MAKE_VENV
$(FIND_PYTHON); \
$(1)/bin/python $(IS_NEW_ENOUGH) >/dev/null 2>&1 || "$$found" -m venv --clear $(1)
endef

PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

.PHONY: help
help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What a newcomer sees: some positions of each game.
DEMO := opening path shut-out win-with-king dry-stock \
  bank-opening bank-forced bank-chain bank-load bank-stalemate

.PHONY: demo
demo: $(READY)  ## hints for ten of the example positions
	$(BIN)/zank hint $(DEMO:%=clients/python/examples/%.txt)

.PHONY: test
test: $(READY)  ## the tests, except the slow ones
	$(BIN)/python -m pytest

.PHONY: test-full
test-full: $(READY)  ## every test, with the full number of games against the oracle
	ZANK_TEST_GAMES=2000 $(BIN)/python -m pytest -m ""

.PHONY: bench
bench: $(READY)  ## the benchmarks
	$(BIN)/python -m benchmarks

.PHONY: load
load: $(READY)  ## latency and throughput of the server under load
	$(BIN)/python -m benchmarks.load

.PHONY: soak
soak: $(READY)  ## ten thousand requests, many given up: each accounted for, and nothing left over
	$(BIN)/python -m benchmarks.soak

.PHONY: bench-compare
bench-compare: $(READY)  ## rollouts of this tree against those of a revision: make bench-compare REV=main
	@test -n "$(REV)" || { echo "Name a revision: make bench-compare REV=main" >&2; exit 1; }
	$(BIN)/python -m benchmarks.compare "$(REV)"

.PHONY: format
format: $(READY)  ## format the Python code and mend what lint can mend
	$(BIN)/ruff check --fix-only --exit-zero --quiet .
	$(BIN)/ruff format .

.PHONY: lint
lint: $(READY)  ## format check and lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

.PHONY: types
types: $(READY)  ## mypy, strict
	$(BIN)/mypy

.PHONY: proto
proto: $(PROTO_READY)  ## regenerate the wire code
	$(PROTO_BIN)/buf format --write proto
	$(PROTO_BIN)/python proto/generate.py clients/python

.PHONY: proto-check
proto-check: $(PROTO_READY)  ## the protos are sound and the committed wire code is theirs
	$(PROTO_BIN)/buf lint proto
	$(PROTO_BIN)/buf format --diff --exit-code proto
	$(PROTO_BIN)/python proto/generate.py --check clients/python
	@if [ -n "$(BASE)" ]; then \
	  echo "$(PROTO_BIN)/buf breaking proto --against '.git#ref=$(BASE),subdir=proto'"; \
	  $(PROTO_BIN)/buf breaking proto --against '.git#ref=$(BASE),subdir=proto'; \
	else \
	  echo "No release yet: nothing that the contract could break."; \
	fi

.PHONY: venv
venv: $(READY)  ## the environment, .venv

.PHONY: clean
clean:  ## remove environments and caches
	rm -rf $(VENV) $(PROTO_VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find kernel service clients tests benchmarks proto -name __pycache__ -type d -prune -exec rm -rf {} +

# Checked on every run, so that an interpreter that will not do is named before anything else goes wrong.
.PHONY: python
python:
	@$(FIND_PYTHON)

# Built without isolation, so that the build backend too is the one that constraints.txt names.
$(READY): pyproject.toml constraints.txt | python
	@$(call MAKE_VENV,$(VENV))
	$(BIN)/python $(PIP_INSTALL) --constraint constraints.txt hatchling editables
	$(BIN)/python $(PIP_INSTALL) --constraint constraints.txt --no-build-isolation --editable '.[server,dev]'
	@touch $@

$(PROTO_READY): proto/requirements.txt | python
	@$(call MAKE_VENV,$(PROTO_VENV))
	$(PROTO_BIN)/python $(PIP_INSTALL) --requirement proto/requirements.txt
	@touch $@

# Moves every pin of constraints.txt to the newest that pyproject.toml allows.
.PHONY: constraints
constraints:  ## renew constraints.txt (needs uv)
	UV_CUSTOM_COMPILE_COMMAND="make constraints" \
	uv pip compile --quiet --universal --all-extras --upgrade --no-annotate --no-emit-package zank \
	  --output-file constraints.txt pyproject.toml --group build
