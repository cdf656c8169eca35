#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Finds promtool, with which a test checks the metrics and the alerts, or takes it out of
# Debian's package prometheus to bin/promtool where that is agreed to (scripts/install.sh).
# The package itself would start a server. Fails when promtool cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

! command -v promtool >/dev/null || exit 0
[ ! -x bin/promtool ] || exit 0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
scripts/install.sh --unpack "$dir" "the check of metrics and alerts" prometheus
mkdir -p bin
mv "$dir/usr/bin/promtool" bin/promtool
