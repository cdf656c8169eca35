# SPDX-License-Identifier: Apache-2.0
"""Tests of the estimators. The contract of scikit-learn is in test_sklearn.py."""

from __future__ import annotations

import os
import pickle
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.multiclass import OneVsRestClassifier

from gvw import GVWClassifier, GVWError, GVWRegressor, GVWUsageError, Progress
from gvw._programs import program
from gvw.estimators import _CONSTANT, _bits


def write_text(path: Path, X: sparse.csr_matrix, y: np.ndarray) -> None:
    with path.open("w") as out:
        for i in range(X.shape[0]):
            row = X[i]
            pairs = " ".join(f"{j}:{v!r}" for j, v in zip(row.indices.tolist(), row.data.tolist()))
            out.write(f"{y[i]} | {pairs}\n")


def test_model_is_that_of_the_command_line(problem, tmp_path):
    X, y, _ = problem
    X = X.copy()
    X.data = np.ceil(X.data * 8)  # vw's parser reads whole numbers without an error
    write_text(tmp_path / "d.vw", X, y)
    words = [program("gvw"), "-d", "d.vw", "-f", "m", "--loss_function", "logistic", "--holdout_off", "-b", "18", "--quiet"]
    subprocess.run([*words, "-l", "0.5", "--power_t", "0.5"], cwd=tmp_path, check=True)
    model = GVWClassifier(passes=1).fit(X, y)
    assert model.model_ == (tmp_path / "m").read_bytes()


def test_predictions_from_the_weights_are_those_of_gvw(problem, tmp_path):
    X, y, _ = problem
    model = GVWClassifier(passes=3, l1=1e-4, l2=1e-5).fit(X, y)
    assert model.score(X, y) > 0.9
    (tmp_path / "m").write_bytes(model.model_)
    write_text(tmp_path / "d.vw", X, y)
    words = [program("gvw"), "-t", "-i", "m", "-d", "d.vw", "-p", "stdout", "--quiet"]
    text = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True).stdout
    np.testing.assert_allclose(model.decision_function(X), np.array(text.split(), float), atol=1e-4)
    assert model.coef_.shape == (1, 50) and model.intercept_.shape == (1,)


@pytest.mark.parametrize("solver", ["sgd", "bfgs", "hybrid"])
def test_dense_sparse_and_frame_are_the_same(problem, solver):
    X, y, _ = problem
    models = [GVWClassifier(solver=solver, passes=4).fit(data, y) for data in (X, X.toarray(), pd.DataFrame(X.toarray()))]
    assert models[0].score(X, y) > 0.85
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("interactions", [False, True])
def test_duplicate_entries_are_summed(interactions, kind):
    """scipy defines the value of a place as the sum of its entries."""
    rng = np.random.default_rng(4)
    entries = rng.normal(size=900), (np.repeat(np.arange(300), 3), np.tile([2, 0, 2], 300))
    starts = np.arange(0, 901, 3)
    X = kind((entries[0], entries[1][1], starts), shape=(300, 4))
    dense = X.toarray()
    y = np.where(dense[:, 2] > 0, 1, -1)
    a, b = (GVWClassifier(passes=2, interactions=interactions).fit(kind(data), y) for data in (X, dense))
    assert a.model_ == b.model_
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(dense))
    assert X.nnz == 900, "the argument has changed"


def test_partial_fit_continues(problem):
    X, y, _ = problem
    whole = GVWClassifier(passes=1).fit(X, y)
    parts = GVWClassifier()
    for lo in range(0, 2000, 500):
        parts.partial_fit(X[lo : lo + 500], y[lo : lo + 500], classes=[-1, 1])
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-6)
    again = pickle.loads(pickle.dumps(parts)).partial_fit(X, y)
    assert again.score(X, y) >= parts.score(X, y) - 0.01
    with pytest.raises(ValueError, match="y has the classes \\[7\\]"):
        parts.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="differ from those of the first call"):
        parts.partial_fit(X, y, classes=[1, 2])


@pytest.mark.parametrize("classes", [["a", "c"], ["a", "c", "e"], [1, 3], [1, 3, 5]])
def test_unknown_classes_are_named(problem, classes):
    X, _, _ = problem
    model = GVWClassifier().partial_fit(X[:3], (classes * 3)[:3], classes=classes)
    strange = ("b", "d") if isinstance(classes[0], str) else (0, 9)
    with pytest.raises(ValueError) as e:
        model.partial_fit(X[:4], [classes[0], *strange, strange[0]])
    assert str(e.value) == f"y has the classes {list(strange)}, want only those of the first call: {classes}"


def test_sample_weight_is_the_importance_weight(problem):
    X, y, _ = problem
    weights = np.where(np.arange(2000) < 1000, 1.0, 0.0)
    half = GVWClassifier(solver="bfgs", passes=20, l2=1.0).fit(X[:1000], y[:1000])
    weighted = GVWClassifier(solver="bfgs", passes=20, l2=1.0).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.coef_, half.coef_, atol=1e-4)


def test_classes():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    order = np.random.default_rng(3).permutation(len(y))
    model = GVWClassifier(passes=100).fit(X[order], names[order])
    assert model.score(X, names) > 0.9
    p = model.predict_proba(X)
    assert p.shape == (150, 3) and model.coef_.shape == (3, 4) and model.intercept_.shape == (3,)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(X)).all()
    with pytest.raises(ValueError, match="learns two classes, got 3 classes"):
        GVWClassifier(solver="bfgs").fit(X, y)
    assert OneVsRestClassifier(GVWClassifier(solver="bfgs", passes=30)).fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize("classes", [2, 3])
def test_interactions_are_predicted_by_the_program(classes):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) * (classes - 1)
    y[(X[:, 2] > 1) & (classes == 3)] = 1
    linear, crossed = (GVWClassifier(passes=10, interactions=i).fit(X, y) for i in (False, True))
    assert crossed.score(X, y) > max(0.8, linear.score(X, y) + 0.1)
    assert crossed.predict_proba(X).shape == (600, classes)
    with pytest.raises(AttributeError, match="not linear"):
        crossed.coef_


def test_options_change_predictions_only_in_their_digits(problem):
    X, y, _ = problem
    model = GVWClassifier(passes=1).fit(X, y)
    same = GVWClassifier(passes=1, options=["--learning_rate", "0.5"]).fit(X, y)
    np.testing.assert_allclose(same.decision_function(X), model.decision_function(X), atol=2e-6)


@pytest.mark.parametrize("options", [["--link", "logistic"], ["--link=logistic"]])
def test_a_classifier_refuses_a_link(problem, options):
    """Its predictions would all be the second class, because a probability is above 0."""
    X, y, _ = problem
    with pytest.raises(ValueError, match="takes no --binary: leave it out"):
        GVWClassifier(options=["--binary"]).fit(X, y)
    with pytest.raises(ValueError, match="takes no --link: leave it out"):
        GVWClassifier(options=options).fit(X, y)
    with pytest.raises(ValueError, match="takes no --link"):
        GVWClassifier(options=options).partial_fit(X, y, classes=[-1, 1])
    p = GVWRegressor(loss="logistic", options=options).fit(X, y).predict(X)
    assert 0 <= p.min() < 0.2 and 0.8 < p.max() <= 1  # a regressor may have one


@pytest.mark.parametrize("estimator", [GVWClassifier, GVWRegressor])
def test_options_are_no_string(problem, estimator):
    """gvw would take the characters as names of data files, and ignore them."""
    X, y, _ = problem
    with pytest.raises(TypeError, match=r"options='--nn 3': want a list of words, such as \['--nn', '3'\]"):
        estimator(options="--nn 3").fit(X, y)


def test_regressor(problem):
    X, _, w = problem
    y = X @ w + 3
    model = GVWRegressor(passes=20).fit(X, y)
    assert model.score(X, y) > 0.98 and model.coef_.shape == (50,)
    assert isinstance(model.intercept_, float)
    parts = GVWRegressor().partial_fit(X, y)
    assert parts.partial_fit(X, y).score(X, y) > 0.5
    y += np.random.default_rng(1).normal(size=len(y))
    high = GVWRegressor(loss="quantile", options=["--quantile_tau", "0.9"]).fit(X, y)
    assert (high.predict(X) > y).mean() > 0.75


def test_table_has_room():
    assert _bits(50, 2, True) == (18, 1)
    assert _bits(_CONSTANT % (1 << 18), 2, True) == (18, 1)
    assert _bits(_CONSTANT % (1 << 18) + 1, 2, True) == (21, 1)
    assert _bits(50, 5, True) == (21, 8)
    assert _bits(1 << 24, 2, False) == (24, 1)
    with pytest.raises(ValueError, match="do not fit"):
        _bits(1 << 26, 2, True)


def test_many_columns_do_not_meet_the_constant():
    n = 200_000
    X = sparse.csr_matrix((np.ones(4), ([0, 1, 2, 3], [_CONSTANT % (1 << 18), 5, n - 1, 7])), shape=(4, n))
    model = GVWClassifier(passes=5).fit(X, [1, 0, 1, 0])
    assert model.coef_[0, _CONSTANT % (1 << 18)] > 0 > model.coef_[0, 5]
    assert (model.predict(X) == [1, 0, 1, 0]).all()


def test_callbacks_get_the_progress(problem):
    X, y, _ = problem
    rows: list[Progress] = []
    GVWClassifier(passes=2, callbacks=[rows.append]).fit(X, y)
    assert [row.examples for row in rows][:4] == [1, 2, 4, 8]
    assert rows[-1].loss < rows[0].loss and rows[-1].weight == rows[-1].examples
    passes: list[Progress] = []
    GVWClassifier(solver="bfgs", passes=5, callbacks=[passes.append]).fit(X, y)
    assert len(passes) >= 3 and passes[-1].loss < passes[0].loss

    def stop(progress: Progress) -> None:
        if progress.examples >= 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GVWClassifier(callbacks=[stop]).fit(X, y)


def test_errors_are_those_of_the_program(problem):
    X, y, _ = problem
    with pytest.raises(GVWUsageError, match="--nosuch is no option") as caught:
        GVWClassifier(options=["--nosuch"]).fit(X, y)
    assert caught.value.code == 1 and isinstance(caught.value, ValueError)
    with pytest.raises(GVWError, match="no such file"):
        GVWClassifier(options=["--initial_regressor", "none"]).fit(X, y)
    with pytest.raises(ValueError, match="want 'sgd', 'bfgs' or 'hybrid'"):
        GVWClassifier(solver="adam").fit(X, y)
    with pytest.raises(NotFittedError):
        GVWClassifier().coef_
    with pytest.raises(NotFittedError):
        GVWRegressor().predict(X)


@pytest.mark.parametrize("solver", ["sgd", "bfgs", "hybrid"])
@pytest.mark.parametrize("passes", [0, -1])
def test_no_passes_are_an_error(problem, solver, passes):
    X, y, _ = problem
    with pytest.raises(ValueError, match=f"passes={passes}: want 1 or more"):
        GVWClassifier(solver=solver, passes=passes).fit(X, y)
    if solver == "sgd":
        GVWClassifier(passes=passes).partial_fit(X, y, classes=[-1, 1])  # a pass of each call


def test_no_files_of_data(problem, tmp_path, monkeypatch):
    """Temporary files hold models, which are smaller than the data, and are removed."""
    X, y, _ = problem
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    sizes = []

    def measure(_: Progress) -> None:
        sizes.append(sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()))

    GVWClassifier(passes=3, callbacks=[measure]).fit(X, y)
    assert sizes and max(sizes) < X.data.nbytes / 10
    assert list(tmp_path.iterdir()) == []


def test_options_of_a_launcher_do_not_reach_the_estimator(problem, monkeypatch):
    X, y, _ = problem
    monkeypatch.setenv("GVW_SPAN_SERVER", "nowhere.invalid")
    monkeypatch.setenv("GVW_TOTAL", "4")
    GVWClassifier(passes=1).fit(X, y)
    assert os.environ["GVW_TOTAL"] == "4"


@pytest.mark.parametrize(
    ("parameters", "classes"),
    [({}, 2), ({"l1": 1e-3, "l2": 1e-4}, 2), ({"l1": 1e-5}, 3), ({"solver": "bfgs", "l2": 1.0}, 2), ({"solver": "hybrid"}, 2)],
)
def test_weights_are_those_of_gvw_convert(problem, tmp_path, parameters, classes):
    """coef_ is read from a model with its training state; gvw convert --predict_only removes the state."""
    X, y, _ = problem
    y = y if classes == 2 else np.digitize(X[:, 0].toarray().ravel(), [0.2, 0.6])
    model = GVWClassifier(passes=3, **parameters).fit(X, y)
    full, bare = tmp_path / "full", tmp_path / "bare"
    full.write_bytes(model.model_)
    subprocess.run([program("gvw"), "convert", "--predict_only", full, bare], check=True)
    coef, intercept = model.coef_, model.intercept_
    model._adopt(bare.read_bytes())
    np.testing.assert_array_equal(model.coef_, coef)
    np.testing.assert_array_equal(model.intercept_, intercept)
    assert np.count_nonzero(coef) > 10
