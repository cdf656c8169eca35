#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the program that runs the tests built for Linux on arm64: an emulator, which it
# installs where that is agreed to (scripts/install.sh), or on arm64 itself env. Fails
# when no emulator can be had.
set -euo pipefail
cd "$(dirname "$0")/.."

emulator() {
	case $(go env GOHOSTOS)/$(go env GOHOSTARCH) in
	linux/arm64) echo env ;;
	linux/*) command -v qemu-aarch64 || command -v qemu-aarch64-static ;;
	*) return 1 ;;
	esac
}

emulator && exit 0
scripts/install.sh "the tests on arm64" qemu-user || exit 1
emulator
