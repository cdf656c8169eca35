# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python.md print what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_examples() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```\n\n^```text\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) >= 5
    names: dict[str, Any] = {}
    for code, want in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, str(PAGE), "exec"), names)
        assert out.getvalue() == want, code
