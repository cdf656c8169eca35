# SPDX-License-Identifier: Apache-2.0
"""The peer: load_svmlight_file and LogisticRegression(lbfgs).

peer.py start                      does nothing but import
peer.py FILE LAMBDA ITERATIONS TOL  prints the objective and the iterations
"""
import sys
import warnings

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

if sys.argv[1] != "start":
    lam = float(sys.argv[2])
    warnings.simplefilter("ignore")
    X, y = load_svmlight_file(sys.argv[1])
    m = LogisticRegression(C=1 / lam, max_iter=int(sys.argv[3]), tol=float(sys.argv[4])).fit(X, y)
    w = m.coef_[0]
    z = y * (X @ w + m.intercept_[0])
    print(np.logaddexp(0, -z).sum() + lam / 2 * (w @ w), m.n_iter_[0])
