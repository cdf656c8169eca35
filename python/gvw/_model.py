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

    def skip_text(self) -> None:
        (n,) = self.take("I")
        self.at += int(n)

    def skip_list(self) -> None:
        (n,) = self.take("I")
        self.at += 3 * int(n)


def read(model: bytes) -> Weights:
    """Read a model without training state, as `gvw convert --predict_only` writes it, of up to 2^30 weights."""
    r = _Reader(model)
    r.skip_text()  # version
    r.skip_text()  # id
    _, low, high, _, _ = r.take("cffII")
    r.skip_list()  # n-grams
    r.skip_list()  # skips
    r.skip_text()  # options
    r.take("II")  # checksum
    if r.take("B") != (0,):
        raise ValueError("the model has its training state: want one of gvw convert --predict_only")
    table = np.frombuffer(model, "<u4", offset=r.at).reshape(-1, 2)
    return Weights(table[:, 0].astype(np.uint32), table[:, 1].copy().view("<f4").astype(np.float32), low, high)
