#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Lists the functions that no program of this repository reaches, except those
# that scripts/deadcode.allow permits. It fails if there are any, or if a line of
# that file permits nothing. A function counts as dead only if it is dead with and
# without the tag rdma. The tag is left out without libibverbs-dev.
set -euo pipefail
cd "$(dirname "$0")/.."

module=github.com/gvw-project/gvw
allow=scripts/deadcode.allow
tool=$(go tool -modfile=tools/go.mod -n deadcode)

# dead TAG prints PACKAGE.FUNCTION and its position, sorted. Only the tag rdma needs cgo.
dead() {
	local cgo=0
	[ "$1" != rdma ] || cgo=1
	# shellcheck disable=SC2016
	GOOS=linux CGO_ENABLED=$cgo "$tool" -tags "$1" -f '{{range .Funcs}}{{printf "%s.%s\t%s:%d\n" $.Path .Name .Position.File .Position.Line}}{{end}}' \
		./cmd/... ./bench/... ./quickstart/... ./examples/... ./internal/release | sed "/^\$/d; s|^$module/||" | LC_ALL=C sort
}

tags=("")
if [ -e /usr/include/infiniband/verbs.h ]; then tags+=(rdma); else echo "no libibverbs-dev: the tag rdma is left out" >&2; fi
found=$(for tag in "${tags[@]}"; do dead "$tag" | sed "s|^|$tag\t|"; done)

awk -F '\t' -v tags=${#tags[@]} -v allow="$allow" '
# pattern is the regular expression of a line of the allow list: * is any text without /.
function pattern(s) {
	gsub(/[.()+?^$]/, "\\\\&", s)
	gsub(/\*/, "[^/]*", s)
	return "^" s "$"
}
FILENAME == allow {
	if ($0 ~ /^(#|$)/) next
	if (!match($0, /  +/) || RSTART == 1) { print allow ":" FNR ": want PATTERN  REASON"; bad = 1; next }
	re[FNR] = pattern(substr($0, 1, RSTART - 1))
	next
}
NF { seen[$2]++; place[$2] = $3 }
END {
	for (name in seen) {
		if (seen[name] < tags) continue
		ok = 0
		for (i in re) if (name ~ re[i]) { used[i] = 1; ok = 1 }
		if (!ok) { print place[name] ": no program reaches " name | "sort"; bad = 1 }
	}
	close("sort")
	for (i in re) if (!(i in used)) { print allow ":" i ": permits nothing: remove the line"; bad = 1 }
	exit bad
}' "$allow" - <<<"$found"
