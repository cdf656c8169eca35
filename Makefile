# SPDX-License-Identifier: Apache-2.0
#
# make quickstart   trains on real e-mails with four workers, prints what to look at
# make test         everything that must hold before a commit lands
# make test-long    what is too slow for every run: long tests, fuzzing
# make bench        micro-benchmarks; bench/README.md has the comparisons
# make lint         the static part of make test, stopping at the first fault
# make build        both programs, to bin/
# make clean        removes what the above leave behind

TOOL = go tool -modfile=tools/go.mod

.PHONY: build quickstart test test-long bench lint clean

build:
	go build -trimpath -o bin/ ./cmd/gvw ./cmd/spanning_tree

quickstart: build
	go run ./quickstart

test:
	scripts/test.sh

test-long:
	scripts/test-long.sh

bench:
	go test -run '^$$' -bench . -benchtime 1s ./...

lint:
	test -z "$$(gofmt -l .)"
	go vet ./...
	$(TOOL) staticcheck ./...
	test -z "$$($(TOOL) gofumpt -l .)"
	go mod tidy -diff
	cd tools && go mod tidy -diff

clean:
	rm -rf bin quickstart/out .venv
