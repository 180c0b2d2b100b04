# One command each; every target makes the environment it needs. uv is used when it is there, else python3 -m venv and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: env demo test test-servers test-systemd acceptance fmt schema schema-check architecture bench shows papers lock clean

env: $(STAMP)

RECENT := -c 'import sys; sys.exit(sys.version_info < (3, 11))'

# An environment of a Python that is too old is made anew, and none is left behind by one.
$(STAMP): pyproject.toml requirements.lock
	@if test -x $(BIN)/python && ! $(BIN)/python $(RECENT); then rm -rf $(VENV); fi
	@test -x $(BIN)/python || $(PYTHON) $(RECENT) || { \
	  echo "geocrawl needs Python 3.11 or later, and '$(PYTHON)' is none: make PYTHON=python3.12 demo" >&2; exit 1; }
	@echo "Installing geocrawl and what it needs into $(VENV) (once, some minutes) ..."
	@if command -v uv >/dev/null 2>&1; then \
	  test -x $(BIN)/python || uv venv -q --python $(PYTHON) $(VENV); \
	  VIRTUAL_ENV=$(VENV) uv pip install -q -r requirements.lock && VIRTUAL_ENV=$(VENV) uv pip install -q --no-deps -e .; \
	else \
	  test -x $(BIN)/python || $(PYTHON) -m venv $(VENV); \
	  $(BIN)/python -m pip install -q --disable-pip-version-check -r requirements.lock && \
	  $(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .; \
	fi
	@touch $(STAMP)

demo: env  ## a small web on this machine, crawled, its catalogue printed
	$(BIN)/geocrawl demo

test: env  ## format, lint, types, contracts, tests (but for those of the three targets below)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "not servers and not systemd and not acceptance"

test-servers: env  ## real map servers on this machine (.ci/run says what to install)
	$(BIN)/python -m pytest -n 3 --dist worksteal -m servers

test-systemd: env  ## the unit under a real systemd, booted in a container (as root; .ci/run says what to install)
	$(BIN)/python -m pytest -m systemd

acceptance: env  ## whole crawls of recorded worlds, kills, bombs, a fresh clone: minutes
	$(BIN)/python -m pytest -n 2 --dist worksteal -m acceptance

fmt: env
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schema: env  ## what is derived from the tables: schema.sql, and the tables in docs/database.md
	$(BIN)/python -m geocrawl.store.schema

schema-check: env  ## whether the migrations come to what the tables say
	@mkdir -p build && rm -f build/schema.db
	$(BIN)/alembic -x db=build/schema.db upgrade head
	$(BIN)/alembic -x db=build/schema.db check

architecture: env  ## docs/architecture.svg, drawn from the code's own imports
	$(BIN)/python -m scripts.architecture

bench: env  ## pages a CPU second against Scrapy and Crawlee; the frontier at 1 M and 3 M URLs
	$(BIN)/python -m benchmarks

shows: env  ## every measurement at full size, written to docs/measurements/*.json
	$(BIN)/python -m benchmarks.shows

PAPERS := build/papers
MADE := portal:1800 agency:9000 mixed:5000
SHARED = $(or $(GEOCRAWL_SHARED),../shared)

papers: env  ## the papers' experiments on made webs, and on recorded ones where they are at hand: report in build/papers
	@for web in $(MADE); do \
	  kind=$${web%%:*}; folder=$(PAPERS)/worlds/made-$$kind; \
	  test -f $$folder/world.json && continue; \
	  rm -rf $$folder && $(BIN)/geocrawl world make $$kind --pages $${web##*:} --seed 1 --out $$folder || exit; \
	done
	$(BIN)/geocrawl evaluate $(PAPERS)/worlds/made-portal $(PAPERS)/worlds/made-agency $(PAPERS)/worlds/made-mixed \
	  $(patsubst %/world.json,%,$(wildcard $(SHARED)/worlds/*/world.json)) --papers --strategies papers,fusion --out $(PAPERS)/report

lock: env  ## the versions in use, written to requirements.lock
	$(BIN)/python -m pip freeze --exclude-editable | grep -vi '^geocrawl' > requirements.lock

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
