# SPDX-License-Identifier: Apache-2.0
"""Tests of gvw.allreduce, with processes as a launcher starts them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gvw.allreduce
from gvw._programs import program

LIMIT = 120  # seconds; a run takes two

CALLS = """
import numpy as np
import gvw.allreduce

with gvw.allreduce.join() as group:
    mine = np.array([[1, group.rank], [group.rank ** 2, 7]])
    total = group.allreduce(mine)
    assert total.shape == (2, 2) and total.dtype == np.int64, total
    mean = group.allreduce(mine.astype(np.float32), "avg")
    high = group.allreduce(mine.astype(float), "max")
    words = group.gather(b"r" * group.rank)
    root = group.broadcast(np.full(3, group.rank), 1)
    group.barrier()
    print(total.tolist(), mean.tolist(), high.tolist(), words, root.tolist(), flush=True)
"""

TRAINING = """
import os, signal, sys
import numpy as np
import gvw.allreduce

weights, step = np.zeros(2), 0

def train(group):
    global weights, step
    step, (weights,) = group.newest(step, weights)
    while step < 20:
        if step == 7 and group.rank == 1 and not os.path.exists(sys.argv[1]):
            open(sys.argv[1], "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        weights = weights + group.allreduce(np.array([1.0, step]))
        step += 1
    return weights

print(gvw.allreduce.run(train).tolist(), flush=True)
"""


def launch(words: list[str], env: dict[str, str] | None = None, start_new_session: bool = False) -> subprocess.Popen[str]:
    return subprocess.Popen(words, env=env, start_new_session=start_new_session, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    return out


def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("GVW_") or name in ("RANK", "WORLD_SIZE"):
            monkeypatch.delenv(name)


def test_one_rank(monkeypatch):
    alone(monkeypatch)
    with gvw.allreduce.join() as group:
        v = np.arange(6, dtype=np.float32).reshape(2, 3)
        np.testing.assert_array_equal(group.allreduce(v), v)
        np.testing.assert_array_equal(group.allreduce(v.T), v.T)
        assert group.allreduce(np.zeros((0, 3))).shape == (0, 3)
        assert group.gather(b"x\n\0y") == [b"x\n\0y"]
        assert group.newest(3, v)[0] == 3
        with pytest.raises(TypeError, match="int32"):
            group.allreduce(np.zeros(2, np.int32))
        with pytest.raises(ValueError, match="op='mean'"):
            group.allreduce(v, "mean")


@pytest.mark.parametrize("kind", ["f4", "f8", "i8"])
def test_big_endian_arrays(monkeypatch, kind):
    alone(monkeypatch)
    v = np.arange(6).reshape(2, 3)
    with gvw.allreduce.join() as group:
        for result in group.allreduce(v.astype(">" + kind)), group.broadcast(v.astype(">" + kind)):
            np.testing.assert_array_equal(result, v)
            assert result.dtype == np.dtype("=" + kind) and result.flags.writeable


def test_broadcast_to_another_byte_order(tmp_path: Path, monkeypatch):
    alone(monkeypatch)
    code = """if True:
        import numpy as np
        import gvw.allreduce

        with gvw.allreduce.join() as group:
            mine = np.array([1 + group.rank, 2], "><"[group.rank] + "i8")
            print([group.allreduce(mine).tolist(), *(group.broadcast(mine, root).tolist() for root in (0, 1))])
    """
    words = [program("gvw"), "run", "-n", "2", "--log_dir", str(tmp_path), "--", sys.executable, "-c", code]
    assert ended(launch(words)) == "[[3, 4], [1, 2], [2, 2]]\n"


WANT = "[[3, 3], [5, 21]] [[1.0, 1.0], [1.6666666269302368, 7.0]] [[1.0, 2.0], [4.0, 7.0]] [b'', b'r', b'rr'] [1, 1, 1]\n"


def test_calls_under_gvw_run(tmp_path: Path, monkeypatch):
    alone(monkeypatch)
    words = [program("gvw"), "run", "-n", "3", "--log_dir", str(tmp_path), "--", sys.executable, "-c", CALLS]
    assert ended(launch(words)) == WANT


def test_calls_under_torchrun(free_port, monkeypatch):
    """The variables are those that torchrun sets. Its rank 0 starts the server."""
    alone(monkeypatch)
    ranks = [launch([sys.executable, "-c", CALLS], torchrun(rank, free_port, 1)) for rank in range(3)]
    assert [ended(rank) for rank in ranks] == [WANT] * 3


def torchrun(rank: int, port: int, restarts: int) -> dict[str, str]:
    """The variables of rank 0, 1 or 2."""
    place = {"RANK": str(rank), "WORLD_SIZE": "3", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    return os.environ | place | {"TORCHELASTIC_RESTART_COUNT": str(restarts)}


WAITING = """
import numpy as np
import gvw.allreduce

group = gvw.allreduce.join()
group.allreduce(np.ones(1))
print("joined", flush=True)
if group.rank == 1:
    raise SystemExit(1)
group.allreduce(np.ones(1))
"""


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_restart_by_torchrun(free_port, monkeypatch, end):
    """torchrun stops the groups of processes of all ranks when one has failed, and starts them again at once.

    The new ranks need the port of the old server, and must not meet the old ranks, of which rank 2 is still alive.
    """
    alone(monkeypatch)
    # With this option a lost rank does not end the old job, for which the old server would then stay.
    waits = {"GVW_ON_LOSS": "wait"}
    old = [launch([sys.executable, "-c", WAITING], torchrun(rank, free_port, 0) | waits, start_new_session=True) for rank in range(3)]
    try:
        assert [rank.stdout.readline() for rank in old] == ["joined\n"] * 3
        old[1].wait(timeout=LIMIT)
        os.killpg(old[0].pid, end)
        ranks = [launch([sys.executable, "-c", CALLS], torchrun(rank, free_port, 1)) for rank in range(3)]
        assert [ended(rank) for rank in ranks] == [WANT] * 3
    finally:
        for rank in old:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(rank.pid, signal.SIGKILL)
            rank.communicate(timeout=LIMIT)


def test_the_server_waits_for_its_port(free_port, monkeypatch):
    alone(monkeypatch)
    before = socket.create_server(("", free_port + 1))
    monkeypatch.setattr(gvw.allreduce.time, "sleep", lambda _: before.close())
    for name, value in torchrun(0, free_port, 1).items():
        monkeypatch.setenv(name, value)
    sums = "import numpy, gvw.allreduce\nwith gvw.allreduce.join() as group: print(group.allreduce(numpy.ones(2)).tolist())"
    ranks = [launch([sys.executable, "-c", sums], torchrun(rank, free_port, 1)) for rank in (1, 2)]
    with gvw.allreduce.join() as group:
        assert before.fileno() == -1, "it has not waited"
        assert group.allreduce(np.ones(2)).tolist() == [3, 3]
    assert [ended(rank) for rank in ranks] == ["[3.0, 3.0]\n"] * 2


def test_a_port_in_use_is_an_error(free_port, monkeypatch):
    alone(monkeypatch)
    monkeypatch.setattr(gvw.allreduce, "PORT_LIMIT", 0)
    for name, value in torchrun(0, free_port, 0).items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("", free_port + 1)), pytest.raises(gvw.GVWError, match="choose another MASTER_PORT"):
        gvw.allreduce.join()
    with socket.socket() as server:  # it has ended with rank 0
        assert server.connect_ex(("127.0.0.1", free_port + 1)) != 0


def test_a_killed_rank_is_replaced(tmp_path: Path, monkeypatch):
    """The others wait for its next attempt, and all continue at the step of the loss."""
    alone(monkeypatch)
    words = [program("gvw"), "run", "-n", "3", "--on_loss", "wait", "--log_dir", str(tmp_path), "--"]
    out = ended(launch([*words, sys.executable, "-c", TRAINING, str(tmp_path / "killed")]))
    assert out == "[60.0, 570.0]\n"
    assert (tmp_path / "killed").exists()
