# One command each; every target makes the environment it needs. uv is used when it is there, else python3 -m venv and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

DEV_STAMP := $(VENV)/.installed-dev

.PHONY: env dev-env csw-env demo test long test-servers test-systemd acceptance fmt schema schema-check architecture web-assets docs man pictures strategies bench shows papers lock release clean

# Tests start hundreds of processes: without bytecode each of them would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

env: $(STAMP)  ## what a crawl needs

dev-env: $(DEV_STAMP)  ## and what tests, measurements and make's other targets need

RECENT := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
ROOM_MB := 1500

# Install $(1). All versions are locked, so pip need not look for what they need.
define install
	@if command -v uv >/dev/null 2>&1; then \
	  VIRTUAL_ENV=$(VENV) uv pip install --no-deps $(1); \
	else \
	  $(BIN)/python -m pip install --disable-pip-version-check --no-deps $(1); \
	fi || { \
	  if [ "$$(df -Pm . | awk 'NR == 2 {print $$4}')" -lt $(ROOM_MB) ]; \
	  then echo "Not installed: less than $(ROOM_MB) MB are free here. Make room, then run make again." >&2; \
	  else echo "Not installed: the package index (PyPI) must be reachable. Look at the network or pip's settings, then run make again." >&2; \
	  fi; exit 1; }
endef

# An environment of a Python that is too old is made again; such a Python leaves none behind.
$(STAMP): pyproject.toml requirements.lock
	@if test -x $(BIN)/python && ! $(BIN)/python $(RECENT); then rm -rf $(VENV); fi
	@test -x $(BIN)/python || $(PYTHON) $(RECENT) || { \
	  echo "geocrawl needs Python 3.11 or later, and '$(PYTHON)' is none: make PYTHON=python3.12 demo" >&2; exit 1; }
	@echo "Installing what a crawl needs into $(VENV) (340 MB, about half a minute, once) ..."
	@test -x $(BIN)/python || if command -v uv >/dev/null 2>&1; then uv venv --python $(PYTHON) $(VENV); else \
	  $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	    echo "No environment was made: Python's module venv must be complete (Debian: apt install python3-venv)." >&2; exit 1; }; fi
	$(call install,-r requirements.lock)
	$(call install,-e .)
	@touch $(STAMP)

$(DEV_STAMP): $(STAMP) requirements-dev.lock
	@echo "Installing the tools of development into $(VENV) (700 MB, about a minute, once) ..."
	$(call install,-r requirements-dev.lock)
	@touch $(DEV_STAMP)

CSW_VENV := .venv-csw

csw-env: $(CSW_VENV)/.installed  ## pycsw for `geocrawl serve --csw`, in an environment of its own: it needs an older OWSLib

$(CSW_VENV)/.installed: requirements-csw.txt
	@test -x $(CSW_VENV)/bin/python || $(PYTHON) -m venv $(CSW_VENV)
	@$(CSW_VENV)/bin/python -m pip install -q --disable-pip-version-check -r requirements-csw.txt
	@touch $@

demo: env  ## a small web on this machine, crawled, its catalogue printed
	$(BIN)/geocrawl demo

# Tests wait for servers and delays half of their time: there are more workers than cores.
WORKERS ?= 5
PYTEST := $(BIN)/python -m pytest
RARE := servers or systemd or acceptance or long

test: dev-env  ## format, lint, types, contracts, tests (but for those of the four targets below)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	@# While one core checks the types, the other compiles the tests' assertions, once for all workers.
	@$(PYTEST) --collect-only -qq >/dev/null 2>&1 & $(BIN)/mypy; checked=$$?; wait; exit $$checked
	$(PYTEST) -n $(WORKERS) --dist worksteal -m "not ($(RARE))"

# The files with tests of a mark: to look for them in all 7,000 takes each worker half a minute.
marked = $(shell grep -rl --include='*.py' 'mark\.$(1)\b' tests)

long: dev-env  ## what takes longer than it is worth at each change: every strategy, every kill, every engine
	$(PYTEST) -n $(WORKERS) --dist worksteal -m long

test-servers: dev-env  ## real map servers on this machine (.ci/run says what to install)
	$(PYTEST) -n 3 --dist worksteal -m servers $(call marked,servers)

test-systemd: dev-env  ## the unit under a real systemd, booted in a container (as root; .ci/run says what to install)
	$(PYTEST) -m systemd $(call marked,systemd)

acceptance: dev-env  ## whole crawls of recorded worlds, kills, bombs, a fresh clone: minutes
	$(PYTEST) -n 3 --dist worksteal -m acceptance $(call marked,acceptance)

fmt: dev-env
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

schema: dev-env  ## the tables for statements and in docs/database.md, from the classes
	$(BIN)/python -m scripts.statement_tables
	$(BIN)/python -m scripts.schema_page

schema-check: dev-env  ## whether the migrations come to what the tables say
	$(PYTEST) -q tests/store/database/schema/test_schema.py tests/store/database/test_upgrade.py

architecture: dev-env  ## docs/architecture.svg, drawn from the code's own imports
	$(BIN)/python -m scripts.architecture

STATIC := geocrawl/web/static
WEB_PACKAGES := web_assets/node_modules

web-assets: dev-env  ## what the pages of `geocrawl serve` load, built from npm (needs node): OpenLayers, htmx, the base map
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
	  $(DOCS)/bin/python -m pip install -q --disable-pip-version-check -r scripts/docs-requirements.txt; }
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict

man: dev-env  ## man/geocrawl.1, from the help of the commands
	$(BIN)/python -m scripts.man_page

pictures: dev-env  ## docs/pictures, of a crawl of the demo's web (needs Chromium)
	$(BIN)/python -m scripts.pictures

strategies: dev-env  ## docs/strategies.md, from what the strategies declare
	$(BIN)/python -m scripts.strategies_page

bench: dev-env  ## answers handled a CPU second beside Scrapy and Crawlee
	$(BIN)/python -m benchmarks peers

shows: dev-env  ## every measurement at full size, written to build/measurements: hours
	$(BIN)/python -m benchmarks

PAPERS := build/papers
MADE := portal:600 agency:1200 mixed:1000
# What the papers claim something about from a web's own seeds; the other presets run in the experiments.
CLAIMED := gws:paper,bfs,hits:paper,best-first:paper,best-n-first:paper,ipagerank:paper,pagerank:paper,bayes:paper
SHARED = $(or $(GEOCRAWL_SHARED),../shared)

papers: dev-env  ## the papers' experiments on made webs, and on recorded ones where they are at hand: report in build/papers, figures in docs/papers
	@for web in $(MADE); do \
	  kind=$${web%%:*}; folder=$(PAPERS)/worlds/made-$$kind; \
	  test -f $$folder/world.json && continue; \
	  rm -rf $$folder && $(BIN)/geocrawl world make $$kind --pages $${web##*:} --seed 1 --out $$folder || exit; \
	done
	$(BIN)/geocrawl evaluate $(PAPERS)/worlds/made-portal $(PAPERS)/worlds/made-agency $(PAPERS)/worlds/made-mixed \
	  $(patsubst %/world.json,%,$(wildcard $(SHARED)/worlds/*/world.json)) --papers --strategies $(CLAIMED),fusion,oracle --out $(PAPERS)/report
	mkdir -p docs/papers && cp $(PAPERS)/report/figures/*.svg docs/papers/

# What geocrawl itself needs is told by an environment that has nothing else.
lock: dev-env  ## the versions in use, written to requirements.lock (what a crawl needs) and requirements-dev.lock (the rest)
	@mkdir -p build
	$(BIN)/python -m pip freeze --exclude-editable | grep -vi '^geocrawl' > build/all.lock
	rm -rf build/lock && $(PYTHON) -m venv build/lock && build/lock/bin/python -m pip install -q -c build/all.lock .
	build/lock/bin/python -m pip freeze | grep -vi '^geocrawl' > requirements.lock
	grep -vixFf requirements.lock build/all.lock > requirements-dev.lock

RELEASE := build/release
VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)

release:  ## dist/: wheel, source archive and SBOM of this version; both archives run the demo in an empty environment
	@grep -q "^## $(VERSION) " CHANGELOG.md || { \
	  echo "CHANGELOG.md has no heading '## $(VERSION) (date)': cut it first (docs/releasing.md)." >&2; exit 1; }
	@grep -qx "version: $(VERSION)" CITATION.cff || { echo "CITATION.cff names another version than $(VERSION)." >&2; exit 1; }
	rm -rf dist $(RELEASE) && $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install -q --disable-pip-version-check -r scripts/release-requirements.txt
	$(RELEASE)/bin/python -m build --outdir dist .
	$(RELEASE)/bin/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --mc-type application \
	  --output-reproducible -o dist/geocrawl-$(VERSION).cdx.json
	@for archive in dist/*.whl dist/*.tar.gz; do \
	  rm -rf $(RELEASE)/try && $(PYTHON) -m venv $(RELEASE)/try && \
	  $(RELEASE)/try/bin/python -m pip install -q --disable-pip-version-check -c requirements.lock $$archive && \
	  (cd $(RELEASE) && HOME=$$PWD/try ./try/bin/geocrawl --version && HOME=$$PWD/try ./try/bin/geocrawl demo >demo.txt 2>&1) && \
	  echo "$$archive: the demo runs" || exit; \
	done
	cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

clean:
	rm -rf $(VENV) $(CSW_VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
