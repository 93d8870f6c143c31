# Everything runs in .venv, which `make setup` builds from hash-pinned requirement files with a uv kept in .tools.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
UV     := .tools/bin/uv
DOCS   := .tools/docs
MUTMUT := .tools/mutate
ARGS   ?=
SECONDS ?= 60
COUNT  ?= 20000
MINUTES ?= 10
# One more than there are processors, since some tests wait for time to pass.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

INSTALL = apt-get -qq install --yes --no-install-recommends

# Where the system keeps certificates of its own (a company's proxy), uv must trust them as pip does.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt),)
export UV_SYSTEM_CERTS ?= 1
endif

# What is compiled is kept, whatever the shell says: the tests start hundreds of processes.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help setup run shell test coverage check fix docs bench against cost picture screenshots curve explore talks mutate fuzz soak hostile api golden schemas lock hosts-latest audit browser promptfoo compare imports clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

setup: $(VENV)/.ready ## prepare .venv (the others call it first)

$(UV): requirements/tools.lock
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-warn-script-location --root-user-action=ignore \
		--upgrade --target .tools --require-hashes -r requirements/tools.lock
	@touch $(UV)

$(VENV)/.ready: $(UV) requirements/dev.lock pyproject.toml
	$(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
	$(UV) pip sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes requirements/dev.lock
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

run: setup ## set up, and watch the CMS assistant play all its scenarios
	@$(BIN)/cuecard run examples/cms/assistant.yaml $(ARGS)
	@printf '\nWhat now:\n  %-34s%s\n  %-34s%s\n  %-34s%s\n' \
		'$(BIN)/cuecard studio cms' 'see this prompt in the browser, step by step' \
		'$(BIN)/cuecard init ../notes' 'begin an agent of your own' \
		'make shell' 'a shell in which `cuecard` works as the pages write it'

shell: setup ## a shell in which `cuecard` is that of this checkout
	@echo "cuecard is on the path here; \`exit\` leaves"
	@PATH="$(CURDIR)/$(BIN):$$PATH" VIRTUAL_ENV="$(CURDIR)/$(VENV)" "$${SHELL:-sh}"

test: setup ## run the tests; ARGS are those of pytest
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

# The studio is used in a browser: where there is none, its tests are skipped, and it does not count.
UNMEASURED = $(if $(shell command -v chromium-headless-shell chromium chromium-browser google-chrome),,--omit='*/studio/*')

coverage: setup ## run the tests of single parts, and hold the branches that they reach to their figure
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest -n $(WORKERS) --dist worksteal -m "not bench and not repeats and not hypothesis" \
		--ignore tests/unit/robustness tests/unit tests/cases tests/studio
	@$(BIN)/coverage combine --quiet
	@total=$$($(BIN)/coverage report $(UNMEASURED) --format=total) || { $(BIN)/coverage report $(UNMEASURED) --sort=miss; exit 2; }; \
		echo "branch coverage of engine/: $$total%"

check: setup ## lint, types, import rules, and the shipped configuration
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	@told=$$(PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/basedpyright --verifytypes cuecard --ignoreexternal) \
		|| { echo "$$told" | grep -v '^   cuecard'; exit 1; }
	$(BIN)/lint-imports
	$(BIN)/cuecard check prompts examples/starters
	$(BIN)/cuecard fmt --check prompts tool_instructions examples

fix: setup ## format, and mend what the linter can mend
	$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

$(DOCS)/.ready: $(UV) requirements/docs.lock
	@$(UV) venv --quiet --allow-existing --python $(PYTHON) $(DOCS)
	@$(UV) pip sync --quiet --python $(DOCS)/bin/python --require-hashes requirements/docs.lock \
		|| { echo "make docs: the packages of requirements/docs.lock are not installed yet, which takes a network once" >&2; exit 1; }
	@touch $@

docs: $(DOCS)/.ready ## build the documentation as a site that works offline, and check its links
	@PYTHONPATH=tests $(DOCS)/bin/python -m docs.website.build

bench: setup ## run the benchmarks, side by side in one run
	$(BIN)/python -m pytest tests/bench -m bench -n 0 -s --benchmark-disable-gc $(ARGS)

against: setup ## measure the hot path beside another checkout, such as the merge base: ROOT=../base
	$(BIN)/python tests/bench/against.py $(ROOT)

cost: setup ## draw docs/cost.svg and its table anew (a minute)
	$(BIN)/python tests/bench/draw_cost.py

picture: setup ## draw the pictures of the README, docs/pictures and docs/examples.md anew
	$(BIN)/python tests/docs/draw_overview.py
	PYTHONPATH=tests $(BIN)/python -m docs.pictures
	$(BIN)/cuecard run examples/cms --scenario slug-taken --svg docs/run.svg > /dev/null

compare: setup ## measure other prompt libraries beside cuecard; ARGS=--write puts the table into docs/benchmarks.md
	$(UV) venv --quiet --allow-existing --python $(BIN)/python .tools/compare
	$(UV) pip sync --quiet --python .tools/compare/bin/python --require-hashes requirements/compare.lock
	PYTHONPATH=tests:engine .tools/compare/bin/python -m bench.peers --dev $(BIN)/python $(ARGS)

screenshots: setup ## photograph the studio for docs/studio.md and the README anew (needs `make browser`)
	PYTHONPATH=tests $(BIN)/python -m docs.screenshots

curve: setup ## draw docs/search.svg and its table anew, from the queries in CUECARD_DATA
	$(BIN)/python tests/bench/draw_search.py

explore: setup ## look for examples that break a property, for MINUTES (default 10)
	PYTHONPATH=tests $(BIN)/python -m explore.run --minutes $(MINUTES) $(ARGS)

talks: setup ## play conversations of hosts with new seeds, N (default 25) on each; SEED=7 plays those of before again
	CUECARD_SEED=$(or $(SEED),$$(date +%s)) CUECARD_CONVERSATIONS=$(or $(N),25) $(BIN)/python -m pytest -n $(WORKERS) -rP \
		tests/property/test_seeded_frameworks.py tests/property/test_seeded_hosts.py tests/property/test_one_turn.py \
		tests/typescript_client/test_typescript.py::test_a_host_that_a_seed_plays_sends_what_was_promised $(ARGS)

$(MUTMUT)/.ready: $(UV) requirements/mutate.lock
	@$(UV) venv --quiet --allow-existing --python $(BIN)/python $(MUTMUT)
	@$(UV) pip sync --quiet --python $(MUTMUT)/bin/python --require-hashes requirements/mutate.lock
	@touch $@

mutate: setup $(MUTMUT)/.ready ## make mistakes, and see which no test notices (N=200 SEED=7 are drawn; SINCE=main: in what changed)
	PYTHONPATH=tests $(BIN)/python -m mutants.run $(if $(SINCE),--since $(SINCE)) $(if $(N),--draw $(N)) $(if $(SEED),--seed $(SEED)) $(ARGS)

fuzz: setup ## look for inputs that break the readers, SECONDS each (default 60)
	-$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/fuzz.lock
	@for target in lexer parser outline render yaml front_matter logs found_names tool_lists messages \
		imports dates globs helpers reports markdown layouts openapi dumps mcp agents; do \
		$(BIN)/python tests/fuzz/run.py --seconds $(SECONDS) $$target || exit 1; done

soak: setup ## load and faults for MINUTES (default 10); ARGS=--write puts the table into tests/README.md
	-$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/fuzz.lock
	$(BIN)/python tests/soak/run.py --minutes $(MINUTES) $(ARGS)

hostile: setup ## put hostile values into every slot of every system, and render COUNT prompts (default 20000)
	CUECARD_HOSTILE=$(COUNT) $(BIN)/python -m pytest -n 0 -q -p no:cacheprovider tests/property/test_hostile.py

api: setup ## write the reference in docs/api from the docstrings
	@PYTHONPATH=tests $(BIN)/python -m docs.reference.write

golden: setup ## accept the current output as the expected one (then read the diff)
	CUECARD_GOLDEN=1 $(BIN)/python -m pytest -n 0 tests/cases tests/unit/agent/checks/test_examples.py tests/unit/model/boundary \
		tests/unit/config tests/unit/sources/skills/test_skill_file.py

schemas: setup ## write schemas/*.json and docs/settings/ from the models
	$(BIN)/cuecard schema --write schemas
	$(BIN)/python -m cuecard.server.app > schemas/openapi.json
	$(BIN)/cuecard schema --markdown --write docs/settings

lock: $(UV) ## lock the requirement files anew
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--extra run --extra langchain --extra openai-agents --extra adk --extra litellm --extra server --extra otel --extra pytest \
		--extra pybars3 --extra jinja --extra library --extra locale --extra semantic --extra studio pyproject.toml requirements/dev.in -o requirements/dev.lock
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/fuzz.in -o requirements/fuzz.lock
	$(UV) pip compile --quiet --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/compare.in pyproject.toml -o requirements/compare.lock
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/docs.in -o requirements/docs.lock
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		--constraint requirements/dev.lock requirements/action.in pyproject.toml -o requirements/action.lock
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/audit.in -o requirements/audit.lock
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
		requirements/mutate.in -o requirements/mutate.lock
	$(PYTHON) .ci/hosts.py --write

hosts-latest: setup ## run every host page with the newest releases in fresh environments; ARGS=--floor with the oldest
	$(BIN)/python .ci/hosts.py $(or $(ARGS),--latest)

audit: $(UV) ## look for known vulnerabilities in every lock; without the database, skipped by name
	$(UV) venv --quiet --allow-existing --python $(PYTHON) .tools/audit
	$(UV) pip sync --quiet --python .tools/audit/bin/python --require-hashes requirements/audit.lock
	.tools/audit/bin/python .ci/audit.py

browser: ## install Chromium from Debian's packages, without windows where they have it, for the tests of pages (needs root)
	@command -v chromium-headless-shell > /dev/null || { apt-get -qq update && $(INSTALL) chromium-headless-shell; } \
		|| command -v chromium > /dev/null || $(INSTALL) chromium

promptfoo: ## install promptfoo from npm, for its tests (260 MB in .tools)
	npm install --prefix .tools/promptfoo --ignore-scripts --no-save --loglevel=error promptfoo@0.121.20

imports: $(UV) ## install dotprompt and Prompty, for the tests of `cuecard import` (in .tools)
	npm install --prefix .tools/imports/npm --ignore-scripts --no-save --loglevel=error dotprompt@1.1.2
	$(UV) pip install --quiet --python $(PYTHON) --target .tools/imports/dotpromptz dotpromptz==0.2.0
	$(UV) pip install --quiet --python $(PYTHON) --target .tools/imports/prompty "prompty[jinja2]==2.1.0" jinja2
	$(UV) pip install --quiet --python $(PYTHON) --target .tools/imports/prompty1 prompty==0.1.50

clean: ## remove what the other commands made
	rm -rf $(VENV) .tools .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache .site dist
