# SPDX-License-Identifier: Apache-2.0
"""Exceptions for the exit codes of gvw."""

from __future__ import annotations


class GVWError(RuntimeError):
    """A failure of the program gvw, with its message.

    `code` is the exit code: 1 usage, 2 data, 3 another rank is lost, 4 a deadline, 5 input or
    output, 6 refused. It is negative if a signal ended the program. `stderr` is all that the
    program wrote there.
    """

    def __init__(self, message: str, code: int, stderr: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.stderr = stderr


class GVWUsageError(GVWError, ValueError):
    """Options that gvw refuses."""


class GVWDataError(GVWError, ValueError):
    """Data that gvw cannot read."""


class LostError(GVWError):
    """Another rank of the job is lost, or a deadline passed."""


def error(code: int, stderr: str) -> GVWError:
    """Return the exception for an exit code and the text on stderr."""
    lines = [line for line in stderr.splitlines() if line.startswith("gvw: ")]
    message = "\n".join(line.removeprefix("gvw: ") for line in lines[-3:])
    if code < 0:
        message = f"ended by signal {-code}" + (f": {message}" if message else "")
    if not message:
        message = stderr.strip()[-2000:] or f"gvw ended with exit code {code} and no message"
    kinds = {1: GVWUsageError, 2: GVWDataError, 3: LostError, 4: LostError}
    return kinds.get(code, GVWError)(message, code, stderr)
