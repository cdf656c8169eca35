#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the commands that README.md names first, or those given as arguments, as a
# newcomer would: in a fresh clone of the last commit, with empty caches of modules
# and builds. GVW_VW_PYTHON saves the download of vw.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
commands=("$@")
[ $# -gt 0 ] || mapfile -t commands < <(sed -n 's/^    \(make [a-z]*\)  *#.*/\1/p' README.md)
[ ${#commands[@]} -gt 0 ] || { echo "README.md names no command"; exit 1; }
fresh=$(mktemp -d "${TMPDIR:-/tmp}/gvw-fresh.XXXXXX") || exit 1
trap 'chmod -R u+w "$fresh"; rm -rf "$fresh"' EXIT
git clone --quiet --local --no-hardlinks . "$fresh/gvw" || exit 1
cd "$fresh/gvw" || exit 1
export GOMODCACHE=$fresh/mod GOCACHE=$fresh/build
failed=0
for command in "${commands[@]}"; do
	echo "== $command, in a fresh clone with empty caches"
	bash -c "$command" || { echo "FAIL: $command"; failed=1; }
done
exit $failed
