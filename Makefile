# One set of steps for people, CI and the image. `make help` lists the targets.
PYTHON ?= python3
UV_VERSION := 0.13.9
# uv lives apart from .venv, since `uv sync` removes from an environment whatever the lock does not name.
UV := .tools/.venv/bin/uv
export UV_PROJECT_ENVIRONMENT := .venv
# Compiled once here, or at every start where Python is told not to write bytecode.
export UV_COMPILE_BYTECODE := 1
BIN := .venv/bin

.PHONY: help setup demo test serve lint types check bench clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 10

$(UV):
	$(PYTHON) -m venv .tools/.venv
	.tools/.venv/bin/pip install --quiet "uv==$(UV_VERSION)"

.venv/pyvenv.cfg:
	$(PYTHON) -m venv .venv

setup: $(UV) .venv/pyvenv.cfg  ## create .venv with everything the lock names
	$(UV) sync --frozen --quiet

demo: setup  ## build the datasets, start a server, play one episode a task with three players
	$(BIN)/sql-optim demo

test: setup  ## run the whole test suite, in two processes
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

serve: setup  ## run the server in the foreground
	$(BIN)/server

lint: setup  ## ruff and the import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup  ## mypy, strict
	$(BIN)/mypy
	$(BIN)/mypy inference.py

check: setup  ## prove the task catalogue by measurement
	$(BIN)/sql-optim check

bench: setup  ## the speed figures, as ratios in one run
	$(BIN)/sql-optim bench

clean:  ## remove what the targets above created here
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis
