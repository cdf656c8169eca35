#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Finds MIT's Kerberos server, with which tests start a realm of their own, or installs
# it where that is agreed to (scripts/install.sh). Fails when it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."
PATH=$PATH:/usr/sbin

found() { command -v krb5kdc >/dev/null && command -v kadmin.local >/dev/null && command -v kinit >/dev/null; }

found || scripts/install.sh "an HDFS with Kerberos" krb5-kdc krb5-admin-server krb5-user
found
