# SPDX-License-Identifier: Apache-2.0
"""The contract of scikit-learn's estimators."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from gvw import GVWClassifier, GVWRegressor

# scikit-learn expects these of its own SGDClassifier and SGDRegressor to fail, too.
ORDER = "an update depends on those before it, so a weight of 2 is not the example twice"


def expected_failures(estimator: Any) -> dict[str, str]:
    return {
        "check_sample_weight_equivalence_on_dense_data": ORDER,
        "check_sample_weight_equivalence_on_sparse_data": ORDER,
    }


@parametrize_with_checks([GVWClassifier(), GVWRegressor()], expected_failed_checks=expected_failures)
def test_contract(estimator: Any, check: Any) -> None:
    check(estimator)
