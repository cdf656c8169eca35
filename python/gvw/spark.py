# SPDX-License-Identifier: Apache-2.0
"""Trains on the executors of Spark.

    import gvw.spark
    from gvw import GVWClassifier

    model = gvw.spark.train(df, GVWClassifier(passes=5), label="clicked", features="features")
    text = gvw.spark.train("hdfs://…/train.vw", options=["--loss_function", "logistic"])

Each task of a barrier stage is a rank: it passes the rows of its partition to the program gvw
through a pipe. The ranks find each other through a server in the driver. PySpark 3.5 or later
and PyArrow are needed, and the wheel of gvw in the Python of the executors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gvw import _job
from gvw._errors import GVWError, error
from gvw._live import JobPlots
from gvw._process import option_words

__all__ = ["train"]

_FAILED = re.compile(r"gvw of rank (\d+) failed with exit code (-?\d+): ([^\n]*)")
_SCHEMA = "rank int, code int, output binary, log string"


def _pyspark() -> Any:
    try:
        import pyarrow  # noqa: F401
        import pyspark.sql
    except ImportError as e:
        raise ImportError(f"gvw.spark needs PySpark and PyArrow ({e}): pip install 'pyspark>=3.5' pyarrow") from e
    return pyspark.sql


def train(
    data: Any,
    estimator: Any = None,
    *,
    ranks: int | None = None,
    label: str = "label",
    features: str | Sequence[str] | None = None,
    weight: str | None = None,
    classes: Any = None,
    options: Sequence[str] = (),
    checkpoint: str | None = None,
    max_restarts: int = 3,
    plots: JobPlots | None = None,
    spark: Any = None,
) -> Any:
    """Train a model on a DataFrame or on files of vw's text.

    Parameters
    ----------
    data : DataFrame or str
        Rows with a label and features, or rows with one column of strings, each a line of vw's
        text. A str is a path that Spark reads as text.
    estimator : GVWClassifier or GVWRegressor, optional
        Its parameters are used, and a fitted copy is returned. Its callbacks are not called.
    ranks : int
        Number of ranks, each a task of the stage. Default: spark.default.parallelism.
    label, weight : str
        Columns with the label and the importance weight of the rows.
    features : str or sequence of str
        A column of vectors of pyspark.ml, or columns of numbers. Default: "features" if there
        is such a column, otherwise all columns except label and weight.
    classes : array
        The classes of a GVWClassifier. Without them Spark reads the labels once more.
    options : sequence of str
        Options of gvw, such as ["--passes", "5"]; with an estimator they belong to it.
    checkpoint : str
        Path that all executors can write. After each pass rank 0 keeps the state there, and a
        stage that is repeated continues from it. Without it the training starts again.
    plots : gvw.JobPlots
        Shows the plots of the job's live page in a notebook while it runs.
    max_restarts : int
        The number of times that a stage with a lost task is repeated.
    spark : SparkSession
        Session that reads a path. Default: the active one.

    Returns
    -------
    The fitted copy of the estimator, or the bytes of the model file.
    """
    options = option_words(options)
    sql = _pyspark()
    if isinstance(data, str):
        session = spark or sql.SparkSession.builder.getOrCreate()
        data = session.read.text(data)
    session = data.sparkSession
    ranks = ranks or session.sparkContext.defaultParallelism
    is_text = [kind for _, kind in data.dtypes] == ["string"]
    read: Callable[[Any], Iterator[list[memoryview]]]
    copy = None
    if is_text:
        if estimator is not None:
            raise ValueError("estimator: vw's text has no columns: use options, which return the bytes of the model")
        read = _text
    else:
        if options and estimator is not None:
            raise ValueError("options: give them to the estimator")
        data, names, width = _select(sql, data, label, features, weight)
        if estimator is not None:
            if hasattr(estimator, "predict_proba") or hasattr(estimator, "decision_function"):
                classes = [row[0] for row in data.select("label").distinct().collect()] if classes is None else classes
            copy, options = _job.prepare(estimator, width, names, classes)
        read = _Rows(_job.Columns(copy, weight is not None), width).read
    table = _divide(sql, data, ranks)
    host = session.sparkContext.getConf().get("spark.driver.host", "127.0.0.1")
    on_loss = "abort" if checkpoint is None else "wait"
    with _job.serve(options, ranks, host, on_loss, checkpoint, plots) as job:
        model = _attempts(table, job, read, is_text, max_restarts)
    return model if estimator is None else _job.finish(estimator, copy, model)


def _attempts(table: Any, job: _job.Job, read: Any, is_text: bool, max_restarts: int) -> bytes:
    for attempt in range(max_restarts + 1):
        stage = table.mapInArrow(_rank(job, read, is_text, attempt), _SCHEMA, barrier=True)
        try:
            rows = stage.collect()
        except Exception as e:
            found = _FAILED.search(str(e))
            if found is None and "Traceback" in str(e) and "worker exited unexpectedly" not in str(e):
                raise  # an error of a Python function that makes the rows
            if found is not None and not _job.curable(int(found[2])):
                raise error(int(found[2]), f"gvw: {found[3]}") from None
            if attempt == max_restarts:
                raise
            _job.log.warning("stage %d of at most %d has failed: %s", attempt + 1, max_restarts + 1, found[0] if found else str(e)[:300])
            continue
        if len(rows) != job.ranks:
            raise RuntimeError(f"the stage had {len(rows)} partitions, want {job.ranks}: repartition the DataFrame before")
        for row in sorted(rows):
            if row.rank == 0:
                _job.show(row.log)
        failures = [error(row.code, row.log) for row in rows if row.code != 0]
        if not failures:
            return bytes(next(row.output for row in rows if row.rank == 0))
        failure = _job.cause(failures)
        if not _job.curable(failure.code) or attempt == max_restarts:
            raise failure
        _job.log.warning("stage %d of at most %d has failed: %s", attempt + 1, max_restarts + 1, failure)
    raise AssertionError("not reached")


def _rank(job: _job.Job, read: Any, is_text: bool, attempt: int) -> Any:
    """Return the function of the tasks: it runs a rank on its partition."""

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import BarrierTaskContext

        rank = BarrierTaskContext.get().partitionId()
        code, output, text = 0, b"", ""
        try:
            chunks = (chunk for batch in batches for chunk in read(batch))
            # A stage starts all ranks again: another generation. A job of one rank has attempts only.
            output, text = job.run(rank, chunks, is_text, generation=attempt, attempt=attempt + 1 if job.ranks == 1 else 1)
        except GVWError as e:
            if job.on_loss == "wait":  # the other ranks wait for this one: its failure ends the stage
                raise RuntimeError(f"gvw of rank {rank} failed with exit code {e.code}: {e}") from None
            code, text = e.code, e.stderr or f"gvw: {e}"
        columns = [[rank], [code], [output], [text]]
        types = [pa.int32(), pa.int32(), pa.binary(), pa.string()]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types)]
        yield pa.RecordBatch.from_arrays(arrays, names=["rank", "code", "output", "log"])

    return run


def _text(batch: Any) -> Iterator[list[memoryview]]:
    column = batch.column(batch.num_columns - 1)
    yield _job.lines(line for line in column.to_pylist() if line is not None)


class _Rows:
    """Reads the columns label, weight and features of Arrow batches."""

    def __init__(self, columns: _job.Columns, width: int) -> None:
        self.columns = columns
        self.width = width

    def read(self, batch: Any) -> Iterator[list[memoryview]]:
        def numbers(name: str) -> Any:
            return batch.column(name).to_numpy(zero_copy_only=False)

        names = [name for name in batch.schema.names if name.startswith("x")]
        if names == ["x"]:
            X = _matrix(batch.column("x"), self.width)
        else:
            X = np.column_stack([numbers(name).astype(np.float32) for name in names])
        yield from self.columns.chunks(X, numbers("label"), numbers("weight") if self.columns.weight else None)


def _matrix(vectors: Any, width: int) -> Any:
    """Return vectors of pyspark.ml as an array if all are dense, and as a CSR matrix otherwise."""
    from scipy import sparse

    values = vectors.field("values")
    counts = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    is_sparse = vectors.field("type").to_numpy(zero_copy_only=False) == 0
    starts = np.concatenate([[0], np.cumsum(counts)])
    data = values.flatten().to_numpy(zero_copy_only=False)
    wrong = ~is_sparse & (counts != width)
    if wrong.any():
        raise ValueError(f"a vector has {counts[wrong][0]} elements, want {width} as the first one")
    if not is_sparse.any():
        return data.reshape(-1, width)
    indices = np.arange(len(data), dtype=np.int64) - np.repeat(starts[:-1], counts)
    indices[np.repeat(is_sparse, counts)] = vectors.field("indices").flatten().to_numpy(zero_copy_only=False)
    if indices.size and indices.max() >= width:
        raise ValueError(f"a vector has an element {indices.max()}, want at most {width - 1} as the first one")
    return sparse.csr_matrix((data, indices.astype(np.int32), starts), shape=(len(counts), width))


def _select(sql: Any, data: Any, label: str, features: Any, weight: str | None) -> tuple[Any, list[str] | None, int]:
    """Return the columns that tasks read, the names of the columns of features, and their number."""
    f = sql.functions
    if features is None:
        features = "features" if "features" in data.columns else [name for name in data.columns if name not in (label, weight)]
    kept = [f.col(f"`{label}`").alias("label")]
    if weight is not None:
        kept.append(f.col(f"`{weight}`").cast("float").alias("weight"))
    if not isinstance(features, str):
        columns = [f.col(f"`{name}`").cast("float").alias(f"x{i}") for i, name in enumerate(features)]
        return data.select(*kept, *columns), list(features), len(features)
    data = data.select(*kept, f.unwrap_udt(f.col(f"`{features}`")).alias("x"))
    first = data.select("x").first()
    if first is None:
        raise ValueError("the DataFrame has no rows")
    return data, None, first.x.size if first.x.type == 0 else len(first.x.values)


def _divide(sql: Any, data: Any, ranks: int) -> Any:
    """Return the rows in as many partitions as ranks, in an order that is the same when they are made again."""
    if data.rdd.getNumPartitions() == ranks:
        return data
    order = sql.functions.monotonically_increasing_id().alias("order")
    return data.select(order, *data.columns).repartition(ranks).sortWithinPartitions("order")
