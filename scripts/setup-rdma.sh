#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Finds what a build with -tags rdma needs, libibverbs-dev and a C compiler, or installs it
# where that is agreed to (scripts/install.sh). Fails when it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

here() { [ -e /usr/include/infiniband/verbs.h ] && command -v "$(go env CC)" >/dev/null; }

here && exit 0
scripts/install.sh "the build with -tags rdma" libibverbs-dev gcc libc6-dev || exit 1
here || { echo "setup-rdma: no libibverbs-dev, or no C compiler" >&2; exit 1; }
