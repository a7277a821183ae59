# Two commands are enough: `make app` and `make test`. Everything is installed into .venv, with the versions of constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
# Four processes, because on two cores two of them wait a third of the time, for a browser or a server. The tests of a file run
# in one of them, so that what the file prepares for them is prepared once; files that open a browser come first, so that no long
# one is left to the end.
PARALLEL := -n 4 --dist loadfile --no-loadscope-reorder
# Many processes of the tests import the explorer, and each would compile it again on a machine that keeps no bytecode.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest $(PARALLEL)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help env env-dev env-bench app lab test test-all check check-js fix break mutants bench losses learnable models notebooks wheels constraints oldest clean

help:             ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

env: .venv/.ready ## install the explorer into .venv
env-dev: .venv/.ready-dev## and what the checks need
env-bench: .venv/.ready-bench## and what is measured beside it

.venv/.ready: pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing (about two minutes the first time) …"
	@$(INSTALL) -e .
	@touch $@

.venv/.ready-dev: .venv/.ready
	@$(INSTALL) -e '.[dev]'
	@touch $@

.venv/.ready-bench: .venv/.ready-dev
	@$(INSTALL) -e '.[dev,bench]'
	@touch $@

app: env          ## open the explorer in a browser
	$(BIN)/explorer app

lab: env          ## open the notebooks in JupyterLab
	$(BIN)/explorer lab

# What an assertion compared is worked out where one fails: for 198 files in four processes it takes fifty seconds of a core.
test: env-dev     ## every check, with a small fixed sample of the long ones
	$(PYTEST) --assert=plain || { $(PYTEST) --last-failed --last-failed-no-failures=none; exit 1; }

test-all: env-dev ## every check in full
	EXPLORER_TEST_ALL=1 $(PYTEST)

check: env-dev    ## lint, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check-js:         ## types of the JavaScript of board, engine and site, from its comments; needs Node, and the network once
	npx --yes --package typescript@5.9.3 tsc -p .ci/jsconfig.json

fix: env-dev      ## what the linter can mend by itself
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

break: env-dev    ## try to break it: hostile arguments and files, kills, full disks; one report (half an hour)
	$(BIN)/python tests/breaking.py

mutants: env-dev ## how many changed places of the code the tests notice (an hour)
	$(BIN)/python tests/mutants.py

bench: env-bench  ## measure, side by side with what you would use instead
	$(BIN)/python benchmarks/tracing.py
	$(BIN)/python benchmarks/pieces.py
	$(BIN)/python benchmarks/ngrams.py
	$(BIN)/python benchmarks/corruptions.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/decoding.py
	$(BIN)/python benchmarks/vectors.py
	$(BIN)/python benchmarks/board.py
	$(BIN)/python benchmarks/live.py

losses: env-dev   ## the time to the same held-out loss, beside the Trainer (a quarter of an hour)
	$(BIN)/python benchmarks/losses.py

learnable: env    ## what tiny models learn from the microworld in a few minutes, one phenomenon at a time
	$(BIN)/python benchmarks/learnable.py

models: env       ## train the models to be shipped, over as many sittings as it takes (Ctrl-C stops, `make models` goes on)
	$(BIN)/python -m studies.making

notebooks: env-dev ## run every notebook and write it into site/, as HTML and with pictures for a code host; needs Chrome
	$(BIN)/python -m studies.site

wheels: env       ## everything for a room without internet, in wheels/, each file with its checksum
	rm -rf wheels
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check -c constraints.txt -w wheels .
	@$(BIN)/python .ci/wheels.py wheels

constraints: env  ## write constraints.txt again: the newest versions that pyproject.toml allows (then run the checks)
	$(BIN)/python .ci/constraints.py

oldest:           ## install the oldest versions that pyproject.toml allows into .venv-oldest, and run the checks without a browser
	@test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python .ci/constraints.py --oldest > .venv-oldest/oldest.txt
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c .venv-oldest/oldest.txt -e '.[dev]'
	.venv-oldest/bin/python -m pytest $(PARALLEL) -m 'not browser'

clean:            ## remove what was installed and built
	rm -rf .venv .venv-oldest site wheels build dist .pytest_cache .mypy_cache .ruff_cache
