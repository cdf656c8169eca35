#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Finds the launchers of make test-places, or installs them where that is agreed to
# (scripts/install.sh). Fails when they cannot be had.
#
#   scripts/setup-places.sh            Debian packages: Slurm, Open MPI, MPICH, ssh, which
#                                      make test-all uses, too
#   scripts/setup-places.sh python     .venv-places with PySpark, Ray and Jupyter (1.2 GB), and
#                                      Debian's PyTorch (150 MB); prints its python
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" != python ]; then
	exec scripts/install.sh "jobs started by other launchers" slurmctld slurmd slurm-client munge openmpi-bin mpich openssh-server openssh-client
fi

packages=("scikit-learn>=1.6" scipy pandas pytest pyspark==4.0.1 pyarrow "ray[data]==2.60.0" nbclient ipykernel ipython)
command -v java >/dev/null || scripts/install.sh "jobs on Spark" default-jre-headless >&2
scripts/install.sh "jobs under torchrun" python3-torch python3-numpy python3-pytest >&2 # that of pip has 5 GB
[ -x .venv-places/bin/python ] || python3 -m venv .venv-places >&2
.venv-places/bin/python -m pip install --quiet --disable-pip-version-check "${packages[@]}" >&2
echo "$PWD/.venv-places/bin/python"
