# make demo   sets up everything and shows what skewboost does on three embedded data sets
# make test   sets up everything, checks style and types, and runs the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE  # the tests start many interpreters, and each would compile everything again
EACH := decisions resampling multiclass votes export models sweeps comparison shift cascade  # benchmarks that print the tables of a page

.PHONY: demo test quick coverage test-slow lint browser benchmark benchmark-catalogue benchmark-engine benchmark-growth benchmark-structured benchmark-portfolio \
  $(addprefix benchmark-,$(EACH)) choosing clean errors promises \
  test-sanitized wheels check-wheels

demo: $(VENV)/.cli
	$(BIN)/skewboost demo

# The browser is fetched while packages are, and style and types are checked beside the tests.
test:
	@$(MAKE) --no-print-directory -j2 $(VENV)/.dev browser
	@$(MAKE) --no-print-directory -j2 lint quick

# One thread for each of the libraries below, whose threads would compete with the other tests.
quick: $(VENV)/.dev
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" --durations=10

# minutes: the lines and branches of the package that the tests run, in programs that they start too; at least 95 %
coverage: $(VENV)/.dev browser
	rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n auto --dist worksteal -m "not slow" -q
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

# The report is tested in Chromium. A machine of continuous integration gets it; others are told, and skip those tests.
browser:
	@for b in chromium chromium-browser google-chrome chrome; do command -v $$b >/dev/null && exit 0; done; \
	if [ -n "$$CI" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium >/dev/null; \
	else \
	  echo "No Chromium: the tests of the report in a browser are skipped. Install it to run them."; \
	fi

# minutes: 5000 rounds of every variant at extreme costs, and the like
test-slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow

# minutes: the engine in a build that reports errors of memory and arithmetic, and in one that reports data races, in which polars and
# pyarrow cannot be loaded
test-sanitized: $(VENV)/.dev
	$(BIN)/python tools/sanitized.py address -n auto -m "not slow" tests/engine tests/boosting/test_traces.py
	$(BIN)/python tools/sanitized.py thread -n auto -m "not slow" tests/engine --ignore tests/engine/test_table.py

# two minutes: the sdist and a wheel for every platform, into dist/
wheels: $(VENV)/.wheels
	$(BIN)/python tools/wheels.py

# a minute: what is in them, and a fit in an empty environment; for arm64 in an emulator, where there is one
check-wheels: $(VENV)/.wheels
	$(BIN)/python tools/check_wheels.py
	$(BIN)/python tools/try_wheels.py

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror src/skewboost/engine/core/*.h src/skewboost/engine/core/*.cpp

# minutes: every speed claim, peers side by side, ratios printed
benchmark: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/interpreter.py

# a quarter of an hour: the engine against LightGBM at every size, new processes
benchmark-engine: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/engine.py

# minutes: the time of a round of every variant
benchmark-catalogue: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/catalogue.py

# a minute: alternating trees, consistent stumps, many classes, explanations
benchmark-structured: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/structured.py

# two hours, or a quarter of one with QUICK=1: how often promises with confidence 0.9 are broken, with weights, copies and referral too,
# what a promise costs, with MAPIE side by side, and what it saves to fit a portfolio once. A run goes on where it stopped.
promises: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/promises.py $(if $(QUICK),100)
	$(BIN)/python benchmarks/recall_goal.py $(if $(QUICK),--quick)
	$(BIN)/python benchmarks/mapie_goals.py $(if $(QUICK),--repeats 2)
	$(BIN)/python benchmarks/goal_fits.py $(if $(QUICK),4)

# minutes each: the tables of docs/decisions.md, resampling.md, multiclass.md, votes.md, exporting.md, models.md, evaluating.md, comparing.md, cli.md,
# cascade.md
$(addprefix benchmark-,$(EACH)): benchmark-%: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/$*.py

# a quarter of an hour: the errors that docs/structured.md and docs/learners.md print
errors: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/errors.py

# minutes: what every variant costs on the data sets of the papers, where these are at hand
choosing: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/choosing.py

# hours: what the ingredients of SkewBoostClassifier are worth, where the tables are at hand; what effort buys; many rows
benchmark-portfolio: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/portfolio.py
	$(BIN)/python benchmarks/portfolio.py --effort
	$(BIN)/python benchmarks/portfolio_growth.py

# a quarter of an hour: time and memory against rows, features and rounds
benchmark-growth: $(VENV)/.benchmarks
	$(BIN)/python benchmarks/growth.py

# One stamp per extra; each is made anew when the dependencies change.
$(VENV)/.%: pyproject.toml $(wildcard packages/*/pyproject.toml) | $(VENV)/bin/python
	$(BIN)/python tools/install.py "$*"
	touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "skewboost needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
	       "Name one with: make PYTHON=python3.12 ..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

clean:
	rm -rf $(VENV) skewboost-demo .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache build dist
	rm -rf src/skewboost/engine/libskewboost* src/skewboost/engine/.libskewboost-*
