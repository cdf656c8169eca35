# SPDX-License-Identifier: Apache-2.0
"""Measure fit of the Python estimators beside gvw on a cache of the same examples, which it does not parse.

    PYTHONPATH=python PATH=bin:$PATH PYTHON bench/python/fit.py

needs gvw in PATH and a Python with scikit-learn. fit, gvw on its cache and gvw on the text take turns. The times are of the
processor, with all processes of a run. bench/README.md has results.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
import scipy.sparse
import sklearn

from gvw import GVWClassifier, _model
from gvw._process import environment
from gvw._programs import program

LIMIT = 600  # seconds of a run of gvw


def main() -> None:
    parser = argparse.ArgumentParser(description="Time fit beside gvw on a cache of the same examples.")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=74)
    parser.add_argument("--density", type=float, default=0.5, help="part of the values that are not 0 [0.5]")
    parser.add_argument("--turns", type=int, default=15, help="runs of each program [15]")
    args = parser.parse_args()
    X, y = data(args.rows, args.columns, args.density)
    gvw = program("gvw")
    print(f"{args.rows} rows, {args.columns} columns, {X.nnz / args.rows:.1f} values a row; {args.turns} turns")
    print(subprocess.run([gvw, "version"], capture_output=True, text=True, check=True, timeout=LIMIT).stdout.strip())
    print(
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, scikit-learn {sklearn.__version__}; "
        f"{os.cpu_count()} cores, nice {os.getpriority(os.PRIO_PROCESS, 0)}, load {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory(prefix="gvw-fit-") as scratch:
        os.chdir(scratch)
        write(X, y)
        options = "--loss_function logistic --holdout_off -b 18 --quiet".split()
        text = [gvw, "-d", "text", *options, "-f", "model"]
        cache = [gvw, "--no_stdin", "--cache_file", "cache", *options, "-f", "model"]
        estimator = GVWClassifier(passes=1)
        call([gvw, "-d", "text", "--cache_file", "cache", *options])
        runs: dict[str, Callable[[], object]] = {
            "fit": lambda: estimator.fit(X, y),
            "cache": lambda: call(cache),
            "text": lambda: call(text),
        }
        for run in runs.values():
            run()
        same(estimator.model_, Path("model").read_bytes())
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
        for _ in range(args.turns):
            for name, run in runs.items():
                times[name].append(timed(run))
        os.chdir("/")
    print(f"{'':24}{'CPU s':>8}  {'quartiles':16}{'wall s':>8}")
    for name, all_ in times.items():
        cpu = [t[0] for t in all_]
        print(f"{name:24}{statistics.median(cpu):8.3f}  {quartiles(cpu):16}{statistics.median(t[1] for t in all_):8.3f}")
    for name in "cache", "text":
        ratios = [a[0] / b[0] for a, b in zip(times["fit"], times[name])]
        print(f"{'fit / ' + name:24}{statistics.median(ratios):8.3f}  {quartiles(ratios)}")
    print(f"load {os.getloadavg()[0]:.1f} at the end")


def data(rows: int, columns: int, density: float) -> tuple[scipy.sparse.csr_matrix, np.ndarray]:
    """Return a matrix and the classes of a linear model with noise."""
    draw = np.random.default_rng(1)
    X = scipy.sparse.random(rows, columns, density, "csr", np.float32, draw, draw.standard_normal)
    X.data = np.round(X.data, 4)  # so that the text is not longer than usual
    margins = X @ draw.standard_normal(columns) / np.sqrt(density * columns)
    return X, (margins + draw.logistic(size=rows) > 0).astype(int)


def write(X: scipy.sparse.csr_matrix, y: np.ndarray) -> None:
    """Write the examples as text. A column is a numeric name, which is its own hash."""
    with open("text", "w") as f:
        for row, label in enumerate(y):
            part = slice(X.indptr[row], X.indptr[row + 1])
            pairs = " ".join(f"{i}:{v:.4f}" for i, v in zip(X.indices[part].tolist(), X.data[part].tolist()))
            f.write(f"{2 * label - 1} | {pairs}\n")


def call(words: list[str]) -> None:
    subprocess.run(words, check=True, timeout=LIMIT, stdin=subprocess.DEVNULL, env=environment())


def same(ours: bytes, theirs: bytes) -> None:
    """Check that both have learned the same weights, so that both have done the same work. The text rounds values."""
    a, b = _model.read(ours), _model.read(theirs)
    if not np.array_equal(a.indices, b.indices) or not np.allclose(a.values, b.values, rtol=1e-3, atol=1e-5):
        sys.exit(f"fit has learned {a.indices.size} weights, gvw {b.indices.size}, and not the same ones")
    print(f"{a.indices.size} weights, which differ by at most {np.abs(a.values - b.values).max():.1g}")


def timed(run: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of the processor, of this process and of those that it has started, and of the clock."""

    def cpu() -> float:
        usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    before, began = cpu(), time.perf_counter()
    run()
    return cpu() - before, time.perf_counter() - began


def quartiles(values: list[float]) -> str:
    low, _, high = statistics.quantiles(values, n=4)
    return f"{low:.3f} to {high:.3f}"


if __name__ == "__main__":
    main()
