#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Scores of scikit-learn's logistic regression (liblinear) on the quickstart's
files: the same features, the same objective, the constant regularised like the
rest. Needs scikit-learn.

    python quickstart/reference.py [lambda]
"""

import gzip
import os
import sys

import numpy as np
import sklearn
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score


def read(path):
    """The features of each line by namespace and name, and whether it is spam."""
    examples, spam = [], []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            head, *namespaces = line.rstrip("\n").split("|")
            features = {}
            for namespace in namespaces:
                name, *words = namespace.split(" ")
                name, _, value = name.partition(":")
                for word in filter(None, words):
                    features[name + "^" + word] = float(value or 1)
            examples.append(features)
            spam.append(head.startswith("1 "))
    return examples, np.array(spam)


def matrix(m):
    """liblinear takes 32-bit indices only."""
    m.indices, m.indptr = m.indices.astype(np.int32), m.indptr.astype(np.int32)
    return m


def main():
    lam = float(sys.argv[1]) if len(sys.argv) > 1 else 0.03
    here = os.path.dirname(os.path.abspath(__file__))
    train, train_spam = read(os.path.join(here, "train.vw.gz"))
    test, test_spam = read(os.path.join(here, "test.vw.gz"))
    vectorizer = DictVectorizer()
    x, x_test = matrix(vectorizer.fit_transform(train)), matrix(vectorizer.transform(test))
    model = LogisticRegression(C=1 / lam, solver="liblinear", tol=1e-8, max_iter=10000).fit(x, train_spam)
    p = model.predict_proba(x_test)[:, 1]
    print(f"scikit-learn {sklearn.__version__}, liblinear, lambda {lam}: {x.shape[0]} e-mails, {x.shape[1]} words")
    print(
        f"test: AUC {roc_auc_score(test_spam, p):.4f}, {np.sum((p > 0.5) != test_spam)} errors of {len(test)}, "
        f"log-loss {log_loss(test_spam, p):.4f}"
    )


main()
