# SPDX-License-Identifier: Apache-2.0
"""The peers of bench/solvers: scikit-learn's lbfgs and liblinear.

peer.py versions
peer.py prepare DIR NAME OUT        writes DIR/NAME/train.vw.gz as LibSVM text, and prints
                                    the numbers of examples and features
peer.py least FILE LAMBDA           prints the least objective, by liblinear
peer.py fewest PEER FILE LAMBDA GOAL
                                    prints the fewest iterations (sklearn) or the largest
                                    tolerance (liblinear) that reach GOAL
peer.py time PEER FILE LAMBDA N     loads FILE and trains; prints the seconds of both, wall and CPU,
                                    and the objective

The objective is the sum of the logistic losses plus LAMBDA/2 |w|^2 over all weights, that of a
constant feature included.
"""
import gzip
import math
import os
import sys
import time
import warnings

COLUMN_MAX = {"kdd99"}  # log(1+x), then each column divided by its largest value
NAMES = {"20news-bin": "20news"}


def prepare(root, name, out):
    classes = None
    path = os.path.join(root, NAMES.get(name, name))
    if name == "20news-bin":  # comp.* and sci.* against the rest
        with open(os.path.join(path, "labels.txt")) as f:
            classes = {n for n, label in (line.split() for line in f) if label.startswith(("comp.", "sci."))}
    numbers, rows, most = {}, [], {}
    with gzip.open(os.path.join(path, "train.vw.gz"), "rt") as f:
        for line in f:
            head, *spaces = line.rstrip("\n").split("|")
            label = head.split()[0]
            if classes is not None:
                label = "1" if label in classes else "-1"
            row = {}
            for space in spaces:
                ns, *features = space.split(" ")
                for x in features:
                    if not x:
                        continue
                    key, _, value = x.partition(":")
                    k = numbers.setdefault((ns, key), len(numbers) + 1)
                    row[k] = row.get(k, 0.0) + (float(value) if value else 1.0)
            if name in COLUMN_MAX:
                row = {k: math.log1p(v) for k, v in row.items()}
                for k, v in row.items():
                    most[k] = max(most.get(k, 0.0), v)
            rows.append((label, row))
    with open(out, "w") as f:
        for label, row in rows:
            if name in COLUMN_MAX:
                row = {k: v / most[k] for k, v in row.items() if most[k] > 0}
            f.write(label + "".join(" %d:%.9g" % (k, row[k]) for k in sorted(row)) + "\n")
    print(len(rows), len(numbers))


def load(name):
    from sklearn.datasets import load_svmlight_file
    return load_svmlight_file(name)


def with_constant(X):
    import numpy as np
    from scipy import sparse
    return sparse.hstack([X, np.ones((X.shape[0], 1))], format="csr")


def sklearn(X, y, lam, n):
    from sklearn.linear_model import LogisticRegression
    return LogisticRegression(C=1 / lam, max_iter=int(n), tol=1e-10, fit_intercept=False).fit(with_constant(X), y).coef_[0]


def liblinear(X, y, lam, eps):
    import numpy as np
    from liblinear.liblinearutil import parameter, problem, train
    m = train(problem(y, X, bias=1), parameter("-s 0 -B 1 -q -c %.17g -e %.17g" % (1 / lam, float(eps))))
    w = np.array(m.w[: m.nr_feature + 1])
    return w if m.label[0] == 1 else -w


PEERS = {"sklearn": sklearn, "liblinear": liblinear}


def objective(X, y, lam, w):
    import numpy as np
    z = y * (X @ w[:-1] + w[-1])
    return float(np.logaddexp(0, -z).sum() + lam / 2 * (w @ w))


def fewest(peer, name, lam, goal):
    X, y = load(name)

    def reaches(n):
        return objective(X, y, lam, PEERS[peer](X, y, lam, n)) <= goal

    if peer == "liblinear":
        for eps in (0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4, 1e-5):
            if reaches(eps):
                return eps
        sys.exit("liblinear does not reach %g" % goal)
    below, n = 0, 8
    while not reaches(n):
        below, n = n, 2 * n
        if n > 3000:
            sys.exit("%d iterations do not reach %g" % (below, goal))
    while n - below > 1:
        middle = (below + n) // 2
        below, n = (below, middle) if reaches(middle) else (middle, n)
    return n


def timed(peer, name, lam, n):
    import liblinear.liblinearutil  # noqa: F401: imports are left out
    import sklearn.datasets  # noqa: F401
    import sklearn.linear_model  # noqa: F401
    wall, cpu = time.perf_counter(), time.process_time()
    X, y = load(name)
    w = PEERS[peer](X, y, lam, n)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(wall, cpu, "%.17g" % objective(X, y, lam, w))


def main(what, *args):
    warnings.simplefilter("ignore")
    if what == "prepare":
        prepare(*args)
    elif what == "versions":
        from importlib.metadata import version
        print("scikit-learn", version("scikit-learn"), "liblinear-official", version("liblinear-official"))
    elif what == "least":
        X, y = load(args[0])
        print("%.17g" % objective(X, y, float(args[1]), liblinear(X, y, float(args[1]), 1e-8)))
    elif what == "fewest":
        print(fewest(args[0], args[1], float(args[2]), float(args[3])))
    elif what == "time":
        timed(args[0], args[1], float(args[2]), args[3])


main(*sys.argv[1:])
