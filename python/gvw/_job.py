# SPDX-License-Identifier: Apache-2.0
"""A job of gvw whose ranks run in the tasks of another system. The server runs in the driver."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gvw import _forks
from gvw._errors import GVWError, error
from gvw._frames import frames
from gvw._live import JobPlots
from gvw._process import GUARD, environment, execute
from gvw._programs import program

log = logging.getLogger("gvw")

_PAGE = re.compile(rb"page (http://[^/ ]+)/")
_SEVERAL_PASSES = ("--passes", "--hybrid", "--bfgs", "--conjugate_gradient")


@dataclass(frozen=True)
class Job:
    """What a rank needs to know of its job. It is sent to the tasks."""

    options: tuple[str, ...]
    ranks: int
    host: str
    port: int
    secret: bytes
    name: str
    on_loss: str
    checkpoint: str | None
    fault: str | None  # GVW_FAULT of the driver

    def run(self, rank: int, chunks: Iterable[list[memoryview]], text: bool, generation: int = 0, attempt: int = 1) -> tuple[bytes, str]:
        """Run a rank in this process. Return the model, which is empty except for rank 0, and the log."""
        words = [*self.options, "--progress_bar", "off"]
        if rank == 0:
            words += ["--final_regressor", "stdout"]
        env = environment()
        if self.fault is not None:
            env |= {"GVW_FAULT": self.fault, "GVW_ATTEMPT": str(attempt)}
        if self.ranks > 1:
            words += ["--span_server", self.host, "--span_server_port", str(self.port), "--run_id", self.name]
            words += ["--unique_id", str(int(self.name[-15:], 16)), "--total", str(self.ranks), "--node", str(rank)]
            words += ["--generation", str(generation), "--on_loss", self.on_loss, "--run_dir", "-"]
            if self.checkpoint is not None:
                words += ["--checkpoint", self.checkpoint]
        with tempfile.TemporaryDirectory(prefix="gvw-") as scratch:
            if not text:
                words.append("--csr")
            elif any(word.split("=")[0] in _SEVERAL_PASSES for word in self.options):
                words += ["--cache_file", str(Path(scratch, "cache"))]
            return execute(words, chunks, env, secret=self.secret if self.ranks > 1 else None)


@contextlib.contextmanager
def serve(
    options: Sequence[str], ranks: int, host: str, on_loss: str, checkpoint: str | None, plots: JobPlots | None = None
) -> Iterator[Job]:
    """Start a server in this process's machine, which ends with the block or with this process.

    Its live page is served on the loopback interface for `plots`.
    """
    secret = secrets.token_hex(32).encode()
    name = "py-" + secrets.token_hex(12)
    fault = os.environ.get("GVW_FAULT")
    if ranks == 1:
        if checkpoint is not None:
            raise ValueError("checkpoint: a job of one rank has none")
        if plots is not None:
            raise ValueError("plots: a job of one rank has none: use the callback gvw.LossPlot")
        yield Job(tuple(options), 1, "", 0, b"", name, on_loss, None, None)
        return
    with tempfile.TemporaryDirectory(prefix="gvw-") as scratch, tempfile.TemporaryFile() as stderr:
        file = Path(scratch, "secret")
        file.touch(0o600)
        file.write_bytes(secret)
        token = Path(scratch, "token")
        token.touch(0o600)
        token.write_text(secrets.token_hex(32))
        words = [program("spanning_tree"), "--nondaemon", "--port", "0", "--secret_file", str(file)]
        if host in ("127.0.0.1", "localhost", "::1"):
            words += ["--bind", host]
        if plots is not None:
            words += ["--http", "127.0.0.1:0", "--http_token_file", str(token)]
        server = _forks.start(
            ["sh", "-c", GUARD, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment(),
        )
        assert server.stdin and server.stdout
        try:
            port = server.stdout.readline().strip()
            if not port:
                stderr.seek(0)
                raise error(5, stderr.read().decode("utf-8", "replace"))
            if plots is not None:
                # The page's address precedes the port. The server shares the position in the file.
                found = _PAGE.search(os.pread(stderr.fileno(), 1 << 16, 0))
                if found is None:
                    raise GVWError("the server has printed no address of its page", 5)
                plots._start(found[1].decode(), token.read_text())
            yield Job(tuple(options), ranks, host, int(port), secret, name, on_loss, checkpoint, fault)
            if plots is not None:
                plots._stop()
        finally:
            _forks.close(server.stdin)
            server.wait()
            server.stdout.close()


def curable(code: int) -> bool:
    """Report whether another attempt may succeed: a rank was lost, or was killed by a signal."""
    return code in (3, 4) or code < 0 or code > 128


def cause(failures: Sequence[GVWError]) -> GVWError:
    """Return the failure that led to the others: one that is no loss of another rank, if there is one."""
    return min(failures, key=lambda e: (curable(e.code), e.code in (3, 4)))


def show(text: str) -> None:
    """Log the lines of a rank."""
    for line in text.splitlines():
        log.info("%s", line)


class Columns:
    """Columns of a table as examples. It is sent to the tasks."""

    def __init__(self, estimator: Any, weight: bool) -> None:
        self.estimator = estimator
        self.weight = weight

    def chunks(self, X: Any, labels: npt.NDArray[Any], weights: npt.NDArray[Any] | None) -> Iterator[list[memoryview]]:
        """Yield the frames of rows."""
        if self.estimator is not None and hasattr(self.estimator, "classes_"):
            labels = self.estimator._labels(labels)
        yield from frames(X, labels.astype(np.float32), None if weights is None else _weights(weights))


def _weights(numbers: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Return weights as float32. gvw would learn nothing from those that are refused here."""
    with np.errstate(over="ignore"):
        weights: npt.NDArray[np.float32] = numbers.astype(np.float32)
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise ValueError(f"a row has the weight {numbers[wrong][0]}, want a finite float32 of at least 0: leave such rows out")
    return weights


def lines(texts: Iterable[str]) -> list[memoryview]:
    """Return lines of text as one chunk."""
    text = "\n".join(texts)
    return [memoryview((text + "\n").encode())] if text else []


def prepare(estimator: Any, features: int, names: Sequence[str] | None, classes: Any) -> tuple[Any, list[str]]:
    """Return an unfitted copy of an estimator that knows the columns and classes, and the options of its training."""
    from sklearn.base import clone

    copy = clone(estimator).set_params(callbacks=())
    copy.n_features_in_ = features
    if names is not None:
        copy.feature_names_in_ = np.array(names, object)
    if classes is not None:
        copy.classes_ = np.unique(np.asarray(classes))
        if len(copy.classes_) < 2:
            raise ValueError("the labels have one class: want at least two classes")
    return copy, copy._training(False)


def finish(estimator: Any, copy: Any, model: bytes) -> Any:
    """Give the copy its model, and the callbacks of the estimator."""
    copy.set_params(callbacks=estimator.callbacks)
    copy._adopt(model)
    return copy


__all__ = ["Columns", "GVWError", "Job", "cause", "curable", "finish", "lines", "log", "prepare", "serve", "show"]
