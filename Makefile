# One command each; every target makes the environment it needs. uv is used when it is there, else python3 -m venv and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: env csw-env demo test test-servers test-systemd acceptance fmt schema schema-check architecture web-assets docs man strategies bench shows papers lock clean

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

CSW_VENV := .venv-csw

csw-env: $(CSW_VENV)/.installed  ## pycsw for `geocrawl serve --csw`, in an environment of its own: it needs an older OWSLib

$(CSW_VENV)/.installed: requirements-csw.txt
	@test -x $(CSW_VENV)/bin/python || $(PYTHON) -m venv $(CSW_VENV)
	@$(CSW_VENV)/bin/python -m pip install -q --disable-pip-version-check -r requirements-csw.txt
	@touch $@

demo: env  ## a small web on this machine, crawled, its catalogue printed
	$(BIN)/geocrawl demo

test: env  ## format, lint, types, contracts, tests (but for those of the three targets below)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 5 --dist worksteal -m "not servers and not systemd and not acceptance"

# The files with tests of a mark: to look for them in all 7,000 takes each worker half a minute.
marked = $(shell grep -rl --include='*.py' 'mark\.$(1)\b' tests)

test-servers: env  ## real map servers on this machine (.ci/run says what to install)
	$(BIN)/python -m pytest -n 3 --dist worksteal -m servers $(call marked,servers)

test-systemd: env  ## the unit under a real systemd, booted in a container (as root; .ci/run says what to install)
	$(BIN)/python -m pytest -m systemd $(call marked,systemd)

acceptance: env  ## whole crawls of recorded worlds, kills, bombs, a fresh clone: minutes
	$(BIN)/python -m pytest -n 2 --dist worksteal -m acceptance $(call marked,acceptance)

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

STATIC := geocrawl/web/static
WEB_PACKAGES := web_assets/node_modules

web-assets: env  ## what the pages of `geocrawl serve` load, built from npm (needs node): OpenLayers, htmx, the base map
	cd web_assets && npm ci --ignore-scripts --no-audit --no-fund
	$(WEB_PACKAGES)/.bin/esbuild web_assets/map.js --bundle --minify --format=iife --target=es2022 --legal-comments=none \
	  --outfile=$(STATIC)/map.js
	cp $(WEB_PACKAGES)/htmx.org/dist/htmx.min.js $(STATIC)/htmx.js
	cp $(WEB_PACKAGES)/ol/LICENSE.md $(STATIC)/LICENSE.openlayers.md
	cp $(WEB_PACKAGES)/htmx.org/LICENSE $(STATIC)/LICENSE.htmx
	$(BIN)/python -m scripts.base_map $(WEB_PACKAGES)/world-atlas/countries-110m.json $(STATIC)/world.json

DOCS := build/docs

docs:  ## the documentation as a site in build/site; its pages load nothing from other servers
	@test -x $(DOCS)/bin/mkdocs || { $(PYTHON) -m venv $(DOCS) && \
	  $(DOCS)/bin/python -m pip install -q --disable-pip-version-check -r docs/requirements.txt; }
	$(DOCS)/bin/mkdocs build --strict --quiet

man: env  ## man/geocrawl.1, from the help of the commands
	$(BIN)/python -m scripts.man_page

strategies: env  ## docs/strategies.md, from what the strategies declare
	$(BIN)/python -m scripts.strategies_page

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
	rm -rf $(VENV) $(CSW_VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
