#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Finds what a build with -tags rdma needs, libibverbs-dev and a C compiler, and installs it
# where this user may. Fails when it cannot be had.
set -euo pipefail

here() { [ -e /usr/include/infiniband/verbs.h ] && command -v "$(go env CC)" >/dev/null; }

here && exit 0
if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
	echo "setup-rdma: installing libibverbs-dev and gcc" >&2
	export DEBIAN_FRONTEND=noninteractive
	need=(libibverbs-dev gcc libc6-dev)
	apt-get install -y -q --no-install-recommends "${need[@]}" >&2 ||
		{ apt-get update -q >&2 && apt-get install -y -q --no-install-recommends "${need[@]}" >&2; } || true
fi
here || { echo "setup-rdma: no libibverbs-dev, or no C compiler" >&2; exit 1; }
