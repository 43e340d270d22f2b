# Everything a newcomer needs: `make run` on a fresh clone installs, builds and starts the server. `make` alone prints the list.
# Settings are environment variables and pass through: PORT=8081 DATA_DIR=/var/lib/vedette make run
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install build run package package-test test test-fast test-real test-nodes web-test docs-test check format demo demo-incident sim crash fault attack chaos fuzz soak bench bench-guard backup-test bench-quick eval eval-quiet incidents promql-test promql-compare promql-bench rules-test clean

# npm takes an empty HOME for a folder named ~ in the clone; without one it asks the system.
ifeq ($(HOME),)
unexport HOME
endif

INSTALLED := node_modules/.installed
TEST_INSTALLED := test/node_modules/.installed
KERNEL := dist/.kernel
COMPILED := dist/.compiled
SERVER := dist/.server
WEB := dist/.web
NODES := test/nodes/node_modules/.installed
ASSEMBLY := src/domain/kernel/assembly
# Folders count as sources too, so that a deleted file causes a build.
KERNEL_SOURCES := $(shell find $(ASSEMBLY) src/core/layout 2>/dev/null) scripts/build-kernel.mjs
SERVER_SOURCES := $(shell find src \( -path $(ASSEMBLY) -o -path src/web \) -prune -o -print 2>/dev/null) tsconfig.json
WEB_SOURCES := $(shell find src/web 2>/dev/null) scripts/build-web.mjs

help: ## Print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s%s\n", $$1, $$2 }' Makefile

install: $(INSTALLED) $(TEST_INSTALLED) ## Install the locked packages, if the lock file changed

build: $(INSTALLED) ## Compile kernel, server and user interface to dist/, if sources changed
	@exec $(MAKE) --no-print-directory --silent --jobs=3 $(SERVER) $(WEB)

run: build ## Start the server (PORT, DATA_DIR, HOST ...); Ctrl-C stops it
	@exec node dist/vedette.js

package: build ## Make a tarball and a Debian package with Node inside, and their SBOM, in dist/package
	@exec node scripts/package.mjs

package-test: package ## Install the Debian package over an overlay of this machine, start, feed, upgrade, remove and purge it, and build it again (root, three minutes)
	@exec packaging/test.sh

test: build $(TEST_INSTALLED) ## Run all tests that need nothing more; the last line is "N passed, N failed"
	@exec node scripts/run-tests.mjs --exclude 'test/real/**'

test-fast: $(INSTALLED) $(TEST_INSTALLED) ## Run the unit and property tests that need no build and no server, in a minute on two cores; it names those it leaves out
	@exec node scripts/fast-tests.mjs

test-real: build $(TEST_INSTALLED) ## Run the tests with a real Prometheus, node exporter, Alertmanager, nginx and HAProxy, where they are installed
	@exec node scripts/run-tests.mjs test/real

test-nodes: $(SERVER) $(TEST_INSTALLED) $(NODES) ## Run the contract, ingestion and crash suites on Node 22 and 24 too
	@exec node scripts/test-nodes.mjs

web-test: build $(TEST_INSTALLED) ## Try the user interface in Chromium: pages, accessibility, journeys
	@exec node scripts/run-tests.mjs test/real/web

docs-test: build $(TEST_INSTALLED) ## Run every command of the README and of docs/*.md, each document over a server of its own
	@exec node scripts/docs-test.mjs $(DOCS)

web-bench: build $(TEST_INSTALLED) ## Measure the user interface in Chromium (20 minutes); WEB_BENCH_ROWS=feed,week WEB_BENCH_MINUTES=n
	@exec node native-bench/web/web-bench.mjs

check: $(INSTALLED) $(TEST_INSTALLED) ## Check types, style, floors, unused code and sizes
	@exec node scripts/check.mjs

format: $(INSTALLED) $(TEST_INSTALLED) ## Rewrite the files as `make check` wants them
	@exec test/node_modules/.bin/biome check --write

demo: build ## Show the server at work on made-up telemetry; LIVE=1 goes on until Ctrl-C
	@exec node dist/main.js demo $(if $(LIVE),--live)

demo-incident: $(SERVER) ## Break a made-up shop in five ways and show which causes the server names (two minutes)
	@exec node dist/main.js demo-incident

sim: $(SERVER) $(TEST_INSTALLED) ## Run the simulations and 2,000 seeds of faults (half an hour on two cores); SIM_FROM=n SIM_SEEDS=n, SEED=n replays one
	@TEST_EXTENT=whole node scripts/run-tests.mjs test/sim
	@[ -n "$$SEED" ] || exec node --import ./scripts/typescript-loader.mjs test/sim/seeds.ts

crash: $(SERVER) $(TEST_INSTALLED) ## Kill and restart the server under load, over 100 times, 200 times while it tells people, 20 times while it analyses or has rules, and 1,000 runs of runbooks; CRASH_ROUNDS=n DELIVERY_KILLS=n REPORT_KILLS=n RULES_KILLS=n RUNBOOK_KILLED_RUNS=n
	@TEST_EXTENT=whole TEST_SILENCE_MINUTES=30 CRASH_ROUNDS=$${CRASH_ROUNDS:-24} DELIVERY_KILLS=$${DELIVERY_KILLS:-200} REPORT_KILLS=$${REPORT_KILLS:-20} RULES_KILLS=$${RULES_KILLS:-20} RUNBOOK_KILLED_RUNS=$${RUNBOOK_KILLED_RUNS:-1000} exec node scripts/run-tests.mjs test/fault/crash.test.ts test/fault/deliveries.test.ts test/fault/reports.test.ts test/fault/rules.test.ts test/fault/runbooks.test.ts

fault: $(SERVER) $(TEST_INSTALLED) ## Run the tests of faults in full, then damage data folders 2,000 times, and start a server over each (an hour on two cores); FAULT_DAMAGES=n FAULT_SEED=n do the latter alone
	@[ -n "$$FAULT_SEED$$FAULT_DAMAGES" ] || TEST_EXTENT=whole node scripts/run-tests.mjs test/fault
	@exec node --import ./scripts/typescript-loader.mjs test/fault/damage/damages.ts

fuzz: $(SERVER) $(TEST_INSTALLED) ## Feed a million damaged inputs to each decoder; FUZZ_INPUTS=n FUZZ_SEED=n FUZZ_ONLY=name
	@exec node --import ./scripts/typescript-loader.mjs test/fuzz/fuzz.ts

# What is asked of the server by those who may not, besides test/security: docs/TESTING.md has the table.
ATTACKS := test/security test/conformance/access.test.ts test/conformance/bad-input.test.ts test/conformance/http-differences.test.ts test/conformance/http-framing.test.ts \
	test/conformance/local-trust.test.ts test/conformance/notification.test.ts test/conformance/otlp-grpc.test.ts test/conformance/tls.test.ts test/fault/backup.test.ts \
	test/fault/damaged-log.test.ts test/fault/doctor.test.ts test/fault/full-disk.test.ts test/sim/neighbours.test.ts test/sim/shared-limits.test.ts test/sim/overtaken-bodies.test.ts \
	test/unit/modules/notification test/unit/modules/runbooks test/unit/modules/webhooks test/unit/actors/front test/unit/adapters/http \
	test/unit/adapters/sandbox test/unit/api test/unit/cli/backup test/unit/core/collections test/unit/core/fairness test/unit/core/faults test/unit/core/text test/unit/domain/alerting test/unit/domain/otlp test/unit/domain/runbooks test/unit/domain/series \
	test/unit/domain/webhooks test/property/core

attack: $(SERVER) $(TEST_INSTALLED) ## Run all tests of what attackers send, in full, on both HTTP engines (docs/TESTING.md has the table)
	@TEST_EXTENT=whole exec node scripts/run-tests.mjs $(ATTACKS)

chaos: $(SERVER) $(TEST_INSTALLED) ## Real senders for half an hour, and beside them cut connections, odd bodies and names, slow peers, full disk, clock jumps, stops and kills; CHAOS_MINUTES=n CHAOS_SEED=n
	@exec node --import ./scripts/typescript-loader.mjs test/chaos/chaos.ts

soak: $(SERVER) $(TEST_INSTALLED) ## Watch the server for 20 minutes of mixed load; SOAK_MINUTES=n
	@exec node --import ./scripts/typescript-loader.mjs test/soak/soak.ts

bench: $(SERVER) $(TEST_INSTALLED) ## Measure against the peers (an hour, two free cores); results in native-bench/results; exit code 1 where a bar is missed
	@exec node native-bench/bench.mjs

bench-guard: $(SERVER) $(TEST_INSTALLED) ## Compare CPU of the five main rows with the commit of the last page of benches, in nine pairs; BENCH_BASE=commit names another, BENCH_PAIRS=n (a quarter of an hour)
	@exec node native-bench/bench-guard.mjs --pairs $${BENCH_PAIRS:-9} $(if $(BENCH_BASE),--base $(BENCH_BASE))

backup-test: $(SERVER) $(TEST_INSTALLED) ## Measure backups beside half the load, and the restore of a million streams (ten minutes, two free cores)
	@exec node native-bench/bench.mjs --only backup --repeats $${BACKUP_REPEATS:-1}

bench-quick: $(SERVER) $(TEST_INSTALLED) ## Measure the most important rows once, in two minutes
	@exec node native-bench/bench.mjs --quick

eval: $(SERVER) $(TEST_INSTALLED) ## Measure detection on labelled public data; EVAL_DATA=folder (without it: where the data comes from)
	@node --import ./scripts/typescript-loader.mjs test/eval/saturation-report.ts $(EVAL_DATA)
	@node --import ./scripts/typescript-loader.mjs test/eval/rca/rca-eval.ts $(EVAL_DATA)
	@node --import ./scripts/typescript-loader.mjs test/eval/rca/rca-cost.ts
	@python3 -c 'import numpy' 2>/dev/null || { echo "make eval needs Python 3 with numpy: apt install python3-numpy, or pip install numpy" >&2; exit 1; }
	@node --import ./scripts/typescript-loader.mjs test/eval/prediction/prediction-report.ts $(EVAL_DATA)
	@PYTHONDONTWRITEBYTECODE=1 python3 test/eval/evaluate.py $(EVAL_DATA) --halves 20
	@node --import ./scripts/typescript-loader.mjs test/eval/shapes/shape-report.ts
	@node --import ./scripts/typescript-loader.mjs test/eval/habits/habit-report.ts
	@node --import ./scripts/typescript-loader.mjs test/eval/counts/count-report.ts
	@node --import ./scripts/typescript-loader.mjs test/eval/severity/severity-report.ts $(EVAL_DATA)
	@node --import ./scripts/typescript-loader.mjs test/eval/shapes/joint-report.ts
	@exec node --import ./scripts/typescript-loader.mjs test/eval/young/young-report.ts

promql-test: $(INSTALLED) $(TEST_INSTALLED) ## Play Prometheus' own promqltest scripts, PROMQL_TESTS=folder, and read rule files, PROMQL_RULES=folder (ten seconds)
	@exec node --import ./scripts/typescript-loader.mjs test/promql/promql-test.ts

rules-test: $(SERVER) $(TEST_INSTALLED) ## Exit codes of `vedette rules` over promtool's data, RULES_TESTS=folder, and load and evaluate rule files, RULES_FILES=folder (20 seconds)
	@exec node --import ./scripts/typescript-loader.mjs test/rules/rules-data-test.ts

promql-compare: $(SERVER) $(TEST_INSTALLED) ## Ask Debian's Prometheus and this server the same generated queries over one feed; PROMQL_SEED=n PROMQL_QUERIES=n (a minute)
	@exec node --import ./scripts/typescript-loader.mjs test/promql/compare.ts

promql-bench: $(SERVER) $(TEST_INSTALLED) ## Time queries beside Debian's Prometheus, lists over 10,000 series, and detection beside queries and rules; PROMQL_BENCH_ROWS=rate,lists,detection,rules (12 minutes)
	@exec node --import ./scripts/typescript-loader.mjs test/promql/bench/promql-bench.ts

incidents: $(SERVER) ## Score root causes of generated incidents against this server; INCIDENTS_TOOL=folder of the generator (run.py), INCIDENTS_SEED=n INCIDENTS_CASES=n (15 minutes)
	@test -f "$(INCIDENTS_TOOL)/run.py" || { echo "make incidents needs INCIDENTS_TOOL=folder, with the generator's run.py" >&2; exit 1; }
	@mkdir -p dist/eval
	@PYTHONDONTWRITEBYTECODE=1 python3 "$(INCIDENTS_TOOL)/run.py" --project . --seed $${INCIDENTS_SEED:-3} --cases $${INCIDENTS_CASES:-20} --json dist/eval/incidents.json
	@exec node --import ./scripts/typescript-loader.mjs test/eval/severity/severity-report.ts --seeds 0 --incidents dist/eval/incidents.json

eval-quiet: $(SERVER) ## Count pages on services without an incident, and of pods renamed each hour; QUIET_SERVICES=n ROLLING_SERVICES=n QUIET_SEED=n (six minutes)
	@node --import ./scripts/typescript-loader.mjs test/eval/quiet/quiet.ts --services $${QUIET_SERVICES:-500} --seed $${QUIET_SEED:-1}
	@exec node --import ./scripts/typescript-loader.mjs test/eval/rolling/rolling-report.ts --services $${ROLLING_SERVICES:-200} --seed $${QUIET_SEED:-1}

clean: ## Delete what the build wrote; packages and data stay
	@rm -rf dist coverage .vitest

# `npm ci` deletes node_modules first, and with it the stamp: an interrupted install is repeated.
# --ignore-scripts: nothing of a package runs at the install; what is native comes built.
# --include: NODE_ENV=production must not leave out the compilers.
$(INSTALLED): package-lock.json
	@node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' || { echo "Vedette needs Node 20 or newer on the PATH." >&2; exit 1; }
	@echo "Installing packages (1 of 4) ..."
	@npm ci --ignore-scripts --include=dev --include=optional --no-audit --no-fund --no-progress --loglevel=error --fetch-retries=5 >/dev/null
	@node scripts/trim-native-http.mjs
	@touch $@

# What tests and checks alone need: the server's users wait for none of it.
$(TEST_INSTALLED): test/package-lock.json $(INSTALLED)
	@echo "Installing the packages of tests and checks ..."
	@npm ci --prefix test --ignore-scripts --include=dev --include=optional --no-audit --no-fund --no-progress --loglevel=error --fetch-retries=5 >/dev/null
	@touch $@

# Binaries of Node alone, each a package of the registry that runs nothing at its install.
$(NODES): test/nodes/package-lock.json
	@npm ci --prefix test/nodes --ignore-scripts --no-audit --no-fund --no-progress --loglevel=error --fetch-retries=5 >/dev/null
	@touch $@

$(KERNEL): $(INSTALLED) $(KERNEL_SOURCES)
	@echo "Building the kernel (2 of 4) ..."
	@node scripts/build-kernel.mjs
	@touch $@

# Types are not looked at: `make check` does, and who only runs the server need not wait.
$(COMPILED): $(INSTALLED) $(SERVER_SOURCES)
	@echo "Building the server (3 of 4) ..."
	@node_modules/.bin/tsc -p tsconfig.json --noCheck --incremental --tsBuildInfoFile dist/.tsbuildinfo
	@touch $@

$(SERVER): $(KERNEL) $(COMPILED) scripts/join-server.mjs
	@node scripts/join-server.mjs
	@touch $@

$(WEB): $(INSTALLED) $(WEB_SOURCES)
	@echo "Building the user interface (4 of 4) ..."
	@mkdir -p dist
	@node scripts/build-web.mjs
	@touch $@
