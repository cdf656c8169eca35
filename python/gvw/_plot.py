# SPDX-License-Identifier: Apache-2.0
"""A plot of the loss that a notebook shows while a model is trained."""

from __future__ import annotations

import math
import sys
from typing import Any

from gvw._process import Progress

WIDTH, HEIGHT = 560, 240
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 14, 64
_CURVES = (("recent_loss", "loss since the last row", "#9aa5b1"), ("loss", "average loss", "#1f6feb"))


class LossPlot:
    """A callback of estimators that draws the loss by the number of examples, or of passes of L-BFGS.

        GVWClassifier(callbacks=[gvw.LossPlot()]).fit(X, y)

    In a notebook the plot appears with the first row of the table of progress, and each further
    row updates it. Elsewhere nothing is shown. `rows` has the rows, and `svg` returns the
    picture. A plot is of one call of fit: clear `rows` before another.
    """

    def __init__(self, title: str = "") -> None:
        self.title = title
        self.rows: list[Progress] = []
        self._handle: Any = None

    def __call__(self, row: Progress) -> None:
        if not self.rows:
            self._handle = None
        self.rows.append(row)
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell is None:
            return
        from IPython.display import display

        if self._handle is None:
            self._handle = display(self, display_id=True)  # type: ignore[no-untyped-call, unused-ignore]
        else:
            self._handle.update(self)

    def __repr__(self) -> str:
        if not self.rows:
            return "LossPlot()"
        row = self.rows[-1]
        return f"LossPlot(loss={row.loss:.6g}, examples={row.examples})"

    def _repr_html_(self) -> str:
        return self.svg()

    def svg(self) -> str:
        """Return the picture as an SVG element."""
        batch = bool(self.rows) and all(row.weight == 0 for row in self.rows)
        curves = [curve for curve in _CURVES if not (batch and curve[0] == "recent_loss")]
        losses = [getattr(row, name) for row in self.rows for name, _, _ in curves]
        losses = [loss for loss in losses if math.isfinite(loss)]
        high = max(losses, default=0.0)
        low = min(0.0, min(losses, default=0.0))
        if high == low:
            high = 0.0 if low < 0 else 1.0
        first, last = (self.rows[0].examples, self.rows[-1].examples) if self.rows else (1, 1)

        def scale(n: int) -> float:
            """Rows come at powers of two, so the axis of examples is logarithmic; that of passes is not."""
            return float(n) if batch else math.log(max(n, 1))

        def position(n: int) -> float:
            span = scale(last) - scale(first)
            return LEFT + (WIDTH - LEFT - RIGHT) * ((scale(n) - scale(first)) / span if span else 0.5)

        def height(loss: float) -> float:
            return TOP + (HEIGHT - TOP - BOTTOM) * (high - loss) / (high - low)

        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
            'font-family="sans-serif" font-size="12" role="img" style="background:#fff">'
        ]
        label = f"{self.title + ': ' if self.title else ''}{repr(self)}"
        parts.append(f"<title>{_escape(label)}</title>")
        for tick in (low, (low + high) / 2, high):
            y = height(tick)
            parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e5e7eb"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#374151">{tick:.3g}</text>')
        for n, anchor in ((first, "start"), (last, "end")) if first != last else ((last, "middle"),):
            y = HEIGHT - BOTTOM + 16
            parts.append(f'<text x="{position(n):.1f}" y="{y}" text-anchor="{anchor}" fill="#374151">{n}</text>')
        middle = (LEFT + WIDTH - RIGHT) / 2
        unit = "pass" if batch else "examples (logarithmic)"
        parts.append(f'<text x="{middle}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle" fill="#374151">{unit}</text>')
        for i, (name, text, colour) in enumerate(curves):
            points = [(position(row.examples), getattr(row, name)) for row in self.rows if math.isfinite(getattr(row, name))]
            drawn = " ".join(f"{x:.1f},{height(loss):.1f}" for x, loss in points)
            parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>')
            if len(points) == 1:
                parts.append(f'<circle cx="{points[0][0]:.1f}" cy="{height(points[0][1]):.1f}" r="3" fill="{colour}"/>')
            x, y = LEFT + 200 * i, HEIGHT - 16
            parts.append(f'<line x1="{x}" x2="{x + 20}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2"/>')
            parts.append(f'<text x="{x + 26}" y="{y}" fill="#374151">{text}</text>')
        return "".join(parts) + "</svg>"


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
