# Two commands do everything: `make demo` shows the main job, `make test` checks the whole project.
# Each makes its own environment in .venv, with uv where it is installed, else with venv and pip.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/
RUN_READY := $(VENV)/run.stamp
TEST_READY := $(VENV)/test.stamp
OLDEST := .venv-oldest
UV := $(shell command -v uv 2>/dev/null)
DEMO := build/demo
ARGUMENTS := --ignore=checks/host

# `nix develop` brings every tool along: nothing is made, and those on the PATH are used.
ifdef SKILLBENCH_SHELL
RUN :=
RUN_READY :=
TEST_READY :=
endif

.PHONY: demo test lint types unit host oldest bench picture nix clean

demo: $(RUN_READY)  ## score the recorded example runs: verdicts and the report's path
	@$(RUN)python checks/demo.py $(DEMO)

test: lint types unit host oldest  ## everything

lint: $(TEST_READY)
	$(RUN)ruff check .
	$(RUN)ruff format --check .

types: $(TEST_READY)
	$(RUN)mypy

unit: $(TEST_READY)
	$(RUN)pytest -n auto -q $(ARGUMENTS)

host: $(TEST_READY)  ## the run in a real agent client against a scripted model; by itself, since it watches the clock
	$(RUN)pytest -q checks/host

ifdef SKILLBENCH_SHELL
oldest:
	@echo "oldest: left out, since this shell has one pytest; outside of it make installs the oldest"
else
oldest: $(OLDEST)/test.stamp  ## the plugin on the oldest pytest that we support
	$(OLDEST)/bin/pytest -n auto -q checks/test_plugin*.py
endif

bench: $(TEST_READY)  ## ratios, measured side by side in one run
	$(RUN)python -m checks.bench

picture: $(TEST_READY)  ## remake the README's picture of the report
	$(RUN)python -m checks.picture

nix:  ## the flake, its packages and its checks, against a stand-in for nixpkgs (Debian)
	checks/nix/run

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
