# Two commands do everything: `make demo` shows the main job, `make test` checks the whole project.
# Each makes its own environment in .venv, with uv where it is installed, else with venv and pip.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := .venv-oldest
UV := $(shell command -v uv 2>/dev/null)
DEMO := build/demo

.PHONY: demo test lint types unit host oldest bench picture clean

demo: $(VENV)/run.stamp  ## score the recorded example runs: verdicts and the report's path
	@$(BIN)/python checks/demo.py $(DEMO)

test: lint types unit host oldest  ## everything

lint: $(VENV)/test.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/test.stamp
	$(BIN)/mypy

unit: $(VENV)/test.stamp
	$(BIN)/pytest -n auto -q --ignore=checks/host

host: $(VENV)/test.stamp  ## the run in a real agent client against a scripted model; by itself, since it watches the clock
	$(BIN)/pytest -q checks/host

oldest: $(OLDEST)/test.stamp  ## the plugin on the oldest pytest that we support
	$(OLDEST)/bin/pytest -n auto -q checks/test_plugin*.py

bench: $(VENV)/test.stamp  ## ratios, measured side by side in one run
	$(BIN)/python -m checks.bench

picture: $(VENV)/test.stamp  ## remake the README's picture of the report
	$(BIN)/python -m checks.picture

# What a user gets: the package and its dependencies.
$(VENV)/run.stamp: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=python3.12 demo" >&2; exit 1; }
ifdef UV
	@test -x $(BIN)/python || $(UV) venv --quiet --python $(PYTHON) $(VENV)
	@$(UV) pip install --quiet --python $(BIN)/python -e .
else
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	@$(BIN)/python -m pip install --quiet -e .
endif
	@$(BIN)/python -m compileall -q pytest_skillbench
	@touch $@

# And what its developers need besides.
$(VENV)/test.stamp: $(VENV)/run.stamp
ifdef UV
	@$(UV) pip install --quiet --python $(BIN)/python --group test
else
	@$(BIN)/python -m pip install --quiet --group test
endif
	@touch $@

$(OLDEST)/test.stamp: pyproject.toml
ifdef UV
	@test -x $(OLDEST)/bin/python || $(UV) venv --quiet --python $(PYTHON) $(OLDEST)
	@$(UV) pip install --quiet --python $(OLDEST)/bin/python -e . "pytest==8.4.*" "pytest-xdist>=3.6" "syrupy>=5"
else
	@test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip install --quiet -e . "pytest==8.4.*" "pytest-xdist>=3.6" "syrupy>=5"
endif
	@touch $@

clean:
	rm -rf $(VENV) $(OLDEST) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
