# Two commands set everything up on a machine with Python >= 3.11 and a C++ compiler:
#   make demo    make test
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
CONFIGS := table3_1 figure3_1 figure3_2 table4_1 table4_2 table4_2_exact figure4_1 figure4_2 \
  table5_1a table5_1b figure5_2a figure5_2b figure5_3 figure5_4 ranking_mq2008 \
  figure6_1 figure6_2 table6 vkr_table1 vkr_gaussian vkr_table2

.PHONY: help demo test lint format bench reproduce-all reproduce-quick clean

help:            ## what each target does
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

# --require-virtualenv keeps a broken .venv from installing into the user's own Python.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-virtualenv --upgrade -c constraints.txt pip
	$(BIN)/python -m pip install --quiet --require-virtualenv -c constraints.txt -e '.[dev,bench]'
	@touch $@

demo: $(READY)   ## install, then a small experiment on data that needs no download
	$(BIN)/kernlearn run configs/quickstart.yaml

test: $(READY)   ## all tests; those on real data need KERNLEARN_DATA
	$(BIN)/python -m pytest -n auto

lint: $(READY)   ## style, then types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## speed, as ratios against peers in the same run
	$(BIN)/python -m benchmarks

reproduce-all: $(READY)   ## every table and figure at the papers' full protocol
	$(BIN)/kernlearn run $(CONFIGS) --profile full --summary results/measured

reproduce-quick: $(READY) ## the same with fewer splits and smaller caps
	$(BIN)/kernlearn run $(CONFIGS) --profile quick

clean:           ## remove what make made, never results
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache
