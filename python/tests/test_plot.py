# SPDX-License-Identifier: Apache-2.0
"""Tests of the plot of the loss. tests/places/packages runs it in a notebook."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from gvw import GVWClassifier, LossPlot, Progress

NAMES = {"svg": "http://www.w3.org/2000/svg"}


def curves(plot: LossPlot) -> list[list[tuple[float, float]]]:
    lines = ET.fromstring(plot.svg()).findall("svg:polyline", NAMES)
    return [[tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()] for line in lines]


@pytest.mark.parametrize("solver", ["sgd", "bfgs"])
def test_curves_have_the_rows(problem, solver):
    X, y, _ = problem
    plot = LossPlot("a < b")
    GVWClassifier(solver=solver, passes=5, callbacks=[plot]).fit(X, y)
    drawn = curves(plot)
    assert len(drawn) == (2 if solver == "sgd" else 1)
    for points in drawn:
        assert len(points) == len(plot.rows) > 2
        assert points == sorted(points, key=lambda point: point[0])
    first, last = drawn[-1][0][1], drawn[-1][-1][1]
    assert first < last  # a smaller loss is further down
    assert f"examples={plot.rows[-1].examples}" in repr(plot)


@pytest.mark.parametrize("losses", [(-2.0, -2.0), (0.0, 0.0), (-3.0, 0.0), (-3.0, -1.0), (2.0, 2.0)])
def test_curves_are_within_the_axes(losses):
    """Also if all losses are the same, of any sign."""
    plot = LossPlot()
    for i, loss in enumerate(losses):
        plot(Progress(loss, loss, 1 + i, 1.0))
    for points in curves(plot):
        assert [x for x, _ in points] == [64, 544]
        assert all(14 <= y <= 176 for _, y in points)
        assert (points[0][1] == points[1][1]) == (losses[0] == losses[1])


def test_no_rows():
    assert curves(LossPlot()) == [[], []]
