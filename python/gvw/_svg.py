# SPDX-License-Identifier: Apache-2.0
"""Draws the plots of the live page as SVG: lanes, loss, time and graph. Colours are those of the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gvw._live import JobState

WIDTH, LEFT, RIGHT = 640, 64, 16
LANE, MOST_LANES = 18, 32
CURVE, GRAPH = 180, 180
PHASES = ("absent", "loading", "ready", "computing", "exchanging", "waiting", "complete", "removed")
_COLOURS = ("#b9c0c7", "#8f9aa5", "#cc79a7", "#0072b2", "#56b4e9", "#e69f00", "#009e73", "#b9c0c7")
_HEIGHTS = (0, 0.55, 0.3, 1, 0.75, 0.3, 1, 0)
_TIMES = (("loading", "#8f9aa5"), ("computing", "#0072b2"), ("network", "#56b4e9"), ("waiting", "#e69f00"))
_LOST, _INK, _QUIET, _LINE = "#c03a00", "#1c2126", "#59636e", "#dde1e5"


def drawing(job: JobState, title: str) -> str:
    """Return the plots of a job, one below the other."""
    parts: list[str] = []
    y = 14.0
    for draw in (_lanes, _curve, _times, _graph):
        y = draw(parts, job, y) + 22
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y:.0f}" viewBox="0 0 {WIDTH} {y:.0f}" '
        'font-family="sans-serif" font-size="12" role="img" style="background:#fff">'
    )
    return f"{head}<title>{_escape(title)}</title>{''.join(parts)}</svg>"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text(x: float, y: float, text: str, anchor: str = "start", colour: str = _QUIET) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{_escape(text)}</text>'


def _rect(x: float, y: float, width: float, height: float, colour: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width:.1f}"/>'


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.3g} s"


def _lanes(parts: list[str], job: JobState, y: float) -> float:
    """Draw the phases of each rank over time, with its losses and new attempts, and the recoveries of the job."""
    parts.append(_text(LEFT, y, "ranks over time", colour=_INK))
    y += 8
    room, end = WIDTH - LEFT - RIGHT, max(job.at, 1)
    shown = min(len(job.spans), MOST_LANES)
    parts.append('<g class="lanes">')
    for rank in range(shown):
        bottom = y + (rank + 1) * LANE - 4
        parts.append(_text(LEFT - 6, bottom - 2, str(rank), "end"))
        parts.append(_line(LEFT, bottom, WIDTH - RIGHT, bottom, _LINE))
        lane = job.spans[rank]
        for i, (at, phase) in enumerate(lane):
            until = min(lane[i + 1][0] if i + 1 < len(lane) else end, end)
            height = _HEIGHTS[phase] * (LANE - 6)
            if height and until > at:
                parts.append(_rect(LEFT + room * at / end, bottom - height, room * (until - at) / end, height, _COLOURS[phase]))
        for at, kind in job.marks[rank]:
            parts.append(_text(LEFT + room * at / end, bottom - 1, "▲" if kind == 1 else "✕", "middle", _INK if kind == 1 else _LOST))
    for at in job.recoveries:
        parts.append(_line(LEFT + room * at / end, y, LEFT + room * at / end, y + shown * LANE, _INK))
    parts.append("</g>")
    y += shown * LANE + 12
    parts.append(_text(LEFT, y, "0"))
    more = f"{len(job.spans) - shown} further ranks are not shown; " if shown < len(job.spans) else ""
    parts.append(_text(WIDTH - RIGHT, y, more + _seconds(job.at), "end"))
    return _legend(parts, [(PHASES[i], _COLOURS[i]) for i in range(1, 7)], y + 18)


def _legend(parts: list[str], names: Sequence[tuple[str, str]], y: float, width: float = 92) -> float:
    for i, (name, colour) in enumerate(names):
        x = LEFT + width * i
        parts.append(_rect(x, y - 9, 10, 10, colour))
        parts.append(_text(x + 14, y, name))
    return y


def _curve(parts: list[str], job: JobState, y: float) -> float:
    """Draw the loss over time, the held-out loss, and the loss of the last run of the same name."""
    parts.append(_text(LEFT, y, "loss, average over the ranks", colour=_INK))
    points = [p for p in job.points if p[1] > 0 and p[2] is not None]
    before = [p for p in job.previous if p[1] > 0 and p[2] is not None]
    if not points:
        parts.append(_text(LEFT, y + 20, "no rank has reported a loss yet"))
        return y + 20
    held = [p for p in points if p[5]]
    losses = [p[2] for p in points + before] + [p[5] for p in held]
    low, high = min(losses), max(losses)
    pad = 0.06 * (high - low) or abs(high) / 20 or 1.0
    low, high = low - pad, high + pad
    end = max([p[0] for p in points + before] + [1])
    top, bottom = y + 10, y + CURVE - 20

    def place(point: Sequence[Any], column: int) -> str:
        x = LEFT + (WIDTH - LEFT - RIGHT) * point[0] / end
        return f"{x:.1f},{top + (bottom - top) * (high - point[column]) / (high - low):.1f}"

    for tick in (low + pad, (low + high) / 2, high - pad):
        at = top + (bottom - top) * (high - tick) / (high - low)
        parts.append(_line(LEFT, at, WIDTH - RIGHT, at, _LINE))
        parts.append(_text(LEFT - 6, at + 4, f"{tick:.3g}", "end"))
    names = [("this run", _COLOURS[3])]
    for drawn, column, colour, name in ((before, 2, _COLOURS[0], "last run"), (held, 5, _COLOURS[6], "held-out"), (points, 2, _COLOURS[3], "")):
        if drawn:
            line = " ".join(place(p, column) for p in drawn)
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
            names += [(name, colour)] if name else []
    x, last = place(points[-1], 2).split(",")
    parts.append(f'<circle cx="{x}" cy="{last}" r="3" fill="{_COLOURS[3]}"/>')
    parts.append(_text(LEFT, bottom + 14, "0"))
    parts.append(_text(WIDTH - RIGHT, bottom + 14, _seconds(end), "end"))
    return _legend(parts, names, bottom + 32)


def _times(parts: list[str], job: JobState, y: float) -> float:
    """Draw the time of all ranks, divided by kind."""
    parts.append(_text(LEFT, y, "time of all ranks", colour=_INK))
    whole = sum(job.times)
    if not whole:
        parts.append(_text(LEFT, y + 20, "no rank has reported its time yet"))
        return y + 20
    x = float(LEFT)
    parts.append('<g class="times">')
    for part, (_, colour) in zip(job.times, _TIMES):
        width = (WIDTH - LEFT - RIGHT) * part / whole
        parts.append(_rect(x, y + 8, width, 14, colour))
        x += width
    parts.append("</g>")
    return _legend(parts, [(f"{name} {100 * part / whole:.0f} %", colour) for part, (name, colour) in zip(job.times, _TIMES)], y + 38, 138)


def _graph(parts: list[str], job: JobState, y: float) -> float:
    """Draw the ranks in a circle, and their edges as thick as their bytes."""
    ranks = [rank for rank, parent in enumerate(job.parents) if parent >= -1]
    rates: dict[tuple[int, int], list[int]] = {}
    for a, b, _, _, rate, size in job.edges:
        pair = rates.setdefault((min(a, b), max(a, b)), [0, 0])
        pair[0] += rate
        pair[1] += size
    tree = {(min(r, job.parents[r]), max(r, job.parents[r])): [0, 0] for r in ranks if job.parents[r] >= 0}
    pairs = rates or tree
    parts.append(_text(LEFT, y, f"graph of {len(ranks)} ranks, {len(pairs)} {'edge' if len(pairs) == 1 else 'edges'}", colour=_INK))
    if not ranks:
        return y
    middle, centre, radius = WIDTH / 2, y + 10 + GRAPH / 2, GRAPH / 2 - 14

    def place(rank: int) -> tuple[float, float]:
        angle = 2 * math.pi * ranks.index(rank) / len(ranks) - math.pi / 2
        return middle + 2 * radius * math.cos(angle), centre + radius * math.sin(angle)

    most = max((size for _, size in pairs.values()), default=0)
    parts.append('<g class="graph">')
    for (a, b), (rate, size) in pairs.items():
        if a in ranks and b in ranks:
            (x1, y1), (x2, y2) = place(a), place(b)
            parts.append(_line(x1, y1, x2, y2, _COLOURS[4] if size else _LINE, 1 + (5 * math.sqrt(size / most) if most else 0)))
            if size and len(ranks) <= 8:
                parts.append(_text(0.62 * x1 + 0.38 * x2, 0.62 * y1 + 0.38 * y2 + 4, _bytes(rate) + "/s" if rate else _bytes(size), "middle", _INK))
    for rank in ranks:
        x, at = place(rank)
        phase = job.rows[rank][1] if job.rows[rank] else 0
        parts.append(f'<circle cx="{x:.1f}" cy="{at:.1f}" r="9" fill="{_COLOURS[phase]}"/>')
        parts.append(_text(x, at + 4, str(rank), "middle", "#fff" if phase in (3, 6) else _INK))
    parts.append("</g>")
    return y + GRAPH + 10


def _bytes(n: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024 or unit == "GiB":
            break
        n /= 1024
    return f"{n:.3g} {unit}"
