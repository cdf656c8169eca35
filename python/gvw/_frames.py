# SPDX-License-Identifier: Apache-2.0
"""Binary frames of rows, the input of `gvw --csr` (docs/formats.md)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.float32]

LABELS, WEIGHTS, DENSE, NARROW, SHORT = 1, 2, 4, 8, 16

# A frame of this size and its features fit the cache of a core.
FRAME_BYTES = 64 << 10

# Frames that are made and written together: each call of numpy and of the system has a cost of its own.
TOGETHER = 8


def frames(X: Any, labels: Column | None = None, weights: Column | None = None) -> Iterator[list[memoryview]]:
    """Yield the frames of a CSR matrix or of a two-dimensional array, some at a time, as lists of buffers.

    `labels` and `weights` have one number per row. Buffers are views of the arguments where
    their types allow it, so the arguments must not change before the frames are written.
    """
    sparse = not isinstance(X, np.ndarray)
    rows, width = X.shape
    flags = (LABELS if labels is not None else 0) | (WEIGHTS if weights is not None else 0)
    index_type: Any = "<u4"
    if sparse:
        starts = X.indptr
        values_per_row = starts[-1] / max(rows, 1)
        if width <= 1 << 8:
            index_type, flags = "u1", flags | NARROW
        elif width <= 1 << 16:
            index_type, flags = "<u2", flags | SHORT
    else:
        values_per_row = width
        flags |= DENSE
    at_a_time = max(1, int(FRAME_BYTES / (8 + 8 * values_per_row)))
    columns = [_bytes(column) for column in (labels, weights) if column is not None]
    for lo in range(0, rows, TOGETHER * at_a_time):
        hi = min(lo + TOGETHER * at_a_time, rows)
        # The first row of each frame, and the end of the last one.
        firsts = [*range(lo, hi, at_a_time), hi]
        if sparse:
            ends = starts[firsts].tolist()
            first, last = ends[0], ends[-1]
            counts = _bytes(np.diff(starts[lo : hi + 1]).astype("<u4"))
            indices = X.indices[first:last]
            same = index_type == "<u4" and indices.dtype == "<i4"
            places = _bytes(indices.view("<u4") if same else indices.astype(index_type))
            size = np.dtype(index_type).itemsize
            values = X.data[first:last]
        else:
            values = X[lo:hi]
        numbers = _bytes(_finite(values))
        buffers: list[memoryview] = []
        for i, (a, b) in enumerate(zip(firsts, firsts[1:])):
            n = ends[i + 1] - ends[i] if sparse else width
            buffers.append(memoryview(struct.pack("<4sIII", b"gvwR", flags, b - a, n)))
            buffers += [column[4 * a : 4 * b] for column in columns]
            if sparse:
                u, v = ends[i] - first, ends[i + 1] - first
                buffers += [counts[4 * (a - lo) : 4 * (b - lo)], places[size * u : size * v], numbers[4 * u : 4 * v]]
            else:
                buffers.append(numbers[4 * width * (a - lo) : 4 * width * (b - lo)])
        yield buffers


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array."""
    return array.reshape(-1).view(np.uint8).data


def _finite(values: Any) -> Column:
    """Return values as float32. One that is not finite then is an error."""
    with np.errstate(over="ignore", invalid="ignore"):
        numbers: Column = np.ascontiguousarray(values, "<f4")
        finite = np.isfinite(numbers.sum())  # faster than a look at each, but may overflow
    if not finite and not np.isfinite(numbers).all():
        raise ValueError("a value is not finite, or too large for float32")
    return numbers
