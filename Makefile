# The two commands that matter: make accept, make test.
GO      ?= go
# The flags of the upstream programs (internal/upstream), for everything that is compiled here: a
# package is compiled once for the binary, the tests, the linters and the programs.
export GOFLAGS     := $(strip $(GOFLAGS) -trimpath '-gcflags=all=-dwarf=false -l' -gcflags=std=-dwarf=false '-ldflags=-s -w')
export CGO_ENABLED := 0
BIN     := bin/firstlight
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: capture accept build test test-all profile soak soak-tests lint vuln sbom licenses bench generate fuzz clean mutants

## accept: build firstlight and run the eight gates on the embedded lab; STACK=real: with NVIDIA's own GPU Operator;
## SPINE=slurm: as root with Debian's Slurm, those of a real Slurm cluster on this machine (docs/slurm.md)
accept: build
ifeq ($(SPINE),slurm)
	$(GO) run ./internal/world/slurm/run $(abspath $(BIN))
else
	$(BIN) accept $(if $(SPINE),--spine $(SPINE)) $(if $(STACK),--stack $(STACK))
endif

## build: the binary, at bin/firstlight
build:
	GOGC=400 $(GO) build -buildvcs=false \
	  -ldflags "-s -w -X github.com/firstlight/firstlight/internal/cli/cmdutil.Version=$(VERSION)" -o $(BIN) ./cmd/firstlight

## test: the tests of every change (docs/testing.md): unit tests with the race detector, then
## live tests on shared labs and, in parallel, end-to-end tests. Builds the upstream programs
## that the lab needs if they are not cached.
test:
	$(GO) run ./internal/suite/run

## test-all: nightly: every fault, seed and kill; as root on Debian it installs the programs that tests run
test-all:
	internal/suite/programs.sh
	FIRSTLIGHT_TESTS=all $(GO) run ./internal/suite/run -timeout 120m -limit 6h

## profile: make test; writes the CPU time of each package to bin/profile.md
profile:
	mkdir -p bin && $(GO) run ./internal/suite/run -profile bin/profile.md

## soak: long tests: 20 seeds, 30 kills, 100,000 operations on leases, a week and a year of
## reservations; then 10 million executions of every fuzz target
soak: soak-tests
	$(MAKE) fuzz FUZZTIME=10000000x

soak-tests:
	FIRSTLIGHT_TESTS=soak $(GO) test -timeout 180m -count=1 -p 1 -parallel 3 -v ./internal/reservation/safety ./internal/reservation/controller ./internal/e2e/...

## lint: golangci-lint, which has go vet, pinned in tools/go.mod
lint:
	$(GO) -C tools build -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run ./...

## vuln: known vulnerabilities in imported packages (needs the vulnerability database, VULNDB)
VULNDB ?= https://vuln.go.dev
vuln:
	$(GO) -C tools build -o ../bin/govulncheck golang.org/x/vuln/cmd/govulncheck
	bin/govulncheck -db $(VULNDB) ./...

## sbom: the modules linked into the binary, read from the binary, as CycloneDX: bin/firstlight.cdx.json
sbom: build
	$(GO) -C tools build -o ../bin/cyclonedx-gomod github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
	bin/cyclonedx-gomod bin -json -std -version $(VERSION) -output $(BIN).cdx.json $(BIN)

## licenses: the licences of the linked modules, to docs/licenses.md; fails if one is not allowed
licenses:
	$(GO) run ./internal/ci/licenses -write docs/licenses.md

## bench: measure what ships, alternating with kwokctl and Boskos; write bench/RESULTS.md; fails
## if a threshold of bench/thresholds.yaml is missed
bench: build
	$(GO) run ./bench

## generate: archives that the binary embeds, JSON schemas of recipes, deep copies
generate:
	$(GO) generate ./...

## fuzz: every fuzz target of the packages FUZZ for FUZZTIME (20s, 10000000x); an input that fails
## is kept in testdata/fuzz. RESUME=1: without the targets that an interrupted run has passed
FUZZ     ?= ./internal/...
FUZZTIME ?= 20s
fuzz:
	$(GO) run ./internal/fuzzing/run -fuzztime $(FUZZTIME) $(if $(RESUME),-resume) $(FUZZ)

## mutants: break the judges in one place at a time and count how often their tests fail
## (docs/testing.md); fails below the threshold of internal/mutants/targets.yaml
SEED   ?= 1
SAMPLE ?= 300
mutants:
	$(GO) run ./internal/mutants/run -seed $(SEED) -sample $(SAMPLE)

## capture: record what the GPU tools of this machine print, without identities, for the corpus
## of the parsers (docs/tools.md); the program exits with 3 where there is no GPU
CAPTURE ?= bin/capture
capture:
	$(GO) build -buildvcs=false -o bin/capture-run ./internal/capture/run
	bin/capture-run -out "$(CAPTURE)"

clean:
	rm -rf bin
