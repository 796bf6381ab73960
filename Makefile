# Every target sets up .venv by itself. You only need make and Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
LEAN := $(VENV)/.lean
READY := $(VENV)/.ready

.PHONY: install demo test soak check types style browser docs site screenshots comparison tuned self-tuning coverage experiments fix lock bench packages release-check clean

# Let Python store bytecode, even if the shell forbids it: the packages are installed without it.
export PYTHONDONTWRITEBYTECODE =

install: $(READY)

# The packages for the demo and the service. $(READY) adds those for tests and checks.
$(LEAN): requirements.lock pyproject.toml .ci/install.sh
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Podium needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	sh .ci/install.sh $(PYTHON) $(VENV) requirements.lock --editable .
	@touch $@

$(READY): requirements-dev.lock $(LEAN)
	sh .ci/install.sh $(PYTHON) $(VENV) requirements-dev.lock
	@touch $@

demo: $(LEAN)
	$(BIN)/podium demo
	@echo "(from this folder: $(BIN)/podium demo --serve)"

test: $(READY)
	@sh tests/install_packages.sh
	$(BIN)/python -m pytest -n 2 --durations 20

# The long tests in full, which take hours. Then all tests with checked indexes in kernels, in a separate cache.
soak: $(READY)
	PODIUM_SOAK=1 $(BIN)/python -m pytest -n 2 $(addprefix tests/,store service contract engine analysis systems ledger results importers)
	PODIUM_PAGES=all $(BIN)/python -m pytest -n 2 tests/web
	NUMBA_BOUNDSCHECK=1 $(BIN)/python -m pytest -n 2

# Run a command and print its time.
TIMED := @sh -c 'start=$$(date +%s); "$$@" || exit; echo "$$(($$(date +%s) - start)) s: $$*"' timed

check:
	$(TIMED) $(MAKE) install
	$(TIMED) $(MAKE) -j 2 types style browser
	$(TIMED) $(MAKE) test

types:
	$(TIMED) $(BIN)/mypy

style:
	$(TIMED) $(BIN)/ruff format --check .
	$(TIMED) $(BIN)/ruff check .
	$(TIMED) $(BIN)/lint-imports
	$(TIMED) $(BIN)/python docs/check_words.py

browser:
	$(TIMED) sh tests/install_packages.sh

# The peers have a separate environment: Podium does not need them, and one has a non-commercial license.
$(BENCH)/.ready: bench/requirements.lock pyproject.toml
	sh .ci/install.sh $(PYTHON) $(BENCH) bench/requirements.lock
	@touch $@

# REF is a revision, or a folder of its sources, that the service is compared with. It rated in the database.
REF ?= de318430eb0b

# AGAINST=REVISION compares the speed of this tree with a revision's. ROWS='races of 8*' selects some rows.
bench: $(BENCH)/.ready $(READY)
ifdef AGAINST
	$(BENCH)/bin/python bench/against.py $(AGAINST) --rows '$(or $(ROWS),*)'
else
	PYTHONPATH=src $(BIN)/python bench/service.py --ref $(REF) --json $(BENCH)/service.json
	PYTHONPATH=src $(BENCH)/bin/python bench/run.py --service $(BENCH)/service.json --docs docs
endif

docs: $(READY)
	$(BIN)/python docs/build.py
	$(BIN)/python docs/answers.py
	$(BIN)/python docs/client_routes.py

# The documentation as web pages in site/, which need no server and no network.
site: $(READY)
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs site

# Pictures of the served pages, taken in Chromium.
screenshots: $(READY)
	@sh tests/install_packages.sh
	$(BIN)/python docs/screenshots.py

# DATA is a folder with the histories that docs/comparison.md names.
comparison: $(READY)
	$(BIN)/python docs/compare.py $(DATA)

# Search the parameters for `make comparison` that docs/tuned.toml lacks, which takes an hour.
tuned: $(READY)
	$(BIN)/python docs/tune_histories.py $(DATA)

# The effect of each part of `adaptive`, and hard cases.
self-tuning: $(READY)
	$(BIN)/python docs/self_tuning.py $(DATA)

coverage: $(READY)
	$(BIN)/python docs/coverage.py $(DATA)

experiments: $(READY)
	$(BIN)/python docs/experiments.py

fix: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The second file has the further packages for tests and checks.
LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate

lock: $(LEAN)
	$(LOCK) pyproject.toml --extra charts --extra service --group install --output-file requirements.lock
	$(LOCK) pyproject.toml --extra charts --extra service --extra excel --extra sklearn --extra tune --group test --group dev --group site --constraints requirements.lock --output-file requirements-dev.lock \
		$$(sed -nE '/ (sys_platform|implementation_name)/!s/^([a-z0-9._-]+)==.*/--no-emit-package \1/p' requirements.lock | uniq)
	$(LOCK) pyproject.toml bench/requirements.in --extra charts --python-version 3.11 --output-file bench/requirements.lock

# Both wheels and the engine's source package, in dist/.
packages: $(READY)
	rm -rf dist
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist .
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python --out-dir dist --wheel client

# Install the packages with each extra in an empty environment and run their commands. Takes minutes and a network.
release-check: $(READY)
	PYTHONPATH= $(BIN)/python tests/release_check.py

clean:
	rm -rf $(VENV) $(BENCH) site
