# SPDX-License-Identifier: Apache-2.0
"""Tests of programs that run while this process forks children, as multiprocessing does."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import gvw.allreduce
from gvw import GVWRegressor, _forks

# fork makes a child that lives as long as the process. An alarm ends a process that waits for more.
FORK = """
import os, signal, sys
import numpy as np
import gvw.allreduce
from gvw import _job

signal.alarm(60)
alive, mine = os.pipe()

def fork():
    if os.fork() == 0:
        os.close(mine)
        os.close(1)
        os.close(2)
        os.read(alive, 1)
        os._exit(0)

"""

GROUP = """
with gvw.allreduce.join() as group:
    group.allreduce(np.ones(2))
    fork()
    assert group.allreduce(np.ones(2)).tolist() == [1, 1]
"""

SERVER_OF_TORCHRUN = """
os.environ.update(RANK="0", WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[1])
try:
    with gvw.allreduce.join():
        fork()
        raise InterruptedError
except InterruptedError:
    pass
"""

RANK = """
def rows():
    yield _job.lines(["1 | a"])
    fork()

with _job.serve([], 1, "", "abort", None) as job:
    job.run(0, rows(), True)
"""

SERVER = """
with _job.serve([], 2, "127.0.0.1", "abort", None):
    fork()
"""


@pytest.mark.parametrize("code", [GROUP, SERVER_OF_TORCHRUN, RANK, SERVER], ids=["group", "torchrun", "rank", "server"])
def test_a_program_ends_while_a_child_lives(code, free_port):
    env = {name: value for name, value in os.environ.items() if not name.startswith("GVW_") and name not in ("RANK", "WORLD_SIZE")}
    words = [sys.executable, "-c", FORK + code + "print('ended', flush=True)", str(free_port)]
    process = subprocess.run(words, env=env, capture_output=True, text=True, timeout=120)
    assert (process.returncode, process.stdout) == (0, "ended\n"), process.stderr


def test_a_child_closes_its_copies_only():
    """What the parent's buffer holds is not written twice."""
    with _forks.start(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdin.write(b"once")
        child = os.fork()
        if child == 0:
            os._exit(0 if process.stdin.closed and process.stdout.closed else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        _forks.close(process.stdin)
        assert process.stdout.read() == b"once"


def test_a_child_closes_its_copies_after_an_error():
    """A descriptor that the program has closed itself does not keep the child from closing the others."""
    ends = [_forks.pipe() for _ in range(4)]
    os.close(ends[0][1].fileno())
    child = os.fork()
    if child == 0:
        unlocked = []

        def take():
            unlocked.append(_forks._lock.acquire(timeout=10))

        thread = threading.Thread(target=take)
        thread.start()
        thread.join()
        os._exit(0 if unlocked == [True] and all(end.closed for _, end in ends) else 1)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    for reader, end in ends:
        os.close(reader)
        with contextlib.suppress(OSError):
            _forks.close(end)
    assert status == 0


def test_closed_pipes_are_forgotten():
    with gvw.allreduce.join() as group:
        group.allreduce(np.ones(1))
        assert len(_forks._ends) >= 2
    GVWRegressor().fit(np.ones((4, 1)), np.ones(4))
    del group
    gc.collect()
    assert not [end for end in _forks._ends if end.closed]
