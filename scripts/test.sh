#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Everything that must hold before a commit lands, in the order in which a
# mistake is cheapest to find.
#
#   scripts/test.sh check      make check: static checks, and unit tests in their short form without those that take seconds
#   scripts/test.sh            make test: gofmt, vet, and all of the product without Java, root or a guest, in the tests'
#                              short form
#   scripts/test.sh portable   make test-portable: types on other systems, arm64, and no assembly
#   scripts/test.sh all        make test-all: the same in full, all static checks, make test-portable, manifests, Hadoop, launchers and
#                              RDMA; for CI
#
#   REQUIRE_ALL=1      tools and data that tests need must be present: a skip is a failure,
#                      and make test runs the tests in full
#   REQUIRE_SHARED=1   the data sets beside the repository must be present
#   GVW_VW_PYTHON      a python that has vowpalwabbit (else .venv is set up)
#   GVW_HADOOP_CACHE   where the jars of Hadoop are kept (else the user's cache)
#   CI=true            missing Debian packages are installed; otherwise make setup does it
#
# Most tests wait for processes and time-outs, so more of them run at a time than there
# are processors. Each test runs once: packages with concurrency under the race detector, in
# their short form, and without it only those of their tests that the detector's run left out
# and, in make test-all, those that it sampled.
# A step that fails does not stop the ones after it; the report at the end lists all
# failures and all skips with their reasons.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
tier=${1:-test}
case $tier in check | test | portable | all) ;; *) echo "usage: scripts/test.sh [check | portable | all]" >&2; exit 1 ;; esac

module=github.com/gvw-project/gvw
log=$(mktemp -d "${TMPDIR:-/tmp}/gvw-test.XXXXXX") || exit 1
declare -A beside=() # process groups of the parts that run beside others, by name
trap 'for part in "${beside[@]}"; do kill -- "-$part" 2>/dev/null && wait "$part"; done; rm -rf "$log"' EXIT
begun=$(date +%s)
processors=$(nproc 2>/dev/null || echo 2)

# heading NAME prints the seconds since the start, and the processor time of the commands that have ended since then.
heading() {
	local cpu file=$log/times.$BASHPID
	times >"$file"
	cpu=$(awk 'NR == 2 { split($1 " " $2, t, /[ms ]+/); printf "%d", 60 * (t[1] + t[3]) + t[2] + t[4] }' "$file")
	printf '\n== %s (%d s, %d s CPU)\n' "$1" "$(($(date +%s) - begun))" "$cpu"
}

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
	# The step vet has vetted all packages.
	go test -json -vet=off -timeout 30m -p "$((2 * processors))" "$@" 2>&1 | "$log/testsum" -record "$log/$run.json"
	ends="${PIPESTATUS[*]}"
	case $ends in
	"0 0" | *" 1") ;;
	*) note fail "$run" ;;
	esac
}

# start NAME runs the function NAME beside the next parts, and finish NAME waits for it and prints its output. This
# is for parts that mostly wait. The function records what its parts come to; a part that dies has failed.
start() {
	set -m # a process group of its own, for the end of this script
	"$1" >"$log/$1.out" 2>&1 </dev/null &
	set +m
	beside[$1]=$!
}

finish() {
	wait "${beside[$1]}" || note fail "$1"
	unset "beside[$1]"
	cat "$log/$1.out"
}

# testfiles PACKAGES… prints "PACKAGE FILE" for each of their files of tests.
testfiles() {
	# shellcheck disable=SC2016
	go list -f '{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}}/{{.}}
{{end}}' "$@" | grep .
}

# report sums up all recordings and ends the script.
report() {
	local all=false
	[ "${REQUIRE_ALL:-}" = 1 ] && all=true
	heading "report"
	# shellcheck disable=SC2086
	"$log/testsum" -report $short -slowest 10 -require-all="$all" "$log"/*.json
	exit
}

tidy() { go mod tidy -diff && (cd tools && go mod tidy -diff) && (cd tests/containers && go mod tidy -diff); }
drawing() { (cd tools && go vet ./... && go test ./...); }

# other_systems checks that all packages compile for each platform of a release and without
# assembly. make test-long builds them.
other_systems() {
	local refusal ok=0
	"$log/typecheck" -target linux/arm64 -target darwin/amd64 -target darwin/arm64 -target windows/amd64 -target windows/arm64 ./... || ok=1
	"$log/typecheck" -tags noasm ./... || ok=1
	echo "linux/386 is refused, with a reason"
	refusal=$("$log/typecheck" -target linux/386 ./internal/mem 2>&1) && ok=1
	[[ $refusal == *gvwNeedsA64BitProcessor* ]] || ok=1
	return $ok
}

# portable runs what shows that results do not depend on the processor. The packages are
# those with specified bits, in memory or on a wire. With the tag noasm a test whose
# binary does not change is not run again. On arm64 the tests are emulated, about ten
# times slower, hence -short.
portable() {
	local numeric emulator
	numeric=$(go list ./internal/{fmath,kernels,link,mem,merand} ./internal/spantree/protocol \
		./allreduce/{schedule,topo} ./feature ./loss ./model ./optim/...)
	go build -o "$log/typecheck" ./internal/typecheck || note fail typecheck
	step other-systems other_systems
	# shellcheck disable=SC2086
	step vet-noasm go vet -tags noasm $numeric
	heading "numeric packages and formats without assembly"
	# shellcheck disable=SC2086
	gotest noasm -tags noasm $numeric
	heading "numeric packages and formats on arm64"
	if emulator=$(scripts/setup-arm64.sh); then
		# shellcheck disable=SC2086
		GOARCH=arm64 CGO_ENABLED=0 gotest arm64 -short -exec "$emulator" $numeric
	else
		echo "NO EMULATOR: the tests on arm64 are left out."
		note skip arm64 "qemu-user is needed (make setup): the tests on arm64 were left out"
	fi
}

# make check and make test run the tests in their short form. With REQUIRE_ALL=1 make test runs them in full, and the report
# of make check counts what -short skips: nothing may be left out then.
short=
[ "${REQUIRE_ALL:-}" = 1 ] || case $tier in check | test) short=-short ;; esac

# All but the race detector and RDMA compiles with the flags of a release, so that the release, the
# wheel, images and all tests share one set of compiled packages. make check shares those of go build.
flags=$(go env GOFLAGS)
cgo=$(go env CGO_ENABLED)
[ $tier = check ] || export GOFLAGS="$flags -trimpath" CGO_ENABLED=0
go build -o "$log/testsum" ./internal/testsum || exit 1

case $tier in
test) step modules scripts/fetch.sh ;;
portable | all) step modules-and-tools scripts/fetch.sh tools ;;
esac
if [ $tier = portable ]; then
	portable
	report
fi

# lint runs the static checks that use one processor for most of their time. They need tools that are built first,
# which takes minutes with an empty cache, so make test leaves all but gofmt and vet to make check and make test-all.
lint() {
	step gofumpt silent go tool -modfile=tools/go.mod gofumpt -l .
	step tools drawing
	[ $tier != check ] || return 0
	step tidy tidy
	# The tool shellcheck is optional.
	if command -v shellcheck >/dev/null; then step shellcheck shellcheck .ci/* scripts/*.sh tests/rdma/guest/*.sh; fi
	step deadcode scripts/deadcode.sh
}
[ $tier = test ] || start lint
step gofmt silent gofmt -l .
step vet go vet ./...
[ $tier != all ] || step vet-containers go -C tests/containers vet ./...
if [ $tier != test ]; then
	step staticcheck go tool -modfile=tools/go.mod staticcheck ./...
	finish lint
fi

if [ $tier = check ]; then
	heading "unit tests, short, with 20 seeds per storm"
	# shellcheck disable=SC2046
	GVW_CHECK=1 GVW_STORM_SEEDS=20 gotest unit -short -parallel $((4 * processors)) $(go list ./... | grep -v "^$module/tests")
	report
fi

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

# The packages in sequential, and their tests, have no goroutines, channels or locks, which internal/deptest checks: the race
# detector would find nothing. They run without it, but with the invariants that a race build enables.
sequential="allreduce/schedule allreduce/topo internal/link/upgrade
	internal/spantree/core internal/spantree/edges internal/spantree/history internal/spantree/resume internal/spantree/retry
	learn/factor learn/lda learn/metric learn/nn learn/svm
	learn/internal/modelbytes learn/internal/snapshot learn/internal/usage learn/internal/vwtext
	learn/internal/reduction/boosting learn/internal/reduction/ect learn/internal/reduction/logmulti
	learn/internal/reduction/marginal learn/internal/reduction/stagepoly learn/internal/reduction/svrg
	malt/graph malt/internal/monitor malt/internal/pace malt/internal/pack malt/internal/snapshot"
# shellcheck disable=SC2086
sequential=$(printf '%s\n' $sequential | sed "s,^,$module/,")
concurrent=$(go list ./... | grep -E "^$module/(allreduce|internal/(launch|link|mesh|remote|run|shm|spantree)|feature/stream|learn|malt|cmd)(/|\$)" |
	grep -vxF "$sequential")
others=$(go list ./... | grep -v "^$module/tests" | grep -vxF "$concurrent" | grep -vxF "$sequential")

# shellcheck disable=SC2086
if [ "$cgo" = 1 ] && command -v "$(go env CC)" >/dev/null; then
	heading "unit tests under the race detector, in their short form"
	# By default each process of a race build sleeps for a second when it ends.
	GORACE=${GORACE:-atexit_sleep_ms=10} GOFLAGS=$flags CGO_ENABLED=1 gotest race -race -short $concurrent
	heading "unit tests that the race detector's run left out or sampled"
	remaining=$(testfiles $concurrent | "$log/testsum" $short -remaining "$log/race.json") || note fail remaining-tests
	if [ -n "$remaining" ]; then gotest rest $short -run "${remaining%%$'\n'*}" ${remaining#*$'\n'}; fi
else
	echo "NO C COMPILER: the race detector needs one; unit tests run without it."
	note skip race-tests "the race detector needs cgo and a C compiler"
	gotest rest $short $concurrent
fi

heading "unit tests of packages without concurrency"
# shellcheck disable=SC2086
gotest sequential -tags invariant $short $sequential

heading "unit tests of the other packages"
# shellcheck disable=SC2086
gotest unit $short $others

# The packages below share the programs, except places, which looks for processes by their path.
step programs go build -o "$log/programs/" ./cmd/gvw ./cmd/spanning_tree
[ ! -x "$log/programs/spanning_tree" ] || export GVW_TEST_PROGRAMS=$log/programs
heading "end-to-end tests"
# shellcheck disable=SC2046
gotest e2e $short -count=1 -parallel $((4 * processors)) $(go list ./tests/... | grep -v "^$module/tests/\(hadoop\|hadoop/secure\|kilonode\|places\|places/packages\|rdma\)\$")

[ $tier = all ] || report

heading "250 ranks on this machine"
gotest kilonode -count=1 ./tests/kilonode

hadoop() {
	heading "a real Hadoop, beside the parts above"
	if command -v java >/dev/null && command -v mvn >/dev/null; then
		GVW_HADOOP=1 gotest hadoop -count=1 -parallel 4 ./tests/hadoop ./tests/hadoop/secure
	else
		echo "NO HADOOP: it needs Java 17 and Maven; the tests on it are left out."
		note skip hadoop "a real Hadoop needs Java 17 and Maven (make test-hadoop)"
	fi
}
# The realm of tests/hadoop/secure; without its packages these tests skip. No other part may install packages meanwhile.
! command -v java >/dev/null || scripts/setup-kerberos.sh || true
start hadoop

portable

heading "manifests and images"
(cd tests/containers && gotest containers -count=1 ./...)

heading "other launchers"
if scripts/setup-places.sh; then
	gotest places -count=1 ./tests/places
else
	echo "NO SLURM OR MPI: jobs that they start are left out."
	note skip places "Slurm, Open MPI, MPICH and an SSH server are needed (make setup)"
fi

heading "RDMA, in a guest with two emulated devices"
if scripts/setup-rdma.sh; then
	step vet-rdma env CGO_ENABLED=1 go vet -tags rdma ./allreduce/... ./malt/... ./cmd/... ./tests/rdma/...
	gotest rdma -count=1 ./tests/rdma
else
	echo "NO LIBIBVERBS: what needs its headers is left out."
	note skip rdma "libibverbs-dev and a C compiler are needed (make setup)"
fi

finish hadoop
report
