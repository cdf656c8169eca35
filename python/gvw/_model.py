# SPDX-License-Identifier: Apache-2.0
"""Reads the weights of a model file of gvw (docs/formats.md)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Weights:
    """The weights of a model as predictions use them, by index, and the range of predictions."""

    indices: npt.NDArray[np.uint32]
    values: npt.NDArray[np.float32]
    low: float
    high: float


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, layout: str) -> tuple[float, ...]:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def text(self) -> str:
        (n,) = self.take("I")
        self.at += int(n)
        return self.data[self.at - int(n) : self.at].rstrip(b"\0").decode("utf-8", "replace")

    def skip_list(self) -> None:
        (n,) = self.take("I")
        self.at += 3 * int(n)


def _state(options: list[str]) -> str:
    """Return the layout of the training state (go doc ./model). Its last two numbers are the pending l1 and l2."""
    models = int(options[options.index("--oaa") + 1]) if "--per_model_save_load" in options else 1
    return f"f{models}ddddfffdddQQ{models}ddQdd"


def _sums(options: list[str]) -> int:
    """Return the number of sums that the state has for each weight, for the update rules of the estimators."""
    rules = [word for word in ("--adaptive", "--normalized", "--sgd", "--invariant") if word in options]
    return sum(word in ("--adaptive", "--normalized") for word in rules) if rules else 2


def read(model: bytes) -> Weights:
    """Read a model of an estimator without options, of up to 2^30 weights."""
    r = _Reader(model)
    r.text()  # version
    r.text()  # id
    _, low, high, _, _ = r.take("cffII")
    r.skip_list()  # n-grams
    r.skip_list()  # skips
    options = r.text().split()
    r.take("II")  # checksum
    sums, gravity, contraction = 0, np.float32(0), np.float32(1)
    if r.take("B") == (1,):
        sums = _sums(options)
        gravity, contraction = map(np.float32, r.take(_state(options))[-2:])
    table = np.frombuffer(model, "<u4", offset=r.at).reshape(-1, 2 + sums)
    values = table[:, 1].copy().view("<f4").astype(np.float32)
    if gravity != 0 or contraction != 1:
        values = np.sign(values) * np.maximum(np.abs(values) - gravity, np.float32(0)) * contraction + np.float32(0)  # no -0
    return Weights(table[:, 0].astype(np.uint32), values, low, high)
