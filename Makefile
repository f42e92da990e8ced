# Two commands set everything up on a machine with Python >= 3.11 and a C++ compiler:
#   make demo    make test
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
DEVELOPMENT := dev,bench,cluster
# uv takes a third of the time that pip takes, but does not know a package index that only pip has been
# told of. Both leave bytecode to the first import of a module, since most are never imported.
install = $(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python -c constraints.txt -e '.[$(1)]' || \
	  $(BIN)/python -m pip install --quiet --require-virtualenv --disable-pip-version-check --no-compile \
	  -c constraints.txt -e '.[$(1)]'
OLDEST := .venv-oldest
named = $(basename $(notdir $(wildcard configs/$(1).yaml)))
# The papers' tables and figures.
CONFIGS := $(call named,*)
# The same comparisons on an equal footing, and methods that the papers do not measure.
CONTROLS := $(call named,controls/control_*)
FURTHER := $(call named,controls/further_*)
# The methods of the papers beside what one would take today.
TODAY := $(call named,today/*)
# Time series, strings and graphs with the similarities of libraries.
OBJECTS := $(call named,objects/*)
ALL := $(CONFIGS) $(CONTROLS) $(FURTHER)

# One per chapter of the thesis (two of chapter 5), and voted kernel regularization.
DEMO := $(call named,demos/demo_*)

# Their times are results: one trial at a time. The others share the cores.
TIMED := table3_1 figure3_1 figure3_2
JOBS  ?= $(shell getconf _NPROCESSORS_ONLN)

# Tests have a process per core: with threads for all cores in each, which wait for each other, those
# of small matrices take twice the time.
test test-all test-oldest docs: export OMP_NUM_THREADS := 1

# Modules that one process has compiled are not compiled again by the hundreds that tests start.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all test-oldest lint format pages docs linkcheck bench check release-check smoke report site reproduce-all controls today objects reproduce-quick baseline clean

help:            ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 20

# --require-virtualenv keeps a broken .venv from installing into the user's own Python.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-virtualenv --disable-pip-version-check -c constraints.txt uv
	$(call install,$(DEVELOPMENT))
	@touch $@

demo: $(READY)   ## install, then a table and a chart per chapter on data that needs no download
	$(BIN)/kernlearn run $(DEMO) --store results/runs/demo.sqlite
	$(BIN)/kernlearn report --store results/runs/demo.sqlite --output results/runs/demo
	@echo "Open $(CURDIR)/results/runs/demo/index.html in a browser."

test: $(READY)   ## the tests; those on real data need KERNLEARN_DATA
	$(BIN)/python -m pytest -n auto --dist worksteal

test-oldest:     ## the tests with the lowest versions that pyproject.toml allows, in an environment of its own
	$(PYTHON) -m venv --clear $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --require-virtualenv --disable-pip-version-check -c constraints.txt uv
	$(OLDEST)/bin/uv pip install --quiet --system-certs --python $(OLDEST)/bin/python --resolution lowest-direct \
	  -e '.[run,cluster,excel,graphs,series]'
	$(OLDEST)/bin/uv pip freeze --quiet --python $(OLDEST)/bin/python --exclude-editable >$(OLDEST)/lowest.txt
	$(OLDEST)/bin/uv pip install --quiet --system-certs --python $(OLDEST)/bin/python -c $(OLDEST)/lowest.txt -e '.[dev]'
	$(OLDEST)/bin/python -m pytest -n auto --dist worksteal

test-all: $(READY) ## the tests and those marked exhaustive
	$(BIN)/python -m pytest -n auto --dist worksteal -m 'not docs'

lint: $(READY)   ## style, then types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/basedpyright

format: $(READY) ## rewrite the sources in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

pages: $(READY)  ## write the numbers in the pages, from results/measured, and the schema of configs
	$(BIN)/python docs/marked_numbers.py
	$(BIN)/python docs/config_schema.py

docs: $(READY)   ## build the documentation site in build/docs, with warnings as errors, and run its pages
	$(call install,docs)
	rm -rf build/docs build/docs-extra build/doctrees docs/api/kernlearn.* docs/auto_examples
	$(BIN)/python -m sphinx -b html -W --keep-going -d build/doctrees docs build/docs
	$(BIN)/python docs/check_built.py build/docs
	$(BIN)/python -m pytest -n auto --dist worksteal -m docs tests
	@echo "Open $(CURDIR)/build/docs/index.html in a browser."

linkcheck: $(READY) ## look up all links of the site that lead out of it; needs a network
	$(call install,docs)
	$(BIN)/python -m sphinx -b linkcheck -D plot_gallery=0 docs build/linkcheck
	@echo "build/linkcheck/output.txt lists the links that failed, output.json all."

bench: $(READY)  ## speed relative to other libraries in the same run
	$(BIN)/python -m benchmarks

reproduce-all: $(READY)   ## every table and figure at the papers' full protocol, then the report
	$(BIN)/kernlearn run $(TIMED) --available
	$(BIN)/kernlearn run $(filter-out $(TIMED),$(CONFIGS)) --available --jobs $(JOBS)
	$(BIN)/kernlearn report --profile full --summary results/measured

controls: $(READY)        ## comparisons on an equal footing, alternatives to choices, other methods
	$(BIN)/kernlearn run $(CONTROLS) $(FURTHER) --available --jobs $(JOBS)
	$(BIN)/kernlearn forks --available --jobs $(JOBS) --summary results/measured
	$(BIN)/kernlearn report --profile full --summary results/measured

today: $(READY)           ## the methods of the papers beside what one would take today
	$(call install,peers)
	$(BIN)/kernlearn run $(TODAY) --available --jobs $(JOBS)
	$(BIN)/kernlearn report --profile full --summary results/measured

objects: $(READY)         ## series, strings and graphs with landmarks
	$(call install,peers)
	$(BIN)/kernlearn run $(OBJECTS) --available --jobs $(JOBS)
	$(BIN)/kernlearn report --profile full --summary results/measured

reproduce-quick: $(READY) ## the same with fewer splits and points
	$(BIN)/kernlearn run $(ALL) --profile quick --jobs $(JOBS) --allow-contention

check: $(READY)  ## every experiment in its quick profile, against the committed numbers
	$(BIN)/kernlearn run $(ALL) --profile quick --jobs $(JOBS) --allow-contention --no-report
	$(BIN)/kernlearn check $(ALL)

smoke: $(READY)  ## experiments without the controls, in the smallest profile, against the committed numbers
	$(BIN)/kernlearn run $(CONFIGS) $(FURTHER) --profile smoke --jobs $(JOBS) --allow-contention --no-report \
	  --store results/runs/smoke.sqlite
	$(BIN)/kernlearn check $(CONFIGS) $(FURTHER) --profile smoke --against results/smoke \
	  --store results/runs/smoke.sqlite

baseline: $(READY)        ## write the numbers that check and smoke compare with
	$(BIN)/kernlearn run $(ALL) --profile quick --jobs $(JOBS) --allow-contention --no-report
	$(BIN)/kernlearn report $(ALL) --profile quick --summary results/baseline
	$(BIN)/kernlearn run $(CONFIGS) $(FURTHER) --profile smoke --jobs $(JOBS) --allow-contention --no-report \
	  --store results/runs/smoke.sqlite
	$(BIN)/kernlearn report $(CONFIGS) $(FURTHER) --profile smoke --store results/runs/smoke.sqlite \
	  --summary results/smoke

report: $(READY)          ## write a site of all results
	$(BIN)/kernlearn report

site: $(READY)            ## write the site of all experiments from the committed results alone
	$(BIN)/kernlearn report --from results/measured --output results/site
	@echo "Open $(CURDIR)/results/site/index.html in a browser."

release-check: $(READY)   ## build what is released, install it in empty environments, use it, look up known faults
	$(call install,release)
	$(BIN)/python -m release.check

clean:           ## remove everything that make creates but results
	rm -rf $(VENV) $(OLDEST) build dist docs/api/kernlearn.* docs/auto_examples .mypy_cache .pytest_cache .ruff_cache
