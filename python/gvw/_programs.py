# SPDX-License-Identifier: Apache-2.0
"""Finds the programs of the wheel."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import sysconfig
import threading
from pathlib import Path


_lock = threading.Lock()  # sysconfig is not safe in several threads before its first use has ended


def program(name: str) -> str:
    """Return the path of `gvw` or `spanning_tree`.

    The wheel installs them with the scripts of the environment, of the user or of a `--target`
    directory. PATH comes last.
    """
    with _lock:
        return _find(name)


@functools.cache
def _find(name: str) -> str:
    name += ".exe" if os.name == "nt" else ""
    here = Path(__file__).resolve().parent
    places = [
        Path(sysconfig.get_path("scripts")),
        Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user"))),
        Path(sys.executable).parent,
        here.parent / "bin",  # pip install --target
    ]
    for place in places:
        if os.access(place / name, os.X_OK):
            return str(place / name)
    found = shutil.which(name)
    if found is None:
        searched = ", ".join(str(place) for place in places)
        raise FileNotFoundError(f"no program {name} in {searched} or PATH: install the wheel of gvw again")
    return found
