#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What is too slow for every run: tests behind the build tag "long", builds for all platforms of a
# release and without assembly, whose types make test-portable checks, the README's first commands in
# a fresh clone, and each fuzz target for FUZZTIME (default 30s).
set -uo pipefail
cd "$(dirname "$0")/.." || exit
failed=0
scripts/setup-promtool.sh || true # without it a test is skipped
for target in {linux,darwin,windows}/{amd64,arm64}; do
	echo "== $target"
	GOOS=${target%/*} GOARCH=${target#*/} CGO_ENABLED=0 go build -trimpath ./... || failed=1
done
go build -tags noasm ./... || failed=1
go test -tags long -timeout 60m ./... || failed=1
GVW_HADOOP=1 go test -tags long -count=1 -timeout 60m -v ./tests/hadoop ./tests/hadoop/secure || failed=1
scripts/test-fresh.sh || failed=1
for dir in $(go list -f '{{.Dir}}' ./...); do
	mapfile -t targets < <(grep -hos '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | sed 's/^func //')
	for target in ${targets[@]+"${targets[@]}"}; do
		echo "== $dir $target"
		(cd "$dir" && go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" .) || failed=1
	done
done
exit $failed
