# SPDX-License-Identifier: Apache-2.0
"""Runs gvw with frames on its standard input."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from gvw import _forks
from gvw._errors import error
from gvw._programs import program


@dataclass(frozen=True)
class Progress:
    """A row of gvw's table of progress.

    `loss` is the average loss so far, over predictions made before learning from them.
    `recent_loss` is the average since the last row, `examples` their number in all passes, and
    `weight` the sum of their importance weights. For L-BFGS a row is a pass: `examples` is the
    number of the pass, and `recent_loss` and `weight` are 0.
    """

    loss: float
    recent_loss: float
    examples: int
    weight: float


Callback = Callable[[Progress], None]

# Runs a program until stdin ends, and then kills it. A line on stdin makes it a SIGTERM, which spanning_tree obeys
# after its last message. A signal ends read, too, so the program does not outlive a group of processes that is
# stopped. The traps precede the program: a signal between it and them would end the shell only.
GUARD = (
    "trap 'kill -9 $!' EXIT; trap exit HUP INT TERM; \"$0\" \"$@\" <&- & "
    "if read -r _; then kill -TERM $!; wait $!; trap - EXIT; fi"
)

_ROW = re.compile(r"^(\S+) +(\S+) +(\d+) +(\d+\.\d+) ")
_PASS = re.compile(r"^ *(\d+) (?:h )?(\d+\.\d+|unknown)\s")


def _progress(line: str) -> Progress | None:
    def number(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return float("nan")

    if row := _ROW.match(line):
        return Progress(number(row[1]), number(row[2]), int(row[3]), float(row[4]))
    if row := _PASS.match(line):
        return Progress(number(row[2]), 0.0, int(row[1]), 0.0)
    return None


def option_words(options: Sequence[str]) -> list[str]:
    """Return options of gvw as words. A string is refused: its characters would be the words."""
    if isinstance(options, (str, bytes)):
        raise TypeError(f"options={options!r}: want a list of words, such as {options.split()!r}")
    return [str(word) for word in options]


def environment() -> dict[str, str]:
    """Return the environment without gvw's options, which a launcher may have set for this process."""
    return {name: value for name, value in os.environ.items() if not name.startswith("GVW_")}


def _write(fd: int, frames: Iterable[list[memoryview]]) -> None:
    for frame in frames:
        done = os.writev(fd, frame) if hasattr(os, "writev") else 0
        for part in frame:
            if done >= len(part):
                done -= len(part)
                continue
            rest, done = part[done:], 0
            while rest:
                rest = rest[os.write(fd, rest) :]


def run(options: Sequence[str], frames: Iterable[list[memoryview]], callbacks: Sequence[Callback] = ()) -> bytes:
    """Run gvw with frames on stdin and return its stdout.

    Callbacks get the rows of the table of progress in this thread. An exception of a callback
    ends the program and is raised. A failure of the program is a GVWError.
    """
    words = ["--csr", *options] if callbacks else ["--csr", *options, "--quiet"]
    return execute(words, frames, environment(), callbacks)[0]


def execute(
    words: Sequence[str],
    chunks: Iterable[list[memoryview]],
    env: dict[str, str],
    callbacks: Sequence[Callback] = (),
    secret: bytes | None = None,
) -> tuple[bytes, str]:
    """Run gvw with chunks on stdin and return its stdout and stderr, the latter without what callbacks got.

    If this process is killed, gvw ends without a result: it does not take the data so far for all.
    `secret` is that of a job.
    """
    alive, mine = _forks.pipe()  # gvw watches this pipe, which ends with this process
    end, confirm = _forks.pipe()  # gets a byte when all data is written
    passed = [alive, end]
    env = env | {"GVW_LAUNCHER_FD": str(alive), "GVW_STDIN_END_FD": str(end)}
    try:
        if secret is not None:
            passed.append(_forks.filled_pipe(secret))
            env["GVW_SECRET_FD"] = str(passed[-1])
        process = _forks.start(
            [program("gvw"), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env,
            bufsize=0,
            pass_fds=passed,
        )
    except BaseException:
        _forks.close(mine)
        _forks.close(confirm)
        raise
    finally:
        for fd in passed:
            os.close(fd)
    try:
        return _converse(process, chunks, callbacks, confirm)
    finally:
        _forks.close(mine)
        _forks.close(confirm)


def _converse(
    process: subprocess.Popen[bytes], chunks: Iterable[list[memoryview]], callbacks: Sequence[Callback], confirm: IO[bytes]
) -> tuple[bytes, str]:
    assert process.stdin and process.stdout and process.stderr
    failure: list[BaseException] = []
    out: list[bytes] = []

    def feed(stdin: IO[bytes]) -> None:
        try:
            with contextlib.suppress(BrokenPipeError):  # its message has the reason
                _enlarge(stdin.fileno())
                _write(stdin.fileno(), chunks)
                confirm.write(b"\n")
        except BaseException as e:
            failure.append(e)
            process.kill()
        finally:
            _forks.close(stdin)

    def collect(stdout: IO[bytes]) -> None:
        with stdout:
            out.append(stdout.read())

    threads = [
        threading.Thread(target=feed, args=(process.stdin,), name="gvw-stdin"),
        threading.Thread(target=collect, args=(process.stdout,), name="gvw-stdout"),
    ]
    for thread in threads:
        thread.start()
    try:
        stderr = "".join(_lines(process.stderr, callbacks))
        process.wait()
    finally:
        process.kill()  # has no effect after wait
        process.wait()
        for thread in threads:
            thread.join()
        process.stderr.close()
    if failure:
        raise failure[0]
    if process.returncode != 0:
        raise error(process.returncode, stderr)
    return b"".join(out), stderr


def _lines(stderr: IO[bytes], callbacks: Sequence[Callback]) -> Iterator[str]:
    with open(stderr.fileno(), encoding="utf-8", errors="replace", closefd=False) as lines:
        for line in lines:
            row = _progress(line) if callbacks else None
            if row is None:
                yield line
            else:
                for callback in callbacks:
                    callback(row)


def _enlarge(fd: int) -> None:
    """Enlarge the buffer of a pipe, so that writer and reader wait for each other less often."""
    try:
        import fcntl

        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, 1 << 20)  # type: ignore[attr-defined, unused-ignore]
    except (ImportError, AttributeError, OSError):
        pass  # the buffer keeps its size
