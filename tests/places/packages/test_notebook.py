# SPDX-License-Identifier: Apache-2.0
"""A notebook shows the plot of the loss while fit runs, and the plots of a job's live page."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

CELL = """
import numpy as np
from gvw import GVWClassifier, LossPlot

X = np.random.default_rng(1).normal(size=(500, 5))
plot = LossPlot()
shown = []
GVWClassifier(passes=3, callbacks=[plot, lambda row: shown.append(plot._handle is not None)]).fit(X, X[:, 0] > 0)
assert all(shown)
print(len(plot.rows))
"""

JOB = """
import re, subprocess, threading, time
from pathlib import Path
import gvw
from gvw._programs import program

plots = gvw.JobPlots()

def wait():
    while sum(map(bool, plots._state.spans)) < 3:
        time.sleep(0.05)
    Path("shown").touch()

# Each rank reads its data from a pipe, which stays open until the plots have all ranks.
threading.Thread(target=wait, daemon=True).start()
rank = "(echo '1 | a'; until [ -e shown ]; do sleep 0.1; done) | exec $0 --quiet"
words = [program("gvw"), "run", "-n", "3", "--http", "--", "sh", "-c", rank, program("gvw")]
with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as job:
    link = next(found[0] for line in job.stderr if (found := re.search("http://[^ ]*", line)))
    plots.watch(link)
    job.stderr.read()
print(job.returncode, plots)
"""


def execute(source: str, cwd: Path) -> tuple[nbformat.NotebookNode, list[str]]:
    """Execute a cell. Return it, and the HTML of all updates of its displays."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    updates = []

    class Client(NotebookClient):
        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] == "update_display_data":
                updates.append(msg["content"]["data"]["text/html"])
            return super().process_message(msg, cell, cell_index)

    Client(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(cwd)}}).execute()
    return book.cells[0], updates


def printed(cell: nbformat.NotebookNode) -> str:
    return "".join(out.text for out in cell.outputs if out.output_type == "stream" and out.name == "stdout")


def test_notebook_shows_the_plot(tmp_path: Path):
    cell, updates = execute(CELL, tmp_path)
    displays = [out for out in cell.outputs if out.output_type == "display_data"]
    rows = int(printed(cell))
    assert len(displays) == 1 and len(updates) == rows - 1 > 5
    assert displays[0].data["text/html"] == updates[-1]  # the last state stays in the notebook
    assert updates[-1].startswith("<svg") and "<polyline" in updates[-1]
    assert displays[0].data["text/plain"].startswith("LossPlot(loss=")


def test_notebook_shows_the_plots_of_the_page(tmp_path: Path):
    cell, updates = execute(JOB, tmp_path)
    displays = [out for out in cell.outputs if out.output_type == "display_data"]
    assert printed(cell).startswith("0 JobPlots(job=") and "ranks=3" in printed(cell)
    assert len(displays) == 1 and displays[0].data["text/html"] == updates[-1]
    for part in ("ranks over time", "loss, average over the ranks", "time of all ranks", "graph of 3 ranks"):
        assert part in updates[-1]
