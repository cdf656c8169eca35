# SPDX-License-Identifier: Apache-2.0
"""Estimators of scikit-learn's interface that train and predict with gvw."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from gvw import _model
from gvw._frames import frames
from gvw._process import Callback, option_words, run

Floats = npt.NDArray[np.float64]
Table = tuple[Floats, Floats, float, float]  # a row of weights per class, intercepts, range of predictions

_CONSTANT = 11650396  # the hash of the constant feature


def _bits(features: int, classes: int, intercept: bool) -> tuple[int, int]:
    """Return the bits of the smallest table without collisions, and the width of a feature in it.

    Column i has index i, and the constant is at its hash modulo the table.
    """
    width = 1 if classes <= 2 else 1 << (classes - 1).bit_length()
    for bits in range(18, 32):
        if features <= (_CONSTANT % (1 << bits) if intercept else 1 << bits):
            total = bits + width.bit_length() - 1
            if total <= 30:
                return total, width
    text = " with an intercept (fit_intercept=False has room for more)" if intercept else ""
    raise ValueError(f"{features} features and {classes} classes do not fit a table of 2^30 weights{text}")


def _memory() -> int:
    """Return half of the machine's memory in MiB, the limit of the examples that later passes read."""
    try:
        return max(512, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 21)
    except (AttributeError, ValueError, OSError):
        return 4096


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share. Parameters are described there."""

    loss: str
    solver: str
    passes: int
    learning_rate: float
    power_t: float
    l1: float
    l2: float
    fit_intercept: bool
    interactions: bool
    shuffle: bool
    random_state: Any
    options: Sequence[str]
    callbacks: Sequence[Callback]
    model_: bytes
    n_features_in_: int
    _weights: Table | None  # of a model that is linear in the columns

    def _classes(self) -> int:
        return 1

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _reads(self, X: Any, y: Any = "no_validation", **kwargs: Any) -> Any:
        """Check data and return it in the form that frames takes: CSR or an array, of float32 or float64."""
        checked = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], **kwargs)
        X, *rest = checked if isinstance(checked, tuple) else (checked,)
        if not isinstance(X, np.ndarray) and not X.has_canonical_format:
            # For scipy the value of a place is the sum of its entries; for gvw each entry is a feature.
            X = X.copy()
            X.sum_duplicates()
        return (X, *rest) if rest else X

    def _common(self) -> list[str]:
        bits, width = _bits(self.n_features_in_, self._classes(), self.fit_intercept)
        words = []
        if self.interactions:
            # A product's index is a hash of those of its columns, which is small for small ones: without a
            # seed, the products of column 0 would have the weights of the columns.
            words += ["--hash_seed", "1"]
            room = 16 * self.n_features_in_**2 * width
            bits = max(bits, min(26, room.bit_length()))
        words += ["--bit_precision", str(bits)]
        if not self.fit_intercept:
            words.append("--noconstant")
        return words

    def _training(self, partial: bool) -> list[str]:
        words = [*self._common(), "--loss_function", self.loss, "--holdout_off"]
        if self.solver not in ("sgd", "bfgs", "hybrid"):
            raise ValueError(f"solver={self.solver!r}: want 'sgd', 'bfgs' or 'hybrid'")
        if not partial and self.passes < 1:
            raise ValueError(f"passes={self.passes}: want 1 or more")
        several = not partial and self.passes > 1
        if self.solver == "sgd":
            words += ["--learning_rate", repr(float(self.learning_rate)), "--power_t", repr(float(self.power_t))]
            if several:
                words += ["--passes", str(self.passes)]
                if self.shuffle:
                    seed = check_random_state(self.random_state).randint(1, 1 << 31)
                    words += ["--shuffle", "--random_seed", str(seed)]
        elif self.solver == "bfgs":
            words += ["--bfgs", "--passes", str(self.passes)]
        else:
            words += ["--hybrid", f"2:{self.passes}"]
        if several or self.solver != "sgd":
            words += ["--example_memory", str(_memory())]
        for name in ("l1", "l2"):
            if getattr(self, name):
                words += ["--" + name, repr(float(getattr(self, name)))]
        if self.interactions:
            words += ["--quadratic", "::"]
        if self._classes() > 2:
            if self.solver != "sgd":
                raise ValueError(
                    f"solver={self.solver!r} learns two classes, got {self._classes()} classes: "
                    "use sklearn.multiclass.OneVsRestClassifier, or solver='sgd'"
                )
            words += ["--oaa", str(self._classes())]
        return words + self._further()

    def _further(self) -> list[str]:
        """Return the words of options."""
        return option_words(self.options)

    def _train(self, X: Any, labels: Any, sample_weight: Any, initial: bytes | None = None) -> None:
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float32, ensure_non_negative=True)
        with tempfile.TemporaryDirectory(prefix="gvw-") as scratch:
            old, new = Path(scratch, "old"), Path(scratch, "new")
            words = [*self._training(initial is not None), "--final_regressor", str(new)]
            if initial:
                old.write_bytes(initial)
                words += ["--initial_regressor", str(old)]
            run(words, frames(X, labels.astype(np.float32), weights), self.callbacks)
            self.model_ = new.read_bytes()
            self._weights = self._read_weights() if self._linear() else None

    def _adopt(self, model: bytes) -> None:
        """Take a model that others have trained with the options of this estimator."""
        self.model_ = model
        self._weights = self._read_weights() if self._linear() else None

    def _linear(self) -> bool:
        """Report whether a prediction is the product of X and coef_."""
        return not self.interactions and not self.options

    def _table(self) -> Table:
        """Return the weights of a model that is linear in the columns."""
        check_is_fitted(self)
        if self._weights is None:
            raise AttributeError("the model is not linear in the columns: interactions and options have no coef_")
        return self._weights

    def _read_weights(self) -> Table:
        """Read the weights of the model."""
        bits, width = _bits(self.n_features_in_, self._classes(), self.fit_intercept)
        weights = _model.read(self.model_)
        rows = self._classes() if width > 1 else 1
        coef = np.zeros((self.n_features_in_, width))
        intercept = np.zeros(width)
        feature, of_class = np.divmod(weights.indices, width)
        columns = feature < self.n_features_in_
        coef[feature[columns], of_class[columns]] = weights.values[columns]
        if self.fit_intercept:
            constant = feature == _CONSTANT % ((1 << bits) // width)
            intercept[of_class[constant]] = weights.values[constant]
        return np.ascontiguousarray(coef[:, :rows].T), intercept[:rows], weights.low, weights.high

    def _margins(self, X: Any) -> Floats:
        """Return the sums of weight times value, one column for each score."""
        check_is_fitted(self)
        X = self._reads(X, reset=False)
        if self._weights is not None:
            coef, intercept, low, high = self._weights
            sums = np.asarray(X @ coef.T) + intercept
            return np.clip(sums, low, high) if coef.shape[0] == 1 else sums
        with tempfile.TemporaryDirectory(prefix="gvw-") as scratch:
            model = Path(scratch, "model")
            model.write_bytes(self.model_)
            several = self._classes() > 2
            words = [*self._common(), "--testonly", "--initial_regressor", str(model)]
            text = run([*words, "--raw_predictions" if several else "--predictions", "stdout"], frames(X))
        numbers = np.array(text.replace(b":", b" ").split(), np.float64).reshape(X.shape[0], -1)
        return numbers[:, 1::2] if several else numbers[:, :1]


def _is_logistic(estimator: Any) -> bool:
    return bool(estimator.loss == "logistic")


def _is_sgd(estimator: Any) -> bool:
    return bool(estimator.solver == "sgd")


class GVWClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Linear classifier, trained by gvw.

    Parameters
    ----------
    loss : str
        "logistic", "hinge" or "squared".
    solver : str
        "sgd": stochastic gradient descent with vw's adaptive, normalised and invariant updates.
        "bfgs": L-BFGS over whole passes. "hybrid": two passes of "sgd", then `passes` of "bfgs".
    passes : int
        Passes over the data.
    learning_rate, power_t : float
        Rate of "sgd", and the power of its decay.
    l1, l2 : float
        Regularisation, as gvw's options of these names: of each update of "sgd", of the sum over
        all examples with "bfgs".
    fit_intercept : bool
        Learn an intercept.
    interactions : bool
        Add the products of all pairs of columns.
    shuffle : bool
        With "sgd", read the examples in a random order from the second pass on.
    random_state : int, RandomState or None
        Seed of that order.
    options : sequence of str
        Further options of gvw, such as ["--ftrl"]. --link and --binary are refused.
    callbacks : sequence of callable
        Each is called with a `gvw.Progress` for every row of the table of progress.

    Attributes
    ----------
    classes_ : array
        The classes. With three and more, one learner for each distinguishes it from all others.
    coef_, intercept_ : array
        Weights, of shape (1, columns) or (classes, columns), and intercepts.
    model_ : bytes
        The file of the model, which `gvw -i` reads.
    """

    classes_: npt.NDArray[Any]

    def __init__(
        self,
        *,
        loss: str = "logistic",
        solver: str = "sgd",
        passes: int = 10,
        learning_rate: float = 0.5,
        power_t: float = 0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        fit_intercept: bool = True,
        interactions: bool = False,
        shuffle: bool = True,
        random_state: Any = 0,
        options: Sequence[str] = (),
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.loss = loss
        self.solver = solver
        self.passes = passes
        self.learning_rate = learning_rate
        self.power_t = power_t
        self.l1 = l1
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.interactions = interactions
        self.shuffle = shuffle
        self.random_state = random_state
        self.options = options
        self.callbacks = callbacks

    def _classes(self) -> int:
        return len(self.classes_)

    def _further(self) -> list[str]:
        words = super()._further()
        for word in words:
            name = word.split("=")[0]
            if name in ("--link", "--binary"):
                # predict and predict_proba need scores, which are around 0 for two classes.
                raise ValueError(
                    f"options={words}: a classifier takes no {name}: leave it out; "
                    "with loss='logistic' predict_proba returns probabilities"
                )
        return words

    def _labels(self, y: Any) -> npt.NDArray[Any]:
        """Return the classes of y as gvw's labels: -1 and 1, or 1 to K."""
        if len(self.classes_) == 2:  # two comparisons take less time than a search
            place = (y == self.classes_[1]).astype(np.int8)
        else:
            place = np.searchsorted(self.classes_, y)
            place[place == len(self.classes_)] = 0
        strange = self.classes_[place] != y
        if strange.any():
            unknown, known = np.unique(y[strange]).tolist(), self.classes_.tolist()
            raise ValueError(f"y has the classes {unknown}, want only those of the first call: {known}")
        return 2 * place - 1 if len(self.classes_) == 2 else place + 1

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GVWClassifier:
        """Train a model on X, of shape (rows, columns), and the classes y of the rows."""
        X, y = self._reads(X, y)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) < 2:
            raise ValueError("y has one class: want at least two classes")
        self._train(X, self._labels(y), sample_weight)
        return self

    @available_if(_is_sgd)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> GVWClassifier:
        """Continue training with one pass over X. The first call needs all classes."""
        first = not hasattr(self, "model_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y = self._reads(X, y, reset=first)
        check_classification_targets(y)
        if first:
            self.classes_ = np.unique(classes)
            if len(self.classes_) < 2:
                raise ValueError("classes has one class: want at least two classes")
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes={classes!r} differ from those of the first call: {self.classes_.tolist()}")
        self._train(X, self._labels(y), sample_weight, b"" if first else self.model_)
        return self

    @property
    def coef_(self) -> Floats:
        """Weights of the columns; with three and more classes a row for each."""
        return self._table()[0]

    @property
    def intercept_(self) -> Floats:
        """Intercepts, one for each row of coef_."""
        return self._table()[1]

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the rows: of the second of two classes, or of each class."""
        margins = self._margins(X)
        return margins[:, 0] if self._classes() == 2 else margins

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row."""
        scores = self.decision_function(X)
        place = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[place]

    @available_if(_is_logistic)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes. Those of three and more are normalised scores."""
        scores = self.decision_function(X)
        p: Floats = 1 / (1 + np.exp(-np.clip(scores, -50, 50)))
        if p.ndim == 1:
            return np.column_stack([1 - p, p])
        return p / p.sum(axis=1, keepdims=True)


class GVWRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """Linear regression, trained by gvw.

    Parameters are those of GVWClassifier; `loss` is "squared", or another loss of gvw, such as
    "quantile" with options=["--quantile_tau", "0.9"]. Predictions are within the range of the
    labels in training. `coef_` has a weight for each column, and `intercept_` is a number.
    """

    def __init__(
        self,
        *,
        loss: str = "squared",
        solver: str = "sgd",
        passes: int = 10,
        learning_rate: float = 0.5,
        power_t: float = 0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        fit_intercept: bool = True,
        interactions: bool = False,
        shuffle: bool = True,
        random_state: Any = 0,
        options: Sequence[str] = (),
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.loss = loss
        self.solver = solver
        self.passes = passes
        self.learning_rate = learning_rate
        self.power_t = power_t
        self.l1 = l1
        self.l2 = l2
        self.fit_intercept = fit_intercept
        self.interactions = interactions
        self.shuffle = shuffle
        self.random_state = random_state
        self.options = options
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GVWRegressor:
        """Train a model on X, of shape (rows, columns), and the numbers y of the rows."""
        X, y = self._reads(X, y, y_numeric=True)
        self._train(X, y, sample_weight)
        return self

    @available_if(_is_sgd)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> GVWRegressor:
        """Continue training with one pass over X."""
        first = not hasattr(self, "model_")
        X, y = self._reads(X, y, y_numeric=True, reset=first)
        self._train(X, y, sample_weight, b"" if first else self.model_)
        return self

    @property
    def coef_(self) -> Floats:
        """Weights of the columns."""
        return self._table()[0][0]

    @property
    def intercept_(self) -> float:
        """The intercept."""
        return float(self._table()[1][0])

    def predict(self, X: Any) -> Floats:
        """Return the prediction for each row."""
        return self._margins(X)[:, 0]


__all__ = ["GVWClassifier", "GVWRegressor"]
