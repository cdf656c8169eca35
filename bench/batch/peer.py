# SPDX-License-Identifier: Apache-2.0
"""The peer: load_svmlight_file and LogisticRegression(lbfgs).

peer.py start                   does nothing but import
peer.py FILE LAMBDA ITERATIONS  trains; prints the objective
peer.py FILE LAMBDA least       prints the least objective, by Newton's method, and how
                                far below it another could be, by its gradient
peer.py FILE LAMBDA to GOAL     prints the fewest iterations with an objective of at
                                most GOAL, and the objective
"""
import sys
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

MOST = 5000  # iterations


def trained(n, solver="lbfgs"):
    return LogisticRegression(C=1 / lam, max_iter=n, tol=1e-10, solver=solver).fit(X, y)


def objective(m):
    w = m.coef_[0]
    z = y * (X @ w + m.intercept_[0])
    return np.logaddexp(0, -z).sum() + lam / 2 * (w @ w)


def least():
    m = trained(500, "newton-cg")
    w = m.coef_[0]
    pull = -y / (1 + np.exp(y * (X @ w + m.intercept_[0])))
    slope, steepness = X.T @ pull + lam * w, (np.abs(pull) * (1 - np.abs(pull))).sum()
    # The objective is at least as curved as its second term, and along the intercept as it is there.
    print(objective(m), slope @ slope / (2 * lam) + pull.sum() ** 2 / steepness)


def fewest(goal):
    below, n = 0, 8
    while (v := objective(trained(n))) > goal:
        if n == MOST:
            sys.exit("%d iterations come to %g only" % (n, v))
        below, n = n, min(2 * n, MOST)
    while n - below > 1:
        middle = (below + n) // 2
        if objective(trained(middle)) <= goal:
            n = middle
        else:
            below = middle
    print(n, objective(trained(n)))


if sys.argv[1] != "start":
    warnings.simplefilter("ignore")
    lam = float(sys.argv[2])
    X, y = load_svmlight_file(sys.argv[1])
    if sys.argv[3] == "least":
        least()
    elif sys.argv[3] == "to":
        fewest(float(sys.argv[4]))
    else:
        print(objective(trained(int(sys.argv[3]))))
