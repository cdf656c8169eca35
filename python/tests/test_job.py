# SPDX-License-Identifier: Apache-2.0
"""Tests of what gvw.spark and gvw.ray share: ranks that get their rows through pipes, and a server beside them."""

from __future__ import annotations

import http.server
import json
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gvw.ray
import gvw.spark
from gvw import GVWClassifier, GVWDataError, GVWError, JobPlots, _job, _svg
from gvw._process import GUARD

NAMES = {"svg": "http://www.w3.org/2000/svg"}


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


def test_plots_have_the_ranks():
    plots = JobPlots()

    def rows():
        """Data that end when the page has shown all ranks, or after a minute."""
        yield _job.lines(["1 | a", "-1 | b"])
        for _ in range(1200):
            if sum(map(bool, plots._state.spans)) == 3:
                return
            time.sleep(0.05)

    with _job.serve(["--holdout_off"], 3, "127.0.0.1", "abort", None, plots) as job, ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda rank: job.run(rank, rows(), True), range(3)))
    assert "ranks=3, finished" in repr(plots)
    picture = ET.fromstring(plots.svg())
    lanes, graph = (picture.findall(path, NAMES) for path in ("svg:g[@class='lanes']/svg:rect", "svg:g[@class='graph']/svg:circle"))
    loading = next(colour for name, colour in _svg._TIMES if name == "loading")
    assert [rect.attrib["fill"] for rect in lanes].count(loading) >= 3
    assert len(graph) == 3


def test_plots_apply_the_messages():
    """The messages have the fields that the package internal/monitor/page documents."""
    plots = JobPlots()
    empty = {"rows": [], "spans": [], "marks": [], "events": [], "waits": []}
    rows = [[0, 3, -1, 0], [1, 0, -1, 0]]
    points = [[100, 10, 0.7, 1, 1, 0.9], [200, 20, 0.5, 2, 2, 0.8]]
    plots._state.apply(empty | {"n": 1, "at": 200, "full": True, "total": 2, "options": "", "rows": rows, "from": 0, "points": points, "parents": [-1, 0]})
    newer = {"spans": [[0, 0, 1, -1], [0, 150, 3, -1]], "marks": [[1, 250, 2]], "events": [[260, 4, 1, "recovering"]], "from": 1, "points": [[300, 30, 0.4, 2, 3, None]]}
    traffic = {"times": [10, 20, 30, 40], "classes": [], "edges": [[0, 1, 0, 1, 2048, 4096], [1, 0, 0, 1, 1024, 4096]]}
    plots._state.apply(empty | newer | {"n": 1, "at": 300, "previous": {"name": "7", "points": points}, "traffic": traffic})
    assert [point[1] for point in plots._state.points] == [10, 30]  # a message replaces the newest point
    picture = ET.fromstring(plots.svg())
    texts = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"✕", "3 KiB/s", "waiting 40 %", "last run", "held-out", "graph of 2 ranks, 1 edge"} <= set(texts)
    assert [len(line.attrib["points"].split()) for line in picture.findall("svg:polyline", NAMES)] == [2, 1, 2]
    lane = [float(rect.attrib["width"]) for rect in picture.findall("svg:g[@class='lanes']/svg:rect", NAMES)]
    times = [float(rect.attrib["width"]) for rect in picture.findall("svg:g[@class='times']/svg:rect", NAMES)]
    assert lane == [280, 280] and times == [56, 112, 168, 224]


class Streams(http.server.BaseHTTPRequestHandler):
    """A server with a stream for each connection, of the messages of the test. It refuses further connections."""

    def do_GET(self):
        if not self.server.streams:
            self.send_error(503)
            return
        stream = self.server.streams.pop(0)
        self.send_response(200)
        self.end_headers()
        if stream is None:  # the connection is cut off
            self.wfile.write(b'data: {"jobs": [')
        for message in stream or []:
            self.wfile.write(f"data: {json.dumps(message)}\n\n".encode())

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("ends", [True, False])
def test_plots_connect_again(ends):
    """A page disconnects a client that reads slowly. That is not the end of the job."""
    job = {"n": 1, "name": "7", "total": 1, "state": "wired"}
    whole = {"rows": [[0, 3, -1, 0]], "spans": [], "marks": [], "events": [], "waits": [], "n": 1, "at": 200, "full": True, "total": 1, "options": "", "parents": [-1]}
    last = [{"jobs": [job | {"ended": 300, "outcome": "finished"}], "job": whole | {"at": 300}}]
    with http.server.HTTPServer(("127.0.0.1", 0), Streams) as server, ThreadPoolExecutor(1) as threads:
        server.streams = [[{"jobs": [job]}], [{"jobs": [job], "job": whole}], None, *([last] if ends else [])]
        threads.submit(server.serve_forever)
        try:
            plots, url = JobPlots(), f"http://127.0.0.1:{server.server_port}"
            if ends:
                plots.watch(url)
            else:
                with pytest.raises(OSError):
                    plots.watch(url)
        finally:
            server.shutdown()
    assert not server.streams and plots._state.at == (300 if ends else 200)


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


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("weight", [-1.0, np.inf, -np.inf, np.nan, 1e39])
def test_weights_are_those_that_fit_takes(problem, weight):
    """gvw would learn nothing from such rows."""
    X, y, _ = problem
    weights = np.ones(len(y))
    weights[3] = weight
    with pytest.raises(ValueError):
        GVWClassifier().fit(X, y, sample_weight=weights)
    columns = _job.Columns(None, True)
    with _job.serve([], 1, "", "abort", None) as job, pytest.raises(ValueError, match=re.escape(f"the weight {weight}, want a finite")):
        job.run(0, columns.chunks(X, y, weights), False)
    weights[3] = 0
    with _job.serve(["--holdout_off"], 1, "", "abort", None) as job:
        assert job.run(0, columns.chunks(X, y, weights), False)[0]


def test_text_and_one_rank():
    with _job.serve(["--passes", "2", "--holdout_off"], 1, "", "abort", None) as job:
        model, log = job.run(0, [_job.lines(["1 | a", "-1 | b"])], True)
    assert len(model) > 50 and "average loss" in log
    with pytest.raises(ValueError, match="has none"), _job.serve([], 1, "", "abort", "state"):
        pass


@pytest.mark.parametrize("train", [gvw.spark.train, gvw.ray.train])
def test_options_are_no_string(train):
    """gvw would take the characters as names of data files, and ignore them."""
    with pytest.raises(TypeError, match="options='--passes 3': want a list of words"):
        train(None, options="--passes 3")


def test_a_writer_that_fails_leaves_no_model(problem):
    """gvw must not take the rows so far for all of them."""

    def rows():
        yield _job.lines(["1 | a"])
        raise RuntimeError("no more rows")

    with _job.serve([], 1, "", "abort", None) as job, pytest.raises(RuntimeError, match="no more rows"):
        job.run(0, rows(), True)


@pytest.mark.parametrize("end", ["stdin", signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_program_ends_with_its_guard(end):
    words = ["sh", "-c", GUARD, "sh", "-c", "echo runs; exec sleep 60"]

    def heed():
        # A shell cannot trap a signal that it ignores from the start, as nohup has it.
        if end != "stdin":
            signal.signal(end, signal.SIG_DFL)

    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=heed) as guard:
        assert guard.stdout.readline() == b"runs\n"
        if end == "stdin":
            guard.stdin.close()
        else:
            guard.send_signal(end)
        assert guard.stdout.read() == b"", "the end of stdout, which the program has kept open"


def test_a_guarded_program_may_end_by_itself():
    """A line makes the guard send SIGTERM, and wait for the end."""
    script = "trap 'echo ends; exit' TERM; echo runs; while :; do sleep 0.05; done"
    with subprocess.Popen(["sh", "-c", GUARD, "sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as guard:
        assert guard.stdout.readline() == b"runs\n"
        guard.stdin.write(b"\n")
        guard.stdin.flush()
        assert guard.stdout.read() == b"ends\n"
        assert guard.wait() == 0
