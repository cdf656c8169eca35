#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# scripts/install.sh PURPOSE PACKAGE… installs Debian packages if someone has agreed
# to that: make setup sets GVW_INSTALL=1, a CI has CI=true. Otherwise it prints what
# is missing and how to install it, and fails. All output goes to stderr.
set -euo pipefail
exec >&2

purpose=$1
shift
mapfile -t need < <(for p in "$@"; do dpkg -s "$p" >/dev/null 2>&1 || echo "$p"; done)
[ ${#need[@]} -gt 0 ] || exit 0
install=(apt-get install -y -q --no-install-recommends "${need[@]}")

if [ "${GVW_INSTALL:-}" != 1 ] && [ "${CI:-}" != true ]; then
	echo "missing: ${need[*]} (for $purpose). Install with: make setup, or as root: ${install[*]}"
	exit 1
fi
command -v apt-get >/dev/null || { echo "missing: ${need[*]} (for $purpose); there is no apt-get here: install them by hand"; exit 1; }
root=(env DEBIAN_FRONTEND=noninteractive)
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || { echo "missing: ${need[*]} (for $purpose). Install as root: ${install[*]}"; exit 1; }
	root=(sudo "${root[@]}")
fi
echo "installing ${need[*]} (for $purpose)"
"${root[@]}" "${install[@]}" || { "${root[@]}" apt-get update -q && "${root[@]}" "${install[@]}"; }
