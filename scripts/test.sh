#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Everything that must hold before a commit lands, in the order in which a
# mistake is cheapest to find. `make test` calls it; so does every CI.
#
#   REQUIRE_ALL=1      what tests need must be there: a skip is a failure
#   REQUIRE_SHARED=1   the data sets beside the repository must be there
#   GVW_VW_PYTHON      a python that has vowpalwabbit (else .venv is set up)
#   GVW_HADOOP_CACHE   where the jars of Hadoop are kept (else the user's cache)
#   CI=true            missing Debian packages are installed; otherwise make setup does it
#
# A step that fails does not stop the ones after it; the report at the end
# lists all failures and all skips with their reasons.
set -uo pipefail
cd "$(dirname "$0")/.." || exit

module=github.com/gvw-project/gvw
log=$(mktemp -d "${TMPDIR:-/tmp}/gvw-test.XXXXXX") || exit 1
trap 'rm -rf "$log"' EXIT
go build -o "$log/testsum" ./internal/testsum || exit 1
begun=$(date +%s)

heading() { printf '\n== %s (%d s)\n' "$1" "$(($(date +%s) - begun))"; }

# note ACTION NAME [REASON] records the end of a step that is not a Go test.
note() {
	if [ -n "${3:-}" ]; then
		printf '{"Action":"output","Package":"step","Test":"%s","Output":"%s"}\n' "$2" "$3" >>"$log/make-test.json"
	fi
	printf '{"Action":"%s","Package":"step","Test":"%s"}\n' "$1" "$2" >>"$log/make-test.json"
}

# step NAME COMMAND… passes when the command succeeds.
step() {
	local name=$1
	shift
	heading "$name"
	if "$@"; then note pass "$name"; else note fail "$name"; fi
}

# silent COMMAND… succeeds when the command succeeds and prints nothing to stdout:
# the convention of gofmt -l and gofumpt -l.
silent() {
	local out
	out=$("$@") || { echo "$out"; return 1; }
	[ -z "$out" ] || { echo "$out"; return 1; }
}

# gotest RUN ARGS… runs go test and records it under the name RUN. Failures of
# tests are in the recording; a go command that fails without one is noted.
gotest() {
	local run=$1 ends
	shift
	go test -json -timeout 15m "$@" 2>&1 | "$log/testsum" -record "$log/$run.json"
	ends="${PIPESTATUS[*]}"
	case $ends in
	"0 0" | *" 1") ;;
	*) note fail "$run" ;;
	esac
}

# present PATTERN… prints those package patterns whose folder exists.
present() {
	local p
	for p in "$@"; do
		[ -d "${p%/...}" ] && echo "$p"
	done
}

tidy() { go mod tidy -diff && (cd tools && go mod tidy -diff); }

builds() {
	local target ok=0
	for target in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do
		echo "$target"
		GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 go build ./... || ok=1
	done
	return $ok
}

step modules-and-tools scripts/fetch.sh
step gofmt silent gofmt -l .
step vet go vet ./...
step staticcheck go tool -modfile=tools/go.mod staticcheck ./...
step gofumpt silent go tool -modfile=tools/go.mod gofumpt -l .
step deadcode scripts/deadcode.sh
step tidy tidy
step builds builds
# What it finds is no reason to need it: it is asked where it is.
if command -v shellcheck >/dev/null; then step shellcheck shellcheck .ci/* scripts/*.sh tests/rdma/guest/*.sh; fi

heading "the real vw"
if [ -n "${GVW_VW_PYTHON:-}" ] || GVW_VW_PYTHON=$(scripts/setup-vw.sh); then
	export GVW_VW_PYTHON
	echo "$GVW_VW_PYTHON"
	note pass real-vw
else
	echo "NO REAL VW: the comparisons with it are left out."
	note skip real-vw "vowpalwabbit could not be installed (see above); the comparisons with it were left out"
fi

heading "network namespaces"
if command -v unshare >/dev/null && scripts/setup-net.sh; then
	note pass network-namespaces
else
	echo "NO ip, tc OR nft: jobs over a broken network are left out (make setup)."
	note skip network-namespaces "ip, tc and nft are needed (make setup): jobs over a broken network were left out"
fi

heading "unit tests"
# shellcheck disable=SC2046
gotest unit $(go list ./... | grep -v "^$module/tests")

heading "race tests of the concurrent packages"
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
	# By default each process of a race build sleeps for a second when it ends.
	export GORACE=${GORACE:-atexit_sleep_ms=10}
	# shellcheck disable=SC2046
	gotest race -race -short $(present ./allreduce/... ./internal/spantree/... ./feature/stream/... ./learn/... ./cmd/...)
else
	echo "NO C COMPILER: the race detector needs one; race tests are left out."
	note skip race-tests "the race detector needs cgo and a C compiler"
fi

heading "end-to-end tests"
# shellcheck disable=SC2046
gotest e2e -count=1 $(go list ./tests/... | grep -v "^$module/tests/\(hadoop\|rdma\)\$")

heading "a real Hadoop"
if command -v java >/dev/null && command -v mvn >/dev/null; then
	GVW_HADOOP=1 gotest hadoop -count=1 ./tests/hadoop
else
	echo "NO HADOOP: it needs Java 17 and Maven; the tests on it are left out."
	note skip hadoop "a real Hadoop needs Java 17 and Maven (make test-hadoop)"
fi

heading "RDMA, in a guest with two emulated devices"
if scripts/setup-rdma.sh; then
	step vet-rdma go vet -tags rdma ./allreduce/... ./cmd/... ./tests/rdma/...
	gotest rdma -count=1 ./tests/rdma
else
	echo "NO LIBIBVERBS: what needs its headers is left out."
	note skip rdma "libibverbs-dev and a C compiler are needed (make setup)"
fi

heading "report"
all=false
[ "${REQUIRE_ALL:-}" = 1 ] && all=true
"$log/testsum" -report -require-all="$all" "$log"/*.json
