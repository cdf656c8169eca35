# SPDX-License-Identifier: Apache-2.0
"""Kills a rank that has stopped itself (GVW_FAULT, kind:stop), so that a test does not depend on time."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path


def kill_when_stopped(rank: int, parent: bool = False, after: Callable[[], bool] = lambda: True) -> threading.Thread:
    """Start a thread that kills the stopped process gvw of a rank, or also its parent, when after returns True."""

    def wait() -> None:
        while True:
            found = _stopped(rank)
            if found is not None and after():
                for process in (found[1], found[0]) if parent else (found[0],):
                    os.kill(process, signal.SIGKILL)
                return
            time.sleep(0.05)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def _stopped(rank: int) -> tuple[int, int] | None:
    """Return the stopped process gvw of a rank, and its parent."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
            state, parent = (path.parent / "stat").read_text().rsplit(")", 1)[1].split()[:2]
        except OSError:  # it has ended
            continue
        at = words.index(b"--node") if b"--node" in words else 0
        if state == "T" and words[0].endswith(b"/gvw") and words[at + 1 :][:1] == [str(rank).encode()]:
            return int(path.parent.name), int(parent)
    return None
