# SPDX-License-Identifier: Apache-2.0
"""Sums of numpy arrays over the processes of a job.

    import gvw.allreduce

    with gvw.allreduce.join() as group:
        total = group.allreduce(gradient)

`join` finds the job in the environment: that of `gvw run -n 4 -- python3 program.py`, or of
torchrun. Without either the job has one rank. All ranks make the same calls in the same order,
with arrays of the same type and size, and get the same bits. A process `gvw allreduce` moves
the data of each operation, and ends with the group.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from gvw import _forks
from gvw._errors import GVWError, LostError, error
from gvw._process import GUARD
from gvw._programs import program

__all__ = ["Group", "LostError", "join", "run"]

T = TypeVar("T")

OPERATIONS = ("sum", "max", "min", "avg", "weighted_avg", "gather")
DRAIN_LIMIT = 10.0  # seconds until the server of an ended job must have sent its last message
PORT_LIMIT = 30.0  # seconds until the port of the server must be free
_ENDED = re.compile(r"that of rank \d+ ends after")
_TYPES = {"float32": "f32", "float64": "f64", "int64": "i64"}


def _native(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array in the byte order of the machine, in which gvw reads it."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


@functools.cache
def _secret() -> bytes | None:
    """Return the secret of gvw run, whose descriptor can be read once, for the processes of all operations."""
    if "GVW_SECRET_FD" not in os.environ:
        return None
    with open(int(os.environ["GVW_SECRET_FD"]), "rb") as pipe:
        return pipe.read()


class _Operation:
    """A process `gvw allreduce` for one operation and one type of elements."""

    def __init__(self, options: Sequence[str], env: dict[str, str]) -> None:
        self.stderr = tempfile.TemporaryFile()
        secret = _secret()
        if secret is not None:
            env = env | {"GVW_SECRET_FD": str(_forks.filled_pipe(secret))}
        self.process = _forks.start(
            [program("gvw"), "allreduce", "--frames", "--quiet", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.stderr,
            env=env,
            close_fds=False,  # GVW_SECRET_FD and GVW_LAUNCHER_FD of gvw run
        )
        if secret is not None:
            os.close(int(env["GVW_SECRET_FD"]))
        assert self.process.stdin and self.process.stdout
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout

    def write(self, data: memoryview) -> None:
        try:
            self.stdin.write(struct.pack("<Q", data.nbytes))
            self.stdin.write(data)
            self.stdin.flush()
        except BrokenPipeError:
            raise self.failure() from None

    def read(self) -> bytes:
        (size,) = struct.unpack("<Q", self._exactly(8))
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes:
        data = self.stdout.read(size)
        if len(data) < size:
            raise self.failure()
        return data

    def failure(self) -> GVWError:
        try:
            code = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.stderr.seek(0)
        failure = error(code, self.stderr.read().decode("utf-8", "replace"))
        if code == 2 and _ENDED.search(str(failure)):  # a program that is killed closes its input, too
            return LostError(f"{failure}: it has ended without Group.close", code, failure.stderr)
        return failure

    def close(self) -> None:
        """End the input and wait for the other ranks' ends."""
        try:
            _forks.close(self.stdin)
        except BrokenPipeError:
            pass
        self.stdout.read()
        failure = self.failure()
        self.release()
        if failure.code != 0:
            raise failure

    def release(self) -> None:
        """End the process at once. It has no effect after its end."""
        self.process.kill()
        self.process.wait()
        try:
            _forks.close(self.stdin)
        except BrokenPipeError:
            pass
        self.stdout.close()
        self.stderr.close()


class Group:
    """The ranks of a job. `join` makes it. Not for use by several threads at a time."""

    def __init__(self, rank: int, size: int, job: int, env: dict[str, str], server: subprocess.Popen[bytes] | None) -> None:
        self.rank = rank
        self.size = size
        self._job = job
        self._env = env
        self._server = server
        self._operations: dict[str, _Operation] = {}

    def _operation(self, op: str, kind: str) -> _Operation:
        name = f"{op}-{kind}"
        if name not in self._operations:
            number = OPERATIONS.index(op) * 4 + ("f32", "f64", "i64", "text").index(kind)
            options = ["--op", op, "--type", kind]
            if self.size > 1:
                job = (self._job * 32 + number) % 2**64
                options += ["--node", str(self.rank), "--total", str(self.size), "--unique_id", str(job)]
            self._operations[name] = _Operation(options, self._env)
        return self._operations[name]

    def allreduce(self, array: npt.NDArray[Any], op: str = "sum") -> npt.NDArray[Any]:
        """Return the reduction of the arrays of all ranks, in the shape of this rank's array.

        op is sum, max, min or avg. Elements are float32, float64 or int64. CPU tensors of
        torch share memory with numpy: `group.allreduce(tensor.numpy())`.
        """
        if op not in ("sum", "max", "min", "avg"):
            raise ValueError(f"op={op!r}: want sum, max, min or avg")
        array = _native(array)
        kind = _TYPES.get(array.dtype.name)
        if kind is None:
            raise TypeError(f"elements of type {array.dtype}: want float32, float64 or int64")
        operation = self._operation(op, kind)
        operation.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
        return np.frombuffer(bytearray(operation.read()), array.dtype).reshape(array.shape)

    def gather(self, data: bytes) -> list[bytes]:
        """Return the bytes of all ranks, which may differ in length, in the order of the ranks."""
        operation = self._operation("gather", "text")
        operation.write(memoryview(data))
        return [operation.read() for _ in range(self.size)]

    def broadcast(self, array: npt.NDArray[Any], root: int = 0) -> npt.NDArray[Any]:
        """Return the array of the rank root. The others' arrays have its type and shape."""
        array = _native(array)
        parts = self.gather(np.ascontiguousarray(array).tobytes() if self.rank == root else b"")
        return np.frombuffer(bytearray(parts[root]), array.dtype).reshape(array.shape)

    def barrier(self) -> None:
        """Return after all ranks have called it."""
        self.gather(b"")

    def newest(self, step: int, *arrays: npt.NDArray[Any]) -> tuple[int, list[npt.NDArray[Any]]]:
        """Return the greatest step of all ranks and the arrays of the first rank that has it.

        A rank that joins again after a loss continues from there. The arrays of all ranks have
        the same types and shapes.
        """
        steps = [int.from_bytes(data, "little", signed=True) for data in self.gather(step.to_bytes(8, "little", signed=True))]
        root = steps.index(max(steps))
        return steps[root], [self.broadcast(array, root) for array in arrays]

    def close(self) -> None:
        """End the job: return after all ranks have called it. Without it the others take this rank for lost."""
        try:
            for operation in self._operations.values():
                operation.close()
            self._drain()
        finally:
            self._release()

    def _drain(self) -> None:
        """End the server after its last message: the other ranks may not have heard of the end yet."""
        if self._server is None:
            return
        assert self._server.stdin
        try:
            self._server.stdin.write(b"\n")
            self._server.stdin.flush()
            self._server.wait(timeout=DRAIN_LIMIT)
        except BrokenPipeError:
            pass  # it has ended, and so has its shell
        except subprocess.TimeoutExpired:
            self._server.terminate()  # the shell, which then kills it

    def _release(self) -> None:
        for operation in self._operations.values():
            operation.release()
        self._operations = {}
        if self._server is not None:
            assert self._server.stdin
            with contextlib.suppress(BrokenPipeError):
                _forks.close(self._server.stdin)  # its shell then ends it
            self._server.wait()
            self._server = None

    def __enter__(self) -> Group:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._release()


def _start_server(port: int) -> subprocess.Popen[bytes]:
    """Start a server that ends with this process, also if that is killed.

    The port may still be that of the server of an earlier attempt, which a launcher has just stopped.
    """
    until = time.monotonic() + PORT_LIMIT
    while True:
        try:
            socket.create_server(("", port)).close()
            break
        except OSError as e:
            if time.monotonic() > until:
                raise GVWError(f"cannot start a server on the port after MASTER_PORT, {port}: {e}: choose another MASTER_PORT", 5) from None
            time.sleep(0.05)
    words = ["sh", "-c", GUARD, program("spanning_tree"), "--nondaemon", "--port", str(port)]
    return _forks.start(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def join() -> Group:
    """Return the group of this process.

    The variables of `gvw run` (docs/allreduce.md) come first. Those of torchrun are next:
    RANK, WORLD_SIZE and MASTER_ADDR. Its rank 0 starts a server on the port after MASTER_PORT,
    unless GVW_SPAN_SERVER names one. Without either the group has one rank.
    """
    env = dict(os.environ)
    # The server remembers the end of a run by its name, but this job may begin again.
    env.pop("GVW_RUN_ID", None)
    if "GVW_TOTAL" in env:
        return Group(int(env.get("GVW_NODE", "0")), int(env["GVW_TOTAL"]), int(env.get("GVW_UNIQUE_ID", "0")), env, None)
    if "WORLD_SIZE" not in env or env["WORLD_SIZE"] == "1":
        return Group(0, 1, 0, {k: v for k, v in env.items() if not k.startswith("GVW_")}, None)
    rank, size = int(env["RANK"]), int(env["WORLD_SIZE"])
    server = None
    if "GVW_SPAN_SERVER" not in env:
        port = int(env["MASTER_PORT"]) + 1
        env["GVW_SPAN_SERVER"], env["GVW_SPAN_SERVER_PORT"] = env["MASTER_ADDR"], str(port)
        if rank == 0:
            server = _start_server(port)
    # A restarted job of torchrun must not meet ranks of the attempt before it.
    return Group(rank, size, 1 + int(env.get("TORCHELASTIC_RESTART_COUNT", "0")), env, server)


def run(train: Callable[[Group], T], losses: int = 3) -> T:
    """Call train with a group, and again with a new group after each loss of a rank.

    A launcher starts a lost rank again, and the others wait for it (10 minutes). train begins
    with `group.newest`, so that no finished step is repeated.
    """
    for attempt in range(losses + 1):
        try:
            with join() as group:
                return train(group)
        except LostError:
            if attempt == losses:
                raise
    raise AssertionError("not reached")
