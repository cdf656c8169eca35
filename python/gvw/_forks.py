# SPDX-License-Identifier: Apache-2.0
"""Pipes to programs that end with this process, also while children that it has forked are alive.

A forked child has copies of all descriptors, and a program sees the end of its input only when
all copies are closed. So each child closes those of the pipes that are made here.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import weakref
from collections.abc import Sequence
from typing import IO, Any

# Held while pipes are made or closed, and while the process forks: a child knows all of their descriptors then.
_lock = threading.RLock()
_ends: weakref.WeakSet[IO[bytes]] = weakref.WeakSet()


def start(words: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program. The arguments are those of Popen, without preexec_fn."""
    with _lock:
        process = subprocess.Popen(words, **options)
        _ends.update(end for end in (process.stdin, process.stdout, process.stderr) if end is not None)
    return process


def pipe() -> tuple[int, IO[bytes]]:
    """Return the reading end of a new pipe, as a descriptor that the caller closes, and the writing end."""
    with _lock:
        reader, writer = os.pipe()
        end = open(writer, "wb", buffering=0)
        _ends.add(end)
    return reader, end


def filled_pipe(data: bytes) -> int:
    """Return the end of a new pipe from which a program reads data, at most a few hundred bytes."""
    with _lock:
        reader, end = pipe()
        end.write(data)
        end.close()
    os.set_inheritable(reader, True)
    return reader


def close(end: IO[bytes]) -> None:
    """Close an end of a pipe."""
    with _lock:
        end.close()


def _close_in_child() -> None:
    try:
        for end in _ends:
            # A buffer is left as it is: its bytes are the parent's, and a thread of the parent may have its lock.
            with contextlib.suppress(OSError):  # EBADF: the program has closed the descriptor itself
                getattr(end, "raw", end).close()
        _ends.clear()
    finally:
        _lock.release()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_close_in_child)
