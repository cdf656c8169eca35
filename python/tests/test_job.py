# SPDX-License-Identifier: Apache-2.0
"""Tests of what gvw.spark and gvw.ray share: ranks that get their rows through pipes, and a server beside them."""

from __future__ import annotations

import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gvw import GVWClassifier, GVWDataError, GVWError, _job


def train(job: _job.Job, X, y, columns, attempt: int = 1) -> list[tuple[bytes, str]]:
    def rank(i: int) -> tuple[bytes, str]:
        return job.run(i, columns.chunks(X[i::3], y[i::3], None), False, attempt=attempt)

    with ThreadPoolExecutor(3) as threads:
        return list(threads.map(rank, range(3)))


def test_ranks_train_one_model(problem):
    X, y, _ = problem
    names = np.where(y > 0, "yes", "no")
    copy, options = _job.prepare(GVWClassifier(passes=5), X.shape[1], None, ["yes", "no", "no"])
    columns = _job.Columns(copy, False)
    with _job.serve(options, 3, "127.0.0.1", "abort", None) as job:
        results = train(job, X, names, columns)
    assert [bool(model) for model, _ in results] == [True, False, False]
    model = _job.finish(GVWClassifier(passes=5), copy, results[0][0])
    assert model.score(X, names) > 0.9 and model.coef_.shape == (1, 50)


def test_a_failure_names_its_cause(problem):
    X, y, _ = problem
    columns = _job.Columns(None, False)
    values = y.astype(float)
    values[4] = np.nan
    # A rank that joins after the failure waits for the others: the server has forgotten the job.
    options = ["--passes", "2", "--start_timeout", "20s"]
    with _job.serve(options, 3, "127.0.0.1", "abort", None) as job, ThreadPoolExecutor(3) as threads:
        ranks = [threads.submit(job.run, i, columns.chunks(X[i::3], values[i::3], None), False) for i in range(3)]
        failures = [rank.exception() for rank in ranks]
    found = [failure for failure in failures if isinstance(failure, GVWError)]
    assert isinstance(_job.cause(found), GVWDataError) and "label is not a number" in str(_job.cause(found))


def test_text_and_one_rank():
    with _job.serve(["--passes", "2", "--holdout_off"], 1, "", "abort", None) as job:
        model, log = job.run(0, [_job.lines(["1 | a", "-1 | b"])], True)
    assert len(model) > 50 and "average loss" in log
    with pytest.raises(ValueError, match="has none"), _job.serve([], 1, "", "abort", "state"):
        pass


def test_a_writer_that_fails_leaves_no_model(problem):
    """gvw must not take the rows so far for all of them."""

    def rows():
        yield _job.lines(["1 | a"])
        raise RuntimeError("no more rows")

    with _job.serve([], 1, "", "abort", None) as job, pytest.raises(RuntimeError, match="no more rows"):
        job.run(0, rows(), True)


@pytest.mark.parametrize("end", ["stdin", signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_program_ends_with_its_guard(end):
    words = ["sh", "-c", _job._GUARD, "sh", "-c", "echo runs; exec sleep 60"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as guard:
        assert guard.stdout.readline() == b"runs\n"
        if end == "stdin":
            guard.stdin.close()
        else:
            guard.send_signal(end)
        assert guard.stdout.read() == b"", "the end of stdout, which the program has kept open"
