# SPDX-License-Identifier: Apache-2.0
"""Tests of gvw.ray on a local cluster of Ray."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import numpy as np
import pytest
import ray
import ray.data
from stopped import kill_when_stopped

import gvw.ray
from gvw import GVWClassifier, GVWRegressor, GVWUsageError

WEIGHTS = np.array([2.0, -1.0, 0.5, 0.0])


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    os.environ |= {"RAY_prestart_worker_first_driver": "0", "RAY_enable_worker_prestart": "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    for attempt in range(5):
        try:
            ray.init(num_cpus=5, include_dashboard=False, _node_ip_address="127.0.0.1", object_store_memory=200 << 20, log_to_driver=False)
            break
        except Exception:  # Ray gives its own processes 30 s to start
            ray.shutdown()
            if attempt == 4:
                raise
    ray.data.DataContext.get_current().enable_progress_bars = False
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    yield
    ray.shutdown()


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(3000, 4)), 2)
    return X, (X @ WEIGHTS > 0).astype(int)


def test_columns_and_tensors():
    X, y = rows()
    table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "d": X[:, 3], "label": X @ WEIGHTS + 1}
    plain = gvw.ray.train(ray.data.from_items([dict(zip(table, row)) for row in zip(*table.values())]), GVWRegressor(solver="bfgs", passes=20))
    np.testing.assert_allclose(plain.coef_, WEIGHTS, atol=1e-2)
    assert list(plain.feature_names_in_) == ["a", "b", "c", "d"]
    tensors = ray.data.from_numpy(X).zip(ray.data.from_items([{"label": "yes" if c else "no"} for c in y]))
    model = gvw.ray.train(tensors, GVWClassifier(passes=5), ranks=3)
    assert list(model.classes_) == ["no", "yes"]
    assert (model.predict(X) == np.where(y, "yes", "no")).mean() > 0.97


def test_killed_actor_is_replaced(caplog, monkeypatch):
    """Its rank gets the state from the others, and the model is that of a job without a loss."""
    X, y = rows()
    lines = [f"{2 * c - 1} | {' '.join(f'{j}:{v}' for j, v in enumerate(x))}" for x, c in zip(X.tolist(), y.tolist())]
    ds = ray.data.from_items([{"text": line} for line in lines]).materialize()
    options = ["--passes", "6", "--holdout_off", "--loss_function", "logistic"]
    want = gvw.ray.train(ds, options=options, ranks=3)
    # Rank 1 stops itself in a later pass, and its actor is killed then.
    monkeypatch.setenv("GVW_FAULT", "rank:1,op:9,kind:stop")
    killer = kill_when_stopped(1, parent=True)
    with caplog.at_level(logging.INFO, "gvw"):
        got = gvw.ray.train(ds, options=options, ranks=3)
    killer.join(timeout=60)
    assert not killer.is_alive()
    assert "rank 1 is lost (its actor has died): attempt 2 follows" in caplog.text
    assert got == want


def test_refused_options_end_the_job():
    with pytest.raises(GVWUsageError, match="--pasess is no option"):
        gvw.ray.train(ray.data.from_items([{"text": "1 | a"}] * 4), options=["--pasess", "3"])
