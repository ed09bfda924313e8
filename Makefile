# `make run` shows Recall at work; `make test` is everything that must pass. Both need Python 3.11 or newer and git.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header --no-annotate

# More than there are processors: some tests wait for others' processes.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2)
PYTEST := $(BIN)/pytest -q -n $(WORKERS) --dist worksteal

.PHONY: run test types suite bench soak format docs screenshots snapshots lock clean

run: $(VENV)/.runtime
	@$(BIN)/recall rehearse

test: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory --jobs=2 types suite

# Both at once: the type check keeps one processor busy, and says what it found in one piece.
types: $(VENV)/.dev
	$(BIN)/basedpyright --pythonpath $(BIN)/python

suite: $(VENV)/.dev
	$(PYTEST) $(PYTEST_ARGS)

# Each prints what it measured beside a baseline of the same minute. BENCH names some of them only.
BENCH ?= end_to_end git_life cold_start claims import_list screen office
bench: $(VENV)/.runtime
	@for name in $(BENCH); do $(BIN)/python -m benchmarks.$$name || exit 1; done

# Agents, dispatchers and a person at their worst, for so long; what was lost or done twice is printed, and must be 0.
MINUTES ?= 1
soak: $(VENV)/.dev
	$(BIN)/python -m tests.soak $(MINUTES)

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What of the documentation is made from the code.
docs: $(VENV)/.dev
	$(BIN)/python -m tools.generate_docs

# Plays the rehearsal on the screen, and takes the pictures in docs/screens.
screenshots: $(VENV)/.dev
	$(BIN)/python -m tools.screenshots

# Accepts what the screens look like now as what tests/snapshots expect; read the difference before it is committed.
snapshots: $(VENV)/.dev
	SNAPSHOTS=write $(PYTEST) tests/snapshots

# Writes the locks anew from pyproject.toml. Nothing in them names where packages are fetched from.
lock: $(VENV)/.dev
	$(PIP) uv==0.13.9
	$(COMPILE) --upgrade --output-file requirements/runtime.txt pyproject.toml
	$(BIN)/python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['build-system']['requires'], sep='\n')" \
		| $(COMPILE) --upgrade --output-file requirements/build.txt -
	$(COMPILE) --upgrade --output-file requirements/serve.txt --extra serve \
		--constraint requirements/runtime.txt pyproject.toml
	$(COMPILE) --upgrade --output-file requirements/dev.txt --extra dev --extra serve \
		--constraint requirements/serve.txt --constraint requirements/build.txt pyproject.toml

clean:
	rm -rf $(VENV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: requirements/runtime.txt requirements/build.txt pyproject.toml | $(BIN)/python
	$(PIP) --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	$(PIP) --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml | $(BIN)/python
	$(PIP) --require-hashes -r requirements/dev.txt
	$(PIP) --no-build-isolation --no-deps --editable .
	@touch $@
