#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# scripts/install.sh PURPOSE PACKAGE… installs Debian packages if someone has agreed
# to that: make setup sets GVW_INSTALL=1, a CI has CI=true. Otherwise it prints what
# is missing and how to install it, and fails. All output goes to stderr.
#
# scripts/install.sh --unpack DIR PURPOSE PACKAGE unpacks a package into a folder
# instead, so that none of its servers starts.
set -euo pipefail
exec >&2

unpack=
[ "$1" != --unpack ] || { unpack=$2; shift 2; }
purpose=$1
shift
if [ -n "$unpack" ]; then need=("$1"); else mapfile -t need < <(for p in "$@"; do dpkg -s "$p" >/dev/null 2>&1 || echo "$p"; done); fi
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
if [ -n "$unpack" ]; then
	echo "unpacking ${need[*]} (for $purpose)"
	cd "$unpack"
	chmod 755 . # apt downloads as another user
	apt-get download -q "${need[@]}" || { "${root[@]}" apt-get update -q && apt-get download -q "${need[@]}"; }
	dpkg-deb -x ./*.deb .
	exit
fi
echo "installing ${need[*]} (for $purpose)"
"${root[@]}" "${install[@]}" || { "${root[@]}" apt-get update -q && "${root[@]}" "${install[@]}"; }
