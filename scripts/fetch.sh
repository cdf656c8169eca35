#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Downloads the modules of the programs and of their tests, and with the argument
# tools also those of the tools, so that no later step prints that it downloads.
set -euo pipefail
cd "$(dirname "$0")/.."
go list -deps -test ./... >/dev/null
[ "${1:-}" = tools ] || exit 0
go list -modfile=tools/go.mod -deps tool >/dev/null
(cd tools && go list -test -deps ./... >/dev/null)
(cd tests/containers && go list -test -deps ./... >/dev/null)
