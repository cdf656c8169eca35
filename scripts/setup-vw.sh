#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Sets up the real vw for the tests that compare with it: a Python virtual
# environment in .venv with the vowpalwabbit wheel, and with scikit-learn, which
# measures predictions, and what the tests of the Python package need. Prints the
# path of its python on stdout, everything else on stderr. Fails when vw cannot be had.
# A .venv that this script has not made is used if it has vw, and is never changed otherwise.
#
#   GVW_PYTHON   the Python to build on (default: the first that works)
set -euo pipefail
cd "$(dirname "$0")/.."

version=9.11.9
venv=$PWD/.venv
mark=$venv/.made-by-setup-vw # only with it may .venv be removed; make clean uses it, too

works() {
	"$1" -c "import importlib.metadata as m; assert m.version('vowpalwabbit') == '$version'; import vowpalwabbit" 2>/dev/null
}

say() { echo "setup-vw: $*" >&2; }

sklearn() {
	"$1" -c "import sklearn, scipy, pandas, pytest, mypy" 2>/dev/null ||
		"$1" -m pip install --quiet --disable-pip-version-check "scikit-learn>=1.6" scipy pandas pytest mypy >&2 ||
		say "no scikit-learn, pandas, pytest or mypy: the comparisons and the Python package's tests are left out"
}

if [ -x "$venv/bin/python" ] && works "$venv/bin/python"; then
	sklearn "$venv/bin/python"
	echo "$venv/bin/python"
	exit 0
fi

if { [ -e "$venv" ] || [ -L "$venv" ]; } && ! [ -e "$mark" ]; then
	say "$venv has no vowpalwabbit $version, and this script has not made it"
	say "what to do: remove $venv, or set GVW_VW_PYTHON to a python that has vowpalwabbit $version"
	exit 1
fi

# A Debian without python3-venv makes no environments; another Python may.
if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
	scripts/install.sh "the comparisons with the real vw" python3 python3-venv || true
fi

for python in ${GVW_PYTHON:-python3 python3.13 python3.12 python3.11 python3.10}; do
	command -v "$python" >/dev/null || continue
	rm -rf "$venv"
	say "trying $("$python" --version 2>&1)"
	mkdir "$venv"
	: >"$mark" # first, so that a later run removes what an interrupted one leaves
	if "$python" -m venv "$venv" >&2 &&
		"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "vowpalwabbit==$version" >&2 &&
		works "$venv/bin/python"; then
		sklearn "$venv/bin/python"
		echo "$venv/bin/python"
		exit 0
	fi
	rm -rf "$venv"
done
say "no Python here can install vowpalwabbit $version"
say "what to do: install Python 3.10 to 3.13 with venv and pip, or set GVW_VW_PYTHON to a python that has it"
exit 1
