# SPDX-License-Identifier: Apache-2.0
"""Tests of gvw.spark on a cluster of three executors, each a process of its own."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from pyspark import TaskContext
from pyspark.ml.linalg import Vectors
from pyspark.sql import DataFrame, SparkSession
from stopped import kill_when_stopped

import gvw.spark
from gvw import GVWClassifier, GVWDataError, GVWRegressor, GVWUsageError

WEIGHTS = np.array([2.0, -1.0, 0.5, 0.0])


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of the executors
    builder = SparkSession.builder.master(os.environ.get("SPARK_MASTER", "local-cluster[3,1,1024]")).config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    builder = builder.config("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
    builder = builder.config("spark.python.task.killTimeout", "100ms").config("spark.sql.shuffle.partitions", "3")
    session = builder.getOrCreate()
    yield session
    session.stop()


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(3000, 4)), 2)
    return X, (X @ WEIGHTS > 0).astype(int)


def vectors(spark: SparkSession) -> DataFrame:
    """A DataFrame of dense and sparse vectors in three partitions, and classes that are strings."""
    X, y = rows()
    data = [
        ("yes" if c else "no", Vectors.sparse(4, {j: v for j, v in enumerate(x) if v}) if i % 2 else Vectors.dense(x))
        for i, (x, c) in enumerate(zip(X.tolist(), y.tolist()))
    ]
    return spark.createDataFrame(data, ["label", "features"])


def lines(path: Path) -> str:
    X, y = rows()
    text = "".join(f"{2 * c - 1} | {' '.join(f'{j}:{v}' for j, v in enumerate(x))}\n" for x, c in zip(X.tolist(), y.tolist()))
    path.write_text(text)
    return str(path)


TEXT = ["--passes", "5", "--holdout_off", "--loss_function", "logistic"]


def test_vectors_and_columns(spark):
    X, y = rows()
    model = gvw.spark.train(vectors(spark), GVWClassifier(passes=5))
    assert list(model.classes_) == ["no", "yes"] and model.n_features_in_ == 4
    assert (model.predict(X) == np.where(y, "yes", "no")).mean() > 0.97
    frame = spark.createDataFrame([(float(x @ WEIGHTS + 1), 1.0, *map(float, x)) for x in X], ["y", "w", "a", "b", "c", "d"])
    plain = gvw.spark.train(frame, GVWRegressor(solver="bfgs", passes=20), label="y", weight="w", features=["a", "b", "c", "d"], ranks=2)
    np.testing.assert_allclose(plain.coef_, WEIGHTS, atol=1e-2)
    assert list(plain.feature_names_in_) == ["a", "b", "c", "d"] and abs(plain.intercept_ - 1) < 1e-2


def test_text_and_errors(spark, tmp_path):
    path = lines(tmp_path / "train.vw")
    model = gvw.spark.train(path, options=TEXT)
    assert model == gvw.spark.train(spark.read.text(path), options=TEXT) and len(model) > 100
    with pytest.raises(GVWUsageError, match="--pasess is no option"):
        gvw.spark.train(path, options=["--pasess", "3"])
    (tmp_path / "bad.vw").write_text("1,a,2\n-1,b,3\n" * 20)
    with pytest.raises(GVWDataError, match="--csv"):
        gvw.spark.train(str(tmp_path / "bad.vw"))


def test_killed_executor(spark, tmp_path, caplog):
    """Its partition is read again elsewhere, and the model is that of a job without a loss."""
    killed = str(tmp_path / "killed")

    def kill(batches):
        for batch in batches:
            yield batch
            if not os.path.exists(killed) and TaskContext.get().partitionId() == 1:
                open(killed, "w").close()
                daemon = Path("/proc", str(os.getppid()), "stat").read_text().rsplit(")", 1)[1].split()
                os.kill(int(daemon[1]), signal.SIGKILL)  # the executor, whose daemon starts this process

    text = spark.read.text(lines(tmp_path / "train.vw")).repartition(3)
    want = gvw.spark.train(text.sortWithinPartitions("value"), options=TEXT)
    with caplog.at_level(logging.INFO, "gvw"):
        got = gvw.spark.train(text.sortWithinPartitions("value").mapInArrow(kill, "value string"), options=TEXT)
    assert os.path.exists(killed)
    assert "stage 1 of at most 4 has failed" in caplog.text
    assert got == want


def test_killed_task_continues_from_the_checkpoint(spark, tmp_path, caplog, monkeypatch):
    frame = vectors(spark)
    want = gvw.spark.train(frame, GVWClassifier(passes=12), ranks=2)
    # Rank 1 stops itself in a later pass, and is killed when there is a checkpoint.
    monkeypatch.setenv("GVW_FAULT", "rank:1,op:9,kind:stop")
    killer = kill_when_stopped(1, after=lambda: any(tmp_path.glob("state.r*")))
    with caplog.at_level(logging.INFO, "gvw"):
        got = gvw.spark.train(frame, GVWClassifier(passes=12), ranks=2, checkpoint=str(tmp_path / "state"))
    killer.join(timeout=60)
    assert not killer.is_alive()
    assert "stage 1 of at most 4 has failed: gvw of rank 1 failed with exit code -9" in caplog.text
    assert "going on from a checkpoint" in caplog.text
    assert got.model_ == want.model_
    assert list(tmp_path.iterdir()) == []
