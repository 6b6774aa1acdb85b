# The two commands that matter: make accept, make test.
GO      ?= go
BIN     := bin/firstlight
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: accept build test soak lint vuln bench generate fuzz clean

## accept: build firstlight and walk the eight gates on the embedded lab
accept: build
	$(BIN) accept

## build: the binary, at bin/firstlight
build:
	CGO_ENABLED=0 $(GO) build -ldflags "-X github.com/firstlight/firstlight/internal/cli.version=$(VERSION)" -o $(BIN) ./cmd/firstlight

## test: every test, unit and integration, with the race detector; builds the
## upstream programs that the lab needs when they are not cached. The tests that
## measure latencies on a lab come last and alone: nothing else loads the machine.
test:
	$(GO) test -race -timeout 60m $$($(GO) list ./... | grep -v /internal/e2e)
	$(GO) test -timeout 60m -count=1 ./internal/e2e/recipes
	$(GO) test -timeout 60m -count=1 ./internal/e2e/validate
	$(GO) test -timeout 60m -count=1 ./internal/e2e/reservation
	$(GO) test -timeout 60m -count=1 -parallel 3 ./internal/e2e

## soak: what takes too long for every change: 20 seeds, 30 kills, 100,000 operations on leases, a week and a year of reservations
soak:
	FIRSTLIGHT_SOAK=1 $(GO) test -timeout 180m -count=1 -p 1 -parallel 3 -v ./internal/reservation/safety ./internal/reservation/controller ./internal/e2e/...

## lint: golangci-lint and go vet, pinned in tools/go.mod
lint:
	$(GO) vet ./...
	$(GO) -C tools build -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	bin/golangci-lint run ./...

## vuln: known vulnerabilities in what we import (needs the vulnerability database)
vuln:
	$(GO) -C tools build -o ../bin/govulncheck golang.org/x/vuln/cmd/govulncheck
	bin/govulncheck ./...

## bench: measure the parts of a walk
bench: build
	$(GO) run ./bench

## generate: copies of the pins that the binary carries, CLI reference
generate:
	$(GO) generate ./...

## fuzz: every fuzz target for FUZZTIME
FUZZTIME ?= 20s
fuzz:
	@set -e; for pkg in $$($(GO) list ./internal/...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$pkg 2>/dev/null | grep '^Fuzz' || true); do \
	    echo "$$pkg $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; \
	  done; done

clean:
	rm -rf bin
