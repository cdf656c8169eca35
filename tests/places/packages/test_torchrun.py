# SPDX-License-Identifier: Apache-2.0
"""Tests of jobs that torchrun starts: gvw run --join, and gvw.allreduce in Python with a loss."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

from gvw._programs import program

LIMIT = 300  # seconds; importing torch takes most of the time

SUMS = """
import os, signal, sys
import numpy as np
import torch
import gvw.allreduce

weights, step = torch.zeros(2, dtype=torch.float64), 0
saved = sys.argv[1]
if os.path.exists(saved):
    step, weights = torch.load(saved)

def train(group):
    global weights, step
    step, (array,) = group.newest(step, weights.numpy())
    weights = torch.from_numpy(array)
    while step < 20:
        if step == 7 and group.rank == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
            os.kill(os.getpid(), signal.SIGKILL)
        gradient = torch.tensor([1.0, step], dtype=torch.float64)
        weights = weights + torch.from_numpy(group.allreduce(gradient.numpy()))
        step += 1
        if group.rank == 0:
            torch.save((step, weights), saved + ".new")
            os.replace(saved + ".new", saved)
    return weights

weights = gvw.allreduce.run(train, losses=0)
with open(f"{saved}.{os.environ['RANK']}", "w") as out:
    print(weights.tolist(), os.environ["TORCHELASTIC_RESTART_COUNT"], file=out)
"""

BESIDE = """
import sys
import torch
import torch.distributed as dist
import gvw.allreduce

dist.init_process_group("gloo")
with gvw.allreduce.join() as group:
    mine = torch.tensor([1.0, group.rank])
    sums = torch.from_numpy(group.allreduce(mine.numpy()))
    dist.all_reduce(mine)
    assert torch.equal(sums, mine), (sums, mine)
open(f"{sys.argv[1]}.{dist.get_rank()}", "w").close()
dist.destroy_process_group()
"""


def torchrun(*words: str, cwd: Path) -> str:
    port = free_port()
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "3", "--master_addr", "127.0.0.1", "--master_port", str(port)]
    # Debian's torchrun 1.13 has no name for the defaults of these two with Python 3.11.
    launcher += ["--log_dir", str(cwd / "logs"), "--redirects", "1", "--tee", "2"]
    done = subprocess.run([*launcher, *words], cwd=cwd, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def free_port() -> int:
    """A port whose successor is free, too."""
    for _ in range(100):
        with socket.socket() as first, socket.socket() as second:
            first.bind(("127.0.0.1", 0))
            port: int = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port
    raise RuntimeError("no two free ports")


def test_join(tmp_path: Path):
    (tmp_path / "t.vw").write_text("".join(f"{i % 2 * 2 - 1} | a:{i} b{i % 7} c{i % 13}\n" for i in range(3000)))
    options = "-d t.vw --passes 4 -k --cache_file cache --holdout_off --quiet -f".split()
    subprocess.run([program("gvw"), "run", "-n", "3", "--", *options, "want"], cwd=tmp_path, check=True, timeout=LIMIT)
    torchrun("--no_python", program("gvw"), "run", "--join", "--", *options, "model", cwd=tmp_path)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "want").read_bytes()


def test_allreduce_after_a_loss(tmp_path: Path):
    """torchrun starts all ranks again, which continue from the checkpoint of rank 0."""
    (tmp_path / "sums.py").write_text(SUMS)
    torchrun("--max_restarts", "2", "sums.py", "saved", cwd=tmp_path)
    assert [(tmp_path / f"saved.{rank}").read_text() for rank in range(3)] == ["[60.0, 570.0] 1\n"] * 3


def test_beside_a_group_of_torch(tmp_path: Path):
    """It has no loss: Gloo's own start after a restart fails or hangs with PyTorch 2.15.0."""
    (tmp_path / "beside.py").write_text(BESIDE)
    torchrun("beside.py", "done", cwd=tmp_path)
    assert len(list(tmp_path.glob("done.*"))) == 3
