# Every target does its own set-up in .venv; all it takes is Python 3.11 or newer, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
READY := $(VENV)/.ready

.PHONY: install demo test soak check docs site screenshots comparison tuned self-tuning experiments fix lock bench clean

install: $(READY)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Podium needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $(READY)

demo: $(READY)
	$(BIN)/podium demo
	@echo "(from this folder: $(BIN)/podium demo --serve)"

# Tests start Podium many times: its sources are compiled once, whatever the shell says of bytecode.
test soak: export PYTHONDONTWRITEBYTECODE =

test: $(READY)
	@sh tests/install_chromium.sh
	$(BIN)/python -m pytest -n 2

# The full form of the long tests: hours. Then all tests with every index in a kernel checked, cached apart.
soak: $(READY)
	PODIUM_SOAK=1 $(BIN)/python -m pytest -n 2 $(addprefix tests/,store service contract engine analysis systems ledger rated results importers)
	PODIUM_PAGES=all $(BIN)/python -m pytest -n 2 tests/web
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) test

# The peers live in an environment of their own: one is licensed for no commerce, none is needed to use Podium.
$(BENCH)/.ready: bench/requirements.lock pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --require-hashes -r bench/requirements.lock
	touch $@

# AGAINST=REVISION compares the speed of this tree with a revision's, ROWS='races of 8*' only of some rows.
bench: $(BENCH)/.ready
ifdef AGAINST
	$(BENCH)/bin/python bench/against.py $(AGAINST) --rows '$(or $(ROWS),*)'
else
	PYTHONPATH=src $(BENCH)/bin/python bench/run.py --docs docs
endif

docs: $(READY)
	$(BIN)/python docs/build.py
	$(BIN)/python docs/answers.py

# The documentation as pages, in site/: they need no server and no network.
site: $(READY)
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs site

# Pictures of the served pages, taken in Chromium.
screenshots: $(READY)
	@sh tests/install_chromium.sh
	$(BIN)/python docs/screenshots.py

# DATA is a folder with the histories that docs/comparison.md names.
comparison: $(READY)
	$(BIN)/python docs/compare.py $(DATA)

# Searches the parameters that `make comparison` sets beside podium's, where docs/tuned.toml has none: an hour.
tuned: $(READY)
	$(BIN)/python docs/tune_histories.py $(DATA)

# What podium owes to its parts, and what upsets it.
self-tuning: $(READY)
	$(BIN)/python docs/self_tuning.py $(DATA)

experiments: $(READY)
	$(BIN)/python docs/experiments.py

fix: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock:
	uv pip compile pyproject.toml --all-extras --universal --generate-hashes --no-emit-index-url \
		--no-emit-find-links --no-header --output-file requirements.lock
	uv pip compile pyproject.toml bench/requirements.in --extra charts --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --output-file bench/requirements.lock

clean:
	rm -rf $(VENV) $(BENCH) site
