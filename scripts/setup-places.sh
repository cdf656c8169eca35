#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Finds the launchers of make test-places, or installs them where that is agreed to
# (scripts/install.sh). Fails when they cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

exec scripts/install.sh "jobs started by other launchers" slurmctld slurmd slurm-client munge openmpi-bin mpich openssh-server openssh-client
