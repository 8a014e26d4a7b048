# `make chat` and `make test` need Python 3.11+ and nothing else; they set up the rest themselves.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
ifeq ($(PYTHON),)
$(error Python 3.11 or newer is needed and was not found. Install it, or name one: make PYTHON=/path/to/python3)
endif

BIN := .venv/bin
CODE := utils multi_agents agents tests benchmarks
export ASK
# Every process would compile what it imports once more where images or shells set it.
unexport PYTHONDONTWRITEBYTECODE

# Tests wait for servers and processes two thirds of their time: three times as many workers as cores. A group shares a server.
CORES := $(shell getconf _NPROCESSORS_ONLN)
WORKERS ?= -n $(shell expr 3 '*' $(CORES)) --dist loadfile --no-loadscope-reorder
# Hardly any of these waits for something.
FAST_WORKERS ?= -n $(shell expr 2 '*' $(CORES)) --dist loadfile --no-loadscope-reorder
# What is long keeps its processor busy, and a service that starts beside five others is too slow for its users.
CI_WORKERS ?= -n $(shell expr 2 '*' $(CORES)) --dist loadfile --no-loadscope-reorder
FAST := tests/unit tests/property tests/contract tests/style tests/docs tests/broken_rules tests/release

N ?= 100000
SEED ?= 1
STORE ?= sqlite
ENGINES ?= 1

.DEFAULT_GOAL := help
.PHONY: growth test-foreign test-real-model help chat up new-agent setup setup-dev test test-fast test-postgres test-models ci ci-fuzz ci-simulate ci-tests fmt lint check-helm image compose-e2e eval eval-context eval-rules fuzz-context bench chaos chaos-kill outage retention rolling simulate broken-rules docs lock release-check clean check-auth test-web web

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

chat: setup ## Chat with the supervisor; ASK="…" asks once and exits
	@$(BIN)/platform-engineer chat $${ASK:+--ask "$$ASK"}

up: setup ## Run supervisor and agents until Ctrl-C
	@$(BIN)/platform-engineer up

new-agent: setup ## Make a new sub-agent that works at once: make new-agent NAME=jira
ifneq ($(origin NAME),command line)
	@echo 'Name the agent: make new-agent NAME=jira' >&2; exit 2
else
	@NAME='$(subst ','\'',$(NAME))' && $(BIN)/platform-engineer new-agent -- "$$NAME"
endif

setup:
	@$(PYTHON) -I utils/bootstrap.py requirements.lock

setup-dev:
	@$(PYTHON) -I utils/bootstrap.py requirements-dev.lock

test: setup-dev ## Run the tests that need no installed server, without the long ones (make ci runs them)
	$(BIN)/python -m pytest $(WORKERS) -m "not servers and not long"

test-fast: setup-dev ## Run the tests that start no process, listen on no port and are not slow, in under a minute
	$(BIN)/python -m pytest $(FAST_WORKERS) --no-processes -m "not servers and not processes and not listens and not slow and not long" $(FAST)

ci: setup-dev lint ## Everything: format, lint, types, import direction, all tests; nothing may be skipped
	@$(MAKE) --no-print-directory ci-tests
	@$(MAKE) --no-print-directory ci-fuzz
	@$(MAKE) --no-print-directory ci-simulate

# One after the other: each takes all processors, and tests that start processes have limits of time. The seeds are fixed, so that a red gate means a change.
ci-fuzz:
	$(BIN)/python -m benchmarks.fuzz_context N=800 SEED=1 LARGE=4

ci-simulate:
	$(BIN)/python -m benchmarks.simulate N=1500 SEED=1
	$(BIN)/python -m benchmarks.simulate N=200 SEED=1 ENGINES=2

ci-tests:
	$(BIN)/python -m pytest -p tests.coverage $(CI_WORKERS) --fail-on-skip

test-postgres: setup-dev ## Run the tests of PostgreSQL, which needs to be installed; the tests start a server of their own
	$(BIN)/python -m pytest -n 2 --dist loadfile --fail-on-skip -m servers tests/contract/stores tests/contract/queue tests/contract/rag tests/contract/tool_record tests/e2e/postgres tests/e2e/retention

test-web: setup-dev ## Try the page in Chromium against the running service, and build it again and compare
	$(BIN)/python -m pytest -n 2 --dist loadfile -rP tests/e2e/web

web: setup-dev ## Build the page from multi_agents/web into utils/web/built
	@$(BIN)/python -m tests.e2e.web.npm

test-real-model: setup-dev ## Ask twenty requests at a small real model (1.1 GB, hours); goes on where it stopped
	$(BIN)/python -m tests.eval.real_model

test-foreign: setup-dev ## Try an agent and a client of google-adk and an agent of pydantic-ai (250 MB of packages on first use)
	$(BIN)/python -m pytest tests/foreign

test-models: setup-dev ## Send what real model servers answer, a row for each form, and see what the user sees
	$(BIN)/python -m pytest tests/models

fmt: setup-dev ## Format the code
	$(BIN)/ruff format $(CODE)
	$(BIN)/ruff check --fix $(CODE)

lint: setup-dev ## Check format, lint, types and import direction
	$(BIN)/ruff format --check $(CODE)
	$(BIN)/ruff check $(CODE)
	$(BIN)/mypy
	$(BIN)/lint-imports

check-auth: setup-dev ## Knock at every door with credentials that prove nothing, over every binding; counts failures
	$(BIN)/python -m tests.e2e.auth

check-helm: setup-dev ## Check the chart, the Dockerfile and the compose file with the real tools
	$(BIN)/python -m pytest tests/helm tests/compose

image: ## Build the image; IMAGE=name:tag PYTHON_IMAGE=base
	docker build $${PYTHON_IMAGE:+--build-arg PYTHON_IMAGE="$$PYTHON_IMAGE"} -t "$${IMAGE:-platform-engineer:latest}" .

compose-e2e: setup-dev ## Build the image on a real engine, start the stack, chat, restart it, chat on
	$(BIN)/python -m tests.compose.e2e

eval: setup-dev ## Measure the offline model and the retrieval
	$(BIN)/python -m tests.eval.routing
	$(BIN)/python -m tests.eval.retrieval

eval-context: setup-dev ## Measure what is still there of a long conversation in a small window, without a model
	$(BIN)/python -m tests.eval.context
	$(BIN)/python -m tests.eval.replay

eval-rules: setup-dev ## Measure how well standing rules are found without a model, in six languages
	$(BIN)/python -m tests.eval.rules
	$(BIN)/python -m tests.eval.rules tests/eval/rules_held_out.yaml

fuzz-context: setup-dev ## Send N=100000 generated conversations through context management; SEED=1
	$(BIN)/python -m benchmarks.fuzz_wire N=$$(( $(N) / 50 )) SEED=$(SEED)
	$(BIN)/python -m benchmarks.fuzz_context N=$(N) SEED=$(SEED)

bench: setup-dev ## Measure speed, as ratios against the bare SDK in the same run
	$(BIN)/python -m benchmarks

docs: setup-dev ## Write the pages and pictures that are made from the code, and the vectors of the documents
	$(BIN)/python -m docs.make_configuration
	$(BIN)/python -m agents.rag.ship_vectors
	$(BIN)/python -m docs.make_pictures

growth: setup-dev ## Measure what calls and the start cost over 10,000 tasks beside an empty store; STORE=sqlite
	$(BIN)/python -m benchmarks.growth STORE=$(STORE)

chaos: N = 1000
chaos: setup-dev ## Break everything at random in N=1000 conversations and count what is lost; SEED=1
	$(BIN)/python -m benchmarks.chaos N=$(N) SEED=$(SEED)

chaos-kill: N = 300
chaos-kill: setup-dev ## Kill processes under N=300 conversations whose turns must go on all the same; SEED=1, STORE=sqlite or postgresql with two replicas
	$(BIN)/python -m benchmarks.chaos_kill STORE=$(STORE) N=$(N) SEED=$(SEED)

rolling: setup-dev ## Restart both supervisors over PostgreSQL under 50 streams and 50 blocking calls; no turn may fail
	$(BIN)/python -m benchmarks.rolling

outage: setup-dev ## Stop PostgreSQL for 20 seconds under load; each request must end with an answer or a reason
	$(BIN)/python -m benchmarks.outage

retention: setup-dev ## Converse without end under limits of size; what is stored must not grow; STORE=sqlite or postgresql
	$(BIN)/python -m benchmarks.retention STORE=$(STORE)

simulate: setup-dev ## Run log, engine and handler through N=100000 schedules with faults at every await; SEED=1, ENGINES=2 for two replicas, BREAK=no-fence
	$(BIN)/python -m benchmarks.simulate N=$(N) SEED=$(SEED) ENGINES=$(ENGINES) BREAK=$(BREAK)

broken-rules: setup-dev ## Break each rule of the wire in a copy and see its tests go red; RULES="fail-01 chunks" some of them
	$(BIN)/python -m tests.broken_rules $(RULES)

lock: ## Write both lock files (needs uv)
	uv pip compile pyproject.toml --universal --python-version 3.11 --only-binary :all: --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --no-annotate -q -o requirements.lock
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --only-binary :all: --generate-hashes \
		--no-emit-index-url --no-emit-find-links --no-header --no-annotate -q -o requirements-dev.lock

release-check: setup-dev ## Rehearse a release: tree, version, changelog, locks, licences, chart; publishes nothing
	@$(BIN)/python -m tests.release

clean: ## Remove the virtual environment and caches; keeps .data
	rm -rf .venv .venv.lock .cache .mypy_cache .ruff_cache .hypothesis *.egg-info
