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
if [ "${GVW_INSTALL:-}" != 1 ] && [ "${CI:-}" != true ]; then
	echo "missing: promtool (for the check of metrics and alerts). Take it with: make setup" >&2
	exit 1
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
chmod 755 "$dir" # apt downloads as another user
echo "taking promtool out of Debian's package prometheus" >&2
if ! (cd "$dir" && apt-get download -q prometheus >&2); then
	root=()
	[ "$(id -u)" = 0 ] || root=(sudo)
	"${root[@]}" apt-get update -q >&2
	(cd "$dir" && apt-get download -q prometheus >&2)
fi
dpkg-deb --fsys-tarfile "$dir"/prometheus_*.deb | tar -x -C "$dir" ./usr/bin/promtool
mkdir -p bin
mv "$dir/usr/bin/promtool" bin/promtool
