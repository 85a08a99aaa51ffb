# dpassay: `make audit` runs the audit suite, `make test` runs the tests.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
STAMP   = $(VENV)/.installed
JOBS   ?= 2
# one thread of linear algebra for each worker: more of them would only wait for each other
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1
# compiled tests are kept: without that every worker compiles them anew, for three seconds
unexport PYTHONDONTWRITEBYTECODE

.PHONY: audit test test-more test-all journeys wheel tables papers schemas vectors docs lint types links check size versions bench clean install
audit: $(STAMP)
	$(BIN)/dpassay audit --jobs $(JOBS) --output reports/audit.json

test: $(STAMP)
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile -m "not slow and not more"  # a file's tests share what it makes once

test-more: $(STAMP)  # what fast tests show, at more places and with more parameters
	$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile -m more

test-all: $(STAMP)
	$(BIN)/python -m pytest -q -n $(JOBS)

journeys: $(STAMP)  # what people do: journeys, example repositories and programs, notebook, site, report, the wheel alone
	$(BIN)/python -m pytest -q -n $(JOBS) -m slow tests/house tests/examples tests/audit/live/test_examples.py tests/audit/report

wheel: $(STAMP)
	$(BIN)/python -m pytest -q tests/house/test_wheel.py

tables: papers  # what is generated: LEDGER.md, docs/results.md, docs/papers.md, the README's table, the plot
	$(BIN)/dpassay audit --resume --jobs $(JOBS) --output reports/audit.json  # rows of code that has changed (another version: `make audit` first)
	$(BIN)/dpassay prove --jobs $(JOBS) --ledger LEDGER.md --readme docs/results.md
	$(BIN)/python docs/results.py reports/audit.json

papers: $(STAMP)  # docs/papers.md
	$(BIN)/python docs/papers.py --write

bench: $(STAMP)  # hours; the figures in benchmarks/results come from these scripts (one without its optional package is skipped)
	for file in benchmarks/*.py; do $(BIN)/python $$file --write || exit 1; done

schemas: $(STAMP)  # docs/schemas: the form of what is written for other programs
	$(BIN)/python docs/json_schemas.py docs/schemas

vectors: $(STAMP)  # audit/crosscheck/vectors: the test vectors for other implementations (docs/vectors.md)
	$(BIN)/python docs/vectors.py

docs: $(STAMP) links  # the documentation site in build/site: open index.html, no server is needed
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

lint: $(STAMP)
	$(BIN)/ruff check .

types: $(STAMP) links
	$(BIN)/mypy

size: $(STAMP)  # lines, files, rooms and functions beside their ceilings (tests/house/ceilings.toml)
	$(BIN)/python tests/house/test_size.py

check: lint types test

versions:  # the fast tests on every supported Python that is installed here, and with the lowest declared versions
	test -x build/nox/bin/nox || { $(PYTHON) -m venv build/nox && build/nox/bin/python -m pip install --quiet nox; }
	build/nox/bin/nox

install: $(STAMP)
$(STAMP): pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(0 if sys.version_info >= (3, 11) else 'dpassay needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $(STAMP)

links:  # for type checkers only: they cannot see through the editable install
	mkdir -p .links/dpassay
	for p in reference audit proofs_check; do ln -sfn ../../$$p .links/dpassay/$$p; done

clean:
	rm -rf $(VENV) .links build dist *.egg-info
