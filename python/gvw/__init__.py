# SPDX-License-Identifier: Apache-2.0
"""Linear models trained by gvw, as scikit-learn estimators.

    from gvw import GVWClassifier

    model = GVWClassifier(passes=5).fit(X, y)
    model.predict_proba(X)

`GVWClassifier` and `GVWRegressor` pass scipy's CSR matrices, numpy arrays and DataFrames of
numbers to the program `gvw` through a pipe. `gvw.allreduce` sums numpy arrays over the
processes of a job. `gvw.spark.train` and `gvw.ray.train` train on their clusters. The programs
`gvw` and `spanning_tree` are part of the wheel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gvw._errors import GVWDataError, GVWError, GVWUsageError

if TYPE_CHECKING:
    from gvw._live import JobPlots
    from gvw._plot import LossPlot
    from gvw._process import Progress
    from gvw.estimators import GVWClassifier, GVWRegressor

__all__ = [
    "GVWClassifier",
    "GVWDataError",
    "GVWError",
    "GVWRegressor",
    "GVWUsageError",
    "JobPlots",
    "LossPlot",
    "Progress",
    "version",
]


def __getattr__(name: str) -> Any:
    # Importing scikit-learn takes a second, which programs that only sum arrays do not spend.
    if name in ("GVWClassifier", "GVWRegressor"):
        from gvw import estimators

        return getattr(estimators, name)
    if name == "Progress":
        from gvw._process import Progress

        return Progress
    if name == "JobPlots":
        from gvw._live import JobPlots

        return JobPlots
    if name == "LossPlot":
        from gvw._plot import LossPlot

        return LossPlot
    raise AttributeError(f"module 'gvw' has no attribute {name!r}")


def version() -> str:
    """Return what `gvw version` prints: the versions of gvw, Go and the model format."""
    import subprocess

    from gvw._programs import program

    return subprocess.run([program("gvw"), "version"], check=True, capture_output=True, text=True).stdout.strip()
