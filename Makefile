# SPDX-License-Identifier: Apache-2.0
#
# make quickstart   trains on real e-mails with four workers, prints what to look at
# make setup        gets what make test uses: modules, tools, vw, Debian packages
# make check        static checks and short unit tests, for every save: < 90 s
# make test         all of the product, without Java, root or a guest, samples of long tests: < 8 min
# make test-all     everything in full that must hold before a commit lands, as in CI: < 25 min
# make test-portable
#                   types on other systems; numeric packages on arm64 and without assembly
# make test-hadoop  the tests on a real Hadoop, started here: Java 17, Maven, 100 MB of jars
# make test-places  jobs that Slurm, mpirun and their like start here: Debian packages, root. Then Spark, Ray and
#                   a notebook: packages of Python, 1.2 GB, and torchrun: Debian's PyTorch, 150 MB
# make storm        1,000 jobs of real processes that something happens to, and a table
# make storm-net    300 jobs over networks and disks that fail, and a table; needs root
# make storm-malt   300 jobs with shared vectors, whose processes are killed, stopped and cut off
# make storm-sim    10,000 jobs in memory that everything happens to, by seed
# make kilonode     jobs of 500 processes on this machine, some of which are killed, and many small jobs: up to 8 GiB
# make test-rdma    what goes over RDMA, in a guest with two emulated devices
# make test-long    what is too slow for every run: long tests, fuzzing, builds for all platforms
# make bench        micro-benchmarks; bench/README.md has the comparisons
# make bench-compare
#                   measures the table of speeds beside vw, scikit-learn, liblinear and Open MPI: about 15 min. VW is the
#                   command of vw, PYTHON has scikit-learn and liblinear-official, DATA names the data sets
# make figures      measures and draws docs/figures; DATA names the directory of the data sets, ONLY some of
#                   the figures, SPARK a Python with pyspark and numpy
# make lint         the static part of make test-all, which stops at the first fault
# make build        both programs, to bin/
# make release VERSION=v0.2.0
#                   the files of a release, to dist/: archives, packages, a wheel, SHA256SUMS
# make clean        removes what the above leave behind

TOOL = go tool -modfile=tools/go.mod

.PHONY: build quickstart setup check test test-all test-portable test-hadoop test-places test-rdma storm storm-net storm-malt storm-sim kilonode test-long bench bench-compare figures lint release clean

# Go refuses to build if git refuses to read the commit, as in a checkout of another user.
build:
	go build -trimpath $$(git rev-parse HEAD >/dev/null 2>&1 || echo -buildvcs=false) -o bin/ ./cmd/gvw ./cmd/spanning_tree

quickstart: build
	go run ./quickstart

setup:
	scripts/setup.sh

check:
	scripts/test.sh check

test:
	scripts/test.sh

test-all:
	scripts/test.sh all

test-portable:
	scripts/test.sh portable

test-hadoop:
	scripts/setup-kerberos.sh
	GVW_HADOOP=1 go test -count=1 -parallel 4 -timeout 20m -v ./tests/hadoop ./tests/hadoop/secure

test-places:
	scripts/setup-places.sh
	REQUIRE_ALL=1 go test -count=1 -v ./tests/places
	python=$$(scripts/setup-places.sh python) && GVW_PLACES_PYTHON=$$python go test -count=1 -timeout 1h -v ./tests/places/packages

test-rdma:
	scripts/setup-rdma.sh
	go vet -tags rdma ./allreduce/... ./malt/... ./cmd/... ./tests/rdma/...
	go test -tags rdma -run 'TestScripts/^verbs$$|TestExitCodes' ./cmd/gvw
	go test -count=1 -v -timeout 20m ./tests/rdma

storm:
	STORM=$${STORM:-1000} go test -count=1 -parallel 1 -v -timeout 4h ./tests/storm

storm-net:
	STORM=$${STORM:-300} go test -count=1 -v -timeout 4h -run '^TestStorm$$' ./tests/stormnet

storm-malt:
	STORM=$${STORM:-300} go test -count=1 -v -timeout 4h ./tests/maltstorm

storm-sim:
	GVW_STORM_SEEDS=$${SEEDS:-10000} go test -count=1 -timeout 1h -run '^TestStorm$$' ./allreduce ./malt

kilonode:
	KILONODE_RANKS=$${KILONODE_RANKS:-500} KILONODE_BITS=$${KILONODE_BITS:-12} \
	KILONODE_JOBS=$${KILONODE_JOBS:-200} KILONODE_TURNS=$${KILONODE_TURNS:-10000} go test -count=1 -v -timeout 1h ./tests/kilonode

test-long:
	scripts/test-long.sh

bench:
	go test -run '^$$' -bench . -benchtime 1s ./...

bench-compare:
	go run ./bench/compare -vw "$(or $(VW),.venv/bin/python -m vowpalwabbit)" -python "$(PYTHON)" -data "$(DATA)" -runs $(or $(RUNS),5) -only "$(ONLY)" -out docs/figures
	go -C tools run ./draw ../docs/figures

figures:
	go run ./bench/figures -data "$(DATA)" -only "$(ONLY)" -spark "$(SPARK)"
	go -C tools run ./draw ../docs/figures

lint:
	test -z "$$(gofmt -l .)"
	go vet ./...
	$(TOOL) staticcheck ./...
	test -z "$$($(TOOL) gofumpt -l .)"
	scripts/deadcode.sh
	go mod tidy -diff
	cd tools && go mod tidy -diff
	cd tests/containers && go mod tidy -diff

release:
	go run ./internal/release -version "$(VERSION)" -out dist

clean:
	rm -rf bin dist quickstart/out .venv-places
	! [ -e .venv/.made-by-setup-vw ] || rm -rf .venv
