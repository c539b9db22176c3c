# What a person types. Everything is set up on the way: only Python (3.11 or newer) and make are needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CATALOG := .repertory/example

.DEFAULT_GOAL := help
.PHONY: help serve test types suite cluster fix bench clean

help:  ## what can be done here
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

serve: $(VENV)/run.stamp  ## set up, load the example catalog, serve the API and the page
	$(BIN)/repertory add examples/catalog --catalog $(CATALOG)
	$(BIN)/repertory serve --catalog $(CATALOG)

test: $(VENV)/dev.stamp  ## set up everything that the tests need, check style and types, run the tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	@$(MAKE) --no-print-directory --jobs 2 types suite  # beside each other: fetching waits for a network, tests for each other

types: $(VENV)/dev.stamp
	$(BIN)/mypy

suite: $(VENV)/dev.stamp
	$(BIN)/python -m tests.provision
	$(BIN)/pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder  # three on two cores: a third of the time they wait

cluster: $(VENV)/dev.stamp  ## run the tests with a Qdrant of three nodes, and with several processes on a PostgreSQL: some minutes
	$(BIN)/python -m tests.provision
	$(BIN)/pytest -m cluster

fix: $(VENV)/dev.stamp  ## format, and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/bench.stamp  ## measure speed and relevance beside peers
	$(BIN)/python -m benchmarks.speed
	$(BIN)/python -m benchmarks.share
	test ! -d ../shared/bench/dev || $(BIN)/repertory eval ../shared/bench/dev

clean:  ## remove the environment and the example catalog
	rm -rf $(VENV) .repertory

# constraints.txt holds the versions that were tested together; pyproject.toml says which others are allowed. What is never imported need
# not be compiled: half of the time that installing takes.
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Repertory needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --editable '.$(1)'
	@touch $@
endef

$(VENV)/run.stamp: pyproject.toml constraints.txt
	$(call install)

$(VENV)/dev.stamp: pyproject.toml constraints.txt
	$(call install,[dev])

$(VENV)/bench.stamp: pyproject.toml constraints.txt
	$(call install,[dev,bench])
