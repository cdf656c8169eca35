#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Finds ip, tc and nft, with which tests break a network, or installs them where
# that is agreed to (scripts/install.sh). Fails when they cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
	command -v ip >/dev/null && command -v tc >/dev/null || echo iproute2
	command -v nft >/dev/null || echo nftables
}

mapfile -t need < <(missing)
[ ${#need[@]} = 0 ] || scripts/install.sh "jobs over a broken network" "${need[@]}"
[ -z "$(missing)" ]
