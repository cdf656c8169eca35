# SPDX-License-Identifier: Apache-2.0
"""The plots of the live page, which a notebook shows while a job of several ranks runs."""

from __future__ import annotations

import contextlib
import http.client
import http.cookiejar
import json
import sys
import threading
import urllib.parse
import urllib.request
from typing import Any

from gvw._svg import drawing

# State of the page's job: internal/monitor/page/static/job.js reads the same messages.


class JobState:
    """The state of a job, to which messages of the page's stream are applied. Times are milliseconds."""

    def __init__(self) -> None:
        self.number = 0
        self.summary: dict[str, Any] = {}  # of the list of jobs
        self.reset(0)

    def reset(self, ranks: int) -> None:
        self.at = 0
        self.rows: list[list[Any]] = [[] for _ in range(ranks)]
        self.spans: list[list[tuple[int, int]]] = [[] for _ in range(ranks)]  # time and phase
        self.marks: list[list[tuple[int, int]]] = [[] for _ in range(ranks)]  # time and kind
        self.recoveries: list[int] = []
        self.points: list[list[Any]] = []  # time, examples, loss, pass, steps, held-out loss
        self.previous: list[list[Any]] = []
        self.parents: list[int] = []
        self.edges: list[list[int]] = []  # from, to, carrier, within a machine, bytes per second, bytes
        self.times: list[int] = []  # loading, computing, network, waiting

    def apply(self, message: dict[str, Any]) -> None:
        if message.get("full"):
            self.reset(message["total"])
        self.at = message["at"]
        for row in message["rows"]:
            self.rows[row[0]] = row
        for rank, at, phase, _ in message["spans"]:
            self.spans[rank].append((at, phase))
        for rank, at, kind in message["marks"]:
            self.marks[rank].append((at, kind))
        self.recoveries += [event[0] for event in message["events"] if event[1] == 4]
        if "points" in message:
            self.points[message["from"] :] = message["points"]
        if "previous" in message:
            self.previous = message["previous"]["points"]
        self.parents = message.get("parents", self.parents)
        if "traffic" in message:
            self.edges, self.times = message["traffic"]["edges"], message["traffic"]["times"]


class JobPlots:
    """Draws the plots of the live page for a job of several ranks.

        gvw.spark.train(df, GVWClassifier(), plots=gvw.JobPlots())

    The plots are the lanes of the ranks over time, the loss, the time of all ranks by kind, and the
    graph of the ranks with the bytes of its edges. In a notebook they appear below the cell, and
    each message of the page updates them. Elsewhere nothing is shown. `svg` returns the picture,
    and `watch` follows a job that another program has started.
    """

    def __init__(self) -> None:
        self._state = JobState()
        self._display: Any = None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._response: Any = None
        self._stopped = False

    def __repr__(self) -> str:
        s = self._state.summary
        if not s:
            return "JobPlots()"
        return f"JobPlots(job={s['name']!r}, ranks={s['total']}, {s.get('outcome') or s['state']})"

    def _repr_html_(self) -> str:
        return self.svg()

    def svg(self) -> str:
        """Return the picture as an SVG element."""
        return drawing(self._state, repr(self))

    def watch(self, url: str, token: str | None = None) -> JobPlots:
        """Follow the newest job of a page until it has ended.

        `url` is the link that `gvw run --http` or `spanning_tree --http` prints, which works once,
        or the page's address; `token` is that of --http_token_file. An OSError is raised if the
        server ends before the job does.
        """
        self._begin()
        self._follow(url, token, until_end=True)
        return self

    def _begin(self) -> None:
        self._state, self._ended, self._stopped = JobState(), threading.Event(), False
        self._display = None
        if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
            from IPython.display import display

            self._display = display(self, display_id=True)  # type: ignore[no-untyped-call, unused-ignore]

    def _start(self, url: str, token: str) -> None:
        """Follow the jobs of a page in a thread until _stop is called or the page ends."""
        self._begin()
        self._thread = threading.Thread(target=self._follow, args=(url, token), name="gvw-plots", daemon=True)
        self._thread.start()

    def _stop(self) -> None:
        """Wait for the end of the job's plots. The page takes a snapshot every half second."""
        self._ended.wait(timeout=5)
        self._stopped = True
        if self._thread is not None:
            self._thread.join(timeout=5)
            self._thread = None

    def _follow(self, url: str, token: str | None, until_end: bool = False) -> None:
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        )
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        parts = urllib.parse.urlsplit(url)
        if parts.query:
            opener.open(url, timeout=30).close()  # the link gives a cookie
        base = f"{parts.scheme}://{parts.netloc}/events"
        more = True
        while more and not self._stopped:
            try:
                number = self._state.number
                request = urllib.request.Request(f"{base}?job={number}" if number else base, headers=headers)
                with opener.open(request, timeout=30) as stream:
                    # The server ends the stream of a client that reads slowly, which then connects again.
                    with contextlib.suppress(OSError, http.client.HTTPException):
                        more = self._read(stream, until_end)
            except OSError:
                if until_end:
                    raise
                return  # the server has ended

    def _read(self, stream: Any, until_end: bool) -> bool:
        """Read a stream. Report whether to connect again, to this stream or to that of another job."""
        for line in stream:
            if self._stopped:
                return False
            if not line.startswith(b"data: ") or not line.endswith(b"\n"):
                continue  # a line may be cut off with the stream
            message = json.loads(line[6:])
            if message.get("job", {}).get("n") == self._state.number:
                self._state.apply(message["job"])
            jobs = message.get("jobs", [])
            newest = max((job["n"] for job in jobs), default=0)
            if newest > self._state.number:
                self._state.number = newest
                self._ended.clear()
                return True
            for job in jobs:
                if job["n"] == self._state.number:
                    self._state.summary = job
            if self._display is not None and self._state.rows:
                self._display.update(self)
            if self._state.summary.get("ended") and self._state.rows:
                self._ended.set()
                if until_end:
                    return False
        return True
