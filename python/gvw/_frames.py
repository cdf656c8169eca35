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


def frames(X: Any, labels: Column | None = None, weights: Column | None = None) -> Iterator[list[memoryview]]:
    """Yield the frames of a CSR matrix or of a two-dimensional array, each as a list of buffers.

    `labels` and `weights` have one number per row. Buffers are views of the arguments where
    their types allow it, so the arguments must not change before the frame is written.
    """
    sparse = not isinstance(X, np.ndarray)
    rows = X.shape[0]
    if sparse:
        starts = X.indptr
        values_per_row = starts[-1] / max(rows, 1)
        index_type, form = ("u1", NARROW) if X.shape[1] <= 1 << 8 else ("<u2", SHORT) if X.shape[1] <= 1 << 16 else ("<u4", 0)
    else:
        values_per_row = X.shape[1]
    at_a_time = max(1, int(FRAME_BYTES / (8 + 8 * values_per_row)))
    flags = (LABELS if labels is not None else 0) | (WEIGHTS if weights is not None else 0)
    for lo in range(0, rows, at_a_time):
        hi = min(lo + at_a_time, rows)
        parts: list[npt.NDArray[Any]] = []
        for column in (labels, weights):
            if column is not None:
                parts.append(column[lo:hi])
        if sparse:
            a, b = int(starts[lo]), int(starts[hi])
            parts.append(np.diff(starts[lo : hi + 1]).astype("<u4"))
            indices = X.indices[a:b]
            parts.append(indices.view("<u4") if form == 0 and indices.dtype == "<i4" else indices.astype(index_type))
            values = X.data[a:b]
            header = struct.pack("<4sIII", b"gvwR", flags | form, hi - lo, b - a)
        else:
            values = X[lo:hi]
            header = struct.pack("<4sIII", b"gvwR", flags | DENSE, hi - lo, X.shape[1])
        with np.errstate(over="ignore"):
            parts.append(np.ascontiguousarray(values, "<f4"))
        if not np.isfinite(parts[-1]).all():
            raise ValueError("a value is not finite, or too large for float32")
        yield [memoryview(header), *(part.reshape(-1).view(np.uint8).data for part in parts if part.size)]

