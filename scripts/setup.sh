#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Gets what make test uses: modules and tools, the real vw in .venv, and Debian
# packages, which it installs (as root, or by sudo). It tries everything, and fails
# if something could not be had. Hadoop's tests also take Java 17 and Maven, which
# stay the user's choice.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
export GVW_INSTALL=1
failed=0
scripts/fetch.sh tools || failed=1
scripts/setup-vw.sh || failed=1
scripts/setup-net.sh || failed=1
scripts/setup-rdma.sh || failed=1
scripts/setup-places.sh || failed=1
scripts/setup-arm64.sh || failed=1
scripts/setup-kerberos.sh || failed=1
scripts/install.sh "the guest with RDMA devices" qemu-system-x86 busybox-static ibverbs-providers iproute2 xz-utils || failed=1
scripts/install.sh "the test of the page in a browser" chromium fonts-dejavu-core || failed=1
scripts/install.sh "the tests of completions, the manual and packages" zsh fish mandoc rpm rpmlint || failed=1
scripts/setup-promtool.sh || failed=1
exit $failed
