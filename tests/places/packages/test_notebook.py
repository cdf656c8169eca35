# SPDX-License-Identifier: Apache-2.0
"""A notebook shows the plot of the loss while fit runs."""

from __future__ import annotations

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


def test_notebook_shows_the_plot():
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    updates = []

    class Client(NotebookClient):
        def process_message(self, msg, cell, cell_index):
            if msg["msg_type"] == "update_display_data":
                updates.append(msg["content"]["data"]["text/html"])
            return super().process_message(msg, cell, cell_index)

    Client(book, timeout=300, kernel_name="python3").execute()
    displays = [out for out in book.cells[0].outputs if out.output_type == "display_data"]
    printed = [out.text for out in book.cells[0].outputs if out.output_type == "stream" and out.name == "stdout"]
    rows = int(printed[0])
    assert len(displays) == 1 and len(updates) == rows - 1 > 5
    assert displays[0].data["text/html"] == updates[-1]  # the last state stays in the notebook
    assert updates[-1].startswith("<svg") and "<polyline" in updates[-1]
    assert displays[0].data["text/plain"].startswith("LossPlot(loss=")
