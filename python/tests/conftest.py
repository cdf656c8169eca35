# SPDX-License-Identifier: Apache-2.0
"""Data for the tests."""

from __future__ import annotations

import socket

import numpy as np
import pytest
from scipy import sparse

Problem = tuple[sparse.csr_matrix, np.ndarray, np.ndarray]


@pytest.fixture(scope="session")
def problem() -> Problem:
    """A CSR matrix of 2,000 rows and 50 columns, labels -1 and 1, and the weights that gave them."""
    rng = np.random.default_rng(7)
    X = sparse.random(2000, 50, 0.3, format="csr", random_state=7)
    w = rng.normal(size=50)
    return X, np.where(X @ w + 0.1 * rng.normal(size=2000) > 0, 1, -1), w


@pytest.fixture
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
