# SPDX-License-Identifier: Apache-2.0
"""Trains on the actors of Ray.

    import gvw.ray
    from gvw import GVWClassifier

    model = gvw.ray.train(ds, GVWClassifier(passes=5), label="clicked")
    text = gvw.ray.train(ray.data.read_text("train.vw"), options=["--loss_function", "logistic"])

Each actor of a placement group is a rank: it passes its part of the data set to the program gvw
through a pipe. The ranks find each other through a server in the driver. A lost actor is
replaced; its rank reads its part again and takes the state from the others, which wait for it.
Ray with its data sets is needed, and the wheel of gvw in the Python of all nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gvw import _job
from gvw._errors import GVWError, error
from gvw._live import JobPlots
from gvw._process import option_words

__all__ = ["train"]


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as e:
        raise ImportError(f"gvw.ray needs Ray with its data sets ({e}): pip install 'ray[data]'") from e
    return ray


def train(
    ds: Any,
    estimator: Any = None,
    *,
    ranks: int = 2,
    label: str = "label",
    features: str | Sequence[str] | None = None,
    weight: str | None = None,
    classes: Any = None,
    options: Sequence[str] = (),
    checkpoint: str | None = None,
    max_restarts: int = 3,
    plots: JobPlots | None = None,
    cpus_per_rank: float = 1,
    strategy: str = "PACK",
) -> Any:
    """Train a model on a data set of ray.data.

    Parameters
    ----------
    ds : ray.data.Dataset
        Rows with a label and features, or rows with one column of strings, each a line of vw's
        text. It is materialised, and split into as many parts as ranks.
    estimator : GVWClassifier or GVWRegressor, optional
        Its parameters are used, and a fitted copy is returned. Its callbacks are not called.
    ranks : int
        Number of ranks, each an actor.
    label, weight : str
        Columns with the label and the importance weight of the rows.
    features : str or sequence of str
        A column of tensors, or columns of numbers. Default: all columns except label and weight.
    classes : array
        The classes of a GVWClassifier. Without them Ray reads the labels once more.
    options : sequence of str
        Options of gvw, such as ["--passes", "5"]; with an estimator they belong to it.
    checkpoint : str
        Path that all nodes can write. After each pass rank 0 keeps the state there, for the
        case in which all actors are lost at once.
    plots : gvw.JobPlots
        Shows the plots of the job's live page in a notebook while it runs.
    max_restarts : int
        Number of lost actors that are replaced.
    cpus_per_rank, strategy
        Processors of each bundle of the placement group, and its strategy.

    Returns
    -------
    The fitted copy of the estimator, or the bytes of the model file.
    """
    options = option_words(options)
    ray = _ray()
    schema = ds.schema()
    if schema is None:
        raise ValueError("the data set has no rows")
    names = list(schema.names)
    is_text = len(names) == 1 and "string" in str(schema.types[0])
    copy = None
    if is_text:
        if estimator is not None:
            raise ValueError("estimator: vw's text has no columns: use options, which return the bytes of the model")
        reader: Any = _Lines(names[0])
    else:
        if options and estimator is not None:
            raise ValueError("options: give them to the estimator")
        chosen = [name for name in names if name not in (label, weight)] if features is None else features
        chosen = [chosen] if isinstance(chosen, str) else list(chosen)
        ds = ds.select_columns([label, *([weight] if weight else []), *chosen])
        if estimator is not None:
            if hasattr(estimator, "decision_function"):
                classes = ds.unique(label) if classes is None else classes
            first = ds.take_batch(1, batch_format="numpy")
            width = _matrix(first, chosen).shape[1]
            copy, options = _job.prepare(estimator, width, None if len(chosen) == 1 else chosen, classes)
        reader = _Rows(_job.Columns(copy, weight is not None), label, chosen, weight)
    parts = ds.split(ranks)
    here = ray.get_runtime_context().get_node_id()
    host = next(node["NodeManagerAddress"] for node in ray.nodes() if node["NodeID"] == here)
    bundles = [{"CPU": cpus_per_rank}] * ranks
    group = ray.util.placement_group(bundles, strategy=strategy)
    try:
        ray.get(group.ready())
        with _job.serve(options, ranks, host, "wait" if ranks > 1 else "abort", checkpoint, plots) as job:
            model = _Actors(ray, group, cpus_per_rank, job, reader, is_text, parts).run(max_restarts)
    finally:
        ray.util.remove_placement_group(group)
    return model if estimator is None else _job.finish(estimator, copy, model)


class _Actors:
    """The actors of a job."""

    def __init__(self, ray: Any, group: Any, cpus: float, job: _job.Job, reader: Any, is_text: bool, parts: Sequence[Any]) -> None:
        self.ray, self.group, self.cpus = ray, group, cpus
        self.job, self.reader, self.is_text, self.parts = job, reader, is_text, parts
        self.attempts = [0] * job.ranks
        self.actors: dict[int, Any] = {}

    def start(self, rank: int) -> Any:
        """Start the next attempt of a rank and return its future."""
        place = self.ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy(self.group, placement_group_bundle_index=rank)
        actor = self.ray.remote(_Rank).options(num_cpus=self.cpus, scheduling_strategy=place, max_restarts=0).remote()
        self.actors[rank] = actor
        self.attempts[rank] += 1
        return actor.train.remote(self.job, self.reader, self.is_text, self.parts[rank], rank, self.attempts[rank])

    def run(self, restarts: int) -> bytes:
        """Run all ranks to their ends, and return the model."""
        ray = self.ray
        model, failures = b"", []
        try:
            waiting = {self.start(rank): rank for rank in range(self.job.ranks)}
            while waiting:
                (done,), _ = ray.wait(list(waiting), num_returns=1)
                rank = waiting.pop(done)
                try:
                    code, output, text = ray.get(done)
                    lost = f"exit code {code}"
                except ray.exceptions.RayActorError as e:
                    code, output, text = -9, b"", f"gvw: the actor of rank {rank} has died: {e}"
                    lost = "its actor has died"
                if rank == 0:
                    _job.show(text)
                if code == 0:
                    model = output if rank == 0 else model
                    continue
                failure = error(code, text)
                failures.append(failure)
                if not _job.curable(code) or self.job.ranks == 1 or sum(self.attempts) - self.job.ranks >= restarts:
                    raise _job.cause(failures)
                _job.log.warning("rank %d is lost (%s): attempt %d follows", rank, lost, self.attempts[rank] + 1)
                ray.kill(self.actors[rank])
                waiting[self.start(rank)] = rank
            return model
        finally:
            for actor in self.actors.values():
                ray.kill(actor)


class _Rank:
    """An actor that runs one attempt of a rank."""

    def train(self, job: _job.Job, reader: Any, is_text: bool, part: Any, rank: int, attempt: int) -> tuple[int, bytes, str]:
        chunks = (chunk for batch in part.iter_batches(batch_size=8192, batch_format="numpy") for chunk in reader.read(batch))
        try:
            output, text = job.run(rank, chunks, is_text, attempt=attempt)
        except GVWError as e:
            return e.code, b"", e.stderr or f"gvw: {e}"
        return 0, output, text


class _Lines:
    """Reads a column of lines."""

    def __init__(self, name: str) -> None:
        self.name = name

    def read(self, batch: Any) -> Iterator[list[memoryview]]:
        yield _job.lines(batch[self.name].tolist())


class _Rows:
    """Reads columns of numbers."""

    def __init__(self, columns: _job.Columns, label: str, features: Sequence[str], weight: str | None) -> None:
        self.columns, self.label, self.features, self.weight = columns, label, features, weight

    def read(self, batch: Any) -> Iterator[list[memoryview]]:
        weights = None if self.weight is None else batch[self.weight]
        yield from self.columns.chunks(_matrix(batch, self.features), batch[self.label], weights)


def _matrix(batch: Any, names: Sequence[str]) -> Any:
    """Return columns of numbers or tensors as one array."""
    columns = [np.asarray(batch[name], np.float32) for name in names]
    return np.concatenate([column.reshape(len(column), -1) for column in columns], axis=1)
